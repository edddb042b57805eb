/* SPDX-License-Identifier: MIT */
#include "layer/log.h"

#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/sandbox.h"

static void
assert_note(enum tally_level level, const char *source, const char *message)
{
	struct tally_note_record note;
	g_assert_true(tally_log_take(&note));
	g_assert_cmpint(note.level, ==, level);
	g_assert_cmpstr(note.source, ==, source);
	g_assert_cmpstr(note.message, ==, message);
}

static void
assert_no_note(void)
{
	struct tally_note_record note;
	g_assert_false(tally_log_take(&note));
}

static void
test_queue(void)
{
	tally_log_reset();
	errno = 77;
	tally_log_say(TALLY_LEVEL_WARNING, "a", "one %d", 1);
	g_assert_cmpint(errno, ==, 77);
	tally_log_say(TALLY_LEVEL_ERROR, "b", "two");
	tally_log_say(TALLY_LEVEL_WARNING, "a", "one %d", 1); /* already reported */
	tally_log_say(TALLY_LEVEL_INFO, "b", "one 1"); /* reported by another source */
	assert_note(TALLY_LEVEL_WARNING, "a", "one 1");
	assert_note(TALLY_LEVEL_ERROR, "b", "two");
	assert_note(TALLY_LEVEL_INFO, "b", "one 1");
	assert_no_note();
	tally_log_say(TALLY_LEVEL_ERROR, "b", "two");
	assert_no_note();
	tally_log_reset();
	tally_log_say(TALLY_LEVEL_ERROR, "b", "two");
	assert_note(TALLY_LEVEL_ERROR, "b", "two");
}

/* A repeated message is logged again, with its time, and one that does not fit is dropped. */
static void
test_marks(void)
{
	tally_log_reset();
	struct tally_note_record note;
	for (unsigned i = 0; i < 2; i++)
		g_assert_true(tally_log_mark("mark", 7 + i, "here\n"));
	tally_log_say(TALLY_LEVEL_INFO, "a", "no mark");
	for (unsigned i = 0; i < 2; i++) {
		g_assert_true(tally_log_take(&note));
		g_assert_cmpint(note.level, ==, TALLY_LEVEL_INFO);
		g_assert_cmpstr(note.source, ==, "mark");
		g_assert_cmpstr(note.message, ==, "here ");
		g_assert_true(note.has_time);
		g_assert_cmpuint(note.time_ns, ==, 7 + i);
	}
	g_assert_true(tally_log_take(&note));
	g_assert_false(note.has_time);
	for (unsigned i = 0; i < 64; i++)
		g_assert_true(tally_log_mark("mark", i, "m"));
	g_assert_false(tally_log_mark("mark", 64, "m"));
	for (unsigned i = 0; i < 64; i++)
		g_assert_true(tally_log_take(&note));
	assert_note(TALLY_LEVEL_WARNING, "log",
		    "1 messages were dropped: they came faster than they could be written");
	assert_no_note();
}

static void
test_text(void)
{
	tally_log_reset();
	tally_log_say(TALLY_LEVEL_INFO, "a", "tab\tline\nend\x7f");
	assert_note(TALLY_LEVEL_INFO, "a", "tab line end ");

	/* 479 bytes fit; a character that does not fit whole is left out completely. */
	char *long_text = g_strnfill(478, 'x');
	char *torn = g_strconcat(long_text, "\xc3\xbc tail", NULL);
	tally_log_say(TALLY_LEVEL_INFO, "a", "%s", torn);
	assert_note(TALLY_LEVEL_INFO, "a", long_text);
	g_free(torn);
	torn = g_strconcat(long_text + 1, "\xc3\xbc tail", NULL);
	tally_log_say(TALLY_LEVEL_INFO, "a", "%s", torn);
	torn[479] = '\0';
	assert_note(TALLY_LEVEL_INFO, "a", torn);
	g_free(torn);
	g_free(long_text);
}

static void
test_full(void)
{
	tally_log_reset();
	for (int i = 0; i < 70; i++)
		tally_log_say(TALLY_LEVEL_INFO, "a", "message %d", i);
	for (int i = 0; i < 64; i++) {
		char text[32];
		g_snprintf(text, sizeof(text), "message %d", i);
		assert_note(TALLY_LEVEL_INFO, "a", text);
	}
	assert_note(TALLY_LEVEL_WARNING, "log",
		    "6 messages were dropped: they came faster than they could be written");
	assert_no_note();
}

static void
test_too_many(void)
{
	tally_log_reset();
	struct tally_note_record note;
	for (int i = 0; i < 5000; i++) {
		tally_log_say(TALLY_LEVEL_INFO, "a", "message %d", i);
		g_assert_true(tally_log_take(&note) == (i < 4096));
	}
	tally_log_reset();
}

static void
test_status_file(void)
{
	char *dir = g_dir_make_tmp("passtally-log-XXXXXX", NULL);
	char *path = g_build_filename(dir, "status", NULL);
	char *link = g_build_filename(dir, "link", NULL);
	char *text;
	tally_log_reset();
	g_setenv("PASSTALLY_STATUS", path, TRUE);
	/* passtally does not create it: run owns it. */
	tally_log_say(TALLY_LEVEL_INFO, "a", "zero");
	g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));

	g_assert_true(g_file_set_contents(path, "before\n", -1, NULL));
	tally_log_say(TALLY_LEVEL_WARNING, "config", "one\ntwo");
	tally_log_say(TALLY_LEVEL_WARNING, "config", "one\ntwo");
	tally_log_say(TALLY_LEVEL_ERROR, "session", "three");
	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	g_assert_cmpstr(text, ==, "before\nwarning: config: one two\nerror: session: three\n");
	g_free(text);

	/* No link is followed, no FIFO written. */
	g_assert_cmpint(symlink(path, link), ==, 0);
	g_setenv("PASSTALLY_STATUS", link, TRUE);
	tally_log_say(TALLY_LEVEL_ERROR, "session", "four");
	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	g_assert_null(strstr(text, "four"));
	g_free(text);
	g_remove(link);
	g_assert_cmpint(mkfifo(link, 0600), ==, 0);
	tally_log_say(TALLY_LEVEL_ERROR, "session", "five");

	g_unsetenv("PASSTALLY_STATUS");
	g_remove(link);
	g_remove(path);
	g_rmdir(dir);
	g_free(link);
	g_free(path);
	g_free(dir);
	tally_log_reset();
}

static void
test_verbose(void)
{
	if (!g_test_subprocess()) {
		g_test_trap_subprocess(NULL, 0, 0);
		g_test_trap_assert_passed();
		g_test_trap_assert_stderr("passtally: error: session: loud\n");
		return;
	}
	tally_log_say(TALLY_LEVEL_ERROR, "session", "silent");
	g_setenv("PASSTALLY_VERBOSE", "0", TRUE);
	tally_log_say(TALLY_LEVEL_ERROR, "session", "silent too");
	g_setenv("PASSTALLY_VERBOSE", "1", TRUE);
	tally_log_say(TALLY_LEVEL_ERROR, "session", "loud");
}

/* A pipe closed at the other end of stderr does not end the game. */
static void
test_closed_stderr(void)
{
	if (!g_test_subprocess()) {
		g_test_trap_subprocess(NULL, 0, 0);
		g_test_trap_assert_passed();
		return;
	}
	int ends[2];
	g_assert_cmpint(pipe(ends), ==, 0);
	close(ends[0]);
	dup2(ends[1], STDERR_FILENO);
	g_setenv("PASSTALLY_VERBOSE", "1", TRUE);
	tally_log_say(TALLY_LEVEL_ERROR, "session", "to nobody");
	assert_note(TALLY_LEVEL_ERROR, "session", "to nobody");
}

/* In a sandbox, as a thread of ours, which blocks all signals: the words come all the same. */
static void
test_sandbox(void)
{
	if (!g_test_subprocess()) {
		g_test_trap_subprocess(NULL, 0, 0);
		g_test_trap_assert_passed();
		g_test_trap_assert_stderr("passtally: error: session: loud\n*louder\n");
		return;
	}
	sigset_t all;
	g_setenv("PASSTALLY_VERBOSE", "1", TRUE);
	sandbox_enter();
	tally_log_say(TALLY_LEVEL_ERROR, "session", "loud");
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	tally_log_say(TALLY_LEVEL_ERROR, "session", "louder");
}

static gpointer
speak(gpointer data)
{
	for (int i = 0; i < 20; i++)
		tally_log_say(TALLY_LEVEL_INFO, "thread", "message %d of %d", i,
			      GPOINTER_TO_INT(data));
	return NULL;
}

static void
test_threads(void)
{
	tally_log_reset();
	GThread *threads[4];
	for (int i = 0; i < 4; i++)
		threads[i] = g_thread_new("speaker", speak, GINT_TO_POINTER(i % 2));
	for (int i = 0; i < 4; i++)
		g_thread_join(threads[i]);
	struct tally_note_record note;
	unsigned n = 0;
	while (tally_log_take(&note))
		n++;
	g_assert_cmpuint(n, ==, 40); /* two pairs had the same text */
	tally_log_reset();
}

int
main(int argc, char **argv)
{
	g_unsetenv("PASSTALLY_STATUS");
	g_unsetenv("PASSTALLY_VERBOSE");
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/log/queue", test_queue);
	g_test_add_func("/log/marks", test_marks);
	g_test_add_func("/log/text", test_text);
	g_test_add_func("/log/full", test_full);
	g_test_add_func("/log/too-many", test_too_many);
	g_test_add_func("/log/status-file", test_status_file);
	g_test_add_func("/log/verbose", test_verbose);
	g_test_add_func("/log/closed-stderr", test_closed_stderr);
	g_test_add_func("/log/sandbox", test_sandbox);
	g_test_add_func("/log/threads", test_threads);
	return g_test_run();
}

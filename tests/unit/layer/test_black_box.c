/* SPDX-License-Identifier: MIT */
/* The files of --black-box: which frames are in which, by number. */
#include "layer/frame/black_box.h"

#include "json/record_json.h"
#include "layer/capture/capture.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

static char *folder, *log_path;
static uint64_t n_written;

/* "0 1 2 end-2" of LOG.END, "" for a file without lines, "-" for none. */
static char *
contents(const char *end)
{
	g_autofree char *path = g_strconcat(log_path, end, NULL), *text = NULL;
	if (!g_file_get_contents(path, &text, NULL, NULL))
		return g_strdup("-");
	GString *found = g_string_new(NULL);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line && **line; line++) {
		const char *frame = strstr(*line, "\"frame\":");
		const char *frames = strstr(*line, "\"frames\":");
		const char *at = frame ? frame + 8 : frames ? frames + 9 : "";
		g_string_append_printf(found, "%s%s%.*s", found->len ? " " : "",
				       frame ? "" : "end-", (int)strspn(at, "0123456789"), at);
	}
	return g_string_free(found, FALSE);
}

static void
is(const char *end, const char *want)
{
	g_autofree char *got = contents(end);
	g_assert_cmpstr(got, ==, want);
}

static void
write_frames(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const struct tally_frame_record frame = { .frame = n_written++ };
		g_assert_cmpint(tally_black_box_frame(&frame), ==, TALLY_RECORD_OK);
	}
	tally_json_recorder.flush(tally_black_box_recorder(NULL));
}

static void
begin(const struct tally_config *config)
{
	folder = g_dir_make_tmp("passtally-unit-XXXXXX", NULL);
	log_path = g_build_filename(folder, "log.jsonl", NULL);
	g_assert_true(g_file_set_contents(log_path, "", 0, NULL));
	n_written = 0;
	tally_capture_use(config);
	g_assert_true(tally_black_box_begin(config, &tally_json_recorder, log_path));
}

static void
finish(void)
{
	const char *name;
	GDir *dir = g_dir_open(folder, 0, NULL);
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(folder, name, NULL);
		g_unlink(path);
	}
	g_dir_close(dir);
	g_rmdir(folder);
	g_free(folder);
	g_free(log_path);
	tally_black_box_forget();
}

static void
test_turns(void)
{
	static const struct tally_config config = { .black_box_ns = 300 * MS };
	begin(&config);
	g_assert_true(tally_black_box_is_on());
	is(".before", "");
	write_frames(2);
	is(".now", "0 1");
	for (unsigned i = 0; i < 2; i++) {
		g_usleep(310000);
		write_frames(1);
	}
	is(".before", "2");
	is(".now", "3");
	struct tally_end_record end = { .frames = 4, .reason = "exit", .n_growth = 1 };
	tally_black_box_finish(&end);
	is(".now", "3 end-2"); /* what is there, not what was */
	finish();
	g_assert_false(tally_black_box_is_on());
}

static void
test_full(void)
{
	static const struct tally_config config = { .black_box_ns = 3600000 * MS, .max_log = 2000 };
	begin(&config);
	write_frames(100);
	g_autofree char *before = contents(".before"), *now = contents(".now");
	g_assert_cmpint(strlen(before) + strlen(now), <, 100);
	g_assert_true(g_str_has_suffix(now, "99"));
	finish();
}

static void
test_kept(void)
{
	static const struct tally_config config = { .black_box_ns = 3600000 * MS,
						    .black_box_over_ns = 50 * MS };
	begin(&config);
	write_frames(1);
	tally_black_box_keep();
	tally_black_box_judge(50 * MS);
	tally_black_box_keep();
	is(".1.now", "-"); /* it was not over the limit */
	tally_black_box_judge(51 * MS);
	tally_black_box_keep();
	is(".1.before", "");
	is(".1.now", "0 end-1");
	is(".now", "");
	write_frames(1);
	tally_black_box_judge(90 * MS);
	tally_black_box_keep();
	is(".2.now", "-"); /* within a period */
	for (unsigned i = 2; i < 12; i++) {
		g_assert_true(tally_capture_ask_keep("asked for"));
		tally_black_box_keep();
	}
	is(".2.now", "1 end-1");
	is(".2.before", "-");
	is(".9.now", "end-0");
	is(".10.now", "-");
	finish();
}

static void
test_taken(void)
{
	static const struct tally_config config = { .black_box_ns = MS }, none = { .frames = 1 };
	begin(&none);
	g_assert_false(tally_black_box_is_on());
	g_assert_false(tally_capture_ask_keep("asked for"));
	g_autofree char *now = g_strconcat(log_path, ".now", NULL);
	g_assert_true(g_file_set_contents(now, "{\"frame\":7}\n", -1, NULL));
	g_assert_false(tally_black_box_begin(&config, &tally_json_recorder, log_path));
	is(".now", "7");
	is(".before", "-");
	finish();
}

static void
test_last_pass(void)
{
	static const struct tally_config config = { .black_box_ns = 3600000 * MS };
	static const struct tally_target target = { .presented = true, .width = 3, .name = "t" };
	begin(&config);
	char label[600];
	memset(label, 'l', sizeof(label));
	label[599] = '\0';
	const struct {
		const char *label, *name;
		bool unread;
	} cases[] = { { "a", "a", false }, { NULL, "t", false }, { label, label + 184, false },
		      { "l", "l", true } };
	g_autofree char *path = g_strconcat(log_path, ".last", NULL);
	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *bytes = NULL;
		struct tally_last_pass got;
		gsize size;
		tally_black_box_pass(7 + i, cases[i].label, &target, cases[i].unread);
		tally_black_box_stopped(cases[i].name);
		if (cases[i].unread) /* what comes after it says nothing */
			tally_black_box_pass(99, "after", &target, false);
		g_assert_true(g_file_get_contents(path, &bytes, &size, NULL));
		g_assert_cmpuint(size, ==, sizeof(got));
		memcpy(&got, bytes, size);
		g_assert_true(got.any && !got.writing && got.presented && got.width == 3 &&
			      got.unread == cases[i].unread);
		g_assert_cmpuint(got.frame, ==, 7 + i);
		g_assert_cmpstr(got.name, ==, cases[i].name);
		g_assert_true(strncmp(got.stopped, cases[i].name, sizeof(got.stopped) - 1) == 0);
	}
	struct tally_end_record end = { .reason = "exit" };
	tally_black_box_finish(&end);
	g_assert_cmpint(g_access(path, F_OK), ==, -1);
	tally_black_box_pass(11, "a", &target, false); /* nowhere */
	finish();
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/black-box/turns", test_turns);
	g_test_add_func("/black-box/full", test_full);
	g_test_add_func("/black-box/kept", test_kept);
	g_test_add_func("/black-box/taken", test_taken);
	g_test_add_func("/black-box/last-pass", test_last_pass);
	return g_test_run();
}

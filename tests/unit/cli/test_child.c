/* SPDX-License-Identifier: MIT */
#include "cli/shared/child.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static const struct {
	const char *what;
	const char *argv[4];
	const char *out, *last_words, *said; /* a part of it */
	bool exited;
} children[] = {
	{ "ends by itself", { "/bin/sh", "-c", "echo $WORD; echo a >&2; echo b >&2; exit 3" },
	  "x\n", "b", "exit status 3", true },
	{ "reads nothing", { "/bin/sh", "-c", "cat" }, "", "", "exit status 0", true },
	{ "is killed", { "/bin/sh", "-c", "kill -9 $$" }, "", "", "signal 9", false },
	{ "is not there", { "/nowhere/at/all" }, "", "", "could not be started: ", false },
	{ "hangs", { "/bin/sh", "-c", "sleep 1000" }, "", "", "hung and was killed", false },
};

/* With the output in files of a folder, and in memory. */
static void
test_run(gconstpointer in_memory)
{
	char *environment[] = { (char *)"WORD=x", (char *)"PATH=/usr/bin:/bin", NULL };
	g_autofree char *folder = g_dir_make_tmp("selftest-child-XXXXXX", NULL);
	g_autofree char *out = g_build_filename(folder, "a.out", NULL);
	g_autofree char *err = g_build_filename(folder, "a.err", NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(children); i++) {
		g_test_message("%s", children[i].what);
		struct tally_child child;
		bool hangs = strcmp(children[i].what, "hangs") == 0;
		tally_child_run(&child, (char *const *)children[i].argv, environment,
				in_memory ? NULL : folder, "a", hangs ? 0.05 : 300);
		g_autofree char *words = tally_child_last_words(&child);
		g_autofree char *said = tally_child_say(&child);
		g_assert_cmpstr(child.out, ==, children[i].out);
		g_assert_cmpstr(words, ==, children[i].last_words);
		g_assert_nonnull(strstr(said, children[i].said));
		g_assert_cmpint(tally_child_exited(&child), ==, children[i].exited);
		tally_child_clear(&child);
	}
	g_assert_cmpint(g_unlink(out) == 0 && g_unlink(err) == 0, ==, !in_memory);
	g_assert_cmpint(g_rmdir(folder), ==, 0);
}

/* A program that the command starts later inherits how SIGCHLD was handled. */
static void
test_ignored_sigchld(void)
{
	char *argv[] = { (char *)"/bin/sh", (char *)"-c", (char *)"exit 3", NULL };
	char *nothing[] = { NULL };
	struct tally_child child;
	signal(SIGCHLD, SIG_IGN);
	tally_child_run(&child, argv, nothing, NULL, "a", 300);
	g_assert_true(tally_child_exited(&child));
	g_assert_cmpint(WEXITSTATUS(child.status), ==, 3);
	tally_child_clear(&child);
	tally_child_run(&child, nothing, nothing, NULL, "a", 300);
	g_assert_nonnull(child.error);
	tally_child_clear(&child);
	g_assert_true(signal(SIGCHLD, SIG_DFL) == SIG_IGN);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_data_func("/child/run", NULL, test_run);
	g_test_add_data_func("/child/run-in-memory", "memory", test_run);
	g_test_add_func("/child/ignored-sigchld", test_ignored_sigchld);
	return g_test_run();
}

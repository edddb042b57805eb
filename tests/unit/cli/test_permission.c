/* SPDX-License-Identifier: MIT */
#include "cli/machine/doctor_rows.h"
#include "cli/machine/snapshot_facts.h"

#include <glib.h>
#include <glib/gstdio.h>

#define I915 "/proc/sys/dev/i915/perf_stream_paranoid"
#define XE "/proc/sys/dev/xe/observation_paranoid"

static const struct {
	const char *what, *path, *content;
	bool is_root, allowed;
	const char *sentence; /* NULL = nothing is reported */
} cases[] = {
	{ "no such driver", NULL, NULL, false, false, NULL },
	{ "i915, open", I915, "0\n", false, true,
	  "dev.i915.perf_stream_paranoid is 0: every user may read the GPU's own "
	  "counters" },
	{ "i915, closed to users", I915, "1\n", false, false,
	  "dev.i915.perf_stream_paranoid is 1: only root may read the GPU's own "
	  "counters; this "
	  "allows it to every user until the machine restarts: sudo sysctl "
	  "dev.i915.perf_stream_paranoid=0" },
	{ "i915, closed, but root", I915, "1\n", true, true,
	  "dev.i915.perf_stream_paranoid is 1: only root may read the GPU's own "
	  "counters, and you "
	  "are root" },
	{ "xe, closed to users", XE, "1\n", false, false,
	  "dev.xe.observation_paranoid is 1: only root may read the GPU's own counters; "
	  "this "
	  "allows it to every user until the machine restarts: sudo sysctl "
	  "dev.xe.observation_paranoid=0" },
	{ "xe, open", XE, "0\n", true, true,
	  "dev.xe.observation_paranoid is 0: every user may read the GPU's own "
	  "counters" },
};

static char *sentence; /* the last */
static bool allowed;
static int n;

/* Instead of doctor's. */
void
tally_doctor_row(enum tally_doctor_mark mark, const char *what, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	g_free(sentence);
	sentence = g_strdup_vprintf(format, args);
	va_end(args);
	g_assert_cmpstr(what, ==, "permission");
	allowed = mark == TALLY_DOCTOR_GOOD;
	n++;
}

static void
ask(const char *root, bool is_root)
{
	g_clear_pointer(&sentence, g_free);
	allowed = false;
	n = 0;
	tally_doctor_permission(root, is_root);
}

static void
put(const char *root, const char *path, const char *content)
{
	char *file = g_strconcat(root, path, NULL);
	char *folder = g_path_get_dirname(file);
	g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
	g_assert_true(g_file_set_contents(file, content, -1, NULL));
	g_free(folder);
	g_free(file);
}

/* What put() made, folders included. */
static void
drop(const char *root)
{
	static const char *const paths[] = {
		I915,
		"/proc/sys/dev/i915",
		XE,
		"/proc/sys/dev/xe",
		"/proc/sys/dev",
		"/proc/sys",
		"/proc",
		"",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
		char *path = g_strconcat(root, paths[i], NULL);
		g_remove(path);
		g_free(path);
	}
}

static void
test_sentences(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_test_message("%s", cases[i].what);
		char *root = g_dir_make_tmp("passtally-permission-XXXXXX", NULL);
		g_assert_nonnull(root);
		if (cases[i].path)
			put(root, cases[i].path, cases[i].content);
		ask(root, cases[i].is_root);
		g_assert_cmpstr(sentence, ==, cases[i].sentence);
		g_assert_cmpint(n, ==, cases[i].sentence ? 1 : 0);
		g_assert_true(allowed == cases[i].allowed);
		drop(root);
		g_assert_false(g_file_test(root, G_FILE_TEST_EXISTS));
		g_free(root);
	}
}

static void
test_both_drivers(void)
{
	char *root = g_dir_make_tmp("passtally-permission-XXXXXX", NULL);
	put(root, I915, "1");
	put(root, XE, "0");
	ask(root, false);
	g_assert_cmpint(n, ==, 2);
	g_assert_true(allowed);
	g_clear_pointer(&sentence, g_free);
	drop(root);
	g_free(root);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/permission/sentences", test_sentences);
	g_test_add_func("/permission/both-drivers", test_both_drivers);
	return g_test_run();
}

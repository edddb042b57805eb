/* SPDX-License-Identifier: MIT */
#include "cli/machine/doctor_rows.h"
#include "cli/machine/snapshot_facts.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *root;
static GString *heard; /* "ok what: sentence" or "off ...", a line each */

/* Instead of doctor's. */
void
tally_doctor_row(enum tally_doctor_mark mark, const char *what, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	g_autofree char *sentence = g_strdup_vprintf(format, args);
	va_end(args);
	g_string_append_printf(heard, "%s %s: %s\n", mark == TALLY_DOCTOR_GOOD ? "ok" : "off", what,
			       sentence);
}

static char *
place(const char *name)
{
	char *path = g_strconcat(root, name, NULL);
	char *folder = g_path_get_dirname(path);
	g_assert_cmpint(g_mkdir_with_parents(folder, 0755), ==, 0);
	g_free(folder);
	return path;
}

static void
put(const char *name, const char *text, int mode)
{
	char *path = place(name);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	g_assert_cmpint(g_chmod(path, mode), ==, 0);
	g_free(path);
}

static void
set_up(void)
{
	root = g_dir_make_tmp("passtally-facts-XXXXXX", NULL);
	g_assert_nonnull(root);
	heard = g_string_new(NULL);
}

static void
tear_down(void)
{
	const char *argv[] = { "rm", "-rf", root, NULL };
	g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
		     NULL, NULL, NULL);
	g_free(root);
	g_string_free(heard, TRUE);
}

static void
test_nodes(void)
{
	set_up();
	tally_doctor_nodes(root);
	g_assert_cmpstr(heard->str, ==, "");

	/* Two nodes that this user may open, one of them without a driver. */
	put("/dev/mali0", "", 0666);
	put("/dev/dri/renderD128", "", 0666);
	put("/dev/dri/renderD129", "", 0666);
	char *link = place("/sys/class/drm/renderD128/device/driver");
	g_assert_cmpint(symlink("../../../bus/platform/drivers/panfrost", link), ==, 0);
	g_free(link);
	tally_doctor_nodes(root);
	g_test_message("%s", heard->str);
	g_assert_nonnull(strstr(heard->str, "ok node: /dev/mali0 (Arm's kbase) is "));
	g_assert_nonnull(strstr(heard->str, "ok node: /dev/dri/renderD128 (panfrost) is "));
	g_assert_nonnull(strstr(heard->str, "mode 0666: you may open it"));
	g_assert_null(strstr(heard->str, "renderD129"));
	tear_down();
}

/* A node of root's, checked by another user. */
static void
test_closed_nodes(void)
{
	if (geteuid() != 0) {
		g_test_skip("it takes root to make a node that others may not open");
		return;
	}
	set_up();
	g_assert_cmpint(g_chmod(root, 0755), ==, 0);
	put("/dev/mali0", "", 0600);
	put("/dev/mali1", "", 0660);
	char *path = place("/dev/mali1");
	g_assert_cmpint(chown(path, 0, 44), ==, 0);
	g_free(path);
	/* access() checks the real user. */
	g_assert_cmpint(setresuid(65534, 65534, 0), ==, 0);
	tally_doctor_nodes(root);
	g_assert_cmpint(setresuid(0, 0, 0), ==, 0);
	g_test_message("%s", heard->str);
	g_assert_nonnull(strstr(heard->str,
				"off node: /dev/mali0 (Arm's kbase) is root:root, mode 0600: "
				"you may not open it; only root may open it: a rule of udev"));
	g_assert_nonnull(strstr(heard->str, "off node: /dev/mali1 (Arm's kbase) is root:"));
	g_assert_nonnull(strstr(heard->str, "usermod -aG"));
	tear_down();
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/snapshot-facts/nodes", test_nodes);
	g_test_add_func("/snapshot-facts/closed-nodes", test_closed_nodes);
	return g_test_run();
}

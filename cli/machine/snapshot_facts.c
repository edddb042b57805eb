/* SPDX-License-Identifier: MIT */
#include "cli/machine/snapshot_facts.h"

#include <glib.h>
#include <grp.h>
#include <pwd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The content of the file without trailing whitespace; free with g_free(). NULL: the file
 * does not exist. */
static char *
read_text(const char *root, const char *path)
{
	g_autofree char *whole = g_strconcat(root, path, NULL);
	char *text = NULL;
	if (g_file_get_contents(whole, &text, NULL, NULL))
		g_strstrip(text);
	return text;
}

/* ---- the GPU's own counters ---- */

void
tally_doctor_permission(const char *root, bool is_root)
{
	static const char *const settings[][2] = {
		{ "/proc/sys/dev/i915/perf_stream_paranoid",
		  "dev.i915.perf_stream_paranoid" },
		{ "/proc/sys/dev/xe/observation_paranoid",
		  "dev.xe.observation_paranoid" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(settings); i++) {
		const char *name = settings[i][1];
		g_autofree char *text = read_text(root, settings[i][0]);
		int value = text ? (int)g_ascii_strtoll(text, NULL, 10) : 0;
		if (text && value <= 0)
			tally_doctor_row(
				TALLY_DOCTOR_GOOD, "permission",
				"%s is 0: every user may read the GPU's own counters",
				name);
		else if (text && is_root)
			tally_doctor_row(TALLY_DOCTOR_GOOD, "permission",
					 "%s is %d: only root may read the GPU's own "
					 "counters, and "
					 "you are root",
					 name, value);
		else if (text)
			tally_doctor_row(TALLY_DOCTOR_FIX, "permission",
					 "%s is %d: only root may read the GPU's own "
					 "counters; this "
					 "allows it to every user until the machine "
					 "restarts: sudo "
					 "sysctl %s=0",
					 name, value, name);
	}
}

/* ---- the kernel ---- */

void
tally_doctor_kernel(void)
{
	struct utsname about;
	struct rlimit limit;
	if (uname(&about) == 0)
		tally_doctor_row(TALLY_DOCTOR_FACT, "kernel", "%s %s, %s", about.sysname,
				 about.release, about.machine);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    limit.rlim_cur < 1024)
		tally_doctor_row(
			TALLY_DOCTOR_OFF, "descriptors",
			"a program may have %" G_GUINT64_FORMAT
			" files open: linux-perf, which takes half of that at most, "
			"counts few threads; ulimit -n 4096 gives more",
			(guint64)limit.rlim_cur);
}

/* ---- device nodes ---- */

/* What a user can do about a node that they may not open; free with g_free(). */
static char *
remedy(const struct stat *st)
{
	const struct group *group = getgrgid(st->st_gid);
	const struct passwd *user = getpwuid(geteuid());
	if ((st->st_mode & 0060) == 0060 && st->st_gid != 0)
		return g_strdup_printf("become a member of the group %s, and log in "
				       "again: sudo usermod -aG %s %s",
				       group ? group->gr_name : "that it has",
				       group ? group->gr_name : "GROUP",
				       user ? user->pw_name : "USER");
	return g_strdup("only root may open it: a rule of udev gives it to a group, for "
			"example MODE=\"0660\", GROUP=\"video\"");
}

static void
report_node(const char *root, const char *node, const char *driver)
{
	struct stat st;
	g_autofree char *path = g_strconcat(root, node, NULL);
	if (stat(path, &st) != 0)
		return;
	const struct passwd *user = getpwuid(st.st_uid);
	const struct group *group = getgrgid(st.st_gid);
	g_autofree char *owner = g_strdup_printf(
		"%s:%s, mode %04o", user ? user->pw_name : "?",
		group ? group->gr_name : "?", (unsigned)st.st_mode & 07777);
	if (access(path, R_OK | W_OK) == 0) {
		tally_doctor_row(TALLY_DOCTOR_GOOD, "node",
				 "%s (%s) is %s: you may open it", node, driver, owner);
	} else {
		g_autofree char *words = remedy(&st);
		tally_doctor_row(TALLY_DOCTOR_FIX, "node",
				 "%s (%s) is %s: you may not open it; %s", node, driver,
				 owner, words);
	}
}

/* The kernel driver of a render node; free with g_free(). */
static char *
driver_of(const char *root, unsigned number)
{
	g_autofree char *path = g_strdup_printf(
		"%s/sys/class/drm/renderD%u/device/driver", root, number);
	g_autofree char *link = g_file_read_link(path, NULL);
	return link ? g_path_get_basename(link) : NULL;
}

void
tally_doctor_nodes(const char *root)
{
	for (unsigned i = 0; i < 16; i++) {
		g_autofree char *node = g_strdup_printf("/dev/mali%u", i);
		report_node(root, node, "Arm's kbase");
	}
	for (unsigned i = 128; i < 192; i++) {
		g_autofree char *node = g_strdup_printf("/dev/dri/renderD%u", i);
		g_autofree char *driver = driver_of(root, i);
		if (driver)
			report_node(root, node, driver);
	}
}

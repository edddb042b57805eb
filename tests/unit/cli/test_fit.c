/* SPDX-License-Identifier: MIT */
#include "cli/bench/fit.h"

#include <glib/gstdio.h>

#define CPU "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
#define CARD "/sys/class/drm/card0/"
#define LEVEL CARD "device/power_dpm_force_performance_level"
#define FREQ CARD "device/tile0/gt0/freq0/"
#define STATUS CARD "device/power/runtime_status"

static const struct {
	const char *what;
	const char *files[4][2]; /* path and content */
	const char *said; /* NULL = nothing */
} cases[] = {
	{ "nothing is known", { { NULL } }, NULL },
	{ "the CPU keeps its clock", { { CPU, "performance\n" } }, NULL },
	{ "the CPU's follows the load",
	  { { CPU, "powersave\n" } },
	  "the CPU's governor is powersave: clocks follow the load; performance keeps them" },
	{ "amdgpu by itself",
	  { { LEVEL, "auto\n" }, { STATUS, "active\n" } },
	  "the clock of GPU card0 follows the load (power_dpm_force_performance_level is auto); "
	  "profile_peak keeps it" },
	{ "amdgpu fixed", { { LEVEL, "profile_peak\n" } }, NULL },
	{ "amdgpu asleep", { { LEVEL, "auto\n" }, { STATUS, "suspended\n" } }, NULL },
	{ "i915",
	  { { CARD "gt_min_freq_mhz", "350\n" }, { CARD "gt_max_freq_mhz", "1150\n" } },
	  "the clock of GPU card0 may be from 350 to 1150 MHz; limits that are equal keep it "
	  "(gt_min_freq_mhz)" },
	{ "i915 fixed",
	  { { CARD "gt_min_freq_mhz", "900\n" }, { CARD "gt_max_freq_mhz", "900\n" } },
	  NULL },
	{ "xe",
	  { { FREQ "min_freq", "300" }, { FREQ "max_freq", "2050" } },
	  "the clock of GPU card0 may be from 300 to 2050 MHz; limits that are equal keep it "
	  "(device/tile0/gt0/freq0/min_freq)" },
	{ "xe asleep",
	  { { FREQ "min_freq", "300" }, { FREQ "max_freq", "2050" }, { STATUS, "suspended" } },
	  NULL },
	{ "panfrost",
	  { { CARD "device/devfreq/ff9a0000.gpu/min_freq", "200000000\n" },
	    { CARD "device/devfreq/ff9a0000.gpu/max_freq", "800000000\n" } },
	  "the clock of GPU card0 may be from 200 to 800 MHz; limits that are equal keep it "
	  "(device/devfreq/*/min_freq)" },
	{ "one limit only", { { FREQ "min_freq", "300" } }, NULL },
	{ "no number", { { FREQ "min_freq", "low" }, { FREQ "max_freq", "2050" } }, NULL },
	{ "a connector is no GPU",
	  { { "/sys/class/drm/card0-DP-1/gt_min_freq_mhz", "1" },
	    { "/sys/class/drm/card0-DP-1/gt_max_freq_mhz", "2" } },
	  NULL },
};

static void
put(const char *root, const char *path, const char *content)
{
	char *file = g_strconcat(root, path, NULL), *folder = g_path_get_dirname(file);
	g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
	g_assert_true(g_file_set_contents(file, content, -1, NULL));
	g_free(folder);
	g_free(file);
}

static void
remove_all(const char *folder)
{
	GDir *dir = g_dir_open(folder, 0, NULL);
	for (const char *name; dir && (name = g_dir_read_name(dir));) {
		char *path = g_build_filename(folder, name, NULL);
		remove_all(path);
		g_free(path);
	}
	if (dir)
		g_dir_close(dir);
	g_remove(folder);
}

static void
test_fit(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_test_message("%s", cases[i].what);
		char *root = g_dir_make_tmp("fit-XXXXXX", NULL);
		for (size_t k = 0; k < G_N_ELEMENTS(cases[i].files) && cases[i].files[k][0]; k++)
			put(root, cases[i].files[k][0], cases[i].files[k][1]);
		GPtrArray *found = tally_fit_look(root);
		g_assert_cmpuint(found->len, ==, cases[i].said ? 1 : 0);
		if (found->len)
			g_assert_cmpstr(found->pdata[0], ==, cases[i].said);
		g_ptr_array_unref(found);
		remove_all(root);
		g_free(root);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/fit/look", test_fit);
	return g_test_run();
}

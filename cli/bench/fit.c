/* SPDX-License-Identifier: MIT */
#include "cli/bench/fit.h"

#include "cli/shared/sort.h"

#include <stdbool.h>
#include <string.h>

/* The limits of a GPU's clock, in files of its folder in /sys/class/drm; `*` is its only entry. */
static const struct {
	const char *low, *high;
	double unit; /* of MHz */
} limits[] = {
	/* drivers/gpu/drm/i915/i915_sysfs.c */
	{ "gt_min_freq_mhz", "gt_max_freq_mhz", 1 },
	/* drivers/gpu/drm/xe/xe_gt_freq.c */
	{ "device/tile0/gt0/freq0/min_freq", "device/tile0/gt0/freq0/max_freq", 1 },
	/* Documentation/ABI/testing/sysfs-class-devfreq: panfrost, lima, panthor ... */
	{ "device/devfreq/*/min_freq", "device/devfreq/*/max_freq", 1e-6 },
};

/* Without the end of line; NULL = there is none. */
static char *
read_word(const char *folder, const char *file)
{
	g_autofree char *path = g_build_filename(folder, file, NULL);
	char *text = NULL;
	char *star = strstr(path, "/*/");
	if (star) {
		*star = '\0';
		g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
		const char *entry = dir ? g_dir_read_name(dir) : NULL;
		char *found = entry ? g_build_filename(path, entry, star + 3, NULL) : NULL;
		g_free(path);
		path = found;
	}
	if (path && g_file_get_contents(path, &text, NULL, NULL))
		g_strstrip(text);
	return text;
}

static bool
reads(const char *folder, const char *file, const char *word)
{
	g_autofree char *text = read_word(folder, file);
	return g_strcmp0(text, word) == 0;
}

static bool
read_mhz(const char *folder, const char *file, double unit, double *mhz)
{
	g_autofree char *text = read_word(folder, file);
	char *end = NULL;
	if (text)
		*mhz = g_ascii_strtod(text, &end) * unit;
	return text && end != text && *end == '\0';
}

static void
look_at_gpu(GPtrArray *found, const char *card, const char *folder)
{
	if (reads(folder, "device/power/runtime_status", "suspended"))
		return;
	/* Documentation/gpu/amdgpu/thermal.rst: every level except auto is fixed. */
	if (reads(folder, "device/power_dpm_force_performance_level", "auto"))
		g_ptr_array_add(found, g_strdup_printf("the clock of GPU %s follows the load "
						       "(power_dpm_force_performance_level is "
						       "auto); profile_peak keeps it",
						       card));
	for (size_t i = 0; i < G_N_ELEMENTS(limits); i++) {
		double low, high;
		if (!read_mhz(folder, limits[i].low, limits[i].unit, &low) ||
		    !read_mhz(folder, limits[i].high, limits[i].unit, &high))
			continue;
		if (low < high)
			g_ptr_array_add(found,
					g_strdup_printf("the clock of GPU %s may be from %.0f "
							"to %.0f MHz; limits that are "
							"equal keep it (%s)",
							card, low, high, limits[i].low));
		break;
	}
}

GPtrArray *
tally_fit_look(const char *root)
{
	GPtrArray *found = g_ptr_array_new_with_free_func(g_free);
	static const char frequency[] = "sys/devices/system/cpu/cpu0/cpufreq";
	g_autofree char *cpu = g_build_filename(*root ? root : "/", frequency, NULL);
	g_autofree char *governor = read_word(cpu, "scaling_governor");
	if (governor && strcmp(governor, "performance") != 0)
		g_ptr_array_add(found,
				g_strdup_printf("the CPU's governor is %s: clocks follow "
						"the load; performance keeps them",
						governor));
	g_autofree char *drm = g_build_filename(*root ? root : "/", "sys/class/drm", NULL);
	g_autoptr(GDir) dir = g_dir_open(drm, 0, NULL);
	g_autoptr(GPtrArray) cards = g_ptr_array_new_with_free_func(g_free);
	for (const char *name; dir && (name = g_dir_read_name(dir));)
		/* card0, not the connector card0-DP-1 */
		if (g_str_has_prefix(name, "card") && !strchr(name, '-'))
			g_ptr_array_add(cards, g_strdup(name));
	g_ptr_array_sort(cards, tally_order_text);
	for (guint i = 0; i < cards->len; i++) {
		g_autofree char *folder = g_build_filename(drm, cards->pdata[i], NULL);
		look_at_gpu(found, cards->pdata[i], folder);
	}
	return found;
}

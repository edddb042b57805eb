/* SPDX-License-Identifier: MIT */
#include "cli/machine/permission.h"

#include <glib.h>

static const struct {
	const char *path, *name;
} settings[] = {
	{ "/proc/sys/dev/i915/perf_stream_paranoid", "dev.i915.perf_stream_paranoid" },
	{ "/proc/sys/dev/xe/observation_paranoid", "dev.xe.observation_paranoid" },
};

static void
tell(const char *name, gint64 value, bool is_root, tally_permission_told *told, void *data)
{
	char text[400];
	if (value <= 0)
		g_snprintf(text, sizeof(text),
			   "%s is 0: every user may read the GPU's own counters", name);
	else if (is_root)
		g_snprintf(text, sizeof(text),
			   "%s is %d: only root may read the GPU's own counters, and you "
			   "are root",
			   name, (int)value);
	else
		g_snprintf(text, sizeof(text),
			   "%s is %d: only root may read the GPU's own counters; this "
			   "allows it to "
			   "every user until the machine restarts: sudo sysctl %s=0",
			   name, (int)value, name);
	told(data, value <= 0 || is_root, text);
}

void
tally_permission_tell(const char *root, bool is_root, tally_permission_told *told, void *data)
{
	for (size_t i = 0; i < G_N_ELEMENTS(settings); i++) {
		g_autofree char *path = g_strconcat(root, settings[i].path, NULL);
		g_autofree char *text = NULL;
		if (g_file_get_contents(path, &text, NULL, NULL))
			tell(settings[i].name, g_ascii_strtoll(text, NULL, 10), is_root, told,
			     data);
	}
}

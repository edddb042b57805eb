/* SPDX-License-Identifier: MIT */
#include "cli/top/prometheus.h"

#include "cli/shared/cli.h"
#include "cli/shared/each.h"
#include "cli/shared/text.h"

#include <string.h>

/* Of frames or passes, a mean or the largest, in seconds. */
static const struct metric {
	const char *name, *help;
	bool pass, cpu, largest;
} metrics[] = {
	{ "frame_seconds", "Time from one frame to the next, mean", .cpu = true },
	{ "frame_seconds_max", "Time from one frame to the next, largest", .cpu = true,
	  .largest = true },
	{ "frame_gpu_seconds", "GPU time of a frame, mean", .pass = false },
	{ "frame_gpu_seconds_max", "GPU time of a frame, largest", .largest = true },
	{ "pass_gpu_seconds", "GPU time of a pass in its frames, mean", .pass = true },
	{ "pass_gpu_seconds_max", "GPU time of a pass in a frame, largest", .pass = true,
	  .largest = true },
};

static void
put_label(GString *out, const char *name, const char *text)
{
	g_autofree char *safe = tally_text_escape(text);
	g_string_append_printf(out, "%s=\"", name);
	for (const char *c = safe; *c; c++) {
		if (*c == '"' || *c == '\\')
			g_string_append_c(out, '\\');
		g_string_append_c(out, *c);
	}
	g_string_append_c(out, '"');
}

static void
put_value(GString *out, const struct metric *m, const struct tally_moments *of,
	  const char *labels, const char *pass)
{
	char number[G_ASCII_DTOSTR_BUF_SIZE];
	if (!of->n)
		return;
	double ns = m->largest ? tally_value_f64(of->max) : tally_moments_mean(of);
	g_string_append_printf(out, "passtally_%s{%s", m->name, labels);
	if (pass)
		put_label(out, ",pass", pass);
	g_ascii_dtostr(number, sizeof(number), ns / 1e9);
	g_string_append_printf(out, "} %s\n", number);
}

static void
put_metric(GString *out, const struct metric *m, const struct tally_aggregate *a,
	   const struct tally_device_summary *d, const char *program)
{
	g_autoptr(GString) labels = g_string_new(NULL);
	put_label(labels, "program", program);
	g_string_append_printf(labels, ",device=\"%u\"", d->device);
	if (!m->pass)
		put_value(out, m, m->cpu ? &d->cpu.moments : &d->gpu.moments, labels->str, NULL);
	TALLY_EACH (const struct tally_group, g, a->groups)
		if (m->pass && g->device == d->device)
			put_value(out, m, &g->series[TALLY_SERIES_GPU].stats.moments,
				  labels->str, g->name);
}

bool
tally_top_write_prometheus(struct tally_top_window *w, const char *path)
{
	const char *path_of = w->log.program ? w->log.program : "";
	g_autofree char *program = g_path_get_basename(path_of);
	tally_top_sums_destroy(tally_top_sums_create(w, NULL)); /* the log has the window's */
	g_autoptr(GString) out = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(metrics); i++) {
		const struct metric *m = &metrics[i];
		g_string_append_printf(out, "# HELP passtally_%s %s.\n", m->name, m->help);
		g_string_append_printf(out, "# TYPE passtally_%s gauge\n", m->name);
		TALLY_EACH (const struct tally_device_summary, d, w->log.devices)
			put_metric(out, m, &w->log, d, program);
	}
	g_autoptr(GError) error = NULL;
	if (strcmp(path, "-") == 0) {
		tally_text_print(stdout, "%s", out->str);
		return true;
	}
	return g_file_set_contents(path, out->str, (gssize)out->len, &error) ||
	       TALLY_FAIL(false, "top", "%s", error->message);
}

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
put_value(GString *out, const struct metric *m, const char *labels, const char *pass,
	  const struct tally_top_figures *f)
{
	if (!f->n)
		return;
	char number[G_ASCII_DTOSTR_BUF_SIZE];
	double ns = m->largest ? f->largest : f->sum / (double)f->n;
	g_string_append_printf(out, "passtally_%s{%s", m->name, labels);
	if (pass)
		put_label(out, ",pass", pass);
	g_ascii_dtostr(number, sizeof(number), ns / 1e9);
	g_string_append_printf(out, "} %s\n", number);
}

/* A device's labels and what the window has of it, for all metrics. */
struct subject {
	GString *labels;
	struct tally_top_sums *sums;
};

static void
free_subject(gpointer p)
{
	struct subject *s = p;
	g_string_free(s->labels, TRUE);
	tally_top_sums_destroy(s->sums);
	g_free(s);
}

static GPtrArray *
list_subjects(const struct tally_top_window *w, const char *program)
{
	GPtrArray *subjects = g_ptr_array_new_with_free_func(free_subject);
	TALLY_EACH_OF (const struct tally_top_device, d, w->devices) {
		struct subject *s = g_new0(struct subject, 1);
		s->labels = g_string_new(NULL);
		put_label(s->labels, "program", program);
		g_string_append_printf(s->labels, ",device=\"%u\"", d->device);
		s->sums = tally_top_sums_create(w, d);
		g_ptr_array_add(subjects, s);
	}
	return subjects;
}

static void
put_metric(GString *out, const struct metric *m, const char *labels,
	   const struct tally_top_sums *sums)
{
	if (!m->pass) {
		put_value(out, m, labels, NULL, m->cpu ? &sums->cpu.all : &sums->gpu.all);
		return;
	}
	TALLY_EACH (const struct tally_top_pass, pass, sums->passes)
		put_value(out, m, labels, pass->group->name, &pass->gpu.all);
}

bool
tally_top_write_prometheus(const struct tally_top_window *w, const char *path)
{
	const char *path_of = w->log.program ? w->log.program : "";
	g_autofree char *program = g_path_get_basename(path_of);
	g_autoptr(GPtrArray) subjects = list_subjects(w, program);
	g_autoptr(GString) out = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(metrics); i++) {
		const struct metric *m = &metrics[i];
		g_string_append_printf(out, "# HELP passtally_%s %s.\n", m->name, m->help);
		g_string_append_printf(out, "# TYPE passtally_%s gauge\n", m->name);
		TALLY_EACH (const struct subject, s, subjects)
			put_metric(out, m, s->labels->str, s->sums);
	}
	g_autoptr(GError) error = NULL;
	if (strcmp(path, "-") == 0) {
		tally_text_print(stdout, "%s", out->str);
		return true;
	}
	return g_file_set_contents(path, out->str, (gssize)out->len, &error) ||
	       TALLY_FAIL(false, "top", "%s", error->message);
}

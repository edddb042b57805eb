#include "cli/report/formats.h"

#include "cli/shared/text.h"

#include <string.h>

char *
tally_duration_text(double ns)
{
	if (ns >= 1e9)
		return g_strdup_printf("%.2f s", ns / 1e9);
	if (ns >= 1e6)
		return g_strdup_printf("%.2f ms", ns / 1e6);
	if (ns >= 1e3)
		return g_strdup_printf("%.1f us", ns / 1e3);
	return g_strdup_printf("%.0f ns", ns);
}

static void
print_time(FILE *out, const char *what, struct tally_stats *s)
{
	if (s->moments.n == 0) {
		tally_text_print(out, "  %-12s not measured\n", what);
		return;
	}
	char *median = tally_duration_text(tally_value_f64(tally_stats_quantile(s, 0.5)));
	char *p99 = tally_duration_text(tally_value_f64(tally_stats_quantile(s, 0.99)));
	tally_text_print(out, "  %-12s median %s, p99 %s\n", what, median, p99);
	g_free(median);
	g_free(p99);
}

static void
print_overhead(FILE *out, struct tally_device_summary *d)
{
	if (d->overhead.moments.n == 0)
		return;
	double mean = tally_moments_mean(&d->overhead.moments);
	double cpu = tally_moments_mean(&d->cpu.moments);
	tally_text_print(out, "  %-12s %.0f ns a frame in the game's threads", "our overhead",
			 mean);
	if (cpu > 0)
		tally_text_print(out, ", %.2f %% of frame time", 100 * mean / cpu);
	putc('\n', out);
}

static void
print_loading(FILE *out, const struct tally_device_summary *d)
{
	char *time = tally_duration_text((double)d->warmed_up_ns);
	tally_text_print(out,
			 "  first %" G_GUINT64_FORMAT " frame%s, %s, left out: loading; "
			 "--warmup 0 keeps %s\n",
			 d->warmed_up, d->warmed_up == 1 ? "" : "s", time,
			 d->warmed_up == 1 ? "it" : "them");
	g_free(time);
}

/* The surface that most frames presented, and how many sizes there were besides. */
static void
print_surface(FILE *out, const struct tally_device_summary *d)
{
	const struct tally_surface *s = tally_aggregate_surface(d);
	if (!s)
		return;
	tally_text_print(out, "  %-12s %ux%u", "surface", s->width, s->height);
	if (s->frames < d->frames)
		tally_text_print(out,
				 " in %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " frames",
				 s->frames, d->frames);
	putc('\n', out);
}

static void
print_device(FILE *out, const struct tally_aggregate *a, struct tally_device_summary *d,
	     bool beneath)
{
	char *name = tally_text_escape(d->name ? d->name : "unknown");
	tally_text_print(out, "device %u: %s, %" G_GUINT64_FORMAT " frame%s", d->device, name,
			 d->frames, d->frames == 1 ? "" : "s");
	g_free(name);
	if (beneath)
		tally_text_print(out, " (below device %" G_GINT64_FORMAT ": --device %u shows it)",
				 d->beneath, d->device);
	putc('\n', out);
	if (beneath)
		return;
	if (d->warmed_up && a->warmup == TALLY_WARMUP_AUTO)
		print_loading(out, d);
	if (d->frames) {
		print_time(out, "frame time", &d->cpu);
		print_time(out, "GPU time", &d->gpu);
	}
	print_surface(out, d);
	if (d->coverable > 0)
		tally_text_print(out, "  %-12s %.1f %% of the measured GPU time is inside passes\n",
				 "coverage", 100 * d->covered / d->coverable);
	print_overhead(out, d);
	if (d->dropped_passes)
		tally_text_print(out, "  %-12s %" G_GUINT64_FORMAT " passes: see --max-passes\n",
				 "dropped", d->dropped_passes);
}

/* Describes the frames shown: complete ones, and those that the end of the run cut short. */
static void
print_frames(FILE *out, const struct tally_aggregate *a, int64_t device)
{
	uint64_t frames = 0, partial = 0, warmed_up = 0;
	for (guint i = 0; i < a->devices->len; i++) {
		const struct tally_device_summary *d = g_ptr_array_index(a->devices, i);
		if (device >= 0 ? d->device != device : tally_aggregate_is_beneath(a, d->device))
			continue;
		frames += d->frames;
		partial += d->partial;
		warmed_up += d->warmed_up;
	}
	tally_text_print(out, "%" G_GUINT64_FORMAT " frame%s", frames, frames == 1 ? "" : "s");
	if (partial)
		tally_text_print(out,
				 "; %" G_GUINT64_FORMAT
				 " more, cut short by the run's end, %s left out of "
				 "the times below",
				 partial, partial == 1 ? "is" : "are");
	if (warmed_up && a->warmup != TALLY_WARMUP_AUTO)
		tally_text_print(out, "; %" G_GUINT64_FORMAT " of warm-up left out", warmed_up);
	putc('\n', out);
}

void
tally_summary_print_identity(FILE *out, const struct tally_aggregate *a)
{
	char *tags = tally_log_identity_tags(&a->identity, ", ");
	char *machine = tally_log_identity_machine(&a->identity);
	if (tags)
		tally_text_print_line(out, "tags: %s", tags);
	if (machine)
		tally_text_print_line(out, "machine: %s", machine);
	g_free(tags);
	g_free(machine);
}

void
tally_summary_print(FILE *out, const struct tally_aggregate *a, int64_t device)
{
	print_frames(out, a, device);
	for (guint i = 0; i < a->devices->len; i++) {
		struct tally_device_summary *d = g_ptr_array_index(a->devices, i);
		if (device >= 0 && d->device != device)
			continue;
		/* Contexts that never ended a frame have no times to report. */
		if (d->frames == 0 && device < 0 && a->devices->len > 1)
			continue;
		print_device(out, a, d, device < 0 && tally_aggregate_is_beneath(a, d->device));
	}
	if (a->has_end && a->end_frames == 0 && a->end_reason)
		tally_text_print_line(out, "no frames: %s", a->end_reason);
	if (a->has_end && a->end_frames_dropped)
		tally_text_print(
			out, "%" G_GUINT64_FORMAT " frame%s dropped: the log could not keep up\n",
			a->end_frames_dropped, a->end_frames_dropped == 1 ? " was" : "s were");
	if (a->has_end && a->end_reason && a->end_frames &&
	    (strcmp(a->end_reason, "max-log") == 0 || strcmp(a->end_reason, "error") == 0))
		tally_text_print_line(out, "the capture ended before the program did: %s",
				      a->end_reason);
}

void
tally_summary_print_most_expensive(FILE *out, const struct tally_aggregate *a, unsigned most)
{
	GPtrArray *rows = tally_rows_create(a, -1, NULL, false);
	unsigned told = 0;
	bool several = false;
	for (guint i = 1; i < rows->len; i++)
		several |= ((const struct tally_group *)rows->pdata[i])->device !=
			   ((const struct tally_group *)rows->pdata[0])->device;
	for (guint i = 0; i < rows->len && told < most; i++) {
		const struct tally_group *g = g_ptr_array_index(rows, i);
		struct tally_stats *s = &g->series[TALLY_SERIES_GPU].stats;
		if (g->outside || s->moments.n == 0)
			continue;
		if (told++ == 0)
			tally_text_print(
				out, "most expensive passes, with their share of %s GPU time:\n",
				several ? "their device's" : "the");
		char *name = tally_text_escape(g->name);
		char *fit = tally_text_fit(name, 60);
		char *mean = tally_duration_text(tally_moments_mean(&s->moments));
		double share = tally_group_share(a, g);
		char of_device[40] = "";
		if (several)
			g_snprintf(of_device, sizeof(of_device), " on device %u", g->device);
		if (share >= 0)
			tally_text_print(out, "  %5.1f %%  %s%s, %s a frame\n", 100 * share, fit,
					 of_device, mean);
		else
			tally_text_print(out, "  %s%s, %s a frame\n", fit, of_device, mean);
		g_free(mean);
		g_free(fit);
		g_free(name);
	}
	g_ptr_array_unref(rows);
}

static void
tell_once(FILE *out, const char *prefix, const char *text, GHashTable *told)
{
	char *line = g_strconcat(prefix, text, NULL);
	if (!told || g_hash_table_add(told, line))
		tally_text_print_line(out, "%s", line);
	if (!told)
		g_free(line);
}

void
tally_summary_print_hints(FILE *out, const struct tally_aggregate *a, GHashTable *told)
{
	for (guint i = 0; i < a->devices->len; i++) {
		const struct tally_device_summary *d = g_ptr_array_index(a->devices, i);
		for (guint k = 0; k < d->off->len; k++)
			tell_once(out, "off: ", g_ptr_array_index(d->off, k), told);
	}
	tally_summary_print_notes(out, a, told);
}

void
tally_summary_print_notes(FILE *out, const struct tally_aggregate *a, GHashTable *told)
{
	for (guint i = 0; i < a->notes->len; i++)
		tell_once(out, "note: ", g_ptr_array_index(a->notes, i), told);
}

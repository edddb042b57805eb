#include "cli/report/formats.h"

#include "cli/shared/text.h"

#include <math.h>

void
tally_json_print_value(FILE *out, struct tally_value v)
{
	if (v.storage == TALLY_STORAGE_U64) {
		fprintf(out, "%" G_GUINT64_FORMAT, v.u64);
	} else if (v.storage == TALLY_STORAGE_I64) {
		fprintf(out, "%" G_GINT64_FORMAT, v.i64);
	} else if (!isfinite(v.f64)) {
		fputs("null", out); /* no such value is ever counted */
	} else {
		char text[G_ASCII_DTOSTR_BUF_SIZE];
		for (int digits = 15; digits <= 17; digits++) {
			char format[8];
			g_snprintf(format, sizeof(format), "%%.%dg", digits);
			g_ascii_formatd(text, sizeof(text), format, v.f64);
			if (g_ascii_strtod(text, NULL) == v.f64)
				break;
		}
		fputs(text, out);
	}
}

void
tally_json_print_flags(FILE *out, uint64_t flags)
{
	const char *sep = "";
	putc('[', out);
	for (unsigned i = 0; i < TALLY_N_FLAGS; i++) {
		if (!(flags >> i & 1))
			continue;
		fprintf(out, "%s\"%s\"", sep, tally_flag_name(i));
		sep = ",";
	}
	putc(']', out);
}

static void
print_stats(FILE *out, struct tally_stats *s, const char *unit, bool estimated)
{
	fprintf(out, "{\"n\":%" G_GUINT64_FORMAT, s->moments.n);
	if (unit)
		tally_text_print_json_member(out, "unit", unit);
	if (s->moments.n) {
		if (s->moments.storage == TALLY_STORAGE_F64) {
			fputs(",\"sum\":", out);
			tally_json_print_value(out, tally_f64(tally_moments_total(&s->moments)));
		} else {
			char digits[TALLY_WIDE_DIGITS];
			tally_wide_print(&s->moments.sum, digits);
			fprintf(out, ",\"sum\":%s", digits);
		}
		fputs(",\"mean\":", out);
		tally_json_print_value(out, tally_f64(tally_moments_mean(&s->moments)));
		fputs(",\"sd_population\":", out);
		tally_json_print_value(out,
				       tally_f64(tally_moments_sd_population(&s->moments)));
		if (s->moments.n > 1) {
			fputs(",\"sd\":", out);
			tally_json_print_value(out,
					       tally_f64(tally_moments_sd_sample(&s->moments)));
		}
		fputs(",\"min\":", out);
		tally_json_print_value(out, s->moments.min);
		fputs(",\"max\":", out);
		tally_json_print_value(out, s->moments.max);
		static const int quantiles[] = { 50, 90, 99 };
		for (size_t i = 0; i < G_N_ELEMENTS(quantiles); i++) {
			fprintf(out, ",\"p%d\":", quantiles[i]);
			tally_json_print_value(out, tally_stats_quantile(s, quantiles[i] / 100.0));
		}
		if (!tally_stats_exact(s))
			fputs(",\"quantiles_exact\":false", out);
	}
	if (estimated)
		fputs(",\"estimated\":true", out);
	putc('}', out);
}

static void
print_named_stats(FILE *out, const char *name, struct tally_stats *s, const char *unit)
{
	fprintf(out, ",\"%s\":", name);
	print_stats(out, s, unit, false);
}

static void
print_device(FILE *out, const struct tally_aggregate *a, struct tally_device_summary *d)
{
	fprintf(out, "{\"device\":%u", d->device);
	if (d->described)
		fprintf(out, ",\"api\":\"%s\"", tally_api_name(d->api));
	tally_text_print_json_member(out, "name", d->name);
	tally_text_print_json_member(out, "driver", d->driver);
	tally_text_print_json_member(out, "driver_version", d->driver_version);
	if (d->beneath >= 0)
		fprintf(out, ",\"beneath\":%" G_GINT64_FORMAT, d->beneath);
	fprintf(out, ",\"shown\":%s", tally_aggregate_is_beneath(a, d->device) ? "false" : "true");
	tally_text_print_json_member(out, "serialized_by", d->serialized_by);
	fprintf(out,
		",\"frames\":%" G_GUINT64_FORMAT ",\"partial_frames\":%" G_GUINT64_FORMAT
		",\"warmup_frames\":%" G_GUINT64_FORMAT ",\"dropped_passes\":%" G_GUINT64_FORMAT,
		d->frames, d->partial, d->warmed_up, d->dropped_passes);
	print_named_stats(out, "cpu_ns", &d->cpu, "ns");
	print_named_stats(out, "gpu_ns", &d->gpu, "ns");
	print_named_stats(out, "overhead_ns", &d->overhead, "ns");
	if (d->coverable > 0) {
		fputs(",\"coverage\":", out);
		tally_json_print_value(out, tally_f64(d->covered / d->coverable));
	}
	if (d->has_unattributed) {
		char digits[TALLY_WIDE_DIGITS];
		tally_wide_print(&d->unattributed, digits);
		fprintf(out, ",\"unattributed_ns\":%s", digits);
	}
	fputs(",\"sources_off\":[", out);
	for (guint i = 0; i < d->off->len; i++) {
		fputs(i ? "," : "", out);
		tally_text_print_json(out, g_ptr_array_index(d->off, i));
	}
	putc(']', out);
	fputs(",\"flags\":", out);
	tally_json_print_flags(out, d->flags);
	putc('}', out);
}

static void
print_optional(FILE *out, const char *name, bool has, struct tally_value v)
{
	if (!has)
		return;
	fprintf(out, ",\"%s\":", name);
	tally_json_print_value(out, v);
}

static void
print_frame_row(FILE *out, const struct tally_aggregate *a, const struct tally_group *g)
{
	const struct tally_frame_record *r = &g->record;
	fprintf(out, "{\"device\":%u,\"frame\":%" G_GUINT64_FORMAT ",\"passes\":%u", g->device,
		r->frame, r->n_passes);
	print_optional(out, "start_ns", true, tally_u64(r->start_ns));
	print_optional(out, "cpu_ns", true, tally_u64(r->cpu_ns));
	print_optional(out, "gpu_ns", r->has_gpu, tally_u64(r->gpu_ns));
	print_optional(out, "envelope_ns", r->has_gpu, tally_u64(r->envelope_ns));
	print_optional(out, "coverage", r->has_coverage, tally_f64(r->coverage));
	print_optional(out, "unattributed_ns", r->has_unattributed_gpu,
		       tally_u64(r->unattributed_gpu_ns));
	print_optional(out, "overhead_ns", true, tally_u64(r->overhead_ns));
	print_optional(out, "dropped_passes", true, tally_u64(r->dropped_passes));
	double share = tally_group_share(a, g);
	print_optional(out, "share", share >= 0, tally_f64(share));
	fputs(",\"values\":{", out);
	const char *sep = "";
	for (uint32_t i = TALLY_SERIES_DRAWS; i < g->n_series; i++) {
		if (g->series[i].stats.moments.n == 0)
			continue;
		fputs(sep, out);
		tally_text_print_json(out, tally_series_name(a, i));
		putc(':', out);
		tally_json_print_value(out, g->series[i].stats.moments.min); /* the only value */
		sep = ",";
	}
	putc('}', out);
	sep = ",\"estimated\":[";
	for (uint32_t i = TALLY_SERIES_DRAWS; i < g->n_series; i++) {
		if (!g->series[i].estimated || g->series[i].stats.moments.n == 0)
			continue;
		fputs(sep, out);
		tally_text_print_json(out, tally_series_name(a, i));
		sep = ",";
	}
	if (*sep == ',' && !sep[1])
		putc(']', out);
	fputs(",\"flags\":", out);
	tally_json_print_flags(out, g->flags);
	putc('}', out);
}

static void
print_row(FILE *out, const struct tally_aggregate *a, const struct tally_group *g)
{
	fprintf(out, "{\"device\":%u", g->device);
	if (!g->outside && g->n_ids == 1)
		fprintf(out, ",\"id\":\"%016" G_GINT64_MODIFIER "x\"", g->id);
	tally_text_print_json_member(out, "name", g->name);
	tally_text_print_json_member(out, "label", g->label);
	tally_text_print_json_member(out, "kind",
				     g->outside ? "outside" : tally_pass_kind_name(g->kind));
	char *queue = tally_queue_text(g);
	tally_text_print_json_member(out, "queue", *queue ? queue : NULL);
	g_free(queue);
	tally_text_print_json_member(out, "pass", g->pass ? g->pass->name : NULL);
	tally_text_print_json_member(out, "command", g->command);
	if (a->by == TALLY_BY_LABEL)
		fprintf(out, ",\"ids\":%u", g->n_ids);
	fprintf(out, ",\"frames\":%" G_GUINT64_FORMAT, g->frames);
	double share = tally_group_share(a, g);
	print_optional(out, "share", share >= 0, tally_f64(share));
	fputs(",\"values\":{", out);
	const char *sep = "";
	for (uint32_t i = 0; i < g->n_series; i++) {
		struct tally_series *s = &g->series[i];
		if (s->stats.moments.n == 0)
			continue;
		fputs(sep, out);
		tally_text_print_json(out, tally_series_name(a, i));
		putc(':', out);
		print_stats(out, &s->stats, tally_series_unit(a, i), s->estimated);
		sep = ",";
	}
	putc('}', out);
	fputs(",\"flags\":", out);
	tally_json_print_flags(out, g->flags);
	putc('}', out);
}

void
tally_json_print_report(FILE *out, const struct tally_aggregate *a, const GPtrArray *rows)
{
	fputs("{\"log\":", out);
	tally_text_print_json(out, a->path);
	tally_text_print_json_member(out, "program", a->program);
	fprintf(out, ",\"truncated\":%s", a->truncated ? "true" : "false");
	if (a->has_end) {
		tally_text_print_json_member(out, "end_reason", a->end_reason);
		fprintf(out, ",\"frames_dropped\":%" G_GUINT64_FORMAT, a->end_frames_dropped);
	}
	fputs(",\"devices\":[", out);
	for (guint i = 0; i < a->devices->len; i++) {
		fputs(i ? ",\n" : "\n", out);
		print_device(out, a, g_ptr_array_index(a->devices, i));
	}
	fputs("],\"rows\":[", out);
	for (guint i = 0; i < rows->len; i++) {
		fputs(i ? ",\n" : "\n", out);
		if (a->by == TALLY_BY_FRAME)
			print_frame_row(out, a, g_ptr_array_index(rows, i));
		else
			print_row(out, a, g_ptr_array_index(rows, i));
	}
	fputs("],\"notes\":[", out);
	for (guint i = 0; i < a->notes->len; i++) {
		fputs(i ? "," : "", out);
		tally_text_print_json(out, g_ptr_array_index(a->notes, i));
	}
	fputs("]}", out);
}

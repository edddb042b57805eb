#include "cli/compare/compare.h"
#include "cli/report/formats.h"
#include "cli/shared/text.h"

static const char *const sides[TALLY_N_SIDES] = { "base", "new" };

static void
put_number(FILE *out, const char *name, double v)
{
	fprintf(out, ",\"%s\":", name);
	tally_json_print_value(out, tally_f64(v));
}

static void
put_relative(FILE *out, const char *name, const struct tally_compare_row *row, double v)
{
	double relative;
	if (tally_compare_relative(row, v, &relative))
		put_number(out, name, 100 * relative);
}

static void
put_side(FILE *out, const struct tally_compare *c, unsigned side)
{
	fprintf(out, ",\"%s\":[", sides[side]);
	for (guint i = 0; i < c->logs[side]->len; i++) {
		const struct tally_compare_log *log = g_ptr_array_index(c->logs[side], i);
		fputs(i ? ",{\"log\":" : "{\"log\":", out);
		tally_text_print_json(out, log->aggregate.path);
		tally_text_print_json_member(out, "program", log->aggregate.program);
		uint64_t frames = 0;
		for (guint k = 0; k < log->sources->len; k++) {
			const struct tally_compare_source *s = g_ptr_array_index(log->sources, k);
			for (guint d = 0; !s->group && d < log->devices->len; d++)
				if (g_array_index(log->devices, uint32_t, d) == s->device)
					frames += s->frames;
		}
		fprintf(out, ",\"frames\":%" G_GUINT64_FORMAT ",\"truncated\":%s}", frames,
			log->aggregate.truncated ? "true" : "false");
	}
	putc(']', out);
}

static void
put_row(FILE *out, const struct tally_compare_row *row)
{
	fputs("{\"key\":", out);
	tally_text_print_json(out, row->key);
	tally_text_print_json_member(out, "unit", row->unit);
	fprintf(out, ",\"verdict\":\"%s\"", tally_verdict_name(row->verdict));
	if (row->worse)
		fprintf(out, ",\"worse\":\"%s\",\"fails\":%s,\"too_noisy\":%s",
			row->worse > 0 ? "more" : "less", row->fails ? "true" : "false",
			row->blind ? "true" : "false");
	if (row->ratio)
		fputs(",\"ratio\":true", out);
	if (row->estimated)
		fputs(",\"estimated\":true", out);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++) {
		if (!row->n[side])
			continue;
		fprintf(out, ",\"%s\":{\"n\":%" G_GUINT64_FORMAT ",\"mean\":", sides[side],
			row->n[side]);
		tally_json_print_value(out, tally_f64(row->mean[side]));
		if (row->tested)
			fprintf(out, ",\"block\":%" G_GUINT64_FORMAT, row->block[side]);
		putc('}', out);
	}
	if (row->n[0] && row->n[1]) {
		put_number(out, "difference", row->mean[1] - row->mean[0]);
		put_relative(out, "difference_pct", row, row->mean[1] - row->mean[0]);
	}
	if (row->tested) {
		fprintf(out, ",\"by\":\"%s\"", row->runs ? "runs" : "frames");
		put_number(out, "low", row->low);
		put_number(out, "high", row->high);
		put_relative(out, "low_pct", row, row->low);
		put_relative(out, "high_pct", row, row->high);
		put_number(out, "standard_error", row->se);
		put_number(out, "df", row->df);
		put_number(out, "p", row->p);
		put_number(out, "p_holm", row->p_holm);
	}
	putc('}', out);
}

/* *next is the first row not printed yet: rows stand in the order of their subjects. */
static void
put_subject(FILE *out, const struct tally_compare *c, const struct tally_compare_subject *s,
	    guint *next)
{
	fprintf(out, "{\"what\":\"%s\",\"device\":%u",
		s->frame     ? "frame"
		: s->outside ? "outside"
			     : "pass",
		tally_compare_device(c, s->slot));
	tally_text_print_json_member(out, "name", s->name);
	if (!s->frame && !s->outside) {
		fprintf(out, ",\"id\":\"%016" G_GINT64_MODIFIER "x\",\"kind\":\"%s\"", s->id,
			tally_pass_kind_name(s->kind));
		tally_text_print_json_member(out, "label", s->label);
	}
	fprintf(out, ",\"frames\":{\"base\":%" G_GUINT64_FORMAT ",\"new\":%" G_GUINT64_FORMAT "}",
		s->frames[0], s->frames[1]);
	fputs(",\"values\":[", out);
	const char *sep = "\n  ";
	for (; *next < c->rows->len; (*next)++) {
		const struct tally_compare_row *row = g_ptr_array_index(c->rows, *next);
		if (row->subject != s)
			break;
		fputs(sep, out);
		put_row(out, row);
		sep = ",\n  ";
	}
	fputs("]}", out);
}

void
tally_compare_print_json(FILE *out, const struct tally_compare *c)
{
	fprintf(out, "{\"schema\":\"passtally-compare/1\"");
	put_number(out, "confidence", c->settings.confidence);
	fprintf(out, ",\"statistic\":\"%s\"", c->settings.trim > 0 ? "trimmed" : "mean");
	if (c->settings.has_fail_above)
		put_number(out, "fail_above_pct", 100 * c->settings.fail_above);
	fprintf(out, ",\"tested\":%u,\"failed\":%u,\"too_noisy\":%u", c->n_tested, c->n_failed,
		c->n_blind);
	if (c->settings.has_fail_above)
		fprintf(out, ",\"too_few\":%u", c->n_few);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		put_side(out, c, side);
	fputs(",\"not_the_same\":[", out);
	for (guint i = 0; i < c->unlike->len; i++) {
		const struct tally_compare_unlike *u = g_ptr_array_index(c->unlike, i);
		fputs(i ? ",{\"what\":" : "{\"what\":", out);
		tally_text_print_json(out, u->what);
		tally_text_print_json_member(out, "base", u->side[TALLY_SIDE_BASE]);
		tally_text_print_json_member(out, "new", u->side[TALLY_SIDE_NEW]);
		putc('}', out);
	}
	fputs("],\"subjects\":[", out);
	guint next = 0;
	for (guint i = 0; i < c->subjects->len; i++) {
		fputs(i ? ",\n " : "\n ", out);
		put_subject(out, c, g_ptr_array_index(c->subjects, i), &next);
	}
	fputs("\n]}\n", out);
}

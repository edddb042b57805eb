/* SPDX-License-Identifier: MIT */
#include "cli/compare/compare.h"
#include "cli/compare/row.h"
#include "cli/shared/cli.h"
#include "cli/shared/each.h"
#include "cli/shared/out.h"
#include "cli/shared/text.h"

#include <errno.h>
#include <string.h>

static const char *const sides[TALLY_N_SIDES] = { "base", "new" };

static void
put_relative(struct tally_out *o, const char *key, const struct tally_compare_row *row, double v)
{
	double relative;
	if (tally_compare_relative(row, v, &relative))
		tally_out_f64(o, key, 100 * relative);
}

static void
put_side(struct tally_out *o, const struct tally_compare *c, unsigned side)
{
	tally_out_array(o, sides[side]);
	TALLY_EACH (const struct tally_compare_log, log, c->logs[side]) {
		uint64_t warmup, frames = tally_compare_log_frames(log, &warmup);
		tally_out_object(o, NULL);
		tally_out_text(o, "log", log->aggregate.path);
		tally_out_text(o, "program", log->aggregate.program);
		tally_out_u64(o, "frames", frames);
		tally_out_u64(o, "warmup_frames", warmup);
		tally_out_bool(o, "truncated", log->aggregate.truncated);
		tally_out_end_object(o);
	}
	tally_out_end_array(o);
}

static void
put_tested(struct tally_out *o, const struct tally_compare_row *row)
{
	tally_out_text(o, "by", row->runs ? "runs" : "frames");
	if (row->against_others) {
		tally_out_bool(o, "against_others", true);
		put_relative(o, "against_others_pct", row, row->difference);
	}
	tally_out_f64(o, "low", row->low);
	tally_out_f64(o, "high", row->high);
	put_relative(o, "low_pct", row, row->low);
	put_relative(o, "high_pct", row, row->high);
	tally_out_f64(o, "standard_error", row->se);
	tally_out_f64(o, "df", row->df);
	tally_out_f64(o, "p", row->p);
	tally_out_f64(o, "p_holm", row->p_holm);
}

static void
put_row_side(struct tally_out *o, const struct tally_compare_row *row, unsigned side)
{
	if (!row->n[side])
		return;
	tally_out_object(o, sides[side]);
	tally_out_u64(o, "n", row->n[side]);
	tally_out_f64(o, "mean", row->mean[side]);
	tally_out_end_object(o);
}

static void
put_row(struct tally_out *o, const struct tally_compare_row *row)
{
	tally_out_object(o, NULL);
	tally_out_text(o, "key", row->key);
	tally_out_text(o, "unit", row->unit);
	tally_out_text(o, "verdict", tally_verdict_names[row->verdict]);
	if (row->worse) {
		tally_out_text(o, "worse", row->worse > 0 ? "more" : "less");
		tally_out_bool(o, "fails", row->fails);
		tally_out_bool(o, "too_noisy", row->blind);
	}
	if (row->ratio)
		tally_out_bool(o, "ratio", true);
	if (row->estimated)
		tally_out_bool(o, "estimated", true);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		put_row_side(o, row, side);
	if (row->n[0] && row->n[1]) {
		tally_out_f64(o, "difference", row->mean[1] - row->mean[0]);
		put_relative(o, "difference_pct", row, row->mean[1] - row->mean[0]);
	}
	if (row->tested)
		put_tested(o, row);
	tally_out_end_object(o);
}

/* *next is the first row not printed yet: rows are in the order of their subjects. */
static void
put_subject(struct tally_out *o, const struct tally_compare *c,
	    const struct tally_compare_subject *s, guint *next)
{
	tally_out_object(o, NULL);
	tally_out_text(o, "what", s->frame ? "frame" : s->outside ? "outside" : "pass");
	tally_out_u64(o, "device", tally_compare_device(c, s->slot));
	tally_out_text(o, "name", s->name);
	if (!s->frame && !s->outside) {
		tally_out_id(o, "id", s->id);
		if (s->paired)
			tally_out_id(o, "base_id", s->base_id);
		tally_out_text(o, "kind", tally_pass_kind_name(s->kind));
		tally_out_text(o, "label", s->label);
	}
	tally_out_object(o, "frames");
	tally_out_u64(o, "base", s->frames[0]);
	tally_out_u64(o, "new", s->frames[1]);
	tally_out_end_object(o);
	tally_out_array(o, "values");
	for (; *next < c->rows->len; (*next)++) {
		const struct tally_compare_row *row = g_ptr_array_index(c->rows, *next);
		if (row->subject != s)
			break;
		tally_out_break(o, "\n  ");
		put_row(o, row);
	}
	tally_out_end_array(o);
	tally_out_end_object(o);
}

static void
put_unlike(struct tally_out *o, const struct tally_compare *c)
{
	tally_out_array(o, "not_the_same");
	TALLY_EACH (const struct tally_compare_unlike, u, c->unlike) {
		tally_out_object(o, NULL);
		tally_out_text(o, "what", u->what);
		tally_out_text(o, "base", u->side[TALLY_SIDE_BASE]);
		tally_out_text(o, "new", u->side[TALLY_SIDE_NEW]);
		tally_out_end_object(o);
	}
	tally_out_end_array(o);
}

void
tally_compare_put_json(struct tally_out *o, const struct tally_compare *c)
{
	tally_out_text(o, "schema", "passtally-compare/1");
	tally_out_f64(o, "confidence", c->settings.confidence);
	if (c->settings.has_fail_above)
		tally_out_f64(o, "fail_above_pct", 100 * c->settings.fail_above);
	tally_out_f64(o, "same_pct", 100 * TALLY_COMPARE_SAME);
	tally_out_text(o, "conclusion", tally_conclusion_names[c->conclusion]);
	g_autoptr(GPtrArray) lines = tally_compare_lines(c);
	tally_out_texts(o, "lines", lines);
	tally_out_u64(o, "open", c->n_open);
	tally_out_u64(o, "tested", c->n_tested);
	tally_out_u64(o, "failed", c->n_failed);
	tally_out_u64(o, "too_noisy", c->n_blind);
	if (c->settings.has_fail_above)
		tally_out_u64(o, "too_few", c->n_few);
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		put_side(o, c, side);
	put_unlike(o, c);
	tally_out_array(o, "subjects");
	guint next = 0;
	for (guint i = 0; i < c->subjects->len; i++) {
		tally_out_break(o, "\n ");
		put_subject(o, c, g_ptr_array_index(c->subjects, i), &next);
	}
	tally_out_break(o, "\n");
	tally_out_end_array(o);
}

void
tally_compare_print_json(FILE *out, const struct tally_compare *c)
{
	struct tally_out o;
	tally_out_init(&o, out);
	tally_out_object(&o, NULL);
	tally_compare_put_json(&o, c);
	tally_out_end_object(&o);
	tally_out_char(&o, '\n');
	tally_out_flush(&o);
}

/* JUnit */

/* Bytes that XML does not have become question marks. The caller frees it. */
static char *
xml(const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);
	for (char *s = valid; *s; s++)
		if (((unsigned char)*s < 0x20 && !strchr("\t\n\r", *s)) || *s == 0x7f)
			*s = '?';
	return g_markup_escape_text(valid, -1);
}

/* The change of the means, as the table has it. */
static const char *
change_text(const struct tally_compare_row *row)
{
	double change, own;
	if (!row->tested || !tally_compare_relative(row, tally_row_seen(row), &change) ||
	    !tally_compare_relative(row, row->difference, &own))
		return tally_verdict_names[row->verdict];
	return row->against_others ? tally_phrase("%+.2f %%, against the other passes %+.2f %%",
						  100 * change, 100 * own)
				   : tally_phrase("%+.2f %%", 100 * change);
}

static void
put_case(FILE *out, const struct tally_compare *c, const struct tally_compare_row *row)
{
	g_autofree char *name = xml(tally_subject_text(c, row->subject));
	g_autofree char *key = xml(row->key);
	const char *words = change_text(row);
	tally_text_print(out, "  <testcase classname=\"%s\" name=\"%s\">", key, name);
	if (row->fails)
		tally_text_print(out, "<failure message=\"%s, above %g %%\"/>", words,
				 100 * c->settings.fail_above);
	else if (row->open)
		tally_text_print(out, "<skipped message=\"%s: cannot be told from noise\"/>",
				 words);
	tally_text_print(out, "</testcase>\n");
}

int
tally_compare_write_junit(const char *path, const struct tally_compare *c)
{
	FILE *out = fopen(path, "we");
	if (!out)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "compare", "%s: cannot be written: %s", path,
				  g_strerror(errno));
	uint32_t n = 0, open = 0;
	TALLY_EACH (const struct tally_compare_row, row, c->rows) {
		n += tally_compare_decides(c, row);
		open += row->open && !row->fails;
	}
	tally_text_print(out,
			 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"passtally "
			 "compare\" tests=\"%u\" failures=\"%u\" skipped=\"%u\">\n",
			 n, c->n_failed, open);
	TALLY_EACH (const struct tally_compare_row, row, c->rows)
		if (tally_compare_decides(c, row))
			put_case(out, c, row);
	tally_text_print(out, "</testsuite>\n");
	bool good = !ferror(out);
	good = fclose(out) == 0 && good;
	return good ? TALLY_EXIT_OK
		    : TALLY_FAIL(TALLY_EXIT_FAILED, "compare", "%s: cannot be written: %s", path,
				 g_strerror(errno));
}

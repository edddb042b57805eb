/* SPDX-License-Identifier: MIT */
#include "cli/compare/row.h"

#include "cli/shared/each.h"
#include "cli/shared/text.h"

#include <math.h>
#include <string.h>

const char *const tally_verdict_names[TALLY_N_VERDICTS] = {
	[TALLY_VERDICT_ONE_SIDE] = "one-side", [TALLY_VERDICT_FEW] = "too-few",
	[TALLY_VERDICT_EQUAL] = "equal",       [TALLY_VERDICT_UNSEEN] = "cannot-tell",
	[TALLY_VERDICT_SAME] = "same",         [TALLY_VERDICT_LESS] = "less",
	[TALLY_VERDICT_MORE] = "more",
};

bool
tally_compare_relative(const struct tally_compare_row *row, double value, double *out)
{
	double base = fabs(row->mean[TALLY_SIDE_BASE]);
	if (!(base > 0))
		return false;
	*out = value / base;
	return isfinite(*out);
}

double
tally_row_seen(const struct tally_compare_row *row)
{
	return row->mean[TALLY_SIDE_NEW] - row->mean[TALLY_SIDE_BASE];
}

bool
tally_row_changed(const struct tally_compare_row *row)
{
	return row->verdict == TALLY_VERDICT_LESS || row->verdict == TALLY_VERDICT_MORE;
}

uint32_t
tally_compare_device(const struct tally_compare *c, uint32_t slot)
{
	for (unsigned side = 0; side < TALLY_N_SIDES; side++)
		TALLY_EACH (const struct tally_compare_log, log, c->logs[side])
			if (slot < log->devices->len)
				return tally_compare_log_device(log, slot);
	return slot;
}

double
tally_compare_limit(const struct tally_compare *c)
{
	return c->settings.has_fail_above ? c->settings.fail_above : TALLY_COMPARE_SAME;
}

double
tally_subject_share(const struct tally_compare_subject *s, unsigned side)
{
	uint64_t frames = s->whole ? s->whole->frames[side] : 0;
	return frames ? MIN(1, (double)s->frames[side] / (double)frames) : 0;
}

double
tally_compare_frame_time(const struct tally_compare_row *row)
{
	const struct tally_compare_subject *frame = row->subject->whole;
	return frame && frame->gpu ? frame->gpu->mean[TALLY_SIDE_BASE] : 0;
}

bool
tally_row_is_main(const struct tally_compare_row *row)
{
	return row == row->subject->gpu || (row->is_cpu && row->is_time);
}

static const char *
name_text(const struct tally_compare *c, const struct tally_compare_subject *s, const char *first)
{
	g_autofree char *escaped = tally_text_escape(first);
	return c->n_slots > 1
		       ? tally_phrase("%s, device %u", escaped, tally_compare_device(c, s->slot))
		       : tally_phrase("%s", escaped);
}

const char *
tally_subject_text(const struct tally_compare *c, const struct tally_compare_subject *s)
{
	return name_text(c, s, s->name);
}

const char *
tally_row_name(const struct tally_compare *c, const struct tally_compare_row *row)
{
	if (row->subject->frame && row->is_cpu && !row->pace)
		return name_text(c, row->subject, "frame time");
	const char *name = tally_subject_text(c, row->subject);
	return row->subject->frame ? tally_phrase("%s, %s", name, row->pace ? row->key : "GPU")
				   : name;
}

/* With a sign if the value is a change. */
static const char *
row_number(const struct tally_printer *p, const struct tally_compare_row *row, double v,
	   bool change)
{
	const char *sign = change && v > 0 ? "+" : "";
	const struct tally_unit *unit = &p->unit;
	if (row->is_time)
		return tally_phrase("%s%.*f", sign, unit->decimals, v / unit->ns);
	double size = fabs(v);
	if (size >= 1e15 || (size > 0 && size < 1e-3))
		return tally_phrase("%s%.4g", sign, v);
	int decimals = v == floor(v) || size >= 1000 ? 0 : size >= 10 ? 1 : 3;
	return tally_phrase("%s%.*f", sign, decimals, v);
}

const char *
tally_row_mean(const struct tally_printer *p, const struct tally_compare_row *row,
	       enum tally_side side)
{
	return !row->n[side] ? "-"
			     : tally_phrase("%s%s", row->estimated ? "~" : "",
					    row_number(p, row, row->mean[side], false));
}

const char *
tally_row_change(const struct tally_printer *p, const struct tally_compare_row *row, double value)
{
	double relative;
	if (!tally_compare_relative(row, value, &relative)) /* the base is 0 */
		return tally_phrase("%s%s%s", row_number(p, row, value, true),
				    row->is_time ? " " : "", row->is_time ? p->unit.word : "");
	double size = fabs(relative);
	return tally_phrase("%+.*f%%", size >= 1 ? 0 : size >= 0.1 ? 1 : 2, 100 * relative);
}

const char *
tally_row_interval(const struct tally_printer *p, const struct tally_compare_row *row)
{
	return row->tested ? tally_phrase("%s to %s", tally_row_change(p, row, row->low),
					  tally_row_change(p, row, row->high))
			   : "-";
}

const char *
tally_row_key(const struct tally_printer *p, const struct tally_compare_row *row)
{
	const char *unit = row->is_time ? p->unit.word : row->unit;
	bool has_unit = unit && strcmp(unit, "1") != 0;
	g_autofree char *key = tally_text_escape(row->key);
	return tally_phrase("%s%s%s%s%s", key, has_unit ? " [" : "", has_unit ? unit : "",
			    has_unit ? "]" : "", row->ratio ? " (ratio)" : "");
}

char *
tally_markdown_escape(const char *text)
{
	GString *out = g_string_new(NULL);
	for (const char *s = text; *s; s++) {
		/* An underscore inside a word is not Markdown markup. */
		bool word = *s == '_' && s > text && g_ascii_isalnum(s[-1]) &&
			    g_ascii_isalnum(s[1]);
		if (strchr("\\`*_[]<>|~&@#!$", *s) && !word)
			g_string_append_printf(out, "&#%d;", *s);
		else
			g_string_append_c(out, *s);
	}
	return g_string_free(out, FALSE);
}

void
tally_print_line(const struct tally_printer *p, const char *format, ...)
{
	TALLY_FORMATTED(text, format);
	if (p->lines) {
		g_ptr_array_add(p->lines, g_strdup(text));
		return;
	}
	/* Lines after the first are indented by two columns more than it. */
	size_t indent = strspn(text, " ");
	g_autofree char *safe = p->style->markdown ? tally_markdown_escape(text + indent) : NULL;
	if (safe || !p->style->width)
		tally_text_print(p->out, "%s%s\n", safe ? "- " : "", safe ? safe : text);
	else
		tally_text_print_wrapped(p->out, text, indent + 2, p->style->width);
}

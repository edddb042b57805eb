/* SPDX-License-Identifier: MIT */
#include "cli/compare/print_verdict.h"
#include "cli/compare/row.h"
#include "cli/shared/each.h"
#include "cli/shared/table.h"
#include "cli/shared/text.h"

#include <math.h>
#include <string.h>

/* Number of unchanged passes that are listed too, the most expensive first. */
#define MOST_QUIET 20
/* A pass is reported if the fraction of frames it appears in changes by at least this much. */
#define LEAST_SHARE 0.05

static void
print_markdown(FILE *out, const struct tally_table *t)
{
	for (guint r = 0; r < tally_table_n_rows(t); r++) {
		for (guint c = 0; c < t->n_columns; c++) {
			g_autofree char *safe = tally_markdown_escape(tally_table_cell(t, r, c));
			tally_text_print(out, "| %s ", safe);
		}
		fputs("|\n", out);
		for (guint c = 0; c < t->n_columns && r == 0; c++)
			tally_text_print(out, "%s%s", t->left[c] ? "|---" : "|--:",
					 c + 1 < t->n_columns ? "" : "|\n");
	}
}

/* The unit of times, by the largest mean of gpu_ns. */
static void
choose_units(struct tally_printer *p)
{
	double most = 0;
	TALLY_EACH (const struct tally_compare_row, row, p->c->rows)
		if (row == row->subject->gpu)
			most = MAX(most, MAX(row->mean[0], row->mean[1]));
	p->unit = most > 0 && most < 1e6 ? (struct tally_unit){ "us", 1e3, 1 }
					 : (struct tally_unit){ "ms", 1e6, 3 };
}

/* "cannot tell (+-40 %)": by how much the value may have changed without being detected. An
 * interval without 0 is no proof: among many values there is one by chance. */
static const char *
unseen_text(const struct tally_printer *p, const struct tally_compare_row *row)
{
	double low, high;
	bool main = tally_row_is_main(row);
	if (row->low > 0)
		return main ? "perhaps slower" : "perhaps more";
	if (row->high < 0)
		return main ? "perhaps faster" : "perhaps less";
	if (!tally_compare_relative(row, row->low, &low) ||
	    !tally_compare_relative(row, row->high, &high))
		return "cannot tell";
	double far = 100 * MAX(fabs(low), fabs(high));
	return tally_phrase("cannot tell (%s%.*f %%)", p->plus_minus, far < 10 ? 1 : 0, far);
}

static const char *
verdict_text(const struct tally_printer *p, const struct tally_compare_row *row)
{
	/* For a time, and for any other value. */
	static const char *const words[TALLY_N_VERDICTS][2] = {
		[TALLY_VERDICT_FEW] = { "too few to judge", "too few to judge" },
		[TALLY_VERDICT_EQUAL] = { "equal", "equal" },
		[TALLY_VERDICT_LESS] = { "faster", "less" },
		[TALLY_VERDICT_MORE] = { "slower", "more" },
	};
	if (row->verdict == TALLY_VERDICT_SAME)
		return tally_phrase("same within %g %%", 100 * TALLY_COMPARE_SAME);
	if (row->verdict == TALLY_VERDICT_UNSEEN)
		return unseen_text(p, row);
	if (row->verdict == TALLY_VERDICT_ONE_SIDE)
		return row->n[0] ? "only in base" : "only in new";
	return tally_phrase("%s%s", words[row->verdict][!tally_row_is_main(row)],
			    row->fails ? " FAILS" : "");
}

enum { COLUMNS = 7 };

/* `times`: the table of times, which has no column for the key. */
static void
add_cells(struct tally_table *t, bool times, const char *const cells[COLUMNS])
{
	for (unsigned i = 0; i < COLUMNS; i++)
		if (i != 1 || !times)
			tally_table_add(t, g_strdup(cells[i]));
}

/* The last column is a word. */
static void
add_head(const struct tally_printer *p, struct tally_table *t, bool times)
{
	const char *unit = times ? tally_phrase(" %s", p->unit.word) : "";
	const char *const cells[COLUMNS] = {
		times ? "GPU time" : "pass",
		"key",
		tally_phrase("base%s", unit),
		tally_phrase("new%s", unit),
		"change",
		tally_phrase("%g %% interval", 100 * p->c->settings.confidence),
		"",
	};
	tally_table_init(t, times ? COLUMNS - 1 : COLUMNS);
	t->left[0] = t->left[t->n_columns - 1] = true;
	t->left[1] = !times;
	add_cells(t, times, cells);
}

static void
add_row(const struct tally_printer *p, struct tally_table *t, const struct tally_compare_row *row,
	bool times)
{
	const char *interval = tally_row_interval(p, row);
	/* It is around another change than that of the means. */
	if (row->against_others)
		interval = tally_phrase("%s* (%s)", tally_row_change(p, row, row->difference),
					interval);
	const char *const cells[COLUMNS] = {
		times ? tally_row_name(p->c, row) : tally_subject_text(p->c, row->subject),
		tally_row_key(p, row),
		tally_row_mean(p, row, TALLY_SIDE_BASE),
		tally_row_mean(p, row, TALLY_SIDE_NEW),
		row->n[0] && row->n[1] ? tally_row_change(p, row, tally_row_seen(row)) : "-",
		interval,
		verdict_text(p, row),
	};
	add_cells(t, times, cells);
}

/* Sections */

static void
title(const struct tally_printer *p, const char *text)
{
	tally_text_print(p->out, p->style->markdown ? "\n**%s**\n\n" : "\n%s\n", text);
}

/* Takes the table; one without rows is not printed. */
static void
print_table(const struct tally_printer *p, struct tally_table *t, const char *head)
{
	if (tally_table_n_rows(t) > 1) {
		title(p, head);
		g_autoptr(GPtrArray) lines = tally_table_lines(t, p->style->width, false);
		if (p->style->markdown)
			print_markdown(p->out, t);
		else
			TALLY_EACH (const char, line, lines)
				tally_text_print(p->out, "%s\n", line);
	}
	tally_table_finish(t);
}

static void
print_side(const struct tally_printer *p, enum tally_side side, const char *word)
{
	const GPtrArray *logs = p->c->logs[side];
	uint64_t frames = 0, warmup = 0;
	TALLY_EACH (const struct tally_compare_log, log, logs) {
		uint64_t skipped;
		frames += tally_compare_log_frames(log, &skipped);
		warmup += skipped;
	}
	const struct tally_compare_log *first = g_ptr_array_index(logs, 0);
	const char *name = p->style->names[side];
	g_autofree char *path = tally_text_escape(name ? name : first->aggregate.path);
	const char *more = logs->len == 1 ? ""
			   : name         ? tally_phrase(", %u runs", logs->len)
					  : tally_phrase(" and %u more", logs->len - 1);
	const char *without = warmup ? tally_phrase(", without %" G_GUINT64_FORMAT
						    " at the start (--warmup 0 keeps them)",
						    warmup)
				     : "";
	tally_print_line(p, "%s %s%s, %" G_GUINT64_FORMAT " frame%s%s", word, path, more, frames,
			 TALLY_S(frames), without);
}

static void
print_unlike(const struct tally_printer *p)
{
	TALLY_EACH (const struct tally_compare_unlike, u, p->c->unlike) {
		g_autofree char *what = tally_text_escape(u->what);
		g_autofree char *base = tally_text_escape(u->side[TALLY_SIDE_BASE]);
		g_autofree char *fresh = tally_text_escape(u->side[TALLY_SIDE_NEW]);
		tally_print_line(p, "differs: %s: %s in base, %s in new", what, base, fresh);
	}
}

/* Frames first, then rows with a change from the largest change down, then the others from
 * the most expensive down. */
static gint
main_compare(gconstpointer a, gconstpointer b)
{
	const struct tally_compare_row *x = *(struct tally_compare_row *const *)a;
	const struct tally_compare_row *y = *(struct tally_compare_row *const *)b;
	if (x->subject->frame != y->subject->frame)
		return x->subject->frame ? -1 : 1;
	if (x->subject->slot != y->subject->slot && x->subject->frame)
		return x->subject->slot < y->subject->slot ? -1 : 1;
	if (x->subject->frame)
		return (x->pace > y->pace) - (x->pace < y->pace);
	if (tally_row_changed(x) != tally_row_changed(y))
		return tally_row_changed(x) ? -1 : 1;
	double worth_x = tally_row_changed(x) ? fabs(tally_row_seen(x)) : x->mean[0];
	double worth_y = tally_row_changed(y) ? fabs(tally_row_seen(y)) : y->mean[0];
	return (worth_x < worth_y) - (worth_x > worth_y);
}

/* Whether the row belongs to the first table. */
static bool
has_times(const struct tally_compare_row *row)
{
	return tally_row_is_main(row) && row->verdict != TALLY_VERDICT_ONE_SIDE;
}

/* Nothing was measured outside passes on either side. */
static bool
is_empty(const struct tally_compare_row *row)
{
	const double *mean = row->mean;
	return row->subject->outside && mean[0] == 0 && mean[1] == 0;
}

static void
print_times(const struct tally_printer *p)
{
	g_autoptr(GPtrArray) rows = g_ptr_array_new();
	TALLY_EACH (struct tally_compare_row, row, p->c->rows)
		if (has_times(row) && (p->style->all || !is_empty(row)))
			g_ptr_array_add(rows, row);
	g_ptr_array_sort(rows, main_compare);
	struct tally_table t;
	add_head(p, &t, true);
	guint quiet = 0;
	TALLY_EACH (const struct tally_compare_row, row, rows) {
		bool shown = tally_row_changed(row) || row->subject->frame || p->style->all;
		if (shown || quiet++ < MOST_QUIET)
			add_row(p, &t, row, true);
	}
	print_table(p, &t, "Times: means of the frames that have the pass");
	if (quiet > MOST_QUIET)
		tally_text_print(p->out,
				 "%s%u more pass%s without a detected change (--all lists them)\n",
				 p->style->markdown ? "\n" : "", quiet - MOST_QUIET,
				 TALLY_ES(quiet - MOST_QUIET));
}

static void
print_keys(const struct tally_printer *p)
{
	struct tally_table t;
	add_head(p, &t, false);
	TALLY_EACH (const struct tally_compare_row, row, p->c->rows) {
		bool shown = tally_row_changed(row) || row->blind || row->pace || p->style->all;
		if (shown && !has_times(row))
			add_row(p, &t, row, false);
	}
	print_table(p, &t,
		    p->style->all
			    ? "Counts, counters, metrics: means of these frames"
			    : "Counts, counters, metrics that changed: means of these frames");
}

/* Prints the passes that only one side has. */
static void
print_only(const struct tally_printer *p, enum tally_side side, const char *text)
{
	guint n = 0;
	TALLY_EACH (const struct tally_compare_subject, s, p->c->subjects) {
		if (s->frame || !s->frames[side] || s->frames[!side])
			continue;
		const struct tally_compare_row *row = s->gpu;
		const char *mean = row ? tally_row_mean(p, row, side) : "not measured";
		if (n++ == 0)
			title(p, text);
		tally_print_line(p, "  %s: GPU time %s%s%s, in %" G_GUINT64_FORMAT " frame%s",
				 tally_subject_text(p->c, s), mean, row ? " " : "",
				 row ? p->unit.word : "", s->frames[side],
				 TALLY_S(s->frames[side]));
	}
}

static void
print_shares(const struct tally_printer *p)
{
	guint n = 0;
	TALLY_EACH (const struct tally_compare_subject, s, p->c->subjects) {
		if (s->frame || s->outside || !s->frames[0] || !s->frames[1])
			continue;
		double base = tally_subject_share(s, TALLY_SIDE_BASE);
		double fresh = tally_subject_share(s, TALLY_SIDE_NEW);
		if (fabs(fresh - base) < LEAST_SHARE)
			continue;
		if (n++ == 0)
			title(p, "Passes in a different share of frames (the means are of those "
				 "frames)");
		tally_print_line(p, "  %s: %.0f %% of frames in base, %.0f %% in new",
				 tally_subject_text(p->c, s), 100 * base, 100 * fresh);
	}
}

/* The tables leave these rows out; nothing can be said, not even that they are equal. A frame's sum
 * that lacks a pass has values on both sides; the pass is listed. */
static void
print_one_sided(const struct tally_printer *p)
{
	const struct tally_compare_row *first = NULL;
	guint n = 0;
	TALLY_EACH (const struct tally_compare_row, row, p->c->rows) {
		const struct tally_compare_subject *s = row->subject;
		if (!s->frames[0] || !s->frames[1] || !row->n[0] == !row->n[1])
			continue;
		/* A time is named: most gates are on times. */
		if (!n++ || (tally_row_is_main(row) && !tally_row_is_main(first)))
			first = row;
	}
	if (!n)
		return;
	g_autofree char *key = tally_text_escape(first->key);
	putc('\n', p->out);
	tally_print_line(p, "measured on one side only: %u value%s, as %s of %s in %s (--all)", n,
			 TALLY_S(n), key, tally_subject_text(p->c, first->subject),
			 first->n[0] ? "base" : "new");
}

void
tally_compare_print(FILE *out, const struct tally_compare *c,
		    const struct tally_compare_style *style)
{
	struct tally_printer p = { .out = out, .c = c, .style = style };
	choose_units(&p);
	p.plus_minus = tally_text_is_utf8() ? "\xc2\xb1" : "+-";
	tally_print_conclusion(&p, "### passtally compare: ");
	if (style->markdown)
		putc('\n', out);
	print_side(&p, TALLY_SIDE_BASE, "base:");
	print_side(&p, TALLY_SIDE_NEW, "new:");
	print_unlike(&p);
	print_times(&p);
	print_keys(&p);
	print_only(&p, TALLY_SIDE_NEW, "Passes that are new");
	print_only(&p, TALLY_SIDE_BASE, "Passes that are gone");
	print_shares(&p);
	print_one_sided(&p);
	putc('\n', out);
	tally_print_verdict(&p);
}

GPtrArray *
tally_compare_lines(const struct tally_compare *c)
{
	struct tally_printer p = { .c = c, .lines = g_ptr_array_new_with_free_func(g_free) };
	choose_units(&p);
	print_unlike(&p);
	tally_print_verdict(&p);
	return p.lines;
}

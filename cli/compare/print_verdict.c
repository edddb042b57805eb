/* SPDX-License-Identifier: MIT */
#include "cli/compare/print_parts.h"
#include "cli/shared/each.h"

#include <math.h>

/* The value that decides the conclusion: of those that count the one with the largest change,
 * by what it is of the base. NULL = none. */
static const struct tally_compare_row *
find_decisive(const struct tally_compare *c)
{
	const struct tally_compare_row *best = NULL;
	double most = -1;
	TALLY_EACH (const struct tally_compare_row, row, c->rows) {
		bool counts = c->conclusion == TALLY_CONCLUSION_REGRESSION ? row->fails
			      : c->conclusion == TALLY_CONCLUSION_INCONCLUSIVE
				      ? row->open
				      : tally_row_changed(row);
		double relative = 0;
		if (!tally_compare_decides(c, row) || !counts)
			continue;
		tally_compare_relative(row, row->difference * (row->worse ? row->worse : 1),
				       &relative);
		double size = c->conclusion == TALLY_CONCLUSION_MIXED ||
					      c->conclusion == TALLY_CONCLUSION_FASTER ||
					      c->conclusion == TALLY_CONCLUSION_LESS
				      ? fabs(relative)
				      : relative;
		if (!best || size > most) {
			best = row;
			most = size;
		}
	}
	return best;
}

/* The pass, and the key where that is no time. The caller frees it. */
static char *
key_name(const struct tally_printer *p, const struct tally_compare_row *row)
{
	if (tally_row_is_main(row) || row->pace)
		return tally_row_name(p->c, row);
	g_autofree char *name = tally_subject_text(p->c, row->subject);
	g_autofree char *key = tally_row_key(p, row);
	return g_strdup_printf("%s, %s", name, key);
}

/* "GBuffer +142.4% (99 %: +41.4% to +243.4%)". The caller frees it. */
static char *
decisive_text(const struct tally_printer *p, const struct tally_compare_row *row)
{
	g_autofree char *name = key_name(p, row);
	if (!row->tested)
		return g_strdup_printf("%s: %s", name,
				       row->verdict == TALLY_VERDICT_FEW
					       ? "too few frames"
					       : "not measured on both sides");
	g_autofree char *change = tally_row_change(p, row, row->difference);
	g_autofree char *interval = tally_row_interval(p, row);
	return g_strdup_printf("%s %s (%g %%: %s)", name, change,
			       100 * p->c->settings.confidence, interval);
}

/* The last line of all. */
static void
print_conclusion(const struct tally_printer *p)
{
	const struct tally_compare *c = p->c;
	const struct tally_compare_row *row = find_decisive(c);
	g_autofree char *text = row ? decisive_text(p, row)
				    : g_strdup("nothing was measured");
	g_autofree char *word = g_ascii_strup(tally_conclusion_names[c->conclusion], -1);
	double limit = 100 * c->settings.fail_above;
	switch (c->conclusion) {
	case TALLY_CONCLUSION_REGRESSION:
		tally_print_line(p, "REGRESSION: %u regression%s above %g %%, the largest %s",
				 c->n_failed, c->n_failed == 1 ? "" : "s", limit, text);
		break;
	case TALLY_CONCLUSION_INCONCLUSIVE:
		if (c->settings.has_fail_above && !c->has_gates)
			tally_print_line(
				p,
				"INCONCLUSIVE: no compared value can fail: name one with --gate");
		else
			tally_print_line(p, "INCONCLUSIVE: %u value%s unclear: %s", c->n_open,
					 c->n_open == 1 ? " is" : "s are", text);
		break;
	case TALLY_CONCLUSION_NO_REGRESSION:
		tally_print_line(p, "OK: no regression above %g %%", limit);
		break;
	case TALLY_CONCLUSION_SLOWER:
	case TALLY_CONCLUSION_FASTER:
	case TALLY_CONCLUSION_LESS:
	case TALLY_CONCLUSION_MORE:
		tally_print_line(p, "%s: %s", word, text);
		break;
	case TALLY_CONCLUSION_MIXED:
		tally_print_line(p, "MIXED: some %s rose and some fell, the largest change is %s",
				 !c->has_gates           ? "values"
				 : c->settings.per_clock ? "cycles"
							 : "times",
				 text);
		break;
	default:
		tally_print_line(p, "SAME: no %s changed by more than %g %%",
				 !c->has_gates           ? "value"
				 : c->settings.per_clock ? "number of cycles"
							 : "time",
				 100 * c->settings.same);
	}
}

void
tally_print_verdict(const struct tally_printer *p)
{
	const struct tally_compare *c = p->c;
	uint32_t less = 0, more = 0, runs = 0, against = 0, against_in_runs = 0;
	TALLY_EACH (const struct tally_compare_row, row, c->rows) {
		less += row->verdict == TALLY_VERDICT_LESS;
		more += row->verdict == TALLY_VERDICT_MORE;
		runs += row->runs && row->tested;
		against += row->against_others;
		against_in_runs += row->against_others && row->runs;
	}
	fputs("\n", p->out);
	tally_print_line(p,
			 "%u value%s tested by %s: %u rose, %u fell; in %g %% of comparisons "
			 "chance alone reports a time as changed, in as many another value",
			 c->n_tested, c->n_tested == 1 ? "" : "s",
			 runs == 0 ? "frames"
			 : runs == c->n_tested
				 ? "whole runs"
				 : "whole runs (by frames where fewer than 5 runs a side have it)",
			 more, less, 100 * (1 - c->settings.confidence));
	if (runs == 0 && c->n_tested)
		tally_print_line(p, "Runs also differ by chance, which the frames of one run "
				    "cannot show: compare five logs a side or more");
	if (against)
		tally_print_line(p,
				 "* judged against the other passes of the same %s: what they all "
				 "have in common is left out",
				 against_in_runs ? "runs" : "frames");
	if (c->settings.has_fail_above && c->n_blind)
		tally_print_line(p,
				 "%u value%s too noisy to rule out a regression: record more "
				 "frames or more runs",
				 c->n_blind, c->n_blind == 1 ? " is" : "s are");
	if (c->settings.has_fail_above && c->n_few)
		tally_print_line(
			p, "%u gated value%s known in too few frames to judge: record more frames",
			c->n_few, c->n_few == 1 ? " is" : "s are");
	/* The last line is one, whatever its length. */
	struct tally_compare_style style = *p->style;
	struct tally_printer whole = *p;
	style.width = 0;
	whole.style = &style;
	print_conclusion(&whole);
}

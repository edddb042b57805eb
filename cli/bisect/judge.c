/* SPDX-License-Identifier: MIT */
#include "cli/bisect/judge.h"

#include "cli/compare/compare.h"
#include "cli/compare/join.h"
#include "cli/log/warmup.h"
#include "cli/shared/each.h"

#include <string.h>

/* Reads and compares; the caller finishes `c` in either case. */
static bool
read_sides(struct tally_compare *c, const GPtrArray *const paths[TALLY_N_SIDES], double confidence,
	   const struct tally_compare_filter *filter)
{
	tally_compare_init(c);
	c->settings.confidence = confidence;
	for (unsigned side = 0; side < TALLY_N_SIDES; side++) {
		TALLY_EACH (const char, path, paths[side]) {
			struct tally_compare_log *log;
			int status = tally_compare_log_read(&log, path, TALLY_WARMUP_AUTO, -1,
							    filter);
			g_ptr_array_add(c->logs[side], log);
			if (status != TALLY_EXIT_OK)
				return false;
		}
	}
	tally_compare_join(c);
	tally_compare_judge(c);
	return true;
}

static bool
is_time(const struct tally_compare_row *row)
{
	return row->tested && row->is_time && !row->subject->outside && row->mean[0] > 0;
}

/* A pass that accounts for half of the frame's change says more than the frame. */
static double
worth(const struct tally_compare_row *row)
{
	return row->difference * (row->subject->frame ? 0.5 : 1);
}

static enum tally_bisect_answer
choose(const struct tally_compare *c, struct tally_bisect_change *change)
{
	const struct tally_compare_row *best = NULL;
	TALLY_EACH (const struct tally_compare_row, row, c->rows)
		if (is_time(row) && row->verdict == TALLY_VERDICT_MORE &&
		    (!best || worth(row) > worth(best)))
			best = row;
	if (!best)
		return TALLY_BISECT_UNCLEAR;
	*change = (struct tally_bisect_change){
		.frame = best->subject->frame,
		.cpu = best->is_cpu,
		.device = best->subject->slot,
		.id = best->subject->id,
		.name = g_strdup(best->subject->name),
		.part = best->difference / best->mean[0],
		.others = best->against_others,
		.mean = { best->mean[0], best->mean[1] },
		.low = best->low / best->mean[0],
		.high = best->high / best->mean[0],
	};
	return TALLY_BISECT_BAD;
}

static enum tally_bisect_answer
judge(const struct tally_compare *c, const struct tally_bisect_change *change)
{
	TALLY_EACH (const struct tally_compare_row, row, c->rows) {
		const struct tally_compare_subject *s = row->subject;
		if (!is_time(row) || s->frame != change->frame || s->slot != change->device ||
		    row->is_cpu != change->cpu ||
		    (!s->frame && s->id != change->id))
			continue;
		if (row->high / row->mean[0] < change->part / 2)
			return TALLY_BISECT_GOOD;
		if (row->low / row->mean[0] > change->part / 2)
			return TALLY_BISECT_BAD;
	}
	return TALLY_BISECT_UNCLEAR;
}

static enum tally_bisect_answer
compare(const GPtrArray *good, const GPtrArray *other, double confidence,
	struct tally_bisect_change *found, const struct tally_bisect_change *known)
{
	struct tally_compare c;
	g_autoptr(GPtrArray) patterns = g_ptr_array_new();
	g_ptr_array_add(patterns, (gpointer) "gpu_ns");
	g_ptr_array_add(patterns, (gpointer) "cpu_ns");
	const struct tally_compare_filter filter = { .patterns = patterns };
	const GPtrArray *const sides[TALLY_N_SIDES] = { good, other };
	enum tally_bisect_answer answer = TALLY_BISECT_FAILED;
	if (read_sides(&c, sides, confidence, &filter))
		answer = known ? judge(&c, known) : choose(&c, found);
	tally_compare_finish(&c);
	return answer;
}

enum tally_bisect_answer
tally_bisect_find(const GPtrArray *good, const GPtrArray *bad, double confidence,
		  struct tally_bisect_change *change)
{
	return compare(good, bad, confidence, change, NULL);
}

enum tally_bisect_answer
tally_bisect_judge(const GPtrArray *good, const GPtrArray *other, double confidence,
		   const struct tally_bisect_change *change)
{
	return compare(good, other, confidence, NULL, change);
}

/* SPDX-License-Identifier: MIT */
#include "cli/answer/beat.h"

#include <glib.h>

#define ALTERNATES 0.8 /* so many rows of frames */
#define LEAST_ROWS 10
#define LEAST_PART 5 /* they are a fifth of the run */

void
tally_beats_init(struct tally_beats *beats)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(beats->of); i++)
		beats->of[i].most.room = beats->of[i].next.room = TALLY_PART_ROOM;
}

void
tally_beats_finish(struct tally_beats *beats)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(beats->of); i++) {
		tally_course_finish(&beats->of[i].most);
		tally_course_finish(&beats->of[i].next);
	}
}

static void
end_row(struct tally_beat *b)
{
	if (b->best_ns && b->best_ns >= 2 * b->next_ns &&
	    b->best_of_ns >= b->next_of_ns + (b->best_ns - b->next_ns) / 2) {
		uint64_t *wins = &b->wins[b->best], *first = &b->first[b->best];
		/* Too few of the rows so far to be a rule: it starts here. */
		if ((double)*wins < ALTERNATES * (double)(b->row - *first)) {
			*wins = 0;
			*first = b->row;
		}
		(*wins)++;
		b->last[b->best] = b->row;
		tally_course_add(&b->most, b->row, (double)b->best_ns);
		tally_course_add(&b->next, b->row, (double)b->next_ns);
	}
	b->best_ns = b->next_ns = b->best_of_ns = b->next_of_ns = 0;
}

void
tally_beats_add(struct tally_beats *beats, uint64_t frame, uint64_t ns, uint64_t of_ns)
{
	for (unsigned period = 2; period <= TALLY_MOST_PERIOD; period++) {
		struct tally_beat *b = &beats->of[period - 2];
		if (frame / period != b->row)
			end_row(b);
		b->row = frame / period;
		bool best = ns > b->best_ns;
		b->next_ns = MAX(b->next_ns, MIN(b->best_ns, ns));
		b->next_of_ns = MAX(b->next_of_ns, best ? b->best_of_ns : of_ns);
		b->best = best ? (unsigned)(frame % period) : b->best;
		b->best_ns = best ? ns : b->best_ns;
		b->best_of_ns = best ? of_ns : b->best_of_ns;
	}
}

/* The shortest period in which it alternates, or 0; *rows: in which. */
static unsigned
period_of(const struct tally_beats *beats, uint64_t frames, struct tally_range *rows)
{
	for (unsigned period = 2; period <= TALLY_MOST_PERIOD; period++)
		for (unsigned i = 0; i < period; i++) {
			const struct tally_beat *b = &beats->of[period - 2];
			*rows = (struct tally_range){ false, b->first[i], b->last[i] + 1 };
			uint64_t n = (rows->to - rows->from) * period;
			if (b->wins[i] >= LEAST_ROWS && LEAST_PART * n >= frames)
				return period;
		}
	return 0;
}

bool
tally_beats_find(const struct tally_beats *beats, uint64_t frames, uint64_t last, double least_ns,
		 struct tally_alternating *found)
{
	struct tally_range rows;
	const unsigned period = period_of(beats, frames, &rows);
	if (!period)
		return false;
	const struct tally_beat *b = &beats->of[period - 2];
	const uint64_t from = rows.from * period, to = rows.to * period;
	found->period = period;
	found->from = 10 * from > frames ? from : 0;
	found->until = 10 * (last - MIN(last, to)) > frames ? to : 0;
	found->ns = tally_course_median(&b->most, rows.from, rows.to);
	found->else_ns = tally_course_median(&b->next, rows.from, rows.to);
	return found->ns >= least_ns;
}

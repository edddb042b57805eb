/* SPDX-License-Identifier: MIT */
/* tests/unit/query/attribute_world.h - a history, an attributor and work to cut it into, with the
 * conditions that every cut must meet.
 *
 * One thread.
 */
#ifndef PASSTALLY_TESTS_UNIT_ATTRIBUTE_WORLD_H
#define PASSTALLY_TESTS_UNIT_ATTRIBUTE_WORLD_H

#include "query/attribute/attribute.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "layer/record.h"

#define N 3 /* counters */
#define MAX_WORK 400

/* A history, an attributor, and the arrays of one call. */
struct world {
	struct tally_history *history;
	struct tally_attributor *attributor;
	uint64_t number;
	struct tally_work work[MAX_WORK];
	struct tally_share shares[MAX_WORK];
	uint64_t delta[MAX_WORK][N], unknown[MAX_WORK][1];
	uint64_t unattributed[N], unattributed_unknown[1], unlogged[N], total[N];
	struct tally_window window;
	uint32_t n;
};

static inline void
open_world(struct world *w, size_t history_bytes)
{
	memset(w, 0, sizeof(*w));
	w->history = tally_history_create(N, history_bytes);
	w->attributor = tally_attributor_create(N);
	g_assert_true(w->history && w->attributor);
	for (uint32_t i = 0; i < MAX_WORK; i++) {
		w->shares[i].delta = w->delta[i];
		w->shares[i].unknown = w->unknown[i];
	}
	w->window.unattributed = w->unattributed;
	w->window.unattributed_unknown = w->unattributed_unknown;
	w->window.unlogged = w->unlogged;
	w->window.delta = w->total;
}

static inline void
close_world(struct world *w)
{
	tally_history_destroy(w->history);
	tally_attributor_destroy(w->attributor);
}

static inline void
read_totals(struct world *w, uint64_t time_ns, const uint64_t *totals, uint64_t unknown,
	    uint64_t flags)
{
	g_assert_true(tally_history_add(w->history, &(struct tally_reading){
							    .first = w->number + 1,
							    .number = ++w->number,
							    .time_ns = time_ns,
							    .totals = totals,
							    .unknown = &unknown,
							    .flags = flags,
						    }));
}

/* The conditions that every cut must meet: nothing is lost, and unknown values are not
 * reported. */
static inline void
cut(struct world *w, bool exact, uint64_t begin_ns, uint64_t end_ns)
{
	/* The previous contents of the arrays do not matter. */
	memset(w->delta, 0xee, sizeof(w->delta));
	memset(w->unknown, 0xee, sizeof(w->unknown));
	memset(w->unattributed, 0xee, sizeof(w->unattributed));
	memset(w->unattributed_unknown, 0xee, sizeof(w->unattributed_unknown));
	memset(w->unlogged, 0xee, sizeof(w->unlogged));
	memset(w->total, 0xee, sizeof(w->total));
	w->window.begin_ns = begin_ns;
	w->window.end_ns = end_ns;
	g_assert_true(tally_attribute(w->attributor, w->history, exact, w->work, w->shares, w->n,
				      &w->window));
	for (int k = 0; k < N; k++) {
		uint64_t sum = w->unattributed[k] + w->unlogged[k];
		for (uint32_t i = 0; i < w->n; i++) {
			const struct tally_share *share = &w->shares[i];
			if (!share->known || (share->unknown[0] >> k & 1))
				g_assert_cmpuint(share->delta[k], ==, 0);
			g_assert_cmpuint(share->delta[k], <=, w->total[k]);
			sum += share->delta[k];
		}
		g_assert_cmpuint(sum, ==, w->total[k]);
		g_assert_cmpuint(w->total[k], <, UINT64_C(1) << 62); /* none is negative */
		if (w->unattributed_unknown[0] >> k & 1)
			g_assert_cmpuint(w->unattributed[k], ==, 0);
	}
}

static inline void
advance_totals(GRand *rand, uint64_t *totals)
{
	totals[0] += g_rand_int_range(rand, 0, 5);
	totals[1] += g_rand_int_range(rand, 0, 100000);
	totals[2] += (uint64_t)g_rand_int(rand) << 20;
}

#endif

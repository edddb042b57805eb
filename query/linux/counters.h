/* SPDX-License-Identifier: MIT */
/* query/linux/counters.h - what Linux counts of a process's CPU work: linux-perf and
 * linux-proc.
 *
 * Both sources use the same keys, so that a log reads the same where perf is denied; linux-proc
 * leaves out what it cannot know. Everything is counted for this process, the game and the
 * driver together (on llvmpipe and lavapipe including the rasterizer's threads), without our
 * own threads. Tables are constant; any thread; nothing allocates.
 */
#ifndef PASSTALLY_QUERY_LINUX_COUNTERS_H
#define PASSTALLY_QUERY_LINUX_COUNTERS_H

#include "query/source/snapshot.h"

enum tally_linux_count {
	TALLY_LINUX_TASK_CLOCK = 0, /* cpu_task_clock, ns */
	TALLY_LINUX_PAGE_FAULTS, /* cpu_page_faults */
	TALLY_LINUX_MINOR_FAULTS, /* cpu_minor_faults */
	TALLY_LINUX_MAJOR_FAULTS, /* cpu_major_faults */
	TALLY_LINUX_CONTEXT_SWITCHES, /* cpu_context_switches */
	TALLY_LINUX_MIGRATIONS, /* cpu_migrations; only perf has this one and the following */
	TALLY_LINUX_CYCLES, /* cpu_cycles; hardware events from here on */
	TALLY_LINUX_INSTRUCTIONS, /* cpu_instructions */
	TALLY_LINUX_CACHE_REFERENCES, /* cpu_cache_references */
	TALLY_LINUX_CACHE_MISSES, /* cpu_cache_misses */
	TALLY_LINUX_BRANCHES, /* cpu_branches */
	TALLY_LINUX_BRANCH_MISSES, /* cpu_branch_misses */
	TALLY_LINUX_STALLED_FRONTEND, /* cpu_stalled_cycles_frontend */
	TALLY_LINUX_STALLED_BACKEND, /* cpu_stalled_cycles_backend */
	TALLY_LINUX_N,
};
#define TALLY_LINUX_BIT(which) (UINT64_C(1) << (which))

enum tally_linux_source { TALLY_LINUX_PERF = 0, TALLY_LINUX_PROC };

/* The counters (bits of enum tally_linux_count) that src->wanted asks for; *hidden gets those
 * that only metrics need. */
uint64_t tally_linux_wanted(const struct tally_snapshot_source *src,
			    enum tally_linux_source source, uint64_t *hidden);

/* The counters of a source, in order. */
struct tally_linux_choice {
	const struct tally_counter *counters[TALLY_LINUX_N];
	uint8_t which[TALLY_LINUX_N]; /* enum tally_linux_count */
	uint64_t logged;
	uint32_t n;
};
/* Chooses those in `asked` and `hidden` that are in `offered`, and sets them as src's counters.
 * False: there are none, or there was not enough memory for their keys. */
bool tally_linux_choose(struct tally_snapshot_source *src, enum tally_linux_source source,
			uint64_t asked, uint64_t hidden, uint64_t offered,
			struct tally_linux_choice *choice);

/* Running totals of one source, indexed by enum tally_linux_count. */
struct tally_linux_totals {
	uint64_t total[TALLY_LINUX_N];
	uint64_t unknown; /* bits: the delta since the previous sample is unknown */
};
/* Delivers totals in the sampler's form; where one is unknown, its total from `before` is
 * restored. */
void tally_linux_deliver(const struct tally_linux_choice *choice,
			 const struct tally_linux_totals *before,
			 struct tally_linux_totals *totals, struct tally_totals *out);

#endif

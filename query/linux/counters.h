/* query/linux/counters.h - what Linux counts of a process' CPU work: linux-perf and linux-proc.
 *
 * Both sources count under the same keys, so that a log reads the same where perf is denied; what
 * linux-proc cannot know it leaves out. Everything is of this process, game and driver together (on
 * llvmpipe and lavapipe the rasteriser's threads too), without our own threads. Tables are
 * constant; any thread; nothing allocates.
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
	TALLY_LINUX_MIGRATIONS, /* cpu_migrations; perf alone from here on */
	TALLY_LINUX_CYCLES, /* cpu_cycles; hardware's from here on */
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
#define TALLY_LINUX_ALL ((UINT64_C(1) << TALLY_LINUX_N) - 1)

enum tally_linux_source { TALLY_LINUX_PERF = 0, TALLY_LINUX_PROC };

/* By whom it is counted; `which` is below TALLY_LINUX_N. */
const struct tally_counter *tally_linux_counter(unsigned which, enum tally_linux_source source);

/* Which of them (bits of enum tally_linux_count) src->wanted asks for; *hidden: more of them, for
 * metrics alone. */
uint64_t tally_linux_wanted(const struct tally_snapshot_source *src, enum tally_linux_source source,
			    uint64_t *hidden);

/* What a source counts, in order. */
struct tally_linux_choice {
	const struct tally_counter *counters[TALLY_LINUX_N];
	uint8_t which[TALLY_LINUX_N]; /* enum tally_linux_count */
	uint64_t logged;
	uint32_t n;
};
/* Those in `asked` and `hidden` that are in `offered`, set as src's counters. False: there are
 * none, or no memory was left for their keys. */
bool tally_linux_choose(struct tally_snapshot_source *src, enum tally_linux_source source,
			uint64_t asked, uint64_t hidden, uint64_t offered,
			struct tally_linux_choice *choice);

/* Running totals by enum tally_linux_count, of one source. */
struct tally_linux_totals {
	uint64_t total[TALLY_LINUX_N];
	uint64_t unknown; /* bits: growth since the sample before is not known */
};
/* As the sampler wants them; what is unknown gets back the total it had in `before`. */
void tally_linux_deliver(const struct tally_linux_choice *choice,
			 const struct tally_linux_totals *before, struct tally_linux_totals *totals,
			 struct tally_totals *out);

/* More for src->reason, after "; " where there is something already. */
void tally_linux_add_reason(struct tally_snapshot_source *src, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif

/* SPDX-License-Identifier: MIT */
#include "query/linux/counters.h"

#include "layer/config/list.h"
#include "query/linux/linux.h"

#include <string.h>
#include <strings.h>

#include "layer/config/config.h"

#define N_SOURCES 2
_Static_assert(TALLY_LINUX_N <= 63, "sets of counters are bits of one word");

/* Used by metrics: always, or only where --counters names something. */
enum { OVERVIEW = 1, FOR_METRICS = 2, FOR_NAMED_METRICS = 4 };

/* One counter as each of the two sources defines it. */
struct row {
	struct tally_counter by[N_SOURCES];
	unsigned flags;
};

#define COUNTER(source_, key_, name_, unit_, kind_, text_) \
	{ \
		.key = key_, .name = name_, .unit = unit_, .source = source_, \
		.description = text_, .kind = TALLY_KIND_##kind_, \
		.storage = TALLY_STORAGE_U64, .scope = TALLY_SCOPE_PASS, \
		.width_bits = 64, \
	}
#define OF_PROCESS(which_, flags_, key_, name_, unit_, kind_, text_, perf_, proc_) \
	[TALLY_LINUX_##which_] = { \
		.by = { COUNTER("linux-perf", key_, name_, unit_, kind_, text_ perf_), \
			COUNTER("linux-proc", key_, name_, unit_, kind_, text_ proc_) }, \
		.flags = flags_, \
	}
#define OF_HARDWARE(which_, flags_, key_, name_, unit_, kind_, text_) \
	OF_PROCESS(which_, flags_, key_, name_, unit_, kind_, text_, \
		   " From the processor's own counters; scaled up by time where they " \
		   "had to take " \
		   "turns. Where the kernel lets only user mode be watched, of user " \
		   "mode alone.", \
		   "")

#define WHOSE \
	"of all threads of the process, the game's and the driver's, less passtally's own. On " \
	"llvmpipe and lavapipe the threads that draw are among them."

static const struct row rows[TALLY_LINUX_N] = {
	OF_PROCESS(TASK_CLOCK, OVERVIEW | FOR_METRICS, "cpu_task_clock", "CPU time", "ns",
		   DURATION, "CPU time, in the kernel and out of it, " WHOSE,
		   " Never less than the process's CPU clock; in a virtual machine what "
		   "its host took meanwhile may be included.",
		   " A thread that runs without a pause is brought up to date at the "
		   "kernel's tick, every 1 to 10 ms."),
	OF_PROCESS(PAGE_FAULTS, OVERVIEW | FOR_METRICS, "cpu_page_faults",
		   "CPU page faults", "1", EVENT,
		   "Page faults, those that read a disk and those that do not, " WHOSE,
		   " By getrusage().", " By getrusage()."),
	OF_PROCESS(MINOR_FAULTS, 0, "cpu_minor_faults", "CPU page faults, minor", "1",
		   EVENT, "Page faults that needed no disk, " WHOSE, " By getrusage().",
		   " By getrusage()."),
	OF_PROCESS(MAJOR_FAULTS, 0, "cpu_major_faults", "CPU page faults, major", "1",
		   EVENT, "Page faults that had to read a disk, " WHOSE,
		   " By getrusage().", " By getrusage()."),
	OF_PROCESS(CONTEXT_SWITCHES, OVERVIEW, "cpu_context_switches",
		   "CPU context switches", "1", EVENT,
		   "Context switches, by force and by itself, " WHOSE, " By getrusage().",
		   " By getrusage()."),
	OF_PROCESS(MIGRATIONS, 0, "cpu_migrations", "CPU migrations", "1", EVENT,
		   "Moves to another CPU, " WHOSE, "", ""),
	OF_HARDWARE(CYCLES, FOR_METRICS, "cpu_cycles", "CPU cycles", "cycles", DURATION,
		    "CPU cycles " WHOSE),
	OF_HARDWARE(INSTRUCTIONS, FOR_METRICS, "cpu_instructions", "CPU instructions",
		    "1", EVENT, "Instructions that were completed, " WHOSE),
	OF_HARDWARE(CACHE_REFERENCES, FOR_METRICS, "cpu_cache_references",
		    "CPU cache accesses", "1", EVENT,
		    "Accesses to the cache that the processor counts by this name, most "
		    "often the last one before memory, " WHOSE),
	OF_HARDWARE(CACHE_MISSES, FOR_METRICS, "cpu_cache_misses", "CPU cache misses",
		    "1", EVENT,
		    "Those of cpu_cache_references that were not found there, " WHOSE),
	OF_HARDWARE(BRANCHES, FOR_NAMED_METRICS, "cpu_branches", "CPU branches", "1",
		    EVENT, "Branch instructions that were completed, " WHOSE),
	OF_HARDWARE(BRANCH_MISSES, FOR_NAMED_METRICS, "cpu_branch_misses",
		    "CPU branch misses", "1", EVENT,
		    "Branches that went another way than was foretold, " WHOSE),
	OF_HARDWARE(STALLED_FRONTEND, 0, "cpu_stalled_cycles_frontend",
		    "CPU stalls, front end", "cycles", DURATION,
		    "Cycles in which no instruction was there to be issued, " WHOSE),
	OF_HARDWARE(STALLED_BACKEND, FOR_NAMED_METRICS, "cpu_stalled_cycles_backend",
		    "CPU stalls, back end", "cycles", DURATION,
		    "Cycles in which instructions waited for a unit or for data, " WHOSE),
};

bool
tally_linux_named(const char *list)
{
	const char *item;
	size_t len;
	while (tally_list_next(&list, &item, &len))
		if (strncasecmp(item, "cpu", 3) == 0)
			return true;
	return false;
}

uint64_t
tally_linux_wanted(const struct tally_snapshot_source *src, enum tally_linux_source source,
		   uint64_t *hidden)
{
	uint64_t asked = 0, more = 0;
	bool named = src->wanted && strcmp(src->wanted, "overview") != 0;
	for (unsigned i = 0; i < TALLY_LINUX_N; i++) {
		const struct row *row = &rows[i];
		if (tally_counter_wanted(src->wanted, &row->by[source], NULL, NULL,
					 row->flags & OVERVIEW))
			asked |= TALLY_LINUX_BIT(i);
		else if (src->metrics_wanted &&
			 row->flags &
				 (named ? FOR_METRICS | FOR_NAMED_METRICS : FOR_METRICS))
			more |= TALLY_LINUX_BIT(i);
	}
	*hidden = more & ~asked;
	return asked;
}

bool
tally_linux_choose(struct tally_snapshot_source *src, enum tally_linux_source source,
		   uint64_t asked, uint64_t hidden, uint64_t offered,
		   struct tally_linux_choice *choice)
{
	*choice = (struct tally_linux_choice){ 0 };
	for (unsigned i = 0; i < TALLY_LINUX_N; i++) {
		const struct tally_counter *counter = &rows[i].by[source];
		if (!((asked | hidden) & offered & TALLY_LINUX_BIT(i)))
			continue;
		if (src->keys && !tally_key_table_reserve(src->keys, counter))
			return false;
		if (asked & TALLY_LINUX_BIT(i))
			choice->logged |= UINT64_C(1) << choice->n;
		choice->which[choice->n] = (uint8_t)i;
		choice->counters[choice->n++] = counter;
	}
	src->counters = choice->counters;
	src->n_counters = choice->n;
	src->logged = &choice->logged;
	return choice->n > 0;
}

void
tally_linux_deliver(const struct tally_linux_choice *choice,
		    const struct tally_linux_totals *before, struct tally_linux_totals *totals,
		    struct tally_totals *out)
{
	for (uint32_t i = 0; i < choice->n; i++) {
		unsigned which = choice->which[i];
		if (totals->unknown & TALLY_LINUX_BIT(which)) {
			totals->total[which] = before->total[which];
			tally_bit_set(out->unknown, i);
		}
		out->totals[i] = totals->total[which];
	}
}

bool
tally_linux_may_count(const char *counters)
{
	for (unsigned i = 0; i < TALLY_LINUX_N; i++) {
		const struct tally_counter *c = &rows[i].by[TALLY_LINUX_PERF];
		if (tally_list_matches(counters, c->key, c->name))
			return true;
	}
	return false;
}

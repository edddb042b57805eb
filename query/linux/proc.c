/* CPU work of the game's process by the kernel's books, where perf is denied: the same keys, as far
 * as they go. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "layer/clock.h"
#include "layer/log.h"
#include "query/linux/clusters.h"
#include "query/linux/delay.h"
#include "query/linux/linux.h"
#include "query/linux/usage.h"

struct linux_proc {
	struct tally_snapshot_source base;
	struct tally_linux_choice choice;
	struct tally_linux_totals totals;
	struct tally_linux_usage usage;
	struct tally_linux_delay delay;
	struct tally_linux_clusters clusters;
	bool told; /* that the wait of some threads is not known */
};

static enum tally_status
probe(struct tally_snapshot_source *src)
{
	struct timespec cpu;
	int saved_errno = errno;
	bool ok = clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) == 0;
	errno = saved_errno;
	src->reason[0] = '\0';
	if (ok)
		return TALLY_OK;
	tally_linux_add_reason(src, "the kernel has no clock of the process' CPU time");
	return TALLY_UNSUPPORTED;
}

static void
close_all(struct linux_proc *p)
{
	int saved_errno = errno;
	tally_linux_usage_close(&p->usage);
	tally_linux_delay_close(&p->delay);
	tally_linux_clusters_close(&p->clusters);
	errno = saved_errno;
}

static uint64_t
open_books(struct linux_proc *p, uint64_t asked)
{
	uint64_t of_usage = TALLY_LINUX_OF_USAGE, offered = 0;
	if (!tally_linux_has_schedstat()) {
		/* Ours, which switch at every sample, could not be told from the game's. */
		of_usage &= ~TALLY_LINUX_BIT(TALLY_LINUX_CONTEXT_SWITCHES);
		if (asked & (TALLY_LINUX_BIT(TALLY_LINUX_CONTEXT_SWITCHES) |
			     TALLY_LINUX_BIT(TALLY_LINUX_RUN_DELAY)))
			tally_linux_add_reason(&p->base,
					       "no cpu_context_switches and cpu_run_delay: the "
					       "kernel keeps no schedstat");
	} else if (asked & TALLY_LINUX_BIT(TALLY_LINUX_RUN_DELAY) &&
		   tally_linux_delay_open(&p->delay, tally_linux_fd_budget() / 2)) {
		offered |= TALLY_LINUX_BIT(TALLY_LINUX_RUN_DELAY);
	}
	tally_linux_usage_open(&p->usage, asked & of_usage);
	if (asked & TALLY_LINUX_ANY_CLUSTER) {
		tally_linux_clusters_find(&p->clusters, "");
		tally_linux_clusters_open(&p->clusters, asked);
	}
	return offered | p->usage.wanted | p->clusters.wanted;
}

/* What it does without. */
static void
tell(struct linux_proc *p, uint64_t asked)
{
	uint64_t clusters = (UINT64_C(1) << p->clusters.n) - 1;
	uint64_t of_process = TALLY_LINUX_BIT(TALLY_LINUX_N_OF_PROCESS) -
			      TALLY_LINUX_BIT(TALLY_LINUX_MIGRATIONS);
	if (asked & of_process || asked >> TALLY_LINUX_CLUSTER_CYCLES & clusters)
		tally_linux_add_reason(&p->base, "the processor's own events, cycles and "
						 "migrations only perf can count");
}

static enum tally_status
open_source(struct tally_snapshot_source *src)
{
	struct linux_proc *p = (struct linux_proc *)src;
	int saved_errno = errno;
	uint64_t hidden;
	uint64_t asked = tally_linux_wanted(src, TALLY_LINUX_PROC, &hidden);

	src->reason[0] = '\0';
	tally_linux_usage_open(&p->usage, 0);
	memset(&p->delay, 0, sizeof(p->delay));
	tally_linux_clusters_init(&p->clusters);
	if (!(asked | hidden)) {
		tally_linux_add_reason(src, "--counters asks for none of its counters");
		return TALLY_UNSUPPORTED;
	}
	uint64_t offered = open_books(p, asked | hidden);
	tell(p, asked);
	errno = saved_errno;
	if (tally_linux_choose(src, TALLY_LINUX_PROC, asked, hidden, offered, &p->choice))
		return TALLY_OK;
	close_all(p);
	if (!src->reason[0])
		tally_linux_add_reason(src, "none of the counters that are asked for is there");
	return TALLY_UNSUPPORTED;
}

static enum tally_status
start(struct tally_snapshot_source *src)
{
	struct linux_proc *p = (struct linux_proc *)src;
	int saved_errno = errno;
	uint64_t now_ns = tally_clock_now_ns();
	memset(&p->totals, 0, sizeof(p->totals));
	tally_linux_clusters_start(&p->clusters, now_ns, &p->totals);
	tally_linux_delay_start(&p->delay, now_ns, &p->totals);
	tally_linux_usage_start(&p->usage, &p->totals);
	errno = saved_errno;
	return TALLY_OK;
}

static enum tally_status
sample(struct tally_snapshot_source *src, struct tally_totals *out)
{
	struct linux_proc *p = (struct linux_proc *)src;
	int saved_errno = errno;
	struct tally_linux_totals before = p->totals;
	p->totals.unknown = 0;
	out->begin_ns = tally_clock_now_ns();
	tally_linux_usage_sample(&p->usage, &p->totals);
	tally_linux_delay_sample(&p->delay, out->begin_ns, &p->totals);
	tally_linux_clusters_sample(&p->clusters, out->begin_ns, &p->totals);
	out->end_ns = tally_clock_now_ns();
	tally_linux_deliver(&p->choice, &before, &p->totals, out);
	if (p->delay.on && p->delay.roster.n_missing && !p->told) {
		p->told = true;
		tally_log_say(TALLY_LEVEL_WARNING, "linux-proc",
			      "cpu_run_delay is left out while there are more threads than "
			      "descriptors for them; raise the limit (ulimit -n), unless the "
			      "program itself closed those that it did not open");
	}
	errno = saved_errno;
	return TALLY_OK;
}

static void
stop(struct tally_snapshot_source *src)
{
	(void)src; /* books are kept in any case */
}

static void
close_source(struct tally_snapshot_source *src)
{
	close_all((struct linux_proc *)src);
}

static void
destroy(struct tally_snapshot_source *src)
{
	free(src);
}

static const struct tally_snapshot_ops ops = {
	.name = "linux-proc",
	.probe = probe,
	.open = open_source,
	.start = start,
	.sample = sample,
	.stop = stop,
	.close = close_source,
	.abandon = close_source,
	.destroy = destroy,
};

struct tally_snapshot_source *
tally_linux_proc_create(void)
{
	struct linux_proc *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->base.ops = &ops;
	return &p->base;
}

/* CPU work of the game's process by perf events, thread by thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layer/clock.h"
#include "layer/log.h"
#include "query/linux/clusters.h"
#include "query/linux/delay.h"
#include "query/linux/event.h"
#include "query/linux/linux.h"
#include "query/linux/perf_threads.h"
#include "query/linux/usage.h"

#define SPARED_DESCRIPTORS 32u /* of the budget: own threads' books, clusters */

struct linux_perf {
	struct tally_snapshot_source base;
	struct tally_linux_choice choice;
	struct tally_linux_totals totals;
	struct tally_linux_perf_threads threads;
	/* What perf does not count, or not without the kernel's leave. */
	struct tally_linux_usage usage;
	struct tally_linux_delay delay;
	struct tally_linux_clusters clusters;
	bool told; /* that some threads are not measured */
};

static enum tally_status
probe(struct tally_snapshot_source *src)
{
	bool user_only;
	int saved_errno = errno;
	int error = tally_linux_event_try(&user_only);
	src->reason[0] = '\0';
	errno = saved_errno;
	if (!error)
		return TALLY_OK;
	return tally_linux_event_explain(error, tally_linux_event_paranoid(), src->reason,
					 sizeof(src->reason));
}

/* Threads by perf; with fewer counters where the descriptors do not suffice for the hidden ones. */
static int
open_threads(struct linux_perf *p, uint64_t asked, uint64_t *hidden)
{
	uint32_t budget = tally_linux_fd_budget();
	budget = budget > SPARED_DESCRIPTORS ? budget - SPARED_DESCRIPTORS : 0;
	/* Half of it where schedstat needs a descriptor a thread, too. */
	if ((asked | *hidden) & TALLY_LINUX_BIT(TALLY_LINUX_RUN_DELAY))
		budget /= 2;
	int error = tally_linux_perf_threads_open(&p->threads, asked | *hidden, budget);
	if ((error != ENOSPC && error != EMFILE) || !*hidden)
		return error;
	*hidden = 0;
	return tally_linux_perf_threads_open(&p->threads, asked, budget);
}

static uint64_t
open_rest(struct linux_perf *p, uint64_t asked)
{
	uint64_t offered = p->threads.plan.counted;
	uint64_t by_usage = 0;
	bool schedstat = tally_linux_has_schedstat();
	/* Context switches happen in the kernel: where perf may not look, its books say. */
	if (p->threads.plan.user_only && schedstat)
		by_usage = asked & TALLY_LINUX_BIT(TALLY_LINUX_CONTEXT_SWITCHES);
	tally_linux_usage_open(&p->usage, by_usage);
	offered |= p->usage.wanted;
	if (asked & TALLY_LINUX_BIT(TALLY_LINUX_RUN_DELAY) && schedstat &&
	    tally_linux_delay_open(&p->delay, tally_linux_fd_budget() / 4))
		offered |= TALLY_LINUX_BIT(TALLY_LINUX_RUN_DELAY);
	if (!(asked & TALLY_LINUX_ANY_CLUSTER))
		return offered;
	tally_linux_clusters_find(&p->clusters, "");
	if (asked >> TALLY_LINUX_CLUSTER_CYCLES)
		tally_linux_clusters_try_cycles(&p->clusters);
	tally_linux_clusters_open(&p->clusters, asked);
	return offered | p->clusters.wanted;
}

static void
close_all(struct linux_perf *p)
{
	int saved_errno = errno;
	tally_linux_perf_threads_close(&p->threads);
	tally_linux_usage_close(&p->usage);
	tally_linux_delay_close(&p->delay);
	tally_linux_clusters_close(&p->clusters);
	errno = saved_errno;
}

/* What it does without. */
static void
tell(struct linux_perf *p, uint64_t asked)
{
	uint64_t missing = asked & ~p->threads.plan.counted;
	struct tally_snapshot_source *src = &p->base;
	if (p->threads.plan.user_only)
		tally_linux_add_reason(
			src,
			"kernel.perf_event_paranoid is %d: page faults%s of user mode "
			"alone%s",
			(int)tally_linux_event_paranoid(),
			p->threads.plan.has_hardware ? " and hardware events" : "",
			missing & TALLY_LINUX_BIT(TALLY_LINUX_MIGRATIONS) ? ", no cpu_migrations"
									  : "");
	if (missing & TALLY_LINUX_OF_HARDWARE && !p->threads.plan.has_hardware)
		tally_linux_add_reason(src, "no hardware events on this machine (virtual ones "
					    "often have none)");
	/* Clusters that there are, only. */
	uint64_t clusters = (UINT64_C(1) << p->clusters.n) - 1;
	if ((asked >> TALLY_LINUX_CLUSTER_CYCLES & clusters) &
	    ~(p->clusters.wanted >> TALLY_LINUX_CLUSTER_CYCLES))
		tally_linux_add_reason(src, "no CyclesCPUCycles: no cycle counters, or "
					    "kernel.perf_event_paranoid is above 0");
}

static enum tally_status
open_source(struct tally_snapshot_source *src)
{
	struct linux_perf *p = (struct linux_perf *)src;
	int saved_errno = errno;
	uint64_t hidden;
	uint64_t asked = tally_linux_wanted(src, TALLY_LINUX_PERF, &hidden);

	src->reason[0] = '\0';
	tally_linux_usage_open(&p->usage, 0);
	memset(&p->delay, 0, sizeof(p->delay));
	tally_linux_clusters_init(&p->clusters);
	if (!(asked | hidden)) {
		tally_linux_add_reason(src, "--counters asks for none of its counters");
		return TALLY_UNSUPPORTED;
	}
	int error = open_threads(p, asked, &hidden);
	if (error) {
		errno = saved_errno;
		return tally_linux_event_explain(error, tally_linux_event_paranoid(), src->reason,
						 sizeof(src->reason));
	}
	uint64_t offered = open_rest(p, asked | hidden);
	tell(p, asked);
	errno = saved_errno;
	if (tally_linux_choose(src, TALLY_LINUX_PERF, asked, hidden, offered, &p->choice))
		return TALLY_OK;
	close_all(p);
	tally_linux_add_reason(src, "none of the counters that are asked for is there");
	return TALLY_UNSUPPORTED;
}

static enum tally_status
start(struct tally_snapshot_source *src)
{
	struct linux_perf *p = (struct linux_perf *)src;
	int saved_errno = errno;
	uint64_t now_ns = tally_clock_now_ns();
	memset(&p->totals, 0, sizeof(p->totals));
	tally_linux_clusters_start(&p->clusters, now_ns, &p->totals);
	tally_linux_delay_start(&p->delay, now_ns, &p->totals);
	tally_linux_usage_start(&p->usage, &p->totals);
	tally_linux_perf_threads_start(&p->threads, now_ns, &p->totals);
	errno = saved_errno;
	return TALLY_OK;
}

static void
tell_missing(struct linux_perf *p)
{
	char why[200];
	if (p->told)
		return;
	p->told = true;
	tally_linux_event_explain(p->threads.error ? p->threads.error : ENOSPC,
				  tally_linux_event_paranoid(), why, sizeof(why));
	tally_log_say(TALLY_LEVEL_WARNING, "linux-perf",
		      "%u threads are measured and %u more can not be: values are left out while "
		      "these run; %s",
		      p->threads.roster.n, p->threads.roster.n_missing, why);
}

static enum tally_status
sample(struct tally_snapshot_source *src, struct tally_totals *out)
{
	struct linux_perf *p = (struct linux_perf *)src;
	int saved_errno = errno;
	struct tally_linux_totals before = p->totals;
	p->totals.unknown = 0;
	out->begin_ns = tally_clock_now_ns();
	bool ok = tally_linux_perf_threads_sample(&p->threads, out->begin_ns, &p->totals);
	tally_linux_usage_sample(&p->usage, &p->totals);
	tally_linux_delay_sample(&p->delay, out->begin_ns, &p->totals);
	tally_linux_clusters_sample(&p->clusters, out->begin_ns, &p->totals);
	out->end_ns = tally_clock_now_ns();
	tally_linux_deliver(&p->choice, &before, &p->totals, out);
	if (p->threads.roster.n_missing)
		tell_missing(p);
	errno = saved_errno;
	if (ok)
		return TALLY_OK;
	src->reason[0] = '\0';
	tally_linux_add_reason(src, "its file descriptors were closed by the program");
	return TALLY_LOST;
}

static void
stop(struct tally_snapshot_source *src)
{
	/* Events count on until they are closed, which nobody sees. */
	(void)src;
}

static void
close_source(struct tally_snapshot_source *src)
{
	close_all((struct linux_perf *)src);
}

static void
destroy(struct tally_snapshot_source *src)
{
	free(src);
}

static const struct tally_snapshot_ops ops = {
	.name = "linux-perf",
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
tally_linux_perf_create(void)
{
	struct linux_perf *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->base.ops = &ops;
	return &p->base;
}

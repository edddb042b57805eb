/* SPDX-License-Identifier: MIT */
/* CPU work of the game's process by the kernel's own accounting, where perf is denied: the same
 * keys, as far as they are available. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "layer/base/clock.h"
#include "query/linux/linux.h"
#include "query/linux/usage.h"
#include "query/source/noop.h"

/* The kernel updates a running thread's accounting at its tick. */
#define PERIOD_NS UINT64_C(4000000)

struct linux_proc {
	struct tally_snapshot_source base;
	struct tally_linux_choice choice;
	struct tally_linux_totals totals;
	struct tally_linux_usage usage;
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
	errno = saved_errno;
}

static enum tally_status
open_source(struct tally_snapshot_source *src)
{
	struct linux_proc *p = (struct linux_proc *)src;
	int saved_errno = errno;
	uint64_t hidden;
	uint64_t asked = tally_linux_wanted(src, TALLY_LINUX_PROC, &hidden);

	src->reason[0] = '\0';
	src->least_period_ns = PERIOD_NS;
	tally_linux_usage_open(&p->usage, 0);
	if (!(asked | hidden)) {
		tally_linux_add_reason(src, "--counters asks for none of its counters");
		return TALLY_UNSUPPORTED;
	}
	tally_linux_usage_open(&p->usage, asked | hidden);
	if (asked & ~p->usage.wanted & TALLY_LINUX_OF_USAGE)
		tally_linux_add_reason(src, "no cpu_context_switches: the kernel keeps no "
					    "schedstat");
	if (asked & ~TALLY_LINUX_OF_USAGE)
		tally_linux_add_reason(
			src, "the processor's own events and migrations only perf "
			     "can count");
	errno = saved_errno;
	if (tally_linux_choose(src, TALLY_LINUX_PROC, asked, hidden, p->usage.wanted,
			       &p->choice))
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
	memset(&p->totals, 0, sizeof(p->totals));
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
	out->end_ns = tally_clock_now_ns();
	tally_linux_deliver(&p->choice, &before, &p->totals, out);
	errno = saved_errno;
	return TALLY_OK;
}

static void
close_source(struct tally_snapshot_source *src)
{
	close_all((struct linux_proc *)src);
}

static const struct tally_snapshot_ops ops = {
	.name = "linux-proc",
	.probe = probe,
	.open = open_source,
	.start = start,
	.sample = sample,
	.stop = tally_snapshot_noop, /* the kernel keeps these accounts in any case */
	.close = close_source,
	.abandon = close_source,
	.destroy = tally_snapshot_free,
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

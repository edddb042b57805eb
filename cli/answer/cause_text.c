/* SPDX-License-Identifier: MIT */
#include "cli/answer/cause.h"

#include "cli/answer/cause_rules.h"
#include "cli/answer/words.h"
#include "cli/shared/text.h"

#include <inttypes.h>

#define READ 1000000 /* bytes, worth a word */
#define ALLOCATED 16000000 /* bytes, worth a word */

/* "8.00 -> 148 ms, same draws" */
static const char *
growth_text(const struct tally_answer_hitch *h)
{
	const char *more = "";
	if (h->pass && h->first == h->pass && !h->some)
		more = ", its first use";
	else if (h->around_ns == 0)
		more = ", seldom there";
	else if (h->draws > h->around_draws + h->around_draws / 50)
		more = tally_phrase(", %s%s%" PRIu64 " -> %" PRIu64 " draws",
				    tally_short_name(h->drew), h->drew ? " " : "",
				    h->around_draws, h->draws);
	else if (h->draws)
		more = h->draws >= h->around_draws ? ", same draws" : ", fewer draws";
	const char *times = tally_from_to_text((double)h->around_ns, (double)h->ns);
	return tally_phrase("%s%s", times, more);
}

/* "Bloom", "Bloom and others", "all passes" */
static const char *
passes_text(const struct tally_answer_hitch *h)
{
	return h->pass ? tally_phrase("%s%s", tally_short_name(h->pass),
				      h->some ? " and others" : "")
		       : "all passes";
}

static const char *
ready_text(const struct tally_answer_hitch *h)
{
	return tally_phrase("no CPU was free for up to %s",
			    tally_duration_text((double)h->ready_ns));
}

static const char *
read_text(const struct tally_answer_hitch *h)
{
	return tally_phrase("%.0f MB read from a disk", (double)h->read / 1e6);
}

/* Whether calls on another thread took a part of it. */
static bool
is_elsewhere(const struct tally_answer_hitch *h)
{
	return h->calls.elsewhere &&
	       (h->event.group || (double)h->calls.growth_ns >= SAME * (double)h->excess_ns);
}

/* What the log shows of a wait that is not in a driver's call; NULL: nothing. That another thread
 * worked does not say that it was waited for. */
static const char *
meanwhile_text(const struct tally_answer_hitch *h)
{
	if (h->ready_ns)
		return tally_phrase("%s%s", h->ready_sure ? ": " : " (sleep, lock, disk), or ",
				    ready_text(h));
	if (h->thread && !is_elsewhere(h))
		return tally_phrase("; meanwhile %s worked %s", tally_short_name(h->thread),
				    tally_duration_text((double)h->thread_ns));
	return h->read >= READ ? tally_phrase("; meanwhile %s", read_text(h)) : NULL;
}

/* "Copy took 51.0 ms (its first use)", "GBuffer 8.00 -> 20.0 ms" */
static const char *
grown_text(const struct tally_answer_hitch *h)
{
	const char *how = h->grew_with ? " and others" : h->grew_from_ns ? "" : " took";
	return tally_phrase("%s%s %s%s", tally_short_name(h->grew), how,
			    tally_from_to_text((double)h->grew_from_ns, (double)h->grew_to_ns),
			    h->first == h->grew ? " (its first use)" : "");
}

/* Calls of the thread that are a part of it, or memory that they took. */
static const char *
beside_text(const struct tally_answer_hitch *h)
{
	bool told = h->calls.group == TALLY_EVENT_SHADERS && h->made;
	if (h->calls.group && !h->calls.elsewhere && !told &&
	    (double)h->calls.growth_ns >= PART * (double)h->excess_ns)
		return tally_phrase(", %s", tally_event_text(&h->calls));
	if (h->read >= READ)
		return tally_phrase(", %s", read_text(h));
	return h->allocated >= ALLOCATED ? tally_phrase(", allocation of %.0f MB",
							(double)h->allocated / 1e6)
					 : "";
}

/* The CPU did a part, and no pass explains it. */
static const char *
part_text(const struct tally_answer_hitch *h)
{
	const char *ready = h->ready_ns ? tally_phrase(", %s", ready_text(h)) : "";
	const char *grown = h->grew       ? tally_phrase(", %s", grown_text(h))
			    : h->ready_ns ? ""
					  : ", no pass took longer";
	return tally_phrase("cannot tell: the CPU worked a part of it%s%s%s", ready, grown,
			    beside_text(h));
}

static const char *
unknown_text(const struct tally_answer_hitch *h)
{
	if (h->starved)
		return tally_phrase("cannot tell: %s took longer, or its driver had no "
				    "CPU", passes_text(h));
	if (h->by_gpu)
		return tally_phrase("cannot tell: %s%s took longer", passes_text(h),
				    h->or_wait           ? " and a wait both"
				    : !h->event.group    ? " and the CPU both"
				    : h->event.elsewhere ? ""
							 : " and other calls both");
	if (!h->timed)
		return h->known_work ? "cannot tell: GPU times are missing; not the CPU"
				     : "cannot tell: GPU times are missing";
	return part_text(h);
}

static const char *
pass_text(const struct tally_answer_hitch *h)
{
	const char *growth = growth_text(h), *meanwhile = meanwhile_text(h);
	if (!h->or_wait)
		return tally_phrase("%s %s", passes_text(h), growth);
	if (!h->drew)
		growth = tally_from_to_text((double)h->around_ns, (double)h->ns);
	return tally_phrase("%s %s%s, or a wait%s", passes_text(h), growth,
			    h->first == h->pass ? ", its first use" : "",
			    meanwhile ? meanwhile : " of the CPU");
}

static const char *
wait_text(const struct tally_answer_hitch *h)
{
	const char *meanwhile = meanwhile_text(h);
	/* "(not in a pass)" is no place. */
	bool in_pass = h->pass && !is_no_pass(h->pass);
	if (h->driver && !h->both)
		return tally_phrase("a wait %s", h->waits ? h->waits : "in driver calls");
	if (!h->driver && h->behind_ns)
		return tally_phrase("a wait for the GPU, which was %s behind",
				    tally_duration_text((double)h->behind_ns));
	if (h->both)
		return tally_phrase("a wait (sleep, lock, disk); the CPU worked %s of it",
				    tally_duration_text((double)h->part_ns));
	return tally_phrase("a wait%s%s%s", in_pass ? " in " : "",
			    in_pass ? tally_short_name(h->pass) : "",
			    meanwhile ? meanwhile : " (sleep, lock, disk, other programs)");
}

static const char *
faults_text(const struct tally_answer_hitch *h)
{
	if (is_read(h) && !h->disk)
		return read_text(h);
	return tally_phrase("%" PRIu64 " page faults%s", h->faults,
			    h->disk ? " from a disk" : " (new memory)");
}

static const char *
cpu_text(const struct tally_answer_hitch *h)
{
	const char *pass = "", *draws = "", *faults = "", *ready = "", *wait = "";
	if (h->pass)
		pass = tally_phrase(", in %s", tally_short_name(h->pass));
	if (h->pass && has_more_draws(h))
		draws = tally_phrase(", %" PRIu64 " -> %" PRIu64 " draws", h->around_draws,
				     h->draws);
	if (h->disk || is_read(h) ||
	    (double)h->faults * FAULT_NS >= MENTIONED * (double)h->growth_ns)
		faults = tally_phrase(", with %s", faults_text(h));
	if (h->ready_ns)
		ready = tally_phrase("; %s", ready_text(h));
	if (h->both)
		wait = h->driver   ? ", and a wait in driver calls"
		       : h->by_gpu ? ", and a wait"
				   : ", and a wait (sleep, lock, disk)";
	return tally_phrase("the CPU%s%s%s%s%s", pass, draws, faults, ready, wait);
}

static const char *
cause_text(const struct tally_answer_hitch *h)
{
	switch (h->cause) {
	case TALLY_CAUSE_PASS:
	case TALLY_CAUSE_GPU:
		return pass_text(h);
	case TALLY_CAUSE_CPU:
		return cpu_text(h);
	case TALLY_CAUSE_WAIT:
		return wait_text(h);
	case TALLY_CAUSE_NOT_GPU:
		return "not on the GPU";
	case TALLY_CAUSE_OWN:
		return "passtally itself";
	case TALLY_CAUSE_EVENT:
		return tally_phrase("%s%s", tally_event_text(&h->event),
				    !h->both      ? ""
				    : h->ready_ns ? ", and a wait, or no CPU"
						  : ", and a wait");
	case TALLY_CAUSE_FAULTS:
	case TALLY_CAUSE_DISK:
		return faults_text(h);
	default:
		return unknown_text(h);
	}
}

/* A driver may compile at the first draw, in the pass. */
static bool
may_compile(const struct tally_answer_hitch *h)
{
	return h->made && !h->event.group &&
	       (h->cause == TALLY_CAUSE_PASS || h->cause == TALLY_CAUSE_GPU ||
		h->cause == TALLY_CAUSE_UNKNOWN);
}

/* Calls of the thread itself, which are some of its work. */
static bool
is_of_work(const struct tally_answer_hitch *h)
{
	bool wait = h->cause == TALLY_CAUSE_WAIT;
	uint64_t of_ns = !wait ? h->growth_ns : h->both ? h->part_ns : h->excess_ns;
	return (wait || h->cause == TALLY_CAUSE_CPU || h->cause == TALLY_CAUSE_FAULTS) &&
	       h->calls.group && !h->calls.elsewhere &&
	       (double)h->calls.growth_ns >= SAME * (double)of_ns;
}

/* Whether a pass that is not named took longer meanwhile, for sure. */
static bool
is_beside(const struct tally_answer_hitch *h)
{
	return (h->cause == TALLY_CAUSE_WAIT || h->cause == TALLY_CAUSE_CPU) && h->grew &&
	       !h->grew_with && !h->pass && !h->thread && !h->behind_ns && !is_no_pass(h->grew) &&
	       h->grew_sure && !(h->ready_ns && h->ready_sure);
}

/* What calls did of the thread's work, or they or passes elsewhere meanwhile. */
static const char *
calls_text(const struct tally_answer_hitch *h)
{
	if (is_of_work(h))
		return tally_phrase("; of it %s", tally_event_text(&h->calls));
	if (h->cause != TALLY_CAUSE_EVENT && is_elsewhere(h))
		return tally_phrase("; meanwhile %s", tally_event_text(&h->calls));
	return is_beside(h) ? tally_phrase("; meanwhile %s", grown_text(h)) : "";
}

/* With what else is known of the frame. */
static const char *
explained_text(const struct tally_answer_hitch *h)
{
	const char *what = cause_text(h);
	bool passes = h->cause == TALLY_CAUSE_PASS || h->cause == TALLY_CAUSE_GPU;
	if (passes && h->work_ns)
		what = tally_phrase("%s, and the CPU worked %s", what,
				    tally_duration_text((double)h->work_ns));
	if (may_compile(h))
		return tally_phrase("%s; %" PRIu64 " shader%s made in it", what, h->made,
				    TALLY_S(h->made));
	if (passes && !is_no_pass(h->pass))
		return what;
	bool told = h->cause == TALLY_CAUSE_UNKNOWN && h->first == h->grew;
	const char *first = h->first && !told ? tally_short_name(h->first) : NULL;
	return tally_phrase("%s%s%s%s%s", what, passes ? "" : calls_text(h),
			    first ? " (first of " : "", first ? first : "", first ? ")" : "");
}

const char *
tally_cause_text(const struct tally_answer_hitch *h)
{
	const char *what = explained_text(h);
	return h->over ? tally_phrase("%s; GPU memory %.0f MB over its budget", what,
				      (double)h->over / 1e6)
		       : what;
}

const char *
tally_cause_short_text(const struct tally_answer_hitch *h)
{
	static const char *const words[TALLY_N_CAUSES] = {
		[TALLY_CAUSE_UNKNOWN] = "unclear",     [TALLY_CAUSE_GPU] = "all passes",
		[TALLY_CAUSE_CPU] = "the CPU",         [TALLY_CAUSE_WAIT] = "a wait",
		[TALLY_CAUSE_NOT_GPU] = "not the GPU", [TALLY_CAUSE_OWN] = "passtally",
		[TALLY_CAUSE_FAULTS] = "page faults",  [TALLY_CAUSE_DISK] = "a disk",
	};
	if (h->cause == TALLY_CAUSE_PASS)
		return tally_short_name(h->pass);
	if (h->cause == TALLY_CAUSE_GPU && h->some)
		return "some passes";
	if (h->cause == TALLY_CAUSE_WAIT && !h->driver && h->ready_ns && h->ready_sure)
		return "no free CPU";
	return h->cause == TALLY_CAUSE_EVENT ? tally_cause_name(h) : words[h->cause];
}

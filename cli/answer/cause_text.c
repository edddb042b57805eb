/* SPDX-License-Identifier: MIT */
#include "cli/answer/cause.h"

#include "cli/answer/cause_rules.h"
#include "cli/answer/parts.h"
#include "cli/answer/words.h"
#include "cli/shared/text.h"

#include <inttypes.h>
#include <string.h>

/* Bytes that are worth a word. */
#define READ 1000000
#define WAITED_NS 5e6
#define STANDS_OUT 16 /* times as long as usual */

/* "Bloom", "Bloom and others", "all passes" */
static const char *
names_text(const char *pass, bool some)
{
	return pass ? tally_phrase("%s%s", tally_short_name(pass), some ? " and others" : "")
		    : "all passes";
}

/* "Bloom 8.00 -> 148 ms, same draws"; `or_wait`: the draws say nothing then. */
static const char *
growth_text(const char *names, const struct tally_hitch_part *p, bool first, const char *drew,
	    bool or_wait)
{
	const char *more = "";
	if (first)
		more = p->joined ? ", their first use" : ", its first use";
	else if (or_wait && !drew)
		more = "";
	else if (p->around_ns == 0)
		more = ", seldom there";
	else if (p->draws > p->around_draws + p->around_draws / 50)
		more = tally_phrase(", %s%s%" PRIu64 " -> %" PRIu64 " %s", tally_short_name(drew),
				    drew ? " " : "", p->around_draws, p->draws,
				    tally_part_draws(p->what));
	else if (p->draws)
		more = tally_phrase(", %s %s", p->draws >= p->around_draws ? "same" : "fewer",
				    tally_part_draws(p->what));
	const char *times = tally_from_to_text((double)p->around_ns, (double)p->ns);
	return tally_phrase("%s %s%s", names, times, more);
}

static const char *
read_text(const struct tally_answer_hitch *h)
{
	double bytes = (double)tally_hitch_more(&h->was, TALLY_HITCH_DISK_BYTES);
	return tally_phrase("%.0f MB read from a disk", bytes / 1e6);
}

static const char *
faults_text(const struct tally_answer_hitch *h)
{
	bool disk = has_disk_faults(h);
	if (is_read(h) && !disk)
		return read_text(h);
	return tally_phrase(
		"%" PRIu64 " page faults%s",
		tally_hitch_more(&h->was, disk ? TALLY_HITCH_DISK_FAULTS : TALLY_HITCH_FAULTS),
		disk ? " from a disk" : " (new memory)");
}

/* Of so much work what is worth a word. */
static const char *
work_of_text(const struct tally_answer_hitch *h, double work_ns)
{
	const double ns = kernel_ns(h);
	if (has_disk_faults(h) || is_read(h) || faults_ns(h) >= MENTIONED * work_ns)
		return tally_phrase(", with %s", faults_text(h));
	if (h->cause == TALLY_CAUSE_EVENT || ns < EXPLAINS * work_ns)
		return "";
	return tally_phrase(", %s of it in the kernel",
			    ns < (1 - SAME) * work_ns ? tally_duration_text(ns) : "all");
}

static bool
is_passes(const struct tally_answer_hitch *h)
{
	return h->cause == TALLY_CAUSE_PASS || h->cause == TALLY_CAUSE_GPU;
}

/* Whether the log shows only that the thread worked for some of it. */
static bool
is_part(const struct tally_answer_hitch *h)
{
	return h->cause == TALLY_CAUSE_UNKNOWN && !h->starved && !h->by_gpu && h->was.timed;
}

/* Whether it slept, or waited for another thread. */
static bool
is_sleep(const struct tally_answer_hitch *h)
{
	return h->cause == TALLY_CAUSE_WAIT ? !h->driver : is_passes(h) && h->or_wait;
}

/* In OpenGL it is known how long the GPU did nothing, besides passes that are named. */
static bool
is_idle_known(const struct tally_answer_hitch *h)
{
	return is_passes(h) && !h->or_wait && h->was.known[TALLY_HITCH_UNSURE];
}

/* What the thread worked, but not what it may have drawn in the time of those passes. */
static double
work_outside(const struct tally_answer_hitch *h)
{
	const double inside = is_idle_known(h) ? more_of(h, TALLY_HITCH_UNSURE) : 0;
	return MAX(more_of(h, TALLY_HITCH_WORK) - inside, 0);
}

/* What the thread worked besides what is named. */
static double
work_besides(const struct tally_answer_hitch *h)
{
	const double work = work_outside(h);
	if (h->cause == TALLY_CAUSE_EVENT)
		return h->calls.elsewhere
			       ? 0
			       : work - share_of(h, h->calls.ns + h->more_calls.growth_ns);
	if (!is_passes(h))
		return is_sleep(h) ? work : 0;
	bool sure = !h->or_wait || more_of(h, TALLY_HITCH_WAIT) >= EXPLAINS;
	bool other = sure && !has_more_draws(h) && is_hitch(h, work);
	return other || share_of(h, h->growth_ns) <= 1 - SAME ? work : 0;
}

/* ", and upload of 34 MB, 23.0 ms": beside calls of its own that are named. */
static const char *
more_calls_text(const struct tally_answer_hitch *h)
{
	const struct tally_answer_event *e = &h->more_calls;
	bool much = e->group && !e->elsewhere && share_of(h, e->growth_ns) > SAME;
	return much ? tally_phrase(", and %s", tally_event_text(e)) : "";
}

/* The same in words, and calls that it made then. */
static const char *
work_text(const struct tally_answer_hitch *h)
{
	const double work = more_of(h, TALLY_HITCH_WORK), besides = work_besides(h);
	const double calls = share_of(h, h->calls.growth_ns);
	const char *worked = "", *did = "";
	if (is_much(h, besides))
		worked = tally_phrase(", and the CPU worked %s%s",
				      tally_duration_text(besides * (double)h->was.excess_ns),
				      work_of_text(h, besides * (double)h->was.excess_ns));
	if ((is_passes(h) && *worked == '\0') || h->cause == TALLY_CAUSE_EVENT ||
	    (h->by_gpu && !h->cause))
		return worked;
	if (h->calls.group && !h->calls.elsewhere &&
	    calls >= SAME * (*worked || work > SAME ? work : 1))
		did = tally_phrase("; of it %s%s", tally_event_text(&h->calls),
				   more_calls_text(h));
	return tally_phrase("%s%s", worked, did);
}

/* A pass that is not named and took longer meanwhile, for sure, or NULL. */
static const char *
other_pass_text(const struct tally_answer_hitch *h)
{
	const struct tally_hitch_part *p = &h->sure;
	const char *name = p->name;
	/* Where no CPU was free a software driver's passes take longer. */
	bool starved = h->ready_ns && h->ready_sure && p->ns < STANDS_OUT * p->around_ns;
	if (h->cause < TALLY_CAUSE_CPU || h->cause > TALLY_CAUSE_WAIT || starved || !name ||
	    name == h->pass || is_no_pass(name) ||
	    !is_much(h, share_of(h, p->ns - p->around_ns)))
		return NULL;
	return growth_text(tally_short_name(name), p, h->first == name, NULL, false);
}

static const char *
thread_text(const struct tally_answer_hitch *h)
{
	const char *no_cpu = "";
	if (h->thread_ready_ns)
		no_cpu = tally_phrase(", and had no CPU for %s",
				      tally_duration_text((double)h->thread_ready_ns));
	return tally_phrase("%s worked %s%s", tally_short_name(h->thread),
			    tally_duration_text((double)h->thread_ns), no_cpu);
}

/* What other threads read from a disk, where that may take so long; NULL: nothing. */
static const char *
others_read_text(const struct tally_answer_hitch *h)
{
	if (share_of(h, h->others_bytes) < SLOW_DISK)
		return NULL;
	return tally_phrase("%.0f MB read from a disk on other threads",
			    (double)h->others_bytes / 1e6);
}

/* What went on elsewhere, the first of it: calls, a thread, a disk; NULL: nothing is known. It does
 * not say that they were waited for. */
static const char *
meanwhile_text(const struct tally_answer_hitch *h)
{
	bool free = is_sleep(h) && !h->ready_ns; /* it is not known to have had no CPU */
	bool calls = h->by_calls || share_of(h, h->calls.growth_ns) >= SAME;
	if (h->calls.elsewhere && calls && !is_passes(h) && h->cause != TALLY_CAUSE_EVENT)
		return tally_event_text(&h->calls);
	const char *read = free ? others_read_text(h) : NULL;
	/* What a driver waits for may be what the GPU waits for. */
	bool waited = h->cause == TALLY_CAUSE_WAIT || h->cause == TALLY_CAUSE_DISK;
	if ((free || (waited && !h->ready_ns)) && h->thread)
		return read ? tally_phrase("%s, and %s", thread_text(h), read) : thread_text(h);
	if ((free || is_part(h) || is_passes(h)) &&
	    tally_hitch_more(&h->was, TALLY_HITCH_DISK_BYTES) >= READ)
		return read_text(h);
	return read;
}

static const char *
beside_text(const struct tally_answer_hitch *h)
{
	const char *what = meanwhile_text(h), *pass = other_pass_text(h);
	if (what && pass)
		return tally_phrase("; meanwhile %s, and %s", what, pass);
	return what || pass ? tally_phrase("; meanwhile %s", what ? what : pass) : "";
}

/* How long it had no CPU. */
static const char *
ready_text(const struct tally_answer_hitch *h)
{
	bool worked = h->cause == TALLY_CAUSE_CPU ||
		      (h->cause == TALLY_CAUSE_FAULTS && !has_disk_faults(h));
	bool driver = h->cause == TALLY_CAUSE_WAIT && h->driver;
	const char *how = worked                           ? "; "
			  : is_part(h)                     ? ", "
			  : driver                         ? ": "
			  : !is_sleep(h)                   ? NULL
			  : is_passes(h) || !h->ready_sure ? ", or "
							   : ": ";
	if (!h->ready_ns || !how)
		return "";
	return tally_phrase("%sno CPU was free for up to %s", how,
			    tally_duration_text((double)h->ready_ns));
}

static const char *
pass_text(const struct tally_answer_hitch *h)
{
	bool first = h->pass && h->first == h->pass && !h->some;
	const char *in = "";
	if (h->place && is_no_pass(h->pass) && !h->drew)
		in = tally_phrase(", the CPU in %s", tally_short_name(h->place));
	return tally_phrase("%s%s%s", growth_text(names_text(h->pass, h->some), &h->of, first,
						  h->drew, h->or_wait),
			    in, h->or_wait ? ", or a wait of the CPU" : "");
}

/* Whether it was seen asleep for a good part of such a part of it. */
static bool
is_seen(const struct tally_answer_hitch *h, double part)
{
	const struct tally_asleep_record *a = h->was.asleep;
	return a[0].in && share_of(h, a[0].ns + a[1].ns) >= LOOKED * part;
}

/* " (sleep: clock_nanosleep)", of two " (pipe: read 12.0 ms; for loader: futex 8.00 ms)";
 * `else_text` if it is not known, or too little of such a part of it. */
static const char *
asleep_text(const struct tally_answer_hitch *h, double part, const char *else_text)
{
	const struct tally_asleep_record *a = h->was.asleep;
	if (!is_seen(h, part))
		return else_text;
	if (share_of(h, a[1].ns) < PART * part)
		return tally_phrase(" (%s)", tally_asleep_text(a));
	return tally_phrase(" (%s %s; %s %s)", tally_asleep_text(a),
			    tally_duration_text((double)a[0].ns), tally_asleep_text(a + 1),
			    tally_duration_text((double)a[1].ns));
}

/* One look says little of a frame of many; but a driver never sleeps. */
static bool
is_sure(const struct tally_asleep_record *a)
{
	return a->n > 1 || tally_asleep_kind(a) == TALLY_ASLEEP_SLEEP;
}

/* Where it was seen for a small part; `else_text`: nowhere. */
static const char *
seldom_seen_text(const struct tally_answer_hitch *h, const char *else_text)
{
	const struct tally_asleep_record *a = h->was.asleep, *limiter = &h->was.limiter;
	if (is_sure(a) && !tally_asleep_may_be_driver(a) && share_of(h, a->ns) >= PART)
		return tally_phrase(" (%s %s, or before it)", tally_asleep_text(a),
				    tally_duration_text((double)a->ns));
	if (is_sure(limiter) &&
	    share_of(h, limiter->ns) >= (tally_asleep_may_be_driver(limiter) ? LOOKED : PART))
		return tally_phrase(" (%s, or before it)", tally_asleep_text(limiter));
	return else_text;
}

static const char *
wait_text(const struct tally_answer_hitch *h)
{
	const char *of = " (sleep, lock, disk, other programs)";
	/* "(not in a pass)" is no place. */
	const char *pass = h->pass && !h->some && !is_no_pass(h->pass) ? h->pass : h->place;
	if (h->driver)
		return tally_phrase("a wait %s", h->waits);
	const char *in = pass ? tally_phrase(" in %s", tally_short_name(pass)) : "";
	if (h->ready_ns && h->ready_sure)
		return tally_phrase("a wait%s%s", in, asleep_text(h, 1, ""));
	if (h->ready_ns || more_of(h, TALLY_HITCH_WORK) > SAME)
		of = " (sleep, lock, disk)";
	else if (meanwhile_text(h))
		of = "";
	if (*of)
		of = seldom_seen_text(h, of);
	return tally_phrase("a wait%s%s", in, asleep_text(h, 1, of));
}

/* The part of it that may be a wait besides what is named: in which the thread did not work, nor
 * waited for what is known. */
static double
other_wait(const struct tally_answer_hitch *h)
{
	bool event = h->cause == TALLY_CAUSE_EVENT;
	double passes = share_of(h, is_passes(h) ? h->grown_ns : h->sure_ns);
	double worked = MAX(more_of(h, TALLY_HITCH_WORK), event ? share_of(h, h->calls.ns) : 0);
	if (h->cause > TALLY_CAUSE_FAULTS || h->or_wait || has_disk_faults(h) ||
	    (event && h->calls.elsewhere))
		return 0;
	if (is_idle_known(h))
		return more_of(h, TALLY_HITCH_IDLE) - work_outside(h) -
		       more_of(h, TALLY_HITCH_WAIT);
	return 1 - worked - MAX(more_of(h, TALLY_HITCH_WAIT), passes);
}

/* Whether it was in a driver's waits besides what is named, and not for passes that are. */
static bool
has_driver_wait(const struct tally_answer_hitch *h)
{
	bool other = h->cause >= TALLY_CAUSE_CPU && h->cause < TALLY_CAUSE_WAIT;
	bool asleep = h->cause == TALLY_CAUSE_WAIT && !h->driver && is_seen(h, 1);
	return (other || asleep) &&
	       is_much(h, more_of(h, TALLY_HITCH_WAIT) - share_of(h, h->sure_ns));
}

/* That the thread waited besides, in a driver's call or, as far as is known of CPUs, else. */
static const char *
waited_text(const struct tally_answer_hitch *h)
{
	const bool work = h->cause != TALLY_CAUSE_EVENT && !is_passes(h);
	const double rest = other_wait(h), no_cpu = share_of(h, h->no_cpu_ns);
	const bool idle = is_idle_known(h);
	const bool busy = no_cpu > (idle ? MIN(SAME, rest / 2) : SAME) && !is_asleep(h);
	const bool seen = (double)h->was.asleep[0].ns >= WAITED_NS && is_seen(h, rest);
	if (has_driver_wait(h))
		return tally_phrase(", and a wait %s", h->waits);
	const bool much = rest >= (seen ? PART : SAME) || is_hitch(h, rest - (idle ? 0 : no_cpu));
	if (!much || rest * (double)h->was.excess_ns < WAITED_NS ||
	    (!seen && work && (busy || !h->cause)))
		return "";
	/* The CPU's may be for the pass. */
	const char *of = busy || (work && h->by_gpu) ? "" : " (sleep, lock, disk)";
	return tally_phrase(", and a wait%s%s", asleep_text(h, rest, of),
			    busy && !work ? ", or no CPU" : "");
}

static const char *
cpu_text(const struct tally_answer_hitch *h)
{
	const char *pass = "", *draws = "";
	if (h->pass)
		pass = tally_phrase(", in %s", tally_short_name(h->pass));
	if (h->pass && has_more_draws(h))
		draws = tally_phrase(", %" PRIu64 " -> %" PRIu64 " %s", h->of.around_draws,
				     h->of.draws, tally_part_draws(h->of.what));
	return tally_phrase("the CPU%s%s%s", pass, draws,
			    work_of_text(h, (double)h->growth_ns));
}

static const char *
unknown_text(const struct tally_answer_hitch *h)
{
	if (h->starved)
		return tally_phrase("cannot tell: %s took longer, or its driver had no CPU",
				    names_text(h->pass, h->some));
	if (h->by_gpu)
		return tally_phrase("cannot tell: %s%s took longer", names_text(h->pass, h->some),
				    h->or_wait ? tally_phrase(" and a wait%s both",
							      asleep_text(h, 1, ""))
				    : !h->by_calls       ? " and the CPU both"
				    : h->calls.elsewhere ? ""
							 : " and other calls both");
	if (!h->was.timed)
		return h->was.known[TALLY_HITCH_WORK]
			       ? "cannot tell: GPU times are missing; not the CPU"
			       : "cannot tell: GPU times are missing";
	double ns = (double)tally_hitch_more(&h->was, TALLY_HITCH_WORK);
	const char *grew = "no pass took longer";
	if (h->grew)
		grew = growth_text(names_text(h->grew, h->grew_with), &h->beside,
				   h->first == h->grew && !h->grew_with, NULL, false);
	bool both = h->grew && part_of(h, ns) + share_of(h, h->grown_ns) >= EXPLAINS;
	return tally_phrase("%sthe CPU worked %s, %s%s", both ? "" : "cannot tell: ",
			    tally_duration_text(ns), both ? "and " : "", grew);
}

/* It read from a disk, and was seen to sleep elsewhere for a part of it. */
static const char *
disk_text(const struct tally_answer_hitch *h)
{
	const struct tally_asleep_record *a = h->was.asleep;
	const char *other = "";
	for (int i = 0; i < TALLY_HITCH_PLACES; i++)
		if (a[i].in && !tally_asleep_in_file(&a[i]) && share_of(h, a[i].ns) >= PART)
			other = tally_phrase(", and a wait (%s)", tally_asleep_text(&a[i]));
	return tally_phrase("%s%s", faults_text(h), other);
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
		return h->calls.elsewhere ? tally_event_text(&h->calls)
					  : tally_phrase("%s%s", tally_event_text(&h->calls),
							 more_calls_text(h));
	case TALLY_CAUSE_FAULTS:
		return faults_text(h);
	case TALLY_CAUSE_DISK:
		return disk_text(h);
	default:
		return unknown_text(h);
	}
}

const char *
tally_cause_text(const struct tally_answer_hitch *h)
{
	const char *work = work_text(h), *made = "", *first = "", *over = "", *own = "";
	/* A driver may compile at the first draw, in the pass. */
	if (h->was.made && !h->by_calls && *work == '\0' && (is_passes(h) || !h->cause))
		made = tally_phrase("; %" PRIu64 " shader%s made in it", h->was.made,
				    TALLY_S(h->was.made));
	bool told = h->first == h->sure.name && other_pass_text(h);
	bool other = !is_passes(h) || h->some || is_no_pass(h->pass);
	if (h->first && !told && other && (h->cause || h->first != h->grew))
		first = tally_phrase(" (first of %s)", tally_short_name(h->first));
	if (h->over)
		over = tally_phrase("; GPU memory %.0f MB over its budget", (double)h->over / 1e6);
	if (h->cause != TALLY_CAUSE_OWN && !h->ready_ns && is_much(h, more_of(h, TALLY_HITCH_OWN)))
		own = tally_phrase("; passtally itself %s",
				   tally_duration_text((double)h->was.ns[TALLY_HITCH_OWN]));
	return tally_phrase("%s%s%s%s%s%s%s%s%s", cause_text(h), waited_text(h), ready_text(h),
			    work, made, own, beside_text(h), first, over);
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
		return h->of.joined ? "copies" : tally_short_name(h->pass);
	if (h->cause == TALLY_CAUSE_GPU && h->some)
		return "some passes";
	if (h->cause == TALLY_CAUSE_WAIT && !h->driver && h->ready_ns && h->ready_sure)
		return "no free CPU";
	return h->cause == TALLY_CAUSE_EVENT ? tally_cause_name(h) : words[h->cause];
}

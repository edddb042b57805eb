/* SPDX-License-Identifier: MIT */
#include "cli/answer/bound.h"

#include "cli/answer/words.h"

#include "cli/shared/text.h"

#include <inttypes.h>
#include <math.h>

/* The thresholds of docs/verdicts.md. */
#define LEAST_FRAMES 10
#define MOST_FRAMES 262144 /* that a part of a run is decided of */
#define HALF 0.50
#define LITTLE 0.15 /* of the time; what works for all but this works all the time */
#define FULL_FROM 0.97 /* nothing else can limit the frame rate */
#define CAP_SHARE 0.70 /* so many frames keep to a limit */
#define CAP_WITHIN 0.04 /* of an interval: how far a frame may be from a multiple of it */
#define CAP_MISSED 4 /* intervals; a frame that takes more is of something else */
#define CAP_MEAN 0.005 /* how far their mean or median may be from it */
#define STEADY_WITHIN 0.015 /* frames as equal as a limiter makes them */

/* Refresh rates of screens and usual settings of limiters, in frames a second; the lowest
 * first: a rate that explains the frames hides its multiples. */
static const double rates[] = { 24, 25, 30,  40,  50,  60,  72,
				75, 90, 100, 120, 144, 165, 240 };

struct bound_frame {
	struct tally_bound_sums sums;
	bool timed;
};

void
tally_bound_init(struct tally_bound_input *b)
{
	*b = (struct tally_bound_input){
		.frames = g_array_new(FALSE, FALSE, sizeof(struct bound_frame)),
	};
	tally_stats_init(&b->all, TALLY_STATS_KEEP_PASS);
	for (int i = 0; i < TALLY_N_BOUNDS; i++)
		tally_stats_init(&b->kinds[i], TALLY_STATS_KEEP_PASS);
}

void
tally_bound_finish(struct tally_bound_input *b)
{
	g_array_unref(b->frames);
	tally_stats_finish(&b->all);
	for (int i = 0; i < TALLY_N_BOUNDS; i++)
		tally_stats_finish(&b->kinds[i]);
}

static struct tally_bound_sums
sums_of(const struct tally_frame_record *f, uint64_t unsure_ns)
{
	const uint64_t gpu = f->has_gpu ? f->gpu_ns : 0, known = f->has_thread ? f->cpu_ns : 0;
	const uint64_t wait = f->has_wait ? MIN(f->wait_ns, known) : 0;
	return (struct tally_bound_sums){
		.frame = (double)f->cpu_ns,
		.gpu = (double)gpu,
		.sure = (double)(gpu - MIN(unsure_ns, gpu)),
		.known = (double)known,
		.wait = (double)wait,
		/* A driver may spin while it waits: that is not the program's work. */
		.work = (double)MIN(f->thread_ns, known - wait),
		.thread = (double)MIN(f->thread_ns, known),
	};
}

static void
add_sums(struct tally_bound_sums *to, const struct tally_bound_sums *from)
{
	to->frame += from->frame;
	to->gpu += from->gpu;
	to->sure += from->sure;
	to->known += from->known;
	to->wait += from->wait;
	to->work += from->work;
	to->thread += from->thread;
}

/* What a frame shows by itself, together with those before it; never a cap. */
static enum tally_bound
kind_of(const struct tally_bound_input *b)
{
	struct tally_bound_sums sums = { 0 };
	for (unsigned i = 0; i < MIN(b->n_recent, TALLY_BOUND_SMOOTH); i++)
		add_sums(&sums, &b->recent[i]);
	double frame = MAX(sums.frame, 1), gpu = sums.gpu / frame,
	       sure = sums.sure / frame;
	double work = sums.known > 0 ? sums.work / sums.known : 0;
	double wait = sums.known > 0 ? sums.wait / sums.known : 0;
	if (gpu >= 1 - LITTLE && gpu - sure <= LITTLE)
		return work < 1 - LITTLE || sure >= FULL_FROM ? TALLY_BOUND_GPU
							      : TALLY_BOUND_UNKNOWN;
	if (work >= 1 - LITTLE || (work >= HALF && gpu <= HALF && wait < LITTLE))
		return TALLY_BOUND_CPU;
	if (sums.known > 0 && work + gpu <= HALF)
		return TALLY_BOUND_WAIT;
	return TALLY_BOUND_UNKNOWN;
}

static void
add_frame(struct tally_bound_input *b, const struct bound_frame *f)
{
	enum tally_bound kind = TALLY_BOUND_UNKNOWN;
	uint64_t frame_ns = (uint64_t)f->sums.frame;
	tally_stats_add_u64(&b->all, frame_ns);
	add_sums(&b->sums, &f->sums);
	if (f->timed) {
		b->n_timed++;
		add_sums(&b->timed, &f->sums);
		b->recent[b->n_recent++ % TALLY_BOUND_SMOOTH] = f->sums;
		kind = kind_of(b);
	} else {
		b->n_recent = 0;
	}
	if (kind == TALLY_BOUND_WAIT)
		add_sums(&b->waits, &f->sums);
	tally_stats_add_u64(&b->kinds[kind], frame_ns);
}

void
tally_bound_add(struct tally_bound_input *b, const struct tally_frame_record *f, bool timed,
		uint64_t unsure_ns)
{
	const struct bound_frame frame = { sums_of(f, unsure_ns), timed };
	add_frame(b, &frame);
	if (b->frames->len < MOST_FRAMES)
		g_array_append_val(b->frames, frame);
}

/* Frames near a multiple of an interval. */
struct near_count {
	double interval;
	uint64_t n, late;
	double excess; /* sum of (frame time / nearest multiple - 1) */
};

static void
count_near(void *user, double ns, uint64_t count)
{
	struct near_count *near = user;
	double multiple = MAX(round(ns / near->interval), 1);
	if (multiple > CAP_MISSED ||
	    fabs(ns - multiple * near->interval) > CAP_WITHIN * near->interval)
		return;
	near->n += count;
	near->late += multiple > 1 ? count : 0;
	near->excess += (ns / (multiple * near->interval) - 1) * (double)count;
}

static struct near_count
near_rate(struct tally_stats *s, double rate)
{
	struct near_count near = { .interval = 1e9 / rate };
	tally_stats_visit(s, count_near, &near);
	return near;
}

/* Of the rates that explain most frames the lowest is taken: 60, not 120. */
static void
find_cap(struct tally_bound_input *b, struct tally_bound_verdict *v)
{
	double n = (double)b->all.moments.n, most = 0, frame = b->timed.frame, gpu = b->timed.gpu;
	double both = gpu + b->timed.work, unsure = gpu - b->timed.sure;
	/* The GPU always works, or it and the CPU in turn. */
	bool busy = gpu >= FULL_FROM * frame || fabs(both - frame) <= (1 - FULL_FROM) * frame;
	/* What never waits is not limited by a cap, unless the limiter spins: is_steady(). Where it
	 * is not sure that the GPU worked, the CPU did. */
	if (b->unlimited || (b->sums.known > 0 && b->sums.work >= FULL_FROM * b->sums.known) ||
	    (frame > 0 && busy && unsure - b->timed.work <= LITTLE * frame))
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(rates); i++) {
		struct near_count near = near_rate(&b->all, rates[i]);
		double near_n = (double)near.n;
		if (near_n < CAP_SHARE * n || (double)near.late > (1 - LITTLE) * near_n ||
		    fabs(near.excess) > CAP_MEAN * near_n ||
		    near_n <= (1 + CAP_WITHIN) * most)
			continue;
		most = near_n;
		v->rate = rates[i];
		v->late = (double)near.late / n;
	}
}

/* On a busy machine a limiter keeps its rate on average, but not from frame to frame. */
static double
find_near_rate(struct tally_stats *s)
{
	double mean = tally_moments_mean(&s->moments);
	double median = tally_value_f64(tally_stats_quantile(s, 0.5));
	for (size_t i = 0; i < G_N_ELEMENTS(rates); i++)
		if (fabs(mean * rates[i] / 1e9 - 1) <= CAP_MEAN ||
		    fabs(median * rates[i] / 1e9 - 1) <= CAP_MEAN)
			return rates[i];
	return 0;
}

/* Where most frames are of this kind, whether a limiter that spins, or that is waited for, may
 * have made them. */
static void
find_steady(struct tally_bound_input *b, enum tally_bound kind,
	    struct tally_bound_verdict *v)
{
	struct tally_stats *s = &b->kinds[kind];
	if (b->unlimited || (double)s->moments.n <= HALF * (double)b->all.moments.n)
		return;
	v->near_rate = find_near_rate(s);
	v->typical_ns = tally_value_f64(tally_stats_quantile(s, 0.5));
	v->within = (double)tally_stats_count_between(
			    s, v->typical_ns * (1 - STEADY_WITHIN),
			    v->typical_ns * (1 + STEADY_WITHIN)) /
		    (double)s->moments.n;
}

static bool
is_steady(const struct tally_bound_verdict *v)
{
	return v->within >= CAP_SHARE || v->near_rate > 0;
}

static enum tally_bound_doubt
why_unknown(struct tally_bound_input *b, const struct tally_bound_verdict *v)
{
	double n = (double)b->all.moments.n;
	if ((double)b->n_timed < HALF * n)
		return TALLY_DOUBT_NO_GPU_TIMES;
	if ((double)b->kinds[TALLY_BOUND_CPU].moments.n > HALF * n && v->rate == 0)
		return TALLY_DOUBT_STEADY;
	if ((double)b->kinds[TALLY_BOUND_UNKNOWN].moments.n <= HALF * n)
		return TALLY_DOUBT_MIXED;
	if (v->waits_within)
		return TALLY_DOUBT_WAITS;
	return v->has_thread || v->busy > HALF ? TALLY_DOUBT_BUSY : TALLY_DOUBT_NO_THREAD;
}

static void
take_sums(const struct tally_bound_input *b, struct tally_bound_verdict *v)
{
	v->n_timed = b->n_timed;
	v->has_busy = b->timed.frame > 0;
	/* A pass may end in the next frame: the sum can be a little longer. */
	v->busy = v->has_busy ? MIN(b->timed.gpu / b->timed.frame, 1) : 0;
	v->unsure = v->has_busy ? (b->timed.gpu - b->timed.sure) / b->timed.frame : 0;
	v->waits_within = v->unsure > LITTLE;
	v->has_thread = b->sums.known > 0;
	v->thread = v->has_thread ? b->sums.work / b->sums.known : 0;
	v->waits = v->has_thread ? b->sums.wait / b->sums.known : 0;
	v->in_driver = b->waits.wait > HALF * (b->waits.known - b->waits.work);
	v->spins = v->has_thread ? (b->sums.thread - b->sums.work) / b->sums.known : 0;
}

static struct tally_bound_verdict
decide(struct tally_bound_input *b)
{
	struct tally_bound_verdict v = { 0 };
	double n = (double)b->all.moments.n, left = 1;
	take_sums(b, &v);
	v.frames = b->all.moments.n;
	v.vsync = b->vsync;
	v.unlimited = b->unlimited;
	v.share[TALLY_BOUND_UNKNOWN] = 1;
	if (n < LEAST_FRAMES) {
		v.doubt = TALLY_DOUBT_FEW_FRAMES;
		return v;
	}
	find_cap(b, &v);
	find_steady(b, TALLY_BOUND_WAIT, &v);
	find_steady(b, TALLY_BOUND_CPU, &v);
	if (v.rate > 0)
		v.share[TALLY_BOUND_CAP] = (double)near_rate(&b->all, v.rate).n / n;
	for (int i = TALLY_BOUND_GPU; i < TALLY_N_BOUNDS; i++) {
		if (b->kinds[i].moments.n) {
			uint64_t capped = v.rate > 0 ? near_rate(&b->kinds[i], v.rate).n
						     : 0;
			v.share[i] = (double)(b->kinds[i].moments.n - capped) / n;
		}
		if (i == TALLY_BOUND_CPU && v.rate == 0 && is_steady(&v))
			v.share[i] = 0;
		left -= v.share[i];
		if (v.share[i] > HALF)
			v.by = (enum tally_bound)i;
	}
	v.share[TALLY_BOUND_UNKNOWN] = MAX(left, 0);
	if (v.by == TALLY_BOUND_UNKNOWN)
		v.doubt = why_unknown(b, &v);
	return v;
}

struct tally_bound_verdict
tally_bound_decide(struct tally_bound_input *all, struct tally_range range)
{
	struct tally_bound_input b;
	if (range.whole || range.to > all->frames->len)
		return decide(all);
	tally_bound_init(&b);
	b.unlimited = all->unlimited;
	b.vsync = all->vsync;
	for (uint64_t i = range.from; i < range.to; i++)
		add_frame(&b, &g_array_index(all->frames, struct bound_frame, i));
	struct tally_bound_verdict v = decide(&b);
	tally_bound_finish(&b);
	return v;
}

const char *const tally_bound_names[TALLY_N_BOUNDS] = {
	[TALLY_BOUND_UNKNOWN] = "unknown", [TALLY_BOUND_GPU] = "gpu",
	[TALLY_BOUND_CPU] = "cpu",         [TALLY_BOUND_CAP] = "cap",
	[TALLY_BOUND_WAIT] = "wait",
};

/* The rest of the sentence, as in the next two functions. */
static const char *
doubt_text(const struct tally_bound_verdict *v)
{
	const uint64_t frames = v->frames;
	const double gpu = 100 * v->busy, *share = v->share;
	switch (v->doubt) {
	case TALLY_DOUBT_FEW_FRAMES:
		return tally_phrase(": cannot tell from %" PRIu64 " frame%s", frames,
				    TALLY_S(frames));
	case TALLY_DOUBT_NO_GPU_TIMES:
		if (!v->some_gpu)
			return ": cannot tell, GPU times were not measured";
		return tally_phrase(": cannot tell, GPU times are missing in %" PRIu64
				    " of %" PRIu64 " frames",
				    frames - v->n_timed, frames);
	case TALLY_DOUBT_NO_PASS:
		return ": cannot tell, no pass was seen";
	case TALLY_DOUBT_STEADY:
		if (v->within < CAP_SHARE)
			return tally_phrase(" the CPU or a limiter near %.0f fps: "
					    "cannot tell (GPU works %.0f %%)",
					    v->near_rate, gpu);
		return tally_phrase(" the CPU or a limiter: cannot tell (%.0f %% "
				    "take %.1f ms +-2 %%, GPU %.0f %%)",
				    100 * v->within, v->typical_ns / 1e6, gpu);
	case TALLY_DOUBT_WAITS:
		return tally_phrase(": cannot tell, the CPU works or waits within "
				    "passes %.0f %% of the time", 100 * v->unsure);
	case TALLY_DOUBT_NO_THREAD:
		return tally_phrase(" the CPU or a wait: cannot tell, threads take "
				    "turns (GPU works %.0f %%)", gpu);
	case TALLY_DOUBT_BUSY: {
		const char *cpu = tally_phrase(", the CPU %.0f %%", 100 * v->thread);
		return tally_phrase(": cannot tell, the GPU works %.0f %%%s of the "
				    "frame time", gpu, v->has_thread ? cpu : "");
	}
	default:
		return tally_phrase(" no one thing: GPU %.0f %%, CPU %.0f %%, cap "
				    "%.0f %%, wait %.0f %%, unclear %.0f %%",
				    100 * share[TALLY_BOUND_GPU], 100 * share[TALLY_BOUND_CPU],
				    100 * share[TALLY_BOUND_CAP], 100 * share[TALLY_BOUND_WAIT],
				    100 * share[TALLY_BOUND_UNKNOWN]);
	}
}

static const char *
wait_text(const struct tally_bound_verdict *v)
{
	const double share = 100 * v->share[TALLY_BOUND_WAIT], cpu = 100 * v->thread;
	const char *what = v->in_driver ? "vsync, display" : "vsync, limiter, lock, busy machine";
	if (v->in_driver && v->spins > HALF)
		return tally_phrase(" driver calls (present) in %.0f %%: CPU in them "
				    "%.0f %%, else %.0f %%, GPU %.0f %%",
				    share, 100 * v->spins, cpu, 100 * v->busy);
	if (v->vsync && v->in_driver)
		what = tally_phrase("vsync: %s", v->vsync);
	else if (v->near_rate > 0)
		what = tally_phrase("a cap or vsync near %.0f fps?", v->near_rate);
	else if (v->unlimited)
		what = "limiter, lock, busy machine, not vsync";
	return tally_phrase(" a wait%s (%s) in %.0f %%: CPU %.0f %%, GPU %.0f %%",
			    v->in_driver ? " in driver calls" : "", what, share, cpu,
			    100 * v->busy);
}

static const char *
cap_text(const struct tally_bound_verdict *v)
{
	const char *what = v->vsync ? tally_phrase("vsync (%s)", v->vsync) : "a cap or vsync";
	const char *more = "";
	if (v->late >= LITTLE / 10)
		more = tally_phrase(" (%.0f %% miss it)", 100 * v->late);
	else if (v->has_busy)
		more = tally_phrase(" (GPU works %s%.0f %%)",
				    v->waits_within ? "at most " : "", 100 * v->busy);
	return tally_phrase(" %s at %.0f fps in %.0f %% of frames%s", what, v->rate,
			    100 * v->share[TALLY_BOUND_CAP], more);
}

const char *
tally_bound_text(const struct tally_bound_verdict *v)
{
	const double share = 100 * v->share[v->by], gpu = 100 * v->busy;
	const double sure = gpu - 100 * v->unsure;
	const char *most = "% of the time";
	switch (v->by) {
	case TALLY_BOUND_GPU:
		return tally_phrase("bound by the GPU in %.0f %% of frames (it works "
				    "%s%.0f %% of the frame time)",
				    share, v->waits_within ? "at least " : "",
				    v->waits_within ? sure : gpu);
	case TALLY_BOUND_CPU:
		if (v->unsure >= 0.01)
			most = tally_phrase("to %.0f %%", gpu);
		return tally_phrase("bound by the CPU in %.0f %% of frames (it works "
				    "%.0f %%, the GPU %.0f %s)",
				    share, 100 * v->thread, sure, most);
	default:
		return tally_phrase("bound by%s", v->by == TALLY_BOUND_WAIT ? wait_text(v)
						  : v->by == TALLY_BOUND_CAP
							  ? cap_text(v)
							  : doubt_text(v));
	}
}

const char *
tally_bound_hint(const struct tally_bound_verdict *v)
{
	double both = v->busy + v->thread;
	bool shown = v->has_thread && v->busy < 1 - LITTLE;
	double drew_ns = v->driver.ns[TALLY_DREW], no_cpu_ns = v->driver.ns[TALLY_HAD_NO_CPU];
	if (no_cpu_ns - v->driver.others_ns > HALF * drew_ns && v->by != TALLY_BOUND_CAP)
		return tally_phrase("the driver's threads worked %s and had no CPU for %s: "
				    "busy machine?", tally_duration_text(drew_ns),
				    tally_duration_text(no_cpu_ns));
	if (v->by != TALLY_BOUND_UNKNOWN)
		return NULL;
	switch (v->doubt) {
	case TALLY_DOUBT_STEADY:
		return "to find out: lift the limit, switch vsync off; if the rate "
		       "stays: the CPU";
	case TALLY_DOUBT_BUSY:
		if (shown && both < 1 - LITTLE)
			return "the rest is a wait, or other programs keep the CPU: try "
			       "on an idle machine";
		if (shown && both <= 1 + LITTLE)
			return "CPU and GPU seem to work in turn: less work of either "
			       "would help";
		/* fall through */
	case TALLY_DOUBT_WAITS:
		return "to find out: halve the resolution; if the rate stays, it is not "
		       "the GPU";
	case TALLY_DOUBT_MIXED:
		return "to find out: capture one scene by itself, with --skip and "
		       "--frames";
	default:
		return NULL;
	}
}

/* SPDX-License-Identifier: MIT */
#include "cli/answer/parts.h"

#include "cli/shared/text.h"

#include <glib.h>
#include <math.h>

/* The thresholds of docs/verdicts.md. */
#define LEAST_FRAMES 10
#define BUSY_FROM 0.85 /* the GPU works all the time */
#define SURE_FROM 0.80 /* and for so much of it surely not for lack of work */
#define FULL_FROM 0.97 /* nothing else can limit the frame rate */
#define LOW_TO 0.60 /* it works little */
#define MAJORITY 0.50
#define NO_CAP_FROM 0.93 /* the thread works this much: it waits for no cap */
#define WORKS_FROM 0.85 /* the thread that ends frames works all the time */
#define RESTS_TO 0.35 /* it waits; with more work others may keep the CPU */
#define WORKS_HALF 0.50 /* it works more than half of the time */
#define IDLE_TO 0.75 /* and the GPU with it: they may wait for each other alternately */
#define TURNS_TO 1.10 /* sum of both: they hardly overlap */
#define WITHIN_FROM 0.15 /* the GPU may wait within passes */
#define SPINS_FROM 0.30 /* the CPU works in the calls in which it waits */
#define WAITS_FROM 0.60 /* it is mostly inside calls in which the driver waits */
#define FOR_GPU_FROM 0.50 /* and surely waits for the GPU, if that works so much */
#define FEW_WAITS 0.15 /* it is rarely in such calls */
#define CAP_WITHIN 0.04 /* of an interval: how far a frame may be from a multiple of it */
#define CAP_MEAN 0.005 /* how far the mean of those frames may be from it */
#define CAP_SHARE 0.70 /* of the frames */
#define CAP_MULTIPLES 4
#define CAP_FIRST 0.10 /* of those frames: how many take one interval */
#define STEADY_WITHIN 0.02
#define STEADY_SHARE 0.80
#define NEAR_MEDIAN 0.015 /* how far the median may be from a usual rate */
#define NEAR_WITHIN 0.12
#define NEAR_SHARE 0.60

/* Refresh rates of screens and usual settings of limiters, in frames a second; the lowest
 * first: a rate that explains the frames hides its multiples. */
static const double rates[] = {
	24, 25, 30, 40, 45, 48, 50, 60, 72, 75, 85, 90, 100, 120, 144, 165, 170, 180, 200, 240, 360,
};

/* Those that are common enough to be suspected where frames are only near them. */
static const double common_rates[] = { 30, 60, 75, 90, 120, 144, 165, 240 };

#define TIMES_OF(b) \
	{ \
		&(b)->all, &(b)->busy, &(b)->idle, &(b)->low, &(b)->rests \
	}

void
tally_bound_init(struct tally_bound_input *b)
{
	struct tally_stats *const times[] = TIMES_OF(b);
	*b = (struct tally_bound_input){ 0 };
	for (size_t i = 0; i < G_N_ELEMENTS(times); i++)
		tally_stats_init(times[i], TALLY_STATS_KEEP_PASS);
}

void
tally_bound_finish(struct tally_bound_input *b)
{
	struct tally_stats *const times[] = TIMES_OF(b);
	for (size_t i = 0; i < G_N_ELEMENTS(times); i++)
		tally_stats_finish(times[i]);
}

static void
add_sums(struct tally_bound_sums *s, const struct tally_bound_frame *f)
{
	const uint64_t known = f->has_thread ? f->frame_ns : 0,
		       wait = MIN(f->wait_ns, known);
	s->frame += (double)f->frame_ns;
	s->gpu += (double)f->gpu_ns;
	s->sure += (double)(f->gpu_ns - MIN(f->unsure_ns, f->gpu_ns));
	s->known += (double)known;
	s->wait += (double)wait;
	/* A driver may spin while it waits: that is not the program's work. */
	s->work += (double)MIN(f->thread_ns, known - wait);
	s->thread += (double)MIN(f->thread_ns, known);
}

/* What a frame shows by itself, together with those before it. */
enum kind {
	KIND_GPU,
	KIND_CPU,
	KIND_WAIT,
	KIND_BOTH, /* GPU and thread work nearly all the time */
	KIND_WITHIN, /* the GPU may work all the time, or wait for the CPU */
	KIND_NO_THREAD, /* it works little, and what the thread did is not known */
	KIND_BETWEEN,
};

static enum kind
kind_of(const struct tally_bound_input *b)
{
	struct tally_bound_sums sums = { 0 };
	for (unsigned i = 0; i < MIN(b->n_recent, TALLY_BOUND_SMOOTH); i++)
		add_sums(&sums, &b->recent[i]);
	double frame = MAX(sums.frame, 1), gpu = sums.gpu / frame,
	       sure = sums.sure / frame;
	double work = sums.known > 0 ? sums.work / sums.known : 0;
	double wait = sums.known > 0 ? sums.wait / sums.known : 0;
	bool waits_for_it = sure >= FOR_GPU_FROM && wait >= WAITS_FROM;
	if (gpu >= BUSY_FROM && (sure >= SURE_FROM || waits_for_it))
		return work < WORKS_FROM || sure >= FULL_FROM ? KIND_GPU : KIND_BOTH;
	if (work >= WORKS_FROM)
		return KIND_CPU;
	if (gpu > LOW_TO) {
		bool within = sure <= LOW_TO || gpu >= BUSY_FROM;
		return within && gpu - sure >= WITHIN_FROM ? KIND_WITHIN : KIND_BETWEEN;
	}
	if (sums.known <= 0)
		return KIND_NO_THREAD;
	if (work < WORKS_HALF)
		return work < RESTS_TO && work + gpu <= IDLE_TO ? KIND_WAIT : KIND_BETWEEN;
	return wait < FEW_WAITS ? KIND_CPU : KIND_BETWEEN;
}

void
tally_bound_add(struct tally_bound_input *b, const struct tally_bound_frame *f)
{
	tally_stats_add_u64(&b->all, f->frame_ns);
	add_sums(&b->sums, f);
	if (!f->timed) {
		b->n_recent = 0;
		tally_stats_add_u64(&b->idle, f->frame_ns);
		return;
	}
	b->n_timed++;
	add_sums(&b->timed, f);
	b->recent[b->n_recent++ % TALLY_BOUND_SMOOTH] = *f;
	enum kind kind = kind_of(b);
	tally_stats_add_u64(kind == KIND_GPU ? &b->busy : &b->idle, f->frame_ns);
	if (kind == KIND_CPU)
		tally_stats_add_u64(&b->low, f->frame_ns);
	if (kind == KIND_WAIT)
		tally_stats_add_u64(&b->rests, f->frame_ns);
	b->n_both += kind == KIND_BOTH;
	b->n_within += kind == KIND_WITHIN;
	b->n_no_thread += kind == KIND_NO_THREAD;
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
	if (multiple > CAP_MULTIPLES ||
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

static bool
is_common(double rate)
{
	for (size_t i = 0; i < G_N_ELEMENTS(common_rates); i++)
		if (common_rates[i] == rate)
			return true;
	return false;
}

/* Of the rates that explain most frames the lowest is taken: 60, not 120. Steady work of the
 * GPU may by chance take as long as the interval of some rate: then only common rates are
 * considered. */
static void
find_cap(struct tally_bound_input *b, struct tally_bound_verdict *v)
{
	uint64_t most = 0;
	bool busy = (double)(b->busy.moments.n + b->n_both) > MAJORITY * (double)b->all.moments.n;
	/* A thread that never waits is not limited by a cap, unless the limiter spins:
	 * find_steady(). */
	if (b->sums.known > 0 && b->sums.work >= NO_CAP_FROM * b->sums.known)
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(rates); i++) {
		if (busy && !is_common(rates[i]))
			continue;
		struct near_count near = near_rate(&b->all, rates[i]);
		if ((double)near.n < CAP_SHARE * (double)b->all.moments.n ||
		    (double)(near.n - near.late) < CAP_FIRST * (double)near.n ||
		    fabs(near.excess) > CAP_MEAN * (double)near.n ||
		    (double)near.n <= 1.02 * (double)most)
			continue;
		most = near.n;
		v->rate = rates[i];
		v->late = (double)near.late / (double)b->all.moments.n;
	}
}

static void
find_steady(struct tally_bound_input *b, struct tally_bound_verdict *v)
{
	uint64_t n = b->idle.moments.n;
	if (n == 0)
		return;
	v->typical_ns = tally_value_f64(tally_stats_quantile(&b->idle, 0.5));
	v->within = (double)tally_stats_count_between(&b->idle, v->typical_ns * (1 - STEADY_WITHIN),
						      v->typical_ns * (1 + STEADY_WITHIN)) /
		    (double)n;
}

/* On a busy machine a limiter keeps its rate on average, but not from frame to frame. */
static void
find_near_rate(struct tally_bound_input *b, struct tally_bound_verdict *v)
{
	double n = (double)b->idle.moments.n, ns = v->typical_ns;
	if (n == 0)
		return;
	bool close = (double)tally_stats_count_between(&b->idle, ns * (1 - NEAR_WITHIN),
						       ns * (1 + NEAR_WITHIN)) >= NEAR_SHARE * n;
	double mean = tally_moments_mean(&b->idle.moments);
	for (size_t i = 0; i < G_N_ELEMENTS(common_rates); i++) {
		bool kept = fabs(mean * common_rates[i] / 1e9 - 1) <= CAP_MEAN;
		if ((close || kept) && fabs(ns * common_rates[i] / 1e9 - 1) <= NEAR_MEDIAN)
			v->near_rate = common_rates[i];
	}
}

static enum tally_bound_doubt
why_unknown(const struct tally_bound_input *b, const struct tally_bound_verdict *v)
{
	double n = (double)b->all.moments.n;
	if ((double)b->n_timed < MAJORITY * n)
		return TALLY_DOUBT_NO_GPU_TIMES;
	if ((v->within >= STEADY_SHARE || v->near_rate > 0) && v->rate == 0 &&
	    (double)b->low.moments.n > MAJORITY * n)
		return TALLY_DOUBT_STEADY;
	if ((double)b->n_within > MAJORITY * n)
		return TALLY_DOUBT_WAITS;
	if ((double)b->n_no_thread > MAJORITY * n)
		return TALLY_DOUBT_NO_THREAD;
	double between = (double)(b->idle.moments.n - b->low.moments.n - b->rests.moments.n) / n;
	return between > MAJORITY ? TALLY_DOUBT_BUSY : TALLY_DOUBT_MIXED;
}

struct tally_bound_verdict
tally_bound_decide(struct tally_bound_input *b)
{
	struct tally_bound_verdict v = { 0 };
	uint64_t n = b->all.moments.n;
	v.share[TALLY_BOUND_UNKNOWN] = 1;
	v.n_timed = b->n_timed;
	v.has_busy = b->timed.frame > 0;
	v.busy = v.has_busy ? b->timed.gpu / b->timed.frame : 0;
	v.unsure = v.has_busy ? (b->timed.gpu - b->timed.sure) / b->timed.frame : 0;
	v.has_thread = b->sums.known > 0;
	v.thread = v.has_thread ? b->sums.work / b->sums.known : 0;
	v.waits = v.has_thread ? b->sums.wait / b->sums.known : 0;
	v.spins = v.has_thread ? (b->sums.thread - b->sums.work) / b->sums.known : 0;
	if (n < LEAST_FRAMES) {
		v.doubt = TALLY_DOUBT_FEW_FRAMES;
		return v;
	}
	find_cap(b, &v);
	find_steady(b, &v);
	find_near_rate(b, &v);
	double capped = 0, gpu = (double)b->busy.moments.n, cpu = (double)b->low.moments.n;
	double wait = (double)b->rests.moments.n;
	if (v.rate > 0) {
		capped = (double)near_rate(&b->all, v.rate).n;
		gpu -= (double)near_rate(&b->busy, v.rate).n;
		cpu -= (double)near_rate(&b->low, v.rate).n;
		wait -= (double)near_rate(&b->rests, v.rate).n;
	} else if (v.within >= STEADY_SHARE || v.near_rate > 0) {
		cpu = 0;
	}
	v.share[TALLY_BOUND_GPU] = gpu / (double)n;
	v.share[TALLY_BOUND_CAP] = capped / (double)n;
	v.share[TALLY_BOUND_CPU] = cpu / (double)n;
	v.share[TALLY_BOUND_WAIT] = wait / (double)n;
	for (int i = TALLY_BOUND_GPU; i < TALLY_N_BOUNDS; i++) {
		v.share[TALLY_BOUND_UNKNOWN] -= v.share[i];
		if (v.share[i] > MAJORITY)
			v.by = (enum tally_bound)i;
	}
	v.share[TALLY_BOUND_UNKNOWN] = MAX(v.share[TALLY_BOUND_UNKNOWN], 0);
	if (v.by == TALLY_BOUND_UNKNOWN)
		v.doubt = why_unknown(b, &v);
	return v;
}

const char *const tally_bound_names[TALLY_N_BOUNDS] = {
	[TALLY_BOUND_UNKNOWN] = "unknown", [TALLY_BOUND_GPU] = "gpu",   [TALLY_BOUND_CPU] = "cpu",
	[TALLY_BOUND_CAP] = "cap",         [TALLY_BOUND_WAIT] = "wait",
};

static char *
doubt_text(const struct tally_bound_verdict *v, uint64_t frames)
{
	switch (v->doubt) {
	case TALLY_DOUBT_FEW_FRAMES:
		return g_strdup_printf("bound by: cannot tell from %" G_GUINT64_FORMAT " frame%s",
				       frames, TALLY_S(frames));
	case TALLY_DOUBT_NO_GPU_TIMES:
		if (v->n_timed)
			return g_strdup_printf("bound by: cannot tell, GPU times are missing in "
					       "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
					       " frames",
					       frames - v->n_timed, frames);
		return g_strdup("bound by: cannot tell, GPU times were not measured");
	case TALLY_DOUBT_NO_PASS:
		return g_strdup("bound by: cannot tell, no pass was seen");
	case TALLY_DOUBT_STEADY:
		if (v->within < STEADY_SHARE)
			return g_strdup_printf("bound by the CPU or a limiter near %.0f fps: "
					       "cannot tell (GPU works %.0f %%)",
					       v->near_rate, 100 * v->busy);
		return g_strdup_printf("bound by the CPU or a limiter: cannot tell "
				       "(%.0f %% take %.1f ms +-2 %%, GPU %.0f %%)",
				       100 * v->within, v->typical_ns / 1e6, 100 * v->busy);
	case TALLY_DOUBT_WAITS:
		if (v->has_thread)
			return g_strdup_printf(
				"bound by: cannot tell, the CPU works or waits within "
				"passes %.0f %% (it works %.0f %%)",
				100 * v->unsure, 100 * v->thread);
		return g_strdup_printf("bound by: cannot tell, the CPU works or waits within "
				       "passes %.0f %% of the time",
				       100 * v->unsure);
	case TALLY_DOUBT_NO_THREAD:
		return g_strdup_printf("bound by the CPU or a wait: cannot tell, threads take "
				       "turns (GPU works %.0f %%)",
				       100 * v->busy);
	case TALLY_DOUBT_BUSY:
		if (v->has_thread)
			return g_strdup_printf("bound by: cannot tell, the GPU works %.0f %%, the "
					       "CPU %.0f %% of the frame time",
					       100 * v->busy, 100 * v->thread);
		return g_strdup_printf("bound by: cannot tell, the GPU works %.0f %% of the "
				       "frame time",
				       100 * v->busy);
	default:
		return g_strdup_printf(
			"bound by no one thing: GPU %.0f %%, CPU %.0f %%, cap "
			"%.0f %%, wait %.0f %%, unclear %.0f %%",
			100 * v->share[TALLY_BOUND_GPU], 100 * v->share[TALLY_BOUND_CPU],
			100 * v->share[TALLY_BOUND_CAP], 100 * v->share[TALLY_BOUND_WAIT],
			100 * v->share[TALLY_BOUND_UNKNOWN]);
	}
}

static char *
wait_text(const struct tally_bound_verdict *v)
{
	double share = 100 * v->share[TALLY_BOUND_WAIT], cpu = 100 * v->thread;
	bool driver = v->waits > 0.5 * (1 - v->thread);
	if (driver && v->spins >= SPINS_FROM)
		return g_strdup_printf("bound by driver calls (present) in %.0f %%: CPU in them "
				       "%.0f %%, else %.0f %%, GPU %.0f %%",
				       share, 100 * v->spins, cpu, 100 * v->busy);
	g_autofree char *what =
		v->near_rate > 0
			? g_strdup_printf("a cap or vsync near %.0f fps?", v->near_rate)
			: g_strdup(driver ? "vsync, display"
					  : "vsync, limiter, lock, busy machine");
	return g_strdup_printf(
		"bound by a wait%s (%s) in %.0f %%: CPU %.0f %%, GPU %.0f %%",
		driver ? " in driver calls" : "", what, share, cpu, 100 * v->busy);
}

char *
tally_bound_text(const struct tally_bound_verdict *v, uint64_t frames)
{
	double share = 100 * v->share[v->by];
	switch (v->by) {
	case TALLY_BOUND_GPU:
		return g_strdup_printf("bound by the GPU in %.0f %% of frames (it works %.0f %% "
				       "of the frame time)",
				       share, 100 * v->busy);
	case TALLY_BOUND_WAIT:
		return wait_text(v);
	case TALLY_BOUND_CPU:
		return g_strdup_printf("bound by the CPU in %.0f %% of frames (it works %.0f %%, "
				       "the GPU %.0f %% of the time)",
				       share, 100 * v->thread, 100 * v->busy - 100 * v->unsure);
	case TALLY_BOUND_CAP:
		if (v->late >= 0.05)
			return g_strdup_printf("bound by a cap or vsync at %.0f fps in %.0f %% "
					       "of frames (%.0f %% miss it)",
					       v->rate, share, 100 * v->late);
		if (!v->has_busy)
			return g_strdup_printf("bound by a cap or vsync at %.0f fps in %.0f %% "
					       "of frames",
					       v->rate, share);
		return g_strdup_printf("bound by a cap or vsync at %.0f fps in %.0f %% of "
				       "frames (GPU works %.0f %%)",
				       v->rate, share, 100 * v->busy);
	default:
		return doubt_text(v, frames);
	}
}

const char *
tally_bound_hint(const struct tally_bound_verdict *v)
{
	double both = v->has_thread && v->busy < BUSY_FROM ? v->busy + v->thread : 0;
	if (v->by != TALLY_BOUND_UNKNOWN)
		return NULL;
	switch (v->doubt) {
	case TALLY_DOUBT_STEADY:
		return "to find out: lift the limit, switch vsync off; if the rate stays: the CPU";
	case TALLY_DOUBT_BUSY:
	case TALLY_DOUBT_WAITS:
		if (v->doubt == TALLY_DOUBT_BUSY && both > 0 && both < IDLE_TO)
			return "the rest is a wait, or other programs keep the CPU: try on an idle "
			       "machine";
		if (v->doubt == TALLY_DOUBT_BUSY && both >= BUSY_FROM && both <= TURNS_TO)
			return "CPU and GPU seem to work in turn: less work of either would help";
		return "to find out: halve the resolution; if the rate stays, it is not the GPU";
	case TALLY_DOUBT_MIXED:
		return "unclear: CPU and GPU share the frame; a scene by itself, --skip and "
		       "--frames";
	default:
		return NULL;
	}
}

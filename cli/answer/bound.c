/* SPDX-License-Identifier: MIT */
#include "cli/answer/bound.h"

#include <glib.h>
#include <math.h>

/* The thresholds of docs/verdicts.md. */
#define LEAST_FRAMES 10
#define BUSY_FROM 0.85 /* the GPU works all the time */
#define LOW_TO 0.60 /* it works little */
#define MAJORITY 0.50
#define WORKS_FROM 0.85 /* the thread that ends frames works all the time */
#define RESTS_TO 0.50 /* it mostly waits */
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

void
tally_bound_init(struct tally_bound_input *b)
{
	*b = (struct tally_bound_input){ 0 };
	tally_stats_init(&b->all, TALLY_STATS_KEEP_PASS);
	tally_stats_init(&b->busy, TALLY_STATS_KEEP_PASS);
	tally_stats_init(&b->idle, TALLY_STATS_KEEP_PASS);
	tally_stats_init(&b->low, TALLY_STATS_KEEP_PASS);
	tally_stats_init(&b->rests, TALLY_STATS_KEEP_PASS);
}

void
tally_bound_finish(struct tally_bound_input *b)
{
	tally_stats_finish(&b->all);
	tally_stats_finish(&b->busy);
	tally_stats_finish(&b->idle);
	tally_stats_finish(&b->low);
	tally_stats_finish(&b->rests);
}

/* Parts of the time of the newest frames. */
struct loads {
	double gpu; /* in which the GPU worked */
	double sure; /* the same without the time in which it may have waited */
	double thread; /* in which the thread worked that ends frames; negative: not known */
};

static struct loads
smooth_loads(struct tally_bound_input *b, const struct tally_bound_frame *f)
{
	unsigned at = b->n_recent++ % TALLY_BOUND_SMOOTH;
	b->recent_cpu[at] = f->frame_ns;
	b->recent_gpu[at] = f->gpu_ns;
	b->recent_wait[at] = f->wait_ns;
	b->recent_thread[at] = f->has_thread ? f->thread_ns : UINT64_MAX;
	double cpu = 0, gpu = 0, wait = 0, of = 0, thread = 0;
	for (unsigned i = 0; i < MIN(b->n_recent, TALLY_BOUND_SMOOTH); i++) {
		cpu += (double)b->recent_cpu[i];
		gpu += (double)b->recent_gpu[i];
		wait += (double)b->recent_wait[i];
		if (b->recent_thread[i] == UINT64_MAX)
			continue;
		of += (double)b->recent_cpu[i];
		thread += (double)b->recent_thread[i];
	}
	return (struct loads){
		.gpu = cpu > 0 ? gpu / cpu : 0,
		.sure = cpu > 0 ? (gpu - wait) / cpu : 0,
		.thread = of > 0 ? thread / of : -1,
	};
}

void
tally_bound_add(struct tally_bound_input *b, const struct tally_bound_frame *f)
{
	tally_stats_add_u64(&b->all, f->frame_ns);
	if (f->has_thread) {
		b->thread_sum += (double)f->thread_ns;
		b->thread_of += (double)f->frame_ns;
	}
	if (!f->timed) {
		b->n_recent = 0;
		tally_stats_add_u64(&b->idle, f->frame_ns);
		return;
	}
	b->n_timed++;
	b->cpu_sum += (double)f->frame_ns;
	b->gpu_sum += (double)f->gpu_ns;
	b->wait_sum += (double)f->wait_ns;
	struct loads load = smooth_loads(b, f);
	bool unclear = load.gpu > LOW_TO && load.sure <= LOW_TO && load.thread < WORKS_FROM;
	if (unclear) {
		b->n_waits++;
	} else if (load.sure > LOW_TO && load.gpu >= BUSY_FROM) {
		tally_stats_add_u64(&b->busy, f->frame_ns);
		return;
	}
	tally_stats_add_u64(&b->idle, f->frame_ns);
	if (unclear || load.sure > LOW_TO)
		return;
	if (load.thread >= 0 && load.thread < RESTS_TO)
		tally_stats_add_u64(&b->rests, f->frame_ns);
	else
		tally_stats_add_u64(&b->low, f->frame_ns);
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

/* Of the rates that explain most frames the lowest: 60, not 120. Steady work of the GPU may
 * take as long as some rate's interval by chance: then only common rates are believed. */
static void
find_cap(struct tally_bound_input *b, struct tally_bound_verdict *v)
{
	uint64_t most = 0;
	bool busy = (double)b->busy.moments.n > MAJORITY * (double)b->all.moments.n;
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

/* On a busy machine a limiter keeps its rate on the whole, but not from frame to frame. */
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
	if ((double)b->n_waits > MAJORITY * n)
		return TALLY_DOUBT_WAITS;
	double between =
		(double)(b->idle.moments.n - b->low.moments.n - b->rests.moments.n) / n;
	return between > MAJORITY ? TALLY_DOUBT_BUSY : TALLY_DOUBT_MIXED;
}

struct tally_bound_verdict
tally_bound_decide(struct tally_bound_input *b)
{
	struct tally_bound_verdict v = { 0 };
	uint64_t n = b->all.moments.n;
	v.share[TALLY_BOUND_UNKNOWN] = 1;
	v.has_busy = b->cpu_sum > 0;
	v.busy = v.has_busy ? b->gpu_sum / b->cpu_sum : 0;
	v.waits = v.has_busy ? b->wait_sum / b->cpu_sum : 0;
	v.has_thread = b->thread_of > 0;
	v.thread = v.has_thread ? b->thread_sum / b->thread_of : 0;
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

const char *
tally_bound_name(enum tally_bound by)
{
	static const char *const names[] = {
		[TALLY_BOUND_UNKNOWN] = "unknown",
		[TALLY_BOUND_GPU] = "gpu",
		[TALLY_BOUND_CPU] = "cpu",
		[TALLY_BOUND_CAP] = "cap",
		[TALLY_BOUND_WAIT] = "wait",
	};
	return names[by];
}

static char *
doubt_text(const struct tally_bound_verdict *v, uint64_t frames)
{
	switch (v->doubt) {
	case TALLY_DOUBT_FEW_FRAMES:
		return g_strdup_printf("bound by: cannot tell from %" G_GUINT64_FORMAT " frame%s",
				       frames, frames == 1 ? "" : "s");
	case TALLY_DOUBT_NO_GPU_TIMES:
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
		return g_strdup_printf("bound by: cannot tell, the CPU works or waits within "
				       "passes %.0f %% of the time",
				       100 * v->waits);
	case TALLY_DOUBT_BUSY:
		return g_strdup_printf("bound by: cannot tell, the GPU works %.0f %% of the "
				       "frame time",
				       100 * v->busy);
	default:
		return g_strdup_printf("bound by no one thing: GPU %.0f %%, CPU %.0f %%, cap "
				       "%.0f %%, wait %.0f %%, unclear %.0f %%",
				       100 * v->share[TALLY_BOUND_GPU],
				       100 * v->share[TALLY_BOUND_CPU],
				       100 * v->share[TALLY_BOUND_CAP],
				       100 * v->share[TALLY_BOUND_WAIT],
				       100 * v->share[TALLY_BOUND_UNKNOWN]);
	}
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
		return g_strdup_printf("bound by a wait (vsync, limiter, lock, busy machine) in "
				       "%.0f %%: CPU %.0f %%, GPU %.0f %%",
				       share, 100 * v->thread, 100 * v->busy);
	case TALLY_BOUND_CPU:
		if (v->has_thread)
			return g_strdup_printf("bound by the CPU in %.0f %% of frames (it works "
					       "%.0f %%, the GPU %.0f %% of the time)",
					       share, 100 * v->thread, 100 * v->busy);
		return g_strdup_printf("bound by the CPU in %.0f %% of frames (the GPU works "
				       "%.0f %% of the time)",
				       share, 100 * v->busy);
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

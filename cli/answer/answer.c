/* SPDX-License-Identifier: MIT */
#include "cli/answer/answer.h"
#include "cli/shared/each.h"

#include <string.h>

/* The thresholds of docs/verdicts.md. */
#define GROWTH_OF_PASS 0.33 /* of what the frame lost: then the pass explains it */
#define GROWTH_OF_GPU 0.50 /* the GPU as a whole explains it, but no single pass */
#define CPU_WORKED 0.33 /* of what the frame lost: its thread worked this much longer */
#define CPU_WAITED 0.20 /* the thread worked no longer: it waited */
#define EXTRA_SHARE 0.01 /* of the GPU time: mentioned although not in the typical frame */
#define START_FRAMES 10 /* at least this many frames are the start */
#define ONCE_NS 1e5
#define ONCE_FACTOR 10

struct tally_answer_state {
	struct tally_bound_input bound;
	struct tally_hitches hitches;
	struct tally_parts parts;
	struct tally_stats gpu, overhead;
	uint64_t seen; /* frames, with those left out */
	double start_overhead; /* of the frames of the start */
	uint64_t n_start;
};

static void
free_device(gpointer p)
{
	struct tally_answer_device *d = p;
	struct tally_answer_state *s = d->state;
	tally_bound_finish(&s->bound);
	tally_hitches_finish(&s->hitches);
	tally_parts_finish(&s->parts);
	tally_stats_finish(&s->gpu);
	tally_stats_finish(&s->overhead);
	g_free(s);
	g_free(d->passes);
	g_free(d);
}

static void
take_frame(void *user, const struct tally_frame_record *f, const GPtrArray *groups)
{
	(void)groups;
	tally_answer_add_frame(user, f);
}

struct tally_answer *
tally_answer_create(const struct tally_aggregate *log)
{
	struct tally_answer *answer = g_new0(struct tally_answer, 1);
	answer->log = log;
	answer->watch = (struct tally_aggregate_watch){
		.user = answer,
		.frame = take_frame,
		.skipped = tally_answer_skip_frame,
	};
	answer->devices = g_ptr_array_new_with_free_func(free_device);
	return answer;
}

void
tally_answer_destroy(struct tally_answer *answer)
{
	if (!answer)
		return;
	g_ptr_array_unref(answer->devices);
	g_free(answer);
}

const struct tally_aggregate_watch *
tally_answer_watch(struct tally_answer *answer)
{
	return &answer->watch;
}

static struct tally_answer_device *
find_device(const struct tally_answer *answer, uint32_t number)
{
	TALLY_EACH (struct tally_answer_device, d, answer->devices)
		if (d->device == number)
			return d;
	return NULL;
}

static struct tally_answer_device *
need_device(struct tally_answer *answer, uint32_t number)
{
	struct tally_answer_device *d = find_device(answer, number);
	if (d)
		return d;
	d = g_new0(struct tally_answer_device, 1);
	d->device = number;
	d->state = g_new0(struct tally_answer_state, 1);
	tally_bound_init(&d->state->bound);
	tally_hitches_init(&d->state->hitches);
	tally_parts_init(&d->state->parts);
	tally_stats_init(&d->state->gpu, TALLY_STATS_KEEP_PASS);
	tally_stats_init(&d->state->overhead, TALLY_STATS_KEEP_PASS);
	g_ptr_array_add(answer->devices, d);
	return d;
}

/* The frames of the start: those left out, and in any case the first few. */
static void
add_start(struct tally_answer_state *s, const struct tally_frame_record *f, bool skipped)
{
	if (s->seen++ >= START_FRAMES && !skipped)
		return;
	s->start_overhead += (double)f->overhead_ns;
	s->n_start++;
}

void
tally_answer_skip_frame(void *answer, const struct tally_frame_record *f)
{
	struct tally_answer_device *d = need_device(answer, f->device);
	d->skipped++;
	d->skipped_ns += f->cpu_ns;
	add_start(d->state, f, true);
}

static bool
is_opengl(const struct tally_answer *answer, uint32_t device)
{
	const struct tally_device_summary *s = tally_aggregate_device(answer->log, device);
	return s && s->described && s->api != TALLY_API_VULKAN;
}

void
tally_answer_add_frame(struct tally_answer *answer, const struct tally_frame_record *f)
{
	if (f->flags & TALLY_FLAG(PARTIAL))
		return;
	struct tally_answer_device *d = need_device(answer, f->device);
	struct tally_answer_state *s = d->state;
	add_start(s, f, false);
	d->frames++;
	struct tally_hitch_frame *h = tally_hitches_next(&s->hitches);
	uint64_t unsure_ns;
	bool timed = tally_parts_add(&s->parts, answer->log, f, h->parts, &unsure_ns) && f->has_gpu;
	h->frame = f->frame;
	h->start_ns = f->start_ns;
	h->frame_ns = f->cpu_ns;
	h->timed = timed;
	h->has_thread = f->has_thread;
	h->thread_ns = f->has_thread ? f->thread_ns : 0;
	tally_hitches_add(&s->hitches);
	const struct tally_bound_frame b = {
		.frame_ns = f->cpu_ns,
		.timed = timed,
		.gpu_ns = f->has_gpu ? f->gpu_ns : 0,
		.unsure_ns = is_opengl(answer, f->device) ? unsure_ns : 0,
		.has_thread = f->has_thread,
		.thread_ns = f->thread_ns,
		.wait_ns = f->has_wait ? f->wait_ns : 0,
	};
	tally_bound_add(&s->bound, &b);
	if (f->has_gpu)
		tally_stats_add_u64(&s->gpu, f->gpu_ns);
	tally_stats_add_u64(&s->overhead, f->overhead_ns);
}

static double
median_of(struct tally_stats *s)
{
	return s->moments.n ? tally_value_f64(tally_stats_quantile(s, 0.5)) : 0;
}

/* The frame rate of the slowest frames: the fraction `q` of all, at least one. */
static double
low_fps(struct tally_stats *s, uint64_t q)
{
	double ns = tally_stats_mean_of_largest(s, (s->moments.n + q - 1) / q);
	return ns > 0 ? 1e9 / ns : 0;
}

static void
conclude_speed(struct tally_answer_device *d)
{
	struct tally_stats *all = &d->state->bound.all;
	double total = tally_moments_total(&all->moments);
	d->seconds = total / 1e9;
	d->fps = total > 0 ? (double)d->frames / d->seconds : 0;
	d->median_ns = median_of(all);
	d->p99_ns = tally_value_f64(tally_stats_quantile(all, 0.99));
	d->low_1_fps = low_fps(all, 100);
	d->low_01_fps = low_fps(all, 1000);
	d->cost_ns = median_of(&d->state->overhead);
	d->cost_share = d->median_ns > 0 ? d->cost_ns / d->median_ns : 0;
	double once = d->state->start_overhead - d->cost_ns * (double)d->state->n_start;
	d->once_ns = once >= MAX(ONCE_NS, ONCE_FACTOR * d->cost_ns) ? once : 0;
}

static bool
is_typical(const struct tally_answer_device *d, const struct tally_part *part)
{
	return 2 * part->frames >= d->frames;
}

/* The most expensive pass that is not in the typical frame, if it is expensive enough to
 * mention. */
static void
conclude_extra(struct tally_answer_device *d)
{
	double all = d->state->gpu.moments.n ? tally_moments_total(&d->state->gpu.moments) : 0;
	double most = EXTRA_SHARE * all;
	const GPtrArray *parts = d->state->parts.all[TALLY_PART_FINE];
	TALLY_EACH (const struct tally_part, part, parts) {
		if (is_typical(d, part) || part->gpu.moments.n == 0)
			continue;
		double total = tally_moments_total(&part->gpu.moments);
		if (total < most || total <= 0)
			continue;
		most = total;
		d->extra = (struct tally_answer_extra){
			.name = part->name,
			.mean_ns = total / (double)part->gpu.moments.n,
			.frames = part->gpu.moments.n,
			.share = total / all,
		};
	}
}

static void
conclude_passes(struct tally_answer_device *d)
{
	g_autoptr(GPtrArray) typical = tally_parts_typical(&d->state->parts, d->frames);
	d->n_passes = typical->len;
	d->passes = g_new0(struct tally_answer_pass, typical->len + 1);
	for (guint i = 0; i < typical->len; i++) {
		struct tally_part *part = g_ptr_array_index(typical, i);
		d->passes[i].name = part->name;
		d->passes[i].ns = (double)tally_part_median(part);
		d->passes[i].frames = part->frames;
		d->typical_ns += d->passes[i].ns;
	}
	for (guint i = 0; i < d->n_passes && d->typical_ns > 0; i++)
		d->passes[i].share = d->passes[i].ns / d->typical_ns;
	conclude_extra(d);
}

static void
find_cause(struct tally_answer_device *d, const struct tally_hitch *h, bool opengl,
	   struct tally_answer_hitch *out)
{
	const struct tally_part *grew = NULL;
	double most = 0, sum = 0;
	guint n_first = 0;
	const char *first = NULL;
	TALLY_EACH_OF (const struct tally_hitch_part, p, h->parts) {
		struct tally_part *part = p->what;
		double usual = is_typical(d, part) ? (double)tally_part_median(part) : 0;
		double growth = (double)p->ns - usual;
		sum += MAX(growth, 0);
		if (growth > most) {
			most = growth;
			grew = part;
			out->or_wait = opengl && p->may_wait;
		}
		n_first += p->first;
		first = p->first && !first ? part->name : first;
	}
	if (first && n_first < h->parts->len)
		out->first = first;
	double lost = (double)h->excess_ns;
	if (grew && most >= GROWTH_OF_PASS * lost) {
		out->cause = TALLY_CAUSE_PASS;
		out->pass = grew->name;
		out->growth_ns = (uint64_t)most;
		return;
	}
	out->or_wait = false;
	if (sum >= GROWTH_OF_GPU * lost) {
		out->cause = TALLY_CAUSE_GPU;
		out->growth_ns = (uint64_t)sum;
	} else {
		out->cause = h->timed ? TALLY_CAUSE_NOT_GPU : TALLY_CAUSE_UNKNOWN;
	}
}

static enum tally_answer_cpu
cpu_in(const struct tally_hitch *h)
{
	double worked = (double)h->thread_growth_ns, lost = (double)h->excess_ns;
	if (h->has_thread && worked >= CPU_WORKED * lost)
		return TALLY_CPU_WORKED;
	return h->has_thread && worked <= CPU_WAITED * lost ? TALLY_CPU_WAITED : TALLY_CPU_UNKNOWN;
}

static void
conclude_hitches(struct tally_answer_device *d, bool opengl)
{
	struct tally_hitches *h = &d->state->hitches;
	tally_hitches_conclude(h);
	d->n_hitches = h->count;
	d->hitch_ns = h->excess_ns;
	d->n_listed = h->n_worst;
	for (unsigned i = 0; i < h->n_worst; i++) {
		d->hitches[i] = (struct tally_answer_hitch){
			.frame = h->worst[i].frame,
			.start_ns = h->worst[i].start_ns,
			.frame_ns = h->worst[i].frame_ns,
			.excess_ns = h->worst[i].excess_ns,
			.cpu = cpu_in(&h->worst[i]),
		};
		find_cause(d, &h->worst[i], opengl, &d->hitches[i]);
	}
}

static bool
has_pass(const struct tally_answer *answer, uint32_t device)
{
	TALLY_EACH (const struct tally_group, g, answer->log->groups) {
		bool pass = answer->log->by == TALLY_BY_FRAME ? g->only_name : !g->outside;
		if (g->device == device && pass)
			return true;
	}
	return false;
}

void
tally_answer_conclude(struct tally_answer *answer)
{
	TALLY_EACH (struct tally_answer_device, d, answer->devices) {
		if (d->frames == 0)
			continue;
		conclude_speed(d);
		d->bound = tally_bound_decide(&d->state->bound);
		if (d->bound.doubt == TALLY_DOUBT_NO_GPU_TIMES && !has_pass(answer, d->device))
			d->bound.doubt = TALLY_DOUBT_NO_PASS;
		conclude_passes(d);
		conclude_hitches(d, is_opengl(answer, d->device));
	}
}

const struct tally_answer_device *
tally_answer_find(const struct tally_answer *answer, uint32_t device)
{
	const struct tally_answer_device *d = find_device(answer, device);
	return d && d->frames ? d : NULL;
}

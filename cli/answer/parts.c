/* SPDX-License-Identifier: MIT */
#include "cli/answer/parts.h"

#include "cli/log/pass_name.h"
#include "cli/shared/each.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Distinct times kept of a part: enough for a median within 0.1 %. */
#define KEEP 1024
/* If one part of the top level has more than this share of the typical frame, the fine level is
 * used. */
#define NEARLY_ALL 0.8

/* Flags of a pass whose own part of a time that passes share may be missing from it. */
#define UNTIMED \
	(TALLY_FLAG(LOST) | TALLY_FLAG(INCOMPLETE) | TALLY_FLAG(DROPPED) | \
	 TALLY_FLAG(DISJOINT) | TALLY_FLAG(NO_TIMESTAMPS) | TALLY_FLAG(BAD_TIME))

struct part_of_pass {
	uint64_t id;
	uint32_t width, height; /* of its target; 0: not known */
	struct tally_part *level[TALLY_N_PART_LEVELS];
};

static void
free_part(gpointer p)
{
	struct tally_part *part = p;
	tally_stats_finish(&part->gpu);
	tally_course_finish(&part->time);
	tally_course_finish(&part->unsure);
	for (unsigned i = 0; i < TALLY_N_WORK; i++)
		tally_course_finish(&part->work[i]);
	tally_beats_finish(&part->beats);
	g_free(part->name);
	g_free(part);
}

void
tally_parts_init(struct tally_parts *p)
{
	*p = (struct tally_parts){ 0 };
	for (int i = 0; i < TALLY_N_PART_LEVELS; i++) {
		p->by_name[i] = g_hash_table_new(g_str_hash, g_str_equal);
		p->all[i] = g_ptr_array_new();
	}
	p->owned = g_ptr_array_new_with_free_func(free_part);
	p->by_id = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	p->skipped = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	p->touched = g_ptr_array_new();
}

void
tally_parts_finish(struct tally_parts *p)
{
	for (int i = 0; i < TALLY_N_PART_LEVELS; i++) {
		g_hash_table_destroy(p->by_name[i]);
		g_ptr_array_unref(p->all[i]);
	}
	g_hash_table_destroy(p->by_id);
	g_hash_table_destroy(p->skipped);
	g_ptr_array_unref(p->owned);
	g_ptr_array_unref(p->touched);
	*p = (struct tally_parts){ 0 };
}

/* Takes `name`. */
static struct tally_part *
new_part(struct tally_parts *p, char *name)
{
	struct tally_part *part = g_new0(struct tally_part, 1);
	part->name = name;
	part->time.room = part->unsure.room = TALLY_PART_ROOM;
	for (unsigned i = 0; i < TALLY_N_WORK; i++)
		part->work[i].room = TALLY_PART_ROOM;
	tally_beats_init(&part->beats);
	tally_stats_init(&part->gpu, KEEP);
	g_ptr_array_add(p->owned, part);
	return part;
}

/* The first one or two components of a label. */
static char *
label_start(const char *label, enum tally_part_level level)
{
	size_t len = tally_label_part(label);
	if (level == TALLY_PART_FINE && label[len])
		len += 1 + tally_label_part(label + len + 1);
	return g_strndup(label, len);
}

static struct tally_part *
labelled_part(struct tally_parts *p, enum tally_part_level level, const char *label)
{
	g_autofree char *name = label_start(label, level);
	struct tally_part *part = g_hash_table_lookup(p->by_name[level], name);
	if (part)
		return part;
	part = new_part(p, g_steal_pointer(&name));
	part->fine = level == TALLY_PART_FINE;
	g_hash_table_insert(p->by_name[level], part->name, part);
	g_ptr_array_add(p->all[level], part);
	return part;
}

static void
add_to_levels(struct tally_parts *p, struct tally_part *part)
{
	part->fine = true;
	for (int i = 0; i < TALLY_N_PART_LEVELS; i++)
		g_ptr_array_add(p->all[i], part);
}

static struct part_of_pass *
find_pass(struct tally_parts *p, const struct tally_aggregate *log, uint32_t device,
	  uint64_t id)
{
	struct part_of_pass *of = g_hash_table_lookup(p->by_id, &id);
	if (of)
		return of;
	of = g_new0(struct part_of_pass, 1);
	of->id = id;
	const struct tally_group *g = tally_aggregate_find_pass(log, device, id);
	const struct tally_pass_row *row = g ? tally_as_pass(g) : NULL;
	of->width = row ? row->size.width : 0;
	of->height = row ? row->size.height : 0;
	if (g && g->label && !g->given) {
		for (int i = 0; i < TALLY_N_PART_LEVELS; i++)
			of->level[i] = labelled_part(p, (enum tally_part_level)i,
						     g->label);
	} else {
		of->level[0] = new_part(p, g_strdup(g ? g->name : "?"));
		of->level[1] = of->level[0];
		add_to_levels(p, of->level[0]);
	}
	of->level[TALLY_PART_FINE]->skipped |= g_hash_table_contains(p->skipped, &id);
	g_hash_table_insert(p->by_id, &of->id, of);
	return of;
}

const char *
tally_parts_at(struct tally_parts *p, const struct tally_aggregate *log,
	       const struct tally_frame_record *f, uint64_t ns)
{
	const struct tally_pass_record *at = NULL;
	for (uint32_t i = 0; i < f->n_passes; i++) {
		const struct tally_pass_record *r = &f->passes[i];
		if (r->has_cpu_start && r->cpu_start_ns <= ns &&
		    (!at || r->cpu_start_ns >= at->cpu_start_ns))
			at = r;
	}
	return at ? find_pass(p, log, f->device, at->id)->level[TALLY_PART_FINE]->name : NULL;
}

/* When the program made the call that ends the frame. */
static uint64_t
frame_issued(const struct tally_frame_record *f)
{
	return f->start_ns + f->cpu_ns - (f->has_wait ? f->wait_ns : 0);
}

/* The part of a pass's GPU time before the CPU began the next pass or, after the last one, the
 * call that ends the frame. In OpenGL the end of a pass is known only then, so the GPU may have
 * finished it long before. */
static uint64_t
unsure_of(const struct tally_frame_record *f, uint32_t index)
{
	const struct tally_pass_record *r = &f->passes[index];
	bool last = index + 1 == f->n_passes;
	if (!r->has_gpu || !r->has_gpu_start || (!last && !r[1].has_cpu_start))
		return 0;
	if (r->flags & TALLY_FLAG(UNCALIBRATED))
		return r->gpu_ns;
	uint64_t end = MIN(r->gpu_start_ns + r->gpu_ns,
			   last ? frame_issued(f) : r[1].cpu_start_ns);
	return end > r->gpu_start_ns ? end - r->gpu_start_ns : 0;
}

/* From when the CPU began the pass to when it began the next one, or ended the frame. */
static uint64_t
span_of(const struct tally_frame_record *f, uint32_t index)
{
	const struct tally_pass_record *r = &f->passes[index];
	bool last = index + 1 == f->n_passes;
	if (!r->has_cpu_start || (!last && !r[1].has_cpu_start))
		return 0;
	uint64_t end_ns = last ? frame_issued(f) : r[1].cpu_start_ns;
	return end_ns - MIN(r->cpu_start_ns, end_ns);
}

/* The GPU began it when the frame was over: that was not late by it. */
static bool
is_after(const struct tally_frame_record *f, const struct tally_pass_record *r)
{
	return r->has_gpu && tally_pass_is_placed(r) &&
	       r->gpu_start_ns >= f->start_ns + f->cpu_ns;
}

/* Passes that were drawn together have one time, and it is outside passes. */
static bool
is_timed_together(const struct tally_frame_record *f, const struct tally_pass_record *r)
{
	return (r->flags & (UNTIMED | TALLY_FLAG(SHARED_TIME))) ==
		       TALLY_FLAG(SHARED_TIME) &&
	       f->has_unattributed_gpu;
}

/* The part of that time in which the CPU may have issued them, `r` being the first. */
static uint64_t
unsure_together(const struct tally_frame_record *f, const struct tally_pass_record *r)
{
	uint64_t issued = frame_issued(f);
	if (!r->has_cpu_start)
		return f->unattributed_gpu_ns;
	return MIN(f->unattributed_gpu_ns, issued - MIN(issued, r->cpu_start_ns));
}

/* Its other work where neither it nor its part draws. */
static uint64_t
draws_of(const struct tally_pass_record *r, const struct tally_part *part)
{
	const struct tally_call_counts *n = &r->call_counts;
	bool draws = n->draws || (part && part->sums.draws);
	return draws ? n->draws : n->dispatches + n->copies + n->clears;
}

const char *
tally_part_draws(const struct tally_part *part)
{
	if (!part)
		return "draws";
	const struct tally_call_counts *n = &part->sums;
	uint64_t others = n->dispatches + n->copies + n->clears;
	if (n->draws || !others)
		return "draws";
	return others == n->dispatches ? "dispatches" : others == n->copies ? "copies" : "calls";
}

/* 0: not counted. */
static uint64_t
pixels_of(const struct tally_pass_record *r)
{
	for (uint32_t i = 0; i < r->n_counters; i++)
		if (strcmp(r->counters[i].key, "fragment_shader_invocations") == 0)
			return r->counters[i].value.u64;
	return 0;
}

static void
add_time(struct tally_parts *p, struct tally_part *part, uint32_t index, bool timed,
	 uint64_t ns, uint64_t draws)
{
	if (!part->touched) {
		part->touched = true;
		part->timed = true;
		part->within = false;
		part->ns = part->unsure_ns = part->span_ns = 0;
		memset(part->work_now, 0, sizeof(part->work_now));
		part->work_now[TALLY_WORK_PLACE] = index + 1;
		part->index_sum += index;
		part->frames++;
		g_ptr_array_add(p->touched, part);
	}
	part->timed &= timed;
	part->ns += timed ? ns : 0;
	part->work_now[TALLY_WORK_DRAWS] += draws;
}

static void
add_pass(struct tally_parts *p, struct tally_part *part, const struct part_of_pass *of,
	 const struct tally_pass_record *r, uint64_t unsure_ns)
{
	add_time(p, part, r->index, r->has_gpu, r->gpu_ns, draws_of(r, part));
	part->unsure_ns += unsure_ns;
	const uint64_t pixels = pixels_of(r);
	part->work_now[TALLY_WORK_FRAGMENTS] += pixels;
	part->work_now[TALLY_WORK_VERTICES] += r->call_counts.vertices;
	uint64_t *width = &part->work_now[TALLY_WORK_WIDTH];
	uint64_t *height = &part->work_now[TALLY_WORK_HEIGHT];
	if ((uint64_t)of->width * of->height > *width * *height) {
		*width = of->width;
		*height = of->height;
	}
	if (part->fine) {
		p->work[TALLY_WORK_DRAWS] += draws_of(r, NULL);
		p->work[TALLY_WORK_VERTICES] += r->call_counts.vertices;
		p->work[TALLY_WORK_FRAGMENTS] += pixels;
	}
	tally_call_counts_add(&part->sums, &r->call_counts);
	part->vertices_unknown |= (r->unknown & TALLY_UNKNOWN_VERTICES) != 0;
	part->listed |= r->n_workloads > 0;
}

/* Returns how much of it may be the CPU's. `together` is the first pass that was drawn together
 * with others, or NULL; `draws` is theirs. */
static uint64_t
add_outside(struct tally_parts *p, const struct tally_frame_record *f,
	    const struct tally_pass_record *together, uint64_t draws)
{
	struct tally_part **part = together ? &p->together : &p->outside;
	if (!*part) {
		*part = new_part(p, g_strdup(together ? TALLY_DRAWN_TOGETHER
						      : TALLY_OUTSIDE_PASSES));
		add_to_levels(p, *part);
	}
	add_time(p, *part, f->n_passes, true, f->unattributed_gpu_ns, draws);
	(*part)->within = true;
	(*part)->unsure_ns = together ? unsure_together(f, together) : 0;
	return (*part)->unsure_ns;
}

struct tally_alternating
tally_parts_alternating(const struct tally_parts *p, double least_ns)
{
	struct tally_alternating found = { 0 };
	TALLY_EACH (const struct tally_part, part, p->all[TALLY_PART_FINE]) {
		struct tally_alternating a = { .what = part->name, .is_pass = true };
		if (tally_beats_find(&part->beats, p->n, p->last, least_ns, &a))
			found = a.ns > found.ns ? a : found;
	}
	return found;
}

/* Keeps since when it has about the work that it has. */
static void
follow_work(const struct tally_parts *p, struct tally_part *part, uint64_t frame)
{
	bool other = false;
	for (int i = 0; i < TALLY_WORK_PLACE; i++)
		other |= i != TALLY_WORK_FRAGMENTS &&
			 !tally_parts_are_as_many((double)part->since_work[i],
						  (double)part->work_now[i]);
	if (!other)
		return;
	part->since = frame;
	part->since_at = p->n;
	memcpy(part->since_work, part->work_now, sizeof(part->since_work));
}

/* Adds what it was in a frame to its courses. */
static void
end_frame(const struct tally_parts *p, struct tally_part *part, uint64_t frame)
{
	for (int i = 0; i < TALLY_N_WORK; i++)
		if (i == TALLY_WORK_DRAWS || part->work_now[i])
			tally_course_add(&part->work[i], p->n, (double)part->work_now[i]);
	if (part->timed) {
		tally_stats_add_u64(&part->gpu, part->ns);
		tally_course_add(&part->time, p->n, (double)part->ns);
		tally_course_add(&part->unsure, p->n, (double)part->unsure_ns);
		/* In OpenGL the CPU may have waited or worked before it began the next pass. */
		bool sure = !p->opengl || part->unsure_ns >= part->ns;
		tally_beats_add(&part->beats, frame, part->ns,
				sure ? part->ns : part->ns - part->unsure_ns);
	}
	follow_work(p, part, frame);
	part->first = part->frames == 1 ? frame : part->first;
	part->last = frame;
	part->touched = false;
}

bool
tally_parts_add(struct tally_parts *p, const struct tally_aggregate *log,
		const struct tally_frame_record *f, GArray *out, uint64_t *unsure_ns)
{
	bool all_timed = f->dropped_passes == 0;
	const struct part_of_pass *of = NULL;
	const struct tally_pass_record *together = NULL;
	uint64_t draws = 0;
	*unsure_ns = 0;
	memset(p->work, 0, sizeof(p->work));
	for (uint32_t i = 0; i < f->n_passes; i++) {
		const struct tally_pass_record *r = &f->passes[i];
		of = find_pass(p, log, f->device, r->id);
		bool shared = !r->has_gpu && is_timed_together(f, r);
		together = shared && !together ? r : together;
		draws += shared ? draws_of(r, NULL) : 0;
		all_timed &= r->has_gpu || shared;
		uint64_t unsure = unsure_of(f, i);
		*unsure_ns += unsure;
		add_pass(p, of->level[TALLY_PART_FINE], of, r, unsure);
		of->level[TALLY_PART_FINE]->within |= !is_after(f, r);
		of->level[TALLY_PART_FINE]->shared |= shared;
		of->level[TALLY_PART_FINE]->span_ns += p->opengl ? span_of(f, i) : 0;
		if (of->level[TALLY_PART_TOP] != of->level[TALLY_PART_FINE])
			add_pass(p, of->level[TALLY_PART_TOP], of, r, unsure);
	}
	if (f->has_unattributed_gpu && f->unattributed_gpu_ns)
		*unsure_ns += add_outside(p, f, together, draws);
	/* The same for the last pass, where it is not known when the CPU had issued it. */
	const struct tally_part *last = f->n_passes && !f->has_wait
						? of->level[TALLY_PART_FINE]
						: NULL;
	TALLY_EACH (struct tally_part, part, p->touched) {
		const struct tally_hitch_part share = {
			.what = part,
			.name = part->name,
			.ns = part->ns,
			.cpu_ns = part->span_ns,
			.draws = part->work_now[TALLY_WORK_DRAWS],
			.no_draws = strcmp(tally_part_draws(part), "draws") != 0,
			.first = part->frames == 1 && !part->skipped,
			.after = !part->within,
			.may_wait = part == last || part->unsure_ns > part->ns / 2
		};
		if (part->fine)
			g_array_append_val(out, share);
		end_frame(p, part, f->frame);
	}
	g_ptr_array_set_size(p->touched, 0);
	p->n++;
	p->last = f->frame;
	return all_timed;
}

void
tally_parts_skip(struct tally_parts *p, const struct tally_frame_record *f)
{
	for (uint32_t i = 0; i < f->n_passes; i++)
		g_hash_table_add(p->skipped, g_memdup2(&f->passes[i].id, sizeof(uint64_t)));
}

static uint64_t
frames_in(const struct tally_part *part, struct tally_range range)
{
	return range.whole ? part->frames
			   : tally_course_count(&part->work[TALLY_WORK_DRAWS], range.from,
						range.to);
}

uint64_t
tally_part_median(struct tally_part *part, struct tally_range range)
{
	if (part->gpu.moments.n == 0)
		return 0;
	if (!range.whole && 2 * frames_in(part, range) < range.to - range.from)
		return 0;
	double ns = range.whole ? tally_value_f64(tally_stats_quantile(&part->gpu, 0.5))
				: tally_course_median(&part->time, range.from, range.to);
	return isnan(ns) ? 0 : (uint64_t)ns;
}

static uint64_t
timed_in(const struct tally_part *part, struct tally_range range)
{
	return range.whole ? part->gpu.moments.n
			   : tally_course_count(&part->time, range.from, range.to);
}

static int
compare_order(gconstpointer a, gconstpointer b)
{
	const struct tally_part *x = *(struct tally_part *const *)a;
	const struct tally_part *y = *(struct tally_part *const *)b;
	double at_x = x->index_sum / (double)x->frames,
	       at_y = y->index_sum / (double)y->frames;
	return at_x < at_y ? -1 : at_x > at_y ? 1 : strcmp(x->name, y->name);
}

static GPtrArray *
typical_of_level(struct tally_parts *p, enum tally_part_level level,
		 struct tally_range range, uint64_t frames)
{
	GPtrArray *typical = g_ptr_array_new();
	uint64_t most = 1;
	TALLY_EACH (struct tally_part, part, p->all[level])
		most = MAX(most, timed_in(part, range));
	TALLY_EACH (struct tally_part, part, p->all[level])
		if (2 * frames_in(part, range) >= frames &&
		    2 * timed_in(part, range) >= most)
			g_ptr_array_add(typical, part);
	g_ptr_array_sort(typical, compare_order);
	return typical;
}

/* Its time in all frames of the range that have it, as if in each it were timed. */
static double
time_in(const struct tally_part *part, struct tally_range range)
{
	uint64_t timed = timed_in(part, range);
	double ns = range.whole ? tally_moments_total(&part->gpu.moments)
				: tally_course_sum(&part->time, range.from, range.to);
	return timed ? ns / (double)timed * (double)frames_in(part, range) : 0;
}

/* Passes over "400x300" at the start of a word. */
static const char *
after_size(const char *word)
{
	unsigned width, height;
	int n = 0;
	return sscanf(word, "%5ux%5u%n", &width, &height, &n) == 2 ? word + n : word;
}

bool
tally_parts_differ_in_size(const char *a, const char *b)
{
	while (*a && *a == *b) {
		bool word = *a == ' ';
		a = word ? after_size(a + 1) : a + 1;
		b = word ? after_size(b + 1) : b + 1;
	}
	return *a == *b;
}

bool
tally_parts_are_as_many(double a, double b)
{
	return fabs(a - b) <= MAX(a, b) / 4;
}

/* Of the parts that fewer than half of the frames have, on average. */
static double
seldom_of_level(struct tally_parts *p, enum tally_part_level level, struct tally_range range,
		uint64_t frames)
{
	double ns = 0;
	TALLY_EACH (const struct tally_part, part, p->all[level])
		if (2 * frames_in(part, range) < frames)
			ns += time_in(part, range) / (double)frames;
	return ns;
}

const struct tally_part *
tally_parts_largest_shared(const struct tally_parts *p, struct tally_range range,
			   unsigned *others)
{
	const struct tally_part *largest = NULL;
	double most = -1;
	unsigned n = 0;
	TALLY_EACH (const struct tally_part, part, p->all[TALLY_PART_FINE]) {
		if (!part->shared || 2 * frames_in(part, range) < range.to - range.from)
			continue;
		const struct tally_course *work = part->work;
		double width = tally_course_median(&work[TALLY_WORK_WIDTH], range.from, range.to);
		double height = tally_course_median(&work[TALLY_WORK_HEIGHT], range.from, range.to);
		double area = isnan(width * height) ? 0 : width * height;
		largest = area > most ? part : largest;
		most = MAX(most, area);
		n++;
	}
	*others = n ? n - 1 : 0;
	return largest;
}

GPtrArray *
tally_parts_typical(struct tally_parts *p, struct tally_range range, uint64_t frames,
		    double *seldom_ns)
{
	g_autoptr(GPtrArray) top = typical_of_level(p, TALLY_PART_TOP, range, frames);
	double all = 0, most = 0;
	for (guint i = 0; i < top->len; i++) {
		double ns = (double)tally_part_median(g_ptr_array_index(top, i), range);
		all += ns;
		most = MAX(most, ns);
	}
	*seldom_ns = seldom_of_level(p, TALLY_PART_TOP, range, frames);
	if (top->len && most <= NEARLY_ALL * all)
		return g_steal_pointer(&top);
	g_autoptr(GPtrArray) fine = typical_of_level(p, TALLY_PART_FINE, range, frames);
	if (fine->len <= top->len)
		return g_steal_pointer(&top);
	*seldom_ns = seldom_of_level(p, TALLY_PART_FINE, range, frames);
	return g_steal_pointer(&fine);
}

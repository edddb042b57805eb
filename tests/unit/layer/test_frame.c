/* SPDX-License-Identifier: MIT */
#include "layer/frame/frame.h"

#include "layer/frame/interval.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define S(n) ((uint64_t)(n)*UINT64_C(1000000000))

/* A frame is built from these, without streams of real threads. */
struct world {
	struct tally_frame_builder *builder;
	struct tally_numbers *seen;
	struct tally_stream streams[2];
	struct tally_frame_part parts[4];
	struct tally_chunk chunks[4][2];
	struct tally_value values[4][128][2];
	uint64_t valid[4][128];
	unsigned n_parts;
	GArray *infos, *pipelines;
	int64_t window; /* that is presented, plus 1 */
};

static const struct tally_counter counter_a = {
	.key = "a", .name = "A", .unit = "1", .source = "fake", .storage = TALLY_STORAGE_U64
};
static const struct tally_counter counter_b = {
	.key = "b", .name = "B", .unit = "1", .source = "fake", .storage = TALLY_STORAGE_F64
};
static const struct tally_counter *two_counters[] = { &counter_a, &counter_b };

static const struct tally_target window = {
	.width = 100,
	.height = 100,
	.layers = 1,
	.samples = 1,
	.n_color = 1,
	.color = { { "RGBA8", 1, 1 } },
	.presented = true,
};
static const struct tally_target shadow = {
	.width = 512,
	.height = 512,
	.layers = 1,
	.samples = 1,
	.depth = { "DEPTH16", 1, 1 },
};

static void
keep_info(void *data, const struct tally_pass_info_record *info)
{
	struct world *w = data;
	g_array_append_val(w->infos, *info);
}

static void
keep_pipeline(void *data, const struct tally_pipeline_record *pipeline)
{
	struct world *w = data;
	g_array_append_val(w->pipelines, *pipeline);
}

static struct world *
world_new(void)
{
	struct world *w = memset(aligned_alloc(_Alignof(struct world), sizeof(*w)), 0, sizeof(*w));
	w->builder = tally_frame_builder_create();
	w->seen = g_new0(struct tally_numbers, 1);
	w->infos = g_array_new(FALSE, FALSE, sizeof(struct tally_pass_info_record));
	w->pipelines = g_array_new(FALSE, FALSE, sizeof(struct tally_pipeline_record));
	for (unsigned i = 0; i < 2; i++) {
		w->streams[i].number = i;
		w->streams[i].info.context = 10 + i;
		w->streams[i].info.queue_family = w->streams[i].info.queue_index = -1;
		w->streams[i].info.n_counters = 2;
		w->streams[i].counters = two_counters;
	}
	return w;
}

static void
world_free(struct world *w)
{
	tally_frame_builder_destroy(w->builder);
	tally_numbers_finish(w->seen);
	g_free(w->seen);
	g_array_free(w->infos, TRUE);
	g_array_free(w->pipelines, TRUE);
	free(w);
}

static struct tally_frame_part *
world_part(struct world *w, unsigned stream, uint64_t frame)
{
	struct tally_frame_part *part = &w->parts[w->n_parts];
	part->stream = &w->streams[stream];
	part->frame = frame;
	part->captured = true;
	part->first = &w->chunks[w->n_parts][0];
	part->first->next = &w->chunks[w->n_parts][1];
	if (w->n_parts)
		w->parts[w->n_parts - 1].next = part;
	w->n_parts++;
	return part;
}

static struct tally_pass *
world_pass(struct world *w, struct tally_frame_part *part, struct tally_pass pass)
{
	unsigned p = (unsigned)(part - w->parts);
	unsigned n = part->n_passes++;
	struct tally_pass *at = &w->chunks[p][n / 64].passes[n % 64];
	*at = pass;
	at->surface = -1;
	at->values = w->values[p][n];
	at->valid = &w->valid[p][n];
	if (!at->target)
		at->target = &window;
	return at;
}

static const struct tally_frame_record *
world_build_with(struct world *w, uint64_t frame, const struct tally_events *events)
{
	struct tally_frame_input input = {
		.device = 3,
		.frame = frame,
		.parts = w->n_parts ? w->parts : NULL,
		.n_parts = w->n_parts,
		.start_ns = S(1),
		.end_ns = S(2),
		.presented = { { 100, 100 }, w->window },
		.seen = w->seen,
		.events = events,
	};
	const struct tally_frame_new is_new = { keep_info, keep_pipeline, w };
	return tally_frame_build(w->builder, &input, &is_new);
}

static const struct tally_frame_record *
world_build(struct world *w, uint64_t frame)
{
	return world_build_with(w, frame, NULL);
}

static uint64_t
id_of(enum tally_pass_kind kind, const char *label, const struct tally_target *t,
      uint32_t ordinal)
{
	struct tally_extent presented = { 100, 100 };
	return tally_pass_id_finish(tally_pass_id_base(kind, label, t, presented), ordinal);
}

static void
test_empty(void)
{
	struct world *w = world_new();
	const struct tally_frame_record *f = world_build(w, 7);
	g_assert_cmpuint(f->frame, ==, 7);
	g_assert_cmpuint(f->device, ==, 3);
	g_assert_cmpuint(f->start_ns, ==, S(1));
	g_assert_cmpuint(f->cpu_ns, ==, S(1));
	g_assert_cmpuint(f->n_passes, ==, 0);
	g_assert_false(f->has_gpu || f->has_coverage || f->has_unattributed_gpu);
	g_assert_cmpuint(f->n_unattributed, ==, 0);
	world_free(w);
}

/* Memory that was only freed is listed; of waits only those that explain something, and their time
 * alone. */
static void
test_events(void)
{
	struct world *w = world_new();
	struct tally_events events = { .any = true };
	events.sums[TALLY_EVENT_SHADER] = (struct tally_event_record){
		.kind = TALLY_EVENT_SHADER, .n = 1, .ns = 5 };
	events.sums[TALLY_EVENT_MEMORY] = (struct tally_event_record){
		.kind = TALLY_EVENT_MEMORY, .live = 7 };
	events.sums[TALLY_EVENT_FENCE] = (struct tally_event_record){
		.kind = TALLY_EVENT_FENCE, .n = 3, .ns = 9999 };
	events.sums[TALLY_EVENT_ACQUIRE] = (struct tally_event_record){
		.kind = TALLY_EVENT_ACQUIRE, .n = 1, .ns = 10000 };
	const struct tally_frame_record *f = world_build_with(w, 7, &events);
	g_assert_cmpuint(f->n_events, ==, 3);
	g_assert_cmpint(f->events[0].kind, ==, TALLY_EVENT_SHADER);
	g_assert_cmpuint(f->events[0].n, ==, 1);
	g_assert_cmpint(f->events[1].kind, ==, TALLY_EVENT_MEMORY);
	g_assert_cmpint(f->events[2].kind, ==, TALLY_EVENT_ACQUIRE);
	g_assert_cmpuint(f->events[2].n, ==, 0);
	g_assert_cmpuint(f->events[2].ns, ==, 10000);
	world_free(w);
}

static void
test_identity(void)
{
	static const char label[] = "L";
	struct world *w = world_new();
	struct tally_frame_part *part = world_part(w, 0, 1);
	static const struct {
		enum tally_pass_kind kind;
		uint64_t key;
		const char *label;
		const struct tally_target *target;
		bool restarts;
		uint32_t ordinal, segment;
	} passes[] = {
		{ TALLY_PASS_RENDER, 1, NULL, &window, false, 0, 0 },
		{ TALLY_PASS_RENDER, 2, NULL, &window, false, 1,
		  0 }, /* other objects, same shape */
		{ TALLY_PASS_RENDER, 1, NULL, &window, false, 0, 1 }, /* resumed */
		{ TALLY_PASS_RENDER, 3, NULL, &shadow, false, 0, 0 },
		{ TALLY_PASS_RENDER, 1, NULL, &window, true, 2, 0 }, /* cleared: new */
		{ TALLY_PASS_RENDER, 1, NULL, &window, false, 2, 1 }, /* resumes the new one */
		{ TALLY_PASS_RENDER, 2, NULL, &window, false, 1, 1 },
		{ TALLY_PASS_RENDER, 1, label, &window, false, 0, 0 }, /* other label */
		{ TALLY_PASS_RENDER, 1, NULL, &window, false, 2, 2 },
		{ TALLY_PASS_COMPUTE, 9, NULL, NULL, false, 0, 0 },
		{ TALLY_PASS_COMPUTE, 9, NULL, NULL, false, 1, 0 }, /* never resumed */
		{ TALLY_PASS_TRANSFER, 1, NULL, &window, false, 0, 0 },
	};
	static const struct tally_target none;
	for (size_t i = 0; i < G_N_ELEMENTS(passes); i++) {
		struct tally_pass *pass = world_pass(
			w, part,
			(struct tally_pass){ .kind = passes[i].kind,
					     .key = passes[i].key,
					     .label = passes[i].label,
					     .target = passes[i].target,
					     .restarts = passes[i].restarts,
					     .load = TALLY_LOAD_CLEAR,
					     .call_counts.draws = i });
		pass->target = passes[i].target; /* NULL is allowed */
	}
	const struct tally_frame_record *f = world_build(w, 1);
	g_assert_cmpuint(f->n_passes, ==, G_N_ELEMENTS(passes));
	for (uint32_t i = 0; i < f->n_passes; i++) {
		const struct tally_target *t = passes[i].target ? passes[i].target : &none;
		g_assert_cmpuint(f->passes[i].index, ==, i);
		g_assert_cmpuint(f->passes[i].call_counts.draws, ==, i);
		g_assert_cmpuint(f->passes[i].segment, ==, passes[i].segment);
		g_assert_cmphex(f->passes[i].id, ==,
				id_of(passes[i].kind, passes[i].label, t, passes[i].ordinal));
		g_assert_cmpint(f->passes[i].context, ==, 10);
	}
	/* Each identity was described once, by its first instance. */
	g_assert_cmpuint(w->infos->len, ==, 8);
	const struct tally_pass_info_record *info = &g_array_index(
		w->infos, struct tally_pass_info_record, 2);
	g_assert_cmphex(info->id, ==, id_of(TALLY_PASS_RENDER, NULL, &shadow, 0));
	g_assert_cmpstr(info->target.depth.format, ==, "DEPTH16");
	g_assert_cmpint(info->load, ==, TALLY_LOAD_CLEAR);
	/* The same frame again: same ids, nothing new. */
	uint64_t first = f->passes[0].id;
	f = world_build(w, 1);
	g_assert_cmphex(f->passes[0].id, ==, first);
	g_assert_cmpuint(f->passes[2].segment, ==, 1);
	g_assert_cmpuint(w->infos->len, ==, 8);
	world_free(w);
}

static void
test_streams_and_late_parts(void)
{
	struct world *w = world_new();
	struct tally_frame_part *late = world_part(w, 1, 4);
	struct tally_frame_part *a = world_part(w, 0, 5);
	struct tally_frame_part *b = world_part(w, 1, 5);
	struct tally_pass pass = { .kind = TALLY_PASS_RENDER, .key = 1 };
	pass.call_counts.draws = 100;
	world_pass(w, late, pass);
	pass.call_counts.draws = 1;
	world_pass(w, a, pass);
	pass.call_counts.draws = 2;
	world_pass(w, b, pass);
	a->overhead_ns = 10;
	b->overhead_ns = 20;
	late->overhead_ns = 1000;
	a->dropped = 3;
	late->dropped = 4;
	const struct tally_frame_record *f = world_build(w, 5);
	g_assert_cmpuint(f->n_passes, ==, 3);
	g_assert_cmpuint(f->overhead_ns, ==, 30);
	g_assert_cmpuint(f->dropped_passes, ==, 7);
	g_assert_cmphex(f->flags, ==, TALLY_FLAG(LATE));
	/* Same key, but another stream: not a resumption. The late one counts last. */
	for (uint32_t i = 0; i < 3; i++) {
		g_assert_cmphex(f->passes[i].id, ==, id_of(TALLY_PASS_RENDER, NULL, &window, i));
		g_assert_cmpuint(f->passes[i].segment, ==, 0);
	}
	g_assert_cmpuint(f->passes[0].call_counts.draws, ==, 1);
	g_assert_cmpuint(f->passes[1].call_counts.draws, ==, 2);
	g_assert_cmpuint(f->passes[2].call_counts.draws, ==, 100);
	g_assert_cmpint(f->passes[1].context, ==, 11);
	world_free(w);
}

/* Up to four passes, the last members possibly unattributed; end 0: no time. */
static const struct {
	const char *what;
	struct {
		uint64_t begin, end;
		bool outside;
		uint64_t flags;
	} p[4];
	bool has_gpu, has_coverage;
	uint64_t gpu, envelope, unattributed;
	double coverage;
	uint64_t flags[4];
} times[] = {
	{ .what = "nothing measured", .p = { { 0, 0, false, 0 }, { 0, 0, true, 0 } } },
	{ .what = "one",
	  .p = { { 10, 30, false, 0 } },
	  .has_gpu = true,
	  .has_coverage = true,
	  .gpu = 20,
	  .envelope = 20,
	  .coverage = 1 },
	{ .what = "apart: idle is neither",
	  .p = { { 10, 30, false, 0 }, { 100, 110, false, 0 } },
	  .has_gpu = true,
	  .has_coverage = true,
	  .gpu = 30,
	  .envelope = 100,
	  .coverage = 1 },
	{ .what = "overlapping, not in order, one inside another",
	  .p = { { 50, 60, false, 0 }, { 10, 55, false, 0 }, { 20, 30, false, 0 } },
	  .has_gpu = true,
	  .has_coverage = true,
	  .gpu = 50,
	  .envelope = 50,
	  .coverage = 1 },
	{ .what = "unattributed between",
	  .p = { { 10, 20, false, 0 }, { 20, 40, true, 0 }, { 40, 50, false, 0 } },
	  .has_gpu = true,
	  .has_coverage = true,
	  .gpu = 40,
	  .envelope = 40,
	  .unattributed = 20,
	  .coverage = 0.5 },
	{ .what = "unattributed below a pass is not unattributed",
	  .p = { { 10, 50, false, 0 }, { 20, 40, true, 0 } },
	  .has_gpu = true,
	  .has_coverage = true,
	  .gpu = 40,
	  .envelope = 40,
	  .coverage = 1 },
	{ .what = "only unattributed",
	  .p = { { 10, 50, true, 0 } },
	  .has_gpu = true,
	  .has_coverage = true,
	  .gpu = 40,
	  .envelope = 40,
	  .unattributed = 40,
	  .coverage = 0 },
	{ .what = "measured, but took no time",
	  .p = { { 10, 10, false, 0 } },
	  .has_gpu = true,
	  .gpu = 0 },
	{ .what = "end before begin",
	  .p = { { 10, 9, false, 0 }, { 10, 20, false, 0 } },
	  .has_gpu = true,
	  .has_coverage = true,
	  .gpu = 10,
	  .envelope = 10,
	  .coverage = 1,
	  .flags = { TALLY_FLAG(BAD_TIME) } },
	{ .what = "longer than can be: a frame of 1 s may have 64 s of GPU time",
	  .p = { { 0, S(64) + 1, false, 0 }, { 0, S(64), false, 0 } },
	  .has_gpu = true,
	  .has_coverage = true,
	  .gpu = S(64),
	  .envelope = S(64),
	  .coverage = 1,
	  .flags = { TALLY_FLAG(BAD_TIME) } },
	{ .what = "two clocks have no union",
	  .p = { { 10, 20, false, TALLY_FLAG(UNCALIBRATED) }, { 30, 40, false, 0 } },
	  .flags = { TALLY_FLAG(UNCALIBRATED) } },
	{ .what = "one clock of the GPU's own has",
	  .p = { { 10, 20, false, TALLY_FLAG(UNCALIBRATED) },
		 { 30, 40, true, TALLY_FLAG(UNCALIBRATED) } },
	  .has_gpu = true,
	  .has_coverage = true,
	  .gpu = 20,
	  .envelope = 30,
	  .unattributed = 10,
	  .coverage = 0.5,
	  .flags = { TALLY_FLAG(UNCALIBRATED) } },
};

/* A workload's time is checked like a pass's, and is never added to the frame's. */
static void
test_workload_times(void)
{
	struct world *w = world_new();
	struct tally_frame_part *part = world_part(w, 0, 1);
	struct tally_value value = { TALLY_STORAGE_U64, { .u64 = 7 } };
	uint64_t valid = 1, none = 0;
	struct tally_workload loads[] = {
		{ .command = "draw", .has_time = true, .gpu_begin_ns = 10, .gpu_end_ns = 15 },
		{ .command = "copy", .has_time = true, .gpu_begin_ns = 15, .gpu_end_ns = 14 },
		{ .command = "clear", .has_time = true, .gpu_end_ns = S(64) + 1 },
		{ .command = "dispatch" },
		{ .command = "draw", .flags = TALLY_FLAG(YIELDED) },
		{ .has_time = true }, /* not listed */
	};
	unsigned n_all = G_N_ELEMENTS(loads), n = n_all - 1;
	for (unsigned i = 0; i < n_all; i++) {
		loads[i].next = i + 1 < n_all ? &loads[i + 1] : NULL;
		loads[i].values = &value;
		loads[i].valid = i == 1 ? &none : &valid;
	}
	struct tally_pass pass = {
		.has_time = true,
		.gpu_begin_ns = 10,
		.gpu_end_ns = 20,
		.workloads = loads,
		.n_workloads = n_all,
	};
	world_pass(w, part, pass);
	part->loads.n = n_all;
	const struct tally_frame_record *f = world_build(w, 1);
	g_assert_cmpuint(f->gpu_ns, ==, 10);
	g_assert_cmphex(f->passes[0].flags, ==, 0);
	g_assert_cmpuint(f->passes[0].n_workloads, ==, n);
	const struct tally_workload_record *got = f->passes[0].workloads;
	static const char *const words[] = { "draw", "copy", "clear", "dispatch", "draw" };
	for (unsigned i = 0; i < n; i++) {
		g_assert_cmpstr(got[i].command, ==, words[i]);
		g_assert_true(got[i].has_gpu == (i == 0));
		g_assert_cmpuint(got[i].gpu_ns, ==, i == 0 ? 5 : 0);
		g_assert_cmpuint(got[i].n_counters, ==, i == 1 ? 0 : 1);
		uint64_t bad = i == 1 || i == 2 ? TALLY_FLAG(BAD_TIME) : 0;
		g_assert_cmphex(got[i].flags, ==, bad | loads[i].flags);
	}
	world_free(w);
}

/* What a workload's label adds to its pass's, and which of the pass's pipelines it used. */
static void
test_workload_groups(void)
{
	static const struct {
		const char *pass, *load, *group;
	} labels[] = {
		{ NULL, NULL, NULL }, { "a", "a", NULL },     { "a", "a/b", "b" },
		{ "a", "ab", "ab" },  { NULL, "a/b", "a/b" }, { "target", "a", "a" },
		{ "a", NULL, NULL },
	};
	struct tally_stage_record stage[2] = { { .code = 1 }, { .code = 2 } };
	struct tally_pipeline *first = tally_pipeline_intern(&stage[0], 1);
	struct tally_pipeline *second = tally_pipeline_intern(&stage[1], 1);
	for (size_t i = 0; i < G_N_ELEMENTS(labels); i++) {
		struct world *w = world_new();
		struct tally_frame_part *part = world_part(w, 0, 1);
		struct tally_pipeline_use uses[2] = { { .pipeline = first, .next = &uses[1] },
						      { .pipeline = second } };
		uint64_t none = 0;
		struct tally_workload load = {
			.command = "draw",
			.label = labels[i].load,
			.pipeline = second,
			.valid = &none,
		};
		struct tally_pass pass = { .label = labels[i].pass,
					   .workloads = &load,
					   .n_workloads = 1 };
		world_pass(w, part, pass); /* lists no pipelines */
		pass.uses = uses;
		world_pass(w, part, pass);
		part->loads.n = part->uses.n = 2;
		const struct tally_frame_record *f = world_build(w, 1);
		g_assert_false(f->passes[0].workloads->has_pipeline);
		g_assert_true(f->passes[1].workloads->has_pipeline);
		g_assert_cmpuint(f->passes[1].workloads->pipeline, ==, 1);
		g_assert_cmpstr(f->passes[1].workloads->group, ==, labels[i].group);
		world_free(w);
	}
}

static void
test_times(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(times); i++) {
		struct world *w = world_new();
		struct tally_frame_part *part = world_part(w, 0, 1);
		g_test_message("%s", times[i].what);
		for (size_t j = 0; j < 4 && (times[i].p[j].end || j == 0); j++)
			world_pass(w, part,
				   (struct tally_pass){ .kind = TALLY_PASS_RENDER,
							.key = j,
							.has_time = times[i].p[j].end != 0,
							.gpu_begin_ns = times[i].p[j].begin,
							.gpu_end_ns = times[i].p[j].end,
							.unattributed = times[i].p[j].outside,
							.flags = times[i].p[j].flags });
		const struct tally_frame_record *f = world_build(w, 1);
		g_assert_true(f->has_gpu == times[i].has_gpu);
		g_assert_true(f->has_unattributed_gpu == times[i].has_gpu);
		g_assert_true(f->has_coverage == times[i].has_coverage);
		g_assert_cmpuint(f->gpu_ns, ==, times[i].gpu);
		g_assert_cmpuint(f->envelope_ns, ==, times[i].envelope);
		g_assert_cmpuint(f->unattributed_gpu_ns, ==, times[i].unattributed);
		g_assert_cmpfloat(f->coverage, ==, times[i].coverage);
		for (uint32_t j = 0; j < f->n_passes; j++) {
			const struct tally_pass_record *p = &f->passes[j];
			g_assert_cmphex(p->flags, ==, times[i].flags[j]);
			if (p->has_gpu)
				g_assert_cmpuint(p->gpu_ns, <=, S(64));
			g_assert_true(p->has_gpu == p->has_gpu_start);
			if (p->flags & TALLY_FLAG(BAD_TIME))
				g_assert_false(p->has_gpu);
		}
		world_free(w);
	}
}

static void
test_counters(void)
{
	struct world *w = world_new();
	struct tally_frame_part *part = world_part(w, 0, 1);
	struct tally_pass *p = world_pass(w, part,
					  (struct tally_pass){ .kind = TALLY_PASS_RENDER });
	p->values[1] = (struct tally_value){ TALLY_STORAGE_F64, { .f64 = 2.5 } };
	p->valid[0] = 2;
	/* Outside passes: summed, listed once, absent where not valid. */
	for (unsigned i = 0; i < 3; i++) {
		p = world_pass(w, part, (struct tally_pass){ .unattributed = true });
		p->values[0] = (struct tally_value){ TALLY_STORAGE_U64, { .u64 = 10 + i } };
		p->valid[0] = i < 2;
	}
	const struct tally_frame_record *f = world_build(w, 1);
	g_assert_cmpuint(f->n_passes, ==, 1);
	g_assert_cmpuint(f->passes[0].n_counters, ==, 1);
	g_assert_cmpstr(f->passes[0].counters[0].key, ==, "b");
	g_assert_cmpfloat(f->passes[0].counters[0].value.f64, ==, 2.5);
	g_assert_cmpuint(f->n_unattributed, ==, 1);
	g_assert_cmpstr(f->unattributed[0].key, ==, "a");
	g_assert_cmpuint(f->unattributed[0].value.u64, ==, 21);

	/* A sum that no longer fits is left out, and the frame is flagged. */
	p = world_pass(w, part, (struct tally_pass){ .unattributed = true });
	p->values[0] = (struct tally_value){ TALLY_STORAGE_U64, { .u64 = UINT64_MAX } };
	p->valid[0] = 1;
	f = world_build(w, 1);
	g_assert_cmpuint(f->n_unattributed, ==, 0);
	g_assert_cmphex(f->flags, ==, TALLY_FLAG(OVERFLOW));
	world_free(w);
}

/* More than one chunk, and tables that grow. */
/* Passes of two streams, by when they began: the ids count by stream. A time of 0 is not known,
 * and one before the stream's last is of a clock that was read too early. */
static void
test_order(void)
{
	static const struct {
		const char *what;
		uint64_t began[3][4]; /* of the streams' passes, and those of a late part */
		unsigned n[3];
		const char *order; /* stream and number in it, late ones: "z" */
	} rows[] = {
		{ "one stream", { { 1, 2, 3 } }, { 3 }, "a0 a1 a2" },
		{ "one after the other", { { 1, 2 }, { 3, 4 } }, { 2, 2 }, "a0 a1 b0 b1" },
		{ "in turn", { { 1, 3, 5 }, { 2, 4 } }, { 3, 2 }, "a0 b0 a1 b1 a2" },
		{ "the second first", { { 5, 6 }, { 1, 2 } }, { 2, 2 }, "b0 b1 a0 a1" },
		{ "at the same time", { { 3, 3 }, { 3, 3 } }, { 2, 2 }, "a0 a1 b0 b1" },
		{ "not known", { { 4, 0, 6 }, { 5, 0 } }, { 3, 2 }, "a0 a1 b0 b1 a2" },
		{ "none known", { { 0, 0 }, { 0, 0 } }, { 2, 2 }, "a0 a1 b0 b1" },
		{ "too early in its stream", { { 4, 2, 6 }, { 3, 5 } }, { 3, 2 },
		  "b0 a0 a1 b1 a2" },
		{ "a late part", { { 4, 6 }, { 5 }, { 2 } }, { 2, 1, 1 }, "z0 a0 b0 a1" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct world *w = world_new();
		GString *order = g_string_new(NULL);
		g_test_message("%s", rows[i].what);
		for (unsigned s = 0; s < 3; s++) {
			struct tally_frame_part *part = world_part(w, s % 2, s < 2 ? 5 : 4);
			for (unsigned n = 0; n < rows[i].n[s]; n++) {
				struct tally_pass pass = { .kind = TALLY_PASS_COMPUTE,
							   .call_counts.calls = 10 * s + n,
							   .cpu_start_ns = rows[i].began[s][n] };
				world_pass(w, part, pass);
			}
		}
		const struct tally_frame_record *f = world_build(w, 5);
		for (uint32_t k = 0; k < f->n_passes; k++) {
			const struct tally_pass_record *p = &f->passes[k];
			uint64_t calls = p->call_counts.calls, before = calls % 10;
			before += calls >= 10 ? rows[i].n[0] : 0;
			before += calls >= 20 ? rows[i].n[1] : 0;
			g_string_append_printf(order, "%s%c%u", k ? " " : "", "abz"[calls / 10],
					       (unsigned)(calls % 10));
			g_assert_cmpuint(p->index, ==, k);
			g_assert_cmphex(p->id, ==,
					id_of(TALLY_PASS_COMPUTE, NULL, &window, (uint32_t)before));
		}
		g_assert_cmpstr(order->str, ==, rows[i].order);
		g_string_free(order, TRUE);
		world_free(w);
	}
}

/* The window that a frame presents is said where its passes do not say it. */
static void
test_surface(void)
{
	static const struct {
		int64_t window, passes[2], surface;
	} cases[] = {
		{ 0, { 6, -1 }, -1 }, { 8, { 7, -1 }, -1 }, { 8, { -1, 7 }, -1 },
		{ 8, { 7, 7 }, -1 },  { 8, { -1, -1 }, 7 }, { 8, { 6, -1 }, 7 },
		{ 8, { 7, 6 }, 7 },   { 0, { 7, 6 }, -1 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct world *w = world_new();
		struct tally_frame_part *part = world_part(w, 0, 1);
		w->window = cases[i].window;
		for (int k = 0; k < 2; k++)
			world_pass(w, part, (struct tally_pass){ 0 })->surface = cases[i].passes[k];
		g_assert_cmpint(world_build(w, 1)->surface, ==, cases[i].surface);
		/* Where there is no memory for its passes, it has none. */
		w->streams[0].info.n_counters = UINT32_MAX;
		part->loads.n = 10000;
		g_assert_cmpint(world_build(w, 2)->surface, ==, cases[i].window - 1);
		world_free(w);
	}
}

static void
test_many(void)
{
	struct world *w = world_new();
	struct tally_frame_part *part = world_part(w, 0, 1);
	for (unsigned i = 0; i < 128; i++)
		world_pass(w, part,
			   (struct tally_pass){ .kind = TALLY_PASS_RENDER,
						.key = i % 100,
						.call_counts.draws = i });
	const struct tally_frame_record *f = world_build(w, 1);
	g_assert_cmpuint(f->n_passes, ==, 128);
	for (uint32_t i = 0; i < 128; i++) {
		g_assert_cmpuint(f->passes[i].call_counts.draws, ==, i);
		g_assert_cmpuint(f->passes[i].segment, ==, i / 100);
		g_assert_cmphex(f->passes[i].id, ==,
				id_of(TALLY_PASS_RENDER, NULL, &window, i % 100));
	}
	world_free(w);
}

/* Ordinals of several digits, over frames of few and many passes: each identity is explained once
 * for each set of ids. */
static void
test_ordinals(void)
{
	static const struct {
		uint32_t n_passes, n_infos;
		bool new_log;
	} frames[] = { { 5, 5, false },     { 128, 128, false }, { 12, 128, false },
		       { 128, 128, false }, { 7, 128 + 7, true }, { 128, 256, false } };
	struct world *w = world_new();
	struct tally_frame_part *part = world_part(w, 0, 1);
	for (unsigned i = 0; i < 128; i++)
		world_pass(w, part,
			   (struct tally_pass){ .kind = i % 4 ? TALLY_PASS_RENDER
							      : TALLY_PASS_COMPUTE,
						.key = i });
	for (size_t i = 0; i < G_N_ELEMENTS(frames); i++) {
		struct tally_numbers *old = frames[i].new_log ? w->seen : NULL;
		w->seen = old ? g_new0(struct tally_numbers, 1) : w->seen;
		if (old)
			tally_numbers_finish(old);
		g_free(old);
		part->n_passes = frames[i].n_passes;
		const struct tally_frame_record *f = world_build(w, i);
		g_assert_cmpuint(f->n_passes, ==, frames[i].n_passes);
		for (uint32_t k = 0; k < f->n_passes; k++)
			g_assert_cmphex(f->passes[k].id, ==,
					id_of(f->passes[k].kind, NULL, &window,
					      k % 4 ? k - k / 4 - 1 : k / 4));
		g_assert_cmpuint(w->infos->len, ==, frames[i].n_infos);
	}
	world_free(w);
}

/* Frames that nearly repeat the previous one, with the same keys or with others: identities are
 * those that the frame has by itself. */
static void
test_repeats(void)
{
	enum { N = 12, FRAMES = 2000 };
	GRand *rand = g_rand_new_with_seed(14);
	struct world *w = world_new();
	struct tally_frame_part *part = world_part(w, 0, 1);
	uint64_t keys[N] = { 0 };
	for (unsigned i = 0; i < N; i++)
		world_pass(w, part, (struct tally_pass){ .kind = TALLY_PASS_RENDER });
	struct tally_pass *passes = part->first->passes;
	for (uint64_t frame = 0; frame < FRAMES; frame++) {
		struct tally_pass *changed = &passes[g_rand_int_range(rand, 0, N)];
		switch (g_rand_int_range(rand, 0, 8)) {
		case 0:
			changed->kind = g_rand_boolean(rand) ? TALLY_PASS_RENDER
							     : TALLY_PASS_COMPUTE;
			break;
		case 1:
			changed->restarts = g_rand_boolean(rand);
			break;
		case 2:
			changed->target = g_rand_boolean(rand) ? &window : &shadow;
			break;
		case 3:
			keys[changed - passes] = (uint64_t)g_rand_int_range(rand, 0, 4);
			break;
		default:
			break;
		}
		uint64_t first = frame / 4 % 2 ? frame * 4 : 0;
		for (unsigned i = 0; i < N; i++)
			passes[i].key = first + keys[i];
		const struct tally_frame_record *f = world_build(w, frame);
		struct world *fresh = world_new();
		*world_part(fresh, 0, 1) = *part;
		const struct tally_frame_record *g = world_build(fresh, frame);
		g_assert_cmpuint(f->n_passes, ==, N);
		for (unsigned i = 0; i < N; i++) {
			g_assert_cmphex(f->passes[i].id, ==, g->passes[i].id);
			g_assert_cmpuint(f->passes[i].segment, ==, g->passes[i].segment);
		}
		world_free(fresh);
	}
	world_free(w);
	g_rand_free(rand);
}

/* A log in which a pass is described nowhere cannot be read: where the set is full, or has no
 * memory, an identity may be described more than once, but never not at all. */
static void
test_full_set(void)
{
	struct world *w = world_new();
	struct tally_frame_part *part = world_part(w, 0, 1);
	for (uint64_t key = 1; key <= TALLY_MAX_SEEN; key++)
		g_assert_nonnull(tally_numbers_add(w->seen, key, TALLY_MAX_SEEN));
	for (unsigned i = 0; i < 3; i++) {
		world_pass(w, part, (struct tally_pass){ .kind = TALLY_PASS_RENDER, .key = i });
		const struct tally_frame_record *f = world_build(w, i);
		g_assert_cmpuint(w->infos->len, ==, i + 1);
		g_assert_cmphex(g_array_index(w->infos, struct tally_pass_info_record, i).id, ==,
				f->passes[i].id);
	}
	world_free(w);
}

/* Each pass by its own layout; the frame by the first set that is named in it. */
static void
test_layouts(void)
{
	static const struct tally_counter share = { .key = "share",
						    .name = "S",
						    .unit = "percent",
						    .source = "fake",
						    .kind = TALLY_KIND_RATIO };
	static const struct tally_counter *const swapped[] = { &counter_b, &share, &counter_a };
	static const struct tally_layout set = { "one", swapped, 3 }; /* more than fits */
	struct world *w = world_new();
	struct tally_frame_part *late = world_part(w, 0, 1);
	late->set = "of an earlier frame";
	world_part(w, 0, 2);
	struct tally_frame_part *part = world_part(w, 1, 2);
	part->set = "one";
	w->streams[1].counters = NULL;
	struct tally_pass *pass = world_pass(w, part, (struct tally_pass){ .layout = &set });
	pass->values[0] = (struct tally_value){ .storage = TALLY_STORAGE_F64, .f64 = 2.5 };
	pass->values[1] = (struct tally_value){ .u64 = 50 };
	*pass->valid = 7;
	struct tally_pass *other = world_pass(
		w, part, (struct tally_pass){ .layout = &set, .unattributed = true });
	other->values[0] = pass->values[0];
	other->values[1] = pass->values[1];
	*other->valid = 3;
	world_pass(w, part, (struct tally_pass){ .layout = NULL })->valid[0] = 3;
	const struct tally_frame_record *f = world_build(w, 2);
	g_assert_cmpstr(f->set, ==, "one");
	g_assert_cmpuint(f->passes[0].n_counters, ==, 2);
	g_assert_cmpstr(f->passes[0].counters[0].key, ==, "b");
	g_assert_cmpstr(f->passes[0].counters[1].key, ==, "share");
	g_assert_cmpuint(f->passes[1].n_counters, ==, 0); /* it has no layout, nor has its stream */
	g_assert_cmpuint(f->n_unattributed, ==, 1); /* shares do not add up */
	g_assert_cmpstr(f->unattributed[0].key, ==, "b");
	world_free(w);
}

/* A pass lists each pipeline once, with the sum of its work; the log describes each once. */
static void
test_pipelines(void)
{
	struct world *w = world_new();
	struct tally_stage_record fill = { .stage = TALLY_STAGE_FRAGMENT, .code = 1, .bytes = 8 };
	struct tally_stage_record blur = { .stage = TALLY_STAGE_COMPUTE, .code = 2, .bytes = 4 };
	struct tally_pipeline *a = tally_pipeline_intern(&fill, 1);
	struct tally_pipeline *b = tally_pipeline_intern(&blur, 1);
	tally_pipeline_set_name(a, NULL, "fill", 4);
	tally_pipeline_set_name(a, NULL, "later", 5);
	struct tally_pipeline_use uses[] = {
		{ &uses[1], a, { .draws = 2, .vertices = 6, .instances = 2, .calls = 2 } },
		{ &uses[2], b, { .dispatches = 1, .calls = 1 } },
		{ NULL, a, { .draws = 1, .vertices = 3, .instances = 1, .calls = 1 } },
	};
	struct tally_frame_part *part = world_part(w, 0, 0);
	part->uses.n = 3;
	world_pass(w, part, (struct tally_pass){ .uses = uses, .last_use = &uses[2] });
	world_pass(w, part, (struct tally_pass){ .uses = &uses[2] });
	world_pass(w, part, (struct tally_pass){ 0 });
	for (unsigned frame = 0; frame < 2; frame++) {
		const struct tally_frame_record *f = world_build(w, frame);
		g_assert_cmpuint(f->n_passes, ==, 3);
		const struct tally_pass_record *p = &f->passes[0];
		g_assert_cmpuint(p->n_pipelines, ==, 2);
		g_assert_cmphex(p->pipelines[0].id, ==, a->id);
		g_assert_cmpuint(p->pipelines[0].call_counts.draws, ==, 3);
		g_assert_cmpuint(p->pipelines[0].call_counts.vertices, ==, 9);
		g_assert_cmpuint(p->pipelines[0].call_counts.calls, ==, 0);
		g_assert_cmphex(p->pipelines[1].id, ==, b->id);
		g_assert_cmpuint(p->pipelines[1].call_counts.dispatches, ==, 1);
		g_assert_cmpuint(f->passes[1].n_pipelines, ==, 1);
		g_assert_cmpuint(f->passes[1].pipelines[0].call_counts.draws, ==, 1);
		g_assert_cmpuint(f->passes[2].n_pipelines, ==, 0);
		g_assert_cmpuint(w->pipelines->len, ==, 2);
	}
	const struct tally_pipeline_record *first = &g_array_index(w->pipelines,
								   struct tally_pipeline_record, 0);
	g_assert_cmpstr(first->name, ==, "fill, later");
	g_assert_cmpint(first->kind, ==, TALLY_PASS_RENDER);
	g_assert_cmpint(g_array_index(w->pipelines, struct tally_pipeline_record, 1).kind, ==,
			TALLY_PASS_COMPUTE);
	world_free(w);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/frame/empty", test_empty);
	g_test_add_func("/frame/identity", test_identity);
	g_test_add_func("/frame/streams-and-late-parts", test_streams_and_late_parts);
	g_test_add_func("/frame/times", test_times);
	g_test_add_func("/frame/workload-times", test_workload_times);
	g_test_add_func("/frame/workload-groups", test_workload_groups);
	g_test_add_func("/frame/counters", test_counters);
	g_test_add_func("/frame/order", test_order);
	g_test_add_func("/frame/many", test_many);
	g_test_add_func("/frame/surface", test_surface);
	g_test_add_func("/frame/ordinals", test_ordinals);
	g_test_add_func("/frame/repeats", test_repeats);
	g_test_add_func("/frame/full-set", test_full_set);
	g_test_add_func("/frame/layouts", test_layouts);
	g_test_add_func("/frame/pipelines", test_pipelines);
	g_test_add_func("/frame/events", test_events);
	return g_test_run();
}

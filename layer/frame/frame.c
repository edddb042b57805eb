/* SPDX-License-Identifier: MIT */
#include "layer/frame/frame.h"

#include "layer/base/array.h"
#include "layer/frame/interval.h"
#include "layer/frame/order.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_SLOTS 4096 /* a power of two */
/* Each source passes on only times that are possible since it was opened. A frame that took no
 * CPU time may still have kept the GPU busy for long: software drivers compile shaders then. */
#define BAD_TIME_SLACK_NS UINT64_C(60000000000)

/* An entry is looked up by the properties of a pass; the epoch makes old entries count as
 * empty, so nothing needs clearing. What an old one has about the same base stays valid. */
struct ordinal {
	uint64_t base;
	uint32_t epoch;
	uint32_t next;
	uint32_t listed; /* ordinals below have been offered to `seen` */
};

/* A render pass that a later one may resume. */
struct instance {
	uint64_t key, base, id;
	const char *label;
	uint32_t epoch;
	uint32_t segments;
};

struct base_entry {
	const char *label;
	const struct tally_target *target;
	struct tally_extent presented;
	enum tally_pass_kind kind;
	bool known;
	uint64_t base;
};

/* A counter summed over work outside passes. */
struct total {
	const struct tally_counter *counter;
	struct tally_value value;
	bool overflowed;
};

struct tally_frame_builder {
	struct tally_frame_record record;
	struct tally_pass_record *passes;
	struct tally_begun *begun; /* of each of them */
	struct tally_keyed_value *values; /* of passes and workloads */
	struct tally_workload_record *workloads;
	struct tally_pipeline_use_record *uses;
	struct tally_interval *intervals, *others; /* of passes; outside passes */
	size_t max_passes, max_values, max_workloads, max_uses;
	size_t n_values, n_workloads, n_uses, n_intervals, n_others;
	bool calibrated, uncalibrated; /* intervals on the CPU's clock, on the GPU's own */

	struct tally_extent presented; /* in the frame that is built */
	struct tally_numbers *seen; /* the set that `listed` of ordinals refers to */
	struct ordinal *ordinals;
	struct instance *instances;
	size_t n_slots; /* of both tables; a power of two */
	uint32_t ordinal_epoch, instance_epoch;

	struct tally_event_record events[TALLY_N_EVENTS];
	struct tally_event_call_record calls[TALLY_EVENT_CALLS];

	struct total *totals;
	struct tally_keyed_value *total_values;
	uint32_t n_totals, room_totals, room_total_values;

	struct base_entry bases[CACHE_SLOTS];
};

static const struct tally_target no_target;

struct tally_frame_builder *
tally_frame_builder_create(void)
{
	return calloc(1, sizeof(struct tally_frame_builder));
}

void
tally_frame_builder_destroy(struct tally_frame_builder *b)
{
	if (!b)
		return;
	free(b->passes);
	free(b->begun);
	free(b->values);
	free(b->workloads);
	free(b->uses);
	free(b->intervals);
	free(b->others);
	free(b->ordinals);
	free(b->instances);
	free(b->totals);
	free(b->total_values);
	free(b);
}

/* Makes room for `n` items at the pointer that `array` points to,
 * without keeping the old ones. */
static bool
fit(void *array, size_t n, size_t size)
{
	void *fresh = calloc(n ? n : 1, size);
	if (!fresh)
		return false;
	void *old;
	memcpy(&old, array, sizeof(old));
	free(old);
	memcpy(array, &fresh, sizeof(fresh));
	return true;
}

static bool
reserve_passes(struct tally_frame_builder *b, size_t n)
{
	if (n <= b->max_passes)
		return true;
	size_t slots = 64;
	while (slots < 2 * n)
		slots *= 2;
	size_t room = slots / 2;
	b->max_passes = 0;
	b->n_slots = 0;
	if (!fit(&b->passes, room, sizeof(*b->passes)) ||
	    !fit(&b->begun, room, sizeof(*b->begun)) ||
	    !fit(&b->intervals, room, sizeof(*b->intervals)) ||
	    !fit(&b->others, room, sizeof(*b->others)) ||
	    !fit(&b->ordinals, slots, sizeof(*b->ordinals)) ||
	    !fit(&b->instances, slots, sizeof(*b->instances)))
		return false;
	b->max_passes = room;
	b->n_slots = slots;
	b->ordinal_epoch = b->instance_epoch = 0;
	return true;
}

/* `array`: the address of the pointer to the items, of which there is room for *most. */
static bool
reserve(void *array, size_t *most, size_t n, size_t size)
{
	if (n <= *most)
		return true;
	*most = 0;
	if (!fit(array, n + n / 2, size))
		return false;
	*most = n + n / 2;
	return true;
}

/* Empties a table of entries with epochs. */
static void
next_epoch(uint32_t *epoch, void *table, size_t bytes)
{
	if (++*epoch == 0) {
		memset(table, 0, bytes);
		*epoch = 1;
	}
}

static uint64_t
mix(uint64_t h)
{
	h ^= h >> 32;
	h *= UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

/* ---- identity ---- */

static uint64_t
base_of(struct tally_frame_builder *b, const struct tally_pass *pass)
{
	const struct tally_target *target = pass->target ? pass->target : &no_target;
	uint64_t hash = mix((uintptr_t)pass->label * 31 + (uintptr_t)target + pass->kind);
	struct base_entry *e = &b->bases[hash & (CACHE_SLOTS - 1)];
	if (e->known && e->label == pass->label && e->target == target &&
	    e->kind == pass->kind && e->presented.width == b->presented.width &&
	    e->presented.height == b->presented.height)
		return e->base;
	*e = (struct base_entry){
		.label = pass->label,
		.target = target,
		.presented = b->presented,
		.kind = pass->kind,
		.known = true,
		.base = tally_pass_id_base(pass->kind, pass->label, target, b->presented),
	};
	return e->base;
}

/* The id of the frame's next pass with that base; *is_new: it has not been offered to `seen`. */
static uint64_t
next_id(struct tally_frame_builder *b, uint64_t base, bool *is_new)
{
	size_t slot = (size_t)mix(base) & (b->n_slots - 1);
	struct ordinal *o = &b->ordinals[slot];
	while (o->epoch == b->ordinal_epoch && o->base != base) {
		slot = (slot + 1) & (b->n_slots - 1);
		o = &b->ordinals[slot];
	}
	if (o->epoch != b->ordinal_epoch) {
		o->listed = o->base == base ? o->listed : 0;
		o->base = base;
		o->epoch = b->ordinal_epoch;
		o->next = 0;
	}
	uint32_t n = o->next++;
	*is_new = n >= o->listed;
	if (*is_new)
		o->listed = n + 1;
	return tally_pass_id_finish(base, n);
}

/* Finds the entry for this pass's kind of work on its target; its epoch
 * differs if there is none yet. */
static struct instance *
find_instance(struct tally_frame_builder *b, const struct tally_pass *pass, uint64_t base)
{
	size_t slot = (size_t)mix(pass->key ^ base) & (b->n_slots - 1);
	for (;;) {
		struct instance *i = &b->instances[slot];
		if (i->epoch != b->instance_epoch ||
		    (i->key == pass->key && i->base == base && i->label == pass->label))
			return i;
		slot = (slot + 1) & (b->n_slots - 1);
	}
}

/* Sets id and segment; true when the id has not been offered to `seen`. `begins`: it is the first
 * of its part. */
static bool
identify(struct tally_frame_builder *b, const struct tally_pass *pass, bool begins,
	 struct tally_pass_record *out)
{
	bool is_new;
	uint64_t base = base_of(b, pass);
	if (begins)
		next_epoch(&b->instance_epoch, b->instances, b->n_slots * sizeof(*b->instances));
	if (pass->kind != TALLY_PASS_RENDER) {
		out->id = next_id(b, base, &is_new);
		return is_new;
	}
	struct instance *i = find_instance(b, pass, base);
	if (i->epoch == b->instance_epoch && !pass->restarts) {
		out->id = i->id;
		out->segment = i->segments++;
		return false;
	}
	*i = (struct instance){
		.key = pass->key,
		.base = base,
		.id = next_id(b, base, &is_new),
		.label = pass->label,
		.epoch = b->instance_epoch,
		.segments = 1,
	};
	out->id = i->id;
	return is_new;
}

/* ---- one pass ---- */

/* If it is not, sets a flag in *flags. */
static bool
is_believable(uint64_t begin_ns, uint64_t end_ns, uint64_t longest_ns, uint64_t *flags)
{
	bool good = begin_ns <= end_ns && end_ns - begin_ns <= longest_ns;
	if (!good)
		*flags |= TALLY_FLAG(BAD_TIME);
	return good;
}

/* Gets the pass's interval, if it is believable. */
static bool
take_interval(struct tally_frame_builder *b, const struct tally_pass *pass, uint64_t longest_ns,
	      struct tally_interval *out, uint64_t *flags)
{
	if (!pass->has_time || !is_believable(pass->gpu_begin_ns, pass->gpu_end_ns, longest_ns,
					      flags))
		return false;
	out->begin = pass->gpu_begin_ns;
	out->end = pass->gpu_end_ns;
	if (pass->flags & TALLY_FLAG(UNCALIBRATED))
		b->uncalibrated = true;
	else
		b->calibrated = true;
	return true;
}

static bool
is_valid(const uint64_t *valid, uint32_t counter)
{
	return valid[counter / 64] >> (counter % 64) & 1;
}

/* The meaning of the pass's values, for at most as many as there is room for. */
static struct tally_layout
layout_of(const struct tally_stream *stream, const struct tally_pass *pass)
{
	uint32_t room = stream->info.n_counters;
	struct tally_layout layout = { NULL, stream->counters, room };
	if (pass->layout)
		layout = *pass->layout;
	if (!layout.counters)
		layout.n_counters = 0;
	else if (layout.n_counters > room)
		layout.n_counters = room;
	return layout;
}

/* Appends the values that are valid; returns how many. */
static inline uint32_t
list_values(struct tally_frame_builder *b, struct tally_layout layout,
	    const struct tally_value *values, const uint64_t *valid)
{
	struct tally_keyed_value *first = b->values + b->n_values, *out = first;
	for (uint32_t i = 0; i < layout.n_counters; i += 64) {
		uint32_t n = layout.n_counters - i;
		uint64_t bits = valid[i / 64] & (n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX);
		for (uint32_t at = i; bits; at++, bits >>= 1) {
			if (bits & 1)
				*out++ = (struct tally_keyed_value){
					.key = layout.counters[at]->key,
					.value = values[at],
				};
		}
	}
	b->n_values += (size_t)(out - first);
	return (uint32_t)(out - first);
}

/* Passes whose pipelines were listed, ever. Pipelines remember it, and outlive a builder: in the
 * next session, and in a forked process. */
static uint64_t n_listed;

/* The debug groups of a workload that its pass's label does not have. */
static const char *
inner_groups(const char *label, const char *of_pass)
{
	size_t n = of_pass ? strlen(of_pass) : 0;
	if (!label || !n || strncmp(label, of_pass, n) != 0)
		return label;
	return label[n] == '/' ? label + n + 1 : label[n] ? label : NULL;
}

/* Draws, dispatches and traces of rays; a copy or clear leaves the pipeline that is in use idle. */
static bool
runs_shaders(const char *command)
{
	return *command == 'd' || *command == 't';
}

/* After the pass's pipelines. */
static void
list_workloads(struct tally_frame_builder *b, struct tally_layout layout,
	       const struct tally_pass *pass, uint64_t longest_ns, struct tally_pass_record *out)
{
	struct tally_workload_record *first = b->workloads + b->n_workloads;
	out->workloads = first;
	for (const struct tally_workload *load = pass->workloads; load; load = load->next) {
		if (!load->command)
			continue;
		struct tally_workload_record *record = &first[out->n_workloads++];
		*record = (struct tally_workload_record){
			.command = load->command,
			.group = inner_groups(load->label, pass->label),
			.has_pipeline = out->n_pipelines && load->pipeline &&
					load->pipeline->listed_in == n_listed &&
					runs_shaders(load->command),
			.counters = b->values + b->n_values,
			.flags = load->flags,
		};
		if (record->has_pipeline)
			record->pipeline = load->pipeline->listed_at;
		record->n_counters = list_values(b, layout, load->values, load->valid);
		if (!load->has_time || !is_believable(load->gpu_begin_ns, load->gpu_end_ns,
						      longest_ns, &record->flags))
			continue;
		record->has_gpu_start = record->has_gpu = true;
		record->gpu_start_ns = load->gpu_begin_ns;
		record->gpu_ns = load->gpu_end_ns - load->gpu_begin_ns;
	}
	b->n_workloads += out->n_workloads;
}

/* Whether the log has not described it yet. */
static bool
is_first_use(struct tally_frame_builder *b, uint64_t id)
{
	struct tally_number *seen = tally_numbers_add(b->seen, id, TALLY_MAX_SEEN);
	if (seen && seen->has_value)
		return false;
	if (seen)
		seen->has_value = true;
	return true;
}

static void
describe_pipeline(struct tally_frame_builder *b, const struct tally_pipeline *pipeline,
		  const struct tally_frame_new *is_new)
{
	/* Passes and pipelines are in one set. */
	if (!is_first_use(b, ~pipeline->id))
		return;
	const struct tally_pipeline_statistics *s = atomic_load(&pipeline->statistics);
	const struct tally_pipeline_record record = {
		.statistics = s ? s->rows : NULL,
		.n_statistics = s ? s->n : 0,
		.id = pipeline->id,
		.kind = tally_pipeline_kind(pipeline->stages, pipeline->n_stages),
		.name = atomic_load(&pipeline->name),
		.stages = pipeline->stages,
		.n_stages = pipeline->n_stages,
	};
	is_new->pipeline(is_new->data, &record);
}

/* Each pipeline once. */
static void
list_pipelines(struct tally_frame_builder *b, const struct tally_pass *pass,
	       const struct tally_frame_new *is_new, struct tally_pass_record *out)
{
	struct tally_pipeline_use_record *first = b->uses + b->n_uses;
	uint64_t listed = ++n_listed;
	out->pipelines = first;
	for (const struct tally_pipeline_use *use = pass->uses; use; use = use->next) {
		struct tally_pipeline *pipeline = use->pipeline;
		if (pipeline->listed_in != listed) {
			pipeline->listed_in = listed;
			pipeline->listed_at = out->n_pipelines;
			describe_pipeline(b, pipeline, is_new);
			first[out->n_pipelines++] = (struct tally_pipeline_use_record){
				.id = pipeline->id
			};
		}
		tally_call_counts_add(&first[pipeline->listed_at].call_counts, &use->call_counts);
	}
	for (uint32_t i = 0; i < out->n_pipelines; i++) {
		struct tally_call_counts *t = &first[i].call_counts;
		if (t->calls == t->draws + t->dispatches)
			t->calls = 0;
	}
	b->n_uses += out->n_pipelines;
}

/* The pixels of all layers. Each counts once, however many samples it has. */
static uint64_t
count_pixels(const struct tally_target *target)
{
	if (!target)
		return 0;
	uint64_t pixels = (uint64_t)target->width * target->height;
	uint64_t layers = target->layers ? target->layers : 1;
	return __builtin_mul_overflow(pixels, layers, &pixels) ? 0 : pixels;
}

static void
list_pass(struct tally_frame_builder *b, const struct tally_frame_part *part,
	  const struct tally_pass *pass, bool begins, uint64_t longest_ns,
	  const struct tally_frame_new *is_new)
{
	const struct tally_stream *stream = part->stream;
	struct tally_layout layout = layout_of(stream, pass);
	bool measured = !(b->record.flags & TALLY_FLAG(PICTURED));
	uint32_t index = b->record.n_passes++;
	struct tally_pass_record *out = &b->passes[index];
	/* Every member is named, so that none is set twice. */
	*out = (struct tally_pass_record){
		.index = index,
		.id = 0,
		.segment = 0,
		.kind = pass->kind,
		.label = pass->label,
		.call_counts = pass->call_counts,
		.unknown = pass->unknown,
		.context = stream->info.context,
		.queue_family = stream->info.queue_family,
		.queue_index = stream->info.queue_index,
		.has_submission = pass->has_submission,
		.submission = pass->submission,
		.surface = pass->surface,
		.picture = pass->picture,
		.has_cpu_start = pass->cpu_start_ns != 0,
		.has_gpu_start = false,
		.has_gpu = false,
		.cpu_start_ns = pass->cpu_start_ns,
		.gpu_start_ns = 0,
		.gpu_ns = 0,
		.counters = b->values + b->n_values,
		.n_counters = 0,
		.metrics = NULL,
		.n_metrics = 0,
		.flags = pass->flags,
		.pipelines = NULL,
		.n_pipelines = 0,
		.workloads = NULL,
		.n_workloads = 0,
		.snapshot_from = measured ? pass->snapshot_from : 0,
		.snapshot_to = measured ? pass->snapshot_to : 0,
		.pixels = count_pixels(pass->target),
	};
	if (measured)
		out->n_counters = list_values(b, layout, pass->values, pass->valid);
	if (pass->uses)
		list_pipelines(b, pass, is_new, out);
	if (pass->n_workloads && measured)
		list_workloads(b, layout, pass, longest_ns, out);
	struct tally_interval interval;
	bool timed = measured && take_interval(b, pass, longest_ns, &interval, &out->flags);
	if (timed && pass->flags & TALLY_FLAG(SHARED_TIME)) {
		b->others[b->n_others++] = interval;
	} else if (timed) {
		b->intervals[b->n_intervals++] = interval;
		out->has_gpu_start = out->has_gpu = true;
		out->gpu_start_ns = interval.begin;
		out->gpu_ns = interval.end - interval.begin;
	}
	if (!identify(b, pass, begins, out) || !is_first_use(b, out->id))
		return;
	struct tally_pass_info_record info = {
		.id = out->id,
		.kind = pass->kind,
		.label = pass->label,
		.target = pass->target ? *pass->target : no_target,
		.load = pass->load,
		.store = pass->store,
		.groups = pass->groups,
	};
	is_new->pass(is_new->data, &info);
}

/* ---- work outside passes ---- */

static struct total *
total_of(struct tally_frame_builder *b, const struct tally_counter *counter)
{
	for (size_t i = 0; i < b->n_totals; i++) {
		if (b->totals[i].counter == counter ||
		    strcmp(b->totals[i].counter->key, counter->key) == 0)
			return &b->totals[i];
	}
	if (!tally_array_fit(&b->totals, b->n_totals, &b->room_totals, sizeof(*b->totals)) ||
	    !tally_array_fit(&b->total_values, b->n_totals, &b->room_total_values,
			     sizeof(*b->total_values)))
		return NULL;
	struct total *t = &b->totals[b->n_totals++];
	*t = (struct total){ .counter = counter, .value.storage = counter->storage };
	return t;
}

static void
add_unattributed(struct tally_frame_builder *b, const struct tally_stream *stream,
		 const struct tally_pass *pass, uint64_t longest_ns)
{
	struct tally_layout layout = layout_of(stream, pass);
	for (uint32_t i = 0; i < layout.n_counters; i++) {
		if (!is_valid(pass->valid, i) || !tally_counter_adds_up(layout.counters[i]))
			continue;
		struct total *t = total_of(b, layout.counters[i]);
		if (t)
			t->overflowed |= !tally_value_add(&t->value, pass->values[i]);
	}
	struct tally_interval interval;
	if (take_interval(b, pass, longest_ns, &interval, &b->record.flags))
		b->others[b->n_others++] = interval;
}

static void
finish_totals(struct tally_frame_builder *b)
{
	struct tally_frame_record *r = &b->record;
	for (size_t i = 0; i < b->n_totals; i++) {
		if (b->totals[i].overflowed) {
			r->flags |= TALLY_FLAG(OVERFLOW);
			continue;
		}
		b->total_values[r->n_unattributed++] = (struct tally_keyed_value){
			.key = b->totals[i].counter->key,
			.value = b->totals[i].value,
		};
	}
	r->unattributed = b->total_values;
}

/* ---- the frame ---- */

static void
finish_times(struct tally_frame_builder *b)
{
	struct tally_frame_record *r = &b->record;
	/* Intervals on two clocks whose offset is not known have no union. */
	if (b->n_intervals + b->n_others == 0 || (b->calibrated && b->uncalibrated))
		return;
	struct tally_span passes, all;
	tally_interval_spans(b->intervals, b->n_intervals, b->others, b->n_others,
			     &passes, &all);
	r->has_gpu = true;
	r->gpu_ns = all.union_ns;
	r->envelope_ns = all.envelope_ns;
	r->has_unattributed_gpu = true;
	r->unattributed_gpu_ns = all.union_ns - passes.union_ns;
	if (all.union_ns) {
		r->has_coverage = true;
		r->coverage = (double)passes.union_ns / (double)all.union_ns;
	}
}

static void
add_part(struct tally_frame_builder *b, const struct tally_frame_part *part, uint64_t longest_ns,
	 const struct tally_frame_new *is_new)
{
	bool begins = true;
	uint64_t begun_ns = 0;
	struct tally_chunk *chunk = part->first;
	for (uint32_t i = 0; i < part->n_passes; i++) {
		if (i && i % TALLY_CHUNK_PASSES == 0)
			chunk = chunk->next;
		const struct tally_pass *pass = &chunk->passes[i % TALLY_CHUNK_PASSES];
		if (pass->unattributed) {
			if (!(b->record.flags & TALLY_FLAG(PICTURED)))
				add_unattributed(b, part->stream, pass, longest_ns);
			continue;
		}
		/* Within a stream the order of issue holds; where the time is not known, the place
		 * in the list. */
		uint32_t at = b->record.n_passes;
		if (begins && !pass->cpu_start_ns && at)
			begun_ns = b->begun[at - 1].ns;
		else if (pass->cpu_start_ns > begun_ns)
			begun_ns = pass->cpu_start_ns;
		b->begun[at] = (struct tally_begun){ .ns = begun_ns, .at = at };
		list_pass(b, part, pass, begins, longest_ns, is_new);
		begins = false;
	}
}

static int
compare_calls(const void *a, const void *b)
{
	uint64_t x = ((const struct tally_event_call_record *)a)->ns;
	uint64_t y = ((const struct tally_event_call_record *)b)->ns;
	return (x < y) - (x > y);
}

#define LISTED_WAIT_NS UINT64_C(10000) /* shorter ones explain nothing */
#define LONG_CALL_NS UINT64_C(1000000)
#define LONG_CALL_SHARE 20 /* of the frame */

static void
list_events(struct tally_frame_builder *b, const struct tally_events *events)
{
	struct tally_frame_record *r = &b->record;
	r->events = b->events;
	for (unsigned kind = 0; kind < TALLY_N_EVENTS && events->any; kind++) {
		struct tally_event_record e = events->sums[kind];
		bool waits = kind >= TALLY_EVENT_FENCE;
		if (waits)
			e.n = 0;
		if (waits ? e.ns >= LISTED_WAIT_NS : e.n || e.live || e.budget)
			b->events[r->n_events++] = e;
	}
	r->calls = b->calls;
	for (uint32_t i = 0; i < events->n_calls; i++)
		if (events->calls[i].ns >= LONG_CALL_NS ||
		    events->calls[i].ns >= r->cpu_ns / LONG_CALL_SHARE)
			b->calls[r->n_calls++] = events->calls[i];
	qsort(b->calls, r->n_calls, sizeof(*b->calls), compare_calls);
}

/* Adds up the parts and makes room for their passes. False: no memory for the passes. */
static bool
begin_record(struct tally_frame_builder *b, const struct tally_frame_input *in)
{
	struct tally_frame_record *r = &b->record;
	*r = (struct tally_frame_record){
		.frame = in->frame,
		.device = in->device,
		.width = in->presented.size.width,
		.height = in->presented.size.height,
		.surface = in->presented.window - 1,
		.start_ns = in->start_ns,
		.cpu_ns = in->end_ns > in->start_ns ? in->end_ns - in->start_ns : 0,
		.has_thread = in->has_thread,
		.has_wait = in->has_thread,
		.asleep = in->asleep,
		.n_asleep = in->n_asleep,
		.kernel_ns = in->kernel_ns,
		.minor_faults = in->minor_faults,
		.major_faults = in->major_faults,
		.disk_bytes = in->disk_bytes,
		.dropped_passes = in->dropped,
		.flags = in->flags,
	};
	if (in->events)
		list_events(b, in->events);
	/* The clocks are not read at the same time: it may exceed the frame by microseconds. */
	if (in->has_thread) {
		r->thread_ns = in->thread_ns < r->cpu_ns ? in->thread_ns : r->cpu_ns;
		r->wait_ns = in->wait_ns < r->cpu_ns ? in->wait_ns : r->cpu_ns;
	}
	b->n_values = b->n_workloads = b->n_uses = b->n_intervals = b->n_others = b->n_totals = 0;
	b->calibrated = b->uncalibrated = false;
	size_t n_passes = 0, n_workloads = 0, n_uses = 0, n_values = 0;
	const struct tally_frame_part *part = in->parts;
	for (uint64_t i = 0; i < in->n_parts; i++, part = part->next) {
		n_passes += part->n_passes;
		n_workloads += part->loads.n;
		n_uses += part->uses.n;
		n_values += ((size_t)part->n_passes + part->loads.n) *
			    part->stream->info.n_counters;
		r->dropped_passes += part->dropped;
		if (part->pictured)
			r->flags |= TALLY_FLAG(PICTURED);
		if (part->frame == in->frame) {
			r->overhead_ns += part->overhead_ns;
			r->set = r->set ? r->set : part->set;
		} else if (part->n_passes) {
			r->flags |= TALLY_FLAG(LATE);
		}
	}
	if (reserve_passes(b, n_passes) &&
	    reserve(&b->uses, &b->max_uses, n_uses, sizeof(*b->uses)) &&
	    reserve(&b->workloads, &b->max_workloads, n_workloads, sizeof(*b->workloads)) &&
	    reserve(&b->values, &b->max_values, n_values, sizeof(*b->values)))
		return true;
	r->dropped_passes += n_passes;
	return false;
}

/* It is left out where it is the only one that the passes draw to. */
static void
leave_out_surface(struct tally_frame_record *r)
{
	bool drawn = false;
	for (uint32_t i = 0; i < r->n_passes; i++) {
		int64_t surface = r->passes[i].surface;
		if (surface >= 0 && surface != r->surface)
			return;
		drawn |= surface >= 0;
	}
	if (drawn)
		r->surface = -1;
}

struct tally_pass_record *
tally_frame_passes(struct tally_frame_builder *b)
{
	return b->passes;
}

struct tally_frame_record *
tally_frame_build(struct tally_frame_builder *b, const struct tally_frame_input *in,
		  const struct tally_frame_new *is_new)
{
	if (!begin_record(b, in))
		return &b->record;
	b->presented = in->presented.size;
	if (in->seen != b->seen && b->n_slots)
		memset(b->ordinals, 0, b->n_slots * sizeof(*b->ordinals));
	b->seen = in->seen;
	next_epoch(&b->ordinal_epoch, b->ordinals, b->n_slots * sizeof(*b->ordinals));
	uint64_t longest_ns;
	if (__builtin_mul_overflow(b->record.cpu_ns, UINT64_C(4), &longest_ns) ||
	    __builtin_add_overflow(longest_ns, BAD_TIME_SLACK_NS, &longest_ns))
		longest_ns = UINT64_MAX;

	for (int late = 0; late < 2; late++) {
		const struct tally_frame_part *part = in->parts;
		for (uint64_t i = 0; i < in->n_parts; i++, part = part->next) {
			if ((part->frame != in->frame) == late)
				add_part(b, part, longest_ns, is_new);
		}
	}
	b->record.passes = b->passes;
	tally_order_passes(b->passes, b->begun, b->record.n_passes);
	leave_out_surface(&b->record);
	finish_totals(b);
	finish_times(b);
	return &b->record;
}

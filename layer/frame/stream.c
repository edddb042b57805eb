/* SPDX-License-Identifier: MIT */
#include "layer/frame/stream.h"

#include "layer/base/clock.h"
#include "layer/capture/capture.h"
#include "layer/event/late.h"
#include "layer/frame/frame_part.h"
#include "layer/frame/intern.h"
#include "layer/frame/queue.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES_OF_PASSES 8 /* chunks kept for this many full frames */
#define BACKLOG_BYTES (8u << 20) /* more frames than that wait for the log in so much memory */
#define LINE 64 /* where chunks begin */
#define LOADS_OF_PASSES 8 /* a full frame's workloads, as a multiple of its passes */
#define FRAMES_OF_LOADS 2
#define LONG_FRAME_NS UINT64_C(10000000)
#define LONG_APART_NS UINT64_C(100000000)

/* Whether the stream belongs to the running capture, not to one that ended
 * or to a parent process. */
static bool
is_live(const struct tally_stream *s)
{
	return s->generation == tally_capture_generation();
}

/* Items that have results are followed by them. */
static size_t
chunk_bytes(const struct tally_stream *s, size_t items, bool results)
{
	size_t n = results ? s->info.n_counters : 0;
	return items + TALLY_CHUNK_PASSES *
			       (n * sizeof(struct tally_value) + (n + 63) / 64 * sizeof(uint64_t));
}

struct tally_stream *
tally_stream_create(struct tally_device *device, const struct tally_stream_info *info)
{
	const struct tally_config *config = tally_capture_config();
	if (!device || !config || device->generation != tally_capture_generation())
		return NULL;
	struct tally_message *message = calloc(1, sizeof(*message));
	struct tally_stream *s = calloc(1, sizeof(*s));
	if (!message || !s)
		goto fail;
	s->out = tally_ring_create(TALLY_MAX_PARTS);
	s->back = tally_ring_create(TALLY_MAX_PARTS);
	s->interned = tally_intern_cache_create();
	uint32_t n_named = info->counters ? info->n_counters : 0;
	if (n_named)
		s->counters = calloc(n_named, sizeof(const struct tally_counter *));
	if (!s->out || !s->back || !s->interned || (n_named && !s->counters))
		goto fail;
	if (n_named)
		memcpy(s->counters, info->counters, info->n_counters * sizeof(*s->counters));
	s->info = *info;
	s->info.counters = s->counters;
	s->device = device;
	s->generation = device->generation;
	s->number = atomic_fetch_add(&device->n_streams_made, 1);
	s->max_passes = config->max_passes;
	s->chunks.max = FRAMES_OF_PASSES * (s->max_passes / TALLY_CHUNK_PASSES + 1);
	s->backlog = BACKLOG_BYTES / chunk_bytes(s, sizeof(struct tally_chunk), true);
	s->chunks.many = 2 + s->chunks.max / 16;
	if (s->chunks.many > s->backlog / 2)
		s->chunks.many = s->backlog / 2;
	s->max_workloads = (uint64_t)LOADS_OF_PASSES * s->max_passes;
	s->loads.max = FRAMES_OF_LOADS * (s->max_workloads / TALLY_CHUNK_PASSES + 1);
	s->loads.many = 2 + s->loads.max / 16;
	s->uses.max = s->loads.max;
	atomic_init(&s->refs, 2);
	atomic_init(&s->oldest_open, UINT64_MAX);
	message->kind = TALLY_MESSAGE_STREAM;
	message->stream = s;
	atomic_fetch_add(&device->refs, 1);
	if (tally_queue_post(message))
		return s;
	atomic_fetch_sub(&device->refs, 1);
fail:
	if (s) {
		tally_ring_destroy(s->out);
		tally_ring_destroy(s->back);
		tally_intern_cache_destroy(s->interned);
		free(s->counters);
	}
	free(s);
	free(message);
	return NULL;
}

static void
free_chunks(struct tally_chunk *chunk)
{
	while (chunk) {
		struct tally_chunk *next = chunk->next;
		free(chunk->memory);
		chunk = next;
	}
}

static void
free_parts(struct tally_frame_part *part)
{
	while (part) {
		struct tally_frame_part *next = part->next;
		free_chunks(part->first);
		free_chunks(part->loads.first);
		free_chunks(part->uses.first);
		free(part);
		part = next;
	}
}

void
tally_stream_unref(struct tally_stream *s)
{
	if (atomic_fetch_sub(&s->refs, 1) != 1)
		return;
	struct tally_frame_part *part;
	while ((part = tally_ring_pop(s->out)) || (part = tally_ring_pop(s->back))) {
		part->next = NULL;
		free_parts(part);
	}
	free_parts(s->head);
	free_parts(s->free_parts);
	free_chunks(s->chunks.free);
	free_chunks(s->loads.free);
	free_chunks(s->uses.free);
	tally_ring_destroy(s->out);
	tally_ring_destroy(s->back);
	tally_intern_cache_destroy(s->interned);
	free(s->counters);
	tally_device_unref(s->device);
	free(s);
}

const struct tally_target *
tally_stream_intern_target(struct tally_stream *stream, const struct tally_target *target)
{
	return tally_intern_target(stream->interned, target);
}

const char *
tally_stream_intern_label(struct tally_stream *stream, const char *text, size_t len)
{
	return tally_intern_label(stream->interned, text, len);
}

__attribute__((hot)) bool
tally_stream_captures(struct tally_stream *s)
{
	return (atomic_load_explicit(&s->device->state, memory_order_relaxed) & 1) && is_live(s);
}

/* ---- memory ---- */

/* Takes back a list of chunks that hold `n` items. */
static void
put_chunks(struct tally_chunk_pool *pool, struct tally_chunk *first, struct tally_chunk *last,
	   uint32_t n)
{
	if (!last)
		return;
	pool->n_free += (n + TALLY_CHUNK_PASSES - 1) / TALLY_CHUNK_PASSES;
	last->next = pool->free;
	pool->free = first;
}

/* Takes back the parts that the collector has finished with. */
static __attribute__((hot)) void
take_back(struct tally_stream *s)
{
	struct tally_frame_part *part;
	while ((part = tally_ring_pop(s->back))) {
		s->n_out--;
		put_chunks(&s->chunks, part->first, part->last, part->n_passes);
		put_chunks(&s->loads, part->loads.first, part->loads.last, part->loads.n);
		put_chunks(&s->uses, part->uses.first, part->uses.last, part->uses.n);
		part->first = part->last = NULL;
		part->loads = part->uses = (struct tally_chunk_list){ .n = 0 };
		part->next = s->free_parts;
		s->free_parts = part;
	}
}

_Static_assert(offsetof(struct tally_pass, valid) ==
		       offsetof(struct tally_pass, values) + sizeof(void *) &&
	       offsetof(struct tally_workload, valid) ==
		       offsetof(struct tally_workload, values) + sizeof(void *), "take_chunk()");

/* A chunk of `size` bytes. Its items are `each` bytes long; in the first one `values`, followed by
 * `valid`, is at `results`; 0: they have no results. NULL: the maximum number exists, or there is
 * no memory. */
static struct tally_chunk *
take_chunk(struct tally_stream *s, struct tally_chunk_pool *pool, size_t size, size_t results,
	   size_t each)
{
	struct tally_chunk *chunk = pool->free;
	if (chunk) {
		pool->free = chunk->next;
		pool->n_free--;
		chunk->next = NULL;
		return chunk;
	}
	size_t n = results ? s->info.n_counters : 0, words = (n + 63) / 64;
	if (pool->n == pool->max)
		return NULL;
	/* Each pass and workload is cleared when it opens. A game's own malloc() and free() may be
	 * without aligned_alloc(). */
	void *memory = malloc(chunk_bytes(s, size, results) + LINE - 1);
	if (!memory)
		return NULL;
	chunk = (void *)((char *)memory + (0 - (uintptr_t)memory) % LINE);
	chunk->next = NULL;
	chunk->memory = memory;
	pool->n++;
	struct tally_value *values = (struct tally_value *)(void *)((char *)chunk + size);
	uint64_t *valid = (uint64_t *)(values + TALLY_CHUNK_PASSES * n);
	for (size_t i = 0; results && i < TALLY_CHUNK_PASSES; i++) {
		char *at = (char *)chunk + results + i * each;
		*(struct tally_value **)(void *)at = values + i * n;
		*(uint64_t **)(void *)(at + sizeof(values)) = valid + i * words;
	}
	return chunk;
}

static struct tally_frame_part *
take_part(struct tally_stream *s)
{
	take_back(s);
	struct tally_frame_part *part = s->free_parts;
	if (part) {
		s->free_parts = part->next;
	} else if (s->n_parts < TALLY_MAX_PARTS) {
		part = malloc(sizeof(*part));
		if (!part)
			return NULL;
		s->n_parts++;
	} else {
		return NULL;
	}
	memset(part, 0, offsetof(struct tally_frame_part, events));
	part->stream = s;
	return part;
}

/* ---- frames ---- */

/* Whether frames come faster than they are written. Late results are no reason. */
static bool
is_behind(const struct tally_stream *s)
{
	return s->n_out >= FRAMES_OF_PASSES && s->chunks.n - s->chunks.n_free >= s->backlog;
}

/* This stream's part of the frame that is open according to `state`. NULL: the device has begun
 * another frame meanwhile (its state has changed), or there is no memory (it has not). */
static __attribute__((hot)) struct tally_frame_part *
part_of(struct tally_stream *s, uint64_t state)
{
	uint64_t frame = state >> 1;
	if (s->tail && s->tail->frame == frame)
		return s->tail;
	struct tally_frame_part *part = take_part(s);
	if (!part)
		return NULL;
	/* Publish the frame that we may add to, then check again: see frame_part.h. */
	if (!s->head)
		atomic_store(&s->oldest_open, frame);
	atomic_store(&s->newest_open, frame + 1);
	if (atomic_load(&s->device->state) != state) {
		if (!s->head)
			atomic_store(&s->oldest_open, UINT64_MAX);
		part->next = s->free_parts;
		s->free_parts = part;
		return NULL;
	}
	part->frame = frame;
	part->captured = state & 1;
	part->max_passes = is_behind(s) ? 0 : s->max_passes;
	part->dropped = s->lost_passes;
	s->lost_passes = 0;
	part->lost_frame = s->lost_frame;
	part->lost_now_ns = s->lost_now_ns;
	s->lost_frame = 0;
	if (s->spare_overhead_frame == frame)
		part->overhead_ns = s->spare_overhead_ns;
	s->spare_overhead_ns = 0;
	if (s->tail)
		s->tail->next = part;
	else
		s->head = part;
	s->tail = part;
	if (!s->cursor)
		s->cursor = part;
	return part;
}

/* Most have one word of valid bits: no call is needed for that. */
static void
clear_valid(uint64_t *valid, uint32_t n)
{
	if (n)
		valid[0] = 0;
	if (n > 64)
		memset(valid + 1, 0, (n - 1) / 64 * sizeof(*valid));
}

/* The collector's processor has the pass in its cache, `n` after this one: it is brought here while
 * the game issues the work of those. After a chunk's last pass it is a pass of none: no harm. */
static void
fetch_ahead(const struct tally_pass *pass, uint32_t n)
{
	uintptr_t next = (uintptr_t)(pass + n);
	for (uintptr_t i = 0; i < sizeof(*pass); i += 64)
		__builtin_prefetch((const void *)(next + i), 1);
}

/* The part that passes are added to now. NULL: nothing is captured, or there is no memory. */
static inline struct tally_frame_part *
open_part(struct tally_stream *s, uint32_t n)
{
	for (;;) {
		uint64_t state = atomic_load_explicit(&s->device->state, memory_order_acquire);
		if (!(state & 1))
			return NULL;
		bool newest = s->tail && s->tail->frame == state >> 1;
		struct tally_frame_part *part = newest ? s->tail : part_of(s, state);
		if (part)
			return part;
		if (atomic_load(&s->device->state) == state) {
			s->lost_passes += n;
			return NULL;
		}
	}
}

static bool
add_chunk(struct tally_stream *s, struct tally_frame_part *part)
{
	struct tally_chunk *chunk = take_chunk(s, &s->chunks, sizeof(*chunk),
					       offsetof(struct tally_chunk, passes[0].values),
					       sizeof(struct tally_pass));
	if (!chunk)
		return false;
	if (part->last)
		part->last->next = chunk;
	else
		part->first = part->done = chunk;
	part->last = chunk;
	return true;
}

/* Inline twice: most open one, and for that it is half as long. */
static inline __attribute__((always_inline, hot)) struct tally_pass *
open_passes(struct tally_stream *s, uint64_t now_ns, bool listed, uint32_t *n)
{
	struct tally_frame_part *part = is_live(s) ? open_part(s, *n) : NULL;
	if (!part)
		return NULL;
	uint32_t opened = listed ? part->n_passes - part->n_unlisted : part->n_unlisted;
	uint32_t room = opened < part->max_passes ? part->max_passes - opened : 0;
	uint32_t at = part->n_passes % TALLY_CHUNK_PASSES;
	if (!room || (at == 0 && !add_chunk(s, part))) {
		part->dropped += *n;
		return NULL;
	}
	struct tally_pass *passes = &part->last->passes[at];
	room = room < TALLY_CHUNK_PASSES - at ? room : TALLY_CHUNK_PASSES - at;
	*n = *n < room ? *n : room;
	now_ns = now_ns ? now_ns : tally_clock_now_ns();
	for (uint32_t i = 0; i < *n; i++) {
		struct tally_pass *pass = passes + i;
		fetch_ahead(pass, *n);
		memset(pass, 0, offsetof(struct tally_pass, values));
		pass->slot = TALLY_PASS_NO_SLOT;
		pass->surface = -1;
		pass->cpu_start_ns = now_ns;
		pass->unattributed = !listed;
		pass->part = part;
		clear_valid(pass->valid, s->info.n_counters);
	}
	part->n_passes += *n;
	part->n_unlisted += listed ? 0 : *n;
	return passes;
}

__attribute__((hot)) struct tally_pass *
tally_stream_open_pass(struct tally_stream *s, uint64_t now_ns)
{
	return open_passes(s, now_ns, true, &(uint32_t){ 1 });
}

__attribute__((hot)) struct tally_pass *
tally_stream_open_passes(struct tally_stream *s, uint64_t now_ns, bool listed, uint32_t *n)
{
	return open_passes(s, now_ns, listed, n);
}

void
tally_stream_unlist_pass(struct tally_pass *pass)
{
	pass->unattributed = true;
	pass->part->n_unlisted++;
}

void
tally_stream_picture_pass(struct tally_pass *pass, uint32_t number)
{
	pass->picture = number;
	pass->part->pictured = true;
}

__attribute__((hot)) uint64_t
tally_stream_pass_frame(const struct tally_pass *pass)
{
	return pass->part->frame;
}

void
tally_stream_use_set(struct tally_stream *s, const char *name)
{
	if (s->tail && !s->tail->set)
		s->tail->set = name;
}

/* Memory for one more item of the list, or NULL: as many as workloads are allowed. `results`: as of
 * take_chunk(), in an item. */
static void *
take_item(struct tally_stream *s, struct tally_chunk_pool *pool, struct tally_chunk_list *list,
	  size_t size, size_t results)
{
	const size_t head = offsetof(struct tally_chunk, passes);
	if (list->n == s->max_workloads)
		return NULL;
	if (list->n % TALLY_CHUNK_PASSES == 0) {
		struct tally_chunk *chunk = take_chunk(s, pool, head + TALLY_CHUNK_PASSES * size,
						       results ? head + results : 0, size);
		if (!chunk)
			return NULL;
		*(list->last ? &list->last->next : &list->first) = chunk;
		list->last = chunk;
	}
	return (char *)list->last + head + list->n++ % TALLY_CHUNK_PASSES * size;
}

struct tally_workload *
tally_stream_add_workload(struct tally_stream *s, struct tally_pass *pass)
{
	if (!is_live(s))
		return NULL;
	struct tally_workload *load = take_item(s, &s->loads, &pass->part->loads, sizeof(*load),
						offsetof(struct tally_workload, values));
	if (!load) {
		pass->flags |= TALLY_FLAG(DROPPED);
		return NULL;
	}
	struct tally_value *values = load->values;
	uint64_t *valid = load->valid;
	*load = (struct tally_workload){
		.slot = TALLY_PASS_NO_SLOT,
		.values = values,
		.valid = valid,
	};
	clear_valid(valid, s->info.n_counters);
	if (pass->last_workload)
		pass->last_workload->next = load;
	else
		pass->workloads = load;
	pass->last_workload = load;
	pass->n_workloads++;
	return load;
}

void
tally_stream_use_pipeline(struct tally_stream *s, struct tally_pass *pass,
			  struct tally_pipeline *pipeline,
			  const struct tally_call_counts *call_counts)
{
	if (!is_live(s))
		return;
	struct tally_pipeline_use *use = take_item(s, &s->uses, &pass->part->uses, sizeof(*use), 0);
	if (!use) {
		pass->flags |= TALLY_FLAG(UNCOUNTED);
		return;
	}
	*use = (struct tally_pipeline_use){ .pipeline = pipeline, .call_counts = *call_counts };
	if (pass->last_use)
		pass->last_use->next = use;
	else
		pass->uses = use;
	pass->last_use = use;
}

__attribute__((hot)) void
tally_stream_add_overhead(struct tally_stream *s, uint64_t ns)
{
	uint64_t state = atomic_load_explicit(&s->device->state, memory_order_relaxed);
	uint64_t frame = state >> 1;
	if (!(state & 1))
		return;
	if (s->tail && s->tail->frame == frame) {
		s->tail->overhead_ns += ns;
		return;
	}
	if (s->spare_overhead_frame != frame)
		s->spare_overhead_ns = 0;
	s->spare_overhead_frame = frame;
	s->spare_overhead_ns += ns;
}

void
tally_stream_add_dropped(struct tally_stream *s, uint64_t n)
{
	uint64_t state = atomic_load_explicit(&s->device->state, memory_order_relaxed);
	if (!(state & 1) || !is_live(s))
		return;
	if (s->tail && s->tail->frame == state >> 1)
		s->tail->dropped += n;
	else
		s->lost_passes += n;
}

/* A frame that took more than twice its predecessor's time: the collector reads at once what the
 * program's threads did meanwhile, but not more often than it would wake up by itself. */
static void
report_long(struct tally_stream *s, uint64_t frame, uint64_t now_ns)
{
	uint64_t ns = s->ended_frame == frame ? now_ns - s->ended_ns : 0;
	bool is_long = s->frame_ns && ns / 2 > s->frame_ns && ns > LONG_FRAME_NS &&
		       now_ns - s->long_ns > LONG_APART_NS;
	s->ended_frame = frame + 1;
	s->ended_ns = now_ns;
	s->frame_ns = ns;
	if (!is_long)
		return;
	s->long_ns = now_ns;
	atomic_store(&s->device->long_frame, true);
	tally_queue_notify(true);
}

__attribute__((hot)) void
tally_stream_end_frame(struct tally_stream *s, const struct tally_frame_end *end)
{
	if (!is_live(s))
		return;
	if (end->presented.size.width)
		atomic_store(&s->device->presents, true);
	for (;;) {
		uint64_t state = atomic_load(&s->device->state);
		uint64_t frame = state >> 1;
		bool wanted = tally_capture_wants_frame(frame + 1, &s->device->count);
		/* The end of an uncaptured frame matters if a captured one begins there. */
		bool matters = (state & 1) || wanted;
		struct tally_frame_part *part = matters ? part_of(s, state) : NULL;
		if (matters && !part && atomic_load(&s->device->state) != state)
			continue;
		uint64_t now_ns = matters && !end->now_ns ? tally_clock_now_ns() : end->now_ns;
		uint64_t next = (frame + 1) << 1 | (wanted ? 1 : 0);
		if (!atomic_compare_exchange_strong(&s->device->state, &state, next))
			continue; /* another stream ended it first: this ends the next frame */
		if (state & 1)
			atomic_fetch_add(&s->device->n_ended, 1);
		tally_events_take(part && part->captured ? &part->events : NULL);
		if (part) {
			part->ends = true;
			part->end = *end;
			part->end.now_ns = now_ns;
			part->end.thread = tally_clock_thread();
			tally_late_frame_ended(part->end.thread.thread, now_ns, wanted);
			report_long(s, frame, now_ns);
		} else if (matters) {
			s->lost_frame = frame + 1;
			s->lost_now_ns = now_ns;
		}
		return;
	}
}

_Atomic uint64_t tally_n_presented_by_vulkan;

void
tally_presented_by_vulkan(void)
{
	atomic_fetch_add(&tally_n_presented_by_vulkan, 1);
}

bool
tally_stream_was_presented(struct tally_stream *s)
{
	struct tally_device *d = s->device;
	uint64_t now = atomic_load(&tally_n_presented_by_vulkan);
	uint64_t before = atomic_load(&d->presented);
	return !atomic_load(&d->presents) && before < now &&
	       atomic_compare_exchange_strong(&d->presented, &before, now);
}

/* ---- results ---- */

/* Those before it are counted as done in its part. */
__attribute__((hot)) struct tally_pass *
tally_stream_pending(struct tally_stream *s, uint64_t *age_frames)
{
	while (s->cursor) {
		struct tally_frame_part *part = s->cursor;
		for (; part->n_done < part->n_passes; part->n_done++) {
			if (part->n_done - part->done_base >= TALLY_CHUNK_PASSES) {
				part->done = part->done->next;
				part->done_base += TALLY_CHUNK_PASSES;
			}
			struct tally_pass *pass =
				&part->done->passes[part->n_done % TALLY_CHUNK_PASSES];
			if (pass->done)
				continue;
			*age_frames = (atomic_load(&s->device->state) >> 1) - part->frame;
			return pass;
		}
		if (!part->next)
			break; /* may still get passes */
		s->cursor = part->next;
	}
	return NULL;
}

/* Hands over, oldest first, the parts of frames before `frame` whose passes are all done. */
static __attribute__((hot)) void
hand_over(struct tally_stream *s, uint64_t frame)
{
	bool any = false;
	tally_stream_pending(s, &(uint64_t){ 0 });
	while (s->head && s->head->frame < frame && s->head->n_done == s->head->n_passes) {
		struct tally_frame_part *part = s->head;
		/* The ring has room for all parts, so only a bug can make this fail. */
		struct tally_frame_part *next = part->next;
		if (s->cursor == part)
			s->cursor = next;
		part->next = NULL;
		if (!tally_ring_push(s->out, part)) {
			part->next = next;
			s->cursor = part;
			break;
		}
		s->n_out++;
		s->head = next;
		if (!next)
			s->tail = NULL;
		any = true;
	}
	if (!any)
		return;
	/* This comes after the push: a thread that sees the gate open must
	 * find the part in the ring. */
	atomic_store(&s->oldest_open, s->head ? s->head->frame : UINT64_MAX);
	tally_queue_notify(tally_stream_hurries(s));
}

__attribute__((hot)) void
tally_stream_publish(struct tally_stream *s)
{
	if (!is_live(s))
		return;
	take_back(s);
	hand_over(s, tally_device_frame(s->device));
}

void
tally_stream_publish_last(struct tally_stream *s)
{
	if (is_live(s))
		hand_over(s, UINT64_MAX);
}

void
tally_stream_destroy(struct tally_stream *s)
{
	if (!s)
		return;
	if (is_live(s)) {
		uint64_t age;
		struct tally_pass *pass;
		while ((pass = tally_stream_pending(s, &age))) {
			pass->flags |= TALLY_FLAG(LOST);
			pass->done = true;
		}
		hand_over(s, UINT64_MAX);
		atomic_store(&s->gone, true);
		tally_queue_notify(true);
	}
	tally_stream_unref(s);
}

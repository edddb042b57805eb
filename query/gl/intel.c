/* SPDX-License-Identifier: MIT */
/* Hardware counters by INTEL performance queries. One query at a time is active in a context. A
 * set is a type of query; its handles are reused and never deleted while the GPU may still
 * write to them, because deleting would make the driver wait. docs/sources.md describes what
 * Mesa does in these calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "layer/base/array.h"
#include "query/gl/intel_list.h"
#include "query/source/noop.h"

#define SOURCE_NAME "gl-intel"
#define NONE TALLY_INTEL_NONE
#define SLACK 4096 /* drivers may write more than they announced */
#define MAX_FAILURES 8 /* consecutive; more attempts would not help */
#define GL_TIMESTAMP 0x8E28
#define CREATE_AGAIN 16 /* gaps after the driver refused to create a handle */
#define AWAIT_TRIES 100 /* of one millisecond each, once in a run */

struct intel_handle {
	unsigned name; /* 0 = the driver's object is deleted */
	uint32_t set;
	uint32_t next; /* the next in the set's free list, or among the orphans */
	uint64_t ended; /* the frame in which it ended */
};

/* The handle of a slot, or why it has none, and what it waits for. */
struct intel_slot {
	uint32_t handle; /* NONE: no result will arrive */
	bool running, lost;
	bool over_other; /* begun while results of another set were outstanding */
	uint64_t polled; /* the gap at which it was last polled */
	uint64_t flags;
};

struct gl_intel {
	struct tally_source base;
	struct tally_gl_api *api;
	const struct tally_intel_dialect *dialect;

	struct tally_intel_offer offer;
	bool *sets_off;

	struct intel_slot *slots;
	struct intel_handle *handles;
	uint32_t n_slots, n_handles, room_handles;
	/* Given up while their results were outstanding, oldest first. */
	uint32_t orphans, last_orphan;
	/* A timestamp after the end of all orphans, 0 = none; once it has its result, they have
	 * theirs. */
	unsigned sign;
	bool landed;
	uint32_t active; /* a slot, or NONE */
	uint64_t gaps;
	/* Consecutive: of the observation unit, of the pipeline's registers. */
	uint32_t failures[2];
	bool sets_exclude; /* another set can begin only after all results are read */
	bool yielded;
	bool awaited; /* the only wait that await_orphans() may make is over */
	void *data;
};

static struct gl_intel *
intel_of(struct tally_source *src)
{
	return (struct gl_intel *)src;
}

/* ---- texts for people ---- */

static void
report_pipeline_only(struct gl_intel *in)
{
	char how[160];
	for (uint32_t i = 0; i < in->offer.n_sets; i++) {
		if (!in->offer.sets[i].pipeline)
			return;
	}
	tally_intel_explain_permission(how, sizeof(how));
	if (how[0])
		snprintf(in->base.reason, sizeof(in->base.reason),
			 "the GPU's own counters are not offered to this user%s", how);
}

/* ---- handles, inside the guard ---- */

static void
push(struct gl_intel *in, uint32_t *list, uint32_t handle)
{
	in->handles[handle].next = *list;
	*list = handle;
}

static uint32_t
pop(struct gl_intel *in, uint32_t *list)
{
	uint32_t handle = *list;
	if (handle != NONE)
		*list = in->handles[handle].next;
	return handle;
}

/* Appends the handle at the end of the list, so that all are asked in turn. */
static void
push_orphan(struct gl_intel *in, uint32_t handle)
{
	in->handles[handle].next = NONE;
	if (in->orphans == NONE)
		in->orphans = handle;
	else
		in->handles[in->last_orphan].next = handle;
	in->last_orphan = handle;
}

static uint32_t
take_handle(struct gl_intel *in, uint32_t which)
{
	struct tally_intel_set *set = &in->offer.sets[which];
	uint32_t handle = pop(in, &set->free);
	if (handle != NONE)
		return handle;
	if (set->n_handles == set->limit || in->n_handles == in->room_handles ||
	    in->gaps < set->refused_until)
		return NONE;
	unsigned name = 0;
	in->api->CreatePerfQueryINTEL(set->query, &name);
	if (!name) {
		set->refused_until = in->gaps + CREATE_AGAIN; /* do not retry at every pass */
		return NONE;
	}
	set->n_handles++;
	in->handles[in->n_handles] = (struct intel_handle){ .name = name, .set = which };
	return in->n_handles++;
}

/* The handle's results are read, or it was never begun. */
static void
free_handle(struct gl_intel *in, uint32_t handle)
{
	struct intel_handle *h = &in->handles[handle];
	if (in->yielded) {
		in->api->DeletePerfQueryINTEL(h->name);
		h->name = 0;
	} else {
		push(in, &in->offer.sets[h->set].free, handle);
	}
}

/* ---- failures ---- */

/* Sets of one kind will never count: they are taken out. The reason is shown once no
 * set is left. */
#define OTHERS \
	": one program at a time has them, another may (intel_gpu_top -m, GPUVis, Perfetto)"

static void
give_up(struct gl_intel *in, bool pipeline)
{
	char how[120];
	bool all = true;
	for (uint32_t i = 0; i < in->offer.n_sets; i++) {
		in->sets_off[i] |= in->offer.sets[i].pipeline == pipeline;
		all &= in->sets_off[i];
	}
	in->base.off = all;
	tally_intel_explain_permission(how, sizeof(how));
	if (pipeline)
		snprintf(in->base.reason, sizeof(in->base.reason),
			 "the driver fails to begin its pipeline queries");
	else
		snprintf(in->base.reason, sizeof(in->base.reason),
			 "the driver does not begin the GPU's counters%s", how[0] ? how : OTHERS);
}

/* Nothing more is begun, whatever the set. */
static void
stop(struct gl_intel *in, const char *why)
{
	for (uint32_t i = 0; i < in->offer.n_sets; i++)
		in->sets_off[i] = true;
	in->base.off = true;
	snprintf(in->base.reason, sizeof(in->base.reason), "%s", why);
}

static void
failed(struct gl_intel *in, uint32_t which, bool over_other)
{
	bool pipeline = in->offer.sets[which].pipeline;
	/* In Mesa a set can begin only when no results of another are unread. That is not a
	 * failure, but from then on the results are awaited before the next set begins. */
	if (over_other) {
		in->sets_exclude = true;
		in->base.turn_frames = TALLY_INTEL_LONG_TURN;
	} else if (++in->failures[pipeline] >= MAX_FAILURES) {
		give_up(in, pipeline);
	}
}

/* Whether results of another set of the observation unit are outstanding. */
static bool
others_are_out(const struct gl_intel *in, uint32_t which)
{
	for (uint32_t i = 0; i < in->offer.n_sets && !in->offer.sets[which].pipeline; i++) {
		if (i != which && !in->offer.sets[i].pipeline && in->offer.sets[i].pending)
			return true;
	}
	return false;
}

/* Ends the query of a handle, outside the guard. False: it is unknown whether it still
 * counts. Anything begun now would lie inside it, and deleting it may wait, so nothing
 * more is begun. */
static bool
end_handle(struct gl_intel *in, uint32_t handle)
{
	struct intel_handle *h = &in->handles[handle];

	h->ended = in->base.frame;
	for (int tries = 0; tries < 2; tries++) {
		tally_gl_guard_begin(in->api);
		in->api->EndPerfQueryINTEL(h->name);
		if (!tally_gl_guard_end(in->api))
			return true;
	}
	stop(in, "the driver fails to end its queries");
	return false;
}

/* ---- reading, inside the guard ---- */

/* Decodes the `written` bytes. False: the set's own time is 0. Mesa returns zeros for all
 * counters where a report of the unit is missing: the batch was lost. */
static bool
decode(struct gl_intel *in, const struct tally_intel_set *set, size_t written,
       struct tally_sample *out)
{
	for (uint32_t i = set->first; i < set->first + set->n_places; i++) {
		const struct tally_intel_place *place = &in->offer.places[i];
		struct tally_value value;
		if (!tally_intel_decode(&place->field, in->data, written, &value))
			continue;
		if (place->elapsed && !value.u64)
			return false;
		if (place->disturbs && value.u64)
			out->flags |= TALLY_FLAG(DISTURBED);
		if (place->value == NONE || place->value >= out->n)
			continue;
		out->values[place->value] = value;
		out->valid[place->value / 64] |= UINT64_C(1) << (place->value % 64);
	}
	return true;
}

static unsigned
ask(struct gl_intel *in, uint32_t handle, unsigned *written)
{
	uint32_t size = in->offer.sets[in->handles[handle].set].data_size;

	memset(in->data, 0, size);
	*written = 0;
	tally_gl_guard_begin(in->api);
	in->api->GetPerfQueryDataINTEL(in->handles[handle].name, in->dialect->read_flags,
				       (int)size, in->data, written);
	return tally_gl_guard_end(in->api);
}

/* Queries the results of a handle: afterwards it is free unless TALLY_NOT_READY. */
static enum tally_status
fetch(struct gl_intel *in, uint32_t handle, struct tally_sample *out)
{
	uint32_t which = in->handles[handle].set;
	struct tally_intel_set *set = &in->offer.sets[which];
	unsigned written = 0;

	unsigned error = ask(in, handle, &written);
	/* A begin that failed reports the error on every call. Another error may come from
	 * this call alone, so it is repeated: begun again unread, the query would make the
	 * driver wait. */
	if (error)
		error = ask(in, handle, &written);
	if (!written && !error)
		return TALLY_NOT_READY;
	set->pending--;
	tally_gl_guard_begin(in->api);
	free_handle(in, handle);
	tally_gl_guard_end(in->api);
	if (!written || error)
		return TALLY_LOST;
	if (out && !decode(in, set, written < set->data_size ? written : set->data_size, out)) {
		memset(out->valid, 0, (out->n + 63) / 64 * sizeof(*out->valid));
		out->undone = true;
		return TALLY_LOST;
	}
	in->failures[set->pipeline] = 0;
	return TALLY_OK;
}

/* Asks for the sign that the GPU gets past everything issued so far. Where it is lost, Mesa waits
 * without end in a call for results that will never come, whatever the flags of the call. */
static void
ask_for_sign(struct gl_intel *in)
{
	const struct tally_gl_api *api = in->api;

	in->landed = !api->QueryCounter || !api->GenQueries || !api->GetQueryObjectuiv;
	if (in->landed)
		return;
	tally_gl_guard_begin(in->api);
	if (!in->sign)
		api->GenQueries(1, &in->sign);
	if (in->sign)
		api->QueryCounter(in->sign, GL_TIMESTAMP);
	tally_gl_guard_end(in->api);
}

static bool
has_landed(struct gl_intel *in)
{
	uint64_t ticks;

	if (in->landed || !in->sign)
		return in->landed;
	tally_gl_guard_begin(in->api);
	in->landed = tally_gl_result(in->api, tally_gl_has_no_wait(in->api), in->sign, &ticks);
	tally_gl_guard_end(in->api);
	return in->landed;
}

/* Handles whose results are no longer wanted, because of a yield: the driver's objects are deleted
 * once their work is done, even in the same frame, as each prevents the game's own metric set from
 * beginning. */
static void
fetch_orphans(struct gl_intel *in)
{
	uint32_t last = in->last_orphan;

	while (in->orphans != NONE && has_landed(in)) {
		uint32_t handle = pop(in, &in->orphans);
		if (fetch(in, handle, NULL) == TALLY_NOT_READY)
			push_orphan(in, handle);
		if (handle == last)
			break;
	}
}

/* ---- the source ---- */

static enum tally_status
intel_grow(struct tally_source *src, uint32_t slots)
{
	struct gl_intel *in = intel_of(src);
	if (!tally_array_resize(&in->slots, slots, sizeof(*in->slots)))
		return TALLY_NO_MEMORY;
	uint32_t each = slots < TALLY_INTEL_MAX_HANDLES ? slots : TALLY_INTEL_MAX_HANDLES;
	uint32_t room = (each + 1) * in->offer.n_sets;
	if (room > in->room_handles) {
		if (!tally_array_resize(&in->handles, room, sizeof(*in->handles)))
			return TALLY_NO_MEMORY;
		in->room_handles = room;
	}
	for (uint32_t i = in->n_slots; i < slots; i++)
		in->slots[i] = (struct intel_slot){ .handle = NONE };
	in->n_slots = slots;
	return TALLY_OK;
}

static void
intel_abandon(struct tally_source *src)
{
	struct gl_intel *in = intel_of(src);

	tally_intel_offer_finish(&in->offer);
	free(in->sets_off);
	free(in->slots);
	free(in->handles);
	free(in->data);
	*in = (struct gl_intel){ .base = in->base, .api = in->api };
	src->counters = NULL;
	src->sets = NULL;
	src->sets_off = NULL;
	src->n_counters = src->n_sets = 0;
}

static bool
has_calls(const struct tally_gl_api *api)
{
	return api->GetFirstPerfQueryIdINTEL && api->GetNextPerfQueryIdINTEL &&
	       api->GetPerfQueryInfoINTEL && api->GetPerfCounterInfoINTEL &&
	       api->CreatePerfQueryINTEL && api->DeletePerfQueryINTEL &&
	       api->BeginPerfQueryINTEL && api->EndPerfQueryINTEL &&
	       api->GetPerfQueryDataINTEL && api->GetError;
}

/* Everything that allocates memory. */
static enum tally_status
set_up(struct gl_intel *in, uint32_t slots)
{
	tally_gl_guard_begin(in->api);
	bool ok = tally_intel_list(&in->offer, in->api, in->dialect, &in->base);
	tally_gl_guard_end(in->api);
	in->sets_off = calloc(in->offer.n_sets + 1, sizeof(*in->sets_off));
	if (!ok || !in->sets_off)
		return TALLY_NO_MEMORY;
	if (!in->offer.n_sets)
		return TALLY_UNSUPPORTED;
	in->data = calloc(1, (size_t)in->offer.data_size + SLACK);
	return in->data ? intel_grow(&in->base, slots) : TALLY_NO_MEMORY;
}

static enum tally_status
intel_open(struct tally_source *src, uint32_t slots)
{
	struct gl_intel *in = intel_of(src);

	src->reason[0] = '\0';
	in->dialect = tally_intel_dialect_of(in->api);
	if (!in->dialect || !has_calls(in->api))
		return tally_unsupported(src->reason, "needs GL_INTEL_performance_query");
	in->orphans = in->active = NONE;
	enum tally_status status = set_up(in, slots);
	if (status != TALLY_OK) {
		intel_abandon(src);
		return status;
	}
	src->counters = in->offer.counters;
	src->n_counters = in->offer.n_counters;
	src->sets = in->offer.layouts;
	src->sets_off = in->sets_off;
	src->n_sets = in->offer.n_sets;
	src->set = 0;
	src->off = false;
	src->turn_frames = 0;
	report_pipeline_only(in);
	return TALLY_OK;
}

/* To be called outside the guard. */
static void
end_active(struct gl_intel *in)
{
	struct intel_slot *s = &in->slots[in->active];

	in->active = NONE;
	s->polled = in->gaps;
	s->running = false;
	if (!end_handle(in, s->handle)) {
		s->handle = NONE;
		s->lost = true;
	}
}

/* What is pending stays until the context is destroyed: deleting it would make the
 * driver wait. */
static void
delete_free(struct gl_intel *in)
{
	for (uint32_t i = 0; i < in->offer.n_sets; i++) {
		uint32_t handle;
		while ((handle = pop(in, &in->offer.sets[i].free)) != NONE) {
			in->api->DeletePerfQueryINTEL(in->handles[handle].name);
			in->handles[handle].name = 0;
		}
	}
}

static void
intel_close(struct tally_source *src)
{
	struct gl_intel *in = intel_of(src);

	if (in->active != NONE)
		end_active(in);
	tally_gl_guard_begin(in->api);
	delete_free(in);
	if (in->sign)
		in->api->DeleteQueries(1, &in->sign);
	tally_gl_guard_end(in->api);
	intel_abandon(src);
}

static void
intel_begin(struct tally_source *src, uint32_t slot)
{
	struct gl_intel *in = intel_of(src);
	struct intel_slot *s = &in->slots[slot];
	uint32_t which = src->set;

	*s = (struct intel_slot){ .handle = NONE, .flags = in->yielded ? TALLY_FLAG(YIELDED) : 0 };
	if (in->yielded || which >= in->offer.n_sets || in->active != NONE)
		return;
	/* The interval is recorded under the set's name until the frame ends. */
	if (in->sets_off[which]) {
		s->lost = true;
		return;
	}
	s->over_other = others_are_out(in, which);
	if (s->over_other && in->sets_exclude) {
		s->flags |= TALLY_FLAG(DROPPED);
		return;
	}
	tally_gl_guard_begin(in->api);
	uint32_t handle = take_handle(in, which);
	if (handle != NONE)
		in->api->BeginPerfQueryINTEL(in->handles[handle].name);
	unsigned error = tally_gl_guard_end(in->api);
	if (handle == NONE) {
		s->flags |= TALLY_FLAG(DROPPED);
	} else if (error) {
		free_handle(in, handle);
		s->lost = true;
		failed(in, which, s->over_other);
	} else {
		s->handle = handle;
		s->running = true;
		in->offer.sets[which].pending++;
		in->active = slot;
	}
}

static void
intel_end(struct tally_source *src, uint32_t slot)
{
	struct gl_intel *in = intel_of(src);

	if (in->active == slot)
		end_active(in);
}

static void
intel_gap(struct tally_source *src)
{
	struct gl_intel *in = intel_of(src);

	in->gaps++;
	if (in->orphans != NONE)
		fetch_orphans(in);
}

static enum tally_status
intel_read(struct tally_source *src, uint32_t slot, struct tally_sample *out)
{
	struct gl_intel *in = intel_of(src);
	struct intel_slot *s = &in->slots[slot];

	if (s->handle == NONE) {
		out->flags |= s->flags;
		return s->lost ? TALLY_LOST : TALLY_OK;
	}
	/* Gaps also occur where the game waits, many in a frame. */
	if (s->polled == in->gaps ||
	    src->frame - in->handles[s->handle].ended < TALLY_INTEL_MIN_AGE)
		return TALLY_NOT_READY;
	s->polled = in->gaps;
	uint32_t which = in->handles[s->handle].set;
	enum tally_status status = fetch(in, s->handle, out);
	if (status == TALLY_NOT_READY)
		return status;
	if (status == TALLY_LOST)
		failed(in, which, s->over_other);
	s->handle = NONE;
	out->flags |= s->flags;
	return status;
}

/* No slot keeps a handle: no results will be read into a slot. */
static void
orphan_all(struct gl_intel *in)
{
	if (in->active != NONE)
		end_active(in);
	for (uint32_t i = 0; i < in->n_slots; i++) {
		struct intel_slot *s = &in->slots[i];
		if (s->handle == NONE)
			continue;
		push_orphan(in, s->handle);
		s->handle = NONE;
		s->flags |= TALLY_FLAG(YIELDED);
	}
	if (in->orphans != NONE)
		ask_for_sign(in);
}

static bool
give_back(struct gl_intel *in)
{
	struct tally_source *src = &in->base;

	bool first = !in->yielded;
	if (first) {
		in->yielded = true;
		orphan_all(in);
		tally_gl_guard_begin(in->api);
		delete_free(in);
		tally_gl_guard_end(in->api);
		src->off = true;
		snprintf(src->reason, sizeof(src->reason),
			 "the program uses performance queries itself: ours are given back");
	}
	fetch_orphans(in);
	return first;
}

static void
await_orphans(struct gl_intel *in)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	if (!in->yielded || in->awaited)
		return;
	in->awaited = true;
	if (in->orphans != NONE && in->api->Flush)
		in->api->Flush();
	for (int i = 0; i < AWAIT_TRIES && in->orphans != NONE; i++) {
		if (i)
			nanosleep(&pause, NULL);
		fetch_orphans(in);
	}
}

static bool
intel_yield(struct tally_source *src, unsigned what)
{
	struct gl_intel *in = intel_of(src);

	if (!src->n_sets)
		return false;
	if (what == TALLY_GL_USE_BEGINS)
		await_orphans(in);
	return what == TALLY_GL_USE_COUNTERS && give_back(in);
}

static const char *
intel_serialized_by(const struct tally_source *src)
{
	const struct gl_intel *in = (const struct gl_intel *)src;
	return in->dialect ? in->dialect->serialized_by : NULL;
}

static const struct tally_source_ops intel_ops = {
	.name = SOURCE_NAME,
	.open = intel_open,
	.grow = intel_grow,
	.close = intel_close,
	.abandon = intel_abandon,
	.begin = intel_begin,
	.end = intel_end,
	.gap = intel_gap,
	.resume = tally_source_noop,
	.read = intel_read,
	.yield = intel_yield,
	.serialized_by = intel_serialized_by,
};

struct tally_source *
tally_gl_intel_create(struct tally_gl_api *api)
{
	struct gl_intel *in = calloc(1, sizeof(*in));
	if (!in)
		return NULL;
	in->base.ops = &intel_ops;
	in->api = api;
	return &in->base;
}

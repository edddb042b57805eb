/* SPDX-License-Identifier: MIT */
/* When a pass began and ended on the GPU, by glQueryCounter(GL_TIMESTAMP): the one query that
 * can never collide with the game's. Consecutive passes share the timestamp between them, so
 * that their times add up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/base/array.h"
#include "layer/base/clock.h"
#include "query/gl/api.h"
#include "query/quirks.h"
#include "query/source/noop.h"

#define GL_TIMESTAMP 0x8E28
#define QUERY_COUNTER_BITS 0x8864

#define ID_BLOCK 64u
#define NO_STAMP UINT32_MAX
#define NO_SLOT UINT32_MAX
#define SECOND_NS UINT64_C(1000000000)
#define CALIBRATION_TRIES 3
#define TIGHT_BRACKET_NS 20000

/* One query object, and its value once known. */
struct timestamp {
	unsigned id;
	uint32_t refs;       /* slots that begin or end here, and the boundary; 0 = free */
	uint32_t generation; /* of the GPU's clock when issued */
	bool known, mapped, calibrated;
	bool from_cpu;       /* see note_stamp() */
	uint64_t sequence;   /* in order of issue, from 1 */
	uint64_t cpu_ns;     /* issued at this time or later */
	uint64_t ticks;      /* the GPU clock's value, once known */
	uint64_t ns;         /* the same on the time line that is delivered, once mapped */
};

struct timestamp_slot {
	uint32_t begin, end; /* indices into stamps, or NO_STAMP */
	/* One that comes after all work of other sources, where `end` does not; or NO_STAMP. */
	uint32_t sign;
};

struct gl_timestamp {
	struct tally_source base;
	struct tally_gl_api *api;
	unsigned bits; /* of the GPU's clock, 1 to 64 */
	bool no_wait;
	bool draws_when_asked; /* what was issued last is drawn once it is asked for */

	/* 3 per slot, the boundary, a provisional end: always enough */
	struct timestamp *timestamps;
	uint32_t *free;       /* a stack of those that have a query object and are unused */
	uint32_t n_timestamps; /* those with a query object so far */
	uint32_t n_free, capacity;
	bool out_of_names; /* the driver created none: do not ask again at every pass */
	struct timestamp_slot *slots;
	uint32_t n_slots;

	uint32_t boundary;   /* the last end, if the next pass may begin there */
	uint32_t running;    /* the slot begun and not ended, or NO_SLOT */
	uint32_t provisional; /* where it ends if nothing more comes after a gap */
	uint32_t newest;     /* the last one issued, or NO_STAMP; perhaps free by now */
	uint64_t sequence;   /* of the newest timestamp */
	/* The newest one known to be available; this says nothing about older ones. */
	uint64_t available;
	/* The newest that was available when the clock was last checked. */
	uint64_t undisturbed;
	uint32_t generation; /* incremented when the clock was disturbed */

	bool batch;      /* reads since the last begin, end or gap */
	uint64_t now_ns; /* CPU time, read no earlier than the batch began */

	struct tally_clock_map map;
	uint64_t done_ns; /* the newest end delivered, on the map in force */
	uint64_t calibrate_at_ns;
	/* Timestamps are not on the clock that glGetInteger64v reads: no calibration. */
	bool foreign;
	bool trusted; /* a first timestamp proved that they are */
	/* A clock of fewer than 64 bits is extended: it showed anchor_ns, unwrapped, at about
	 * anchor_cpu_ns. */
	bool anchored;
	uint64_t anchor_ns, anchor_cpu_ns;
};

static struct gl_timestamp *
timestamp_of(struct tally_source *src)
{
	return (struct gl_timestamp *)src;
}

/* --- the GPU's clock ---------------------------------------------------------------------- */

static void
anchor(struct gl_timestamp *t, uint64_t ns, uint64_t cpu_ns)
{
	t->anchored = true;
	t->anchor_ns = ns;
	t->anchor_cpu_ns = cpu_ns;
}

/* Undoes the wraps of a narrow clock: of all times that the reading may mean, the result is the
 * one in the range that starts a quarter range before the time expected by the CPU's clock. */
static uint64_t
unwrap(struct gl_timestamp *t, uint64_t ticks, uint64_t cpu_ns)
{
	if (t->bits == 64)
		return ticks;
	if (!t->anchored)
		anchor(t, tally_ticks_elapsed(0, ticks, t->bits), cpu_ns);
	uint64_t expected = t->anchor_ns + (cpu_ns - t->anchor_cpu_ns);
	uint64_t earliest = expected - (UINT64_C(1) << t->bits >> 2);
	return earliest + tally_ticks_elapsed(earliest, ticks, t->bits);
}

/* The offset of the GPU's clock from ours. Queries the driver's clock, not a result. */
static void
calibrate(struct gl_timestamp *t)
{
	uint64_t best_before = 0, best_after = 0, best_ticks = 0;

	for (int i = 0; i < CALIBRATION_TRIES; i++) {
		int64_t ticks = 0;
		uint64_t before = tally_clock_now_ns();
		t->api->GetInteger64v(GL_TIMESTAMP, &ticks);
		uint64_t after = tally_clock_now_ns();
		t->now_ns = after;
		if (ticks && (!best_ticks || after - before < best_after - best_before)) {
			best_before = before;
			best_after = after;
			best_ticks = (uint64_t)ticks;
		}
		if (best_ticks && best_after - best_before <= TIGHT_BRACKET_NS)
			break;
	}
	t->calibrate_at_ns = t->now_ns + SECOND_NS;
	if (!best_ticks)
		return;
	uint64_t gpu_ns = unwrap(t, best_ticks, best_before);
	if (t->bits < 64)
		anchor(t, gpu_ns, best_before);
	tally_clock_map_feed(&t->map, best_before, gpu_ns, best_after);
}

static bool
can_calibrate(const struct gl_timestamp *t)
{
	return t->api->GetInteger64v && !t->foreign;
}

static void
forget_calibration(struct gl_timestamp *t)
{
	t->map = (struct tally_clock_map){ .calibrated = false };
	t->anchored = false;
	t->done_ns = 0;
	t->calibrate_at_ns = 0;
	t->batch = false;
}

/* --- timestamps --------------------------------------------------------------------------- */

static void
release(struct gl_timestamp *t, uint32_t index)
{
	if (index != NO_STAMP && --t->timestamps[index].refs == 0)
		t->free[t->n_free++] = index;
}

static void
drop_boundary(struct gl_timestamp *t)
{
	release(t, t->boundary);
	t->boundary = NO_STAMP;
}

/* Creates a block of further query objects. */
static __attribute__((noinline)) void
make_timestamps(struct gl_timestamp *t)
{
	unsigned ids[ID_BLOCK] = { 0 };
	uint32_t n = t->capacity - t->n_timestamps;

	n = n < ID_BLOCK ? n : ID_BLOCK;
	t->api->GenQueries((int)n, ids);
	t->out_of_names = true;
	for (uint32_t i = n; i-- > 0;) {
		if (!ids[i])
			continue;
		t->timestamps[t->n_timestamps].id = ids[i];
		t->free[t->n_free++] = t->n_timestamps++;
		t->out_of_names = false;
	}
}

/* The caller owns the one reference. */
static inline uint32_t
take_stamp(struct gl_timestamp *t, uint64_t cpu_ns)
{
	if (!t->n_free && !t->out_of_names)
		make_timestamps(t);
	if (!t->n_free)
		return NO_STAMP;
	uint32_t index = t->free[--t->n_free];
	struct timestamp *timestamp = &t->timestamps[index];
	timestamp->refs = 1;
	timestamp->generation = t->generation;
	timestamp->known = timestamp->mapped = timestamp->from_cpu = false;
	timestamp->sequence = ++t->sequence;
	timestamp->cpu_ns = cpu_ns;
	return index;
}

/* The GPU records the time once everything issued so far is done. */
static __attribute__((hot)) uint32_t
issue_timestamp(struct gl_timestamp *t, uint64_t cpu_ns)
{
	uint32_t index = take_stamp(t, cpu_ns);
	if (index != NO_STAMP) {
		t->api->QueryCounter(t->timestamps[index].id, GL_TIMESTAMP);
		t->newest = index;
	}
	return index;
}

/* The CPU's time in place of a timestamp that would show something else: see
 * timestamps_in_tiles. */
static uint32_t
note_stamp(struct gl_timestamp *t, uint64_t cpu_ns)
{
	uint32_t index = take_stamp(t, cpu_ns);
	if (index == NO_STAMP)
		return index;
	struct timestamp *timestamp = &t->timestamps[index];
	timestamp->known = timestamp->from_cpu = true;
	timestamp->ticks = cpu_ns - (uint64_t)t->map.offset_ns;
	return index;
}

/* Neither a timestamp of the GPU nor the CPU's clock shows when an interval after a gap begins. */
static bool
begins_unknown(const struct gl_timestamp *t)
{
	return t->api->timestamps_in_tiles && !t->map.calibrated;
}

static uint32_t
first_stamp(struct gl_timestamp *t)
{
	uint64_t now = tally_clock_now_ns();
	if (begins_unknown(t))
		return NO_STAMP;
	return t->api->timestamps_in_tiles ? note_stamp(t, now) : issue_timestamp(t, now);
}

static void
drop_provisional(struct gl_timestamp *t)
{
	release(t, t->provisional);
	t->provisional = NO_STAMP;
}

static __attribute__((hot)) void
timestamp_begin(struct tally_source *src, uint32_t slot)
{
	struct gl_timestamp *t = timestamp_of(src);
	struct timestamp_slot *s = &t->slots[slot];

	t->batch = false;
	/* The provisional end of an interval around this one, which continues. */
	drop_provisional(t);
	t->running = slot;
	s->end = NO_STAMP;
	s->begin = t->boundary;
	t->boundary = NO_STAMP;
	if (s->begin == NO_STAMP)
		s->begin = first_stamp(t);
}

static __attribute__((hot)) void
timestamp_end(struct tally_source *src, uint32_t slot)
{
	struct gl_timestamp *t = timestamp_of(src);
	struct timestamp_slot *s = &t->slots[slot];

	t->batch = false;
	t->running = NO_SLOT;
	drop_boundary(t);
	if (s->begin == NO_STAMP && !begins_unknown(t)) {
		drop_provisional(t);
		return;
	}
	if (t->provisional != NO_STAMP) {
		s->end = t->provisional;
		t->provisional = NO_STAMP;
		/* Other sources end now, perhaps in the next batch, which can be lost alone. */
		if (src->guards)
			s->sign = issue_timestamp(t, tally_clock_now_ns());
		return;
	}
	/* A wide clock does not need the exact time: the time of the begin timestamp is a
	 * sufficient bound. */
	uint64_t cpu_ns = t->bits < 64 || s->begin == NO_STAMP
				  ? tally_clock_now_ns()
				  : t->timestamps[s->begin].cpu_ns;
	s->end = issue_timestamp(t, cpu_ns);
	if (s->end == NO_STAMP)
		return;
	t->timestamps[s->end].refs++;
	t->boundary = s->end;
}

static __attribute__((hot)) void
timestamp_gap(struct tally_source *src)
{
	struct gl_timestamp *t = timestamp_of(src);

	t->batch = false;
	drop_boundary(t);
	/* A pass may still be open: the next command decides whether it ends here, or at the
	 * previous gap if there was no work in between. */
	if (t->running == NO_SLOT || t->provisional != NO_STAMP ||
	    (t->slots[t->running].begin == NO_STAMP && !begins_unknown(t)))
		return;
	t->provisional = issue_timestamp(t, tally_clock_now_ns());
}

static void
timestamp_resume(struct tally_source *src)
{
	drop_provisional(timestamp_of(src));
}

static void
free_slot(struct gl_timestamp *t, struct timestamp_slot *s)
{
	release(t, s->begin);
	release(t, s->end);
	release(t, s->sign);
	s->begin = s->end = s->sign = NO_STAMP;
}

/* --- reading ------------------------------------------------------------------------------ */

static bool
is_known(struct gl_timestamp *t, struct timestamp *timestamp)
{
	if (timestamp->known)
		return true;
	timestamp->known = tally_gl_result(t->api, t->no_wait, timestamp->id,
					   &timestamp->ticks);
	if (timestamp->known && t->available < timestamp->sequence)
		t->available = timestamp->sequence;
	return timestamp->known;
}

/* GLES: whether the clock was disturbed. If so, outstanding intervals have no time. To be
 * called after a result is available, and again for results that became available after the
 * last call. */
static void
watch_clock(struct gl_timestamp *t)
{
	struct tally_gl_api *api = t->api;

	if (!api->read_disjoint)
		return;
	bool disturbed = api->disjoint_seen;
	if (t->undisturbed < t->available) {
		disturbed |= api->read_disjoint(api);
		t->undisturbed = t->available;
	}
	api->disjoint_seen = false;
	if (!disturbed)
		return;
	t->generation++;
	drop_boundary(t);
	forget_calibration(t);
}

static void
start_batch(struct gl_timestamp *t)
{
	if (t->batch)
		return;
	t->batch = true;
	t->now_ns = tally_clock_now_ns();
	if (can_calibrate(t) && t->now_ns >= t->calibrate_at_ns)
		calibrate(t);
}

/* Whether that much time can have passed on the GPU since the timestamp was issued. A clock may
 * run a little faster than ours. */
static bool
is_possible(struct gl_timestamp *t, const struct timestamp *begin, uint64_t ns)
{
	for (int fresh = 0; fresh < 2; fresh++) {
		uint64_t passed = t->now_ns - begin->cpu_ns;
		if (t->now_ns >= begin->cpu_ns && ns <= passed + passed / 8 + SECOND_NS / 100)
			return true;
		t->now_ns = tally_clock_now_ns();
	}
	return false;
}

/* Whether the GPU can have worked on it at a calibrated time. */
static bool
is_plausible(const struct gl_timestamp *t, const struct timestamp *begin,
	     uint64_t begin_ns)
{
	return begin_ns + SECOND_NS >= begin->cpu_ns && begin_ns <= t->now_ns + SECOND_NS;
}

/* Puts the begin timestamp on the time line that we deliver. One that is shared with the
 * previous pass is already on it, so a new calibration takes effect only where passes do not
 * touch. False: the time is implausible. */
static bool
map_begin(struct gl_timestamp *t, struct timestamp *begin)
{
	if (begin->mapped)
		return true;
	uint64_t gpu_ns = unwrap(t, begin->ticks, begin->cpu_ns);
	if (!can_calibrate(t) && t->bits < 64)
		anchor(t, gpu_ns, begin->cpu_ns);
	begin->ns = tally_clock_map_apply(&t->map, gpu_ns);
	if (t->map.calibrated && !is_plausible(t, begin, begin->ns)) {
		/* Either the clock was set since the calibration (a suspended machine), or this
		 * driver's timestamps never were on the clock that it shows. */
		forget_calibration(t);
		if (t->trusted)
			return false;
		t->foreign = true;
		begin->ns = unwrap(t, begin->ticks, begin->cpu_ns);
	}
	t->trusted |= t->map.calibrated;
	begin->calibrated = t->map.calibrated;
	begin->mapped = true;
	return true;
}

/* Puts an interval of `ns` on the time line. False: no GPU can have worked so long, or at that
 * time. */
static bool
map_interval(struct gl_timestamp *t, struct timestamp *begin, const struct timestamp *end,
	     uint64_t ns)
{
	/* Drivers write 0 where a timestamp failed; a 64-bit clock never shows it. */
	if (t->bits == 64 && (!begin->ticks || !end->ticks))
		return false;
	/* Nor does any clock reach its end; otherwise the sum would be before the begin. */
	return is_possible(t, begin, ns) && map_begin(t, begin) &&
	       begin->ns <= UINT64_MAX - ns;
}

static void
deliver(struct gl_timestamp *t, struct timestamp *begin, struct timestamp *end,
	struct tally_sample *out)
{
	if (begin->generation != t->generation) {
		out->flags |= TALLY_FLAG(DISJOINT);
		return;
	}
	uint64_t ns = tally_ticks_elapsed(begin->ticks, end->ticks, t->bits);
	if (!map_interval(t, begin, end, ns)) {
		out->flags |= TALLY_FLAG(BAD_TIME);
		return;
	}
	/* When the program called, the GPU may still have been working on earlier commands. */
	uint64_t late = t->done_ns > begin->ns ? t->done_ns - begin->ns : 0;
	if (begin->from_cpu && late <= ns) {
		begin->ns += late;
		ns -= late;
	}
	if (!end->mapped) {
		end->ns = begin->ns + ns;
		end->calibrated = begin->calibrated;
		end->mapped = true;
	}
	out->has_time = true;
	out->begin_ns = begin->ns;
	out->end_ns = begin->ns + ns;
	if (t->done_ns < out->end_ns)
		t->done_ns = out->end_ns;
	if (!begin->calibrated)
		out->flags |= TALLY_FLAG(UNCALIBRATED);
}

/* Some result is not there yet. A software driver draws what was issued last only when it is asked
 * for it: after the swap of a pbuffer, which submits nothing, that would be in the next frame. */
static enum tally_status
not_ready(struct gl_timestamp *t)
{
	if (t->draws_when_asked && t->newest != NO_STAMP && t->timestamps[t->newest].refs)
		is_known(t, &t->timestamps[t->newest]);
	return TALLY_NOT_READY;
}

static __attribute__((hot)) enum tally_status
timestamp_read(struct tally_source *src, uint32_t slot, struct tally_sample *out)
{
	struct gl_timestamp *t = timestamp_of(src);
	struct timestamp_slot *s = &t->slots[slot];

	if (s->begin == NO_STAMP || s->end == NO_STAMP) {
		bool unknown_begin = s->end != NO_STAMP;
		free_slot(t, s);
		if (!unknown_begin)
			return TALLY_LOST;
		out->flags |= TALLY_FLAG(NO_TIMESTAMPS);
		return TALLY_OK;
	}
	struct timestamp *begin = &t->timestamps[s->begin], *end = &t->timestamps[s->end];
	if (!is_known(t, begin) || !is_known(t, end) ||
	    (s->sign != NO_STAMP && !is_known(t, &t->timestamps[s->sign])))
		return not_ready(t);
	watch_clock(t);
	start_batch(t);
	deliver(t, begin, end, out);
	free_slot(t, s);
	return TALLY_OK;
}

/* --- lifetime ----------------------------------------------------------------------------- */

static enum tally_status
timestamp_grow(struct tally_source *src, uint32_t slots)
{
	struct gl_timestamp *t = timestamp_of(src);
	uint32_t capacity = 3 * slots + 2;

	if (!tally_array_resize(&t->slots, slots, sizeof(*t->slots)) ||
	    !tally_array_resize(&t->timestamps, capacity, sizeof(*t->timestamps)) ||
	    !tally_array_resize(&t->free, capacity, sizeof(*t->free)))
		return TALLY_NO_MEMORY;
	t->capacity = capacity;
	for (uint32_t i = t->n_slots; i < slots; i++)
		t->slots[i] = (struct timestamp_slot){ NO_STAMP, NO_STAMP, NO_STAMP };
	t->n_slots = slots;
	return TALLY_OK;
}

static void
timestamp_abandon(struct tally_source *src)
{
	struct gl_timestamp *t = timestamp_of(src);

	free(t->slots);
	free(t->timestamps);
	free(t->free);
	*t = (struct gl_timestamp){
		.base = t->base,
		.api = t->api,
		.boundary = NO_STAMP,
		.running = NO_SLOT,
		.provisional = NO_STAMP,
		.newest = NO_STAMP,
	};
}

static void
timestamp_close(struct tally_source *src)
{
	struct gl_timestamp *t = timestamp_of(src);
	unsigned ids[ID_BLOCK];
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_timestamps; i++) {
		ids[n++] = t->timestamps[i].id;
		if (n == ID_BLOCK || i + 1 == t->n_timestamps) {
			t->api->DeleteQueries((int)n, ids);
			n = 0;
		}
	}
	timestamp_abandon(src);
}

/* NULL, or the reason why there are no timestamps. */
static const char *
obstacle(struct gl_timestamp *t)
{
	const struct tally_gl_api *api = t->api;

	if (api->es && !api->has_extension(api, "GL_EXT_disjoint_timer_query"))
		return "this GLES context has no EXT_disjoint_timer_query: the driver offers no "
		       "timestamps";
	if (!api->es && api->version < 33 && !api->has_extension(api, "GL_ARB_timer_query"))
		return "this context has neither GL 3.3 nor ARB_timer_query: the driver is too "
		       "old, or the program asked for an old context";
	if (!api->GenQueries || !api->DeleteQueries || !api->QueryCounter || !api->GetQueryiv ||
	    !api->GetQueryObjectuiv || !api->GetQueryObjectui64v)
		return "the driver claims timestamps and lacks functions for them: report it to "
		       "the driver's authors";
	int bits = 0;
	api->GetQueryiv(GL_TIMESTAMP, QUERY_COUNTER_BITS, &bits);
	if (bits <= 0)
		return "the driver's GL_TIMESTAMP counter has 0 bits: this GPU keeps no "
		       "time that the driver can read";
	t->bits = bits < 64 ? (unsigned)bits : 64;
	t->no_wait = tally_gl_has_no_wait(api);
	t->draws_when_asked = tally_gl_quirk(TALLY_QUIRK_WORK_AT_ONCE, api->driver);
	return NULL;
}

static enum tally_status
timestamp_open(struct tally_source *src, uint32_t slots)
{
	struct gl_timestamp *t = timestamp_of(src);

	src->reason[0] = '\0';
	const char *why = obstacle(t);
	if (why)
		return tally_unsupported(src->reason, "%s", why);
	if (timestamp_grow(src, slots) != TALLY_OK) {
		timestamp_abandon(src);
		return TALLY_NO_MEMORY;
	}
	if (t->api->read_disjoint) {
		t->api->read_disjoint(t->api);
		t->api->disjoint_seen = false;
	}
	if (can_calibrate(t))
		calibrate(t);
	if (!t->map.calibrated)
		snprintf(src->reason, sizeof(src->reason),
			 "the driver does not show its clock: GPU times are not on the "
			 "CPU's time line");
	return TALLY_OK;
}

static const struct tally_source_ops timestamp_ops = {
	.name = "gl-timestamp",
	.delivers_time = true,
	.open = timestamp_open,
	.grow = timestamp_grow,
	.close = timestamp_close,
	.abandon = timestamp_abandon,
	.begin = timestamp_begin,
	.end = timestamp_end,
	.gap = timestamp_gap,
	.resume = timestamp_resume,
	.read = timestamp_read,
	.yield = tally_source_noop_yield,
	.serialized_by = tally_source_noop_serialized_by,
};

struct tally_source *
tally_gl_timestamp_create(struct tally_gl_api *api)
{
	struct gl_timestamp *t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->base.ops = &timestamp_ops;
	t->api = api;
	timestamp_abandon(&t->base);
	return &t->base;
}

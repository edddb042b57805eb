/* SPDX-License-Identifier: MIT */
#include "cli/answer/event.h"

#include "cli/answer/words.h"
#include "cli/shared/text.h"

#include <inttypes.h>
#include <string.h>

static const enum tally_event_group groups[TALLY_N_EVENTS] = {
	[TALLY_EVENT_PIPELINE] = TALLY_EVENT_SHADERS,
	[TALLY_EVENT_SHADER] = TALLY_EVENT_SHADERS,
	[TALLY_EVENT_FIRST_DRAW] = TALLY_EVENT_SHADERS,
	[TALLY_EVENT_UPLOAD] = TALLY_EVENT_UPLOADS,
	[TALLY_EVENT_READBACK] = TALLY_EVENT_READBACKS,
	[TALLY_EVENT_MAP] = TALLY_EVENT_MAPS,
	[TALLY_EVENT_MEMORY] = TALLY_EVENT_ALLOCATIONS,
};

const char *const tally_event_group_names[TALLY_N_EVENT_GROUPS] = {
	[TALLY_EVENT_NONE] = "none",      [TALLY_EVENT_SHADERS] = "shaders",
	[TALLY_EVENT_UPLOADS] = "upload", [TALLY_EVENT_READBACKS] = "readback",
	[TALLY_EVENT_MAPS] = "map",       [TALLY_EVENT_ALLOCATIONS] = "memory",
};

static void
add_record(struct tally_event_record *to, const struct tally_event_record *from)
{
	to->n += from->n;
	to->ns += from->ns;
	to->own_ns += from->own_ns;
	to->bytes += from->bytes;
	to->cached += from->cached;
	to->uncached += from->uncached;
	to->live = from->live ? from->live : to->live;
	to->used = MAX(to->used, from->used);
	to->budget = MAX(to->budget, from->budget);
}

void
tally_frame_events_read(struct tally_frame_events *to, const struct tally_frame_record *f)
{
	for (uint32_t i = 0; i < f->n_events; i++) {
		struct tally_event_record sum = f->events[i];
		if (f->frame == 0)
			sum.own_ns = sum.ns; /* which thread ends frames was not known */
		add_record(&to->sums[sum.kind], &sum);
	}
	for (uint32_t i = 0; i < f->n_calls && to->n_calls < TALLY_EVENT_KEPT; i++) {
		struct tally_event_call_record *c = &to->calls[to->n_calls++];
		*c = f->calls[i];
		c->call = g_intern_string(c->call);
		c->thread = g_intern_string(c->thread);
	}
}

void
tally_frame_events_sum(const struct tally_frame_events *events,
		       struct tally_event_record out[TALLY_N_EVENT_GROUPS])
{
	memset(out, 0, TALLY_N_EVENT_GROUPS * sizeof(*out));
	for (int kind = 0; kind < TALLY_N_EVENTS; kind++) {
		const struct tally_event_record *sum = &events->sums[kind];
		struct tally_event_record *to = &out[groups[kind]];
		to->ns += sum->ns;
		to->own_ns += sum->own_ns;
		to->bytes += sum->bytes;
		/* A program is linked of shaders, and drawn with for the first time. */
		to->n = MAX(to->n, sum->n);
		to->cached = MAX(to->cached, sum->cached);
	}
}

void
tally_event_totals_add(struct tally_event_total totals[TALLY_N_EVENT_GROUPS],
		       const struct tally_event_record sums[TALLY_N_EVENT_GROUPS],
		       uint64_t frame, bool lately)
{
	for (int i = 0; i < TALLY_N_EVENT_GROUPS; i++) {
		struct tally_event_total *t = &totals[i];
		if (sums[i].n == 0)
			continue;
		if (lately && 10 * t->frames < 9 * (frame - t->first))
			*t = (struct tally_event_total){ 0 };
		add_record(&t->sum, &sums[i]);
		t->first = t->frames++ ? t->first : frame;
		t->last = frame;
	}
}

struct tally_answer_event
tally_event_mean(const struct tally_event_total *total, enum tally_event_group group)
{
	const struct tally_event_record *sum = &total->sum;
	uint64_t frames = MAX(total->frames, 1);
	bool elsewhere = 2 * sum->own_ns < sum->ns;
	return (struct tally_answer_event){
		.group = group,
		.ns = sum->ns / frames,
		.n = (sum->n + frames / 2) / frames,
		.bytes = sum->bytes / frames,
		.elsewhere = elsewhere,
		.thread = elsewhere ? "other threads" : NULL,
	};
}

static uint64_t
growth_of(const struct tally_event_record *sum, uint64_t around_ns)
{
	return sum->ns - MIN(sum->ns, around_ns);
}

/* Where the calls were elsewhere: how much of the frame those of the longest one's thread took, the
 * listed ones and, where no other thread has any, those too short to be listed. */
static uint64_t
time_inside(struct tally_answer_event *e, const struct tally_frame_events *events,
	    uint64_t others_ns, uint64_t start_ns, uint64_t frame_ns)
{
	uint64_t inside_ns = 0, listed_ns = 0;
	bool alone = true;
	for (unsigned i = 0; i < events->n_calls; i++) {
		const struct tally_event_call_record *c = &events->calls[i];
		uint64_t from = MAX(c->start_ns, start_ns);
		uint64_t to = MIN(c->start_ns + c->ns, start_ns + frame_ns);
		if (groups[c->kind] != e->group)
			continue;
		listed_ns += c->ns;
		alone &= c->thread == e->thread;
		if (c->thread == e->thread && to > from)
			inside_ns += to - from;
	}
	inside_ns += alone ? others_ns - MIN(listed_ns, others_ns) : 0;
	return MIN(inside_ns, frame_ns);
}

static void
take_longest(struct tally_answer_event *e, const struct tally_frame_events *events)
{
	for (unsigned i = events->n_calls; i > 0; i--) {
		const struct tally_event_call_record *c = &events->calls[i - 1];
		if (groups[c->kind] != e->group)
			continue;
		e->call = c->call;
		e->thread = c->thread;
		e->object = c->object;
		e->is_program = c->kind != TALLY_EVENT_SHADER;
	}
	for (unsigned i = 0; i < events->n_calls; i++)
		if (events->calls[i].kind == TALLY_EVENT_FIRST_DRAW && e->is_program &&
		    events->calls[i].object == e->object)
			e->pass = events->passes[i];
}

struct tally_answer_event
tally_event_find(const struct tally_frame_events *events, enum tally_event_group but,
		 const uint64_t around_ns[TALLY_N_EVENTS], uint64_t start_ns,
		 uint64_t frame_ns)
{
	struct tally_event_record sums[TALLY_N_EVENT_GROUPS];
	uint64_t growth_ns[TALLY_N_EVENT_GROUPS] = { 0 };
	enum tally_event_group most = TALLY_EVENT_NONE;
	tally_frame_events_sum(events, sums);
	for (int kind = 0; kind < TALLY_N_EVENTS; kind++)
		if (groups[kind])
			growth_ns[groups[kind]] += growth_of(&events->sums[kind], around_ns[kind]);
	for (int i = TALLY_EVENT_SHADERS; i < TALLY_N_EVENT_GROUPS; i++)
		if (i != (int)but && growth_ns[i] > growth_ns[most])
			most = (enum tally_event_group)i;
	if (!most)
		return (struct tally_answer_event){ 0 };
	const struct tally_event_record *pipelines = &events->sums[TALLY_EVENT_PIPELINE];
	uint64_t own_ns = sums[most].own_ns;
	uint64_t others_ns = sums[most].ns - MIN(own_ns, sums[most].ns);
	struct tally_answer_event e = {
		.group = most,
		.ns = sums[most].ns,
		.n = sums[most].n,
		.bytes = sums[most].bytes,
		.cached = sums[most].cached,
		.uncached = most == TALLY_EVENT_SHADERS && pipelines->uncached &&
			    pipelines->uncached == pipelines->n,
		.elsewhere = others_ns > own_ns,
	};
	take_longest(&e, events);
	e.growth_ns = e.elsewhere ? time_inside(&e, events, others_ns, start_ns, frame_ns)
				  : MIN(growth_ns[most], own_ns);
	return e;
}

uint64_t
tally_event_made(const struct tally_frame_events *events, const uint64_t around_ns[TALLY_N_EVENTS])
{
	uint64_t made = 0;
	for (int kind = 0; kind < TALLY_N_EVENTS; kind++)
		if (groups[kind] == TALLY_EVENT_SHADERS && around_ns[kind] == 0)
			made = MAX(made, events->sums[kind].n);
	return made;
}

uint64_t
tally_event_over(const struct tally_frame_events *events)
{
	const struct tally_event_record *m = &events->sums[TALLY_EVENT_MEMORY];
	return m->budget && m->used > m->budget ? m->used - m->budget : 0;
}

/* Which program or shader: in OpenGL, of the longest call. */
static const char *
object_text(const struct tally_answer_event *e)
{
	if (!e->object)
		return "";
	return tally_phrase(", %s%s %" PRIu64 "%s%s", e->n > 1 ? "longest " : "",
			    e->is_program ? "program" : "shader", e->object,
			    e->pass ? ", first used by " : "",
			    e->pass ? tally_short_name(e->pass) : "");
}

bool
tally_event_goes_on(const struct tally_frame_events *later, enum tally_event_group group,
		    bool next, uint64_t end_ns)
{
	bool on = false;
	for (int kind = 0; kind < TALLY_N_EVENTS; kind++)
		on |= next && groups[kind] == group &&
		      later->sums[kind].ns > later->sums[kind].own_ns;
	for (unsigned i = 0; i < later->n_calls; i++)
		on |= groups[later->calls[i].kind] == group && later->calls[i].start_ns < end_ns;
	return on;
}

const char *
tally_event_text(const struct tally_answer_event *e)
{
	static const char *const of[TALLY_N_EVENT_GROUPS] = {
		[TALLY_EVENT_UPLOADS] = "upload",
		[TALLY_EVENT_READBACKS] = "read-back",
		[TALLY_EVENT_MAPS] = "mapping a buffer",
		[TALLY_EVENT_ALLOCATIONS] = "allocation",
	};
	const char *what = of[e->group], *bytes = "", *on = "", *cached = "";
	const double n_bytes = (double)e->bytes;
	if (e->group == TALLY_EVENT_SHADERS)
		what = tally_phrase("%" PRIu64 " shader%s made", e->n, TALLY_S(e->n));
	else if (e->bytes)
		bytes = n_bytes >= 1e6 ? tally_phrase(" of %.0f MB", n_bytes / 1e6)
				       : tally_phrase(" of %.0f kB", n_bytes / 1e3);
	if (e->elsewhere && e->thread)
		on = tally_phrase(" on %s", tally_short_name(e->thread));
	if (e->cached)
		cached = tally_phrase(", %" PRIu64 " from a cache", e->cached);
	else if (e->uncached)
		cached = ", none from a cache";
	return tally_phrase("%s%s%s, %s%s%s", what, bytes, on,
			    tally_duration_text((double)e->ns), cached, object_text(e));
}

const char *
tally_event_wait(const struct tally_frame_events *events,
		 const uint64_t around_ns[TALLY_N_EVENTS])
{
	static const char *const words[TALLY_N_EVENTS] = {
		[TALLY_EVENT_FENCE] = "for a fence or query",
		[TALLY_EVENT_IDLE] = "until the GPU is idle",
		[TALLY_EVENT_ACQUIRE] = "for the next image",
		[TALLY_EVENT_LATENCY] = "for latency's sake",
	};
	const char *most = "in driver calls";
	uint64_t growth = 0;
	for (int kind = TALLY_EVENT_FENCE; kind < TALLY_N_EVENTS; kind++) {
		uint64_t own = growth_of(&events->sums[kind], around_ns[kind]);
		if (own <= growth)
			continue;
		growth = own;
		most = words[kind];
	}
	return most;
}

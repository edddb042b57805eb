/* SPDX-License-Identifier: MIT */
/* gl_shim/game/perf_queries.c - the game uses performance queries or monitors itself: passtally's
 * yield.
 *
 * Mesa's Intel drivers let only one metric set of one context run at a time on the whole
 * device, whichever of the two extensions uses it; a set that is running or unread keeps every
 * other from beginning. So both sources release everything at the first call that a counting
 * program must make, which queries what is available, and in every other context as soon as
 * that context works again. Elsewhere monitors belong to their context, but get their names in
 * order of creation: passtally's are deleted before the game creates its first.
 */
#include <stdatomic.h>

#include "gl_shim/context/describe.h"
#include "gl_shim/context/state.h"
#include "gl_shim/game/queries.h"

/* The game uses performance counters, in any context. */
static atomic_bool game_counts;

static void
yield(struct gl_context_state *s)
{
	if (gl_no_query_zone(s))
		return; /* the next pass yields them */
	bool yielded = false;
	s->counting.minded_game = true;
	gl_worker = s;
	if (s->harvest)
		yielded |= tally_harvest_yield(s->harvest, TALLY_GL_USE_COUNTERS);
	if (s->harvest && s->counting.game_monitors)
		yielded |= tally_harvest_yield(s->harvest, TALLY_GL_USE_MONITORS);
	if (!yielded)
		return;
	s->counting.yielded = true;
	gl_describe_again(s);
}

void
gl_game_counts(struct gl_context *c)
{
	atomic_store_explicit(&game_counts, true, memory_order_relaxed);
	/* If this comes before the probe, the sources are not created at all. */
	c->state->counting.game_counts = true;
	yield(c->state);
}

void
gl_game_monitors(struct gl_context *c)
{
	c->state->counting.game_monitors = true;
	gl_game_counts(c);
}

void
gl_game_begins_counting(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	if (!s->harvest || gl_no_query_zone(s))
		return;
	gl_worker = s;
	tally_harvest_yield(s->harvest, TALLY_GL_USE_BEGINS);
}

__attribute__((hot)) void
gl_mind_game_queries(struct gl_context *c)
{
	const struct gl_counting *counting = &c->state->counting;
	if (!counting->minded_game && atomic_load_explicit(&game_counts, memory_order_relaxed))
		gl_game_counts(c);
}

/* ---- wrappers around the sources' own calls (query/gl/api.h) ---- */

void
gl_own_guard_begin(struct tally_gl_api *api)
{
	struct gl_context_state *s = api->user;
	gl_guard_begin(&s->pub);
}

unsigned
gl_own_guard_end(struct tally_gl_api *api)
{
	struct gl_context_state *s = api->user;
	return gl_guard_end(&s->pub);
}

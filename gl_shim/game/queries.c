/* SPDX-License-Identifier: MIT */
#include "gl_shim/game/queries.h"

#include <stdatomic.h>

#include "gl_shim/context/describe.h"
#include "gl_shim/context/state.h"

_Atomic unsigned gl_game_uses;

/* ---- targets that the game uses ---- */

static void
take(struct gl_context *c, int group)
{
	struct gl_context_state *s = c->state;
	if (group < 0)
		return;
	if (s->harvest) {
		gl_worker = s;
		tally_harvest_yield(s->harvest, (unsigned)group);
	}
	s->api.app_active |= 1u << group;
}

/* Some list of the share group begins one of the game's queries. */
static bool
lists_query(const struct gl_context_state *s)
{
	return atomic_load_explicit(&s->group->lists_query, memory_order_relaxed);
}

static void
release(struct gl_context *c, int group)
{
	struct gl_context_state *s = c->state;
	if (group >= 0 && !lists_query(s))
		s->api.app_active &= ~(1u << group);
}

void
gl_queries_yield_all(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	gl_worker = s;
	for (unsigned i = 0; s->harvest && i < TALLY_GL_N_EXCLUSIVE; i++)
		tally_harvest_yield(s->harvest, i);
}

void
gl_query_begins(struct gl_context *c, GLenum target, GLuint index)
{
	if (index)
		return; /* passtally's queries are on stream 0 */
	if (!c->state->zone.in_list) {
		take(c, tally_gl_exclusive_of(target));
		return;
	}
	atomic_store(&c->state->group->lists_query, true); /* acted on at glEndList */
	atomic_fetch_add(&gl_game_uses, 1);
}

void
gl_query_ends(struct gl_context *c, GLenum target, GLuint index)
{
	/* One of passtally's may be active there when the game has none: the game's error must
	 * remain an error. */
	if (!index && !c->state->zone.in_list)
		take(c, tally_gl_exclusive_of(target));
}

void
gl_query_ended(struct gl_context *c, GLenum target, GLuint index)
{
	if (!index && !c->state->zone.in_list)
		release(c, tally_gl_exclusive_of(target));
}

/* ---- performance queries and monitors ----
 *
 * Mesa's Intel drivers let only one metric set of one context run at a time on the whole
 * device, whichever of the two extensions uses it; a set that is running or unread keeps every
 * other from beginning. So both sources release everything at the first call that a counting
 * program must make, which queries what is available, and in every other context as soon as
 * that context works again. Elsewhere monitors belong to their context, but get their names in
 * order of creation: passtally's are deleted before the game creates its first.
 */

/* The game uses performance counters, in any context. */
static atomic_bool game_counts;

void
gl_game_counts(struct gl_context *c)
{
	atomic_store(&game_counts, true);
	atomic_fetch_add(&gl_game_uses, 1);
	gl_yield_as_elsewhere(c);
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

void
gl_yield_as_elsewhere(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	unsigned uses = atomic_load(&gl_game_uses);
	bool yielded = false;
	/* If this comes before the probe, the sources are not created at all. */
	s->counting.game_counts = atomic_load(&game_counts);
	if (gl_no_query_zone(s))
		return; /* the next pass calls again */
	s->counting.uses_seen = uses;
	gl_worker = s;
	if (s->harvest && s->counting.game_counts)
		yielded |= tally_harvest_yield(s->harvest, TALLY_GL_USE_COUNTERS);
	if (s->harvest && s->counting.game_monitors)
		yielded |= tally_harvest_yield(s->harvest, TALLY_GL_USE_MONITORS);
	for (int i = 0; lists_query(s) && i < TALLY_GL_N_EXCLUSIVE; i++)
		take(c, i);
	if (!yielded)
		return;
	s->counting.pass_flags |= TALLY_FLAG(YIELDED);
	gl_describe_again(s);
}

/* ---- the sources' errors (query/gl/api.h) ---- */

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

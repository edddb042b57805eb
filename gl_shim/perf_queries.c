/* gl_shim/perf_queries.c - the game uses performance queries or monitors itself: ours yield.
 *
 * Mesa's Intel drivers let one metric set of one context at a time run on the whole device,
 * whichever of the two extensions counts; a set that runs or is unread keeps every other from
 * beginning. So both sources give all of theirs back at the first call that a program which counts
 * has to make, when it asks what there is, and in each other context as soon as that is at work
 * again. Elsewhere monitors belong to their context, but have names in the order they were made:
 * ours are deleted before the game has its first.
 */
#include <stdatomic.h>

#include "gl_shim/describe.h"
#include "gl_shim/queries.h"
#include "gl_shim/state.h"
#include "gl_shim/pass_request.h"
#include "gl_shim/workloads.h"

/* The game counts, in whichever context. */
static atomic_bool game_counts;

static void
yield(struct gl_context_state *s)
{
	if (gl_no_query_zone(s))
		return; /* with the next pass */
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
	/* Before the probe: then the sources are not made at all. */
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

void
gl_mind_game_queries(struct gl_context *c)
{
	const struct gl_counting *counting = &c->state->counting;
	if (!counting->minded_game && atomic_load_explicit(&game_counts, memory_order_relaxed))
		gl_game_counts(c);
}

/* ---- what the sources' own calls go through (query/gl/api.h) ---- */

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

/* gl_shim/perf_queries.c - the game measures by performance queries or monitors itself: then they
 * are its alone. Mesa lets one metric set of one context at a time run on the whole device, and
 * shows monitors by names in the order they were made, so ours are given back before the game has
 * its first; queries in each of our contexts, as soon as it is at work again.
 */
#include <stdatomic.h>

#include "gl_shim/queries.h"
#include "gl_shim/state.h"
#include "gl_shim/want.h"
#include "gl_shim/workloads.h"

/* In whichever context. */
static atomic_bool game_has_queries;

static void
leave_to_game(struct gl_context *c, bool *noted, struct tally_source *src,
	      bool (*yield)(struct tally_source *src))
{
	struct gl_context_state *s = c->state;
	*noted = true; /* before the probe: the source is not made at all */
	if (!src || gl_no_query_zone(s))
		return;
	gl_worker = s;
	if (!yield(src))
		return;
	s->yielded = true;
	gl_probe_again(s);
}

void
gl_game_perf_query(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	atomic_store_explicit(&game_has_queries, true, memory_order_relaxed);
	leave_to_game(c, &s->game_queries, s->perf_query, tally_gl_intel_yield);
}

void
gl_mind_game_queries(struct gl_context *c)
{
	if (!c->state->game_queries &&
	    atomic_load_explicit(&game_has_queries, memory_order_relaxed))
		gl_game_perf_query(c);
}

void
gl_game_perf_monitor(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	leave_to_game(c, &s->game_monitors, s->perf_monitor, tally_gl_amd_yield);
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

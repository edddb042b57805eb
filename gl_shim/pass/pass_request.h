/* SPDX-License-Identifier: MIT */
/* gl_shim/pass/pass_request.h - what the next work command requests from the pass tracker.
 *
 * work.c turns a GL command into a request; passes.c continues the open pass or opens another.
 * Owner thread of the context only.
 */
#ifndef PASSTALLY_GL_SHIM_PASS_REQUEST_H
#define PASSTALLY_GL_SHIM_PASS_REQUEST_H

#include "gl_shim/context/state.h"
#include "gl_shim/pass/passes.h"

struct gl_pass_request {
	enum tally_pass_kind kind;
	uint64_t key;
	uint64_t scene; /* RENDER: the key of its framebuffer; set by gl_pass_enter() */
	const struct tally_target *target;
	struct gl_framebuffer *fbo;
	uint64_t flags;
	const char *command; /* the workload's word: "draw", "dispatch", "copy", "clear" */
	unsigned clears; /* GL_COLOR_BUFFER_BIT, GL_DEPTH_BUFFER_BIT: fully cleared first */
};

/* Makes `w` the open pass. False: capture is off here, or no pass can
 * be opened or closed now. */
bool gl_pass_enter(struct gl_context *c, struct gl_pass_request *w);

/* A context's first work, list or frame end sets up its capture, at a point where the shim's
 * calls are allowed. */
static inline void
gl_probe_if_pending(struct gl_context_state *s)
{
	if (s->probe == GL_PROBE_PENDING && !gl_no_query_zone(s))
		gl_probe_context(s);
}

/* Takes all if any context of the share group compiled a list with a query: lists are shared. */
static inline void
gl_queries_mind_lists(struct gl_context *c)
{
	const struct gl_context_state *s = c->state;
	if (!s->took_all && atomic_load_explicit(&s->group->lists_query, memory_order_relaxed))
		gl_queries_take_all(c);
}

static inline uint64_t
gl_mix(uint64_t a, uint64_t b)
{
	uint64_t x = a ^ (b * UINT64_C(0x9e3779b97f4a7c15));
	x ^= x >> 32;
	return x * UINT64_C(0xd6e8feb86659fd93);
}

#endif

/* SPDX-License-Identifier: MIT */
/* gl_shim/pass/passes.h - opening, continuing and closing a pass.
 *
 * work.c turns a GL command into a request; passes.c continues the open pass or opens another.
 * Owner thread of the context only.
 */
#ifndef PASSTALLY_GL_SHIM_PASSES_H
#define PASSTALLY_GL_SHIM_PASSES_H

#include "gl_shim/context/state.h"

/* What the next work command requests. */
struct gl_pass_request {
	enum tally_pass_kind kind;
	uint64_t key;
	const struct tally_target *target;
	struct gl_framebuffer *fbo; /* where RENDER begins */
	uint64_t flags;
	const char *command; /* the workload's word: "draw", "dispatch", "copy", "clear" */
	bool at_once; /* a software driver does it in the call: caps.works_at_once */
	unsigned clears; /* GL_COLOR_BUFFER_BIT, GL_DEPTH_BUFFER_BIT: fully cleared first */
};

/* Makes `w` the open pass, where gl_works(). False: no pass can be opened or closed now. */
bool gl_pass_enter(struct gl_context *c, struct gl_pass_request *w);

/* Ends the open pass here, with queries (GL calls) or, if the context
 * can take none, without. */
void gl_pass_close(struct gl_context *c);
void gl_pass_close_silent(struct gl_context *c);

/* Whether the open pass ended the last frames, each with a flush after it, so that it may be
 * closed before this one; if work follows it is opened again, and that was the last time. */
bool gl_pass_is_last(const struct gl_context_state *s);
/* The context is about to be swapped or left: whether a flush came after its pass. */
void gl_pass_parks(struct gl_context_state *s);

#endif

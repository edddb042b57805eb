/* SPDX-License-Identifier: MIT */
/* gl_shim/current.c - the context that each thread's calls go to. */
#include "gl_shim/state.h"

struct gl_context gl_passthrough;
__thread struct gl_context *gl_current = &gl_passthrough;
__thread struct gl_context_state *gl_worker;

void
gl_current_back(struct gl_context *old)
{
	gl_current = old;
}

/* gl_shim/current.c - what each thread is at: the context that its calls reach. */
#include "gl_shim/state.h"

struct gl_context gl_passthrough;
__thread struct gl_context *gl_current = &gl_passthrough;
__thread struct gl_context_state *gl_worker;

void
gl_current_back(struct gl_context *old)
{
	gl_current = old;
}

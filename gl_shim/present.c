/* SPDX-License-Identifier: MIT */
/* gl_shim/present.c - what happens around a swap. */
#include "gl_shim/pass_request.h"

struct gl_context *
gl_swap_begin(uintptr_t drawable)
{
	(void)drawable; /* the current context's pass ends for any drawable */
	return gl_current_park();
}

void
gl_swap_end(struct gl_context *c, uintptr_t drawable, bool ends_frame, struct tally_extent size)
{
	(void)drawable;
	gl_current_back(c);
	if (c->live && c->state->zone.perhaps_ended)
		c->state->zone.in_begin = c->state->zone.perhaps_ended = false;
	if (!c->live || !ends_frame)
		return;
	struct gl_context_state *s = c->state;
	s->submits++;
	if ((s->config && s->config->frame == TALLY_FRAME_PRESENT) || gl_submits_end_frame(s))
		gl_frame_end(c, size);
}

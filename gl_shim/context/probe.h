/* SPDX-License-Identifier: MIT */
/* gl_shim/context/probe.h - finds out what a context can do and sets up its capture, once, at its
 * first work, list or end of a frame.
 *
 * Until then a context is GL_NEW: the wrappers keep its state, and those of work lead here before
 * anything else. So what belongs to a pass runs only in contexts that are set up. Owner thread
 * only.
 */
#ifndef PASSTALLY_GL_SHIM_PROBE_H
#define PASSTALLY_GL_SHIM_PROBE_H

#include "gl_shim/context/context.h"

/* Makes GL calls. False: there is no capture in this context, or the shim's calls are not allowed
 * at this point, where the next work tries again. */
bool gl_set_up(struct gl_context *c);

/* Whether the work of the context is measured; sets it up where that is still to be done. */
static inline bool
gl_measures(struct gl_context *c)
{
	return c->live == GL_MEASURED || (c->live == GL_NEW && gl_set_up(c));
}

#endif

/* gl_shim/dispatch.h - which driver function a wrapper forwards to.
 *
 * One table per provider (the GetProcAddress of GLX, that of EGL), filled once, when the first
 * context of that provider becomes current, and kept for good. A context points to its
 * provider's table. Any thread; nothing here takes memory or makes a GL call.
 */
#ifndef PASSTALLY_GL_SHIM_DISPATCH_H
#define PASSTALLY_GL_SHIM_DISPATCH_H

#include "gl_shim/context.h"

/* The table filled through `lookup`; never NULL. */
const struct gl_next *gl_next_for(void *(*lookup)(const char *name));

/* For calls in no context that we know: the first provider's table once there is one, before that
 * what stands behind us in search order. Never NULL. */
const struct gl_next *gl_next_default(void);

static inline const struct gl_next *
gl_next_of(const struct gl_context *c)
{
	return c->next ? c->next : gl_next_default();
}

#endif

/* SPDX-License-Identifier: MIT */
/* gl_shim/window/dispatch.h - which driver function a wrapper forwards to.
 *
 * One table per provider (the GetProcAddress of GLX, that of EGL), filled once, when the first
 * context of that provider becomes current, and kept permanently. A context points to its
 * provider's table. Any thread; nothing here allocates memory or makes a GL call.
 */
#ifndef PASSTALLY_GL_SHIM_DISPATCH_H
#define PASSTALLY_GL_SHIM_DISPATCH_H

#include "gl_shim/context/context.h"

/* The table that was filled with the answers of `lookup`; never NULL. */
const struct gl_next *gl_next_for(void *(*lookup)(const char *name));

/* For calls in an unknown context: the first provider's table once there is one, before
 * that the functions of the library after us in search order. Never NULL. */
const struct gl_next *gl_next_default(void);

/* The context's own table, or what gl_next_default() found before; NULL: the default
 * must still be looked up. */
static inline const struct gl_next *
gl_next_known(const struct gl_context *c)
{
	return __atomic_load_n(&c->next, __ATOMIC_RELAXED);
}

static inline const struct gl_next *
gl_next_of(const struct gl_context *c)
{
	const struct gl_next *next = gl_next_known(c);
	return next ? next : gl_next_default();
}

#endif

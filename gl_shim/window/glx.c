/* SPDX-License-Identifier: MIT */
#include "gl_shim/image/drawable.h"
#include "gl_shim/image/framebuffer.h"
#include "gl_shim/window/platform.h"
#include "gl_shim/window/real.h"

#define GLX_WIDTH 0x801D
#define GLX_HEIGHT 0x801E
#define GLX_LARGEST_PBUFFER 0x801C
#define GLX_PBUFFER_HEIGHT 0x8040
#define GLX_PBUFFER_WIDTH 0x8041

/* ---- look-ups ---- */

/* The driver's gl* functions, for the shim's own table. */
static void *
look_up(const char *name)
{
	__typeof__(glXGetProcAddressARB) *real = GL_REAL(glXGetProcAddressARB);
	if (!real)
		real = GL_REAL(glXGetProcAddress);
	void *found = real ? (void *)(uintptr_t)real((const GLubyte *)name) : NULL;
	if (found && !gl_real_is_own(found))
		return found;
	return gl_platform_symbol(name, (const void *)(uintptr_t)real);
}

/* ---- drawables ---- */

void
gl_glx_measure(void *display, uintptr_t drawable)
{
	GL_REAL_NAMED(query, "glXQueryDrawable", void, Display *, GLXDrawable, int,
		      unsigned int *);
	unsigned int width = 0, height = 0;
	if (query && display) {
		query(display, (GLXDrawable)drawable, GLX_WIDTH, &width);
		/* If the drawable is gone, one error is enough. */
		if (width)
			query(display, (GLXDrawable)drawable, GLX_HEIGHT, &height);
	}
	struct tally_extent size = { .width = width, .height = height };
	gl_drawable_learn(drawable, size, false);
}

/* The size is queried before a swap, not at a make-current: waiting for the X server there
 * widens a race of Mesa's zink (22.3) with its own flush thread, and raises errors about the
 * game's drawables. */
struct gl_present
gl_glx_present_begin(Display *dpy, GLXDrawable drawable, bool whole)
{
	if (gl_drawable_outdated(drawable)) {
		gl_glx_measure(dpy, drawable);
		gl_window_measured(gl_current);
	}
	return gl_present_begin(drawable, whole);
}

/* A pbuffer keeps the size it was created with, unless the largest
 * available size was requested. */
void
gl_glx_made_pbuffer(GLXPbuffer pbuffer, uint32_t width, uint32_t height, const int *attributes)
{
	struct tally_extent size = { width, height };
	gl_drawable_forget(pbuffer);
	gl_drawable_learn_pbuffer(pbuffer, true);
	for (const int *a = attributes; a && a[0]; a += 2) {
		if (a[0] == GLX_PBUFFER_WIDTH && a[1] > 0)
			size.width = (uint32_t)a[1];
		else if (a[0] == GLX_PBUFFER_HEIGHT && a[1] > 0)
			size.height = (uint32_t)a[1];
		else if (a[0] == GLX_LARGEST_PBUFFER && a[1])
			return;
	}
	if (size.width && size.height)
		gl_drawable_learn(pbuffer, size, true);
}

/* ---- contexts ---- */

void
gl_glx_made(GLXContext context, GLXContext share)
{
	if (context && !gl_shim_disabled())
		gl_context_created(GL_PLATFORM_GLX, context, share);
}

void
gl_glx_unmake(GLXContext context)
{
	if (context && !gl_shim_disabled())
		gl_context_destroyed(GL_PLATFORM_GLX, context);
}

/* ---- make-current ---- */

struct gl_switch
gl_glx_switch_begin(GLXDrawable draw, GLXDrawable read, GLXContext context)
{
	struct gl_drawable drawable = { .draw = draw, .read = read };
	bool release_only = false;
	if (!context && !gl_shim_disabled()) {
		/* If GLX has nothing current here, the context that EGL made current stays
		 * current. */
		GL_REAL_NAMED(current, "glXGetCurrentContext", GLXContext, void);
		release_only = current && !current();
	}
	return gl_switch_begin(GL_PLATFORM_GLX, context, drawable, release_only);
}

void
gl_glx_switch_end(const struct gl_switch *s, Display *dpy, Bool result)
{
	if (!s->on)
		return;
	bool indirect = false;
	if (result && s->handle && dpy) {
		GL_REAL_NAMED(is_direct, "glXIsDirect", Bool, Display *, GLXContext);
		indirect = is_direct && !is_direct(dpy, s->handle);
	}
	gl_switch_end(s, result, look_up, indirect);
}

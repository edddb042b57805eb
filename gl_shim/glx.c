/* SPDX-License-Identifier: MIT */
#include "gl_shim/drawable.h"
#include "gl_shim/platform.h"
#include "gl_shim/real.h"

#define GLX_WIDTH 0x801D
#define GLX_HEIGHT 0x801E
#define GLX_LARGEST_PBUFFER 0x801C
#define GLX_PBUFFER_HEIGHT 0x8040
#define GLX_PBUFFER_WIDTH 0x8041

/* ---- look-ups ---- */

GLXextFuncPtr
glXGetProcAddress(const GLubyte *name)
{
	__typeof__(glXGetProcAddress) *real = GL_REAL(glXGetProcAddress);
	if (!real || !name)
		return real ? real(name) : NULL;
	void *found = (void *)(uintptr_t)real(name);
	return (GLXextFuncPtr)(uintptr_t)gl_platform_proc((const char *)name, found,
							  "glX");
}

GLXextFuncPtr
glXGetProcAddressARB(const GLubyte *name)
{
	__typeof__(glXGetProcAddressARB) *real = GL_REAL(glXGetProcAddressARB);
	if (!real || !name)
		return real ? real(name) : NULL;
	void *found = (void *)(uintptr_t)real(name);
	return (GLXextFuncPtr)(uintptr_t)gl_platform_proc((const char *)name, found,
							  "glX");
}

/* The driver's gl* functions, for our own table. */
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
	static _Atomic(void *) cache;
	void (*query)(Display *, GLXDrawable, int, unsigned int *) = (void (*)(
		Display *, GLXDrawable, int, unsigned int *))(
		uintptr_t)gl_real_named("glXQueryDrawable", &cache);
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

/* Called before a swap, not at a make-current: waiting for the X server there
 * widens a race of Mesa's zink (22.3) with its own flush thread, and raises errors
 * about the game's drawables. */
static void
measure(Display *dpy, GLXDrawable drawable)
{
	if (gl_drawable_outdated(drawable))
		gl_glx_measure(dpy, drawable);
}

/* A new drawable may have the same number as an old one. */
static XID
created(XID drawable)
{
	gl_drawable_forget(drawable);
	return drawable;
}

/* A pbuffer keeps the size it was created with, unless the largest
 * available size was requested. */
static GLXPbuffer
created_pbuffer(GLXPbuffer pbuffer, struct tally_extent size, const int *attributes)
{
	gl_drawable_forget(pbuffer);
	for (const int *a = attributes; a && a[0]; a += 2) {
		if (a[0] == GLX_PBUFFER_WIDTH && a[1] > 0)
			size.width = (uint32_t)a[1];
		else if (a[0] == GLX_PBUFFER_HEIGHT && a[1] > 0)
			size.height = (uint32_t)a[1];
		else if (a[0] == GLX_LARGEST_PBUFFER && a[1])
			return pbuffer;
	}
	if (size.width && size.height)
		gl_drawable_learn(pbuffer, size, true);
	return pbuffer;
}

GLXWindow
glXCreateWindow(Display *dpy, GLXFBConfig config, Window window, const int *attributes)
{
	__typeof__(glXCreateWindow) *real = GL_REAL(glXCreateWindow);
	return real ? created(real(dpy, config, window, attributes)) : 0;
}

GLXPixmap
glXCreatePixmap(Display *dpy, GLXFBConfig config, Pixmap pixmap, const int *attributes)
{
	__typeof__(glXCreatePixmap) *real = GL_REAL(glXCreatePixmap);
	return real ? created(real(dpy, config, pixmap, attributes)) : 0;
}

GLXPixmap
glXCreateGLXPixmap(Display *dpy, XVisualInfo *visual, Pixmap pixmap)
{
	__typeof__(glXCreateGLXPixmap) *real = GL_REAL(glXCreateGLXPixmap);
	return real ? created(real(dpy, visual, pixmap)) : 0;
}

GLXPixmap
glXCreateGLXPixmapWithConfigSGIX(Display *dpy, GLXFBConfig config, Pixmap pixmap)
{
	__typeof__(glXCreateGLXPixmapWithConfigSGIX) *real = GL_REAL(
		glXCreateGLXPixmapWithConfigSGIX);
	return real ? created(real(dpy, config, pixmap)) : 0;
}

GLXPixmap
glXCreateGLXPixmapMESA(Display *dpy, XVisualInfo *visual, Pixmap pixmap,
		       Colormap colormap)
{
	__typeof__(glXCreateGLXPixmapMESA) *real = GL_REAL(glXCreateGLXPixmapMESA);
	return real ? created(real(dpy, visual, pixmap, colormap)) : 0;
}

GLXPbuffer
glXCreatePbuffer(Display *dpy, GLXFBConfig config, const int *attributes)
{
	__typeof__(glXCreatePbuffer) *real = GL_REAL(glXCreatePbuffer);
	if (!real)
		return 0;
	struct tally_extent none = { 0 };
	return created_pbuffer(real(dpy, config, attributes), none, attributes);
}

GLXPbuffer
glXCreateGLXPbufferSGIX(Display *dpy, GLXFBConfig config, unsigned int width,
			unsigned int height, int *attributes)
{
	__typeof__(glXCreateGLXPbufferSGIX) *real = GL_REAL(glXCreateGLXPbufferSGIX);
	if (!real)
		return 0;
	struct tally_extent size = { .width = width, .height = height };
	return created_pbuffer(real(dpy, config, width, height, attributes), size,
			       attributes);
}

static void
destroy(Display *dpy, XID drawable, void (*real)(Display *, XID))
{
	gl_drawable_forget(drawable);
	if (real)
		real(dpy, drawable);
}

void
glXDestroyWindow(Display *dpy, GLXWindow window)
{
	destroy(dpy, window, GL_REAL(glXDestroyWindow));
}

void
glXDestroyPixmap(Display *dpy, GLXPixmap pixmap)
{
	destroy(dpy, pixmap, GL_REAL(glXDestroyPixmap));
}

void
glXDestroyPbuffer(Display *dpy, GLXPbuffer pbuffer)
{
	destroy(dpy, pbuffer, GL_REAL(glXDestroyPbuffer));
}

void
glXDestroyGLXPixmap(Display *dpy, GLXPixmap pixmap)
{
	destroy(dpy, pixmap, GL_REAL(glXDestroyGLXPixmap));
}

void
glXDestroyGLXPbufferSGIX(Display *dpy, GLXPbuffer pbuffer)
{
	destroy(dpy, pbuffer, GL_REAL(glXDestroyGLXPbufferSGIX));
}

/* ---- contexts ---- */

static GLXContext
made(Display *dpy, GLXContext context, GLXContext share)
{
	if (context && !gl_shim_disabled())
		gl_context_created(GL_PLATFORM_GLX, dpy, context, share);
	return context;
}

static void
unmake(Display *dpy, GLXContext context)
{
	if (context && !gl_shim_disabled())
		gl_context_destroyed(GL_PLATFORM_GLX, dpy, context);
}

GLXContext
glXCreateContext(Display *dpy, XVisualInfo *visual, GLXContext share, Bool direct)
{
	__typeof__(glXCreateContext) *real = GL_REAL(glXCreateContext);
	return real ? made(dpy, real(dpy, visual, share, direct), share) : NULL;
}

GLXContext
glXCreateNewContext(Display *dpy, GLXFBConfig config, int type, GLXContext share,
		    Bool direct)
{
	__typeof__(glXCreateNewContext) *real = GL_REAL(glXCreateNewContext);
	return real ? made(dpy, real(dpy, config, type, share, direct), share) : NULL;
}

GLXContext
glXCreateContextAttribsARB(Display *dpy, GLXFBConfig config, GLXContext share,
			   Bool direct, const int *attributes)
{
	__typeof__(glXCreateContextAttribsARB) *real = GL_REAL(
		glXCreateContextAttribsARB);
	return real ? made(dpy, real(dpy, config, share, direct, attributes), share)
		    : NULL;
}

GLXContext
glXCreateContextWithConfigSGIX(Display *dpy, GLXFBConfig config, int type,
			       GLXContext share, Bool direct)
{
	__typeof__(glXCreateContextWithConfigSGIX) *real = GL_REAL(
		glXCreateContextWithConfigSGIX);
	return real ? made(dpy, real(dpy, config, type, share, direct), share) : NULL;
}

GLXContext
glXImportContextEXT(Display *dpy, GLXContextID id)
{
	__typeof__(glXImportContextEXT) *real = GL_REAL(glXImportContextEXT);
	return real ? made(dpy, real(dpy, id), NULL) : NULL;
}

GLXContext
glXCreateAssociatedContextAMD(unsigned int id, GLXContext share)
{
	__typeof__(glXCreateAssociatedContextAMD) *real = GL_REAL(
		glXCreateAssociatedContextAMD);
	return real ? made(NULL, real(id, share), share) : NULL;
}

GLXContext
glXCreateAssociatedContextAttribsAMD(unsigned int id, GLXContext share,
				     const int *attributes)
{
	__typeof__(glXCreateAssociatedContextAttribsAMD) *real = GL_REAL(
		glXCreateAssociatedContextAttribsAMD);
	return real ? made(NULL, real(id, share, attributes), share) : NULL;
}

void
glXDestroyContext(Display *dpy, GLXContext context)
{
	__typeof__(glXDestroyContext) *real = GL_REAL(glXDestroyContext);
	unmake(dpy, context);
	if (real)
		real(dpy, context);
}

void
glXFreeContextEXT(Display *dpy, GLXContext context)
{
	__typeof__(glXFreeContextEXT) *real = GL_REAL(glXFreeContextEXT);
	unmake(dpy, context);
	if (real)
		real(dpy, context);
}

Bool
glXDeleteAssociatedContextAMD(GLXContext context)
{
	__typeof__(glXDeleteAssociatedContextAMD) *real = GL_REAL(
		glXDeleteAssociatedContextAMD);
	unmake(NULL, context);
	return real ? real(context) : 0;
}

/* ---- make-current ---- */

static struct gl_switch
switch_begin(Display *dpy, GLXDrawable draw, GLXDrawable read, GLXContext context)
{
	struct gl_drawable drawable = { .display = dpy, .draw = draw, .read = read };
	bool release_only = false;
	if (!context && !gl_shim_disabled()) {
		/* If GLX has nothing current here, what EGL made current stays current. */
		static _Atomic(void *) cache;
		GLXContext (*current)(void) = (GLXContext(*)(void))(
			uintptr_t)gl_real_named("glXGetCurrentContext", &cache);
		release_only = current && !current();
	}
	return gl_switch_begin(GL_PLATFORM_GLX, context, drawable, release_only);
}

static Bool
switch_end(const struct gl_switch *s, Display *dpy, Bool result)
{
	if (!s->on)
		return result;
	bool indirect = false;
	if (result && s->handle && dpy) {
		static _Atomic(void *) cache;
		Bool (*is_direct)(Display *, GLXContext) = (Bool(*)(
			Display *, GLXContext))(uintptr_t)gl_real_named("glXIsDirect",
									&cache);
		indirect = is_direct && !is_direct(dpy, s->handle);
	}
	gl_switch_end(s, result, look_up, indirect);
	return result;
}

Bool
glXMakeCurrent(Display *dpy, GLXDrawable drawable, GLXContext context)
{
	__typeof__(glXMakeCurrent) *real = GL_REAL(glXMakeCurrent);
	if (!real)
		return 0;
	struct gl_switch s = switch_begin(dpy, drawable, drawable, context);
	return switch_end(&s, dpy, real(dpy, drawable, context));
}

Bool
glXMakeContextCurrent(Display *dpy, GLXDrawable draw, GLXDrawable read,
		      GLXContext context)
{
	__typeof__(glXMakeContextCurrent) *real = GL_REAL(glXMakeContextCurrent);
	if (!real)
		return 0;
	struct gl_switch s = switch_begin(dpy, draw, read, context);
	return switch_end(&s, dpy, real(dpy, draw, read, context));
}

Bool
glXMakeCurrentReadSGI(Display *dpy, GLXDrawable draw, GLXDrawable read,
		      GLXContext context)
{
	__typeof__(glXMakeCurrentReadSGI) *real = GL_REAL(glXMakeCurrentReadSGI);
	if (!real)
		return 0;
	struct gl_switch s = switch_begin(dpy, draw, read, context);
	return switch_end(&s, dpy, real(dpy, draw, read, context));
}

Bool
glXMakeAssociatedContextCurrentAMD(GLXContext context)
{
	__typeof__(glXMakeAssociatedContextCurrentAMD) *real = GL_REAL(
		glXMakeAssociatedContextCurrentAMD);
	if (!real)
		return 0;
	struct gl_switch s = switch_begin(NULL, 0, 0, context);
	return switch_end(&s, NULL, real(context));
}

/* ---- swaps ---- */

void
glXSwapBuffers(Display *dpy, GLXDrawable drawable)
{
	__typeof__(glXSwapBuffers) *real = GL_REAL(glXSwapBuffers);
	if (!real)
		return;
	measure(dpy, drawable);
	struct gl_present p = gl_present_begin(drawable, true);
	real(dpy, drawable);
	gl_present_end(&p, true);
}

int64_t
glXSwapBuffersMscOML(Display *dpy, GLXDrawable drawable, int64_t target_msc,
		     int64_t divisor, int64_t remainder)
{
	__typeof__(glXSwapBuffersMscOML) *real = GL_REAL(glXSwapBuffersMscOML);
	if (!real)
		return -1;
	measure(dpy, drawable);
	struct gl_present p = gl_present_begin(drawable, true);
	int64_t count = real(dpy, drawable, target_msc, divisor, remainder);
	gl_present_end(&p, count >= 0);
	return count;
}

void
glXCopySubBufferMESA(Display *dpy, GLXDrawable drawable, int x, int y, int width,
		     int height)
{
	__typeof__(glXCopySubBufferMESA) *real = GL_REAL(glXCopySubBufferMESA);
	if (!real)
		return;
	measure(dpy, drawable);
	struct gl_present p = gl_present_begin(drawable, false);
	real(dpy, drawable, x, y, width, height);
	gl_present_end(&p, true);
}

/* ---- work that GLX does on the GPU ---- */

static void
transfer(uintptr_t key)
{
	if (gl_current->live)
		gl_platform_transfer(key);
}

void
glXBindTexImageEXT(Display *dpy, GLXDrawable drawable, int buffer, const int *attributes)
{
	__typeof__(glXBindTexImageEXT) *real = GL_REAL(glXBindTexImageEXT);
	if (!real)
		return;
	transfer(drawable);
	real(dpy, drawable, buffer, attributes);
}

void
glXBlitContextFramebufferAMD(GLXContext to, GLint src_x0, GLint src_y0, GLint src_x1,
			     GLint src_y1, GLint dst_x0, GLint dst_y0, GLint dst_x1,
			     GLint dst_y1, GLbitfield mask, GLenum filter)
{
	__typeof__(glXBlitContextFramebufferAMD) *real = GL_REAL(
		glXBlitContextFramebufferAMD);
	if (!real)
		return;
	transfer((uintptr_t)to);
	real(to, src_x0, src_y0, src_x1, src_y1, dst_x0, dst_y0, dst_x1, dst_y1, mask,
	     filter);
}

void
glXCopyImageSubDataNV(Display *dpy, GLXContext from, GLuint src_name, GLenum src_target,
		      GLint src_level, GLint src_x, GLint src_y, GLint src_z,
		      GLXContext to, GLuint dst_name, GLenum dst_target, GLint dst_level,
		      GLint dst_x, GLint dst_y, GLint dst_z, GLsizei width,
		      GLsizei height, GLsizei depth)
{
	__typeof__(glXCopyImageSubDataNV) *real = GL_REAL(glXCopyImageSubDataNV);
	if (!real)
		return;
	transfer(dst_name);
	real(dpy, from, src_name, src_target, src_level, src_x, src_y, src_z, to,
	     dst_name, dst_target, dst_level, dst_x, dst_y, dst_z, width, height, depth);
}

void
glXCopyBufferSubDataNV(Display *dpy, GLXContext from, GLXContext to, GLenum read_target,
		       GLenum write_target, GLintptr read_offset, GLintptr write_offset,
		       GLsizeiptr size)
{
	__typeof__(glXCopyBufferSubDataNV) *real = GL_REAL(glXCopyBufferSubDataNV);
	if (!real)
		return;
	transfer(write_target);
	real(dpy, from, to, read_target, write_target, read_offset, write_offset, size);
}

void
glXNamedCopyBufferSubDataNV(Display *dpy, GLXContext from, GLXContext to,
			    GLuint read_buffer, GLuint write_buffer, GLintptr read_offset,
			    GLintptr write_offset, GLsizeiptr size)
{
	__typeof__(glXNamedCopyBufferSubDataNV) *real = GL_REAL(
		glXNamedCopyBufferSubDataNV);
	if (!real)
		return;
	transfer(write_buffer);
	real(dpy, from, to, read_buffer, write_buffer, read_offset, write_offset, size);
}

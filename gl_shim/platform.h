/* SPDX-License-Identifier: MIT */
/* gl_shim/platform.h - the hooks of GLX and EGL (glx.c, egl.c), and what both need.
 *
 * The hooks always call the real function, return its result unchanged, and report to context.h
 * what it meant. Without a real function a hook does nothing and returns 0. Any thread. We call
 * the window system rarely: for a drawable's size, at most once a second unless the viewport
 * changed, and before the game's own call, so that EGL's error code remains the game's.
 */
#ifndef PASSTALLY_GL_SHIM_PLATFORM_H
#define PASSTALLY_GL_SHIM_PLATFORM_H

#include "gl_shim/context.h"
#include "layer/base/clock.h"

/* ---- what glx.c and egl.c share: platform.c ---- */

/* The result of GetProcAddress: our hook for `name` if we have one and `real` is not NULL, else
 * `real`. Of the platforms' own functions only those that begin with `prefix` are hooked. */
void *gl_platform_proc(const char *name, void *real, const char *prefix);
/* The driver's gl* function as dlsym finds it, for when GetProcAddress (`lookup`, may be NULL)
 * must not be asked, does not know the name, or returns our hook because its library does not
 * bind to its own symbols. */
void *gl_platform_symbol(const char *name, const void *lookup);

/* Surrounds a real make-current. `release_only`: nothing is current
 * here and nothing will be. */
struct gl_switch {
	bool on;
	struct gl_context *old;
	enum gl_platform platform;
	void *handle;
	struct gl_drawable drawable;
};
struct gl_switch gl_switch_begin(enum gl_platform platform, void *handle,
				 struct gl_drawable drawable, bool release_only);
void gl_switch_end(const struct gl_switch *s, bool succeeded, void *(*lookup)(const char *name),
		   bool indirect);

/* Surrounds a real swap. `whole` false: only a part is shown, which ends a frame only if the
 * drawable has not been swapped as a whole for a second. */
struct gl_present {
	bool on, whole;
	struct gl_context *context;
	uintptr_t drawable;
	struct tally_clock_wait wait;
};
struct gl_present gl_present_begin(uintptr_t drawable, bool whole);
void gl_present_end(const struct gl_present *p, bool succeeded);

/* Called at a swap: whether the drawable's size must be asked for,
 * because it may have changed. */
bool gl_drawable_outdated(uintptr_t drawable);
/* Asks GLX for the size; EGL is only asked around the game's own EGL calls. */
void gl_glx_measure(void *display, uintptr_t drawable);

/* In a forked child: frees the lock, which another thread may have held. */
void gl_egl_forked_child(void);

/* ---- GLX hooks ---- */

GL_EXPORT GLXextFuncPtr glXGetProcAddress(const GLubyte *name);
GL_EXPORT GLXextFuncPtr glXGetProcAddressARB(const GLubyte *name);
GL_EXPORT void glXSwapBuffers(Display *dpy, GLXDrawable drawable);
GL_EXPORT int64_t glXSwapBuffersMscOML(Display *dpy, GLXDrawable drawable, int64_t target_msc,
				       int64_t divisor, int64_t remainder);
GL_EXPORT void glXCopySubBufferMESA(Display *dpy, GLXDrawable drawable, int x, int y, int width,
				    int height);
GL_EXPORT GLXContext glXCreateContext(Display *dpy, XVisualInfo *visual, GLXContext share,
				      Bool direct);
GL_EXPORT GLXContext glXCreateNewContext(Display *dpy, GLXFBConfig config, int type,
					 GLXContext share, Bool direct);
GL_EXPORT GLXContext glXCreateContextAttribsARB(Display *dpy, GLXFBConfig config,
						GLXContext share, Bool direct,
						const int *attributes);
GL_EXPORT GLXContext glXCreateContextWithConfigSGIX(Display *dpy, GLXFBConfig config, int type,
						    GLXContext share, Bool direct);
GL_EXPORT GLXContext glXImportContextEXT(Display *dpy, GLXContextID id);
GL_EXPORT GLXContext glXCreateAssociatedContextAMD(unsigned int id, GLXContext share);
GL_EXPORT GLXContext glXCreateAssociatedContextAttribsAMD(unsigned int id, GLXContext share,
							  const int *attributes);
GL_EXPORT void glXDestroyContext(Display *dpy, GLXContext context);
GL_EXPORT void glXFreeContextEXT(Display *dpy, GLXContext context);
GL_EXPORT Bool glXDeleteAssociatedContextAMD(GLXContext context);
GL_EXPORT Bool glXMakeCurrent(Display *dpy, GLXDrawable drawable, GLXContext context);
GL_EXPORT Bool glXMakeContextCurrent(Display *dpy, GLXDrawable draw, GLXDrawable read,
				     GLXContext context);
GL_EXPORT Bool glXMakeCurrentReadSGI(Display *dpy, GLXDrawable draw, GLXDrawable read,
				     GLXContext context);
GL_EXPORT Bool glXMakeAssociatedContextCurrentAMD(GLXContext context);
GL_EXPORT GLXWindow glXCreateWindow(Display *dpy, GLXFBConfig config, Window window,
				    const int *attributes);
GL_EXPORT GLXPixmap glXCreatePixmap(Display *dpy, GLXFBConfig config, Pixmap pixmap,
				    const int *attributes);
GL_EXPORT GLXPbuffer glXCreatePbuffer(Display *dpy, GLXFBConfig config, const int *attributes);
GL_EXPORT GLXPixmap glXCreateGLXPixmap(Display *dpy, XVisualInfo *visual, Pixmap pixmap);
GL_EXPORT GLXPixmap glXCreateGLXPixmapWithConfigSGIX(Display *dpy, GLXFBConfig config,
						     Pixmap pixmap);
GL_EXPORT GLXPixmap glXCreateGLXPixmapMESA(Display *dpy, XVisualInfo *visual, Pixmap pixmap,
					   Colormap colormap);
GL_EXPORT GLXPbuffer glXCreateGLXPbufferSGIX(Display *dpy, GLXFBConfig config,
					     unsigned int width, unsigned int height,
					     int *attributes);
GL_EXPORT void glXDestroyWindow(Display *dpy, GLXWindow window);
GL_EXPORT void glXDestroyPixmap(Display *dpy, GLXPixmap pixmap);
GL_EXPORT void glXDestroyPbuffer(Display *dpy, GLXPbuffer pbuffer);
GL_EXPORT void glXDestroyGLXPixmap(Display *dpy, GLXPixmap pixmap);
GL_EXPORT void glXDestroyGLXPbufferSGIX(Display *dpy, GLXPbuffer pbuffer);
GL_EXPORT void glXBindTexImageEXT(Display *dpy, GLXDrawable drawable, int buffer,
				  const int *attributes);
GL_EXPORT void
glXBlitContextFramebufferAMD(GLXContext to, GLint src_x0, GLint src_y0, GLint src_x1,
			     GLint src_y1, GLint dst_x0, GLint dst_y0, GLint dst_x1,
			     GLint dst_y1, GLbitfield mask, GLenum filter);
GL_EXPORT void
glXCopyImageSubDataNV(Display *dpy, GLXContext from, GLuint src_name, GLenum src_target,
		      GLint src_level, GLint src_x, GLint src_y, GLint src_z,
		      GLXContext to, GLuint dst_name, GLenum dst_target, GLint dst_level,
		      GLint dst_x, GLint dst_y, GLint dst_z, GLsizei width,
		      GLsizei height, GLsizei depth);
GL_EXPORT void
glXCopyBufferSubDataNV(Display *dpy, GLXContext from, GLXContext to, GLenum read_target,
		       GLenum write_target, GLintptr read_offset, GLintptr write_offset,
		       GLsizeiptr size);
GL_EXPORT void glXNamedCopyBufferSubDataNV(Display *dpy, GLXContext from, GLXContext to,
					   GLuint read_buffer, GLuint write_buffer,
					   GLintptr read_offset, GLintptr write_offset,
					   GLsizeiptr size);

/* ---- EGL hooks ---- */

GL_EXPORT EGLProc eglGetProcAddress(const char *name);
GL_EXPORT EGLBoolean eglSwapBuffers(EGLDisplay dpy, EGLSurface surface);
GL_EXPORT EGLBoolean eglSwapBuffersWithDamageKHR(EGLDisplay dpy, EGLSurface surface,
						 const EGLint *rectangles, EGLint n);
GL_EXPORT EGLBoolean eglSwapBuffersWithDamageEXT(EGLDisplay dpy, EGLSurface surface,
						 const EGLint *rectangles, EGLint n);
GL_EXPORT EGLBoolean eglSwapBuffersRegionNOK(EGLDisplay dpy, EGLSurface surface, EGLint n,
					     const EGLint *rectangles);
GL_EXPORT EGLBoolean eglSwapBuffersRegion2NOK(EGLDisplay dpy, EGLSurface surface, EGLint n,
					      const EGLint *rectangles);
GL_EXPORT EGLBoolean eglPostSubBufferNV(EGLDisplay dpy, EGLSurface surface, EGLint x, EGLint y,
					EGLint width, EGLint height);
GL_EXPORT EGLBoolean eglCopyBuffers(EGLDisplay dpy, EGLSurface surface, EGLNativePixmap target);
GL_EXPORT EGLContext eglCreateContext(EGLDisplay dpy, EGLConfig config, EGLContext share,
				      const EGLint *attributes);
GL_EXPORT EGLBoolean eglDestroyContext(EGLDisplay dpy, EGLContext context);
GL_EXPORT EGLBoolean eglMakeCurrent(EGLDisplay dpy, EGLSurface draw, EGLSurface read,
				    EGLContext context);
GL_EXPORT EGLBoolean eglReleaseThread(void);
GL_EXPORT EGLBoolean eglTerminate(EGLDisplay dpy);
GL_EXPORT EGLBoolean eglDestroySurface(EGLDisplay dpy, EGLSurface surface);
GL_EXPORT EGLBoolean eglBindTexImage(EGLDisplay dpy, EGLSurface surface, EGLint buffer);

#endif

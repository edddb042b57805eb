/* SPDX-License-Identifier: MIT */
/* tests/apps/life_plugin.c - a renderer that a program loads and unloads.
 *
 * It finds EGL and GL itself (dlopen and dlsym, as engines do) and links neither.
 */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <dlfcn.h>
#include <stddef.h>

#define FIND(handle, name) ((__typeof__(&name))dlsym(handle, #name))

/* Draw `frames` frames to its own pbuffer; returns how many were drawn. */
__attribute__((visibility("default"))) int plugin_render(int frames);

int
plugin_render(int frames)
{
	void *egl = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
	void *gl = dlopen("libGL.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!egl || !gl)
		return -1;
	PFNEGLGETPLATFORMDISPLAYPROC get_display = FIND(egl, eglGetPlatformDisplay);
	EGLDisplay display = get_display(EGL_PLATFORM_SURFACELESS_MESA,
					 EGL_DEFAULT_DISPLAY, NULL);
	if (!FIND(egl, eglInitialize)(display, NULL, NULL))
		return -2;
	FIND(egl, eglBindAPI)(EGL_OPENGL_API);
	static const EGLint wanted[] = { EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
					 EGL_OPENGL_BIT, EGL_NONE };
	static const EGLint size[] = { EGL_WIDTH, 64, EGL_HEIGHT, 64, EGL_NONE };
	EGLConfig config;
	EGLint n = 0;
	FIND(egl, eglChooseConfig)(display, wanted, &config, 1, &n);
	EGLContext context = FIND(egl, eglCreateContext)(display, config, EGL_NO_CONTEXT, NULL);
	EGLSurface surface = FIND(egl, eglCreatePbufferSurface)(display, config, size);
	if (!FIND(egl, eglMakeCurrent)(display, surface, surface, context))
		return -3;
	int drawn = 0;
	for (; drawn < frames; drawn++) {
		FIND(gl, glClear)(GL_COLOR_BUFFER_BIT);
		FIND(gl, glBegin)(GL_TRIANGLES);
		FIND(gl, glVertex2f)(0.0f, 0.0f);
		FIND(gl, glVertex2f)(1.0f, 0.0f);
		FIND(gl, glVertex2f)(0.0f, 1.0f);
		FIND(gl, glEnd)();
		FIND(egl, eglSwapBuffers)(display, surface);
	}
	FIND(egl, eglMakeCurrent)(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	FIND(egl, eglDestroyContext)(display, context);
	FIND(egl, eglDestroySurface)(display, surface);
	FIND(egl, eglTerminate)(display);
	dlclose(gl);
	dlclose(egl);
	return drawn;
}

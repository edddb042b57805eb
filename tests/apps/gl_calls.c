/* SPDX-License-Identifier: MIT */
/* tests/apps/gl_calls.c - call every OpenGL and GLX command that any look-up hands out.
 *
 *   gl_calls none|compat|core|es2|es1 [--skip FILE]
 *
 * The first argument names the context that is current: none, one of GLX, or one of EGL.
 * Commands are looked up by glXGetProcAddress, glXGetProcAddressARB, eglGetProcAddress and
 * dlsym in the program's scope and in libGL alone; what dlsym and the look-up of the context's
 * platform find is called, the rest is listed. After each OpenGL call the error is read, and is
 * part of the result.
 */
#include "tests/apps/calls.h"

#include <EGL/egl.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <GL/glx.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct calls_world {
	Display *display;
	GLXDrawable drawable;
	GLXContext context;
	GLXFBConfig config;
};
#include "gl_calls_table.h"

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

enum route { GLX, GLX_ARB, EGL, SCOPE, LIBRARY, N_ROUTES };
static const char *const routes[N_ROUTES] = { "glx", "glx-arb", "egl", "scope", "library" };

static const char *kind;
static struct calls_world world;
static void *library;

static int
ignore_error(Display *display, XErrorEvent *event)
{
	(void)display;
	(void)event;
	return 0;
}

static void
make_glx(void)
{
	static const int wanted[] = {
		GLX_DOUBLEBUFFER, True, GLX_DRAWABLE_TYPE, GLX_WINDOW_BIT, None,
	};
	static const int core[] = {
		GLX_CONTEXT_MAJOR_VERSION_ARB, 4,
		GLX_CONTEXT_MINOR_VERSION_ARB, 5,
		GLX_CONTEXT_PROFILE_MASK_ARB, GLX_CONTEXT_CORE_PROFILE_BIT_ARB,
		None,
	};
	int n = 0;
	XSetErrorHandler(ignore_error);
	world.display = XOpenDisplay(NULL);
	GLXFBConfig *configs = NULL;
	if (world.display)
		configs = glXChooseFBConfig(world.display, DefaultScreen(world.display), wanted,
					    &n);
	if (!configs || !n)
		calls_no_world();
	world.config = configs[0];
	XVisualInfo *visual = glXGetVisualFromFBConfig(world.display, world.config);
	Window root = RootWindow(world.display, visual->screen);
	XSetWindowAttributes attributes = {
		.colormap = XCreateColormap(world.display, root, visual->visual, AllocNone),
	};
	world.drawable = XCreateWindow(world.display, root, 0, 0, 64, 64, 0, visual->depth,
				       InputOutput, visual->visual, CWColormap | CWBorderPixel,
				       &attributes);
	PFNGLXCREATECONTEXTATTRIBSARBPROC create =
		(PFNGLXCREATECONTEXTATTRIBSARBPROC)glXGetProcAddressARB(
			(const GLubyte *)"glXCreateContextAttribsARB");
	world.context = strcmp(kind, "core") == 0
				? create(world.display, world.config, NULL, True, core)
				: glXCreateNewContext(world.display, world.config, GLX_RGBA_TYPE,
						      NULL, True);
	if (!world.context)
		calls_no_world();
	if (strcmp(kind, "none") != 0)
		glXMakeCurrent(world.display, world.drawable, world.context);
}

static void
make_egl(EGLint version)
{
	EGLint wanted[] = { EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
			    version == 1 ? EGL_OPENGL_ES_BIT : EGL_OPENGL_ES2_BIT, EGL_NONE };
	EGLint size[] = { EGL_WIDTH, 64, EGL_HEIGHT, 64, EGL_NONE };
	EGLint client[] = { EGL_CONTEXT_CLIENT_VERSION, version, EGL_NONE };
	EGLDisplay display = eglGetDisplay(EGL_DEFAULT_DISPLAY);
	EGLConfig config;
	EGLint n = 0;
	if (!eglInitialize(display, NULL, NULL) ||
	    !eglChooseConfig(display, wanted, &config, 1, &n) || !n)
		calls_no_world();
	eglBindAPI(EGL_OPENGL_ES_API);
	EGLSurface surface = eglCreatePbufferSurface(display, config, size);
	EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, client);
	if (!eglMakeCurrent(display, surface, surface, context))
		calls_no_world();
}

static void
start(void)
{
	library = dlopen("libGL.so.1", RTLD_NOW);
	if (kind[0] == 'e')
		make_egl(kind[2] - '0');
	else
		make_glx();
}

static PFN_vkVoidFunction
look_up(enum route route, const char *name)
{
	switch (route) {
	case GLX:
		return glXGetProcAddress((const GLubyte *)name);
	case GLX_ARB:
		return glXGetProcAddressARB((const GLubyte *)name);
	case EGL:
		return eglGetProcAddress(name);
	case SCOPE:
		return (PFN_vkVoidFunction)dlsym(RTLD_DEFAULT, name);
	default:
		return (PFN_vkVoidFunction)dlsym(library, name);
	}
}

/* Where a driver lacks a command, libglvnd's function returns whatever is left in the register:
 * only a command that a context of this kind is sure to have returns a value. */
static bool
has_value(const char *text)
{
	size_t n = strlen(text);
	bool is_vendors = n > 2 && text[n - 1] >= 'A' && text[n - 1] <= 'Z' &&
			  text[n - 2] >= 'A' && text[n - 2] <= 'Z';
	return kind[0] != 'e' && !is_vendors;
}

static enum calls_found
call(size_t item, uint64_t *result)
{
	enum route route = (enum route)(item / N_COMMANDS);
	size_t command = item % N_COMMANDS;
	PFN_vkVoidFunction function = look_up(route, commands[command].name);
	if (!function)
		return CALLS_NONE;
	bool is_egl = kind[0] == 'e', is_gl = commands[command].kind == CALLS_GL;
	bool called = is_egl ? route == EGL || route == SCOPE : route == GLX || route == LIBRARY;
	if (!called || (is_egl && !is_gl))
		return CALLS_LISTED;
	*result = commands[command].call(function, &world);
	if (!has_value(commands[command].name))
		*result = 0;
	if (is_gl && strcmp(kind, "none") != 0)
		*result = *result << 16 | glGetError();
	return CALLS_CALLED;
}

static void
name(size_t item, char *out, size_t size)
{
	snprintf(out, size, "%s %s", routes[item / N_COMMANDS],
		 commands[item % N_COMMANDS].name);
}

/* After it the objects are gone, another context is current, or no error can be read. */
static bool
is_last(size_t item)
{
	const char *text = commands[item % N_COMMANDS].name;
	return strncmp(text, "glXDestroy", 10) == 0 || strncmp(text, "glXMake", 7) == 0 ||
	       strcmp(text, "glXFreeContextEXT") == 0 || strcmp(text, "glBegin") == 0 ||
	       strcmp(text, "glNewList") == 0;
}

int
main(int argc, char **argv)
{
	static const char *const kinds[] = { "none", "compat", "core", "es2", "es1" };
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(argv[1], kinds[i]) == 0)
			kind = kinds[i];
	if (!kind)
		return 2;
	struct calls_plan plan = {
		.n = N_ROUTES * N_COMMANDS,
		.start = start,
		.call = call,
		.name = name,
		.is_last = is_last,
	};
	return calls_run(&plan, argc > 3 && strcmp(argv[2], "--skip") == 0 ? argv[3] : NULL);
}

/* SPDX-License-Identifier: MIT */
/* A GL and EGL library that does nothing, so that only passtally's own cost is measured over
 * it.
 *
 * Draws, binds and clears return at once. Queries have their result the moment they end: a
 * timestamp advances by one tick per timestamp of the thread, everything else is 1000. Nothing
 * is checked. No program links it: the benchmark opens it by path under a GL library's name, as
 * a game would.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <EGL/egl.h>
#include <GL/gl.h>
#include <GL/glext.h>

#define API __attribute__((visibility("default")))
#define N_RESULTS (1u << 18) /* queries in flight at most, a power of two */
#define TICK_NS 100

#define VENDOR "passtally tests"
#define EXTENSIONS \
	"GL_ARB_timer_query", "GL_ARB_pipeline_statistics_query", "GL_ARB_occlusion_query", \
		"GL_ARB_framebuffer_object", "GL_ARB_texture_storage", "GL_KHR_debug"

static const char *const extensions[] = { EXTENSIONS };
#define N_EXTENSIONS (sizeof(extensions) / sizeof(extensions[0]))

static uint64_t results[N_RESULTS];
static atomic_uint last_name;

struct stub_current {
	EGLDisplay display;
	EGLSurface draw, read;
	EGLContext context;
	uint64_t timestamp_ns;
	GLuint active[16]; /* query in progress, by the low bits of its target */
	GLuint texture; /* bound to any target */
};
static __thread struct stub_current current;

/* ---- what a frame calls ---- */

/* Exported, for a program that is linked with it. */
API void
glDrawArrays(GLenum mode, GLint first, GLsizei count)
{
	(void)mode;
	(void)first;
	(void)count;
	__asm__ volatile("");
}

static void
draw_arrays_instanced(GLenum mode, GLint first, GLsizei count, GLsizei instances)
{
	(void)mode;
	(void)first;
	(void)count;
	(void)instances;
	__asm__ volatile("");
}

static void
bind_framebuffer(GLenum target, GLuint name)
{
	(void)target;
	(void)name;
	__asm__ volatile("");
}

static void
clear(GLbitfield mask)
{
	(void)mask;
	__asm__ volatile("");
}

static void
flush(void)
{
}

static void
bind_texture(GLenum target, GLuint name)
{
	(void)target;
	current.texture = name;
}

static long
do_nothing(void)
{
	return 0;
}

/* ---- objects ---- */

static void
gen_names(GLsizei n, GLuint *names)
{
	for (GLsizei i = 0; i < n; i++)
		names[i] = 1 + atomic_fetch_add_explicit(&last_name, 1, memory_order_relaxed);
}

static void
create_queries(GLenum target, GLsizei n, GLuint *names)
{
	(void)target;
	gen_names(n, names);
}

static void
delete_names(GLsizei n, const GLuint *names)
{
	(void)n;
	(void)names;
}

/* ---- queries ---- */

static void
query_counter(GLuint id, GLenum target)
{
	(void)target;
	current.timestamp_ns += TICK_NS;
	results[id % N_RESULTS] = current.timestamp_ns;
}

static void
begin_query(GLenum target, GLuint id)
{
	current.active[target % 16] = id;
}

static void
end_query(GLenum target)
{
	results[current.active[target % 16] % N_RESULTS] = 1000;
}

static void
get_query(GLenum target, GLenum pname, GLint *params)
{
	(void)target;
	*params = pname == GL_QUERY_COUNTER_BITS ? 64 : 0;
}

static void
get_query_object_u32(GLuint id, GLenum pname, GLuint *params)
{
	*params = pname == GL_QUERY_RESULT_AVAILABLE ? GL_TRUE : (GLuint)results[id % N_RESULTS];
}

static void
get_query_object_u64(GLuint id, GLenum pname, GLuint64 *params)
{
	*params = pname == GL_QUERY_RESULT_AVAILABLE ? GL_TRUE : results[id % N_RESULTS];
}

/* ---- state ---- */

static const GLubyte *
get_string(GLenum name)
{
	switch (name) {
	case GL_VENDOR:
		return (const GLubyte *)VENDOR;
	case GL_RENDERER:
		return (const GLubyte *)"do-nothing stub";
	case GL_VERSION:
		return (const GLubyte *)"4.6 stub";
	case GL_SHADING_LANGUAGE_VERSION:
		return (const GLubyte *)"4.60";
	case GL_EXTENSIONS:
		return (const GLubyte *)"GL_ARB_timer_query GL_ARB_pipeline_statistics_query "
					"GL_ARB_occlusion_query GL_ARB_framebuffer_object "
					"GL_ARB_texture_storage GL_KHR_debug";
	default:
		return NULL;
	}
}

static const GLubyte *
get_string_i(GLenum name, GLuint index)
{
	if (name != GL_EXTENSIONS || index >= N_EXTENSIONS)
		return NULL;
	return (const GLubyte *)extensions[index];
}

static void
get_integer(GLenum name, GLint *data)
{
	switch (name) {
	case GL_MAJOR_VERSION:
		*data = 4;
		break;
	case GL_MINOR_VERSION:
		*data = 6;
		break;
	case GL_NUM_EXTENSIONS:
		*data = N_EXTENSIONS;
		break;
	case GL_CONTEXT_PROFILE_MASK:
		*data = GL_CONTEXT_COMPATIBILITY_PROFILE_BIT;
		break;
	case GL_TEXTURE_BINDING_2D:
		*data = (GLint)current.texture;
		break;
	case GL_DRAW_BUFFER:
		*data = GL_BACK;
		break;
	case GL_MAX_DRAW_BUFFERS:
	case GL_MAX_COLOR_ATTACHMENTS:
		*data = 8;
		break;
	default:
		*data = 0;
	}
}

static void
get_integer64(GLenum name, GLint64 *data)
{
	*data = name == GL_TIMESTAMP ? (GLint64)current.timestamp_ns : 0;
}

static void
get_float(GLenum name, GLfloat *data)
{
	(void)name;
	*data = 0;
}

static void
get_boolean(GLenum name, GLboolean *data)
{
	(void)name;
	*data = GL_FALSE;
}

static void
get_level_parameter(GLenum target, GLint level, GLenum pname, GLint *params)
{
	(void)target;
	(void)level;
	*params = pname == GL_TEXTURE_INTERNAL_FORMAT ? GL_RGBA8 : 256;
}

static void
get_attachment_parameter(GLenum target, GLenum attachment, GLenum pname, GLint *params)
{
	(void)target;
	(void)attachment;
	(void)pname;
	*params = 0;
}

static void
get_object_parameter(GLenum target, GLenum pname, GLint *params)
{
	(void)target;
	(void)pname;
	*params = 0;
}

/* ---- EGL ---- */

typedef void (*function)(void);

API EGLDisplay
eglGetDisplay(EGLNativeDisplayType native)
{
	(void)native;
	return &results;
}

API EGLBoolean
eglInitialize(EGLDisplay display, EGLint *major, EGLint *minor)
{
	(void)display;
	if (major)
		*major = 1;
	if (minor)
		*minor = 5;
	return EGL_TRUE;
}

API EGLBoolean
eglTerminate(EGLDisplay display)
{
	(void)display;
	return EGL_TRUE;
}

API EGLint
eglGetError(void)
{
	return EGL_SUCCESS;
}

API EGLBoolean
eglBindAPI(EGLenum api)
{
	(void)api;
	return EGL_TRUE;
}

API EGLenum
eglQueryAPI(void)
{
	return EGL_OPENGL_API;
}

API const char *
eglQueryString(EGLDisplay display, EGLint name)
{
	(void)display;
	return name == EGL_VERSION ? "1.5" : "";
}

API EGLBoolean
eglChooseConfig(EGLDisplay display, const EGLint *attributes, EGLConfig *configs, EGLint size,
		EGLint *n)
{
	(void)display;
	(void)attributes;
	if (configs && size > 0)
		configs[0] = &last_name;
	*n = 1;
	return EGL_TRUE;
}

API EGLBoolean
eglGetConfigAttrib(EGLDisplay display, EGLConfig config, EGLint name, EGLint *value)
{
	(void)display;
	(void)config;
	*value = name == EGL_RED_SIZE || name == EGL_GREEN_SIZE || name == EGL_BLUE_SIZE ? 8 : 0;
	return EGL_TRUE;
}

API EGLContext
eglCreateContext(EGLDisplay display, EGLConfig config, EGLContext share,
		 const EGLint *attributes)
{
	(void)display;
	(void)config;
	(void)share;
	(void)attributes;
	return malloc(1);
}

API EGLBoolean
eglDestroyContext(EGLDisplay display, EGLContext context)
{
	(void)display;
	free(context);
	return EGL_TRUE;
}

API EGLSurface
eglCreatePbufferSurface(EGLDisplay display, EGLConfig config, const EGLint *attributes)
{
	(void)display;
	(void)config;
	(void)attributes;
	return malloc(1);
}

API EGLBoolean
eglDestroySurface(EGLDisplay display, EGLSurface surface)
{
	(void)display;
	free(surface);
	return EGL_TRUE;
}

API EGLBoolean
eglQuerySurface(EGLDisplay display, EGLSurface surface, EGLint name, EGLint *value)
{
	(void)display;
	(void)surface;
	*value = name == EGL_WIDTH ? 1280 : name == EGL_HEIGHT ? 720 : 0;
	return EGL_TRUE;
}

API EGLBoolean
eglQueryContext(EGLDisplay display, EGLContext context, EGLint name, EGLint *value)
{
	(void)display;
	(void)context;
	*value = name == EGL_CONTEXT_CLIENT_TYPE ? EGL_OPENGL_API : 0;
	return EGL_TRUE;
}

API EGLBoolean
eglMakeCurrent(EGLDisplay display, EGLSurface draw, EGLSurface read, EGLContext context)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	current.display = display;
	current.draw = draw;
	current.read = read;
	current.context = context;
	if (!current.timestamp_ns)
		current.timestamp_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	return EGL_TRUE;
}

API EGLContext
eglGetCurrentContext(void)
{
	return current.context;
}

API EGLDisplay
eglGetCurrentDisplay(void)
{
	return current.display;
}

API EGLSurface
eglGetCurrentSurface(EGLint which)
{
	return which == EGL_READ ? current.read : current.draw;
}

API EGLBoolean
eglSwapBuffers(EGLDisplay display, EGLSurface surface)
{
	(void)display;
	(void)surface;
	return EGL_TRUE;
}

API EGLBoolean
eglReleaseThread(void)
{
	current = (struct stub_current){ 0 };
	return EGL_TRUE;
}

/* All framebuffers are complete, and all names are valid. */
static GLenum
check_framebuffer_status(GLenum target)
{
	(void)target;
	return GL_FRAMEBUFFER_COMPLETE;
}

static GLboolean
is_name(GLuint name)
{
	return name != 0;
}

static const struct {
	const char *name;
	function call;
} functions[] = {
	{ "glCheckFramebufferStatus", (function)check_framebuffer_status },
	{ "glIsFramebuffer", (function)is_name },
	{ "glIsTexture", (function)is_name },
	{ "glIsRenderbuffer", (function)is_name },
	{ "glDrawArrays", (function)glDrawArrays },
	{ "glDrawArraysInstanced", (function)draw_arrays_instanced },
	{ "glBindFramebuffer", (function)bind_framebuffer },
	{ "glClear", (function)clear },
	{ "glFlush", (function)flush },
	{ "glBindTexture", (function)bind_texture },
	{ "glGenQueries", (function)gen_names },
	{ "glGenFramebuffers", (function)gen_names },
	{ "glGenTextures", (function)gen_names },
	{ "glCreateQueries", (function)create_queries },
	{ "glDeleteQueries", (function)delete_names },
	{ "glQueryCounter", (function)query_counter },
	{ "glBeginQuery", (function)begin_query },
	{ "glEndQuery", (function)end_query },
	{ "glGetQueryiv", (function)get_query },
	{ "glGetQueryObjectuiv", (function)get_query_object_u32 },
	{ "glGetQueryObjectiv", (function)get_query_object_u32 },
	{ "glGetQueryObjectui64v", (function)get_query_object_u64 },
	{ "glGetQueryObjecti64v", (function)get_query_object_u64 },
	{ "glGetString", (function)get_string },
	{ "glGetStringi", (function)get_string_i },
	{ "glGetIntegerv", (function)get_integer },
	{ "glGetInteger64v", (function)get_integer64 },
	{ "glGetFloatv", (function)get_float },
	{ "glGetBooleanv", (function)get_boolean },
	{ "glGetTexLevelParameteriv", (function)get_level_parameter },
	{ "glGetTextureLevelParameteriv", (function)get_level_parameter },
	{ "glGetFramebufferAttachmentParameteriv", (function)get_attachment_parameter },
	{ "glGetNamedFramebufferAttachmentParameteriv", (function)get_attachment_parameter },
	{ "glGetRenderbufferParameteriv", (function)get_object_parameter },
	{ "glGetNamedRenderbufferParameteriv", (function)get_object_parameter },
	{ "glGetFramebufferParameteriv", (function)get_object_parameter },
	{ "eglGetCurrentContext", (function)eglGetCurrentContext },
	{ "eglSwapBuffers", (function)eglSwapBuffers },
	{ "eglMakeCurrent", (function)eglMakeCurrent },
};

/* Any other gl name does nothing, as with a dispatch library that returns a function for every
 * name. */
API function
eglGetProcAddress(const char *name)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (!strcmp(functions[i].name, name))
			return functions[i].call;
	}
	return strncmp(name, "gl", 2) || name[2] == 'X' ? NULL : (function)do_nothing;
}

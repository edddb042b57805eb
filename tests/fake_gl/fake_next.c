/* SPDX-License-Identifier: MIT */
#include "tests/fake_gl/fake_next.h"

#include <GL/gl.h>
#include <GL/glext.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <time.h>

struct fake_next fake_next = { .version = "4.6" };

static unsigned last_name;

static void
complain(const char *call, const char *why)
{
	fake_next.misuse++;
	snprintf(fake_next.last_misuse, sizeof(fake_next.last_misuse), "%s %s", call, why);
}

/* A driver may hang in any call. */
static void
check_locks(const char *call)
{
	if (fake_next.locks && *fake_next.locks)
		complain(call, "with a lock held");
}

/* Between glBegin and glEnd almost every call is an error, so passtally must make none
 * there. */
static void
check_zone(const char *call)
{
	check_locks(call);
	if (fake_next.in_begin)
		complain(call, "inside glBegin");
}

/* ---- queries of state ---- */

static const GLubyte *
get_string(GLenum name)
{
	check_zone("glGetString");
	return (const GLubyte *)(name == GL_VERSION ? fake_next.version : "fake");
}

static const GLubyte *
get_stringi(GLenum name, GLuint index)
{
	static const char *const extensions[] = { "GL_KHR_debug", "GL_ARB_timer_query",
						  "GL_ARB_pipeline_statistics_query" };
	(void)name;
	check_locks("glGetStringi");
	return (const GLubyte *)(index < 3 ? extensions[index] : "");
}

static GLint
draw_buffer(unsigned n)
{
	unsigned set = fake_next.framebuffers[fake_next.draw].n_draw_buffers;
	if (!set && n == 0)
		return fake_next.draw ? GL_COLOR_ATTACHMENT0 : GL_BACK;
	return n < set ? (GLint)fake_next.framebuffers[fake_next.draw].draw_buffers[n] : GL_NONE;
}

static void
get_integerv(GLenum name, GLint *out)
{
	check_zone("glGetIntegerv");
	*out = 0;
	if (name == GL_NUM_EXTENSIONS)
		*out = 3;
	else if (name == GL_MAX_COLOR_ATTACHMENTS || name == GL_MAX_DRAW_BUFFERS)
		*out = 8;
	else if (name == GL_DRAW_FRAMEBUFFER_BINDING)
		*out = (GLint)fake_next.draw;
	else if (name == GL_QUERY_BUFFER_BINDING)
		*out = (GLint)fake_next.query_buffer;
	else if (name >= GL_DRAW_BUFFER0 && name <= GL_DRAW_BUFFER7)
		*out = draw_buffer(name - GL_DRAW_BUFFER0);
}

static void
get_integer64v(GLenum name, GLint64 *out)
{
	struct timespec now;
	check_locks("glGetInteger64v");
	clock_gettime(CLOCK_MONOTONIC, &now);
	*out = name == GL_TIMESTAMP ? now.tv_sec * INT64_C(1000000000) + now.tv_nsec : 0;
}

static GLenum
get_error(void)
{
	check_zone("glGetError");
	GLenum error = fake_next.error;
	fake_next.error = GL_NO_ERROR;
	return error;
}

static GLboolean
is_enabled(GLenum what)
{
	check_zone("glIsEnabled");
	return what == GL_RASTERIZER_DISCARD && fake_next.discards;
}

static GLboolean
is_object(GLuint name)
{
	check_locks("glIsTexture, glIsRenderbuffer");
	return name != 0;
}

static GLint
of_framebuffer(GLuint name, GLenum point, GLenum what)
{
	unsigned texture = 0;
	if (name && name < FAKE_NEXT_FRAMEBUFFERS && point == GL_COLOR_ATTACHMENT0)
		texture = fake_next.framebuffers[name].color;
	else if (name && name < FAKE_NEXT_FRAMEBUFFERS && point == GL_DEPTH_ATTACHMENT)
		texture = fake_next.framebuffers[name].depth;
	switch (what) {
	case GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE:
		return !name ? GL_FRAMEBUFFER_DEFAULT : texture ? GL_TEXTURE : GL_NONE;
	case GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME:
		return (GLint)texture;
	case GL_FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE:
		return 24;
	case GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE:
	case GL_FRAMEBUFFER_ATTACHMENT_GREEN_SIZE:
	case GL_FRAMEBUFFER_ATTACHMENT_BLUE_SIZE:
	case GL_FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE:
	case GL_FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE:
		return 8;
	default:
		return 0;
	}
}

static void
get_attachment(GLenum target, GLenum point, GLenum what, GLint *out)
{
	(void)target;
	check_zone("glGetFramebufferAttachmentParameteriv");
	*out = of_framebuffer(fake_next.draw, point, what);
}

static void
get_named_attachment(GLuint name, GLenum point, GLenum what, GLint *out)
{
	check_zone("glGetNamedFramebufferAttachmentParameteriv");
	*out = of_framebuffer(name, point, what);
}

static GLenum
named_framebuffer_status(GLuint name, GLenum target)
{
	(void)target;
	check_zone("glCheckFramebufferStatus");
	bool has_any = fake_next.framebuffers[name].color || fake_next.framebuffers[name].depth;
	return !name || has_any ? GL_FRAMEBUFFER_COMPLETE
				: GL_FRAMEBUFFER_INCOMPLETE_MISSING_ATTACHMENT;
}

static GLenum
framebuffer_status(GLenum target)
{
	return named_framebuffer_status(fake_next.draw, target);
}

/* ---- state that is tracked ---- */

static void
bind_framebuffer(GLenum target, GLuint name)
{
	if (target != GL_READ_FRAMEBUFFER)
		fake_next.draw = name;
}

static void
framebuffer_texture(GLenum target, GLenum point, GLenum kind, GLuint texture, GLint level)
{
	(void)target;
	(void)kind;
	(void)level;
	if (point == GL_COLOR_ATTACHMENT0)
		fake_next.framebuffers[fake_next.draw].color = texture;
	else
		fake_next.framebuffers[fake_next.draw].depth = texture;
}

static void
framebuffer_whole_texture(GLenum target, GLenum point, GLuint texture, GLint level)
{
	framebuffer_texture(target, point, 0, texture, level);
}

static void
draw_buffers(GLsizei n, const GLenum *buffers)
{
	unsigned count = n > 0 ? (unsigned)n : 1; /* no buffer at all is one that is none */
	fake_next.framebuffers[fake_next.draw].n_draw_buffers = count;
	for (unsigned i = 0; i < count; i++)
		fake_next.framebuffers[fake_next.draw].draw_buffers[i] = n ? buffers[i] : GL_NONE;
}

static void
bind_buffer(GLenum target, GLuint buffer)
{
	if (target == GL_QUERY_BUFFER)
		fake_next.query_buffer = buffer;
}

static void
begin(GLenum mode)
{
	(void)mode;
	fake_next.in_begin = true;
}

static void
end(void)
{
	fake_next.in_begin = false;
}

/* ---- query objects, whose queries end at once ---- */

static void
gen_queries(GLsizei n, GLuint *out)
{
	check_zone("glGenQueries");
	for (GLsizei i = 0; i < n; i++)
		out[i] = ++last_name;
}

#define N_TIMESTAMPS 64 /* names of queries whose results are kept */

static GLint64 timestamps[N_TIMESTAMPS];

static void
query_counter(GLuint name, GLenum target)
{
	(void)target;
	check_zone("glQueryCounter");
	get_integer64v(GL_TIMESTAMP, &timestamps[name % N_TIMESTAMPS]);
}

static void
begin_query(GLenum target, GLuint name)
{
	check_zone("glBeginQuery");
	if (fake_next.active[target % 16])
		complain("glBeginQuery", "while another is active");
	fake_next.active[target % 16] = name;
}

static void
end_query(GLenum target)
{
	check_zone("glEndQuery");
	fake_next.active[target % 16] = 0;
}

static void
get_queryiv(GLenum target, GLenum what, GLint *out)
{
	(void)target;
	check_locks("glGetQueryiv");
	*out = what == GL_QUERY_COUNTER_BITS ? 64 : 0;
}

/* What is answered; false: `out` remains as it is. */
static bool
ask_query(const char *call, GLuint name, GLenum what, GLuint64 *out)
{
	check_locks(call);
	fake_next.questions++;
	if (fake_next.query_buffer)
		complain(call, "with the program's query buffer");
	if (fake_next.no_results)
		fake_next.error = GL_OUT_OF_MEMORY;
	else if (what != GL_QUERY_RESULT_AVAILABLE)
		usleep(fake_next.result_takes_us);
	*out = what == GL_QUERY_RESULT_AVAILABLE ? !fake_next.no_results
						 : (GLuint64)timestamps[name % N_TIMESTAMPS];
	return what == GL_QUERY_RESULT_AVAILABLE || !fake_next.no_results;
}

static void
get_query_uiv(GLuint name, GLenum what, GLuint *out)
{
	GLuint64 answer;
	if (ask_query("glGetQueryObjectuiv", name, what, &answer))
		*out = (GLuint)answer;
}

static void
get_query_ui64v(GLuint name, GLenum what, GLuint64 *out)
{
	GLuint64 answer;
	if (ask_query("glGetQueryObjectui64v", name, what, &answer))
		*out = answer;
}

/* Any arguments are fine: the caller removes them from the stack. */
static long
nothing(void)
{
	check_locks("a call");
	return 0;
}

void *
fake_next_look_up(const char *name)
{
	typedef void (*function)(void);
	static const struct {
		const char *name;
		function call;
	} known[] = {
		{ "glGetString", (function)get_string },
		{ "glGetStringi", (function)get_stringi },
		{ "glGetIntegerv", (function)get_integerv },
		{ "glGetInteger64v", (function)get_integer64v },
		{ "glGetError", (function)get_error },
		{ "glIsEnabled", (function)is_enabled },
		{ "glIsTexture", (function)is_object },
		{ "glIsRenderbuffer", (function)is_object },
		{ "glGetFramebufferAttachmentParameteriv", (function)get_attachment },
		{ "glGetNamedFramebufferAttachmentParameteriv", (function)get_named_attachment },
		{ "glCheckFramebufferStatus", (function)framebuffer_status },
		{ "glCheckNamedFramebufferStatus", (function)named_framebuffer_status },
		{ "glBindFramebuffer", (function)bind_framebuffer },
		{ "glFramebufferTexture2D", (function)framebuffer_texture },
		{ "glFramebufferTexture", (function)framebuffer_whole_texture },
		{ "glDrawBuffers", (function)draw_buffers },
		{ "glBindBuffer", (function)bind_buffer },
		{ "glBegin", (function)begin },
		{ "glEnd", (function)end },
		{ "glGenQueries", (function)gen_queries },
		{ "glQueryCounter", (function)query_counter },
		{ "glBeginQuery", (function)begin_query },
		{ "glEndQuery", (function)end_query },
		{ "glGetQueryiv", (function)get_queryiv },
		{ "glGetQueryObjectuiv", (function)get_query_uiv },
		{ "glGetQueryObjectui64v", (function)get_query_ui64v },
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(name, known[i].name) == 0)
			return (void *)(uintptr_t)known[i].call;
	}
	return strncmp(name, "gl", 2) == 0 ? (void *)(uintptr_t)nothing : NULL;
}

/* SPDX-License-Identifier: MIT */
/* tests/apps/hygiene_state.c - errors, bindings, lists, glBegin and what else a game can ask. */
#include "tests/apps/hygiene.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* glGetError after every call: no error of passtally's appears, and none of the game's is
 * lost. */
static void
errors(struct hygiene *h)
{
	for (int i = 0; i < 3; i++) {
		glBindFramebuffer(GL_FRAMEBUFFER, h->framebuffers[0]);
		hygiene_errors("at BindFramebuffer");
		glClear(GL_COLOR_BUFFER_BIT);
		hygiene_errors("at Clear");
		hygiene_pass(h, 0, 30);
		hygiene_errors("at the first pass");
		hygiene_pass(h, 1, 30);
		hygiene_errors("at the second pass");
		stage_target_screen(h->s);
		hygiene_errors("at the screen");
		hygiene_pass(h, -1, 30);
		hygiene_errors("at the third pass");
		hygiene_swap(h);
		hygiene_errors("at the swap");
	}
}

/* The game's own error is returned once, also when a pass begins or ends before it asks. */
static void
own_error(struct hygiene *h)
{
	hygiene_pass(h, 0, 30);
	glEnable(0x1234);
	hygiene_pass(h, 1, 30);
	hygiene_pass(h, -1, 30);
	hygiene_errors("after a pass change");
	glBindTexture(0x4321, 1);
	hygiene_swap(h);
	hygiene_pass(h, 0, 30);
	hygiene_swap(h);
	hygiene_errors("after two swaps");
	glDrawArrays(0x77, 0, 3);
	glViewport(0, 0, -1, -1);
	hygiene_pass(h, 1, 30);
	hygiene_errors("of two kinds");
	glEnable(0x1234);
	struct stage_peer *peer = stage_peer_create(h->s, true);
	stage_peer_make_current(h->s, peer);
	hygiene_errors("in another context");
	/* A driver keeps one error: later errors are dropped until it is fetched. Much of
	 * passtally's work is done at the first work of a context. */
	glEnable(0x1234);
	glClear(GL_COLOR_BUFFER_BIT);
	glViewport(0, 0, -1, -1);
	hygiene_errors("of two kinds, the first work between");
	glEnable(0x1234);
	glClear(GL_COLOR_BUFFER_BIT);
	glViewport(0, 0, -1, -1);
	hygiene_errors("of two kinds, work between");
	stage_peer_make_current(h->s, NULL);
	hygiene_errors("back in its own");
	stage_peer_destroy(h->s, peer);
}

/* A query buffer is bound: the game's results go into it, at its offsets. */
static void
query_buffer(struct hygiene *h)
{
	enum { WORDS = 32 };
	uint32_t words[WORDS];
	GLuint buffer, ids[2];
	glGenQueries(2, ids);
	glGenBuffers(1, &buffer);
	memset(words, 0xab, sizeof(words));
	glBindBuffer(GL_QUERY_BUFFER, buffer);
	glBufferData(GL_QUERY_BUFFER, sizeof(words), words, GL_DYNAMIC_READ);
	for (int i = 0; i < 2; i++) {
		glBeginQuery(GL_SAMPLES_PASSED, ids[i]);
		hygiene_pass(h, i, 60);
		glEndQuery(GL_SAMPLES_PASSED);
		hygiene_swap(h);
	}
	for (int i = 0; i < 5; i++) { /* passtally's results are read meanwhile */
		hygiene_pass(h, i % 2, 30);
		hygiene_swap(h);
		GLint bound = -1;
		glGetIntegerv(GL_QUERY_BUFFER_BINDING, &bound);
		printf("  bound %d\n", bound == (GLint)buffer);
	}
	glGetQueryObjectuiv(ids[0], GL_QUERY_RESULT, (GLuint *)8);
	glGetQueryObjectuiv(ids[1], GL_QUERY_RESULT, (GLuint *)64);
	glGetQueryBufferObjectuiv(ids[1], buffer, GL_QUERY_RESULT, 100);
	hygiene_pass(h, 0, 30);
	glGetBufferSubData(GL_QUERY_BUFFER, 0, sizeof(words), words);
	hygiene_errors("at the query buffer");
	for (int i = 0; i < WORDS; i++)
		printf("%s%x", i % 8 ? " " : i ? "\n  " : "  ", words[i]);
	printf("\n");
	glDeleteBuffers(1, &buffer);
	hygiene_pass(h, 1, 30);
	hygiene_swap(h);
	GLuint value = 0;
	glGetQueryObjectuiv(ids[0], GL_QUERY_RESULT, &value);
	printf("  without the buffer %u\n", value);
	hygiene_errors("after the query buffer");
}

static void
emit_triangle(void)
{
	glBegin(GL_TRIANGLES);
	glVertex2f(-1.0f, -1.0f);
	glVertex2f(1.0f, -1.0f);
	glVertex2f(-1.0f, 1.0f);
	glEnd();
}

static GLuint
samples_of_list(struct hygiene *h, GLuint list, GLuint id)
{
	GLuint value = 0;
	stage_target(h->s, h->framebuffers[0], 64, 64);
	glBeginQuery(GL_SAMPLES_PASSED, id);
	hygiene_errors("before the list");
	glCallList(list);
	glEndQuery(GL_SAMPLES_PASSED);
	glGetQueryObjectuiv(id, GL_QUERY_RESULT, &value);
	hygiene_errors("after the list");
	return value;
}

/* passtally's query commands must not get into a list; the game's own must. */
static void
display_lists(struct hygiene *h)
{
	GLuint lists = glGenLists(3), ids[3], value = 0;
	glGenQueries(3, ids);
	glUseProgram(0);
	hygiene_pass(h, 1, 30); /* a pass is open */
	glUseProgram(0);
	glNewList(lists, GL_COMPILE);
	glBindFramebuffer(GL_FRAMEBUFFER, h->framebuffers[0]); /* not compiled: a new target */
	emit_triangle();
	emit_triangle();
	glEndList();
	for (int i = 0; i < 3; i++)
		printf("  list %u samples\n", samples_of_list(h, lists, ids[0]));
	/* A list that holds one of the game's queries. */
	glNewList(lists + 1, GL_COMPILE);
	glBeginQuery(GL_SAMPLES_PASSED, ids[1]);
	emit_triangle();
	glEndQuery(GL_SAMPLES_PASSED);
	glEndList();
	for (int i = 0; i < 2; i++) {
		stage_target(h->s, h->framebuffers[i], 64, 64);
		glCallList(lists + 1);
		/* Read the result before the query begins again: llvmpipe 22.3 may add the two
		 * up otherwise. */
		glGetQueryObjectuiv(ids[1], GL_QUERY_RESULT, &value);
		printf("  query in a list %u\n", value);
		hygiene_swap(h);
	}
	hygiene_errors("at a query in a list");
	/* Compiled and run at once, with a change of target in between. */
	hygiene_pass(h, 1, 30);
	glUseProgram(0);
	glNewList(lists + 2, GL_COMPILE_AND_EXECUTE);
	emit_triangle();
	glBindFramebuffer(GL_FRAMEBUFFER, h->framebuffers[0]);
	emit_triangle();
	glEndList();
	hygiene_errors("at compile and execute");
	printf("  run and compiled %u samples\n", samples_of_list(h, lists + 2, ids[2]));
	hygiene_swap(h);
}

/* Between glBegin and glEnd nearly every call is an error: passtally may make none there. */
static void
begin_end(struct hygiene *h)
{
	GLuint id, value = 0;
	glGenQueries(1, &id);
	glBeginQuery(GL_SAMPLES_PASSED, id);
	for (int i = 0; i < 4; i++) {
		glUseProgram(0);
		stage_target(h->s, h->framebuffers[i % 2], 64, 64);
		emit_triangle();
		hygiene_errors("after glEnd");
	}
	glEndQuery(GL_SAMPLES_PASSED);
	glGetQueryObjectuiv(id, GL_QUERY_RESULT, &value);
	printf("  samples %u\n", value);
	glBegin(GL_TRIANGLES);
	glVertex2f(0.0f, 0.0f);
	glBindFramebuffer(GL_FRAMEBUFFER, 0); /* an error of the game's own */
	glDrawArrays(GL_TRIANGLES, 0, 3);     /* another */
	glClear(GL_COLOR_BUFFER_BIT);
	glVertex2f(1.0f, 0.0f);
	glVertex2f(0.0f, 1.0f);
	glEnd();
	hygiene_errors("of the game inside glBegin");
	glBegin(GL_POINTS);
	GLenum inside = glGetError();
	glEnd();
	printf("  asked inside: 0x%x\n", inside);
	hygiene_errors("after asking inside");
	glEnd();
	hygiene_errors("at an end too many");
	hygiene_pass(h, 0, 30);
	hygiene_swap(h);
}

static void
bindings(struct hygiene *h)
{
	static const struct {
		GLenum name;
		const char *word;
	} asked[] = {
		{ GL_TEXTURE_BINDING_2D, "texture" },
		{ GL_RENDERBUFFER_BINDING, "renderbuffer" },
		{ GL_DRAW_FRAMEBUFFER_BINDING, "draw framebuffer" },
		{ GL_READ_FRAMEBUFFER_BINDING, "read framebuffer" },
		{ GL_ARRAY_BUFFER_BINDING, "array buffer" },
		{ GL_PIXEL_PACK_BUFFER_BINDING, "pack buffer" },
		{ GL_ACTIVE_TEXTURE, "active texture" },
		{ GL_CURRENT_PROGRAM, "program" },
	};
	GLuint textures[3], renderbuffer, read;
	glGenTextures(3, textures);
	glGenRenderbuffers(1, &renderbuffer);
	glGenFramebuffers(1, &read);
	for (int unit = 0; unit < 3; unit++) {
		glActiveTexture((GLenum)(GL_TEXTURE0 + unit));
		glBindTexture(GL_TEXTURE_2D, textures[unit]);
	}
	glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
	for (int i = 0; i < 3; i++) {
		hygiene_pass(h, i % 2, 30);
		glBindFramebuffer(GL_READ_FRAMEBUFFER, read);
		hygiene_swap(h);
		for (size_t k = 0; k < sizeof(asked) / sizeof(asked[0]); k++) {
			GLint value = -1;
			glGetIntegerv(asked[k].name, &value);
			printf("  %s %d\n", asked[k].word, value);
		}
		stage_target_screen(h->s);
	}
	hygiene_errors("at the bindings");
}

/* One viewport of several has its scissors on, and what reads pixels has its own state. */
static void
reading(struct hygiene *h)
{
	static const GLenum asked[] = {
		GL_PACK_ROW_LENGTH, GL_PACK_SKIP_ROWS, GL_PACK_SKIP_PIXELS, GL_PACK_ALIGNMENT,
		GL_PACK_SWAP_BYTES, GL_READ_BUFFER,
	};
	glEnablei(GL_SCISSOR_TEST, 0);
	glScissor(0, 0, 16, 16);
	glPixelStorei(GL_PACK_SWAP_BYTES, GL_TRUE);
	glPixelStorei(GL_PACK_ROW_LENGTH, 77);
	for (int i = 0; i < 3; i++) {
		hygiene_pass(h, i % 2, 30);
		hygiene_pass(h, -1, 30);
		hygiene_swap(h);
		for (GLuint k = 0; k < 4; k++)
			printf("  scissors %u: %d\n", k, glIsEnabledi(GL_SCISSOR_TEST, k));
		for (size_t k = 0; k < sizeof(asked) / sizeof(asked[0]); k++) {
			GLint value = -1;
			glGetIntegerv(asked[k], &value);
			printf("  0x%04x %d\n", asked[k], value);
		}
	}
	hygiene_errors("at what reads pixels");
}

/* What colors the pixels that are read, and those that are drawn not: blue stays blue. */
static void
transfer(struct hygiene *h)
{
	static const GLfloat white[2] = { 1.0f, 1.0f };
	GLfloat value = -1.0f;
	glPixelTransferf(GL_RED_BIAS, 1.0f);
	glPixelTransferi(GL_MAP_COLOR, GL_TRUE);
	glPixelMapfv(GL_PIXEL_MAP_G_TO_G, 2, white);
	glClampColor(GL_CLAMP_READ_COLOR, GL_TRUE);
	for (int i = 0; i < 3; i++) {
		glClearColor(0.0f, 0.0f, 1.0f, 1.0f);
		glClear(GL_COLOR_BUFFER_BIT);
		hygiene_swap(h);
		glGetFloatv(GL_RED_BIAS, &value);
		printf("  red %g", (double)value);
		glGetFloatv(GL_MAP_COLOR, &value);
		printf(" map %g", (double)value);
		glGetFloatv(GL_CLAMP_READ_COLOR, &value);
		printf(" clamp %g\n", (double)value);
	}
	hygiene_errors("at the pixel transfer");
}

/* What was drawn to is deleted, and another texture gets its name before the next pass. */
static void
renamed(struct hygiene *h)
{
	uint8_t green[4 * 64 * 64];
	GLuint texture;
	for (size_t i = 0; i < sizeof(green); i++)
		green[i] = i % 2 ? 255 : 0;
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 64, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
	GLuint framebuffer = stage_framebuffer(texture, 0, 0);
	stage_target(h->s, framebuffer, 64, 64);
	glClearColor(0.0f, 0.0f, 1.0f, 1.0f);
	glClear(GL_COLOR_BUFFER_BIT);
	glDeleteTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture); /* a name that no call has to give out */
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 64, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, green);
	hygiene_pass(h, -1, 30);
	hygiene_swap(h);
	hygiene_pass(h, -1, 30);
	hygiene_swap(h);
	glDeleteFramebuffers(1, &framebuffer);
	hygiene_errors("at a name of another object");
}

static void
attach(GLenum format, GLsizei samples, GLsizei width, GLsizei height, bool depth)
{
	GLuint name;
	if (samples || depth) {
		glGenRenderbuffers(1, &name);
		glBindRenderbuffer(GL_RENDERBUFFER, name);
		glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, width, height);
		glFramebufferRenderbuffer(GL_FRAMEBUFFER,
					  depth ? GL_DEPTH_ATTACHMENT : GL_COLOR_ATTACHMENT0,
					  GL_RENDERBUFFER, name);
		return;
	}
	glGenTextures(1, &name);
	glBindTexture(GL_TEXTURE_CUBE_MAP, name);
	glTexStorage2D(GL_TEXTURE_CUBE_MAP, 1, format, width, height);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_CUBE_MAP_NEGATIVE_Z,
			       name, 0);
}

/* A face of a cube map, samples of a format that is resolved only into itself, depth with samples,
 * and depth that is larger than a picture: red or far away, but not in the lower left. */
static void
targets(struct hygiene *h)
{
	static const struct {
		GLenum format;
		GLsizei samples, width, height;
		bool depth;
	} rows[] = {
		{ GL_RGBA8, 0, 64, 64, false },
		{ GL_RGB565, 4, 64, 32, false },
		{ GL_DEPTH_COMPONENT24, 4, 64, 64, true },
		{ GL_DEPTH_COMPONENT16, 0, 2048, 1024, true },
	};
	static const GLenum none = GL_NONE;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		GLuint framebuffer;
		glGenFramebuffers(1, &framebuffer);
		glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
		attach(rows[i].format, rows[i].samples, rows[i].width, rows[i].height,
		       rows[i].depth);
		if (rows[i].depth)
			glDrawBuffers(1, &none);
		glClearColor(1.0f, 0.0f, 0.0f, 1.0f);
		glClearDepthf(1.0f);
		glClear(rows[i].depth ? GL_DEPTH_BUFFER_BIT : GL_COLOR_BUFFER_BIT);
		glEnable(GL_SCISSOR_TEST);
		glScissor(0, 0, rows[i].width / 2, rows[i].height / 2);
		glClearColor(0.0f, 1.0f, 0.0f, 1.0f);
		glClearDepthf(0.5f);
		glClear(rows[i].depth ? GL_DEPTH_BUFFER_BIT : GL_COLOR_BUFFER_BIT);
		glDisable(GL_SCISSOR_TEST);
	}
	for (int i = 0; i < 3; i++) {
		hygiene_pass(h, -1, 30);
		hygiene_swap(h);
	}
	hygiene_errors("at targets");
}

static void
reset_status(struct hygiene *h)
{
	hygiene_pass(h, 0, 30);
	printf("  reset 0x%x\n", (unsigned)glGetGraphicsResetStatus());
	hygiene_swap(h);
	hygiene_pass(h, 1, 30);
	printf("  reset 0x%x\n", (unsigned)glGetGraphicsResetStatus());
	hygiene_errors("at the reset status");
}

/* Reading clears it: the game must see what it would have seen without passtally. */
static void
disjoint(struct hygiene *h)
{
	if (!epoxy_has_gl_extension("GL_EXT_disjoint_timer_query")) {
		printf("  not offered\n");
		return;
	}
	GLint first = -1, second = -1;
	GLint64 wide = -1;
	GLfloat real = -1.0f;
	GLboolean logical = 7;
	for (int i = 0; i < 3; i++) {
		hygiene_pass(h, i % 2, 30);
		hygiene_swap(h);
		glGetIntegerv(GL_GPU_DISJOINT_EXT, &first);
		glGetIntegerv(GL_GPU_DISJOINT_EXT, &second);
		glGetInteger64v(GL_GPU_DISJOINT_EXT, &wide);
		glGetFloatv(GL_GPU_DISJOINT_EXT, &real);
		glGetBooleanv(GL_GPU_DISJOINT_EXT, &logical);
		printf("  disjoint %d %d %d %d %d\n", first, second, (int)wide, (int)real, logical);
	}
	GLuint id;
	GLuint64 value = 0;
	glGenQueriesEXT(1, &id);
	printf("  query %u\n", id);
	glBeginQueryEXT(GL_TIME_ELAPSED_EXT, id);
	hygiene_pass(h, 0, 30);
	hygiene_pass(h, 1, 30);
	glEndQueryEXT(GL_TIME_ELAPSED_EXT);
	glQueryCounterEXT(id, GL_TIMESTAMP_EXT);
	hygiene_errors("at a counter of a name of another target");
	glGetQueryObjectui64vEXT(id, GL_QUERY_RESULT_EXT, &value);
	hygiene_errors("at the disjoint timer");
	GLint bits = -1;
	glGetQueryivEXT(GL_TIMESTAMP_EXT, GL_QUERY_COUNTER_BITS_EXT, &bits);
	printf("  bits %d\n", bits);
}

/* Calls of other kinds in quick succession, each followed by the question. */
static void
every_kind(struct hygiene *h)
{
	static uint8_t pixels[64 * 64 * 4];
	bool es = h->s->options.api == STAGE_GLES;
	for (int i = 0; i < 2; i++) {
		hygiene_pass(h, 0, 30);
		glBindFramebuffer(GL_READ_FRAMEBUFFER, h->framebuffers[0]);
		glBindFramebuffer(GL_DRAW_FRAMEBUFFER, h->framebuffers[1]);
		glBlitFramebuffer(0, 0, 64, 64, 0, 0, 32, 32, GL_COLOR_BUFFER_BIT, GL_NEAREST);
		hygiene_errors("at a blit");
		glReadPixels(0, 0, 64, 64, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
		hygiene_errors("at a readback");
		glBindTexture(GL_TEXTURE_2D, h->textures[0]);
		glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, 8, 8);
		hygiene_errors("at a copy");
		if (!es)
			glGenerateMipmap(GL_TEXTURE_2D);
		hygiene_errors("at mipmaps");
		glFlush();
		GLsync sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
		printf("  waited %d\n", glClientWaitSync(sync, GL_SYNC_FLUSH_COMMANDS_BIT,
							 1000000000) != GL_WAIT_FAILED);
		glDeleteSync(sync);
		hygiene_errors("at a fence");
		hygiene_swap(h);
	}
}

static void
say(GLenum source, GLenum type, GLuint id, GLenum severity, GLsizei length, const GLchar *text,
    const void *data)
{
	(void)source, (void)id, (void)severity, (void)length, (void)data;
	printf("  the driver says (0x%04x): %s\n", type, text);
}

/* A callback hears only of the game's own mistakes: what is deleted, not complete or unknown. */
static void
reported(struct hygiene *h)
{
	GLuint texture, framebuffers[2];
	glEnable(GL_DEBUG_OUTPUT);
	glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
	glDebugMessageCallback(say, NULL);
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, 64, 64, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
	framebuffers[0] = stage_framebuffer(texture, 0, 0);
	glGenFramebuffers(1, &framebuffers[1]);
	for (int i = 0; i < 3; i++) {
		stage_target(h->s, framebuffers[0], 64, 64);
		stage_draw(h->s, 0, 30, 3);
		hygiene_pass(h, -1, 30);
		glDeleteTextures(1, &texture); /* it stays attached */
		stage_target(h->s, framebuffers[0], 64, 64);
		stage_draw(h->s, 0, 30, 3);
		stage_target(h->s, framebuffers[1], 64, 64);
		stage_draw(h->s, 0, 30, 3);
		hygiene_pass(h, -1, 30);
		hygiene_swap(h);
		printf("  it is still heard: %d\n", glIsEnabled(GL_DEBUG_OUTPUT));
		hygiene_errors("at what is reported");
	}
	glDeleteFramebuffers(2, framebuffers);
	glDisable(GL_DEBUG_OUTPUT);
}

const struct hygiene_part state_parts[] = {
	{ "errors", HYGIENE_ALL, errors },
	{ "own_error", HYGIENE_ALL, own_error },
	{ "query_buffer", HYGIENE_DESKTOP, query_buffer },
	{ "display_lists", 1u << STAGE_COMPAT, display_lists },
	{ "begin_end", 1u << STAGE_COMPAT, begin_end },
	{ "bindings", HYGIENE_ALL, bindings },
	{ "reading", HYGIENE_DESKTOP, reading },
	{ "transfer", 1u << STAGE_COMPAT, transfer },
	{ "renamed", 1u << STAGE_COMPAT, renamed },
	{ "targets", HYGIENE_ALL, targets },
	{ "reset_status", HYGIENE_DESKTOP, reset_status },
	{ "disjoint", 1u << STAGE_GLES, disjoint },
	{ "every_kind", HYGIENE_ALL, every_kind },
	{ "reported", HYGIENE_ALL, reported },
	{ 0 },
};

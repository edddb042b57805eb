/* SPDX-License-Identifier: MIT */
#include "scenes/gl/stage.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
stage_check(const char *what)
{
	GLenum error = glGetError();
	if (error == GL_NO_ERROR)
		return;
	fprintf(stderr, "failed: GL error 0x%04x after %s\n", error, what);
	exit(99);
}

GLuint
stage_shader(GLenum type, const char *const *texts, int n)
{
	GLuint shader = glCreateShader(type);
	glShaderSource(shader, n, texts, NULL);
	glCompileShader(shader);
	GLint fine = 0;
	glGetShaderiv(shader, GL_COMPILE_STATUS, &fine);
	if (!fine) {
		char log[1024] = "";
		glGetShaderInfoLog(shader, sizeof(log), NULL, log);
		stage_fail(log);
	}
	return shader;
}

void
stage_link(GLuint program)
{
	glLinkProgram(program);
	GLint fine = 0;
	glGetProgramiv(program, GL_LINK_STATUS, &fine);
	if (!fine) {
		char log[1024] = "";
		glGetProgramInfoLog(program, sizeof(log), NULL, log);
		stage_fail(log);
	}
}

/* The three dialects that a scene may use, so that one body serves all. */
static const char *
shader_head(const struct stage *s, bool vertex)
{
	if (s->options.api == STAGE_GLES && s->options.major < 3)
		return vertex ? "#version 100\nprecision highp float;\n#define IN attribute\n"
				"#define OUT varying\n#define INSTANCE 0.0\n"
			      : "#version 100\nprecision mediump float;\n#define IN varying\n"
				"#define COLOR gl_FragColor\n#define SAMPLE texture2D\n"
				"#define RESULT\n";
	if (s->options.api == STAGE_GLES)
		return vertex ?
			"#version 300 es\nprecision highp float;\n#define IN in\n#define OUT out\n"
				"#define INSTANCE float(gl_InstanceID)\n"
			      : "#version 300 es\nprecision mediump float;\n#define IN in\n"
				"#define COLOR color\n#define SAMPLE texture\n"
				"#define RESULT layout(location = 0) out vec4 color;\n";
	return vertex ? "#version 330\n#define IN in\n#define OUT out\n"
			"#define INSTANCE float(gl_InstanceID)\n"
		      : "#version 330\n#define IN in\n#define COLOR color\n#define SAMPLE texture\n"
			"#define RESULT layout(location = 0) out vec4 color;\n";
}

static const char plain_vertex[] =
	"IN vec2 pos;\n"
	"uniform vec4 place;\n"
	"void main() {\n"
	"	gl_Position = vec4(pos * place.zw + place.xy + INSTANCE * 0.03125, 0.0, 1.0);\n"
	"}\n";
static const char plain_fragment[] = "uniform vec4 tint;\n"
				     "RESULT\n"
				     "void main() { COLOR = tint; }\n";
static const char sampling_vertex[] =
	"IN vec2 pos;\n"
	"uniform vec4 place;\n"
	"OUT vec2 at;\n"
	"void main() {\n"
	"	at = pos * 0.5 + 0.5;\n"
	"	gl_Position = vec4(pos * place.zw + place.xy, 0.0, 1.0);\n"
	"}\n";
static const char sampling_fragment[] = "IN vec2 at;\n"
					"uniform sampler2D image;\n"
					"RESULT\n"
					"void main() { COLOR = SAMPLE(image, at); }\n";

GLuint
stage_program(const struct stage *s, const char *vertex, const char *fragment)
{
	const char *v[] = { shader_head(s, true), vertex ? vertex : plain_vertex };
	const char *f[] = { shader_head(s, false), fragment ? fragment : plain_fragment };
	GLuint program = glCreateProgram();
	glAttachShader(program, stage_shader(GL_VERTEX_SHADER, v, 2));
	glAttachShader(program, stage_shader(GL_FRAGMENT_SHADER, f, 2));
	glBindAttribLocation(program, 0, "pos");
	stage_link(program);
	return program;
}

GLuint
stage_compute_program(const struct stage *s, const char *text)
{
	const char *c[] = { s->options.api == STAGE_GLES ? "#version 310 es\n"
							 : "#version 430\n",
			    text };
	GLuint program = glCreateProgram();
	glAttachShader(program, stage_shader(GL_COMPUTE_SHADER, c, 2));
	stage_link(program);
	return program;
}

/* Triangles in a 32 x 32 grid, then one that covers everything. */
static void
fill_vertices(float *out)
{
	for (int i = 0; i < STAGE_TRIANGLES; i++) {
		float left = -1.0f + (float)(i % 32) / 16.0f;
		float low = -1.0f + (float)(i / 32) / 16.0f;
		const float corners[6] = { left, low, left + 0.06f, low, left, low + 0.06f };
		memcpy(out + (size_t)i * 6, corners, sizeof(corners));
	}
	static const float cover[6] = { -1.0f, -1.0f, 3.0f, -1.0f, -1.0f, 3.0f };
	memcpy(out + (size_t)STAGE_TRIANGLES * 6, cover, sizeof(cover));
}

static bool
has_vertex_arrays(const struct stage *s)
{
	return !(s->options.api == STAGE_GLES && s->options.major < 3);
}

void
stage_peer_use_vertices(struct stage *s)
{
	if (has_vertex_arrays(s)) {
		GLuint array;
		glGenVertexArrays(1, &array);
		glBindVertexArray(array);
	}
	glBindBuffer(GL_ARRAY_BUFFER, s->vertices);
	glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, s->indices);
	glEnableVertexAttribArray(0);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
}

static void
make_geometry(struct stage *s)
{
	static float corners[(STAGE_TRIANGLES + 1) * 6];
	static uint16_t indices[(STAGE_TRIANGLES + 1) * 3];
	fill_vertices(corners);
	for (size_t i = 0; i < sizeof(indices) / sizeof(indices[0]); i++)
		indices[i] = (uint16_t)i;
	glGenBuffers(1, &s->vertices);
	glGenBuffers(1, &s->indices);
	stage_peer_use_vertices(s);
	glBufferData(GL_ARRAY_BUFFER, sizeof(corners), corners, GL_STATIC_DRAW);
	glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof(indices), indices, GL_STATIC_DRAW);
}

static void
make_screen(struct stage *s)
{
	if (stage_has_surface(&s->options))
		return;
	int width = s->options.width, height = s->options.height;
	bool old = s->options.api == STAGE_GLES && s->options.major < 3;
	s->screen_color = stage_texture(old ? GL_RGBA : GL_RGBA8, width, height, 1);
	s->screen_depth = stage_renderbuffer(
		old ? GL_DEPTH_COMPONENT16 : GL_DEPTH_COMPONENT24, 0, width, height);
	s->screen = stage_framebuffer(s->screen_color, s->screen_depth, GL_DEPTH_ATTACHMENT);
}

void
stage_make_program(struct stage *s)
{
	s->program = stage_program(s, NULL, NULL);
	s->place = glGetUniformLocation(s->program, "place");
	s->tint = glGetUniformLocation(s->program, "tint");
}

void
stage_open(struct stage *s, const struct stage_options *options)
{
	stage_open_bare(s, options);
	make_geometry(s);
	stage_make_program(s);
	s->sampling_program = stage_program(s, sampling_vertex, sampling_fragment);
	s->sampling_place = glGetUniformLocation(s->sampling_program, "place");
	make_screen(s);
	stage_target_screen(s);
	stage_check("opening the stage");
}

void
stage_target(struct stage *s, GLuint framebuffer, int width, int height)
{
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glViewport(0, 0, width, height);
}

void
stage_target_screen(struct stage *s)
{
	stage_target(s, s->screen, s->options.width, s->options.height);
}

void
stage_paint(struct stage *s, unsigned tone)
{
	glUseProgram(s->program);
	glUniform4f(s->place, 0.0f, 0.0f, 1.0f, 1.0f);
	glUniform4f(s->tint, (float)(tone * 37 % 256) / 255.0f,
		    (float)(tone * 101 % 256) / 255.0f,
		    (float)(tone * 211 % 256) / 255.0f, 1.0f);
}

void
stage_draw(struct stage *s, int first_triangle, int count, unsigned tone)
{
	stage_paint(s, tone);
	glDrawArrays(GL_TRIANGLES, first_triangle * 3, count);
}

void
stage_draw_textured(struct stage *s, GLuint texture)
{
	glUseProgram(s->sampling_program);
	glUniform4f(s->sampling_place, 0.0f, 0.0f, 1.0f, 1.0f);
	glBindTexture(GL_TEXTURE_2D, texture);
	glDrawArrays(GL_TRIANGLES, STAGE_TRIANGLES * 3, 3);
}

/* Of formats that are not of four bytes. */
static const struct pixels {
	GLenum format, base, type;
} pixel_formats[] = {
	{ GL_DEPTH_COMPONENT16, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT },
	{ GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT, GL_UNSIGNED_INT },
	{ GL_DEPTH24_STENCIL8, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8 },
	{ GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT },
	{ GL_RGB10_A2, GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV },
	{ 0, GL_RGBA, GL_UNSIGNED_BYTE },
};

GLuint
stage_texture(GLenum format, int width, int height, int levels)
{
	GLuint texture;
	const struct pixels *p = pixel_formats;
	while (p->format && p->format != format)
		p++;
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	for (int i = 0; i < levels; i++)
		glTexImage2D(GL_TEXTURE_2D, i, (GLint)format, width >> i, height >> i, 0,
			     p->base, p->type, NULL);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER,
			levels > 1 ? GL_NEAREST_MIPMAP_NEAREST : GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
	return texture;
}

GLuint
stage_renderbuffer(GLenum format, int samples, int width, int height)
{
	GLuint renderbuffer;
	glGenRenderbuffers(1, &renderbuffer);
	glBindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
	if (samples > 0)
		glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, width,
						 height);
	else
		glRenderbufferStorage(GL_RENDERBUFFER, format, width, height);
	return renderbuffer;
}

GLuint
stage_framebuffer(GLuint texture, GLuint depth_renderbuffer, GLenum depth_attachment)
{
	GLuint framebuffer;
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	if (texture)
		glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
			texture, 0);
	if (depth_renderbuffer)
		glFramebufferRenderbuffer(GL_FRAMEBUFFER, depth_attachment, GL_RENDERBUFFER,
					  depth_renderbuffer);
	return framebuffer;
}

void
stage_begin_frame(struct stage *s)
{
	if (s->options.end == STAGE_END_LABEL) {
		glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 1, -1, "frame");
		glPopDebugGroup();
	}
}

void
stage_end_frame(struct stage *s)
{
	switch (s->options.end) {
	case STAGE_END_PRESENT:
		stage_swap(s);
		return;
	case STAGE_END_FINISH:
		glFinish();
		return;
	case STAGE_END_FLUSH:
		glFlush();
		return;
	case STAGE_END_TERMINATOR:
		stage_terminate_frame();
		return;
	case STAGE_END_LABEL:
	case STAGE_END_NOTHING:
		return;
	}
}

unsigned long long
stage_checksum(struct stage *s)
{
	size_t size = (size_t)s->options.width * (size_t)s->options.height * 4;
	uint8_t *pixels = calloc(1, size);
	if (!pixels)
		stage_fail("out of memory");
	glReadPixels(0, 0, s->options.width, s->options.height, GL_RGBA, GL_UNSIGNED_BYTE,
		     pixels);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ pixels[i]) * UINT64_C(0x100000001b3);
	free(pixels);
	return hash;
}

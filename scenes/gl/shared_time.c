/* SPDX-License-Identifier: MIT */
/* scenes/gl/shared_time.c - a light and a heavy pass in one framebuffer, told apart by debug
 * groups, on any version of OpenGL: drivers that draw tile by tile may give both one time. */
#include "scenes/gl/scenes.h"

/* More than one tile, however much on-chip memory a GPU has: 16 MiB. */
#define SIZE 2048
#define FRAME_NS UINT64_C(10000000)
#define MOST_DRAWS 512
#define MOST_FRAMES 24
#define BUDGET_NS UINT64_C(2000000000)

static const char vertex[] = "attribute vec2 at;\n"
			     "void main() { gl_Position = vec4(at, 0.0, 1.0); }\n";
static const char fragment[] = "#ifdef GL_ES\n"
			       "precision mediump float;\n"
			       "#endif\n"
			       "void main() { gl_FragColor = vec4(0.5); }\n";

static bool is_es;
static GLuint targets[2];

static GLuint
make_shader(GLenum kind, const char *text)
{
	GLuint shader = glCreateShader(kind);
	glShaderSource(shader, 1, &text, NULL);
	glCompileShader(shader);
	return shader;
}

static GLuint
make_target(void)
{
	GLuint texture, framebuffer;
	glGenTextures(1, &texture);
	glBindTexture(GL_TEXTURE_2D, texture);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, SIZE, SIZE, 0, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
	glGenFramebuffers(1, &framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
	return framebuffer;
}

static void
set_up(void)
{
	/* One triangle over the whole target, one over a few pixels of it. */
	static const float corners[] = { -1, -1, 3, -1, -1, 3, 0, 0, 0.01f, 0, 0, 0.01f };
	GLuint program = glCreateProgram(), buffer;
	is_es = !epoxy_is_desktop_gl();
	if (!epoxy_has_gl_extension("GL_KHR_debug"))
		stage_skip("no debug groups");
	glAttachShader(program, make_shader(GL_VERTEX_SHADER, vertex));
	glAttachShader(program, make_shader(GL_FRAGMENT_SHADER, fragment));
	glBindAttribLocation(program, 0, "at");
	glLinkProgram(program);
	glUseProgram(program);
	glGenBuffers(1, &buffer);
	glBindBuffer(GL_ARRAY_BUFFER, buffer);
	glBufferData(GL_ARRAY_BUFFER, sizeof(corners), corners, GL_STATIC_DRAW);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
	glEnableVertexAttribArray(0);
	/* Blended, because otherwise a GPU draws only what is finally visible. */
	glEnable(GL_BLEND);
	glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
	glViewport(0, 0, SIZE, SIZE);
	for (int i = 0; i < 2; i++)
		targets[i] = make_target();
	stage_check("preparing the passes");
}

static void
draw(const char *name, GLuint target, bool whole, int times)
{
	glBindFramebuffer(GL_FRAMEBUFFER, target);
	if (is_es)
		glPushDebugGroupKHR(GL_DEBUG_SOURCE_APPLICATION_KHR, 0, -1, name);
	else
		glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 0, -1, name);
	for (int i = 0; i < times; i++)
		glDrawArrays(GL_TRIANGLES, whole ? 0 : 3, 3);
	if (is_es)
		glPopDebugGroupKHR();
	else
		glPopDebugGroup();
}

void
scene_draw_shared_time(void)
{
	int draws = 1;
	set_up();
	uint64_t until = scene_clock_ns() + BUDGET_NS;
	for (int i = 0; i < MOST_FRAMES && scene_clock_ns() < until; i++) {
		uint64_t before = scene_clock_ns();
		/* Another framebuffer, which is done: a timestamp after it is right with any
		 * driver. */
		draw("before", targets[0], false, 1);
		glFlush();
		draw("light", targets[1], false, 1);
		draw("heavy", targets[1], true, draws);
		glFinish();
		if (scene_clock_ns() - before < FRAME_NS && draws < MOST_DRAWS)
			draws *= 2;
	}
	stage_check("drawing the passes");
}

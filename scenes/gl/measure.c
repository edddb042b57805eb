/* SPDX-License-Identifier: MIT */
/* scenes/gl/measure.c - scenes that are measured, not counted: work that takes time. */
#include "scenes/gl/scenes.h"

#define SIZE 256
/* Draws of a light and of a heavy pass. */
#define LIGHT 1
#define HEAVY 16
/* How long the GPU is to work in a frame of "clock", and the length at which a trial is long
 * enough. */
#define CLOCK_NS 12000000
#define MOST_DRAWS 32768

/* Its fragments cost something. */
static const char fragment[] = "RESULT\n"
			       "void main() {\n"
			       "	float x = gl_FragCoord.x;\n"
			       "	for (int i = 0; i < 24; i++) x = sin(x) + 0.5;\n"
			       "	COLOR = vec4(x, x, x, 0.5);\n"
			       "}\n";

static GLuint program, framebuffers[4], buffers[2];
static int clock_draws;

static void
init_measure(struct stage *s)
{
	program = stage_program(s, scene_cover_vertex, fragment);
	for (int i = 0; i < 4; i++)
		framebuffers[i] = stage_framebuffer(stage_texture(GL_RGBA8, SIZE, SIZE, 1), 0, 0);
	glGenBuffers(2, buffers);
	for (int i = 0; i < 2; i++) {
		GLenum where = i ? GL_COPY_WRITE_BUFFER : GL_COPY_READ_BUFFER;
		glBindBuffer(where, buffers[i]);
		glBufferData(where, 4096, NULL, GL_STATIC_DRAW);
	}
}

/* Blended, so that no draw hides the ones before it. */
static void
draw(struct stage *s, int to, int times)
{
	stage_target(s, framebuffers[to], SIZE, SIZE);
	glUseProgram(program);
	glEnable(GL_BLEND);
	glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
	for (int i = 0; i < times; i++)
		glDrawArrays(GL_TRIANGLES, 0, 3);
	glDisable(GL_BLEND);
}

#define COVERED(n) .kind = "render", .draws = (n), .vertices = 3 * (n), .instances = (n), \
		   .primitives = (n), .shaded = 3 * (n), .fragments = (n) * SIZE * SIZE, \
		   .width = SIZE, .height = SIZE

/* ---- work: a light pass, a heavy one, and both again ---- */

static void
frame_work(struct stage *s)
{
	for (int i = 0; i < 4; i++)
		draw(s, i, i % 2 ? HEAVY : LIGHT);
}

static const struct expect_pass work_passes[] = {
	{ COVERED(LIGHT) }, { COVERED(HEAVY) }, { COVERED(LIGHT) }, { COVERED(HEAVY) },
};

/* ---- twins: equal passes, short enough for many frames ---- */

static void
frame_twins(struct stage *s)
{
	for (int i = 0; i < 2; i++)
		draw(s, i, LIGHT);
}

static const struct expect_pass twins_passes[] = {
	{ COVERED(LIGHT) }, { COVERED(LIGHT) },
};

/* ---- beside: a heavy and a light pass in one framebuffer, with a copy between them, which a
 * driver that draws tile by tile may not see ---- */

static void
frame_beside(struct stage *s)
{
	draw(s, 0, HEAVY);
	glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, 4096);
	draw(s, 0, LIGHT);
}

static const struct expect_pass beside_passes[] = {
	{ COVERED(HEAVY) },
	{ .kind = "transfer", .copies = 1 },
	{ COVERED(LIGHT), .same_as = 1, .segment = 1 },
};

/* ---- clock: the number of draws is chosen by the CPU's clock, not the GPU's ---- */

static void
init_clock(struct stage *s)
{
	init_measure(s);
	draw(s, 0, 1);
	for (clock_draws = 4; clock_draws < MOST_DRAWS; clock_draws *= 2) {
		glFinish();
		uint64_t begin = scene_clock_ns();
		draw(s, 0, clock_draws);
		glFinish();
		if (scene_clock_ns() - begin > CLOCK_NS)
			break;
	}
}

static void
frame_clock(struct stage *s)
{
	draw(s, 0, clock_draws);
}

const struct scene measure_scenes[] = {
	SCENE(work, SCENE_CORE, .init = init_measure),
	SCENE(twins, SCENE_CORE, .init = init_measure),
	SCENE(beside, SCENE_CORE, .init = init_measure),
	{ "clock", SCENE_CORE, .init = init_clock, .frame = frame_clock, .varies = true },
	{ 0 },
};

/* SPDX-License-Identifier: MIT */
/* tests/scenes/gl_draws.c - draws without indices at once, of captured vertices, under a
 * condition, from a base instance, or as many as a buffer says. */
#include "scenes/gl/scenes.h"

#include <stddef.h>
#include <stdint.h>

static GLuint feedback, feedback_buffer, feedback_program;

/* ---- multi_arrays: without indices, so that shaded vertices are exact ---- */

static void
frame_multi_arrays(struct stage *s)
{
	static const GLint first[5] = { 0, 300, 600, 900, 1200 };
	static const GLsizei counts[5] = { 3, 0, 30, 300, 6 };
	scene_clear_screen(s);
	stage_paint(s, 1);
	glMultiDrawArrays(GL_TRIANGLES, first, counts, 5);
	stage_draw(s, 0, 90, 2);
}

static const struct expect_pass multi_arrays_passes[] = {
	{ DRAWN(6, 429), CLEARED },
};

/* ---- feedback: captured with the rasterizer off, then drawn ---- */

static const char feedback_text[] = "#version 330\n"
				    "in vec2 pos;\n"
				    "out vec2 kept;\n"
				    "void main() { kept = pos * 0.5;\n"
				    "gl_Position = vec4(kept, 0, 1); }\n";

static void
init_feedback(struct stage *s)
{
	static const char *const names[1] = { "kept" };
	const char *texts[1] = { feedback_text };
	feedback_program = glCreateProgram();
	glAttachShader(feedback_program, stage_shader(GL_VERTEX_SHADER, texts, 1));
	glBindAttribLocation(feedback_program, 0, "pos");
	glTransformFeedbackVaryings(feedback_program, 1, names, GL_INTERLEAVED_ATTRIBS);
	stage_link(feedback_program);
	glGenBuffers(1, &feedback_buffer);
	glBindBuffer(GL_TRANSFORM_FEEDBACK_BUFFER, feedback_buffer);
	glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, 300 * 8, NULL, GL_DYNAMIC_COPY);
	glGenTransformFeedbacks(1, &feedback);
	glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, feedback);
	glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, feedback_buffer);
	glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, 0);
}

static void
frame_feedback(struct stage *s)
{
	scene_clear_screen(s);
	glUseProgram(feedback_program);
	glEnable(GL_RASTERIZER_DISCARD);
	glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, feedback);
	glBeginTransformFeedback(GL_TRIANGLES);
	glDrawArrays(GL_TRIANGLES, 0, 300);
	glEndTransformFeedback();
	glBindTransformFeedback(GL_TRANSFORM_FEEDBACK, 0);
	glDisable(GL_RASTERIZER_DISCARD);
	stage_paint(s, 6);
	glBindBuffer(GL_ARRAY_BUFFER, feedback_buffer);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
	glDrawTransformFeedback(GL_TRIANGLES, feedback);
	glBindBuffer(GL_ARRAY_BUFFER, s->vertices);
	glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, NULL);
}

static const struct expect_pass feedback_passes[] = {
	{ DRAWN(2, 600), CLEARED,
	  .flags = "transform_feedback rasterizer_discard indirect",
	  .unsure = EXPECT_NO_VERTICES | EXPECT_NO_INSTANCES },
};

/* ---- conditional ---- */

static void
frame_conditional(struct stage *s)
{
	static GLuint query;
	if (!query)
		glGenQueries(1, &query);
	scene_clear_screen(s);
	glBeginQuery(GL_ANY_SAMPLES_PASSED, query);
	stage_draw(s, 0, 30, 1);
	glEndQuery(GL_ANY_SAMPLES_PASSED);
	glBeginConditionalRender(query, GL_QUERY_WAIT);
	stage_draw(s, 20, 60, 2);
	glEndConditionalRender();
}

/* Its query is of a target that passtally counts too, if all counters are requested. */
static const struct expect_pass conditional_passes[] = {
	{ DRAWN(2, 90), CLEARED, .flags = "conditional yielded" },
};

/* ---- instanced_base ---- */

static const void *
index_at(int i)
{
	return (const void *)((size_t)i * sizeof(uint16_t));
}

static void
frame_instanced_base(struct stage *s)
{
	scene_clear_screen(s);
	stage_paint(s, 1);
	glDrawArraysInstancedBaseInstance(GL_TRIANGLES, 0, 12, 4, 7);
	glDrawElementsInstanced(GL_TRIANGLES, 6, GL_UNSIGNED_SHORT, index_at(300), 3);
	glDrawElementsInstancedBaseVertex(GL_TRIANGLES, 6, GL_UNSIGNED_SHORT, index_at(0),
					  2, 600);
	glDrawElementsInstancedBaseInstance(GL_TRIANGLES, 9, GL_UNSIGNED_SHORT,
					    index_at(0), 2, 3);
	glDrawElementsInstancedBaseVertexBaseInstance(GL_TRIANGLES, 3, GL_UNSIGNED_SHORT,
		index_at(0),
						      5, 900, 1);
}

/* 48 + 18 + 12 + 18 + 15 vertices in 4 + 3 + 2 + 2 + 5 instances. */
static const struct expect_pass instanced_base_passes[] = {
	{ INSTANCED(5, 111, 16), CLEARED, .unsure = EXPECT_ANY_SHADED },
};

/* ---- indirect_count ---- */

static GLuint parameter_buffer;

/* Only here: with a parameter buffer bound, llvmpipe 22.3 also takes the count of plain
 * indirect draws from it. */
static void
init_indirect_count(struct stage *s)
{
	static const GLuint n = 2;
	if (!epoxy_has_gl_extension("GL_ARB_indirect_parameters"))
		stage_skip("no GL_ARB_indirect_parameters");
	scene_init_indirect(s);
	glGenBuffers(1, &parameter_buffer);
	glBindBuffer(GL_PARAMETER_BUFFER_ARB, parameter_buffer);
	glBufferData(GL_PARAMETER_BUFFER_ARB, sizeof(n), &n, GL_STATIC_DRAW);
}

static void
frame_indirect_count(struct stage *s)
{
	scene_clear_screen(s);
	stage_paint(s, 2);
	glMultiDrawArraysIndirectCountARB(GL_TRIANGLES, NULL, 0, 4, 0);
}

/* The GPU reads "2" from the parameter buffer: 300 + 60 vertices. */
static const struct expect_pass indirect_count_passes[] = {
	{ DRAWN(2, 360), CLEARED, .flags = "indirect",
	  .unsure = EXPECT_NO_DRAWS | EXPECT_NO_VERTICES | EXPECT_NO_INSTANCES },
};

const struct scene more_draw_scenes[] = {
	SCENE(multi_arrays, SCENE_DESKTOP),
	SCENE(feedback, SCENE_DESKTOP, .major = 4, .minor = 0, .init = init_feedback),
	SCENE(conditional, SCENE_DESKTOP),
	SCENE(instanced_base, SCENE_DESKTOP, .major = 4, .minor = 2),
	SCENE(indirect_count, SCENE_DESKTOP, .major = 4, .minor = 5,
	      .init = init_indirect_count),
	{ 0 },
};

/* SPDX-License-Identifier: MIT */
/* rank_scene.c - frames of two passes of the same picture, the second of four times the fragments.
 *
 *   rank_scene [--frames N] [--platform pbuffer|surfaceless|...]
 *
 * The passes differ in nothing but how often they draw: once and four times, by which the log tells
 * them apart. A fragment is expensive, so that on a software rasterizer the cost of a pass is
 * that of its fragments. A frame ends with glFinish().
 */
#include <epoxy/gl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenes/gl/stage.h"

#define SIZE 384
#define LIGHT 1
#define HEAVY 4

/* Appended to the stage's shader preamble. One triangle covers the whole target. */
static const char vertex[] =
	"IN vec2 pos;\n"
	"void main() {\n"
	"	vec2 corner = vec2(gl_VertexID == 1, gl_VertexID == 2);\n"
	"	gl_Position = vec4(corner * 4.0 - 1.0, 0.0, 1.0 + 0.0 * pos.x);\n"
	"}\n";
static const char fragment[] = "RESULT\n"
			       "void main() {\n"
			       "	float x = gl_FragCoord.x;\n"
			       "	for (int i = 0; i < 24; i++) x = sin(x) + 0.5;\n"
			       "	COLOR = vec4(x);\n"
			       "}\n";

static void
run(struct stage *s, unsigned frames)
{
	GLuint program = stage_program(s, vertex, fragment);
	GLuint targets[2];
	for (unsigned i = 0; i < 2; i++)
		targets[i] = stage_framebuffer(stage_texture(GL_RGBA8, SIZE, SIZE, 1), 0, 0);
	for (unsigned frame = 0; frame < frames; frame++) {
		stage_begin_frame(s);
		for (unsigned i = 0; i < 2; i++) {
			stage_target(s, targets[i], SIZE, SIZE);
			glUseProgram(program);
			for (int draw = 0; draw < (i ? HEAVY : LIGHT); draw++)
				glDrawArrays(GL_TRIANGLES, 0, 3);
		}
		stage_end_frame(s);
	}
	stage_check("the frames");
}

int
main(int argc, char **argv)
{
	struct stage_options options = {
		.platform = STAGE_SURFACELESS,
		.api = STAGE_CORE,
		.end = STAGE_END_FINISH,
		.major = 3,
		.minor = 3,
		.width = SIZE,
		.height = SIZE,
	};
	struct stage s;
	unsigned frames = 30;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--frames") == 0)
			frames = (unsigned)strtoul(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--platform") == 0)
			options.platform = stage_parse_platform(argv[i + 1]);
	}
	stage_open(&s, &options);
	run(&s, frames);
	stage_close(&s);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* submit_scene.c - frames of passes and dispatches, and how they end.
 *
 *   submit_scene PASSES DISPATCHES FRAMES present|flush|finish|nothing|flushes|map|get [MARK]
 *
 * Each pass draws twice, each to the next of two framebuffers; a pass of one dispatch follows each
 * of the first DISPATCHES passes. On a pbuffer, so that `present` is a swap; `flushes` is one with
 * a glFlush before and after it, as with a window, whose swap flushes; with `map` and `get` the
 * program waits for a pixel of the last target instead of the first of them. The moments after MARK
 * frames and after all are marked for tests/live/count_ioctls.c.
 */
#include <epoxy/gl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "scenes/gl/stage.h"
#include "tests/live/count_ioctls.h"

#define SIZE 64

/* Appended to the stage's preamble. */
static const char compute[] = "layout(local_size_x = 64) in;\n"
			      "layout(std430, binding = 0) buffer result { uint values[]; };\n"
			      "void main() { values[gl_LocalInvocationIndex] += 1u; }\n";

/* The pixel is in the pack buffer once the GPU is done. */
static void
read_pixel(bool map)
{
	unsigned char pixel[4];
	glReadPixels(0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
	if (!map)
		glGetBufferSubData(GL_PIXEL_PACK_BUFFER, 0, 4, pixel);
	else if (glMapBufferRange(GL_PIXEL_PACK_BUFFER, 0, 4, GL_MAP_READ_BIT))
		glUnmapBuffer(GL_PIXEL_PACK_BUFFER);
}

int
main(int argc, char **argv)
{
	struct stage_options options = {
		.platform = STAGE_PBUFFER,
		.api = STAGE_CORE,
		.major = 4,
		.minor = 3,
		.width = SIZE,
		.height = SIZE,
	};
	struct stage s;
	GLuint targets[2], buffer, pixel;

	if (argc != 5 && argc != 6) {
		fprintf(stderr, "submit_scene: PASSES DISPATCHES FRAMES END [MARK]\n");
		return 2;
	}
	unsigned passes = (unsigned)atoi(argv[1]), dispatches = (unsigned)atoi(argv[2]);
	unsigned frames = (unsigned)atoi(argv[3]), mark = argc > 5 ? (unsigned)atoi(argv[5]) : 0;
	bool flushes = strcmp(argv[4], "flushes") == 0;
	bool map = strcmp(argv[4], "map") == 0, get = strcmp(argv[4], "get") == 0;
	bool as_window = flushes || map || get;
	options.end = as_window ? STAGE_END_PRESENT : stage_parse_end(argv[4]);
	stage_open(&s, &options);
	for (int i = 0; i < 2; i++)
		targets[i] = stage_framebuffer(stage_texture(GL_RGBA8, SIZE, SIZE, 1), 0, 0);
	glGenBuffers(1, &buffer);
	glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, buffer);
	glBufferData(GL_SHADER_STORAGE_BUFFER, 64 * sizeof(GLuint), NULL, GL_DYNAMIC_COPY);
	glGenBuffers(1, &pixel);
	if (map || get) {
		glBindBuffer(GL_PIXEL_PACK_BUFFER, pixel);
		glBufferData(GL_PIXEL_PACK_BUFFER, 4, NULL, GL_STREAM_READ);
	}
	GLuint program = dispatches ? stage_compute_program(&s, compute) : 0;
	for (unsigned frame = 0; frame < frames; frame++) {
		stage_begin_frame(&s);
		for (unsigned pass = 0; pass < passes; pass++) {
			stage_target(&s, targets[pass % 2], SIZE, SIZE);
			stage_draw(&s, 0, 3, pass);
			stage_draw(&s, 1, 6, pass);
			if (pass >= dispatches)
				continue;
			glUseProgram(program);
			glDispatchCompute(1, 1, 1);
		}
		if (map || get)
			read_pixel(map);
		if (flushes)
			glFlush();
		stage_end_frame(&s);
		if (as_window)
			glFlush();
		if (frame + 1 == mark || frame + 1 == frames)
			ioctl(-1, COUNT_IOCTLS_MARK);
	}
	stage_check("the frames");
	stage_close(&s);
	return 0;
}

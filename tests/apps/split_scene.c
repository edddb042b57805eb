/* SPDX-License-Identifier: MIT */
/* split_scene.c - frames of a heavy and a light pass, with a border that the driver may not see.
 *
 *   split_scene BORDER [--frames N] [--heavy N] [--platform pbuffer|surfaceless|...]
 *
 * BORDER is what separates them: `copy` is a copy between buffers, `group` makes each pass a
 * debug group (for --split group), `targets` is another framebuffer, which alone makes a driver
 * that draws tile by tile begin a new scene. `mip` is a mipmap of 8x8 pixels and the heavy
 * pass, `clear` is the same with a heavy pass that begins with a clear. `image` is a long copy
 * of an image and then another framebuffer, `upload` the same with an upload from a buffer,
 * `buffer` with one to a buffer.
 * `swap` draws the light pass to the pbuffer, swaps it and sleeps for 100 ms. The passes cover
 * the whole target --heavy times and once. A frame ends with glFinish().
 */
#include <epoxy/gl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scenes/gl/stage.h"

#define SIZE 256

/* Appended to the stage's shader preamble. One triangle covers the whole target. */
static const char vertex[] = "IN vec2 pos;\n"
			     "void main() {\n"
			     "	vec2 corner = vec2(gl_VertexID == 1, gl_VertexID == 2);\n"
			     "	gl_Position = vec4(corner * 4.0 - 1.0, 0.0, 1.0 + 0.0 * pos.x);\n"
			     "}\n";
static const char fragment[] = "RESULT\n"
			       "void main() {\n"
			       "	float x = gl_FragCoord.x;\n"
			       "	for (int i = 0; i < 8; i++) x = sin(x) + 0.5;\n"
			       "	COLOR = vec4(x, x, x, 0.5);\n"
			       "}\n";

enum border { MIP, COPY, CLEAR, GROUP, TARGETS, IMAGE, UPLOAD, BUFFER, SWAP, N_BORDERS };
static const char *const borders[N_BORDERS] = { "mip",     "copy",  "clear",  "group",
						"targets", "image", "upload", "buffer", "swap" };

#define IMAGE_SIZE 2048

static GLuint program, target[2], small, buffers[2], images[2], pixels;
static char bytes[32 << 20];

static void
draw(struct stage *s, GLuint to, int times)
{
	stage_target(s, to, SIZE, SIZE);
	glUseProgram(program);
	glEnable(GL_BLEND);
	glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
	for (int i = 0; i < times; i++)
		glDrawArrays(GL_TRIANGLES, 0, 3);
	glDisable(GL_BLEND);
}

static void
frame(struct stage *s, enum border border, int heavy)
{
	glClearColor(0.0f, 0.0f, 0.0f, 1.0f);
	if (border == MIP || border == CLEAR) {
		glBindTexture(GL_TEXTURE_2D, small);
		glGenerateMipmap(GL_TEXTURE_2D);
	}
	if (border == GROUP)
		glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 1, -1, "heavy");
	stage_target(s, target[0], SIZE, SIZE);
	if (border == CLEAR)
		glClear(GL_COLOR_BUFFER_BIT);
	draw(s, target[0], heavy);
	if (border == GROUP) {
		glPopDebugGroup();
		glPushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 2, -1, "light");
	}
	if (border == COPY)
		glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, 4096);
	if (border == IMAGE)
		glCopyImageSubData(images[0], GL_TEXTURE_2D, 0, 0, 0, 0, images[1], GL_TEXTURE_2D,
				   0, 0, 0, 0, IMAGE_SIZE, IMAGE_SIZE, 1);
	if (border == BUFFER) {
		glBindBuffer(GL_PIXEL_UNPACK_BUFFER, pixels);
		glBufferData(GL_PIXEL_UNPACK_BUFFER, sizeof(bytes), bytes, GL_STATIC_DRAW);
		glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
	}
	if (border == UPLOAD) {
		glBindBuffer(GL_PIXEL_UNPACK_BUFFER, pixels);
		glBindTexture(GL_TEXTURE_2D, images[1]);
		glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, IMAGE_SIZE, IMAGE_SIZE, GL_RGBA,
				GL_UNSIGNED_BYTE, NULL);
		glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
	}
	if (border == SWAP) {
		draw(s, 0, 1);
		stage_swap(s);
		usleep(100000);
	} else if (border != MIP && border != CLEAR)
		draw(s, target[border >= TARGETS && border <= BUFFER], 1);
	if (border == GROUP)
		glPopDebugGroup();
}

static void
make(struct stage *s)
{
	program = stage_program(s, vertex, fragment);
	for (int i = 0; i < 2; i++)
		target[i] = stage_framebuffer(stage_texture(GL_RGBA8, SIZE, SIZE, 1), 0, 0);
	for (int i = 0; i < 2; i++)
		images[i] = stage_texture(GL_RGBA8, IMAGE_SIZE, IMAGE_SIZE, 1);
	small = stage_texture(GL_RGBA8, 8, 8, 4);
	glGenBuffers(1, &pixels);
	glBindBuffer(GL_PIXEL_UNPACK_BUFFER, pixels);
	glBufferData(GL_PIXEL_UNPACK_BUFFER, IMAGE_SIZE * IMAGE_SIZE * 4, NULL, GL_STATIC_DRAW);
	glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
	glGenBuffers(2, buffers);
	for (int i = 0; i < 2; i++) {
		GLenum where = i ? GL_COPY_WRITE_BUFFER : GL_COPY_READ_BUFFER;
		glBindBuffer(where, buffers[i]);
		glBufferData(where, 4096, NULL, GL_STATIC_DRAW);
	}
}

int
main(int argc, char **argv)
{
	struct stage_options options = {
		.platform = STAGE_SURFACELESS,
		.api = STAGE_CORE,
		.end = STAGE_END_FINISH,
		.major = 4,
		.minor = 3,
		.width = SIZE,
		.height = SIZE,
	};
	struct stage s;
	unsigned frames = 20;
	int heavy = 40, border = 0;

	while (border < N_BORDERS && (argc < 2 || strcmp(argv[1], borders[border]) != 0))
		border++;
	if (border == N_BORDERS) {
		fprintf(stderr,
			"split_scene: mip, copy, clear, group, targets, image, upload, "
			"buffer or swap?\n");
		return 2;
	}
	for (int i = 2; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--frames") == 0)
			frames = (unsigned)strtoul(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--heavy") == 0)
			heavy = atoi(argv[i + 1]);
		else if (strcmp(argv[i], "--platform") == 0)
			options.platform = stage_parse_platform(argv[i + 1]);
	}
	stage_open(&s, &options);
	make(&s);
	for (unsigned i = 0; i < frames; i++) {
		stage_begin_frame(&s);
		frame(&s, (enum border)border, heavy);
		stage_end_frame(&s);
	}
	stage_check("the frames");
	stage_close(&s);
	return 0;
}

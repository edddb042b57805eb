/* SPDX-License-Identifier: MIT */
/* scenes/gl/transfers.c - blits, resolves, copies, mipmaps, readbacks and compute. */
#include "scenes/gl/scenes.h"

static GLuint textures[2], buffers[2], program;

/* ---- blit_chain ---- */

static void
blit(GLuint from, GLuint to, int x, int width, int height)
{
	glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, to);
	glBlitFramebuffer(0, 0, SMALL, SMALL, x, 0, x + width, height, GL_COLOR_BUFFER_BIT,
			  GL_NEAREST);
}

static void
frame_blit_chain(struct stage *s)
{
	scene_draw_small(s, 0, 300);
	blit(scene_framebuffers[0], scene_framebuffers[1], 0, SMALL, SMALL);
	blit(scene_framebuffers[1], scene_framebuffers[2], 0, SMALL, SMALL);
	blit(scene_framebuffers[2], s->screen, 0, 128, 192);
	blit(scene_framebuffers[2], s->screen, 128, 128, 192);
}

/* The last two have the same source and destination: one transfer pass. */
static const struct expect_pass blit_chain_passes[] = {
	{ SMALL_DRAWN(300) },
	{ .kind = "transfer", .copies = 1 },
	{ .kind = "transfer", .copies = 1 },
	{ .kind = "transfer", .copies = 2 },
};

/* ---- copies: texture and buffer copies ---- */

static void
init_copies(struct stage *s)
{
	scene_make_small(s);
	glGenBuffers(2, buffers);
	for (int i = 0; i < 2; i++) {
		glBindBuffer(GL_COPY_WRITE_BUFFER, buffers[i]);
		glBufferData(GL_COPY_WRITE_BUFFER, 4096, NULL, GL_STATIC_DRAW);
	}
}

static void
frame_copies(struct stage *s)
{
	scene_draw_small(s, 0, 300);
	glBindTexture(GL_TEXTURE_2D, scene_textures[1]);
	glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 0, 0, 32, 32);
	glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 32, 0, 0, 0, 32, 32);
	glBindBuffer(GL_COPY_READ_BUFFER, buffers[0]);
	glBindBuffer(GL_COPY_WRITE_BUFFER, buffers[1]);
	glCopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, 1024);
	scene_show(s, scene_textures[1]);
}

static const struct expect_pass copies_passes[] = {
	{ SMALL_DRAWN(300) },
	{ .kind = "transfer", .copies = 2 },
	{ .kind = "transfer", .copies = 1 },
	{ SHOWN },
};

/* ---- compute ---- */

static const char compute_text[] =
	"layout(local_size_x = 8, local_size_y = 8) in;\n"
	"layout(rgba8, binding = 0) writeonly uniform highp image2D image;\n"
	"void main() {\n"
	"	uvec2 at = gl_GlobalInvocationID.xy;\n"
	"	imageStore(image, ivec2(at), vec4(vec2(at) / 64.0, 0.5, 1.0));\n"
	"}\n";

static void
init_compute(struct stage *s)
{
	program = stage_compute_program(s, compute_text);
	glGenTextures(1, textures);
	glBindTexture(GL_TEXTURE_2D, textures[0]);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, SMALL, SMALL);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
}

static void
frame_compute(struct stage *s)
{
	glUseProgram(program);
	glBindImageTexture(0, textures[0], 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_RGBA8);
	glDispatchCompute(8, 4, 1);
	glMemoryBarrier(GL_SHADER_IMAGE_ACCESS_BARRIER_BIT);
	glDispatchCompute(8, 8, 1);
	glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT);
	scene_show(s, textures[0]);
}

/* A barrier does not separate two dispatches: 32 + 64 groups of 64. */
static const struct expect_pass compute_passes[] = {
	{ .kind = "compute", .dispatches = 2, .computed = 96 * 64 },
	{ SHOWN },
};

const struct scene transfer_scenes[] = {
	SCENE(blit_chain, SCENE_ALL, .init = scene_make_small),
	SCENE(copies, SCENE_ALL, .init = init_copies),
	SCENE(compute, SCENE_ALL, .major = 4, .minor = 3, .es_major = 3, .es_minor = 1,
	      .init = init_compute),
	{ 0 },
};

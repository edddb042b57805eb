/* SPDX-License-Identifier: MIT */
/* tests/scenes/gl_transfers.c - resolves, mipmaps, readbacks, direct state access, mapped
 * buffers. */
#include "scenes/gl/scenes.h"

#include <stdint.h>

static GLuint framebuffers[2], textures[2], buffers[2], program;

/* ---- msaa ---- */

static void
init_msaa(struct stage *s)
{
	int width = s->options.width, height = s->options.height;
	glGenFramebuffers(1, &framebuffers[0]);
	glBindFramebuffer(GL_FRAMEBUFFER, framebuffers[0]);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
				  stage_renderbuffer(GL_RGBA8, 4, width, height));
	glFramebufferRenderbuffer(
		GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER,
		stage_renderbuffer(GL_DEPTH_COMPONENT24, 4, width, height));
	textures[0] = stage_texture(GL_RGBA8, width, height, 1);
	framebuffers[1] = stage_framebuffer(textures[0], 0, 0);
}

static void
frame_msaa(struct stage *s)
{
	int width = s->options.width, height = s->options.height;
	stage_target(s, framebuffers[0], width, height);
	glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
	stage_draw(s, 0, 600, 1);
	glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffers[1]);
	glBlitFramebuffer(0, 0, width, height, 0, 0, width, height, GL_COLOR_BUFFER_BIT,
			  GL_NEAREST);
	scene_show(s, textures[0]);
}

static const struct expect_pass msaa_passes[] = {
	{ DRAWN(1, 600), CLEARED, .samples = 4, .colors = 1,
	  .depth = "DEPTH_COMPONENT24" },
	{ .kind = "transfer", .copies = 1, .flags = "resolve" },
	{ SHOWN },
};

/* ---- mipmap ---- */

static void
init_mipmap(struct stage *s)
{
	scene_textures[0] = stage_texture(GL_RGBA8, SMALL, SMALL, 7);
	scene_framebuffers[0] = stage_framebuffer(scene_textures[0], 0, 0);
}

static void
frame_mipmap(struct stage *s)
{
	scene_draw_small(s, 0, 300);
	glBindTexture(GL_TEXTURE_2D, scene_textures[0]);
	glGenerateMipmap(GL_TEXTURE_2D);
	scene_show(s, scene_textures[0]);
}

static const struct expect_pass mipmap_passes[] = {
	{ SMALL_DRAWN(300) },
	{ .kind = "transfer", .flags = "mipmap", .unsure = EXPECT_ANY_COPIES },
	{ SHOWN },
};

/* ---- readback: into memory (waits) and into a buffer (does not) ---- */

static void
init_readback(struct stage *s)
{
	scene_make_small(s);
	glGenBuffers(1, buffers);
	glBindBuffer(GL_PIXEL_PACK_BUFFER, buffers[0]);
	glBufferData(GL_PIXEL_PACK_BUFFER, SMALL * SMALL * 4, NULL, GL_STREAM_READ);
	glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
}

static void
finish_readback(struct stage *s)
{
	glReadPixels(0, 0, SMALL, SMALL, GL_RGBA, GL_UNSIGNED_BYTE, NULL);
	glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
	scene_show(s, scene_textures[1]);
}

static void
frame_readback(struct stage *s)
{
	static uint8_t pixels[16 * 16 * 4];
	scene_draw_small(s, 0, 300);
	glReadPixels(0, 0, 16, 16, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	scene_draw_small(s, 1, 150);
	glBindBuffer(GL_PIXEL_PACK_BUFFER, buffers[0]);
	finish_readback(s);
}

static const struct expect_pass readback_passes[] = {
	{ SMALL_DRAWN(300) },
	{ .kind = "transfer", .flags = "readback sync", .unsure = EXPECT_ANY_COPIES },
	{ SMALL_DRAWN(150) },
	{ .kind = "transfer", .flags = "readback", .unsure = EXPECT_ANY_COPIES },
	{ SHOWN },
};

/* The buffer that a pop of client state binds again, and the one that it unbinds. */
static void
frame_pack_popped(struct stage *s)
{
	static uint8_t pixels[16 * 16 * 4];
	scene_draw_small(s, 0, 300);
	glPushClientAttrib(GL_CLIENT_PIXEL_STORE_BIT);
	glBindBuffer(GL_PIXEL_PACK_BUFFER, buffers[0]);
	glPopClientAttrib();
	glReadPixels(0, 0, 16, 16, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	scene_draw_small(s, 1, 150);
	glBindBuffer(GL_PIXEL_PACK_BUFFER, buffers[0]);
	glPushClientAttrib(GL_CLIENT_PIXEL_STORE_BIT);
	glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
	glPopClientAttrib();
	finish_readback(s);
}

/* ---- dsa: nothing is bound except for drawing ---- */

static void
init_dsa(struct stage *s)
{
	glCreateTextures(GL_TEXTURE_2D, 2, textures);
	glCreateFramebuffers(2, framebuffers);
	for (int i = 0; i < 2; i++) {
		glTextureStorage2D(textures[i], 3, GL_RGBA8, SMALL, SMALL);
		glTextureParameteri(textures[i], GL_TEXTURE_MIN_FILTER, GL_NEAREST);
		glTextureParameteri(textures[i], GL_TEXTURE_MAG_FILTER, GL_NEAREST);
		glNamedFramebufferTexture(framebuffers[i], GL_COLOR_ATTACHMENT0,
					  textures[i], 0);
		glNamedFramebufferDrawBuffer(framebuffers[i], GL_COLOR_ATTACHMENT0);
	}
	glCreateBuffers(2, buffers);
	for (int i = 0; i < 2; i++)
		glNamedBufferStorage(buffers[i], 1024, NULL, 0);
}

static void
frame_dsa(struct stage *s)
{
	static const float blue[4] = { 0.0f, 0.0f, 1.0f, 1.0f };
	/* The clear names a framebuffer that is bound only afterwards: one pass. */
	glClearNamedFramebufferfv(framebuffers[0], GL_COLOR, 0, blue);
	stage_target(s, framebuffers[0], SMALL, SMALL);
	stage_draw(s, 0, 300, 2);
	/* A clear of a framebuffer other than the bound one. */
	glClearNamedFramebufferfv(framebuffers[1], GL_COLOR, 0, blue);
	glBlitNamedFramebuffer(framebuffers[0], framebuffers[1], 0, 0, SMALL, SMALL, 0, 0,
			       32, 32, GL_COLOR_BUFFER_BIT, GL_NEAREST);
	glCopyImageSubData(textures[0], GL_TEXTURE_2D, 0, 0, 0, 0, textures[1],
			   GL_TEXTURE_2D, 0, 32, 32, 0, 16, 16, 1);
	glGenerateTextureMipmap(textures[1]);
	glCopyNamedBufferSubData(buffers[0], buffers[1], 0, 0, 512);
	scene_show(s, textures[1]);
}

static const struct expect_pass dsa_passes[] = {
	{ SMALL_DRAWN(300) },
	{ .kind = "render", CLEARED, IN_SMALL },
	{ .kind = "transfer", .copies = 1 },
	{ .kind = "transfer", .copies = 1 },
	{ .kind = "transfer", .flags = "mipmap", .unsure = EXPECT_ANY_COPIES },
	{ .kind = "transfer", .copies = 1 },
	{ SHOWN },
};

/* ---- mapped: what the program writes into a mapped buffer after its wait is drawn ---- */

static const char mapped_fragment[] = "layout(std140) uniform block { vec4 mapped; };\n"
				      "RESULT\n"
				      "void main() { COLOR = mapped; }\n";
static float *mapped;

static void
init_mapped(struct stage *s)
{
	const GLbitfield how = GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT |
			       GL_MAP_COHERENT_BIT;

	scene_make_small(s);
	program = stage_program(s, scene_cover_vertex, mapped_fragment);
	glGenBuffers(1, buffers);
	glBindBuffer(GL_UNIFORM_BUFFER, buffers[0]);
	glBufferStorage(GL_UNIFORM_BUFFER, 16, NULL, how);
	mapped = glMapBufferRange(GL_UNIFORM_BUFFER, 0, 16, how);
	stage_check("a mapped buffer");
}

static void
frame_mapped(struct stage *s)
{
	scene_small_target(s, 0);
	glClear(GL_COLOR_BUFFER_BIT);
	glUseProgram(program);
	glBindBufferBase(GL_UNIFORM_BUFFER, 0, buffers[0]);
	glEnable(GL_SCISSOR_TEST);
	for (int i = 0; i < 4; i++) {
		mapped[0] = 0.25f * (float)i;
		mapped[1] = 1.0f - mapped[0];
		glScissor(0, i * SMALL / 4, SMALL, SMALL / 4);
		glDrawArrays(GL_TRIANGLES, 0, 3);
		GLsync sync = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
		glClientWaitSync(sync, GL_SYNC_FLUSH_COMMANDS_BIT, UINT64_C(10000000000));
		glDeleteSync(sync);
	}
	glDisable(GL_SCISSOR_TEST);
	scene_show(s, scene_textures[0]);
}

static const struct expect_pass mapped_passes[] = {
	{ DRAWN(4, 12), CLEARED, IN_SMALL },
	{ SHOWN },
};

const struct scene more_transfer_scenes[] = {
	SCENE(msaa, SCENE_ALL, .init = init_msaa),
	SCENE(mipmap, SCENE_ALL, .init = init_mipmap),
	SCENE(readback, SCENE_ALL, .init = init_readback),
	SCENE_AS(pack_popped, readback_passes, SCENE_COMPAT, .init = init_readback),
	SCENE(dsa, SCENE_DESKTOP, .major = 4, .minor = 5, .init = init_dsa),
	SCENE(mapped, SCENE_DESKTOP, .major = 4, .minor = 4, .init = init_mapped),
	{ 0 },
};

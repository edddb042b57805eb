/* SPDX-License-Identifier: MIT */
/* tests/scenes/vk_work.c - transfers of buffers alone, copied results, many passes. */
#include "scenes/vk/scenes.h"

static struct vk_buffer words, copy;
static VkQueryPool queries;

/* ---- buffers: only commands that a transfer queue supports too ---- */

static void
buffers_init(struct vk_stage *s)
{
	words = vk_make_buffer(s, 4096);
	copy = vk_make_buffer(s, 4096);
}

static void
buffers_frame(struct vk_stage *s, unsigned number)
{
	VkBufferCopy region = { .size = 4096 };
	VkCommandBuffer commands = vk_begin(s, 0);
	vkCmdFillBuffer(commands, words.handle, 0, 4096, number);
	vk_barrier_all(commands);
	vkCmdCopyBuffer(commands, words.handle, copy.handle, 1, &region);
	vk_barrier_all(commands);
	vk_run(s, commands);
	vk_read(s, &copy);
}

static const struct expect_pass buffers_passes[] = {
	{ .kind = "transfer", .copies = 1, .clears = 1 },
};

/* ---- copy_results: the scene's own timestamps, copied on the GPU ---- */

static void
copy_results_init(struct vk_stage *s)
{
	words = vk_make_buffer(s, 4096);
	queries = vk_make_queries(s, VK_QUERY_TYPE_TIMESTAMP, 2, 0);
}

static void
copy_results_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	vkCmdResetQueryPool(commands, queries, 0, 2);
	vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, queries, 0);
	vk_screen_pass(s, commands, &screen, 0.1F * (float)number, 3, 1);
	vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries, 1);
	vkCmdCopyQueryPoolResults(commands, queries, 0, 2, words.handle, 0, 8,
				  VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
	vk_run(s, commands);
	const uint64_t *stamps = words.map;
	s->checksum += stamps[1] >= stamps[0] && stamps[0];
}

static const struct expect_pass copy_results_passes[] = {
	{ SCREEN_PASS(3, 1) },
	{ .kind = "transfer", .flags = "readback", .copies = 1 },
};

/* ---- two_dozen: passes in one command buffer ---- */

static void
two_dozen_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	for (int i = 0; i < 24; i++)
		vk_screen_pass(s, commands, &screen, 0.01F * (float)i, 3, 1);
	vk_finish(s, commands);
}

#define ONE \
	{ \
		SCREEN_PASS(3, 1) \
	}
#define FOUR ONE, ONE, ONE, ONE
static const struct expect_pass two_dozen_passes[] = {
	FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, COPY_OUT,
};

const struct vk_scene vk_more_work_scenes[] = {
	SCENE(buffers, buffers_init, .bare = true),
	SCENE(copy_results, copy_results_init),
	SCENE(two_dozen, NULL),
	{ 0 },
};

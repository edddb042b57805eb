/* SPDX-License-Identifier: MIT */
/* Frames of two passes with the same picture, the second of four times the fragments.
 *
 *   vk_rank_scene [--frames N]
 *
 * As in rank_scene.c, the passes have one draw and four, each of many instances that cover the
 * whole target. A frame is a submission, and is waited for.
 */
#include <stdlib.h>
#include <string.h>

#include "scenes/vk/stage.h"

#define SIZE 512u
#define INSTANCES 10u
#define LIGHT 1u
#define HEAVY 4u

static VkCommandBuffer
record(struct vk_stage *s, VkRenderPass pass, VkPipeline pipeline,
       const struct vk_picture pictures[2], const VkFramebuffer framebuffers[2])
{
	VkCommandBuffer commands = vk_begin(s, 0);
	for (unsigned i = 0; i < 2; i++)
		vk_take_picture(commands, &pictures[i]);
	for (unsigned i = 0; i < 2; i++) {
		vk_begin_pass(commands, pass, framebuffers[i], SIZE, SIZE,
			      VK_SUBPASS_CONTENTS_INLINE);
		vk_prepare_draw(s, commands, pipeline, 0.25F, SIZE, SIZE);
		for (unsigned draw = 0; draw < (i ? HEAVY : LIGHT); draw++)
			vkCmdDraw(commands, 3, INSTANCES, 0, 0);
		vkCmdEndRenderPass(commands);
		vk_barrier_all(commands);
	}
	vk_end(commands);
	return commands;
}

int
main(int argc, char **argv)
{
	static struct vk_stage stage;
	struct vk_wish wish = { .api = 0 };
	struct vk_picture pictures[2];
	VkFramebuffer framebuffers[2];
	unsigned frames = 30;

	if (argc > 2 && strcmp(argv[1], "--frames") == 0)
		frames = (unsigned)strtoul(argv[2], NULL, 10);
	vk_stage_open_instance(&stage, &wish);
	vk_stage_open_device(&stage, &wish);
	VkRenderPass pass = vk_make_pass(&stage, &(struct vk_pass_wish){
							 .color = { VK_FORMAT_R8G8B8A8_UNORM },
							 .load = VK_ATTACHMENT_LOAD_OP_CLEAR,
						 });
	for (unsigned i = 0; i < 2; i++) {
		pictures[i] = vk_make_picture(&stage, VK_FORMAT_R8G8B8A8_UNORM, SIZE, SIZE, 1,
					      VK_SAMPLE_COUNT_1_BIT);
		framebuffers[i] = vk_make_framebuffer(
			&stage, pass, 1, (const struct vk_picture *[]){ &pictures[i] });
	}
	VkPipeline pipeline = vk_make_pipeline(
		&stage, &(struct vk_pipeline_wish){ .pass = pass, .colors = 1 });
	for (unsigned frame = 0; frame < frames; frame++) {
		VkCommandBuffer commands = record(&stage, pass, pipeline, pictures,
						  framebuffers);
		vk_submit(&stage, 1, &commands, stage.fence);
		vk_wait(&stage);
		vk_free(&stage, commands);
	}
	vkDeviceWaitIdle(stage.device);
	vk_stage_close(&stage);
	return 0;
}

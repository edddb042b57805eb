/* SPDX-License-Identifier: MIT */
/* A deferred scene of twenty passes for counters: the contents of each frame's passes are
 * known.
 *
 *   vk_perf_scene [--frames N] [--secondaries] [--kept] [--own] [--expect]
 *
 * Pass i of frame f draws 1 + (i + f) % 4 times, or dispatches 1 + f % 3 times (passes 6 and 13);
 * draw d has 3 * (1 + d) vertices. --secondaries: pass 4 comes from a secondary command buffer.
 * --kept: one command buffer, recorded once with the contents of frame 0. --own: the program
 * enables performance queries for itself and holds the profiling lock. A frame is a submission.
 * --expect prints, per frame and pass, draws, vertices and dispatches.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/scenes/vk_stage.h"

#define N_PASSES 20u
#define N_TARGETS 4u

static struct {
	unsigned frames;
	bool secondaries, kept, own, expect;
} options = { .frames = 20 };

static struct vk_picture targets[N_TARGETS];
static VkRenderPass render_pass;
static VkFramebuffer framebuffers[N_TARGETS];
static VkPipeline pipeline;
static struct vk_buffer words;
static struct vk_compute compute;

static bool
dispatches_in(unsigned pass)
{
	return pass == 6 || pass == 13;
}

static unsigned
work_in(unsigned pass, unsigned frame)
{
	return dispatches_in(pass) ? 1 + frame % 3 : 1 + (pass + frame) % 4;
}

static void
print_expectation(void)
{
	printf("[");
	for (unsigned f = 0; f < options.frames; f++) {
		printf("%s[", f ? ",\n" : "");
		for (unsigned i = 0; i < N_PASSES; i++) {
			unsigned n = work_in(i, options.kept ? 0 : f);
			unsigned draws = dispatches_in(i) ? 0 : n;
			printf("%s[%u, %u, %u]", i ? ", " : "", draws,
			       3 * draws * (draws + 1) / 2, dispatches_in(i) ? n : 0);
		}
		printf("]");
	}
	printf("]\n");
}

static void
make_scene(struct vk_stage *s)
{
	render_pass = vk_make_pass(s, &(struct vk_pass_wish){
					      .color = { VK_FORMAT_R8G8B8A8_UNORM },
					      .load = VK_ATTACHMENT_LOAD_OP_CLEAR,
				      });
	for (unsigned i = 0; i < N_TARGETS; i++) {
		targets[i] = vk_make_picture(s, VK_FORMAT_R8G8B8A8_UNORM, 32u << i, 32, 1,
					     VK_SAMPLE_COUNT_1_BIT);
		framebuffers[i] = vk_make_framebuffer(
			s, render_pass, 1, (const struct vk_picture *[]){ &targets[i] });
	}
	pipeline = vk_make_pipeline(
		s, &(struct vk_pipeline_wish){ .pass = render_pass, .colors = 1 });
	words = vk_make_buffer(s, 4096);
	compute = vk_make_compute(s, &words);
}

static void
draw_all(struct vk_stage *s, VkCommandBuffer commands, unsigned pass, unsigned frame)
{
	const struct vk_picture *target = &targets[pass % N_TARGETS];
	vk_prepare_draw(s, commands, pipeline, 0.05F * (float)pass, target->width,
			target->height);
	for (unsigned d = 0; d < work_in(pass, frame); d++)
		vkCmdDraw(commands, 3 * (1 + d), 1, 0, 0);
}

static VkCommandBuffer
record_secondary(struct vk_stage *s, unsigned pass, unsigned frame)
{
	const VkCommandBufferAllocateInfo allocate = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = s->pool,
		.level = VK_COMMAND_BUFFER_LEVEL_SECONDARY,
		.commandBufferCount = 1,
	};
	const VkCommandBufferInheritanceInfo inherits = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
		.renderPass = render_pass,
	};
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT,
		.pInheritanceInfo = &inherits,
	};
	VkCommandBuffer commands;
	vk_check(vkAllocateCommandBuffers(s->device, &allocate, &commands),
		 "vkAllocateCommandBuffers");
	vk_check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
	draw_all(s, commands, pass, frame);
	vk_check(vkEndCommandBuffer(commands), "vkEndCommandBuffer");
	return commands;
}

static VkCommandBuffer
record(struct vk_stage *s, unsigned frame, VkCommandBuffer *secondary)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	for (unsigned i = 0; i < N_TARGETS; i++)
		vk_take_picture(commands, &targets[i]);
	for (unsigned i = 0; i < N_PASSES; i++) {
		const struct vk_picture *target = &targets[i % N_TARGETS];
		bool second = options.secondaries && i == 4;
		for (unsigned d = 0; dispatches_in(i) && d < work_in(i, frame); d++)
			vk_dispatch(commands, &compute, 1);
		if (!dispatches_in(i)) {
			vk_begin_pass(commands, render_pass, framebuffers[i % N_TARGETS],
				      target->width, target->height,
				      second ? VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS
					     : VK_SUBPASS_CONTENTS_INLINE);
			if (second) {
				*secondary = record_secondary(s, i, frame);
				vkCmdExecuteCommands(commands, 1, secondary);
			} else {
				draw_all(s, commands, i, frame);
			}
			vkCmdEndRenderPass(commands);
		}
		vk_barrier_all(commands);
	}
	vk_end(commands);
	return commands;
}

static void
run_frames(struct vk_stage *s)
{
	VkCommandBuffer kept = VK_NULL_HANDLE, secondary = VK_NULL_HANDLE;
	for (unsigned f = 0; f < options.frames; f++) {
		VkCommandBuffer commands = kept ? kept : record(s, f, &secondary);
		vk_submit(s, 1, &commands, s->fence);
		vk_wait(s);
		if (options.kept) {
			kept = commands;
			continue;
		}
		vk_free(s, commands);
		if (secondary)
			vk_free(s, secondary);
		secondary = VK_NULL_HANDLE;
	}
	if (kept)
		vk_free(s, kept);
	if (secondary)
		vk_free(s, secondary);
}

/* The program itself uses performance queries. */
static void
take_lock(const struct vk_stage *s)
{
	PFN_vkAcquireProfilingLockKHR acquire = (PFN_vkAcquireProfilingLockKHR)vk_device_command(
		s, "vkAcquireProfilingLockKHR");
	const VkAcquireProfilingLockInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_ACQUIRE_PROFILING_LOCK_INFO_KHR,
		.timeout = 1000,
	};
	vk_check(acquire(s->device, &info), "vkAcquireProfilingLockKHR");
}

int
main(int argc, char **argv)
{
	static struct vk_stage stage;
	static VkPhysicalDevicePerformanceQueryFeaturesKHR own = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_QUERY_FEATURES_KHR,
		.performanceCounterQueryPools = VK_TRUE,
	};
	for (int i = 1; i < argc; i++) {
		options.secondaries |= strcmp(argv[i], "--secondaries") == 0;
		options.kept |= strcmp(argv[i], "--kept") == 0;
		options.own |= strcmp(argv[i], "--own") == 0;
		options.expect |= strcmp(argv[i], "--expect") == 0;
		if (strcmp(argv[i], "--frames") == 0 && i + 1 < argc)
			options.frames = (unsigned)strtoul(argv[++i], NULL, 10);
	}
	if (options.expect) {
		print_expectation();
		return 0;
	}
	struct vk_wish wish = { .api = 0 };
	if (options.own) {
		wish.device_extensions[0] = VK_KHR_PERFORMANCE_QUERY_EXTENSION_NAME;
		wish.extra = &own;
	}
	vk_stage_open_instance(&stage, &wish);
	vk_stage_open_device(&stage, &wish);
	if (options.own)
		take_lock(&stage);
	make_scene(&stage);
	run_frames(&stage);
	vkDeviceWaitIdle(stage.device);
	if (options.own) {
		PFN_vkReleaseProfilingLockKHR release = (PFN_vkReleaseProfilingLockKHR)
			vk_device_command(&stage, "vkReleaseProfilingLockKHR");
		release(stage.device);
	}
	vk_stage_close(&stage);
	return 0;
}

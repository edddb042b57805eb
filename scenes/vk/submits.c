/* SPDX-License-Identifier: MIT */
/* scenes/vk/submits.c - scenes about submissions to a queue: what, when, and how often. */
#include "scenes/vk/scenes.h"

#include <stdlib.h>

static VkCommandBuffer kept;
static VkSemaphore timeline;

VkCommandBuffer
vk_record(struct vk_stage *s, VkCommandBufferUsageFlags flags, float red, bool copies)
{
	VkCommandBuffer commands = vk_begin(s, flags);
	vk_screen_pass(s, commands, &screen, red, 3, 1);
	if (copies)
		vk_copy_out(commands, &screen.picture, &screen.out);
	vk_end(commands);
	return commands;
}

/* ---- resubmit: recorded once, run three times a frame, each time waited for ---- */

static void
resubmit_init(struct vk_stage *s)
{
	kept = vk_record(s, 0, 0.4F, true);
}

static void
resubmit_frame(struct vk_stage *s, unsigned number)
{
	for (int i = 0; i < 3; i++) {
		vk_submit(s, 1, &kept, s->fence);
		vk_wait(s);
	}
	vk_read(s, &screen.out);
}

static const struct expect_pass resubmit_passes[] = {
	{ SCREEN_PASS(3, 1) },
	COPY_OUT,
	{ SCREEN_PASS(3, 1), .submission = 1 },
	{ .kind = "transfer", .copies = 1, .submission = 1 },
	{ SCREEN_PASS(3, 1), .submission = 2 },
	{ .kind = "transfer", .copies = 1, .submission = 2 },
};

/* ---- resubmit_unread: the same, but nothing waits in a way that a layer could notice ---- */

static void
resubmit_unread_frame(struct vk_stage *s, unsigned number)
{
	for (int i = 0; i < 3; i++) {
		vk_submit(s, 1, &kept, s->fence);
		vk_poll(s);
	}
	vk_read(s, &screen.out);
}

/* ---- simultaneous: for simultaneous use, three times without waiting ---- */

static void
simultaneous_init(struct vk_stage *s)
{
	kept = vk_record(s, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, 0.4F, true);
}

static void
simultaneous_frame(struct vk_stage *s, unsigned number)
{
	vk_submit(s, 1, &kept, VK_NULL_HANDLE);
	vk_submit(s, 1, &kept, VK_NULL_HANDLE);
	vk_submit(s, 1, &kept, s->fence);
	vk_end_frame(s, 0, NULL);
}

/* Counted, but not measured: queries inside would be begun twice. */
#define AT_ONCE(n) \
	.flags = "simultaneous", .submission = (n), \
	.unsure = EXPECT_NO_COUNTERS | EXPECT_NO_TIME | EXPECT_ANY_WORKLOADS
#define AT_ONCE_BOTH(n) \
	{ .kind = "render", CLEARED, .draws = 1, .vertices = 3, .instances = 1, AT_ONCE(n) }, \
	{ \
		.kind = "transfer", .copies = 1, AT_ONCE(n) \
	}
static const struct expect_pass simultaneous_passes[] = {
	AT_ONCE_BOTH(0), AT_ONCE_BOTH(1), AT_ONCE_BOTH(2),
};

/* ---- wait_first: waits for a value that the CPU signals after the submission ---- */

static void
wait_first_init(struct vk_stage *s)
{
	timeline = vk_make_semaphore(s, VK_SEMAPHORE_TYPE_TIMELINE);
}

static void
wait_first_frame(struct vk_stage *s, unsigned number)
{
	uint64_t awaited = 2 * (uint64_t)number + 1, signalled = awaited + 1;
	VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	VkTimelineSemaphoreSubmitInfo values = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = 1,
		.pWaitSemaphoreValues = &awaited,
		.signalSemaphoreValueCount = 1,
		.pSignalSemaphoreValues = &signalled,
	};
	VkCommandBuffer commands[2] = { vk_record(s, 0, 0.1F * (float)number, false),
					VK_NULL_HANDLE };
	VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.pNext = &values,
		.waitSemaphoreCount = 1,
		.pWaitSemaphores = &timeline,
		.pWaitDstStageMask = &stage,
		.commandBufferCount = 1,
		.pCommandBuffers = commands,
		.signalSemaphoreCount = 1,
		.pSignalSemaphores = &timeline,
	};
	vk_check(vkQueueSubmit(s->queue, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
	commands[1] = vk_record(s, 0, 0.1F * (float)number, true);
	vk_submit(s, 1, &commands[1], s->fence);
	/* Anything that waits for the queue before this line never returns. */
	VkSemaphoreSignalInfo go = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
		.semaphore = timeline,
		.value = awaited,
	};
	vk_check(vkSignalSemaphore(s->device, &go), "vkSignalSemaphore");
	VkSemaphoreWaitInfo wait = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
		.semaphoreCount = 1,
		.pSemaphores = &timeline,
		.pValues = &signalled,
	};
	vk_check(vkWaitSemaphores(s->device, &wait, UINT64_C(60000000000)), "vkWaitSemaphores");
	vk_end_frame(s, 2, commands);
}

static const struct expect_pass wait_first_passes[] = {
	{ SCREEN_PASS(3, 1) },
	{ SCREEN_PASS(3, 1), .submission = 1 },
	{ .kind = "transfer", .copies = 1, .submission = 1 },
};

/* ---- exit without any teardown ---- */

static void
exit_finish(struct vk_stage *s)
{
	exit(7);
}

#define BY(n) .boundary = "submit:" #n, .submissions = (n)

const struct vk_scene vk_submit_scenes[] = {
	SCENE(resubmit, resubmit_init, BY(3)),
	SCENE_AS(resubmit_unread, resubmit_unread_frame, resubmit_passes, resubmit_init,
		 BY(3)),
	SCENE(simultaneous, simultaneous_init, BY(3)),
	SCENE(wait_first, wait_first_init, BY(2)),
	SCENE_PLAIN(exit, NULL, .finish = exit_finish),
	{ 0 },
};

/* SPDX-License-Identifier: MIT */
/* What programs do that is legal and easy to get wrong: requests, lifetimes, ends. */
#include "tests/apps/vk_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static VkCommandBuffer
drawn(struct stream *s, const struct target *t, uint32_t draws)
{
	VkCommandBuffer cb = stream_buffer(s, s->graphics, false);
	stream_begin(s, cb, 0);
	stream_draw_pass(cb, t, draws);
	stream_end(s, cb);
	return cb;
}

/* Here the device's request is what matters. */
static void
run_plain(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = drawn(s, &t, 2);
	stream_run(s, s->queue, 1, &cb);
}

static void
run_freed_early(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	for (uint32_t i = 1; i <= 3; i++) {
		VkCommandBuffer cbs[2] = { drawn(s, &t, i), VK_NULL_HANDLE };
		stream_run(s, s->queue, 1, cbs);
		vkFreeCommandBuffers(s->device, s->pools[s->graphics], 2, cbs);
	}
}

static void
run_pool_destroyed(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.queueFamilyIndex = s->graphics,
	};
	VkCommandPool usual = s->pools[s->graphics];
	for (uint32_t i = 1; i <= 2; i++) {
		CHECK(vkCreateCommandPool(s->device, &info, allocator, &s->pools[s->graphics]));
		VkCommandBuffer ran = drawn(s, &t, i), never = drawn(s, &t, 9);
		(void)never;
		stream_run(s, s->queue, 1, &ran);
		vkDestroyCommandPool(s->device, s->pools[s->graphics], allocator);
		s->pools[s->graphics] = usual;
	}
}

static void
run_pool_reset(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = stream_buffer(s, s->graphics, false);
	for (uint32_t i = 1; i <= 3; i++) {
		stream_begin(s, cb, 0);
		for (uint32_t k = 0; k < 7; k++) /* more than one run of slots */
			stream_draw_pass(cb, &t, i);
		stream_end(s, cb);
		stream_run(s, s->queue, 1, &cb);
		if (i == 1)
			CHECK(vkResetCommandPool(s->device, s->pools[s->graphics], 0));
		else
			CHECK(vkResetCommandBuffer(cb, 0));
	}
}

/* Recorded once, used in every frame; a label in between. */
static void
run_reused(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cbs[2] = { drawn(s, &t, 1), drawn(s, &t, 2) };
	for (uint32_t i = 0; i < 6; i++)
		stream_run(s, s->queue, 1, &cbs[i % 2]);
}

static void
run_empty_submits(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = drawn(s, &t, 1);
	VkSubmitInfo nothing = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO };
	CHECK(vkQueueSubmit(s->queue, 0, NULL, VK_NULL_HANDLE));
	CHECK(vkQueueSubmit(s->queue, 0, NULL, s->fence));
	stream_wait(s, s->fence);
	CHECK(vkQueueSubmit(s->queue, 1, &nothing, VK_NULL_HANDLE));
	stream_run(s, s->queue, 1, &cb);
	CHECK(vkQueueSubmit2(s->queue, 0, NULL, VK_NULL_HANDLE));
	CHECK(vkQueueWaitIdle(s->queue));
}

/* Command buffers that are recorded and never submitted; recorded over while open; ended at
 * once. */
static void
run_never_submitted(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	for (uint32_t i = 0; i < 300; i++)
		drawn(s, &t, 1);
	VkCommandBuffer empty = stream_buffer(s, s->graphics, false);
	stream_begin(s, empty, 0);
	stream_end(s, empty);
	stream_run(s, s->queue, 1, &empty);
	VkCommandBuffer cb = drawn(s, &t, 2);
	stream_run(s, s->queue, 1, &cb);
}

/* Destroyed right after the wait: the last frame has no end. */
static void
run_pending_frame(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = drawn(s, &t, 4);
	VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.commandBufferCount = 1,
		.pCommandBuffers = &cb,
	};
	stream_submit(s, s->queue, &info, VK_NULL_HANDLE);
}

static void
run_exit_early(struct stream *s)
{
	run_plain(s);
	puts("leaves");
	exit(5);
}

static void
run_exit_pending(struct stream *s)
{
	run_pending_frame(s);
	puts("leaves");
	exit(6);
}

/* The child renders nothing and exits in both of the ways that programs use. */
static void
run_fork(struct stream *s)
{
	run_plain(s);
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		pid_t child = fork();
		if (child == 0) {
			if (i)
				exit(0);
			_exit(0);
		}
		int status = -1;
		waitpid(child, &status, 0);
		printf("child %d\n", status);
		fflush(stdout);
	}
	run_plain(s);
}

/* A second device beside the first, both used. */
static void
run_two_devices(struct stream *s)
{
	static struct stream other;
	other.wishes = 0;
	memcpy(&other.out, &s->out, sizeof(other.out));
	stream_open(&other);
	run_plain(&other);
	run_plain(s);
	stream_close(&other);
	run_plain(s);
}

/* Open and close, again and again. */
static void
run_devices_in_turn(struct stream *s)
{
	run_plain(s);
	for (int i = 0; i < 3; i++) {
		static struct stream other;
		memset(&other, 0, sizeof(other));
		memcpy(&other.out, &s->out, sizeof(other.out));
		stream_open(&other);
		run_plain(&other);
		stream_close(&other);
	}
}

/* Many passes in one command buffer, more than a page of slots holds. */
static void
run_many(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = stream_buffer(s, s->graphics, false);
	for (int round = 0; round < 2; round++) {
		stream_begin(s, cb, 0);
		for (int i = 0; i < 600; i++)
			stream_draw_pass(cb, &t, 1);
		stream_end(s, cb);
		stream_run(s, s->queue, 1, &cb);
	}
}

const struct scene stream_odd[] = {
	{ "plain", 0, run_plain },
	{ "features_core", WISH_CORE, run_plain },
	{ "features2", WISH_FEATURES2, run_plain },
	{ "features_separate", WISH_SEPARATE, run_plain },
	{ "no_info", WISH_NO_INFO, run_plain },
	{ "vulkan10", WISH_VULKAN10, run_plain },
	{ "twice", WISH_TWICE, run_plain },
	{ "freed_early", 0, run_freed_early },
	{ "pool_destroyed", 0, run_pool_destroyed },
	{ "pool_reset", 0, run_pool_reset },
	{ "reused", 0, run_reused },
	{ "empty_submits", 0, run_empty_submits },
	{ "never_submitted", 0, run_never_submitted },
	{ "pending_frame", 0, run_pending_frame },
	{ "exit_early", 0, run_exit_early },
	{ "exit_pending", 0, run_exit_pending },
	{ "fork", 0, run_fork },
	{ "two_devices", 0, run_two_devices },
	{ "devices_in_turn", 0, run_devices_in_turn },
	{ "many", 0, run_many },
	{ NULL, 0, NULL },
};

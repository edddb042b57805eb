/* SPDX-License-Identifier: MIT */
/* Submissions that `--snapshot exact` must not hang on:  vk_exact SCENE,  vk_exact --list
 *
 * Each command buffer fills a buffer a number of times by which its pass is known in the log. Runs
 * on any driver: no shader, no pixel. A layer that waited for the wrong submission would wait
 * forever: the program waits 10 s at most and then reports it. */
#include "tests/apps/vk_stream.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH_NS UINT64_C(10000000000)
#define ROUNDS 12

/* VK_EXT_frame_boundary is newer than the packaged headers; no driver needs to support it. */
static const VkBaseInStructure foreign = { .sType = (VkStructureType)1000999000 };

struct work {
	VkSemaphore wait, signal;
	uint64_t wait_value, signal_value;
	VkTimelineSemaphoreSubmitInfo values;
	VkPipelineStageFlags stage;
	VkCommandBuffer buffers[4];
	VkSubmitInfo info;
};

/* A command buffer whose pass is known by `fills`. */
static VkCommandBuffer
filled(struct stream *s, VkBuffer buffer, unsigned fills, VkCommandBufferUsageFlags flags)
{
	VkCommandBuffer cb = stream_buffer(s, s->graphics, false);
	stream_begin(s, cb, flags);
	for (unsigned i = 0; i < fills; i++)
		vkCmdFillBuffer(cb, buffer, 0, 256, i);
	stream_end(s, cb);
	return cb;
}

static VkBuffer
some_buffer(struct stream *s)
{
	VkDeviceMemory memory;
	return stream_make_buffer(s, 256, &memory);
}

/* A batch of `n` command buffers with passes `first`, `first` + 1, ... */
static void
make(struct stream *s, struct work *w, unsigned first, unsigned n)
{
	VkBuffer buffer = some_buffer(s);
	*w = (struct work){ .stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT };
	for (unsigned i = 0; i < n; i++)
		w->buffers[i] = filled(s, buffer, first + i, 0);
	w->values.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
	w->info = (VkSubmitInfo){
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.commandBufferCount = n,
		.pCommandBuffers = w->buffers,
	};
}

static void
add_wait(struct work *w, VkSemaphore semaphore, uint64_t value)
{
	w->wait = semaphore;
	w->wait_value = value;
	w->info.pNext = &w->values;
	w->values.waitSemaphoreValueCount = w->info.waitSemaphoreCount = 1;
	w->values.pWaitSemaphoreValues = &w->wait_value;
	w->info.pWaitSemaphores = &w->wait;
	w->info.pWaitDstStageMask = &w->stage;
}

static void
add_signal(struct work *w, VkSemaphore semaphore, uint64_t value)
{
	w->signal = semaphore;
	w->signal_value = value;
	w->info.pNext = &w->values;
	w->values.signalSemaphoreValueCount = w->info.signalSemaphoreCount = 1;
	w->values.pSignalSemaphoreValues = &w->signal_value;
	w->info.pSignalSemaphores = &w->signal;
}

static void
wait_all(struct stream *s)
{
	VkResult result = vkWaitForFences(s->device, 1, &s->fence, VK_TRUE, ENOUGH_NS);
	if (result == VK_TIMEOUT) {
		puts("hangs");
		fflush(stdout);
		_Exit(4);
	}
	CHECK(result);
	CHECK(vkResetFences(s->device, 1, &s->fence));
}

static void
host_signals(struct stream *s, VkSemaphore semaphore, uint64_t value)
{
	VkSemaphoreSignalInfo info = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
		.semaphore = semaphore,
		.value = value,
	};
	CHECK(vkSignalSemaphore(s->device, &info));
}

static VkQueue
second_queue(struct stream *s)
{
	if (!s->queues[s->graphics][1])
		stream_skip(s, "one queue");
	return s->queues[s->graphics][1];
}

/* ---- scenes ---- */

/* Three command buffers in a batch, two batches in a call; again; nothing at all. */
static void
run_pieces(struct stream *s)
{
	struct work one, two;
	make(s, &one, 1, 3);
	make(s, &two, 4, 1);
	VkSemaphore between = stream_semaphore(s, false);
	add_signal(&one, between, 0);
	add_wait(&two, between, 0);
	VkSubmitInfo both[] = { one.info, two.info };
	CHECK(vkQueueSubmit(s->queue, 2, both, s->fence));
	wait_all(s);
	one.info.commandBufferCount = 0;
	stream_submit(s, s->queue, &one.info, VK_NULL_HANDLE);
	stream_submit(s, s->queue, &two.info, VK_NULL_HANDLE);
	CHECK(vkQueueSubmit(s->queue, 0, NULL, s->fence));
	wait_all(s);
}

/* As in `pieces`, with the newer call. */
static void
run_pieces2(struct stream *s)
{
	struct work w;
	make(s, &w, 1, 3);
	VkSemaphore timeline = stream_semaphore(s, true);
	VkCommandBufferSubmitInfo buffers[3];
	for (uint32_t i = 0; i < 3; i++)
		buffers[i] = (VkCommandBufferSubmitInfo){
			.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
			.commandBuffer = w.buffers[i],
		};
	VkSemaphoreSubmitInfo point = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
		.semaphore = timeline,
		.value = 1,
		.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
	};
	VkSubmitInfo2 infos[2] = {
		{
			.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
			.commandBufferInfoCount = 2,
			.pCommandBufferInfos = buffers,
			.signalSemaphoreInfoCount = 1,
			.pSignalSemaphoreInfos = &point,
		},
		{
			.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
			.waitSemaphoreInfoCount = 1,
			.pWaitSemaphoreInfos = &point,
			.commandBufferInfoCount = 1,
			.pCommandBufferInfos = buffers + 2,
		},
	};
	CHECK(vkQueueSubmit2(s->queue, 2, infos, s->fence));
	wait_all(s);
}

/* The same thread signals only after it has submitted. */
static void
run_gate(struct stream *s)
{
	struct work first, gated, behind, after;
	VkSemaphore gate = stream_semaphore(s, true);
	make(s, &first, 1, 1);
	make(s, &gated, 2, 2);
	make(s, &behind, 4, 1);
	make(s, &after, 5, 2);
	add_wait(&gated, gate, 1);
	stream_submit(s, s->queue, &first.info, VK_NULL_HANDLE);
	stream_submit(s, s->queue, &gated.info, VK_NULL_HANDLE);
	stream_submit(s, s->queue, &behind.info, s->fence);
	host_signals(s, gate, 1);
	wait_all(s);
	stream_submit(s, s->queue, &after.info, s->fence);
	wait_all(s);
}

/* What the first waits for is submitted later, to another queue, which waits for the first. */
static void
run_cross(struct stream *s)
{
	VkQueue other = second_queue(s);
	struct work first, second, third, last;
	VkSemaphore there = stream_semaphore(s, true), back = stream_semaphore(s, true);
	make(s, &first, 1, 1);
	make(s, &second, 2, 2);
	make(s, &third, 4, 1);
	make(s, &last, 5, 1);
	add_wait(&first, there, 1);
	add_signal(&first, back, 1);
	add_signal(&second, there, 1);
	add_wait(&third, back, 1);
	stream_submit(s, s->queue, &first.info, VK_NULL_HANDLE);
	stream_submit(s, other, &second.info, VK_NULL_HANDLE);
	stream_submit(s, other, &third.info, VK_NULL_HANDLE);
	stream_submit(s, s->queue, &last.info, s->fence);
	wait_all(s);
	CHECK(vkQueueWaitIdle(other));
}

/* Each waits for the other's next submission but one, until the host signals one of them. */
static void
run_circle(struct stream *s)
{
	VkQueue other = second_queue(s);
	struct work a, b, after;
	VkSemaphore ta = stream_semaphore(s, true), tb = stream_semaphore(s, true);
	make(s, &a, 1, 1);
	make(s, &b, 2, 1);
	make(s, &after, 3, 1);
	add_wait(&a, ta, 1);
	add_signal(&a, tb, 1);
	add_wait(&b, tb, 1);
	stream_submit(s, other, &b.info, VK_NULL_HANDLE);
	stream_submit(s, s->queue, &a.info, VK_NULL_HANDLE);
	host_signals(s, ta, 1);
	CHECK(vkQueueWaitIdle(other));
	stream_submit(s, s->queue, &after.info, s->fence);
	wait_all(s);
}

/* Binary semaphores go round two queues. */
static void
run_binary(struct stream *s)
{
	VkQueue other = second_queue(s);
	struct work w[3];
	VkSemaphore there = stream_semaphore(s, false), back = stream_semaphore(s, false);
	for (unsigned i = 0; i < 3; i++)
		make(s, &w[i], i + 1, 1);
	add_signal(&w[0], there, 0);
	add_wait(&w[1], there, 0);
	add_signal(&w[1], back, 0);
	add_wait(&w[2], back, 0);
	for (int round = 0; round < 2; round++) {
		stream_submit(s, s->queue, &w[0].info, VK_NULL_HANDLE);
		stream_submit(s, other, &w[1].info, VK_NULL_HANDLE);
		stream_submit(s, s->queue, &w[2].info, s->fence);
		wait_all(s);
	}
}

/* Two threads signal a timeline alternately, and neither waits for the other. */
struct side {
	struct stream *s;
	VkQueue queue;
	struct work work[ROUNDS];
	VkFence fence;
};

static void *
play(void *data)
{
	struct side *side = data;
	for (int i = 0; i < ROUNDS; i++)
		vkQueueSubmit(side->queue, 1, &side->work[i].info,
			      i + 1 == ROUNDS ? side->fence : VK_NULL_HANDLE);
	return NULL;
}

static void
run_threads(struct stream *s)
{
	static struct side sides[2];
	VkQueue queues[2] = { s->queue, second_queue(s) };
	VkSemaphore ball = stream_semaphore(s, true);
	for (int p = 0; p < 2; p++) {
		sides[p].s = s;
		sides[p].queue = queues[p];
		sides[p].fence = stream_fence(s);
		for (int i = 0; i < ROUNDS; i++) {
			make(s, &sides[p].work[i], (unsigned)(1 + p), 1);
			add_wait(&sides[p].work[i], ball, (uint64_t)(2 * i + p));
			add_signal(&sides[p].work[i], ball, (uint64_t)(2 * i + p + 1));
		}
	}
	pthread_t threads[2];
	for (int p = 0; p < 2; p++)
		if (pthread_create(&threads[p], NULL, play, &sides[p]) != 0)
			stream_skip(s, "no threads");
	for (int p = 0; p < 2; p++)
		pthread_join(threads[p], NULL);
	for (int p = 0; p < 2; p++)
		if (vkWaitForFences(s->device, 1, &sides[p].fence, VK_TRUE, ENOUGH_NS) !=
		    VK_SUCCESS)
			puts("hangs");
}

/* A sparse bind has its place in the order too. */
static void
run_sparse(struct stream *s)
{
	struct work before, after;
	VkSemaphore gate = stream_semaphore(s, true), bound = stream_semaphore(s, true);
	static const uint64_t one = 1;
	VkTimelineSemaphoreSubmitInfo values = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = 1,
		.pWaitSemaphoreValues = &one,
		.signalSemaphoreValueCount = 1,
		.pSignalSemaphoreValues = &one,
	};
	VkBindSparseInfo bind = {
		.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
		.pNext = &values,
		.waitSemaphoreCount = 1,
		.pWaitSemaphores = &gate,
		.signalSemaphoreCount = 1,
		.pSignalSemaphores = &bound,
	};
	make(s, &before, 1, 1);
	make(s, &after, 2, 1);
	add_wait(&before, bound, 1);
	add_wait(&after, bound, 1);
	CHECK(vkQueueBindSparse(s->queue, 1, &bind, VK_NULL_HANDLE));
	stream_submit(s, s->queue, &before.info, VK_NULL_HANDLE);
	host_signals(s, gate, 1);
	stream_submit(s, s->queue, &after.info, s->fence);
	wait_all(s);
}

/* A semaphore that could be shared with another program. */
static void
run_shared(struct stream *s)
{
	struct work first, second, after;
	VkExportSemaphoreCreateInfo shared = {
		.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
		.handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT,
	};
	VkSemaphoreCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
		.pNext = &shared,
	};
	VkSemaphore semaphore = VK_NULL_HANDLE;
	CHECK(vkCreateSemaphore(s->device, &info, allocator, &semaphore));
	KEEP(KEPT_SEMAPHORE, semaphore);
	make(s, &first, 1, 1);
	make(s, &second, 2, 2);
	make(s, &after, 4, 1);
	add_signal(&first, semaphore, 0);
	add_wait(&second, semaphore, 0);
	stream_submit(s, s->queue, &first.info, VK_NULL_HANDLE);
	stream_submit(s, s->queue, &second.info, VK_NULL_HANDLE);
	CHECK(vkQueueWaitIdle(s->queue));
	stream_submit(s, s->queue, &after.info, s->fence);
	wait_all(s);
}

/* A structure in the batch that no driver or layer knows. */
static void
run_foreign(struct stream *s)
{
	struct work w;
	make(s, &w, 1, 3);
	w.info.pNext = &foreign;
	stream_submit(s, s->queue, &w.info, s->fence);
	wait_all(s);
}

/* Pending twice at once, and twice in a batch. */
static void
run_simultaneous(struct stream *s)
{
	struct work w;
	make(s, &w, 1, 1);
	VkBuffer buffer = some_buffer(s);
	w.buffers[0] = w.buffers[1] = filled(s, buffer, 1,
					     VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
	stream_submit(s, s->queue, &w.info, VK_NULL_HANDLE);
	stream_submit(s, s->queue, &w.info, VK_NULL_HANDLE);
	w.info.commandBufferCount = 2;
	stream_submit(s, s->queue, &w.info, s->fence);
	wait_all(s);
}

/* Acquire, draw, present: what a game does. */
static void
run_present(struct stream *s)
{
	VkHeadlessSurfaceCreateInfoEXT surface_info = {
		.sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT,
	};
	PFN_vkCreateHeadlessSurfaceEXT create = (PFN_vkCreateHeadlessSurfaceEXT)
		vkGetInstanceProcAddr(s->instance, "vkCreateHeadlessSurfaceEXT");
	VkSurfaceKHR surface = VK_NULL_HANDLE;
	CHECK(create(s->instance, &surface_info, NULL, &surface));
	KEEP(KEPT_SURFACE, surface);
	VkSwapchainCreateInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
		.surface = surface,
		.minImageCount = 3,
		.imageFormat = COLOUR,
		.imageExtent = { 64, 64 },
		.imageArrayLayers = 1,
		.imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
		.preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
		.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
		.presentMode = VK_PRESENT_MODE_FIFO_KHR,
	};
	VkSwapchainKHR swapchain = VK_NULL_HANDLE;
	CHECK(vkCreateSwapchainKHR(s->device, &info, allocator, &swapchain));
	KEEP(KEPT_SWAPCHAIN, swapchain);
	VkSemaphore acquired = stream_semaphore(s, false), drawn = stream_semaphore(s, false);
	struct work w;
	make(s, &w, 1, 2);
	add_wait(&w, acquired, 0);
	add_signal(&w, drawn, 0);
	for (unsigned i = 0; i < 3; i++) {
		uint32_t image;
		CHECK(vkAcquireNextImageKHR(s->device, swapchain, ENOUGH_NS, acquired,
					    VK_NULL_HANDLE, &image));
		stream_submit(s, s->queue, &w.info, s->fence);
		VkPresentInfoKHR present = {
			.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
			.waitSemaphoreCount = 1,
			.pWaitSemaphores = &drawn,
			.swapchainCount = 1,
			.pSwapchains = &swapchain,
			.pImageIndices = &image,
		};
		CHECK(vkQueuePresentKHR(s->queue, &present));
		wait_all(s);
	}
}

static const struct scene scenes[] = {
	{ "pieces", 0, run_pieces },
	{ "pieces2", 0, run_pieces2 },
	{ "gate", 0, run_gate },
	{ "cross", 0, run_cross },
	{ "circle", 0, run_circle },
	{ "binary", 0, run_binary },
	{ "threads", 0, run_threads },
	{ "sparse", WISH_SPARSE, run_sparse },
	{ "shared", 0, run_shared },
	{ "foreign", 0, run_foreign },
	{ "simultaneous", 0, run_simultaneous },
	{ "present", WISH_SURFACE, run_present },
};

static int
run(const struct scene *scene, struct stream *s)
{
	if (setjmp(s->out))
		return 3;
	stream_open(s);
	scene->run(s);
	return 0;
}

int
main(int argc, char **argv)
{
	bool list = argc == 2 && strcmp(argv[1], "--list") == 0;
	for (uint32_t i = 0; i < COUNT(scenes) && argc == 2; i++) {
		if (list)
			puts(scenes[i].name);
		if (list || strcmp(scenes[i].name, argv[1]) != 0)
			continue;
		static struct stream s;
		s.wishes = scenes[i].wishes;
		int failed = run(&scenes[i], &s);
		stream_close(&s);
		printf("%s %s\n", scenes[i].name, failed ? "failed" : "done");
		return failed;
	}
	if (list)
		return 0;
	fputs("usage: vk_exact SCENE | --list\n", stderr);
	return 2;
}

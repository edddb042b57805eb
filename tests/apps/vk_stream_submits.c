/* SPDX-License-Identifier: MIT */
/* Submissions: repeated, simultaneous, on several queues, earlier than what they wait for, and
 * the ends of frames. */
#include "tests/apps/vk_stream.h"

#include <stdio.h>

/* VK_EXT_frame_boundary is newer than the packaged headers. */
struct frame_boundary {
	VkStructureType sType;
	const void *pNext;
	VkFlags flags;
	uint64_t frameID;
	uint32_t imageCount;
	const VkImage *pImages;
	uint32_t bufferCount;
	const VkBuffer *pBuffers;
	uint64_t tagName;
	size_t tagSize;
	const void *pTag;
};
enum { FRAME_BOUNDARY_TYPE = 1000375001, FRAME_END = 1 };

static VkCommandBuffer
recorded(struct stream *s, uint32_t family, const struct target *t, uint32_t draws,
	 VkCommandBufferUsageFlags flags)
{
	VkCommandBuffer cb = stream_buffer(s, family, false);
	stream_begin(s, cb, flags);
	if (t)
		stream_draw_pass(cb, t, draws);
	else
		vkCmdDispatch(cb, draws, 1, 1);
	stream_end(s, cb);
	return cb;
}

static void
run_resubmit(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = recorded(s, s->graphics, &t, 2, 0);
	for (int i = 0; i < 3; i++)
		stream_run(s, s->queue, 1, &cb);
}

static void
run_submit2(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBufferSubmitInfo buffers[2] = { 0 };
	for (uint32_t i = 0; i < 2; i++) {
		buffers[i].sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
		buffers[i].commandBuffer = recorded(s, s->graphics, &t, i + 1, 0);
	}
	VkSubmitInfo2 infos[2] = { 0 };
	for (uint32_t i = 0; i < 2; i++) {
		infos[i].sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
		infos[i].commandBufferInfoCount = 1;
		infos[i].pCommandBufferInfos = &buffers[i];
	}
	CHECK(vkQueueSubmit2(s->queue, 2, infos, s->fence));
	stream_wait(s, s->fence);
}

static VkSubmitInfo
waiting(const VkTimelineSemaphoreSubmitInfo *values, const VkSemaphore *wait,
	const VkSemaphore *signal, const VkCommandBuffer *cb)
{
	static const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	return (VkSubmitInfo){
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.pNext = values,
		.waitSemaphoreCount = wait ? 1 : 0,
		.pWaitSemaphores = wait,
		.pWaitDstStageMask = &stage,
		.commandBufferCount = 1,
		.pCommandBuffers = cb,
		.signalSemaphoreCount = signal ? 1 : 0,
		.pSignalSemaphores = signal,
	};
}

static void
signal_host(struct stream *s, VkSemaphore semaphore, uint64_t value)
{
	VkSemaphoreSignalInfo info = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
		.semaphore = semaphore,
		.value = value,
	};
	CHECK(vkSignalSemaphore(s->device, &info));
}

/* The same command buffer pending twice. */
static void
run_simultaneous(struct stream *s)
{
	static const uint64_t one = 1;
	struct target t = stream_target(s, 1, NULL);
	VkSemaphore gate = stream_semaphore(s, true);
	VkCommandBuffer cb = recorded(s, s->graphics, &t, 2,
				      VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
	VkTimelineSemaphoreSubmitInfo values = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = 1,
		.pWaitSemaphoreValues = &one,
	};
	VkSubmitInfo info = waiting(&values, &gate, NULL, &cb);
	stream_submit(s, s->queue, &info, VK_NULL_HANDLE);
	stream_submit(s, s->queue, &info, s->fence);
	signal_host(s, gate, 1);
	stream_wait(s, s->fence);
	VkCommandBuffer twice[2] = { cb, cb };
	stream_run(s, s->queue, 2, twice);
}

/* What the first submission waits for is submitted later, to another queue. */
static void
run_wait_before_signal(struct stream *s)
{
	static const uint64_t seven = 7;
	if (s->compute == UINT32_MAX)
		stream_skip(s, "no second family");
	struct target t = stream_target(s, 1, NULL);
	VkSemaphore timeline = stream_semaphore(s, true);
	VkCommandBuffer draw = recorded(s, s->graphics, &t, 2, 0);
	VkCommandBuffer dispatch = recorded(s, s->compute, NULL, 3, 0);
	VkTimelineSemaphoreSubmitInfo values = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = 1,
		.pWaitSemaphoreValues = &seven,
	};
	VkSubmitInfo info = waiting(&values, &timeline, NULL, &draw);
	stream_submit(s, s->queue, &info, s->fence);
	printf("status %d\n", (int)vkGetFenceStatus(s->device, s->fence));
	values = (VkTimelineSemaphoreSubmitInfo){
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.signalSemaphoreValueCount = 1,
		.pSignalSemaphoreValues = &seven,
	};
	info = waiting(&values, NULL, &timeline, &dispatch);
	stream_submit(s, s->queues[s->compute][0], &info, VK_NULL_HANDLE);
	stream_wait(s, s->fence);
	uint64_t value = 0;
	CHECK(vkGetSemaphoreCounterValue(s->device, timeline, &value));
	printf("timeline %llu\n", (unsigned long long)value);
}

/* Graphics, compute and transfer, ordered by semaphores. */
static void
run_queues(struct stream *s)
{
	if (s->compute == UINT32_MAX || s->transfer == UINT32_MAX)
		stream_skip(s, "too few families");
	struct target t = stream_target(s, 1, NULL);
	VkSemaphore uploaded = stream_semaphore(s, false), computed = stream_semaphore(s, false);
	VkBuffer buffer = stream_make_buffer(s, 256, NULL);
	VkBufferCopy region = { 0, 128, 64 };
	VkCommandBuffer copy = stream_buffer(s, s->transfer, false);
	stream_begin(s, copy, 0);
	vkCmdCopyBuffer(copy, buffer, buffer, 1, &region);
	stream_end(s, copy);
	VkCommandBuffer dispatch = recorded(s, s->compute, NULL, 3, 0);
	VkCommandBuffer draw = recorded(s, s->graphics, &t, 2, 0);
	VkSubmitInfo info = waiting(NULL, NULL, &uploaded, &copy);
	stream_submit(s, s->queues[s->transfer][0], &info, VK_NULL_HANDLE);
	info = waiting(NULL, &uploaded, &computed, &dispatch);
	stream_submit(s, s->queues[s->compute][0], &info, VK_NULL_HANDLE);
	info = waiting(NULL, &computed, NULL, &draw);
	stream_submit(s, s->queue, &info, s->fence);
	stream_wait(s, s->fence);
}

/* Two queues of one family, on which command buffers of one pool alternate. */
static void
run_two_queues(struct stream *s)
{
	VkQueue second = s->queues[s->graphics][1];
	if (!second)
		stream_skip(s, "one queue only");
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = recorded(s, s->graphics, &t, 1, 0);
	for (int i = 0; i < 4; i++)
		stream_run(s, i % 2 ? second : s->queue, 1, &cb);
}

/* ---- presenting ---- */

struct window {
	VkSurfaceKHR surface;
	VkSwapchainKHR swapchain;
	VkImage images[4];
	struct target targets[4];
};

static void
open_window(struct stream *s, struct window *w, VkPresentModeKHR mode)
{
	PFN_vkCreateHeadlessSurfaceEXT create =
		(PFN_vkCreateHeadlessSurfaceEXT)vkGetInstanceProcAddr(
			s->instance, "vkCreateHeadlessSurfaceEXT");
	VkHeadlessSurfaceCreateInfoEXT headless = {
		.sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT,
	};
	CHECK(create(s->instance, &headless, NULL, &w->surface));
	KEEP(KEPT_SURFACE, w->surface);
	VkSwapchainCreateInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
		.surface = w->surface,
		.minImageCount = 2,
		.imageFormat = VK_FORMAT_B8G8R8A8_UNORM,
		.imageExtent = { 64, 32 },
		.imageArrayLayers = 1,
		.imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
		.preTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
		.compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
		.presentMode = mode,
	};
	CHECK(vkCreateSwapchainKHR(s->device, &info, allocator, &w->swapchain));
	KEEP(KEPT_SWAPCHAIN, w->swapchain);
	uint32_t n = COUNT(w->images);
	CHECK(vkGetSwapchainImagesKHR(s->device, w->swapchain, &n, w->images));
	for (uint32_t i = 0; i < n; i++)
		w->targets[i] = (struct target){ .view = stream_view(s, w->images[i]),
						 .width = 64,
						 .height = 32 };
}

static void
present_frame(struct stream *s, struct window *w, uint32_t family, VkSemaphore ready,
	      VkSemaphore drawn)
{
	uint32_t image = 0;
	CHECK(vkAcquireNextImageKHR(s->device, w->swapchain, UINT64_MAX, ready, VK_NULL_HANDLE,
				    &image));
	VkCommandBuffer cb = stream_buffer(s, family, false);
	stream_begin(s, cb, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
	if (family == s->graphics) {
		stream_begin_rendering(cb, &w->targets[image], 0, 0);
		vkCmdDraw(cb, 3, 1, 0, 0);
		vkCmdEndRendering(cb);
	} else {
		vkCmdDispatch(cb, 1, 1, 1);
	}
	stream_end(s, cb);
	VkSubmitInfo info = waiting(NULL, &ready, &drawn, &cb);
	stream_submit(s, s->queues[family][0], &info, s->fence);
	VkPresentInfoKHR present = {
		.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
		.waitSemaphoreCount = 1,
		.pWaitSemaphores = &drawn,
		.swapchainCount = 1,
		.pSwapchains = &w->swapchain,
		.pImageIndices = &image,
	};
	CHECK(vkQueuePresentKHR(s->queues[family][0], &present));
	stream_wait(s, s->fence);
	vkFreeCommandBuffers(s->device, s->pools[family], 1, &cb);
}

static void
present_on(struct stream *s, uint32_t family)
{
	struct window w = { 0 };
	open_window(s, &w, VK_PRESENT_MODE_FIFO_KHR);
	VkSemaphore ready = stream_semaphore(s, false), drawn = stream_semaphore(s, false);
	for (int i = 0; i < 3; i++)
		present_frame(s, &w, family, ready, drawn);
}

static void
run_present(struct stream *s)
{
	present_on(s, s->graphics);
}

/* The second window has another mode. */
static void
run_present_modes(struct stream *s)
{
	static const VkPresentModeKHR modes[2] = { VK_PRESENT_MODE_FIFO_KHR,
						   VK_PRESENT_MODE_MAILBOX_KHR };
	VkSemaphore ready = stream_semaphore(s, false), drawn = stream_semaphore(s, false);
	for (int i = 0; i < 2; i++) {
		struct window w = { 0 };
		open_window(s, &w, modes[i]);
		present_frame(s, &w, s->graphics, ready, drawn);
		present_frame(s, &w, s->graphics, ready, drawn);
	}
}

static void
run_present_compute(struct stream *s)
{
	if (s->compute == UINT32_MAX)
		stream_skip(s, "no compute family");
	present_on(s, s->compute);
}

static void
run_boundary(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	for (uint32_t i = 0; i < 4; i++) {
		struct frame_boundary end = {
			.sType = (VkStructureType)FRAME_BOUNDARY_TYPE,
			.flags = i % 2 ? FRAME_END : 0,
			.frameID = i / 2,
		};
		VkCommandBuffer cb = recorded(s, s->graphics, &t, i + 1, 0);
		VkSubmitInfo info = {
			.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
			.pNext = &end,
			.commandBufferCount = 1,
			.pCommandBuffers = &cb,
		};
		stream_submit(s, s->queue, &info, s->fence);
		stream_wait(s, s->fence);
	}
}

/* ---- groups and protected memory ---- */

static void
run_group(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkDeviceGroupCommandBufferBeginInfo mask = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_GROUP_COMMAND_BUFFER_BEGIN_INFO,
		.deviceMask = 3,
	};
	VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.pNext = &mask,
	};
	VkCommandBuffer cb = stream_buffer(s, s->graphics, false);
	CHECK(vkBeginCommandBuffer(cb, &begin));
	stream_draw_pass(cb, &t, 1);
	vkCmdSetDeviceMask(cb, 1);
	stream_draw_pass(cb, &t, 2);
	stream_end(s, cb);
	static const uint32_t both = 3;
	VkDeviceGroupSubmitInfo group = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_GROUP_SUBMIT_INFO,
		.commandBufferCount = 1,
		.pCommandBufferDeviceMasks = &both,
	};
	VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.pNext = &group,
		.commandBufferCount = 1,
		.pCommandBuffers = &cb,
	};
	stream_submit(s, s->queue, &info, s->fence);
	stream_wait(s, s->fence);
}

static void
run_protected(struct stream *s)
{
	if (!(s->families[s->graphics].queueFlags & VK_QUEUE_PROTECTED_BIT))
		stream_skip(s, "no protected queue");
	struct target t = stream_target(s, 1, NULL);
	VkCommandPoolCreateInfo pool_info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.flags = VK_COMMAND_POOL_CREATE_PROTECTED_BIT,
		.queueFamilyIndex = s->graphics,
	};
	VkCommandPool pool, usual = s->pools[s->graphics];
	CHECK(vkCreateCommandPool(s->device, &pool_info, allocator, &pool));
	KEEP(KEPT_POOL, pool);
	s->pools[s->graphics] = pool;
	VkCommandBuffer cb = recorded(s, s->graphics, &t, 2,
				      VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
	s->pools[s->graphics] = usual;
	VkProtectedSubmitInfo protect = {
		.sType = VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO,
		.protectedSubmit = VK_TRUE,
	};
	VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.pNext = &protect,
		.commandBufferCount = 1,
		.pCommandBuffers = &cb,
	};
	stream_submit(s, s->queue, &info, s->fence);
	stream_wait(s, s->fence);
}

static void
run_sparse(struct stream *s)
{
	VkBindSparseInfo info = { .sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO };
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = recorded(s, s->graphics, &t, 1, 0);
	stream_run(s, s->queue, 1, &cb);
	CHECK(vkQueueBindSparse(s->queue, 1, &info, s->fence));
	stream_wait(s, s->fence);
}

const struct scene stream_submits[] = {
	{ "resubmit", 0, run_resubmit },
	{ "submit2", 0, run_submit2 },
	{ "simultaneous", 0, run_simultaneous },
	{ "wait_before_signal", 0, run_wait_before_signal },
	{ "queues", 0, run_queues },
	{ "two_queues", 0, run_two_queues },
	{ "present", WISH_SURFACE, run_present },
	{ "present_modes", WISH_SURFACE, run_present_modes },
	{ "present_compute", WISH_SURFACE, run_present_compute },
	{ "boundary", WISH_BOUNDARY, run_boundary },
	{ "group", WISH_GROUP, run_group },
	{ "protected", WISH_PROTECTED, run_protected },
	{ "sparse", WISH_SPARSE, run_sparse },
	{ NULL, 0, NULL },
};

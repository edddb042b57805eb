/* SPDX-License-Identifier: MIT */
/* Breaks the rules of queries one by one, so that a test knows that fake_vk notices. Never run it
 * on a real driver. */
#include "tests/apps/vk_stream.h"

static VkCommandBuffer
open_on(struct stream *s, uint32_t family)
{
	VkCommandBuffer cb = stream_buffer(s, family, false);
	stream_begin(s, cb, 0);
	return cb;
}

static void
break_recording(struct stream *s, const struct target *t)
{
	VkQueryPool pool = stream_queries(s, VK_QUERY_TYPE_PIPELINE_STATISTICS, 4);
	VkQueryPool stamps = stream_queries(s, VK_QUERY_TYPE_TIMESTAMP, 2);
	VkCommandBuffer cb = open_on(s, s->graphics);
	vkCmdResetQueryPool(cb, pool, 0, 4);
	vkCmdResetQueryPool(cb, stamps, 0, 4); /* 00796 */
	vkCmdEndQuery(cb, pool, 1);	       /* 01923 */
	vkCmdBeginQuery(cb, pool, 0, 0);
	vkCmdBeginQuery(cb, pool, 1, 0); /* 01922 */
	vkCmdEndQuery(cb, pool, 1);
	vkCmdResetQueryPool(cb, pool, 0, 1); /* 02841 */
	stream_begin_pass(cb, t, VK_SUBPASS_CONTENTS_INLINE);
	vkCmdResetQueryPool(cb, pool, 2, 1); /* inside a render pass */
	vkCmdEndQuery(cb, pool, 0);	     /* 07007 */
	vkCmdEndRenderPass(cb);
	vkCmdBeginQuery(cb, pool, 2, 0);
	stream_end(s, cb); /* 00061 */
	cb = open_on(s, s->transfer);
	vkCmdResetQueryPool(cb, pool, 0, 1); /* not for this queue family */
	vkCmdWriteTimestamp(cb, VK_PIPELINE_STAGE_TRANSFER_BIT, stamps, 0); /* 00829 */
	stream_end(s, cb);
	cb = open_on(s, s->compute);
	vkCmdBeginQuery(cb, pool, 0, 0); /* 00804 */
	vkCmdEndQuery(cb, pool, 0);
	stream_end(s, cb);
}

static void
break_secondaries(struct stream *s, const struct target *t)
{
	VkQueryPool pool = stream_queries(s, VK_QUERY_TYPE_PIPELINE_STATISTICS, 2);
	VkCommandBuffer inner = stream_buffer(s, s->graphics, true);
	stream_begin_inside(s, inner, t->pass, t->framebuffer, 0);
	vkCmdBeginQuery(inner, pool, 1, 0);
	vkCmdEndQuery(inner, pool, 1);
	stream_end(s, inner);
	VkCommandBuffer cb = open_on(s, s->graphics);
	vkCmdResetQueryPool(cb, pool, 0, 2);
	vkCmdBeginQuery(cb, pool, 0, 0);
	stream_begin_pass(cb, t, VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
	vkCmdExecuteCommands(cb, 1, &inner); /* 00101, 00104, 00105 */
	vkCmdEndRenderPass(cb);
	vkCmdEndQuery(cb, pool, 0);
	stream_end(s, cb);
}

static void
break_running(struct stream *s, const struct target *t)
{
	VkQueryPool pool = stream_queries(s, VK_QUERY_TYPE_PIPELINE_STATISTICS, 2);
	VkQueryPool stamps = stream_queries(s, VK_QUERY_TYPE_TIMESTAMP, 4);
	uint64_t value = 0;
	vkGetQueryPoolResults(s->device, stamps, 3, 1, 8, &value, 8, VK_QUERY_RESULT_64_BIT);
	VkCommandBuffer cb = open_on(s, s->graphics);
	vkCmdBeginQuery(cb, pool, 0, 0); /* 00807 */
	vkCmdEndQuery(cb, pool, 0);
	vkCmdWriteTimestamp(cb, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, stamps, 0); /* 00830 */
	vkCmdResetQueryPool(cb, stamps, 1, 2);
	stream_begin_rendering(cb, t, VK_RENDERING_SUSPENDING_BIT, 0);
	vkCmdEndRendering(cb);
	vkCmdWriteTimestamp(cb, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, stamps, 1); /* 06015 */
	stream_begin_rendering(
		cb, t, VK_RENDERING_RESUMING_BIT | VK_RENDERING_SUSPENDING_BIT, 0);
	vkCmdEndRendering(cb);
	stream_end(s, cb);
	stream_run(s, s->queue, 1, &cb); /* 06014 */
}

/* After a gate, so that everything is pending. */
static void
break_waiting(struct stream *s)
{
	static const uint64_t one = 1;
	VkSemaphore gate = stream_semaphore(s, true);
	VkQueryPool stamps = stream_queries(s, VK_QUERY_TYPE_TIMESTAMP, 2);
	VkFence fence = stream_fence(s);
	VkCommandBuffer cb = open_on(s, s->graphics), other = open_on(s, s->graphics);
	vkCmdResetQueryPool(cb, stamps, 0, 2);
	vkCmdWriteTimestamp(cb, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, stamps, 0);
	stream_end(s, cb);
	stream_end(s, other);
	VkTimelineSemaphoreSubmitInfo values = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = 1,
		.pWaitSemaphoreValues = &one,
	};
	VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.pNext = &values,
		.waitSemaphoreCount = 1,
		.pWaitSemaphores = &gate,
		.pWaitDstStageMask = &stage,
		.commandBufferCount = 1,
		.pCommandBuffers = &cb,
	};
	stream_submit(s, s->queue, &info, fence);
	stream_submit(s, s->queue, &info, VK_NULL_HANDLE); /* 00071 */
	info.pCommandBuffers = &other;
	stream_submit(s, s->queue, &info, fence);  /* 00064 */
	CHECK(vkResetFences(s->device, 1, &fence)); /* 01123 */
	vkResetQueryPool(s->device, stamps, 0, 2);  /* 02741, 02665 */
	stream_drop(s, (uint64_t)stamps);
	vkDestroyQueryPool(s->device, stamps, allocator);			 /* 00793 */
	vkFreeCommandBuffers(s->device, s->pools[s->graphics], 1, &other); /* 00047 */
	VkSemaphoreSignalInfo open = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
		.semaphore = gate,
		.value = 1,
	};
	CHECK(vkSignalSemaphore(s->device, &open)); /* 00070 */
}

static void
run_breaks_rules(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	break_recording(s, &t);
	break_secondaries(s, &t);
	break_running(s, &t);
	break_waiting(s);
	stream_fence(s);
	s->n_kept--; /* 00378: left unfinished */
}

const struct scene stream_rules[] = {
	{ "breaks_rules", WISH_STATISTICS, run_breaks_rules },
	{ NULL, 0, NULL },
};

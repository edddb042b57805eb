/* SPDX-License-Identifier: MIT */
/* Work outside render passes, labels, and the program's own queries. */
#include "tests/apps/vk_stream.h"

#include <stdio.h>
#include <string.h>

static VkCommandBuffer
begin_on(struct stream *s, uint32_t family)
{
	VkCommandBuffer cb = stream_buffer(s, family, false);
	stream_begin(s, cb, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
	return cb;
}

static void
finish_on(struct stream *s, VkQueue queue, VkCommandBuffer cb)
{
	stream_end(s, cb);
	stream_run(s, queue, 1, &cb);
}

static void
barrier(VkCommandBuffer cb)
{
	VkMemoryBarrier memory = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT,
	};
	vkCmdPipelineBarrier(cb, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
			     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &memory, 0, NULL,
			     0, NULL);
}

static void
run_compute(struct stream *s)
{
	VkCommandBuffer cb = begin_on(s, s->graphics);
	vkCmdDispatch(cb, 4, 2, 1);
	barrier(cb);
	vkCmdDispatch(cb, 1, 1, 1);
	vkCmdDispatchBase(cb, 0, 0, 0, 2, 1, 1);
	finish_on(s, s->queue, cb);
}

static void
run_copies(struct stream *s)
{
	VkBuffer from = stream_make_buffer(s, 1024, NULL),
		 to = stream_make_buffer(s, 1024, NULL);
	VkImage image = stream_image(s, 16, 16);
	VkBufferCopy region = { 0, 0, 256 };
	VkBufferImageCopy texels = {
		.imageSubresource = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
		.imageExtent = { 16, 16, 1 },
	};
	VkCommandBuffer cb = begin_on(s, s->graphics);
	vkCmdFillBuffer(cb, from, 0, 256, 1);
	vkCmdCopyBuffer(cb, from, to, 1, &region);
	vkCmdUpdateBuffer(cb, to, 0, 4, "abc");
	vkCmdDispatch(cb, 1, 1, 1);
	vkCmdCopyBufferToImage(cb, from, image, VK_IMAGE_LAYOUT_GENERAL, 1, &texels);
	finish_on(s, s->queue, cb);
}

static void
run_rays(struct stream *s)
{
	FUNCTION(vkCmdTraceRaysKHR);
	FUNCTION(vkCmdBuildAccelerationStructuresKHR);
	VkStridedDeviceAddressRegionKHR table = { 0 };
	VkAccelerationStructureBuildGeometryInfoKHR geometry = {
		.sType = VK_STRUCTURE_TYPE_ACCELERATION_STRUCTURE_BUILD_GEOMETRY_INFO_KHR,
	};
	VkAccelerationStructureBuildRangeInfoKHR range = { .primitiveCount = 2 };
	const VkAccelerationStructureBuildRangeInfoKHR *ranges = &range;
	VkCommandBuffer cb = begin_on(s, s->graphics);
	p_vkCmdBuildAccelerationStructuresKHR(cb, 1, &geometry, &ranges);
	barrier(cb);
	p_vkCmdTraceRaysKHR(cb, &table, &table, &table, &table, 64, 64, 1);
	p_vkCmdTraceRaysKHR(cb, &table, &table, &table, &table, 64, 64, 1);
	finish_on(s, s->queue, cb);
}

static void
run_video(struct stream *s)
{
	if (s->video == UINT32_MAX)
		stream_skip(s, "no video queue");
	FUNCTION(vkCreateVideoSessionKHR);
	FUNCTION(vkCmdBeginVideoCodingKHR);
	FUNCTION(vkCmdControlVideoCodingKHR);
	FUNCTION(vkCmdDecodeVideoKHR);
	FUNCTION(vkCmdEndVideoCodingKHR);
	VkVideoSessionCreateInfoKHR create = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_SESSION_CREATE_INFO_KHR,
		.queueFamilyIndex = s->video,
	};
	VkVideoSessionKHR session;
	CHECK(p_vkCreateVideoSessionKHR(s->device, &create, allocator, &session));
	KEEP(KEPT_SESSION, session);
	VkVideoBeginCodingInfoKHR begin = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_BEGIN_CODING_INFO_KHR,
		.videoSession = session,
	};
	VkVideoCodingControlInfoKHR control = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_CODING_CONTROL_INFO_KHR,
	};
	VkVideoDecodeInfoKHR decode = { .sType = VK_STRUCTURE_TYPE_VIDEO_DECODE_INFO_KHR };
	VkVideoEndCodingInfoKHR end = { .sType = VK_STRUCTURE_TYPE_VIDEO_END_CODING_INFO_KHR };
	VkCommandBuffer cb = begin_on(s, s->video);
	p_vkCmdBeginVideoCodingKHR(cb, &begin);
	p_vkCmdControlVideoCodingKHR(cb, &control);
	p_vkCmdDecodeVideoKHR(cb, &decode);
	p_vkCmdDecodeVideoKHR(cb, &decode);
	p_vkCmdEndVideoCodingKHR(cb, &end);
	finish_on(s, s->queues[s->video][0], cb);
}

static void
run_per_tile(struct stream *s)
{
	typedef void(VKAPI_PTR * PFN_vkCmdBeginPerTileExecutionQCOM)(VkCommandBuffer,
								     const void *);
	typedef void(VKAPI_PTR * PFN_vkCmdEndPerTileExecutionQCOM)(VkCommandBuffer,
								   const void *);
	FUNCTION(vkCmdBeginPerTileExecutionQCOM);
	FUNCTION(vkCmdEndPerTileExecutionQCOM);
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = begin_on(s, s->graphics);
	stream_begin_rendering(cb, &t, 0, 0);
	p_vkCmdBeginPerTileExecutionQCOM(cb, NULL);
	vkCmdDraw(cb, 3, 1, 0, 0);
	p_vkCmdEndPerTileExecutionQCOM(cb, NULL);
	vkCmdEndRendering(cb);
	finish_on(s, s->queue, cb);
}

/* ---- labels ---- */

static VkDebugUtilsLabelEXT
label(const char *name)
{
	return (VkDebugUtilsLabelEXT){ .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT,
				       .pLabelName = name };
}

/* One label region of the queue around two submissions; one opened in the first command buffer
 * and closed in the second; at the end one pop too many. */
static void
run_labels(struct stream *s)
{
	FUNCTION(vkCmdBeginDebugUtilsLabelEXT);
	FUNCTION(vkCmdEndDebugUtilsLabelEXT);
	FUNCTION(vkCmdInsertDebugUtilsLabelEXT);
	FUNCTION(vkQueueBeginDebugUtilsLabelEXT);
	FUNCTION(vkQueueEndDebugUtilsLabelEXT);
	VkDebugUtilsLabelEXT frame = label("frame"), shadow = label("shadow"),
			     post = label("post");
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer first = begin_on(s, s->graphics), second = begin_on(s, s->graphics);
	stream_draw_pass(first, &t, 1);
	p_vkCmdBeginDebugUtilsLabelEXT(first, &shadow);
	stream_draw_pass(first, &t, 2);
	stream_end(s, first);
	stream_draw_pass(second, &t, 3);
	p_vkCmdEndDebugUtilsLabelEXT(second);
	p_vkCmdInsertDebugUtilsLabelEXT(second, &post);
	p_vkCmdBeginDebugUtilsLabelEXT(second, &post);
	vkCmdDispatch(second, 1, 1, 1);
	p_vkCmdEndDebugUtilsLabelEXT(second);
	stream_end(s, second);
	p_vkQueueBeginDebugUtilsLabelEXT(s->queue, &frame);
	stream_run(s, s->queue, 1, &first);
	stream_run(s, s->queue, 1, &second);
	p_vkQueueEndDebugUtilsLabelEXT(s->queue);
	VkCommandBuffer third = begin_on(s, s->graphics);
	p_vkCmdEndDebugUtilsLabelEXT(third);
	stream_draw_pass(third, &t, 4);
	finish_on(s, s->queue, third);
}

static void
run_markers(struct stream *s)
{
	FUNCTION(vkCmdDebugMarkerBeginEXT);
	FUNCTION(vkCmdDebugMarkerEndEXT);
	VkDebugMarkerMarkerInfoEXT marker = {
		.sType = VK_STRUCTURE_TYPE_DEBUG_MARKER_MARKER_INFO_EXT,
		.pMarkerName = "marked",
	};
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = begin_on(s, s->graphics);
	p_vkCmdDebugMarkerBeginEXT(cb, &marker);
	stream_draw_pass(cb, &t, 1);
	p_vkCmdDebugMarkerEndEXT(cb);
	stream_draw_pass(cb, &t, 2);
	finish_on(s, s->queue, cb);
}

/* ---- the program's own queries ---- */

static void
print_results(struct stream *s, VkQueryPool pool, uint32_t n)
{
	uint64_t values[8] = { 0 };
	VkResult result = vkGetQueryPoolResults(s->device, pool, 0, n, sizeof(values), values, 8,
						VK_QUERY_RESULT_64_BIT);
	printf("results %d:", (int)result);
	for (uint32_t i = 0; i < n; i++)
		printf(" %llu", (unsigned long long)values[i]);
	printf("\n");
}

/* Inside a render pass: passtally's queries must not be active there. */
static void
run_own_statistics_inside(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkQueryPool pool = stream_queries(s, VK_QUERY_TYPE_PIPELINE_STATISTICS, 2);
	VkCommandBuffer cb = begin_on(s, s->graphics);
	vkCmdResetQueryPool(cb, pool, 0, 2);
	stream_begin_pass(cb, &t, VK_SUBPASS_CONTENTS_INLINE);
	vkCmdBeginQuery(cb, pool, 0, 0);
	vkCmdDraw(cb, 3, 2, 0, 0);
	vkCmdEndQuery(cb, pool, 0);
	vkCmdBeginQuery(cb, pool, 1, 0);
	vkCmdDraw(cb, 3, 1, 0, 0);
	vkCmdEndQuery(cb, pool, 1);
	vkCmdEndRenderPass(cb);
	finish_on(s, s->queue, cb);
	print_results(s, pool, 2);
}

/* Around passes, and begun between two dispatches. */
static void
run_own_statistics_outside(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkQueryPool pool = stream_queries(s, VK_QUERY_TYPE_PIPELINE_STATISTICS, 2);
	VkCommandBuffer cb = begin_on(s, s->graphics);
	vkCmdResetQueryPool(cb, pool, 0, 2);
	vkCmdBeginQuery(cb, pool, 0, 0);
	stream_draw_pass(cb, &t, 2);
	vkCmdEndQuery(cb, pool, 0);
	vkCmdDispatch(cb, 1, 1, 1);
	vkCmdBeginQuery(cb, pool, 1, 0);
	vkCmdDispatch(cb, 1, 1, 1);
	vkCmdEndQuery(cb, pool, 1);
	stream_draw_pass(cb, &t, 1);
	finish_on(s, s->queue, cb);
	print_results(s, pool, 2);
}

/* Statistics enabled, a mesh draw under no query of its own. */
static void
run_own_statistics_mesh(struct stream *s)
{
	FUNCTION(vkCmdDrawMeshTasksEXT);
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = begin_on(s, s->graphics);
	stream_begin_pass(cb, &t, VK_SUBPASS_CONTENTS_INLINE);
	p_vkCmdDrawMeshTasksEXT(cb, 1, 1, 1);
	vkCmdEndRenderPass(cb);
	finish_on(s, s->queue, cb);
}

/* A pass with mesh draws, and one without. */
static void
run_own_statistics_meshes(struct stream *s)
{
	FUNCTION(vkCmdDrawMeshTasksEXT);
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = begin_on(s, s->graphics);
	stream_begin_pass(cb, &t, VK_SUBPASS_CONTENTS_INLINE);
	vkCmdDraw(cb, 3, 1, 0, 0);
	p_vkCmdDrawMeshTasksEXT(cb, 1, 1, 1);
	vkCmdEndRenderPass(cb);
	stream_draw_pass(cb, &t, 2);
	finish_on(s, s->queue, cb);
}

/* In the second pass the query begins after a draw; the third has none. */
static void
run_own_statistics_late(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkQueryPool pool = stream_queries(s, VK_QUERY_TYPE_PIPELINE_STATISTICS, 1);
	VkCommandBuffer cb = begin_on(s, s->graphics);
	vkCmdResetQueryPool(cb, pool, 0, 1);
	stream_draw_pass(cb, &t, 2);
	stream_begin_pass(cb, &t, VK_SUBPASS_CONTENTS_INLINE);
	vkCmdDraw(cb, 3, 1, 0, 0);
	vkCmdBeginQuery(cb, pool, 0, 0);
	vkCmdDraw(cb, 3, 1, 0, 0);
	vkCmdEndQuery(cb, pool, 0);
	vkCmdDraw(cb, 3, 1, 0, 0);
	vkCmdEndRenderPass(cb);
	stream_draw_pass(cb, &t, 1);
	finish_on(s, s->queue, cb);
	print_results(s, pool, 1);
}

/* Secondaries: one begins its own query in a pass, one runs inside a query of the primary, and one
 * of both kinds does neither. */
static void
run_own_statistics_secondaries(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkQueryPool pool = stream_queries(s, VK_QUERY_TYPE_PIPELINE_STATISTICS, 2);
	VkCommandBuffer inner[4];
	for (uint32_t i = 0; i < 4; i++) {
		VkCommandBufferInheritanceInfo in = {
			.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
			.renderPass = i < 2 ? t.pass : VK_NULL_HANDLE,
			.pipelineStatistics = i == 3 ? 0x7ff : 0,
		};
		VkCommandBufferBeginInfo info = {
			.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
			.flags = i < 2 ? VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT : 0,
			.pInheritanceInfo = &in,
		};
		inner[i] = stream_buffer(s, s->graphics, true);
		CHECK(vkBeginCommandBuffer(inner[i], &info));
		if (i >= 2)
			vkCmdDispatch(inner[i], 1, 1, 1);
		else
			vkCmdDraw(inner[i], 3, 1, 0, 0);
		if (i == 1) {
			vkCmdBeginQuery(inner[i], pool, 0, 0);
			vkCmdDraw(inner[i], 3, 1, 0, 0);
			vkCmdEndQuery(inner[i], pool, 0);
		}
		stream_end(s, inner[i]);
	}
	VkCommandBuffer cb = begin_on(s, s->graphics);
	vkCmdResetQueryPool(cb, pool, 0, 2);
	for (uint32_t i = 0; i < 2; i++) {
		stream_begin_pass(cb, &t, VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
		vkCmdExecuteCommands(cb, 1, &inner[i]);
		vkCmdEndRenderPass(cb);
	}
	vkCmdExecuteCommands(cb, 1, &inner[2]);
	vkCmdBeginQuery(cb, pool, 1, 0);
	vkCmdExecuteCommands(cb, 1, &inner[3]);
	vkCmdEndQuery(cb, pool, 1);
	finish_on(s, s->queue, cb);
	print_results(s, pool, 2);
}

static void
run_own_queries(struct stream *s)
{
	if (!s->families[s->graphics].timestampValidBits)
		stream_skip(s, "no stamps");
	struct target t = stream_target(s, 1, NULL);
	VkQueryPool samples = stream_queries(s, VK_QUERY_TYPE_OCCLUSION, 1);
	VkQueryPool stamps = stream_queries(s, VK_QUERY_TYPE_TIMESTAMP, 2);
	VkDeviceMemory memory;
	VkBuffer buffer = stream_make_buffer(s, 256, &memory);
	VkCommandBuffer cb = begin_on(s, s->graphics);
	vkCmdResetQueryPool(cb, samples, 0, 1);
	vkCmdResetQueryPool(cb, stamps, 0, 2);
	vkCmdWriteTimestamp(cb, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, stamps, 0);
	stream_begin_pass(cb, &t, VK_SUBPASS_CONTENTS_INLINE);
	vkCmdBeginQuery(cb, samples, 0, VK_QUERY_CONTROL_PRECISE_BIT);
	vkCmdDraw(cb, 3, 1, 0, 0);
	vkCmdEndQuery(cb, samples, 0);
	vkCmdEndRenderPass(cb);
	vkCmdWriteTimestamp2(cb, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, stamps, 1);
	vkCmdCopyQueryPoolResults(cb, samples, 0, 1, buffer, 0, 8, VK_QUERY_RESULT_64_BIT);
	finish_on(s, s->queue, cb);
	print_results(s, samples, 1);
	void *bytes;
	uint64_t copied = 0;
	CHECK(vkMapMemory(s->device, memory, 0, VK_WHOLE_SIZE, 0, &bytes));
	memcpy(&copied, bytes, sizeof(copied));
	printf("copied %llu\n", (unsigned long long)copied);
	vkUnmapMemory(s->device, memory);
}

const struct scene stream_work[] = {
	{ "compute", 0, run_compute },
	{ "copies", 0, run_copies },
	{ "rays", WISH_RAYS, run_rays },
	{ "video", WISH_VIDEO, run_video },
	{ "per_tile", 0, run_per_tile },
	{ "labels", WISH_LABELS, run_labels },
	{ "markers", WISH_MARKERS, run_markers },
	{ "own_statistics_inside", WISH_STATISTICS, run_own_statistics_inside },
	{ "own_statistics_outside", WISH_STATISTICS, run_own_statistics_outside },
	{ "own_statistics_mesh", WISH_STATISTICS | WISH_MESH, run_own_statistics_mesh },
	{ "own_statistics_meshes", WISH_STATISTICS | WISH_MESH, run_own_statistics_meshes },
	{ "own_statistics_late", WISH_STATISTICS, run_own_statistics_late },
	{ "own_statistics_secondaries", WISH_STATISTICS | WISH_INHERITED,
	  run_own_statistics_secondaries },
	{ "own_queries", 0, run_own_queries },
	{ NULL, 0, NULL },
};

/* SPDX-License-Identifier: MIT */
/* Render passes in all their forms. tests/live/vk_call_stream.py lists what each of them
 * contains. */
#include "tests/apps/vk_stream.h"

static VkCommandBuffer
primary(struct stream *s)
{
	VkCommandBuffer cb = stream_buffer(s, s->graphics, false);
	stream_begin(s, cb, 0);
	return cb;
}

static void
finish(struct stream *s, VkCommandBuffer cb)
{
	stream_end(s, cb);
	stream_run(s, s->queue, 1, &cb);
}

static void
run_render_pass(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = primary(s);
	stream_draw_pass(cb, &t, 3);
	stream_begin_pass(cb, &t, VK_SUBPASS_CONTENTS_INLINE);
	vkCmdDrawIndexed(cb, 6, 2, 0, 0, 0);
	vkCmdEndRenderPass(cb);
	finish(s, cb);
}

static void
run_subpasses(struct stream *s)
{
	struct target t = stream_target(s, 3, NULL);
	VkSubpassBeginInfo begin = { .sType = VK_STRUCTURE_TYPE_SUBPASS_BEGIN_INFO };
	VkSubpassEndInfo end = { .sType = VK_STRUCTURE_TYPE_SUBPASS_END_INFO };
	VkCommandBuffer cb = primary(s);
	VkRenderPassBeginInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
		.renderPass = t.pass,
		.framebuffer = t.framebuffer,
		.renderArea = { { 0, 0 }, { t.width, t.height } },
	};
	vkCmdBeginRenderPass2(cb, &info, &begin);
	vkCmdDraw(cb, 3, 1, 0, 0);
	vkCmdNextSubpass2(cb, &begin, &end);
	vkCmdDraw(cb, 3, 1, 0, 0);
	vkCmdNextSubpass(cb, VK_SUBPASS_CONTENTS_INLINE);
	vkCmdDraw(cb, 3, 1, 0, 0);
	vkCmdEndRenderPass2(cb, &end);
	finish(s, cb);
}

static void
run_rendering(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = primary(s);
	stream_begin_rendering(cb, &t, 0, 0);
	vkCmdDraw(cb, 4, 2, 0, 0);
	vkCmdEndRendering(cb);
	finish(s, cb);
}

static void
run_newer_end(struct stream *s)
{
	typedef void(VKAPI_PTR * PFN_vkCmdEndRendering2KHR)(VkCommandBuffer, const void *);
	FUNCTION(vkCmdEndRendering2KHR);
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = primary(s);
	for (int i = 0; i < 2; i++) {
		stream_begin_rendering(cb, &t, 0, 0);
		vkCmdDraw(cb, 3, 1, 0, 0);
		p_vkCmdEndRendering2KHR(cb, NULL);
	}
	finish(s, cb);
}

static void
run_suspend_one(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = primary(s);
	stream_begin_rendering(cb, &t, VK_RENDERING_SUSPENDING_BIT, 0);
	vkCmdDraw(cb, 3, 1, 0, 0);
	vkCmdEndRendering(cb);
	stream_begin_rendering(cb, &t, VK_RENDERING_RESUMING_BIT, 0);
	vkCmdDraw(cb, 3, 1, 0, 0);
	vkCmdEndRendering(cb);
	finish(s, cb);
}

/* Over three command buffers, the middle one both resuming and suspending. */
static void
run_suspend_across(struct stream *s)
{
	static const VkRenderingFlags flags[3] = {
		VK_RENDERING_SUSPENDING_BIT,
		VK_RENDERING_SUSPENDING_BIT | VK_RENDERING_RESUMING_BIT,
		VK_RENDERING_RESUMING_BIT,
	};
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cbs[3];
	for (int i = 0; i < 3; i++) {
		cbs[i] = primary(s);
		if (i == 0)
			vkCmdFillBuffer(cbs[i], stream_make_buffer(s, 256, NULL), 0, 256, 0);
		stream_begin_rendering(cbs[i], &t, flags[i], 0);
		vkCmdDraw(cbs[i], 3, 1, 0, 0);
		vkCmdEndRendering(cbs[i]);
		stream_end(s, cbs[i]);
	}
	stream_run(s, s->queue, 3, cbs);
}

static VkCommandBuffer
inside(struct stream *s, const struct target *t, bool dynamic, uint32_t draws,
       VkCommandBufferUsageFlags flags)
{
	VkCommandBuffer cb = stream_buffer(s, s->graphics, true);
	stream_begin_inside(s, cb, dynamic ? VK_NULL_HANDLE : t->pass,
			    dynamic ? VK_NULL_HANDLE : t->framebuffer, flags);
	for (uint32_t i = 0; i < draws; i++)
		vkCmdDraw(cb, 3, 1, 0, 0);
	stream_end(s, cb);
	return cb;
}

static void
run_secondary(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer inner[2] = { inside(s, &t, false, 1, 0), inside(s, &t, false, 2, 0) };
	VkCommandBuffer cb = primary(s);
	stream_begin_pass(cb, &t, VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
	vkCmdExecuteCommands(cb, 2, inner);
	vkCmdEndRenderPass(cb);
	finish(s, cb);
}

static void
run_secondary_rendering(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer inner = inside(s, &t, true, 2, 0);
	VkCommandBuffer cb = primary(s);
	stream_begin_rendering(cb, &t, VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT, 0);
	vkCmdExecuteCommands(cb, 1, &inner);
	vkCmdEndRendering(cb);
	finish(s, cb);
}

/* The second subpass turns out to use secondaries: no query may be active around it. */
static void
run_secondary_later(struct stream *s)
{
	struct target t = stream_target(s, 2, NULL);
	VkCommandBuffer inner = stream_buffer(s, s->graphics, true);
	VkCommandBufferInheritanceInfo in = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
		.renderPass = t.pass,
		.subpass = 1,
	};
	VkCommandBufferBeginInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT,
		.pInheritanceInfo = &in,
	};
	CHECK(vkBeginCommandBuffer(inner, &info));
	vkCmdDraw(inner, 3, 1, 0, 0);
	stream_end(s, inner);
	VkCommandBuffer cb = primary(s);
	stream_begin_pass(cb, &t, VK_SUBPASS_CONTENTS_INLINE);
	vkCmdDraw(cb, 3, 1, 0, 0);
	vkCmdNextSubpass(cb, VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
	vkCmdExecuteCommands(cb, 1, &inner);
	vkCmdEndRenderPass(cb);
	finish(s, cb);
}

/* The secondary has its own work: a dispatch and a whole render pass. */
static void
run_secondary_outside(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer inner = stream_buffer(s, s->graphics, true);
	stream_begin(s, inner, 0);
	vkCmdDispatch(inner, 2, 3, 1);
	stream_begin_rendering(inner, &t, 0, 0);
	vkCmdDraw(inner, 3, 1, 0, 0);
	vkCmdEndRendering(inner);
	stream_end(s, inner);
	VkCommandBuffer cb = primary(s);
	stream_draw_pass(cb, &t, 2);
	vkCmdExecuteCommands(cb, 1, &inner);
	stream_draw_pass(cb, &t, 4);
	finish(s, cb);
}

static void
run_nested(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer deepest = inside(s, &t, false, 2, 0);
	VkCommandBuffer middle = stream_buffer(s, s->graphics, true);
	stream_begin_inside(s, middle, t.pass, t.framebuffer, 0);
	vkCmdDraw(middle, 3, 1, 0, 0);
	vkCmdExecuteCommands(middle, 1, &deepest);
	stream_end(s, middle);
	VkCommandBuffer cb = primary(s);
	stream_begin_pass(cb, &t, VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
	vkCmdExecuteCommands(cb, 1, &middle);
	vkCmdEndRenderPass(cb);
	finish(s, cb);
}

/* One secondary with SIMULTANEOUS_USE is used twice in a primary that runs twice. */
static void
run_secondary_reused(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer inner =
		inside(s, &t, false, 1, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
	VkCommandBuffer cb = primary(s);
	for (int i = 0; i < 2; i++) {
		stream_begin_pass(cb, &t, VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
		vkCmdExecuteCommands(cb, 1, &inner);
		vkCmdEndRenderPass(cb);
	}
	stream_end(s, cb);
	stream_run(s, s->queue, 1, &cb);
	stream_run(s, s->queue, 1, &cb);
}

/* One secondary without SIMULTANEOUS_USE moves from one primary to the next. */
static void
run_secondary_moves(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer inner = inside(s, &t, false, 3, 0);
	VkCommandBuffer cb = stream_buffer(s, s->graphics, false);
	for (int i = 0; i < 3; i++) {
		stream_begin(s, cb, 0);
		stream_begin_pass(cb, &t, VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
		vkCmdExecuteCommands(cb, 1, &inner);
		vkCmdEndRenderPass(cb);
		finish(s, cb);
	}
}

static void
run_multiview(struct stream *s)
{
	static const uint32_t masks[1] = { 3 };
	struct target t = stream_target(s, 1, masks);
	VkCommandBuffer cb = primary(s);
	stream_draw_pass(cb, &t, 2);
	stream_begin_rendering(cb, &t, 0, 7);
	vkCmdDraw(cb, 3, 1, 0, 0);
	vkCmdEndRendering(cb);
	finish(s, cb);
}

static void
run_multiview_subpasses(struct stream *s)
{
	static const uint32_t masks[2] = { 3, 1 };
	struct target t = stream_target(s, 2, masks);
	VkCommandBuffer cb = primary(s);
	stream_begin_pass(cb, &t, VK_SUBPASS_CONTENTS_INLINE);
	vkCmdDraw(cb, 3, 1, 0, 0);
	vkCmdNextSubpass(cb, VK_SUBPASS_CONTENTS_INLINE);
	vkCmdDraw(cb, 3, 1, 0, 0);
	vkCmdEndRenderPass(cb);
	finish(s, cb);
}

/* Suspended halves with views: timestamps that must be written inside count as several. */
static void
run_multiview_suspended(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cbs[2];
	for (int i = 0; i < 2; i++) {
		cbs[i] = primary(s);
		stream_begin_rendering(
			cbs[i], &t,
			i ? VK_RENDERING_RESUMING_BIT : VK_RENDERING_SUSPENDING_BIT, 3);
		vkCmdDraw(cbs[i], 3, 1, 0, 0);
		vkCmdEndRendering(cbs[i]);
		stream_end(s, cbs[i]);
	}
	stream_run(s, s->queue, 2, cbs);
}

static void
run_mesh(struct stream *s)
{
	FUNCTION(vkCmdDrawMeshTasksEXT);
	struct target t = stream_target(s, 1, NULL);
	VkCommandBuffer cb = primary(s);
	stream_begin_pass(cb, &t, VK_SUBPASS_CONTENTS_INLINE);
	p_vkCmdDrawMeshTasksEXT(cb, 8, 1, 1);
	p_vkCmdDrawMeshTasksEXT(cb, 8, 1, 1);
	vkCmdEndRenderPass(cb);
	vkCmdDispatch(cb, 1, 1, 1);
	finish(s, cb);
}

static void
run_conditional(struct stream *s)
{
	FUNCTION(vkCmdBeginConditionalRenderingEXT);
	FUNCTION(vkCmdEndConditionalRenderingEXT);
	struct target t = stream_target(s, 1, NULL);
	VkConditionalRenderingBeginInfoEXT info = {
		.sType = VK_STRUCTURE_TYPE_CONDITIONAL_RENDERING_BEGIN_INFO_EXT,
		.buffer = stream_make_buffer(s, 256, NULL),
	};
	VkCommandBuffer cb = primary(s);
	p_vkCmdBeginConditionalRenderingEXT(cb, &info);
	stream_draw_pass(cb, &t, 1);
	p_vkCmdEndConditionalRenderingEXT(cb);
	stream_draw_pass(cb, &t, 2);
	finish(s, cb);
}

static void
run_indirect(struct stream *s)
{
	struct target t = stream_target(s, 1, NULL);
	VkBuffer buffer = stream_make_buffer(s, 1024, NULL);
	VkCommandBuffer cb = primary(s);
	stream_begin_pass(cb, &t, VK_SUBPASS_CONTENTS_INLINE);
	vkCmdDrawIndirect(cb, buffer, 0, 4, 16);
	vkCmdEndRenderPass(cb);
	stream_begin_pass(cb, &t, VK_SUBPASS_CONTENTS_INLINE);
	vkCmdDrawIndirectCount(cb, buffer, 0, buffer, 512, 4, 16);
	vkCmdEndRenderPass(cb);
	finish(s, cb);
}

const struct scene stream_passes[] = {
	{ "render_pass", 0, run_render_pass },
	{ "subpasses", 0, run_subpasses },
	{ "rendering", 0, run_rendering },
	{ "newer_end", 0, run_newer_end },
	{ "suspend_one", 0, run_suspend_one },
	{ "suspend_across", 0, run_suspend_across },
	{ "secondary", 0, run_secondary },
	{ "secondary_rendering", 0, run_secondary_rendering },
	{ "secondary_later", 0, run_secondary_later },
	{ "secondary_outside", 0, run_secondary_outside },
	{ "nested", WISH_NESTED, run_nested },
	{ "secondary_reused", 0, run_secondary_reused },
	{ "secondary_moves", 0, run_secondary_moves },
	{ "multiview", 0, run_multiview },
	{ "multiview_subpasses", 0, run_multiview_subpasses },
	{ "multiview_suspended", 0, run_multiview_suspended },
	{ "mesh", WISH_MESH, run_mesh },
	{ "conditional", WISH_CONDITIONAL, run_conditional },
	{ "indirect", 0, run_indirect },
	{ NULL, 0, NULL },
};

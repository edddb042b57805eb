/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/secondary.h"

#include "vk_layer/record/slots_sources.h"
#include "vk_layer/record/targets.h"
#include "vk_layer/record/workloads.h"

const VkCommandBufferBeginInfo *
vk_inherit(const struct vk_command *c, uint32_t family, const VkCommandBufferBeginInfo *info,
	   VkCommandBufferBeginInfo *copy, VkCommandBufferInheritanceInfo *inherit)
{
	const struct vk_device *d = c->device;
	if (!c->secondary || !info->pInheritanceInfo || !d->enabled.inherited_queries ||
	    d->enabled.counts_inside)
		return info;
	if (!(info->flags & VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT) &&
	    d->config->granularity >= TALLY_GRANULARITY_PASS)
		return info;
	VkQueryPipelineStatisticFlags ours = vk_slots_inherited(c->device, family);
	if (!ours)
		return info;
	*inherit = *info->pInheritanceInfo;
	inherit->pipelineStatistics |= ours;
	*copy = *info;
	copy->pInheritanceInfo = inherit;
	return copy;
}

/* The number of slots that one query takes inside: the views of the pass that it continues. */
static uint32_t
inherited_views(struct vk_device *d, const VkCommandBufferInheritanceInfo *inherit)
{
	if (inherit->renderPass) {
		VkRenderPassBeginInfo info = {
			.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
			.renderPass = inherit->renderPass,
			.framebuffer = inherit->framebuffer,
		};
		struct vk_target_use scratch;
		return vk_target_of_render_pass(d, &info, &scratch)->views;
	}
	const VkCommandBufferInheritanceRenderingInfo *rendering = vk_find_in_chain(
		inherit->pNext, VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_RENDERING_INFO);
	int views = rendering ? __builtin_popcount(rendering->viewMask) : 0;
	return views ? (uint32_t)views : 1;
}

static bool
counts_itself(const struct vk_command *c)
{
	const struct vk_device *d = c->device;
	const struct vk_recording *r = c->recording;
	return d->config->granularity >= TALLY_GRANULARITY_PASS && !c->measures_draws &&
	       !r->simultaneous && !r->idle && !r->is_protected && d->enabled.host_reset &&
	       (!d->enabled.inherited_queries || d->enabled.counts_inside) &&
	       vk_slots_cover((struct vk_device *)d, r->family, VK_MEASURE_COUNT);
}

void
vk_inherited_begin(struct vk_command *c, const VkCommandBufferInheritanceInfo *inherit)
{
	struct vk_device *d = c->device;
	struct vk_recording *r = c->recording;
	c->open.kind = VK_OPEN_INHERITED;
	c->counts = !c->measures_draws;
	if (!inherit)
		return;
	bool counts = counts_itself(c);
	if (vk_yields(c))
		c->flags |= TALLY_FLAG(YIELDED);
	if (!counts && !c->measures_draws)
		return;
	c->open.views = (uint8_t)inherited_views(d, inherit);
	if (!counts)
		return;
	if (!vk_interval_take(c, VK_INSIDE_SECONDARY, VK_MEASURE_COUNT & vk_measures_now(c),
			      c->open.views, false))
		return;
	if (c->late.on || d->enabled.counts_inside) {
		c->late.waiting = r->own.sources;
		c->intervals[VK_INSIDE_SECONDARY].state = VK_INTERVAL_RUNNING;
		c->counts = 0;
		return;
	}
	vk_interval_run(c, VK_INSIDE_SECONDARY, false);
}

static void
end_own(struct vk_command *c)
{
	if (c->intervals[VK_INSIDE_SECONDARY].state != VK_INTERVAL_RUNNING)
		return;
	vk_late_end_secondary(c, vk_interval_slot(c, VK_INSIDE_SECONDARY));
	c->intervals[VK_INSIDE_SECONDARY].state = VK_INTERVAL_DONE;
	c->counts = !c->measures_draws;
}

void
vk_inherited_yield(struct vk_command *c)
{
	end_own(c);
	c->recording->own = (struct vk_slot){ 0 };
	vk_recording_miss(c->recording, NULL);
}

void
vk_inherited_end(struct vk_command *c)
{
	vk_workload_end(c);
	end_own(c);
	vk_pass_count_inherited(c);
	c->open.kind = VK_OPEN_NOTHING;
	c->counts = 0;
}

/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/intervals.h"

#include "vk_layer/record/open.h"
#include "vk_layer/record/slots_sources.h"

bool
vk_interval_take(struct vk_command *c, enum vk_around around, unsigned what, uint32_t views,
		 bool resets)
{
	struct vk_recording *r = c->recording;
	struct vk_slot *slot = vk_interval_slot(c, around);
	*slot = vk_slots_take(c->device, &r->runs, r->family, what, views, resets);
	c->intervals[around] = (struct vk_interval){
		.state = VK_INTERVAL_VOID,
		.counts = slot->page ? what & VK_MEASURE_COUNT : 0,
	};
	return slot->page != NULL;
}

/* lavapipe copies on the CPU when it comes to the command, and writes a timestamp with the drawing
 * that follows, or at a barrier: without one a copy would lie before its own beginning. Mesa 22.3.6
 * to 26.2. */
static void
write_now(struct vk_command *c)
{
	const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	if (c->open.kind == VK_OPEN_WORK && vk_slots_read_waits(c->device))
		c->device->next.use.CmdPipelineBarrier(c->handle, all, all, 0, 0, NULL, 0, NULL, 0,
						       NULL);
}

void
vk_interval_run(struct vk_command *c, enum vk_around around, bool resets)
{
	vk_slot_begin(c->device, c->handle, vk_interval_slot(c, around), resets);
	c->intervals[around].state = VK_INTERVAL_RUNNING;
	write_now(c);
}

void
vk_interval_end(struct vk_command *c, enum vk_around around)
{
	struct vk_interval *interval = &c->intervals[around];
	if (interval->state == VK_INTERVAL_RUNNING)
		vk_slot_end(c->device, c->handle, vk_interval_slot(c, around));
	*interval = (struct vk_interval){ .state = VK_INTERVAL_DONE };
}

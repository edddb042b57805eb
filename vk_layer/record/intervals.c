/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/intervals.h"

#include "vk_layer/record/open.h"

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

void
vk_interval_run(struct vk_command *c, enum vk_around around, bool resets)
{
	vk_slot_begin(c->device, c->handle, vk_interval_slot(c, around), resets);
	c->intervals[around].state = VK_INTERVAL_RUNNING;
}

void
vk_interval_yield(struct vk_command *c, enum vk_around around, unsigned what)
{
	struct vk_interval *interval = &c->intervals[around];
	what &= interval->counts;
	interval->counts &= (uint8_t)~what;
	vk_slot_yield(c->device, c->handle, vk_interval_slot(c, around), what);
}

void
vk_interval_end(struct vk_command *c, enum vk_around around)
{
	struct vk_interval *interval = &c->intervals[around];
	if (interval->state == VK_INTERVAL_RUNNING)
		vk_slot_end(c->device, c->handle, vk_interval_slot(c, around));
	*interval = (struct vk_interval){ .state = VK_INTERVAL_DONE };
}

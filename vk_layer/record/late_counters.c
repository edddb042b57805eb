/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/late_counters.h"

#include "vk_layer/record/open.h"
#include "vk_layer/record/slots_sources.h"

static struct vk_slot *
late_slot(struct vk_command *c)
{
	struct vk_pass *p = vk_open_pass(c);
	return p ? &p->slot : &c->recording->own;
}

void
vk_late_hold(struct vk_command *c, struct vk_slot *slot, unsigned what)
{
	struct vk_late *late = &c->late;
	late->waiting = slot->sources & vk_slots_sources(c->device, c->recording->family, what);
	slot->sources &= ~late->waiting;
}

void
vk_late_begin(struct vk_command *c)
{
	c->late.on = false; /* a pipeline stays bound until the end of the command buffer */
	if (!c->late.waiting)
		return;
	struct vk_slot counters = *late_slot(c);
	counters.sources = c->late.waiting;
	counters.halves = 0;
	c->late.waiting = 0;
	c->counts = 1;
	/* Without host reset: with the pass's timestamps. */
	vk_slot_begin(c->device, c->handle, &counters, true);
	c->late.counting = counters.sources;
}

void
vk_late_end(struct vk_command *c)
{
	if (!c->late.counting)
		return;
	struct vk_slot counters = *late_slot(c);
	counters.sources = c->late.counting;
	counters.halves = TALLY_VK_BEGIN;
	vk_slot_end(c->device, c->handle, &counters);
	c->late.done = c->late.counting;
	c->late.counting = 0;
}

void
vk_late_yield(struct vk_command *c)
{
	if (c->late.waiting)
		c->counts = 1;
	vk_late_end(c);
	c->late.waiting = c->late.done = 0;
}

void
vk_late_end_pass(struct vk_command *c, struct vk_slot *slot)
{
	if (slot->sources)
		vk_slot_end(c->device, c->handle, slot);
	else if (c->late.done)
		slot->halves = TALLY_VK_BOTH;
	else
		*slot = (struct vk_slot){ 0 };
	slot->sources |= c->late.done;
	c->late.done = c->late.waiting = 0;
}

void
vk_late_end_secondary(struct vk_command *c, struct vk_slot *slot)
{
	if (c->late.waiting) { /* no draw came */
		*slot = (struct vk_slot){ 0 };
	} else if (c->late.counting) {
		vk_late_end(c);
		slot->halves = TALLY_VK_BOTH;
	} else {
		vk_slot_end(c->device, c->handle, slot);
	}
	c->late.waiting = c->late.done = 0;
}

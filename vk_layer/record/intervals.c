#include "vk_layer/record/intervals.h"

#include "vk_layer/record/command.h"

bool
vk_may_query(const struct vk_command *c)
{
	const struct vk_recording *r = c->recording;
	return !r->simultaneous && !r->idle && !c->no_queries && !c->suspended;
}

unsigned
vk_bracket_now(const struct vk_command *c)
{
	/* Protected command buffers may contain timestamps, but no other queries. */
	if (c->recording->is_protected)
		return VK_BRACKET_TIME;
	return c->game_statistics ? VK_BRACKET_ALL & ~VK_BRACKET_STATISTICS : VK_BRACKET_ALL;
}

struct vk_pass *
vk_open_pass(const struct vk_command *c)
{
	return c->has_pass ? &c->recording->passes[c->open_pass] : NULL;
}

struct vk_slot *
vk_interval_slot(const struct vk_command *c, enum vk_around around)
{
	struct vk_recording *r = c->recording;
	struct vk_pass *p;
	switch (around) {
	case VK_AROUND_PRIMARY:
		return &r->whole;
	case VK_AROUND_BUFFER:
		return &r->buffer;
	case VK_AROUND_PASS:
		p = vk_open_pass(c);
		return p ? &p->slot : NULL;
	case VK_AROUND_WORKLOAD:
		return r->n_workloads ? &r->workloads[r->n_workloads - 1].slot : NULL;
	default:
		return &r->own;
	}
}

bool
vk_interval_take(struct vk_command *c, enum vk_around around, unsigned what, uint32_t views,
		 bool resets)
{
	struct vk_recording *r = c->recording;
	struct vk_slot *slot = vk_interval_slot(c, around);
	*slot = vk_slots_take(c->device, &r->runs, r->family, what, views, resets);
	c->intervals[around] = (struct vk_interval){
		.state = VK_INTERVAL_VOID,
		.counts = slot->page ? what & VK_BRACKET_COUNT : 0,
	};
	return slot->page != NULL;
}

void
vk_interval_run(struct vk_command *c, enum vk_around around, bool resets)
{
	vk_slot_begin(c->device, c->handle, c->recording->family, vk_interval_slot(c, around),
		      resets);
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

/* SPDX-License-Identifier: MIT */
/* vk_layer/record/open.h - what is open in a command buffer, and what may begin there.
 *
 * Inline, because every pass uses it several times. For the recording thread; nothing waits,
 * locks or changes anything.
 */
#ifndef PASSTALLY_VK_LAYER_OPEN_H
#define PASSTALLY_VK_LAYER_OPEN_H

#include "vk_layer/record/command.h"
#include "vk_layer/record/slots_sources.h"

/* The open pass; NULL when there is none or it was dropped. */
static inline struct vk_pass *
vk_open_pass(const struct vk_command *c)
{
	return c->open.has_pass ? &c->recording->passes[c->open_pass] : NULL;
}

/* Where the interval's slot is stored; NULL when there is no open pass, or no workload. */
static inline struct vk_slot *
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

/* Whether a query may begin here. */
static inline bool
vk_may_query(const struct vk_command *c)
{
	const struct vk_recording *r = c->recording;
	return !r->simultaneous && !r->idle && !c->game.no_queries && !c->suspended;
}

/* The counters that the device, the command buffer and the game's queries allow here. */
static inline unsigned
vk_measures_now(const struct vk_command *c)
{
	/* Protected command buffers may contain timestamps, but no other queries. */
	if (c->recording->is_protected)
		return VK_MEASURE_TIME;
	return c->game.statistics ? VK_MEASURE_ALL & ~VK_MEASURE_STATISTICS : VK_MEASURE_ALL;
}

/* Whether what is open here has no statistics because of the game's own. */
static inline bool
vk_yields(const struct vk_command *c)
{
	return c->game.statistics && !c->measures_draws &&
	       vk_slots_cover(c->device, c->recording->family, VK_MEASURE_STATISTICS);
}

/* Whether anything was done since the last bind of a pipeline. */
static inline bool
vk_worked_since_bind(const struct vk_command *c)
{
	const struct tally_call_counts *now = &c->call_counts, *before = &c->bound.before;
	return now->draws != before->draws || now->calls != before->calls ||
	       now->dispatches != before->dispatches;
}

#endif

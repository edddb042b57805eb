/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/workloads.h"

#include "vk_layer/record/slots_sources.h"

static bool
is_open(const struct vk_command *c)
{
	enum vk_interval_state state = c->intervals[VK_AROUND_WORKLOAD].state;
	return state == VK_INTERVAL_VOID || state == VK_INTERVAL_RUNNING;
}

void
vk_workload_begin(struct vk_command *c, const char *command, unsigned what)
{
	struct vk_recording *r = c->recording;
	struct vk_pass *p = vk_open_pass(c);
	if (!c->measures_draws || is_open(c) || (!p && c->open.kind != VK_OPEN_INHERITED))
		return;
	struct vk_workload *w = vk_recording_add_workload(r, command);
	if (!w) {
		vk_recording_miss(r, p);
		c->flags |= TALLY_FLAG(DROPPED);
		return;
	}
	if (p)
		p->n_workloads++;
	if (c->bound.on)
		w->pipeline = vk_pipeline_in_use(c);
	c->intervals[VK_AROUND_WORKLOAD].state = VK_INTERVAL_VOID;
	c->outer_flags = c->flags;
	c->flags = c->game.statistics ? TALLY_FLAG(YIELDED) : 0;
	what &= vk_measures_now(c);
	if (c->late.on)
		what &= ~(unsigned)VK_MEASURE_STATISTICS;
	bool inside = c->open.kind != VK_OPEN_WORK;
	if (inside && c->device->times_of_tiles)
		w->flags |= TALLY_FLAG(NO_TIMESTAMPS);
	uint32_t views = inside ? c->open.views : 1;
	if (!c->game.no_queries && vk_interval_take(c, VK_AROUND_WORKLOAD, what, views, !inside))
		vk_interval_run(c, VK_AROUND_WORKLOAD, !inside);
	/* The pass's counters are the sums over its workloads. */
	uint32_t counting = vk_slots_sources(c->device, r->family, VK_MEASURE_COUNT);
	bool is_inner = vk_slots_scope(c->device, r->runs.set) == TALLY_SCOPE_WORKLOAD;
	if (!w->slot.page || (is_inner && !(w->slot.sources & counting)))
		vk_recording_miss(r, p);
}

void
vk_workload_end(struct vk_command *c)
{
	if (!is_open(c))
		return;
	struct vk_recording *r = c->recording;
	vk_interval_end(c, VK_AROUND_WORKLOAD);
	r->workloads[r->n_workloads - 1].flags |= c->flags;
	c->flags |= c->outer_flags;
}

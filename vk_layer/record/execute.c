/* SPDX-License-Identifier: MIT */
/* vk_layer/record/execute.c - vkCmdExecuteCommands: secondaries in primaries.
 *
 * A secondary that executes inside a render pass adds to the primary's pass; one that executes
 * outside has its own passes. Where queries are inherited (R24) a query of the primary counts
 * both; where they are not, each secondary inside a pass counts for itself (R25). A secondary
 * for simultaneous use may execute twice at once and contains no query: its passes are not
 * measured.
 */
#include "vk_layer/record/passes.h"
#include "vk_layer/record/secondary.h"

/* The workloads of a secondary are in the list of the pass that they belong to. */
static bool
copy_workloads(struct vk_recording *to, struct vk_pass *p, struct vk_recording *from)
{
	for (uint32_t i = 0; i < from->n_workloads; i++) {
		struct vk_workload *w = vk_recording_add_workload(
			to, from->workloads[i].command);
		if (!w)
			return false;
		*w = from->workloads[i];
		w->owner = w->owner ? w->owner : from;
		if (p)
			p->n_workloads++;
	}
	return true;
}

/* Its counters become part of the pass; if they cannot, the pass has none. */
static bool
join_counters(struct vk_command *c, struct vk_pass *p, struct vk_recording *s)
{
	struct vk_recording *r = c->recording;
	const struct tally_call_counts *t = &s->call_counts;
	bool works = t->draws | t->dispatches | t->copies | t->clears;
	if (!works && !s->unknown && !s->uncounted)
		return true;
	if (c->measures_draws)
		return copy_workloads(r, p, s) && s->n_workloads && !s->uncounted;
	if (!c->open.sums)
		return true; /* counted by the pass's own query, if at all */
	if (s->uncounted || !s->own.page || !p || !vk_recording_add_inner(r, s))
		return false;
	p->n_inner++;
	return true;
}

static void
execute_inside(struct vk_command *c, struct vk_recording *s)
{
	struct vk_recording *r = c->recording;
	struct vk_pass *p = vk_open_pass(c);
	if (!s) { /* unknown secondary: its contribution is missing */
		c->flags |= TALLY_FLAG(INCOMPLETE);
		c->unknown |= TALLY_UNKNOWN_DRAWS | TALLY_UNKNOWN_VERTICES |
			      TALLY_UNKNOWN_INSTANCES | TALLY_UNKNOWN_CLEARS;
	} else {
		if (c->bound.on)
			vk_pipelines_count(c);
		tally_call_counts_add(&c->call_counts, &s->call_counts);
		if (c->bound.on)
			vk_pipelines_join(c, s);
		c->unknown |= s->unknown;
		c->flags |= s->flags;
	}
	bool holds = s && (s->n_items || s->n_passes || s->own.page || s->n_workloads);
	bool listed = !holds || vk_recording_add_execute(r, s);
	bool counted = s && listed && join_counters(c, p, s);
	if (!counted && (!s || c->open.sums || c->measures_draws))
		vk_recording_miss(r, p);
}

/* ---- outside a render pass ---- */

/* Begins or yields the interval around the command buffer before secondaries are executed. */
static void
begin_around(struct vk_command *c, const struct vk_recording *first)
{
	if (first && first->starts_resuming) {
		if (!c->suspended && !c->intervals[VK_AROUND_PRIMARY].state)
			c->recording->starts_resuming = true;
		c->intervals[VK_AROUND_PRIMARY].state = VK_INTERVAL_VOID;
	} else {
		vk_whole_begin(c);
	}
	vk_whole_yield(c, c->device->enabled.inherited_queries ? VK_MEASURE_PERFORMANCE
							       : VK_MEASURE_COUNT);
}

static void
list_executed(struct vk_recording *r, struct vk_recording *s)
{
	if (!s)
		r->broken = true;
	else if (s->n_items || s->n_passes)
		vk_recording_add_execute(r, s);
	r->uncounted |= !s || s->uncounted || (s->simultaneous && s->n_passes);
}

static void
execute_outside(struct vk_command *c, uint32_t n, const VkCommandBuffer *secondaries)
{
	vk_pass_close_any(c);
	begin_around(c, n ? vk_recording_submitted(secondaries[0]) : NULL);
	for (uint32_t i = 0; i < n; i++)
		list_executed(c->recording, vk_recording_submitted(secondaries[i]));
	const struct vk_recording *last =
		n ? vk_recording_submitted(secondaries[n - 1]) : NULL;
	c->suspended =
		last && last->ends_suspended ? VK_SUSPENDED_UNLISTED : VK_SUSPENDED_NONE;
}

void
vk_execute_begin(struct vk_command *c, uint32_t n, const VkCommandBuffer *secondaries)
{
	if (!vk_recording_of(c))
		return;
	vk_buffer_yield(c);
	if (c->open.kind != VK_OPEN_RENDER && c->open.kind != VK_OPEN_INHERITED) {
		execute_outside(c, n, secondaries);
		return;
	}
	/* It may not be active inside the secondary, and cannot continue afterwards. */
	if (c->intervals[VK_INSIDE_SECONDARY].state == VK_INTERVAL_RUNNING)
		vk_inherited_yield(c);
	for (uint32_t i = 0; i < n; i++)
		execute_inside(c, vk_recording_submitted(secondaries[i]));
}

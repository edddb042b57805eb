/* SPDX-License-Identifier: MIT */
/* vk_layer/record/execute.c - vkCmdExecuteCommands: secondaries in primaries.
 *
 * A secondary that executes inside a render pass adds to the primary's pass; one that executes
 * outside has its own passes. Where queries are inherited (R24) a query of the primary counts
 * both; where they are not, each secondary inside a pass counts for itself (R25). A secondary
 * for simultaneous use may execute twice at once and contains no query: it is measured around
 * vkCmdExecuteCommands, or not at all.
 */
#include "vk_layer/record/passes.h"
#include "vk_layer/record/targets.h"

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
			vk_pipelines_join(c, s, false);
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

/* Copies its labels, without its passes. */
static void
copy_labels(struct vk_recording *to, const struct vk_recording *from)
{
	for (uint32_t i = 0; i < from->n_items; i++) {
		const struct vk_item *item = &from->items[i];
		if (item->kind == VK_ITEM_EXECUTE)
			copy_labels(to, item->secondary);
		else if (item->kind == VK_ITEM_LABEL_BEGIN)
			vk_recording_add_label(to, true, from->text + item->text);
		else if (item->kind == VK_ITEM_LABEL_END)
			vk_recording_add_label(to, false, NULL);
	}
	to->lost_labels += from->lost_labels;
}

/* The sum of executed recordings for simultaneous use, as one pass. */
struct summary {
	struct tally_call_counts call_counts;
	uint32_t unknown;
	uint64_t flags;
	uint32_t n_passes;
	enum tally_pass_kind kind; /* render if any of them is, otherwise that of the first */
	const struct vk_pass *only;
};

static void
add_pass(struct summary *sum, const struct vk_pass *p)
{
	tally_call_counts_add(&sum->call_counts, &p->call_counts);
	sum->unknown |= p->unknown;
	sum->flags |= p->flags;
	sum->only = sum->n_passes++ ? NULL : p;
	if (sum->n_passes == 1 || p->kind == TALLY_PASS_RENDER)
		sum->kind = p->kind;
}

static void
sum_up(struct summary *sum, const struct vk_recording *s)
{
	for (uint32_t i = 0, n = 0; i <= s->n_items; i++) {
		while (n < vk_passes_before(s, i))
			add_pass(sum, &s->passes[n++]);
		if (i < s->n_items && s->items[i].kind == VK_ITEM_EXECUTE)
			sum_up(sum, s->items[i].secondary);
	}
}

/* One pass around the call, for secondaries that contain no queries. */
static void
measure_simultaneous(struct vk_command *c, uint32_t n, const VkCommandBuffer *secondaries)
{
	struct vk_device *d = c->device;
	struct summary sum = { 0 };
	for (uint32_t i = 0; i < n; i++)
		sum_up(&sum, vk_recording_submitted(secondaries[i]));
	if (sum.n_passes) {
		struct vk_pass *p = vk_pass_open(c, sum.kind);
		c->open.kind = VK_OPEN_WORK;
		c->open.work_kind = (uint8_t)sum.kind;
		c->call_counts = sum.call_counts;
		c->unknown = sum.unknown;
		c->flags |= sum.flags;
		if (p && sum.only) {
			p->target = sum.only->target;
			p->load = sum.only->load;
			p->store = sum.only->store;
			p->surface = sum.only->surface;
		}
		bool holds = d->enabled.inherited_queries && !d->enabled.counts_inside;
		unsigned what = VK_MEASURE_TIME | (holds ? VK_MEASURE_STATISTICS : 0);
		vk_pass_measure(c, p, what & vk_measures_now(c), 1);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct vk_recording *s = vk_recording_submitted(secondaries[i]);
		copy_labels(c->recording, s);
		if (c->bound.on)
			vk_pipelines_join(c, s, true);
	}
}

/* Whether all have SIMULTANEOUS_USE, with no half of a suspended render pass among them. */
static bool
all_simultaneous(uint32_t n, const VkCommandBuffer *secondaries)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct vk_recording *s = vk_recording_submitted(secondaries[i]);
		if (!s || !s->simultaneous || s->starts_resuming || s->ends_suspended)
			return false;
	}
	return n > 0;
}

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
	bool together = !c->recording->simultaneous && !c->suspended &&
			c->device->config->granularity >= TALLY_GRANULARITY_PASS;
	if (together && all_simultaneous(n, secondaries)) {
		measure_simultaneous(c, n, secondaries);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		list_executed(c->recording, vk_recording_submitted(secondaries[i]));
	const struct vk_recording *last = n ? vk_recording_submitted(secondaries[n - 1]) : NULL;
	c->suspended = last && last->ends_suspended ? VK_SUSPENDED_UNLISTED : VK_SUSPENDED_NONE;
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

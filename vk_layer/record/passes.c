/* SPDX-License-Identifier: MIT */
/* vk_layer/record/passes.c - opening and closing passes; render passes; the interval around a
 * primary.
 *
 * The slot of a pass begins before the command that begins the pass and ends after the one that
 * ends it, so that nothing is recorded inside (except with granularity draw). Between the
 * halves of a suspended render pass nothing may be recorded at all: the timestamps are before
 * the first half and after the last.
 */
#include "vk_layer/record/passes.h"

#include "vk_layer/picture/picture.h"
#include "vk_layer/record/counted.h"
#include "vk_layer/record/slots_sources.h"
#include "vk_layer/record/targets.h"
#include "vk_layer/record/workloads.h"

/* Properties of a render pass instance, apart from its target. */
struct render_how {
	bool secondaries; /* the whole (first) subpass comes from secondaries */
	bool mixed; /* both inline and from secondaries */
	bool suspends, resumes;
};

static bool
measures_passes(const struct vk_command *c)
{
	return c->device->config->granularity >= TALLY_GRANULARITY_PASS &&
	       vk_may_query(c);
}

/* ---- around a whole primary ---- */

/* Not done in vkBeginCommandBuffer: the first command may resume a pass that another command
 * buffer suspended, and nothing may be recorded before it. */
void
vk_whole_begin(struct vk_command *c)
{
	struct vk_recording *r = c->recording;
	struct vk_interval *interval = &c->intervals[VK_AROUND_PRIMARY];
	if (interval->state || c->suspended || r->secondary || r->simultaneous ||
	    r->idle)
		return;
	interval->state = VK_INTERVAL_VOID;
	struct vk_device *d = c->device;
	if (c->game.performance)
		return;
	bool coarse = d->config->granularity <= TALLY_GRANULARITY_SUBMIT;
	unsigned what = coarse ? vk_measures_now(c) : VK_MEASURE_TIME;
	if (d->enabled.counts_inside || c->late.on)
		what &= ~(unsigned)VK_MEASURE_STATISTICS;
	bool taken = vk_interval_take(c, VK_AROUND_PRIMARY, what, 1, true);
	uint32_t counting = vk_slots_sources(d, r->family, VK_MEASURE_COUNT);
	r->uncounted |= coarse && !((r->whole.sources | r->buffer.sources) & counting);
	if (taken)
		vk_interval_run(c, VK_AROUND_PRIMARY, true);
}

void
vk_whole_yield(struct vk_command *c, unsigned what)
{
	struct vk_interval *interval = &c->intervals[VK_AROUND_PRIMARY];
	what &= interval->counts;
	if (!what)
		return;
	if (what & VK_MEASURE_STATISTICS)
		c->recording->uncounted = true;
	else
		c->recording->no_performance = true;
	interval->counts &= (uint8_t)~what;
	vk_slot_yield(c->device, c->handle, vk_interval_slot(c, VK_AROUND_PRIMARY), what);
}

void
vk_whole_end(struct vk_command *c)
{
	struct vk_recording *r = c->recording;
	struct vk_device *d = c->device;
	if (c->suspended || r->secondary || r->simultaneous || r->idle)
		return;
	/* The last part of a chain: only the host can reset its slot here. */
	if (r->starts_resuming && d->enabled.host_reset && !c->game.performance)
		r->whole = vk_slots_take(d, &r->runs, r->family, VK_MEASURE_TIME, 1,
					 false);
	if (r->whole.page)
		vk_slot_end(d, c->handle, &r->whole);
	c->intervals[VK_AROUND_PRIMARY].counts = 0;
}

/* ---- counters of whole command buffers ---- */

void
vk_buffer_begin(struct vk_command *c)
{
	struct vk_recording *r = c->recording;
	struct vk_device *d = c->device;
	if (r->secondary || r->simultaneous || r->idle || r->is_protected ||
	    vk_slots_scope(d, vk_slots_choose(d, &r->runs)) != TALLY_SCOPE_SUBMISSION ||
	    atomic_load_explicit(&d->no_buffer_queries, memory_order_relaxed))
		return;
	if (vk_interval_take(c, VK_AROUND_BUFFER, VK_MEASURE_BUFFER, 1, true))
		vk_interval_run(c, VK_AROUND_BUFFER, true);
}

/* The query's end had to be the last command, so what it counted is invalid. This happens only
 * once, because no more such queries are begun. */
void
vk_buffer_yield(struct vk_command *c)
{
	atomic_store(&c->device->no_buffer_queries, true);
	if (c->intervals[VK_AROUND_BUFFER].state != VK_INTERVAL_RUNNING)
		return;
	vk_interval_end(c, VK_AROUND_BUFFER);
	c->recording->buffer = (struct vk_slot){ 0 };
	c->recording->no_performance = true;
}

/* ---- any pass ---- */

struct vk_pass *
vk_pass_open(struct vk_command *c, enum tally_pass_kind kind)
{
	struct vk_recording *r = c->recording;
	vk_counts_begin(c);
	c->open.sums = false;
	c->open.has_pass = vk_has_room(r) || vk_recording_room_for_pass(r);
	return c->open.has_pass ? vk_pass_append(c, kind) : NULL;
}

void
vk_pass_measure(struct vk_command *c, struct vk_pass *p, unsigned what, uint32_t views)
{
	bool waits = c->open.kind == VK_OPEN_RENDER && (what & VK_MEASURE_STATISTICS) &&
		     (c->late.on || c->device->enabled.counts_inside);
	if (c->late.on && !waits) /* only draws would be counted */
		what &= ~(unsigned)VK_MEASURE_STATISTICS;
	if (!p || !measures_passes(c))
		return;
	if (!vk_interval_take(c, VK_AROUND_PASS, what, views, true))
		return;
	if (waits)
		vk_late_hold(c, &p->slot, VK_MEASURE_STATISTICS);
	vk_interval_run(c, VK_AROUND_PASS, true);
}

/* Adds the counts of what is open to those of `to`. */
static inline void
add_counts(struct vk_command *c, struct tally_call_counts *to, uint32_t *unknown, uint64_t *flags)
{
	vk_counts_end(c);
	tally_call_counts_add(to, &c->call_counts);
	*unknown |= c->unknown;
	*flags |= c->flags;
}

void
vk_pass_count_inherited(struct vk_command *c)
{
	struct vk_recording *r = c->recording;
	if (c->bound.on)
		vk_pipelines_end_pass(c);
	add_counts(c, &r->call_counts, &r->unknown, &r->flags);
}

/* Its slot has ended: counts, and afterwards no pass is open. */
static inline void
close_counts(struct vk_command *c, struct vk_pass *p)
{
	if (c->bound.on)
		vk_pipelines_end_pass(c);
	if (p && p->uncounted) {
		p->n_inner = 0;
		c->recording->uncounted = true;
	} else if (p && c->open.plan != VK_PLAN_FULL) {
		vk_pass_close_planned(c, p);
		return;
	}
	if (p)
		add_counts(c, &p->call_counts, &p->unknown, &p->flags);
	c->open = (struct vk_open_work){ .views = 1 };
	c->counts = 0;
}

void
vk_pass_close(struct vk_command *c)
{
	struct vk_pass *p = vk_open_pass(c);
	if (c->measures_draws)
		vk_workload_end(c);
	if (c->late.counting) /* a command that the layer does not know ended the pass here */
		vk_late_end(c);
	if (p && p->slot.page)
		vk_late_end_pass(c, &p->slot);
	c->intervals[VK_AROUND_PASS].state = VK_INTERVAL_DONE;
	close_counts(c, p);
}

void
vk_pass_close_any(struct vk_command *c)
{
	switch (c->open.kind) {
	case VK_OPEN_RENDER: /* ended by a command that the layer does not know */
		if (c->open.has_pass)
			c->flags |= TALLY_FLAG(APPROXIMATE);
		vk_pass_close(c);
		break;
	case VK_OPEN_WORK:
	case VK_OPEN_VIDEO:
		vk_pass_close(c);
		break;
	case VK_OPEN_INHERITED:
	case VK_OPEN_NOTHING:
		break;
	}
}

/* ---- render passes ---- */

/* All of it is recorded here: no part comes from secondaries. */
static bool
is_inline(const struct vk_target_use *use, const struct render_how *how)
{
	return !how->secondaries && !how->mixed && use->subpasses <= 1;
}

/* The counters that may be recorded around it (R21-R24). A later subpass may come from
 * secondaries, which a performance query must never enclose. */
static unsigned
may_hold(const struct vk_command *c, const struct vk_target_use *use,
	 const struct render_how *how)
{
	const struct vk_enabled *enabled = &c->device->enabled;
	bool whole = is_inline(use, how);
	unsigned holds = 0;
	if (how->suspends || how->resumes || (use->subpasses > 1 && use->views > 1))
		return 0;
	if (whole || (enabled->inherited_queries && !enabled->counts_inside))
		holds |= VK_MEASURE_STATISTICS;
	if (whole)
		holds |= VK_MEASURE_PERFORMANCE;
	return holds;
}

/* Draws are measured one by one; counters that may not begin inside the render pass count
 * around all of them. */
static unsigned
outside_draws(const struct vk_command *c)
{
	struct vk_recording *r = c->recording;
	uint32_t set = vk_slots_choose(c->device, &r->runs);
	return vk_slots_scope(c->device, set) == TALLY_SCOPE_PASS ? VK_MEASURE_PERFORMANCE
								  : 0;
}

static bool
counts_draws(const struct vk_command *c)
{
	return !c->measures_draws && !c->late.waiting;
}

/* The render pass that this command buffer suspended continues: it is the same pass. */
static void
resume_chain(struct vk_command *c, const struct render_how *how)
{
	c->suspended = VK_SUSPENDED_NONE;
	c->open.has_pass = true;
	vk_counts_begin(c);
	c->recording->passes[c->open_pass].suspended = how->suspends;
}

static void
measure_render(struct vk_command *c, struct vk_pass *p, unsigned counts,
	       const struct render_how *how)
{
	bool holds = counts & VK_MEASURE_STATISTICS;
	if (c->measures_draws)
		counts &= outside_draws(c);
	unsigned what = (VK_MEASURE_TIME | counts) & vk_measures_now(c);
	c->open.sums = how->secondaries && !holds && !c->measures_draws &&
		       !how->suspends && !how->resumes;
	if (vk_yields(c))
		c->flags |= TALLY_FLAG(YIELDED);
	if (!how->resumes)
		vk_pass_measure(c, p, what, c->open.views);
}

static void
open_render(struct vk_command *c, const struct vk_target_use *use,
	    const struct render_how *how)
{
	struct vk_recording *r = c->recording;
	unsigned counts = r->idle ? 0 : may_hold(c, use, how);
	if (how->suspends || how->resumes)
		vk_buffer_yield(c);
	c->open.kind = VK_OPEN_RENDER;
	c->open.suspending = how->suspends;
	c->open.views = (uint8_t)(use->views ? use->views : 1);
	if (how->resumes && c->suspended == VK_SUSPENDED_PASS) {
		resume_chain(c, how);
		c->counts = counts_draws(c);
		return;
	}
	if (how->resumes) {
		if (!c->intervals[VK_AROUND_PRIMARY].state && !c->suspended)
			r->starts_resuming = true;
		c->intervals[VK_AROUND_PRIMARY].state = VK_INTERVAL_VOID;
	} else if (!r->idle) {
		c->suspended = VK_SUSPENDED_NONE;
		vk_whole_begin(c);
		vk_whole_yield(c, use->views > 1 ? VK_MEASURE_COUNT
						 : VK_MEASURE_COUNT & ~counts);
	}
	struct vk_pass *p = vk_pass_open(c, TALLY_PASS_RENDER);
	if (!r->idle)
		measure_render(c, p, counts, how);
	c->suspended = VK_SUSPENDED_NONE;
	c->counts = counts_draws(c);
	if (!p)
		return;
	vk_pass_set_target(p, use);
	p->suspended = how->suspends;
	p->resuming = how->resumes;
}

/* VK_SUBPASS_CONTENTS_INLINE_AND_SECONDARY_COMMAND_BUFFERS_EXT and the flag for
 * dynamic rendering are newer than Debian's headers; everything that is neither inline nor all
 * secondary is mixed. */
#define RENDERING_CONTENTS_INLINE_BIT 0x10u

/* The plan of the recording, where it holds for this render pass. The first one that is measured
 * also begins the interval around its command buffer. */
static inline enum vk_plan
plan_render(const struct vk_command *c, const struct vk_target_use *use,
	    const struct render_how *how)
{
	if (how->suspends || how->resumes || !vk_has_room(c->recording))
		return VK_PLAN_FULL;
	bool ordinary = c->intervals[VK_AROUND_PRIMARY].state && !c->late.on &&
			!c->game.no_queries && is_inline(use, how) && use->views <= 1;
	return c->plan == VK_PLAN_COUNT || ordinary ? c->plan : VK_PLAN_FULL;
}

/* False: there is none left. */
static bool
begin_slot(struct vk_command *c, struct vk_pass *p)
{
	struct vk_slot_runs *runs = &c->recording->runs;
	if (!vk_slots_take_next(c->device, runs, &p->slot) &&
	    !vk_interval_take(c, VK_AROUND_PASS, VK_MEASURE_ALL, 1, true))
		return false;
	vk_slot_begin(c->device, c->handle, &p->slot, true);
	return true;
}

static inline bool
may_begin_render(struct vk_command *c)
{
	return vk_recording_of(c) && c->open.kind != VK_OPEN_INHERITED;
}

static inline void
begin_render(struct vk_command *c, const struct vk_target_use *use, const struct render_how *how)
{
	if (c->open.kind != VK_OPEN_NOTHING)
		vk_pass_close_any(c);
	enum vk_plan plan = plan_render(c, use, how);
	if (plan == VK_PLAN_FULL) {
		open_render(c, use, how);
		return;
	}
	struct vk_pass *p = vk_pass_open_planned(c, use, plan);
	if (plan == VK_PLAN_ONE_SLOT && !begin_slot(c, p))
		c->open.plan = VK_PLAN_COUNT;
}

void
vk_render_pass_begin(struct vk_command *c, const VkRenderPassBeginInfo *info,
		     VkSubpassContents contents)
{
	if (!may_begin_render(c))
		return;
	struct vk_target_use scratch;
	bool secondaries = contents == VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS;
	struct render_how how = {
		.secondaries = secondaries,
		.mixed = !secondaries && contents != VK_SUBPASS_CONTENTS_INLINE,
	};
	begin_render(c, vk_target_of_render_pass(c->device, info, &scratch), &how);
}

void
vk_rendering_begin(struct vk_command *c, const VkRenderingInfo *info)
{
	if (!may_begin_render(c))
		return;
	struct vk_target_use scratch;
	VkRenderingFlags flags = info->flags;
	bool secondaries = flags & VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT;
	bool inlines = flags & RENDERING_CONTENTS_INLINE_BIT;
	struct render_how how = {
		.secondaries = secondaries && !inlines,
		.mixed = secondaries && inlines,
		.suspends = flags & VK_RENDERING_SUSPENDING_BIT,
		.resumes = flags & VK_RENDERING_RESUMING_BIT,
	};
	begin_render(c, vk_target_of_rendering(c->device, info, &scratch), &how);
}

void
vk_render_pass_next(struct vk_command *c, VkSubpassContents contents)
{
	struct vk_pass *p = c->open.kind == VK_OPEN_RENDER ? vk_open_pass(c) : NULL;
	if (p && c->open.sums &&
	    contents != VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS)
		vk_recording_miss(c->recording, p);
}

static void
end_slot(struct vk_command *c, struct vk_pass *p)
{
	if (p->slot.sources)
		vk_slot_end(c->device, c->handle, &p->slot);
	else /* replaced by the game's own query */
		p->slot = (struct vk_slot){ 0 };
}

/* With the plan FULL. */
static void
end_render(struct vk_command *c)
{
	struct vk_recording *r = c->recording;
	struct vk_pass *p = vk_open_pass(c);
	if (c->open.suspending) {
		if (c->bound.on)
			vk_pipelines_end_pass(c);
		if (p)
			add_counts(c, &p->call_counts, &p->unknown, &p->flags);
		c->open.kind = VK_OPEN_NOTHING;
		c->counts = 0;
		c->suspended = c->open.has_pass ? VK_SUSPENDED_PASS : VK_SUSPENDED_UNLISTED;
		c->open.has_pass = false;
		return;
	}
	/* Begun in another command buffer: this is the end half, in a slot that only the host
	 * can reset. */
	if (p && p->resuming && measures_passes(c) && c->device->enabled.host_reset)
		p->slot = vk_slots_take(c->device, &r->runs, r->family, VK_MEASURE_TIME,
					1, false);
	vk_pass_close(c);
	if (p && r->pictures)
		vk_pictures_end(c, (uint32_t)(p - r->passes));
}

void
vk_render_ended(struct vk_command *c)
{
	if (c->open.kind != VK_OPEN_RENDER)
		return;
	if (c->open.plan == VK_PLAN_FULL) {
		end_render(c);
		return;
	}
	struct vk_pass *p = &c->recording->passes[c->open_pass];
	if (c->open.plan == VK_PLAN_ONE_SLOT)
		end_slot(c, p);
	close_counts(c, p);
}

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

#include "layer/base/clear.h"
#include "vk_layer/record/again.h"
#include "vk_layer/record/targets.h"

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
	if (interval->state || c->chain.suspended || r->secondary || r->simultaneous ||
	    r->idle)
		return;
	interval->state = VK_INTERVAL_VOID;
	struct vk_device *d = c->device;
	/* A performance query of the game may have to be the last command. */
	if (d->enabled.game_performance)
		return;
	bool coarse = d->config->granularity <= TALLY_GRANULARITY_SUBMIT;
	unsigned what = coarse ? vk_measures_now(c) : VK_MEASURE_TIME;
	if (d->enabled.game_statistics || c->late.on)
		what &= ~(unsigned)VK_MEASURE_STATISTICS;
	bool taken = vk_interval_take(c, VK_AROUND_PRIMARY, what, 1, true);
	uint32_t counting = vk_slots_sources(d, r->family, VK_MEASURE_COUNT);
	r->uncounted |= coarse && !c->late.on && !(r->whole.sources & counting);
	if (taken)
		vk_interval_run(c, VK_AROUND_PRIMARY, true);
}

void
vk_whole_yield(struct vk_command *c, unsigned what)
{
	what &= c->intervals[VK_AROUND_PRIMARY].counts;
	if (!what)
		return;
	if (what & VK_MEASURE_STATISTICS)
		c->recording->uncounted = true;
	else
		c->recording->no_performance = true;
	vk_interval_yield(c, VK_AROUND_PRIMARY, what);
}

void
vk_whole_end(struct vk_command *c)
{
	struct vk_recording *r = c->recording;
	struct vk_device *d = c->device;
	if (c->chain.suspended || r->secondary || r->simultaneous || r->idle)
		return;
	/* The last part of a chain: only the host can reset its slot here. */
	if (r->starts_resuming && d->enabled.host_reset && !d->enabled.game_performance)
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

static inline void
clear_pass(struct vk_pass *p, enum tally_pass_kind kind)
{
	tally_clear(p, offsetof(struct vk_pass, last_use));
	p->last_use.described = false;
	p->kind = (uint8_t)kind;
	p->surface = -1;
}

/* Appends a pass, for which there is room. */
static inline struct vk_pass *
append_pass(struct vk_command *c, enum tally_pass_kind kind)
{
	struct vk_recording *r = c->recording;
	c->open_pass = r->n_passes++;
	struct vk_pass *p = &r->passes[c->open_pass];
	clear_pass(p, kind);
	p->first_inner = r->n_inner;
	p->first_workload = r->n_workloads;
	return p;
}

struct vk_pass *
vk_pass_open(struct vk_command *c, enum tally_pass_kind kind)
{
	struct vk_recording *r = c->recording;
	vk_counts_begin(c);
	c->open.sums = false;
	c->open.has_pass = vk_has_room(r) || vk_recording_room_for_pass(r);
	return c->open.has_pass ? append_pass(c, kind) : NULL;
}

void
vk_pass_measure(struct vk_command *c, struct vk_pass *p, unsigned what, uint32_t views)
{
	bool late = c->late.on && (what & VK_MEASURE_STATISTICS);
	bool waits = late && c->open.kind == VK_OPEN_RENDER;
	if (late && !waits) /* only draws would be counted */
		what &= ~(unsigned)VK_MEASURE_STATISTICS;
	/* Granularity frame and submit count around the whole primary, except
	 * where counters begin late. */
	bool measures = measures_passes(c);
	if (!measures && waits)
		what = VK_MEASURE_STATISTICS;
	if (!p || !vk_may_query(c) || (!measures && !waits))
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
	add_counts(c, &r->call_counts, &r->unknown, &r->flags);
}

/* Without a slot: counts, and afterwards no pass is open. */
static inline void
close_unmeasured(struct vk_command *c)
{
	struct vk_pass *p = vk_open_pass(c);
	if (p && p->uncounted) {
		p->n_inner = 0;
		c->recording->uncounted = true;
	}
	c->open.sums = false;
	if (p && (c->open.bare || c->open.usual)) {
		vk_pass_close_kept(c, p);
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
	close_unmeasured(c);
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
	if (!enabled->game_statistics && (whole || enabled->inherited_queries))
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
	c->chain.suspended = false;
	c->chain.has_pass = false;
	c->open.has_pass = true;
	vk_counts_begin(c);
	c->recording->passes[c->open_pass].suspended = how->suspends;
}

static void
measure_render(struct vk_command *c, struct vk_pass *p, unsigned counts,
	       const struct render_how *how)
{
	struct vk_device *d = c->device;
	bool holds = counts & VK_MEASURE_STATISTICS;
	if (c->measures_draws)
		counts &= outside_draws(c);
	unsigned what = (VK_MEASURE_TIME | counts) & vk_measures_now(c);
	c->open.sums = how->secondaries && !holds && !c->measures_draws &&
		       !how->suspends && !how->resumes;
	if (d->enabled.game_statistics && !c->measures_draws &&
	    vk_slots_cover(d, c->recording->family, VK_MEASURE_STATISTICS))
		c->flags |= TALLY_FLAG(YIELDED);
	if (c->late.on && !holds && !c->open.sums)
		c->recording->uncounted = true; /* nor any counters around it */
	if (!how->resumes)
		vk_pass_measure(c, p, what, c->open.views);
}

static void
set_target(struct vk_pass *p, const struct vk_target_use *use)
{
	p->target = use->target;
	p->load = (uint8_t)use->load;
	p->store = (uint8_t)use->store;
	p->surface = use->surface;
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
	if (how->resumes && c->chain.suspended && c->chain.has_pass) {
		resume_chain(c, how);
		c->counts = counts_draws(c);
		return;
	}
	if (how->resumes) {
		if (!c->intervals[VK_AROUND_PRIMARY].state && !c->chain.suspended)
			r->starts_resuming = true;
		c->intervals[VK_AROUND_PRIMARY].state = VK_INTERVAL_VOID;
	} else if (!r->idle) {
		c->chain.suspended = false;
		vk_whole_begin(c);
		vk_whole_yield(c, use->views > 1 ? VK_MEASURE_COUNT
						 : VK_MEASURE_COUNT & ~counts);
	}
	struct vk_pass *p = vk_pass_open(c, TALLY_PASS_RENDER);
	if (!r->idle)
		measure_render(c, p, counts, how);
	c->chain.suspended = false;
	c->chain.has_pass = false;
	c->counts = counts_draws(c);
	if (!p)
		return;
	set_target(p, use);
	p->suspended = how->suspends;
	p->resuming = how->resumes;
}

static bool
enter_render(struct vk_command *c)
{
	if (!vk_recording_of(c) || c->open.kind == VK_OPEN_INHERITED)
		return false;
	if (c->open.kind != VK_OPEN_NOTHING)
		vk_pass_close_any(c);
	return true;
}

/* VK_SUBPASS_CONTENTS_INLINE_AND_SECONDARY_COMMAND_BUFFERS_EXT and the flag for
 * dynamic rendering are newer than Debian's headers; everything that is neither inline nor all
 * secondary is mixed. */
#define RENDERING_CONTENTS_INLINE_BIT 0x10u

/* Whether open_render() would surround this render pass with everything that counts here, and
 * decide nothing else. */
static inline bool
is_usual(const struct vk_command *c, const struct vk_target_use *use)
{
	return c->usual && c->intervals[VK_AROUND_PRIMARY].state && !c->late.on &&
	       !c->game.no_queries && use->subpasses <= 1 && use->views <= 1;
}

/* False: there is no query. */
static inline bool
measure_usual(struct vk_command *c)
{
	struct vk_recording *r = c->recording;
	if (r->idle || !c->measures)
		return false;
	struct vk_slot *slot = &r->passes[c->open_pass].slot;
	if (vk_slots_take_usual(c->device, &r->runs, slot))
		c->intervals[VK_AROUND_PASS].counts = VK_MEASURE_COUNT;
	else if (!vk_interval_take(c, VK_AROUND_PASS, VK_MEASURE_ALL, 1, true))
		return false;
	vk_slot_begin(c->device, c->handle, slot, true);
	c->intervals[VK_AROUND_PASS].state = VK_INTERVAL_RUNNING;
	c->open.usual = true;
	return true;
}

/* The fast path: the recording had the same pass here before, and it has no query or is an
 * ordinary one, all inline. */
static inline __attribute__((always_inline)) bool
open_again(struct vk_command *c, const struct vk_begin *begin, bool all_inline)
{
	const struct vk_recording *r = vk_recording_of(c);
	if (!r || c->open.kind != VK_OPEN_NOTHING || !vk_has_room(r))
		return false;
	struct vk_pass *p = &r->passes[r->n_passes];
	const struct vk_target_use *use = p->last_use.use;
	if (!use || !vk_last_use_is(begin, &p->last_use) ||
	    (!c->bare && !(all_inline && is_usual(c, use))))
		return false;
	if (!p->last_use.described) {
		clear_pass(p, TALLY_PASS_RENDER);
		set_target(p, use);
		p->last_use.described = true;
	}
	vk_pass_open_kept(c, p);
	c->open.bare = !measure_usual(c);
	return true;
}

static __attribute__((noinline)) void
begin_render(struct vk_command *c, const struct vk_begin *begin, const struct render_how *how)
{
	if (!enter_render(c))
		return;
	struct vk_target_use scratch;
	struct vk_recording *r = c->recording;
	struct vk_last_use none = { .use = NULL }, *last = &none;
	if (vk_has_room(r))
		last = &r->passes[r->n_passes].last_use;
	last->described = false; /* the description is that of another pass */
	const struct vk_target_use *use = vk_target_again(c->device, begin, last, &scratch);
	if (!open_again(c, begin, !how->secondaries && !how->mixed))
		open_render(c, use, how);
}

void
vk_render_pass_begin(struct vk_command *c, const VkRenderPassBeginInfo *info,
		     VkSubpassContents contents)
{
	struct vk_begin begin = vk_begin_pass(c->device, info);
	if (open_again(c, &begin, contents == VK_SUBPASS_CONTENTS_INLINE))
		return;
	struct render_how how = {
		.secondaries = contents == VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS,
		.mixed = contents != VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS &&
			 contents != VK_SUBPASS_CONTENTS_INLINE,
	};
	begin_render(c, &begin, &how);
}

void
vk_rendering_begin(struct vk_command *c, const VkRenderingInfo *info)
{
	VkRenderingFlags flags = info->flags;
	bool secondaries = flags & VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT;
	bool inlines = flags & RENDERING_CONTENTS_INLINE_BIT;
	struct vk_begin begin = vk_begin_rendering(c->device, info);
	if (open_again(c, &begin, !secondaries))
		return;
	struct render_how how = {
		.secondaries = secondaries && !inlines,
		.mixed = secondaries && inlines,
		.suspends = flags & VK_RENDERING_SUSPENDING_BIT,
		.resumes = flags & VK_RENDERING_RESUMING_BIT,
	};
	begin_render(c, &begin, &how);
}

void
vk_render_pass_next(struct vk_command *c, VkSubpassContents contents)
{
	struct vk_pass *p = c->open.kind == VK_OPEN_RENDER ? vk_open_pass(c) : NULL;
	if (p && c->open.sums &&
	    contents != VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS)
		vk_recording_miss(c->recording, p);
}

void
vk_render_end(struct vk_command *c)
{
	if (c->open.kind != VK_OPEN_RENDER)
		return;
	c->counts = 0;
	if (c->late.counting)
		vk_late_end(c);
	if (c->open.bare || (c->recording->idle && !c->open.suspending))
		close_unmeasured(c);
}

static inline void
close_usual(struct vk_command *c)
{
	struct vk_pass *p = &c->recording->passes[c->open_pass];
	if (p->slot.sources)
		vk_slot_end(c->device, c->handle, &p->slot);
	else /* replaced by the game's own query */
		p->slot = (struct vk_slot){ 0 };
	c->intervals[VK_AROUND_PASS].state = VK_INTERVAL_DONE;
	if (p->uncounted)
		close_unmeasured(c);
	else
		vk_pass_close_kept(c, p);
}

void
vk_render_ended(struct vk_command *c)
{
	if (c->open.kind != VK_OPEN_RENDER)
		return;
	if (c->open.usual) {
		close_usual(c);
		return;
	}
	struct vk_recording *r = c->recording;
	struct vk_pass *p = vk_open_pass(c);
	if (c->open.suspending) {
		if (p)
			add_counts(c, &p->call_counts, &p->unknown, &p->flags);
		c->open.kind = VK_OPEN_NOTHING;
		c->counts = 0;
		c->chain.suspended = true;
		c->chain.has_pass = c->open.has_pass;
		c->open.has_pass = false;
		return;
	}
	/* Begun in another command buffer: this is the end half, in a slot that only the host
	 * can reset. */
	if (p && p->resuming && measures_passes(c) && c->device->enabled.host_reset)
		p->slot = vk_slots_take(c->device, &r->runs, r->family, VK_MEASURE_TIME,
					1, false);
	vk_pass_close(c);
}

void
vk_no_queries(struct vk_command *c, bool on)
{
	if (on)
		c->game.no_queries++;
	else if (c->game.no_queries)
		c->game.no_queries--;
}

/* SPDX-License-Identifier: MIT */
/* vk_layer/record/counted.h - render passes that are only counted (VK_PLAN_COUNT), and binds.
 *
 * While nothing is captured a pass should cost a game next to nothing: its end is inline in the
 * wrapper, as is the bind of a pipeline. Everything else is for passes.c, which opens and closes a
 * pass by the same functions. For the recording thread; nothing waits, locks or allocates.
 */
#ifndef PASSTALLY_VK_LAYER_COUNTED_H
#define PASSTALLY_VK_LAYER_COUNTED_H

#include "vk_layer/picture/picture.h"
#include "vk_layer/record/open.h"

static inline void
vk_counts_begin(struct vk_command *c)
{
	c->call_counts = (struct tally_call_counts){ 0 };
	c->unknown = 0;
	c->flags = c->game.flags;
}

/* Completes the counts of what is open. */
static inline void
vk_counts_end(struct vk_command *c)
{
	struct tally_call_counts *t = &c->call_counts;
	if (!c->flags)
		return;
	if (!vk_n_calls(t))
		c->flags &= ~TALLY_FLAG(CONDITIONAL);
	if (!t->draws && !(c->unknown & TALLY_UNKNOWN_DRAWS))
		c->flags &= ~TALLY_FLAG(TRANSFORM_FEEDBACK);
}

/* For one more pass, with nothing to allocate. */
static inline bool
vk_has_room(const struct vk_recording *r)
{
	return r->n_passes < r->room_passes;
}

/* Appends a pass, for which there is room. */
static inline struct vk_pass *
vk_pass_append(struct vk_command *c, enum tally_pass_kind kind)
{
	struct vk_recording *r = c->recording;
	c->open_pass = r->n_passes++;
	struct vk_pass *p = &r->passes[c->open_pass];
	*p = (struct vk_pass){
		.kind = (uint8_t)kind,
		.surface = -1,
		.first_inner = r->n_inner,
		.first_workload = r->n_workloads,
		.first_use = r->n_uses,
	};
	return p;
}

static inline void
vk_pass_set_target(struct vk_pass *p, const struct vk_target_use *use)
{
	p->target = use->target;
	p->load = (uint8_t)use->load;
	p->store = (uint8_t)use->store;
	p->surface = use->surface;
}

/* Opens a render pass by a plan other than FULL. There is room for it, and nothing is open. */
static inline struct vk_pass *
vk_pass_open_planned(struct vk_command *c, const struct vk_target_use *use, enum vk_plan plan)
{
	vk_counts_begin(c);
	struct vk_pass *p = vk_pass_append(c, TALLY_PASS_RENDER);
	vk_pass_set_target(p, use);
	c->counts = 1;
	c->suspended = VK_SUSPENDED_NONE;
	c->open = (struct vk_open_work){
		.kind = VK_OPEN_RENDER,
		.has_pass = true,
		.plan = (uint8_t)plan,
		.views = 1,
	};
	return p;
}

/* Its slot, if it has one, has ended; no work of it was missed. */
static inline void
vk_pass_close_planned(struct vk_command *c, struct vk_pass *p)
{
	vk_counts_end(c);
	p->call_counts = c->call_counts;
	p->unknown = c->unknown;
	p->flags = c->flags;
	c->open = (struct vk_open_work){ .views = 1 };
	c->counts = 0;
}

/* ---- in the wrapper ---- */

/* A render pass has begun, one of both ways. */
static inline void
vk_pass_pictured(struct vk_command *c, const VkRenderPassBeginInfo *pass,
		 const VkRenderingInfo *rendering)
{
	if (c->recording && c->recording->pictures && c->open.kind == VK_OPEN_RENDER)
		vk_pictures_begin(c, pass, rendering);
}

/* Ends a pass; false: it is not only counted, and nothing was done. */
static inline bool
vk_counted_end(struct vk_command *c)
{
	if (c->open.plan != VK_PLAN_COUNT)
		return false;
	struct vk_pass *p = &c->recording->passes[c->open_pass];
	if (p->uncounted || c->bound.on)
		return false;
	vk_pass_close_planned(c, p);
	return true;
}

/* Notes a bind, unless what was done since the last one has to be counted first: false. */
static inline bool
vk_bind_noted(struct vk_command *c, VkPipelineBindPoint point, VkPipeline pipeline)
{
	if (point != VK_PIPELINE_BIND_POINT_GRAPHICS)
		return false;
	uint64_t *bound = &c->bound.pipelines[VK_BIND_GRAPHICS], handle = VK_HANDLE_KEY(pipeline);
	if (*bound != handle && vk_worked_since_bind(c))
		return false;
	*bound = handle;
	return true;
}

#endif

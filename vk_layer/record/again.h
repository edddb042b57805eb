/* SPDX-License-Identifier: MIT */
/* vk_layer/record/again.h - a render pass that the recording had at this place before.
 *
 * Games record the same passes every frame, and an emptied recording keeps its list: the
 * description of such a pass still exists, and only its counts are new. Inline in the wrappers
 * for passes without a query, while nothing is captured or where nothing counts. For the
 * recording thread; nothing waits, locks or allocates.
 */
#ifndef PASSTALLY_VK_LAYER_AGAIN_H
#define PASSTALLY_VK_LAYER_AGAIN_H

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

/* Opens `p`, the recording's next pass, for which there is room and which is described. */
static inline void
vk_pass_open_kept(struct vk_command *c, struct vk_pass *p)
{
	struct vk_recording *r = c->recording;
	uint32_t n = r->n_passes;
	vk_counts_begin(c);
	c->counts = 1;
	c->open = (struct vk_open_work){
		.kind = VK_OPEN_RENDER,
		.has_pass = true,
		.bare = true,
		.views = 1,
	};
	c->open_pass = n;
	c->chain = (struct vk_open_chain){ 0 };
	p->slot = (struct vk_slot){ 0 };
	r->n_passes = n + 1;
}

/* The pass that may be the same as before; NULL: it may have queries, or none was here before. */
static inline struct vk_pass *
vk_pass_before(const struct vk_command *c)
{
	if (!c->bare || c->open.kind != VK_OPEN_NOTHING || !vk_has_room(c->recording))
		return NULL;
	struct vk_pass *p = &c->recording->passes[c->recording->n_passes];
	return p->last_use.described ? p : NULL;
}

/* A render pass begins. False: it may have queries, or differs from the one before; nothing was
 * done. */
static inline __attribute__((always_inline)) bool
vk_pass_again(struct vk_command *c, const VkRenderPassBeginInfo *info)
{
	struct vk_pass *p = vk_pass_before(c);
	if (!p)
		return false;
	struct vk_begin begin = vk_begin_pass(c->device, info);
	if (!vk_last_use_is(&begin, &p->last_use))
		return false;
	vk_pass_open_kept(c, p);
	return true;
}

static inline bool
vk_rendering_again(struct vk_command *c, const VkRenderingInfo *info)
{
	struct vk_pass *p = vk_pass_before(c);
	if (!p)
		return false;
	struct vk_begin begin = vk_begin_rendering(c->device, info);
	if (!vk_last_use_is(&begin, &p->last_use))
		return false;
	vk_pass_open_kept(c, p);
	return true;
}

/* The open pass ends, and is one that open_again() or vk_pass_again() opened. */
static inline void
vk_pass_close_kept(struct vk_command *c, struct vk_pass *p)
{
	vk_counts_end(c);
	p->call_counts = c->call_counts;
	p->unknown = c->unknown;
	p->flags = c->flags;
	c->open = (struct vk_open_work){ .views = 1 };
	c->counts = 0;
}

/* A render pass ends. False: it has a query, or more than counts; nothing was done. */
static inline bool
vk_pass_bare_end(struct vk_command *c)
{
	if (!c->open.bare)
		return false;
	struct vk_pass *p = &c->recording->passes[c->open_pass];
	if (p->uncounted)
		return false;
	vk_pass_close_kept(c, p);
	return true;
}

#endif

/* vk_layer/record/passes.h - what the files that follow a command buffer share.
 *
 * passes.c opens and closes passes; command.c (life of command buffers), work.c (commands outside a
 * render pass) and secondary.c use it. All of it is the recording thread's; nothing waits or locks,
 * but that a new run of slots takes the device's lock. A recording that ran out of memory is marked
 * `broken` and goes on with what it has.
 */
#ifndef PASSTALLY_VK_LAYER_PASSES_H
#define PASSTALLY_VK_LAYER_PASSES_H

#include "vk_layer/record/command.h"

/* ---- recording.c: lists that grow ---- */

/* The old recording, emptied, when nobody else holds it, else another. Takes the reference of
 * `old` (may be NULL). NULL on OOM. */
struct vk_recording *
vk_recording_renew(struct vk_recording *old, struct vk_device *d, uint32_t family);
/* Free what is kept for use again. */
void vk_recordings_trim(struct vk_device *d);
/* Append a zeroed pass and its item; NULL past the ceiling (counted in `dropped`) or on OOM. */
struct vk_pass *vk_recording_add_pass(struct vk_recording *r, enum tally_pass_kind kind);
void vk_recording_add_label(struct vk_recording *r, bool begins, const char *name);
/* Takes a reference of its own; false: not added. */
bool vk_recording_add_execute(struct vk_recording *r, struct vk_recording *secondary);
/* NULL past the ceiling or on OOM. */
struct vk_workload *vk_recording_add_workload(struct vk_recording *r, const char *command);
bool vk_recording_add_inner(struct vk_recording *r, struct vk_recording *owner);

/* ---- passes.c ---- */

/* The recording while it may be written to, or NULL. */
static inline struct vk_recording *
vk_recording_of(const struct vk_command *c)
{
	return c->recording_now ? c->recording : NULL;
}

static inline bool
vk_has_work(const struct tally_call_counts *t)
{
	return t->draws | t->dispatches | t->copies | t->clears;
}

void vk_tallies_add(struct tally_call_counts *to, const struct tally_call_counts *from);
/* Begin what stands around all of a primary, at its first work. */
void vk_whole_begin(struct vk_command *c);
/* These counters of it end here: what follows may not lie inside such a query of ours. */
void vk_whole_yield(struct vk_command *c, unsigned what);
void vk_whole_end(struct vk_command *c);
/* The first command of a primary, and the last; or it has to end before that. */
void vk_buffer_begin(struct vk_command *c);
void vk_buffer_end(struct vk_command *c);
void vk_buffer_yield(struct vk_command *c);
/* A pass that is counted into from now on; may give NULL, and is then only not listed. */
struct vk_pass *vk_pass_open(struct vk_command *c, enum tally_pass_kind kind);
/* Give it its slot and begin it. */
void vk_pass_measure(struct vk_command *c, struct vk_pass *p, unsigned what, uint32_t views);
/* What was counted goes into the pass. */
void vk_pass_count(struct vk_command *c);
/* Count, end the slot; nothing is open any more. */
void vk_pass_close(struct vk_command *c);
/* Close a group of work, or a render pass whose end was never seen; not what is inherited. */
void vk_pass_close_any(struct vk_command *c);

/* ---- workloads.c ---- */

void vk_workload_begin(struct vk_command *c, const char *command);
/* Nothing where none is open. */
void vk_workload_end(struct vk_command *c);

/* ---- secondary.c ---- */

/* The game's begin info, or a copy in which a secondary inherits our statistics (R24). */
const VkCommandBufferBeginInfo *
vk_inherit(const struct vk_command *c, const VkCommandBufferBeginInfo *info,
	   VkCommandBufferBeginInfo *copy, VkCommandBufferInheritanceInfo *inherit);
/* First and last thing in a secondary with RENDER_PASS_CONTINUE. */
void vk_inherited_begin(struct vk_command *c, const VkCommandBufferInheritanceInfo *inherit);
void vk_inherited_end(struct vk_command *c);

/* ---- command.c ---- */

uint32_t vk_pool_family(const struct vk_pool *pool);

#endif

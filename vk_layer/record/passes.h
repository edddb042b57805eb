/* SPDX-License-Identifier: MIT */
/* vk_layer/record/passes.h - shared by the files that record a command buffer.
 *
 * passes.c opens and closes passes; command.c (lifetime of command buffers), work.c (commands
 * outside a render pass) and execute.c use it. All of it is for the recording thread; nothing
 * waits, and no lock is taken except the device's for a new run of slots. A recording that ran
 * out of memory is marked `broken` and continues with what it has.
 */
#ifndef PASSTALLY_VK_LAYER_PASSES_H
#define PASSTALLY_VK_LAYER_PASSES_H

#include "vk_layer/record/open.h"

/* ---- recording.c: lists that grow ---- */

/* The recording, emptied, if it has no other reference; otherwise NULL. Takes over the reference
 * (may be NULL). */
struct vk_recording *vk_recording_empty(struct vk_recording *old);
/* The old recording, emptied, if it has no other reference; otherwise another one. Takes over
 * the reference to `old` (may be NULL). NULL on OOM. */
struct vk_recording *
vk_recording_renew(struct vk_recording *old, struct vk_device *d, uint32_t family);
/* False above the limit or on OOM: a dropped pass, which is counted. */
bool vk_recording_room_for_pass(struct vk_recording *r);
void vk_recording_add_label(struct vk_recording *r, bool begins, const char *name);
/* Adds a separate reference; false: not added. */
bool vk_recording_add_execute(struct vk_recording *r, struct vk_recording *secondary);
/* NULL above the limit or on OOM. */
struct vk_workload *vk_recording_add_workload(struct vk_recording *r, const char *command);
bool vk_recording_add_inner(struct vk_recording *r, struct vk_recording *owner);
/* False above the limit or on OOM. */
bool vk_recording_add_use(struct vk_recording *r, struct tally_pipeline *pipeline,
			  const struct tally_call_counts *call_counts);

/* ---- passes.c ---- */

/* The recording while it may be written to, otherwise NULL. */
static inline struct vk_recording *
vk_recording_of(const struct vk_command *c)
{
	return c->recording_now ? c->recording : NULL;
}

/* Begins the interval around a whole primary, at its first work. */
void vk_whole_begin(struct vk_command *c);
/* Ends these counters of that interval: passtally's query may not enclose the following
 * commands. */
void vk_whole_yield(struct vk_command *c, unsigned what);
void vk_whole_end(struct vk_command *c);
/* Called at the first command of a primary, and where the query has to end before the
 * last. */
void vk_buffer_begin(struct vk_command *c);
void vk_buffer_yield(struct vk_command *c);
/* Opens a pass, to which further counts are added. If it returns NULL, the pass is still open
 * and only not listed. */
struct vk_pass *vk_pass_open(struct vk_command *c, enum tally_pass_kind kind);
/* Takes the pass's slot and begins it. */
void vk_pass_measure(struct vk_command *c, struct vk_pass *p, unsigned what, uint32_t views);
/* Adds the current counts to a recording that continues a pass. */
void vk_pass_count_inherited(struct vk_command *c);
/* Counts and ends the slot; afterwards no pass is open. */
void vk_pass_close(struct vk_command *c);
/* Closes a group of work, or a render pass whose end was never seen; not an inherited one. */
void vk_pass_close_any(struct vk_command *c);

#endif

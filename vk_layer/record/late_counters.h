/* vk_layer/record/late_counters.h - counters that begin at the first draw.
 *
 * lavapipe (seen in 22.3.6) looks at the graphics pipeline when a statistics query begins, and
 * crashes where constants were pushed or descriptors bound before any pipeline was: inside the
 * game's own command buffer, so there is no telling. At a draw one is bound. So up to there (and
 * in all of a command buffer whose `whole` would count) the counters of a render pass of one
 * subpass, or of a secondary in one, begin at its first draw and end before its end; those of other
 * work do not begin. It can go with vk_slots_read_waits(); tests/apps/vk_scenes push_early tells.
 *
 * The recording thread's; nothing waits or locks.
 */
#ifndef PASSTALLY_VK_LAYER_LATE_COUNTERS_H
#define PASSTALLY_VK_LAYER_LATE_COUNTERS_H

#include "vk_layer/record/recording.h"

struct vk_command;

/* Bits of vk_slot.sources: those that wait for a draw, those that count now, and those that did. */
struct vk_late {
	bool on; /* no pipeline is bound yet */
	uint32_t waiting, counting, done;
};

/* These counters of a slot wait. */
void vk_late_hold(struct vk_command *c, struct vk_slot *slot, unsigned what);
/* A draw comes: what waits begins. */
void vk_late_begin(struct vk_command *c);
void vk_late_end(struct vk_command *c);
/* End the slot of a pass, whose counters may have ended before, or never begun. */
void vk_late_end_pass(struct vk_command *c, struct vk_slot *slot);
/* The same of a secondary inside a pass, which is counted and has no times. */
void vk_late_end_secondary(struct vk_command *c, struct vk_slot *slot);

#endif

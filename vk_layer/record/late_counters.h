/* SPDX-License-Identifier: MIT */
/* vk_layer/record/late_counters.h - counters that begin inside a render pass, at its first draw.
 *
 * A game that enabled statistics queries, or mesh shaders, may use them inside any render pass,
 * where a query that began outside could not end. So ours begin at the first draw of a pass of
 * one subpass, or of a secondary in one, and end before its end, or before the game begins its own.
 *
 * lavapipe (seen in 22.3.6) accesses the graphics pipeline when a statistics query begins, and
 * crashes if constants were pushed or descriptors bound before any pipeline was bound. At a draw
 * one is bound. So there counters begin like that until the first draw of a command buffer,
 * and those of other work do not begin. This part can be removed together with
 * vk_slots_read_waits(); the test tests/apps/vk_scenes push_early shows when.
 *
 * For the recording thread; nothing waits or locks.
 */
#ifndef PASSTALLY_VK_LAYER_LATE_COUNTERS_H
#define PASSTALLY_VK_LAYER_LATE_COUNTERS_H

#include "vk_layer/record/recording.h"

struct vk_command;

/* Bits of vk_slot.sources: those that wait for a draw, those that count now, and
 * those that have counted. */
struct vk_late {
	bool on; /* lavapipe: no pipeline is bound yet */
	uint32_t waiting, counting, done;
};

/* Makes these counters of a slot wait for a draw. */
void vk_late_hold(struct vk_command *c, struct vk_slot *slot, unsigned what);
/* A draw follows: the waiting counters begin. */
void vk_late_begin(struct vk_command *c);
/* Does nothing where none count. */
void vk_late_end(struct vk_command *c);
/* Ends what counts in a pass, or will count: its counters are absent. */
void vk_late_yield(struct vk_command *c);
/* Ends the slot of a pass, whose counters may have ended before, or may never have begun. */
void vk_late_end_pass(struct vk_command *c, struct vk_slot *slot);
/* The same for a secondary inside a pass, which has counters and no times. */
void vk_late_end_secondary(struct vk_command *c, struct vk_slot *slot);

#endif

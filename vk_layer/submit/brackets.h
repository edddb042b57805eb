/* vk_layer/submit/brackets.h - stamps around a batch whose command buffers may not hold queries
 * of ours.
 *
 * A command buffer with SIMULTANEOUS_USE may run twice at once, so queries inside would be begun
 * twice (R30). Its batch gets two one-time command buffers of ours, first and last, that hold one
 * stamp each. Never into a protected submit, never where a device mask is given, never on a queue
 * without stamps. With the device's lock, but for the calls that allocate and record, which
 * vk_brackets_take() makes without it.
 */
#ifndef PASSTALLY_VK_LAYER_BRACKETS_H
#define PASSTALLY_VK_LAYER_BRACKETS_H

#include "vk_layer/record/slots.h"

struct vk_bracket_pair {
	VkCommandBuffer first, last; /* recorded once; run again after a release */
	struct vk_slot slot;
	struct vk_slot_runs runs;
	struct vk_bracket_pair *next;
};

bool vk_brackets_create(struct vk_device *d);
/* Frees pools and buffers with them: the device is idle. */
void vk_brackets_destroy(struct vk_device *d);
/* Without the lock; NULL when there is none to be had: the batch goes without. */
struct vk_bracket_pair *vk_brackets_take(struct vk_device *d, uint32_t family);
/* With the lock: read, or given up. May be used again. */
void vk_brackets_release(struct vk_device *d, uint32_t family, struct vk_bracket_pair *pair);

#endif

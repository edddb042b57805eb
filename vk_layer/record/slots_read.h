/* SPDX-License-Identifier: MIT */
/* vk_layer/record/slots_read.h - reading the results of queries: one round makes few calls for
 * many slots.
 */
#ifndef PASSTALLY_VK_LAYER_RECORD_SLOTS_READ_H
#define PASSTALLY_VK_LAYER_RECORD_SLOTS_READ_H

#include "vk_layer/record/slots.h"

/* Adds these sources of the slot to the next round. */
void vk_slot_request(struct vk_device *d, const struct vk_slot *slot, uint32_t sources);
/* Runs the round: fetches the requested results. Results of earlier rounds are no longer
 * read. */
void vk_slots_fetch(struct vk_device *d);
/* Reads what the round found ready, like tally_harvest_read(): pass the same `out` until every
 * source has answered; `*left` (initially slot->sources) has the sources that have not answered
 * yet. Sources that were not requested are not ready. */
enum tally_status vk_slot_read(struct vk_device *d, const struct vk_slot *slot, uint32_t *left,
			       struct tally_sample *out);
/* A round of this slot alone: whether its timestamps (without any, all it has) have results. */
bool vk_slot_is_ready(struct vk_device *d, const struct vk_slot *slot);
/* Like vk_slot_read() for the first of `n` slots (at most TALLY_VK_MAX_ROWS) that follow one
 * another, each of one view, begun and ended, with the same sources, none of which has answered.
 * Bit i of the result: all of them have answered for the i-th, and out[i] is complete; without it
 * out[i] is not valid, and vk_slot_read() is to be asked. */
uint64_t vk_slots_read(struct vk_device *d, const struct vk_slot *first, uint32_t n,
		       struct tally_sample *out);

#endif

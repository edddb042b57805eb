/* SPDX-License-Identifier: MIT */
/* layer/frame/order.h - the passes of a frame in the order they began, whatever stream issued them.
 *
 * Collector thread only; nothing here blocks.
 */
#ifndef PASSTALLY_LAYER_FRAME_ORDER_H
#define PASSTALLY_LAYER_FRAME_ORDER_H

#include "layer/record.h"

/* When a listed pass began. */
struct tally_begun {
	uint64_t ns;
	uint32_t at; /* its place in the list */
};

/* Sorts `n` passes, numbered by their place, by what the array of the same length says. Passes that
 * began at the same time keep their order. */
void tally_order_passes(struct tally_pass_record *passes, struct tally_begun *begun, uint32_t n);

#endif

/* SPDX-License-Identifier: MIT */
/* layer/base/ring.h - a bounded queue of pointers from one producer thread to one consumer thread.
 *
 * No lock, no wait, no allocation after create. The producer's and the consumer's index are on
 * separate cache lines; publication is release/acquire.
 */
#ifndef PASSTALLY_LAYER_BASE_RING_H
#define PASSTALLY_LAYER_BASE_RING_H

#include <stdbool.h>
#include <stdint.h>

struct tally_ring;

/* `capacity` is rounded up to a power of two. NULL on OOM. */
struct tally_ring *tally_ring_create(uint32_t capacity);
void tally_ring_destroy(struct tally_ring *ring);
/* For the producer. False when full: the caller keeps the item and counts the drop. */
bool tally_ring_push(struct tally_ring *ring, void *item);
/* For the consumer. NULL when empty. */
void *tally_ring_pop(struct tally_ring *ring);

#endif

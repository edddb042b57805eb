/* SPDX-License-Identifier: MIT */
#include "layer/base/ring.h"

#include <stdatomic.h>
#include <stdlib.h>

#define CACHE_LINE 64

/* Gaps of a whole cache line keep the two sides apart wherever malloc puts the struct.
 * Each side remembers the last index that it saw from the other, so that it rarely touches
 * the other's cache line. */
struct tally_ring {
	uint32_t mask;
	char pad0[CACHE_LINE];
	_Atomic uint32_t pushed; /* written by the producer */
	uint32_t seen_popped;
	char pad1[CACHE_LINE];
	_Atomic uint32_t popped; /* written by the consumer */
	uint32_t seen_pushed;
	char pad2[CACHE_LINE];
	void *items[];
};

struct tally_ring *
tally_ring_create(uint32_t capacity)
{
	uint64_t size = 1;
	while (size < capacity)
		size *= 2;
	/* The indices wrap at 2^32, so half of that distinguishes full from empty. */
	if (size > UINT32_C(1) << 31 ||
	    size > (SIZE_MAX - sizeof(struct tally_ring)) / sizeof(void *))
		return NULL;
	struct tally_ring *ring = calloc(1, sizeof(*ring) + (size_t)size * sizeof(void *));
	if (!ring)
		return NULL;
	ring->mask = (uint32_t)(size - 1);
	return ring;
}

void
tally_ring_destroy(struct tally_ring *ring)
{
	free(ring);
}

__attribute__((hot)) bool
tally_ring_push(struct tally_ring *ring, void *item)
{
	uint32_t pushed = atomic_load_explicit(&ring->pushed, memory_order_relaxed);
	if (!item)
		return false;
	if (pushed - ring->seen_popped > ring->mask) {
		ring->seen_popped = atomic_load_explicit(&ring->popped, memory_order_acquire);
		if (pushed - ring->seen_popped > ring->mask)
			return false;
	}
	ring->items[pushed & ring->mask] = item;
	atomic_store_explicit(&ring->pushed, pushed + 1, memory_order_release);
	return true;
}

__attribute__((hot)) void *
tally_ring_pop(struct tally_ring *ring)
{
	uint32_t popped = atomic_load_explicit(&ring->popped, memory_order_relaxed);
	if (popped == ring->seen_pushed) {
		ring->seen_pushed = atomic_load_explicit(&ring->pushed, memory_order_acquire);
		if (popped == ring->seen_pushed)
			return NULL;
	}
	void *item = ring->items[popped & ring->mask];
	atomic_store_explicit(&ring->popped, popped + 1, memory_order_release);
	return item;
}

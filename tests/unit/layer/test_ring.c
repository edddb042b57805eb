/* SPDX-License-Identifier: MIT */
#include "layer/base/ring.h"

#include <glib.h>
#include <sched.h>

#define N_ITEMS 200000

static void *
item(uintptr_t n)
{
	return (void *)(n + 1);
}

static const struct {
	uint32_t asked, holds;
} capacities[] = { { 0, 1 }, { 1, 1 }, { 2, 2 }, { 3, 4 }, { 64, 64 }, { 65, 128 } };

static void
test_capacity(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(capacities); i++) {
		struct tally_ring *ring = tally_ring_create(capacities[i].asked);
		g_assert_nonnull(ring);
		g_assert_null(tally_ring_pop(ring));
		/* Several rounds, so that the indices pass the end of the array. */
		for (int round = 0; round < 3; round++) {
			for (uint32_t n = 0; n < capacities[i].holds; n++)
				g_assert_true(tally_ring_push(ring, item(n)));
			g_assert_false(tally_ring_push(ring, item(99)));
			for (uint32_t n = 0; n < capacities[i].holds; n++)
				g_assert_true(tally_ring_pop(ring) == item(n));
			g_assert_null(tally_ring_pop(ring));
		}
		tally_ring_destroy(ring);
	}
}

static void
test_refuses(void)
{
	g_assert_null(tally_ring_create(UINT32_MAX));
	struct tally_ring *ring = tally_ring_create(2);
	g_assert_false(tally_ring_push(ring, NULL));
	g_assert_null(tally_ring_pop(ring));
	tally_ring_destroy(ring);
	tally_ring_destroy(NULL);
}

static gpointer
produce(gpointer data)
{
	for (uintptr_t n = 0; n < N_ITEMS; n++) {
		while (!tally_ring_push(data, item(n)))
			sched_yield();
	}
	return NULL;
}

static void
test_threads(void)
{
	struct tally_ring *ring = tally_ring_create(16);
	GThread *producer = g_thread_new("producer", produce, ring);
	for (uintptr_t n = 0; n < N_ITEMS; n++) {
		void *got;
		while (!(got = tally_ring_pop(ring)))
			sched_yield();
		g_assert_true(got == item(n));
	}
	g_thread_join(producer);
	g_assert_null(tally_ring_pop(ring));
	tally_ring_destroy(ring);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ring/capacity", test_capacity);
	g_test_add_func("/ring/refuses", test_refuses);
	g_test_add_func("/ring/threads", test_threads);
	return g_test_run();
}

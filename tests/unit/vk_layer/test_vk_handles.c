/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/handles.h"

#include <glib.h>
#include <pthread.h>

static void *
value(uint64_t n)
{
	return (void *)(uintptr_t)(n + 1);
}

static void
test_put_find_remove(void)
{
	struct vk_handles map = { NULL };
	g_assert_null(vk_handles_find(&map, 5));
	g_assert_null(vk_handles_remove(&map, 5));
	g_assert_true(vk_handles_put(&map, 5, value(1)));
	g_assert_true(vk_handles_put(&map, 5, value(2)));
	g_assert_true(vk_handles_find(&map, 5) == value(2));
	g_assert_null(vk_handles_find(&map, 6));
	g_assert_true(vk_handles_remove(&map, 5) == value(2));
	g_assert_null(vk_handles_remove(&map, 5));
	g_assert_null(vk_handles_find(&map, 5));
	vk_handles_finish(&map);
	g_assert_null(vk_handles_find(&map, 5));
	g_assert_true(vk_handles_put(&map, 5, value(3)));
	g_assert_true(vk_handles_find(&map, 5) == value(3));
	vk_handles_finish(&map);
}

static void
test_no_handles(void)
{
	struct vk_handles map = { NULL };
	g_assert_false(vk_handles_put(&map, 0, value(1)));
	g_assert_false(vk_handles_put(&map, UINT64_MAX, value(1)));
	g_assert_true(vk_handles_put(&map, 1, value(1)));
	g_assert_null(vk_handles_find(&map, 0));
	vk_handles_remove(&map, 1);
	g_assert_null(vk_handles_find(&map, UINT64_MAX));
	vk_handles_finish(&map);
}

static void
count(void *v, void *data)
{
	(void)v;
	++*(unsigned *)data;
}

/* Compared with a plain array of what should be in the table. */
static void
test_random(void)
{
	enum { KEYS = 700 };
	static void *model[KEYS];
	struct vk_handles map = { NULL };
	uint64_t seed = 12345;
	unsigned live = 0;
	for (unsigned step = 0; step < 200000; step++) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		unsigned n = (unsigned)(seed >> 33) % KEYS;
		uint64_t key = 0x10000 + n * 64; /* as pointers are */
		g_assert_true(vk_handles_find(&map, key) == model[n]);
		if ((seed >> 20) % 2) {
			live += !model[n];
			model[n] = value(step);
			g_assert_true(vk_handles_put(&map, key, model[n]));
		} else {
			live -= !!model[n];
			g_assert_true(vk_handles_remove(&map, key) == model[n]);
			model[n] = NULL;
		}
	}
	unsigned seen = 0;
	vk_handles_each(&map, count, &seen);
	g_assert_cmpuint(seen, ==, live);
	/* Removed handles are released: the table's size depends on the number of handles that
	 * were alive at once. */
	g_assert_cmpuint(map.table->mask, <, 4096);
	vk_handles_finish(&map);
}

/* A game that frees and allocates for hours must not make the table grow. */
static void
test_churn(void)
{
	struct vk_handles map = { NULL };
	for (uint64_t n = 1; n <= 1000000; n++) {
		g_assert_true(vk_handles_put(&map, n * 16, value(n)));
		if (n > 20)
			g_assert_true(vk_handles_remove(&map, (n - 20) * 16) == value(n - 20));
	}
	g_assert_cmpuint(map.table->mask, <, 256);
	vk_handles_finish(&map);
}

static struct vk_handles shared;

static void *
work(void *data)
{
	uint64_t base = (uint64_t)(uintptr_t)data << 32;
	for (uint64_t n = 1; n < 4000; n++) {
		g_assert_true(vk_handles_put(&shared, base + n * 8, value(n)));
		g_assert_true(vk_handles_find(&shared, base + n * 8) == value(n));
		if (n % 3 == 0)
			g_assert_true(vk_handles_remove(&shared, base + n * 8) == value(n));
		if (n % 5 == 0 && (n - 1) % 3 != 0)
			g_assert_true(vk_handles_find(&shared, base + (n - 1) * 8) ==
				      value(n - 1));
	}
	return NULL;
}

static void
test_threads(void)
{
	pthread_t threads[4];
	for (uintptr_t i = 0; i < 4; i++)
		g_assert_cmpint(pthread_create(&threads[i], NULL, work, (void *)(i + 1)), ==, 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	unsigned seen = 0;
	vk_handles_each(&shared, count, &seen);
	g_assert_cmpuint(seen, ==, 4 * (3999 - 1333));
	vk_handles_finish(&shared);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vk_handles/put-find-remove", test_put_find_remove);
	g_test_add_func("/vk_handles/no-handles", test_no_handles);
	g_test_add_func("/vk_handles/random", test_random);
	g_test_add_func("/vk_handles/churn", test_churn);
	g_test_add_func("/vk_handles/threads", test_threads);
	return g_test_run();
}

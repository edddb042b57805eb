/* SPDX-License-Identifier: MIT */
#include "layer/base/handle_map.h"

#include <glib.h>

static void *
pointer(uintptr_t n)
{
	return (void *)n;
}

static void
remove_all(struct tally_handle_map *map)
{
	while (map->entries)
		tally_handle_map_remove(map, map->entries->key);
}

static void
test_put_find_remove(void)
{
	struct tally_handle_map map = { 0 };
	g_assert_null(tally_handle_map_find(&map, pointer(1)));
	g_assert_null(tally_handle_map_remove(&map, pointer(1)));
	g_assert_cmpuint(HASH_COUNT(map.entries), ==, 0);

	g_assert_true(tally_handle_map_put(&map, pointer(1), pointer(10)));
	g_assert_true(tally_handle_map_put(&map, NULL, pointer(20)));
	g_assert_true(tally_handle_map_put(&map, pointer(UINTPTR_MAX), pointer(30)));
	g_assert_true(tally_handle_map_find(&map, pointer(1)) == pointer(10));
	g_assert_true(tally_handle_map_find(&map, NULL) == pointer(20));
	g_assert_true(tally_handle_map_find(&map, pointer(UINTPTR_MAX)) == pointer(30));

	g_assert_true(tally_handle_map_put(&map, pointer(1), pointer(11)));
	g_assert_cmpuint(HASH_COUNT(map.entries), ==, 3);
	g_assert_true(tally_handle_map_remove(&map, pointer(1)) == pointer(11));
	g_assert_null(tally_handle_map_find(&map, pointer(1)));
	g_assert_cmpuint(HASH_COUNT(map.entries), ==, 2);
	remove_all(&map);
	g_assert_cmpuint(HASH_COUNT(map.entries), ==, 0);
	g_assert_null(map.entries);
}

static void
test_many(void)
{
	struct tally_handle_map map = { 0 };
	for (uintptr_t n = 1; n <= 2000; n++)
		g_assert_true(tally_handle_map_put(&map, pointer(16 * n), pointer(n)));
	for (uintptr_t n = 2; n <= 2000; n += 2)
		g_assert_true(tally_handle_map_remove(&map, pointer(16 * n)) == pointer(n));
	for (uintptr_t n = 1; n <= 2000; n++)
		g_assert_true(tally_handle_map_find(&map, pointer(16 * n)) ==
			      (n % 2 ? pointer(n) : NULL));
	/* Walked in the order they came. */
	uintptr_t last = 0;
	for (struct tally_handle *e = map.entries; e; e = e->hh.next) {
		g_assert_cmpuint((uintptr_t)e->value, >, last);
		last = (uintptr_t)e->value;
	}
	g_assert_cmpuint(last, ==, 1999);
	remove_all(&map);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/handle_map/basics", test_put_find_remove);
	g_test_add_func("/handle_map/many", test_many);
	return g_test_run();
}

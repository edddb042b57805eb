/* SPDX-License-Identifier: MIT */
#include "layer/base/array.h"

#include <glib.h>
#include <stdlib.h>

static void
test_grows(void)
{
	uint64_t *items = NULL;
	uint32_t n = 0, room = 0;
	for (uint32_t i = 0; i < 1000; i++) {
		g_assert_true(tally_array_fit(&items, n, &room, sizeof(*items)));
		g_assert_cmpuint(room, >, n);
		items[n++] = i * UINT64_C(0x100000001);
	}
	for (uint32_t i = 0; i < n; i++)
		g_assert_cmpuint(items[i], ==, i * UINT64_C(0x100000001));
	free(items);
}

static void
test_is_left_alone(void)
{
	char *items = malloc(1);
	char *const before = items;
	const struct {
		uint32_t n, room;
		size_t size;
		bool good;
	} rows[] = {
		{ 0, 1, 1, true }, /* it has room */
		{ UINT32_C(1) << 31, UINT32_C(1) << 31, 1, false }, /* the count would wrap */
		{ 1, 1, SIZE_MAX / 2 + 1, false }, /* the number of bytes would wrap */
		{ 1, 1, SIZE_MAX / 4, false }, /* more than exists */
	};
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		uint32_t room = rows[i].room;
		g_test_message("row %zu", i);
		g_assert_cmpint(tally_array_fit(&items, rows[i].n, &room, rows[i].size), ==,
				rows[i].good);
		g_assert_cmpuint(room, ==, rows[i].room);
		g_assert_true(items == before);
	}
	free(items);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/array/grows", test_grows);
	g_test_add_func("/array/is_left_alone", test_is_left_alone);
	return g_test_run();
}

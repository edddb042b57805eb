/* SPDX-License-Identifier: MIT */
#include "layer/base/numbers.h"

#include <glib.h>

#define MOST 65536

static bool
add(struct tally_numbers *set, uint64_t key)
{
	size_t before = set->n;
	struct tally_number *number = tally_numbers_add(set, key, MOST);
	g_assert_true(number ? number->key == key : before == MOST);
	g_assert_true(number == tally_numbers_find(set, key));
	return set->n > before;
}

static const struct {
	uint64_t id;
	bool fresh;
} steps[] = {
	{ 1, true },
	{ 1, false },
	{ 0, true },
	{ 0, false },
	{ UINT64_MAX, true },
	/* Alike except for the upper bits, which must not be the only input of the table's
	 * hash. */
	{ UINT64_C(1) << 63 | 1, true },
	{ UINT64_C(1) << 32 | 1, true },
	{ UINT64_C(1) << 32 | 1, false },
	{ 1, false },
	{ UINT64_MAX, false },
};

static void
test_steps(void)
{
	struct tally_numbers set = { 0 };
	for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
		g_test_message("step %zu", i);
		g_assert_true(add(&set, steps[i].id) == steps[i].fresh);
	}
	tally_numbers_finish(&set);
}

/* Ids that differ in a few bits, at any position. */
static void
test_random(void)
{
	struct tally_numbers set = { 0 };
	GHashTable *model = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (unsigned i = 0; i < 10000; i++) {
		uint64_t id = (uint64_t)g_test_rand_int_range(0, 4096)
			      << g_test_rand_int_range(0, 52);
		bool fresh = g_hash_table_add(model, g_memdup2(&id, sizeof(id)));
		g_assert_true(add(&set, id) == fresh);
	}
	g_hash_table_unref(model);
	tally_numbers_finish(&set);
}

static void
test_ceiling(void)
{
	struct tally_numbers set = { 0 };
	for (uint64_t id = 1; id <= MOST; id++)
		g_assert_true(add(&set, id << 40 | (id & 7)));
	for (uint64_t id = 1; id <= MOST; id++)
		g_assert_false(add(&set, id << 40 | (id & 7)));
	g_assert_false(add(&set, MOST + 1));
	g_assert_false(add(&set, MOST + 1));
	g_assert_false(add(&set, 7));
	g_assert_false(add(&set, 0));
	tally_numbers_finish(&set);
}

static void
test_values(void)
{
	struct tally_numbers numbers = { 0 };
	g_assert_null(tally_numbers_find(&numbers, 0));
	for (uint64_t i = 0; i < 5000; i++) {
		uint64_t key = i * UINT64_C(0x100000000); /* alike in their low bits */
		g_assert_null(tally_numbers_find(&numbers, key));
		struct tally_number *number = tally_numbers_add(&numbers, key, MOST);
		g_assert_false(number->has_value);
		number->value = i;
		number->has_value = true;
	}
	for (uint64_t i = 0; i < 5000; i++) {
		uint64_t key = i * UINT64_C(0x100000000);
		struct tally_number *number = tally_numbers_find(&numbers, key);
		g_assert_true(number == tally_numbers_add(&numbers, key, MOST));
		g_assert_true(number->has_value);
		g_assert_cmpuint(number->value, ==, i);
	}
	g_assert_cmpuint(numbers.n, ==, 5000);
	tally_numbers_finish(&numbers);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/numbers/steps", test_steps);
	g_test_add_func("/numbers/random", test_random);
	g_test_add_func("/numbers/ceiling", test_ceiling);
	g_test_add_func("/numbers/values", test_values);
	return g_test_run();
}

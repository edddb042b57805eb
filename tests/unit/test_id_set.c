/* SPDX-License-Identifier: MIT */
#include "layer/frame/frame.h"

#include <glib.h>

static const struct {
	uint64_t id;
	bool fresh;
} steps[] = {
	{ 1, true },
	{ 1, false },
	{ 0, true }, /* also the mark of an empty slot */
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
	struct tally_id_set *set = tally_id_set_create();
	for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
		g_test_message("step %zu", i);
		g_assert_true(tally_id_set_add(set, steps[i].id) == steps[i].fresh);
	}
	tally_id_set_destroy(set);
	tally_id_set_destroy(NULL);
}

/* Ids that differ in a few bits, at any position. */
static void
test_random(void)
{
	struct tally_id_set *set = tally_id_set_create();
	GHashTable *model = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (unsigned i = 0; i < 40000; i++) {
		uint64_t id = (uint64_t)g_test_rand_int_range(0, 4096)
			      << g_test_rand_int_range(0, 52);
		bool fresh = g_hash_table_add(model, g_memdup2(&id, sizeof(id)));
		g_assert_true(tally_id_set_add(set, id) == fresh);
	}
	g_hash_table_unref(model);
	tally_id_set_destroy(set);
}

static void
test_ceiling(void)
{
	struct tally_id_set *set = tally_id_set_create();
	for (uint64_t id = 1; id <= TALLY_MAX_SEEN; id++)
		g_assert_true(tally_id_set_add(set, id));
	g_assert_false(tally_id_set_add(set, TALLY_MAX_SEEN + 1));
	g_assert_false(tally_id_set_add(set, TALLY_MAX_SEEN + 1));
	g_assert_false(tally_id_set_add(set, 7));
	g_assert_true(tally_id_set_add(set, 0));
	tally_id_set_destroy(set);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/id-set/steps", test_steps);
	g_test_add_func("/id-set/random", test_random);
	g_test_add_func("/id-set/ceiling", test_ceiling);
	return g_test_run();
}

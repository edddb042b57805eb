/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "query/source/counter_set.h"

static struct tally_counter
counter(const char *key, const char *name, const char *source)
{
	return (struct tally_counter){ .key = key, .name = name, .unit = "1", .source = source,
				       .description = "d", .width_bits = 64 };
}

static void
test_slug(void)
{
	static const struct {
		const char *name, *want;
		size_t size;
	} rows[] = {
		{ "GPU Time Elapsed", "gpu_time_elapsed", 64 },
		{ "  EU -- Active (%) ", "eu_active", 64 },
		{ "L3 #2", "l3_2", 64 },
		{ "\xc3\xa9", "counter", 64 },
		{ "", "counter", 64 },
		{ NULL, "counter", 64 },
		{ "ab cd", "ab", 4 },
		{ "abcdef", "abc", 4 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		char out[64];
		tally_counter_slug(rows[i].name, out, rows[i].size);
		g_assert_cmpstr(out, ==, rows[i].want);
	}
}

static void
test_wanted(void)
{
	struct tally_counter c = counter("gpu_busy", "GPU Busy", "gl-intel");
	static const struct {
		const char *list;
		bool overview, want;
	} rows[] = {
		{ NULL, true, true },         { NULL, false, false },
		{ "overview", true, true },   { "overview", false, false },
		{ "all", false, true },       { "GPU_BUSY", false, true },
		{ "gpu busy", false, true },  { "gpu*", false, true },
		{ "render basic", false, true }, { "EU", false, true },
		{ "other+overview", false, false }, { "other,gpu_busy", false, true },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_test_message("%s", rows[i].list ? rows[i].list : "(none)");
		g_assert_cmpint(tally_counter_wanted(rows[i].list, &c, "Render Basic", "EU",
						     rows[i].overview), ==, rows[i].want);
	}
	g_assert_false(tally_counter_wanted("x", &c, NULL, NULL, true));
}

static const struct tally_counter *
add(struct tally_key_table *table, const char *key, const char *name, const char *source)
{
	struct tally_counter c = counter(key, name, source);
	const struct tally_counter *kept = tally_key_table_add(table, &c);
	g_assert_nonnull(kept);
	g_assert_true(kept->key == c.key);
	return kept;
}

static void
test_keys(void)
{
	struct tally_key_table table = { NULL }, other = { NULL };
	static const struct tally_counter fixed = { .key = "taken", .name = "n", .unit = "1",
						    .source = "s", .description = "d" };
	char name[] = "Busy";
	const struct tally_counter *a = add(&table, "busy", name, "gl-intel");
	memset(name, 'x', 4); /* the copy has its own strings */
	g_assert_cmpstr(a->name, ==, "Busy");
	g_assert_true(add(&table, "busy", "Busy", "gl-intel") == a);
	const struct tally_counter *b = add(&table, "busy", "BUSY", "gl-intel");
	g_assert_cmpstr(b->key, ==, "gl-intel.busy");
	g_assert_true(add(&table, "busy", "BUSY", "gl-intel") == b);
	g_assert_cmpstr(add(&table, "busy", "busy", "gl-intel")->key, ==, "gl-intel.busy.2");
	g_assert_cmpstr(add(&table, "busy", "b u s y", "gl-intel")->key, ==, "gl-intel.busy.3");
	g_assert_cmpstr(add(&table, "busy", "Busy", "gl-amd")->key, ==, "gl-amd.busy");
	g_assert_true(tally_key_table_reserve(&table, &fixed));
	g_assert_cmpstr(add(&table, "taken", "m", "s")->key, ==, "s.taken");
	/* In another context the same counter is the same pointer. */
	g_assert_true(add(&other, "busy", "Busy", "gl-intel") == a);
	for (int i = 0; i < 1000; i++) {
		char key[16];
		g_snprintf(key, sizeof(key), "k%d", i);
		g_assert_cmpstr(add(&other, key, key, "s")->key, ==, key);
	}
	g_assert_true(add(&other, "k500", "k500", "s") == add(&other, "k500", "k500", "s"));
	tally_key_table_finish(&table);
	tally_key_table_finish(&other);
	g_assert_null(table.entries);
}

static void
test_keep(void)
{
	static const struct tally_counter a = { .key = "a" }, b = { .key = "b" };
	const struct tally_counter *two[] = { &a, &b };
	struct tally_counter_set set = { .layout = { "S", two, 2 }, .category = "C" };
	const struct tally_counter_set *kept = tally_counter_set_keep(&set);
	g_assert_true(kept != &set && kept->layout.counters != two);
	g_assert_cmpstr(kept->layout.set, ==, "S");
	g_assert_true(kept->layout.counters[1] == &b);
	g_assert_true(tally_counter_set_keep(&set) == kept);
	set.layout.n_counters = 1;
	g_assert_true(tally_counter_set_keep(&set) != kept);
	set = (struct tally_counter_set){ .category = NULL };
	kept = tally_counter_set_keep(&set);
	g_assert_null(kept->layout.set);
	g_assert_cmpuint(kept->layout.n_counters, ==, 0);
}

/* Each counter takes units of a block that has `room` of them; larger ones fit nowhere. */
struct blocks {
	const unsigned *needs;
	unsigned room, calls;
	uint32_t taken; /* by the counters that were accepted since a set began */
	uint32_t n_accepted;
};

static bool
fits(void *data, const uint32_t *chosen, uint32_t n)
{
	struct blocks *blocks = data;
	unsigned sum = 0;
	blocks->calls++;
	for (uint32_t i = 0; i < n; i++)
		sum += blocks->needs[chosen[i]];
	if (n == 1)
		blocks->taken = blocks->n_accepted = 0;
	/* A source may keep count of a set instead of counting it again. */
	g_assert_cmpuint(blocks->n_accepted, ==, n - 1);
	g_assert_cmpuint(blocks->taken + blocks->needs[chosen[n - 1]], ==, sum);
	if (sum > blocks->room)
		return false;
	blocks->taken = sum;
	blocks->n_accepted = n;
	return true;
}

static void
test_group(void)
{
	static const unsigned needs[] = { 2, 3, 9, 1, 2, 4, 1 };
	static const uint32_t want[] = { 0, 0, TALLY_NO_SET, 1, 1, 2, 1 };
	static const uint32_t in_order[] = { 0, 1, 3, 4, 6, 5, 2 };
	struct blocks blocks = { .needs = needs, .room = 5 };
	uint32_t set_of[7], order[7];
	g_assert_cmpuint(tally_counter_group(7, set_of, order, fits, &blocks), ==, 3);
	for (int i = 0; i < 7; i++) {
		g_assert_cmpuint(set_of[i], ==, want[i]);
		g_assert_cmpuint(order[i], ==, in_order[i]);
	}
	g_assert_cmpuint(blocks.calls, <=, 7 * 4);
	g_assert_cmpuint(tally_counter_group(0, set_of, order, fits, &blocks), ==, 0);
}

static void
test_turns(void)
{
	static const struct tally_counter_set a = { .layout = { "A+B", NULL, 0 } };
	static const struct tally_counter_set b = { .layout = { "Beta", NULL, 0 } };
	static const struct tally_counter_set bare = { .layout = { NULL, NULL, 0 } };
	const struct tally_counter_set *sets[] = { &a, &b, &bare };
	g_assert_cmpuint(tally_counter_turn(sets, 0, NULL, 7), ==, TALLY_NO_SET);
	for (unsigned turn = 0; turn < 9; turn++)
		g_assert_cmpuint(tally_counter_turn(sets, 3, NULL, turn), ==, turn % 3);
	g_assert_cmpuint(tally_counter_turn(sets, 3, "beta", 0), ==, 1);
	g_assert_cmpuint(tally_counter_turn(sets, 3, "A+B", 5), ==, 0);
	g_assert_cmpuint(tally_counter_turn(sets, 3, "none", 5), ==, TALLY_NO_SET);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/counter_set/slug", test_slug);
	g_test_add_func("/counter_set/wanted", test_wanted);
	g_test_add_func("/counter_set/keys", test_keys);
	g_test_add_func("/counter_set/keep", test_keep);
	g_test_add_func("/counter_set/group", test_group);
	g_test_add_func("/counter_set/turns", test_turns);
	return g_test_run();
}

/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "tests/sources/test_sources.h"

static enum tally_status
read_slot(struct tally_source *src, uint32_t slot, struct tally_sample *out)
{
	static struct tally_value values[2];
	static uint64_t valid;

	valid = 0;
	*out = (struct tally_sample){ .values = values, .valid = &valid, .n = 2 };
	return src->ops->read(src, slot, out);
}

static void
test_values(void)
{
	struct tally_source *src = tally_fake_create(&(struct tally_fake_script){
		.a_step = 3, .b_step = 5, .tick_ns = 7, .start_ns = 100 });
	struct tally_sample out;

	g_assert_cmpint(src->ops->open(src, 2), ==, TALLY_OK);
	g_assert_cmpstr(src->ops->name, ==, "fake");
	g_assert_true(src->ops->delivers_time);
	g_assert_cmpuint(src->n_counters, ==, 2);
	g_assert_cmpstr(src->counters[0]->key, ==, "fake_a");
	g_assert_cmpstr(src->counters[1]->key, ==, "fake_b");

	/* 0 lasts from 107 to 128 and contains 1, from 114 to 121. */
	src->ops->begin(src, 0);
	src->ops->begin(src, 1);
	src->ops->end(src, 1);
	src->ops->end(src, 0);
	g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_OK);
	g_assert_cmpuint(*out.valid, ==, 3);
	g_assert_cmpuint(out.values[0].u64, ==, 6);
	g_assert_cmpuint(out.values[1].u64, ==, 10);
	g_assert_true(out.has_time);
	g_assert_cmpuint(out.begin_ns, ==, 107);
	g_assert_cmpuint(out.end_ns, ==, 128);
	g_assert_cmpuint(out.flags, ==, 0);
	g_assert_cmpint(read_slot(src, 1, &out), ==, TALLY_OK);
	g_assert_cmpuint(out.values[0].u64, ==, 3);
	g_assert_cmpuint(out.begin_ns, ==, 114);
	g_assert_cmpuint(out.end_ns, ==, 121);
	src->ops->close(src);
	tally_source_destroy(src);
}

static void
test_delay_and_loss(void)
{
	struct tally_source *src = tally_fake_create(&(struct tally_fake_script){
		.a_step = 1, .delay = 2, .lose_every = 3, .flags = TALLY_FLAG(OVERFLOW) });
	struct tally_sample out;

	g_assert_cmpint(src->ops->open(src, 1), ==, TALLY_OK);
	for (int i = 1; i <= 7; i++) {
		src->ops->begin(src, 0);
		src->ops->end(src, 0);
		for (int k = 0; k < 2; k++) {
			g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_NOT_READY);
			g_assert_cmpuint(*out.valid, ==, 0);
			g_assert_cmpuint(out.flags, ==, 0);
		}
		g_assert_cmpint(read_slot(src, 0, &out), ==, i % 3 ? TALLY_OK : TALLY_LOST);
		g_assert_cmpuint(out.flags, ==, TALLY_FLAG(OVERFLOW));
		g_assert_cmpuint(*out.valid, ==, i % 3 ? 3 : 0);
	}
	src->ops->abandon(src);
	tally_source_destroy(src);
}

static void
test_refusals(void)
{
	struct tally_source *src = tally_fake_create(
		&(struct tally_fake_script){ .open_status = TALLY_DENIED });

	g_assert_cmpint(src->ops->open(src, 1), ==, TALLY_DENIED);
	g_assert_cmpstr(src->reason, !=, "");
	tally_source_destroy(src);

	src = tally_fake_create(&(struct tally_fake_script){ .max_slots = 4 });
	g_assert_cmpint(src->ops->open(src, 2), ==, TALLY_OK);
	g_assert_cmpint(src->ops->grow(src, 4), ==, TALLY_OK);
	g_assert_cmpint(src->ops->grow(src, 8), ==, TALLY_NO_MEMORY);
	src->ops->close(src);
	tally_source_destroy(src);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/fake/values", test_values);
	g_test_add_func("/fake/delay-and-loss", test_delay_and_loss);
	g_test_add_func("/fake/refusals", test_refusals);
	return g_test_run();
}

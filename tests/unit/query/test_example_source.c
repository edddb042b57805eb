/* SPDX-License-Identifier: MIT */
/* The worked example of docs/adding-a-source.md, under the product's sampler. */
#include "query/sampler/reader.h"
#include "tests/example_source/interrupts.h"

#include <glib.h>

/* The row that query/sources.c would contain. */
static const struct tally_snapshot_source_row rows[] = {
	{ .row = { .name = "interrupts",
		   .by_default = true,
		   .gives = "the machine's interrupts" },
	  .create = tally_interrupts_create,
	  .may_count = tally_interrupts_may_count },
};

static void
test_counts(void)
{
	struct tally_config config;
	tally_config_init(&config);
	config.snapshot = TALLY_SNAPSHOT_EXACT;
	/* However busy the machine is: it may not count, but not because it opened late. */
	tally_sampler_waits.open_ns = tally_sampler_waits.answer_ns = UINT64_C(60000000000);
	struct tally_sampler *s = tally_sampler_create_of(&config, rows, G_N_ELEMENTS(rows));
	g_assert_nonnull(s);
	g_assert_cmpuint(tally_sampler_n_rows(s), ==, 1);
	struct tally_source_info row = tally_sampler_row(s, 0);
	g_assert_cmpstr(row.name, ==, "interrupts");
	if (!row.on) {
		g_assert_nonnull(row.reason);
		g_test_skip(row.reason);
	} else {
		const struct tally_snapshot_source *src = tally_sampler_source(s, 0);
		struct tally_reading last;
		g_assert_cmpstr(src->counters[0]->key, ==, "machine_interrupts");
		g_assert_cmphex(src->logged[0], ==, 1);
		uint64_t first = tally_snapshot_take();
		g_usleep(20000); /* the clock's own interrupt occurs in that time */
		g_assert_cmpuint(tally_snapshot_take(), ==, first + 1);
		g_assert_true(tally_history_last(tally_sampler_history(s, 0), &last));
		g_assert_cmpuint(last.totals[0], >, 0);
	}
	tally_sampler_stop(s);
	tally_sampler_destroy(s);
	tally_config_finish(&config);
}

static void
test_names(void)
{
	g_assert_true(rows[0].may_count("machine_interrupts"));
	g_assert_true(rows[0].may_count("machine_*"));
	g_assert_false(rows[0].may_count("machine_draws"));
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/example_source/counts", test_counts);
	g_test_add_func("/example_source/names", test_names);
	return g_test_run();
}

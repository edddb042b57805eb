/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "tests/sources/test_sources.h"

static void
test_null(void)
{
	struct tally_source *src = tally_null_create();
	const struct tally_source_ops *ops = src->ops;
	struct tally_sample out = { .n = 0 };

	g_assert_cmpstr(ops->name, ==, "null");
	g_assert_false(ops->delivers_time);
	g_assert_cmpint(ops->open(src, 4), ==, TALLY_OK);
	g_assert_cmpuint(src->n_counters, ==, 0);
	g_assert_cmpint(ops->grow(src, 8), ==, TALLY_OK);
	ops->begin(src, 0);
	ops->end(src, 0);
	ops->gap(src);
	g_assert_cmpint(ops->read(src, 0, &out), ==, TALLY_OK);
	g_assert_false(out.has_time);
	g_assert_cmpuint(out.flags, ==, 0);
	ops->close(src);
	tally_source_destroy(src);
	tally_source_destroy(NULL);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/null/does-nothing", test_null);
	return g_test_run();
}

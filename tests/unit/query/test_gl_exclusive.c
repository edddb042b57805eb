/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "query/gl/api.h"

static const struct {
	unsigned target;
	int group;
} cases[] = {
	{ 0x82EE, TALLY_STATISTIC_VERTICES_SUBMITTED },
	{ 0x82EF, TALLY_STATISTIC_PRIMITIVES_SUBMITTED },
	{ 0x82F0, TALLY_STATISTIC_VERTEX_SHADER_INVOCATIONS },
	{ 0x82F1, TALLY_STATISTIC_TESS_CONTROL_SHADER_PATCHES },
	{ 0x82F2, TALLY_STATISTIC_TESS_EVALUATION_SHADER_INVOCATIONS },
	{ 0x887F, TALLY_STATISTIC_GEOMETRY_SHADER_INVOCATIONS },
	{ 0x82F3, TALLY_STATISTIC_GEOMETRY_SHADER_PRIMITIVES_EMITTED },
	{ 0x82F4, TALLY_STATISTIC_FRAGMENT_SHADER_INVOCATIONS },
	{ 0x82F5, TALLY_STATISTIC_COMPUTE_SHADER_INVOCATIONS },
	{ 0x82F6, TALLY_STATISTIC_CLIPPING_INPUT_PRIMITIVES },
	{ 0x82F7, TALLY_STATISTIC_CLIPPING_OUTPUT_PRIMITIVES },
	{ 0x8914, TALLY_STATISTIC_SAMPLES_PASSED },
	{ 0x8C2F, TALLY_STATISTIC_SAMPLES_PASSED },
	{ 0x8D6A, TALLY_STATISTIC_SAMPLES_PASSED },
	{ 0x8C87, TALLY_STATISTIC_PRIMITIVES_GENERATED },
	{ 0x8C88, TALLY_STATISTIC_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN },
	{ 0x88BF, TALLY_GL_TIME_ELAPSED },
	{ 0x8E28 /* TIMESTAMP */, -1 },
	{ 0x82EC /* TRANSFORM_FEEDBACK_OVERFLOW */, -1 },
	{ 0, -1 },
	{ UINT32_MAX, -1 },
};

static void
test_groups(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_test_message("target 0x%x", cases[i].target);
		g_assert_cmpint(tally_gl_exclusive_of(cases[i].target), ==, cases[i].group);
	}
}

static void
test_targets(void)
{
	for (int which = 0; which < TALLY_GL_N_EXCLUSIVE; which++)
		g_assert_cmpint(tally_gl_exclusive_of(tally_gl_exclusive_target(which)),
				==, which);
	g_assert_cmphex(tally_gl_exclusive_target(TALLY_STATISTIC_SAMPLES_PASSED), ==, 0x8914);
	g_assert_cmphex(tally_gl_exclusive_target(TALLY_GL_N_EXCLUSIVE), ==, 0);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/gl-exclusive/groups", test_groups);
	g_test_add_func("/gl-exclusive/targets", test_targets);
	return g_test_run();
}

/* SPDX-License-Identifier: MIT */
#include "query/gl/api.h"

#define OF(target_, name_) { target_ /* GL_##name_ */, TALLY_STATISTIC_##name_ }

/* Query targets and the group within which they exclude each other. The first row of a group is
 * the target that counts. */
static const struct {
	unsigned target;
	unsigned which;
} exclusive_targets[] = {
	OF(0x82EE, VERTICES_SUBMITTED),
	OF(0x82EF, PRIMITIVES_SUBMITTED),
	OF(0x82F0, VERTEX_SHADER_INVOCATIONS),
	OF(0x82F1, TESS_CONTROL_SHADER_PATCHES),
	OF(0x82F2, TESS_EVALUATION_SHADER_INVOCATIONS),
	OF(0x887F, GEOMETRY_SHADER_INVOCATIONS),
	OF(0x82F3, GEOMETRY_SHADER_PRIMITIVES_EMITTED),
	OF(0x82F4, FRAGMENT_SHADER_INVOCATIONS),
	OF(0x82F5, COMPUTE_SHADER_INVOCATIONS),
	OF(0x82F6, CLIPPING_INPUT_PRIMITIVES),
	OF(0x82F7, CLIPPING_OUTPUT_PRIMITIVES),
	OF(0x8914, SAMPLES_PASSED),
	OF(0x8C2F, SAMPLES_PASSED), /* GL_ANY_SAMPLES_PASSED */
	OF(0x8D6A, SAMPLES_PASSED), /* GL_ANY_SAMPLES_PASSED_CONSERVATIVE */
	OF(0x8C87, PRIMITIVES_GENERATED),
	OF(0x8C88, TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN),
	{ 0x88BF /* GL_TIME_ELAPSED */, TALLY_GL_TIME_ELAPSED },
};

#define N_TARGETS (sizeof(exclusive_targets) / sizeof(exclusive_targets[0]))

int
tally_gl_exclusive_of(unsigned target)
{
	for (size_t i = 0; i < N_TARGETS; i++) {
		if (exclusive_targets[i].target == target)
			return (int)exclusive_targets[i].which;
	}
	return -1;
}

unsigned
tally_gl_exclusive_target(unsigned which)
{
	for (size_t i = 0; i < N_TARGETS; i++) {
		if (exclusive_targets[i].which == which)
			return exclusive_targets[i].target;
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
#include "query/gl/api.h"

/* Query targets and the group within which they exclude each other. The first row of a group is
 * the target that counts. */
static const struct {
	unsigned target;
	enum tally_gl_exclusive which;
} exclusive_targets[] = {
	{ 0x82EE /* GL_VERTICES_SUBMITTED */, TALLY_GL_VERTICES_SUBMITTED },
	{ 0x82EF /* GL_PRIMITIVES_SUBMITTED */, TALLY_GL_PRIMITIVES_SUBMITTED },
	{ 0x82F0 /* GL_VERTEX_SHADER_INVOCATIONS */, TALLY_GL_VERTEX_SHADER_INVOCATIONS },
	{ 0x82F1 /* GL_TESS_CONTROL_SHADER_PATCHES */, TALLY_GL_TESS_CONTROL_SHADER_PATCHES },
	{ 0x82F2 /* GL_TESS_EVALUATION_SHADER_INVOCATIONS */,
	  TALLY_GL_TESS_EVALUATION_SHADER_INVOCATIONS },
	{ 0x887F /* GL_GEOMETRY_SHADER_INVOCATIONS */, TALLY_GL_GEOMETRY_SHADER_INVOCATIONS },
	{ 0x82F3 /* GL_GEOMETRY_SHADER_PRIMITIVES_EMITTED */,
	  TALLY_GL_GEOMETRY_SHADER_PRIMITIVES_EMITTED },
	{ 0x82F4 /* GL_FRAGMENT_SHADER_INVOCATIONS */, TALLY_GL_FRAGMENT_SHADER_INVOCATIONS },
	{ 0x82F5 /* GL_COMPUTE_SHADER_INVOCATIONS */, TALLY_GL_COMPUTE_SHADER_INVOCATIONS },
	{ 0x82F6 /* GL_CLIPPING_INPUT_PRIMITIVES */, TALLY_GL_CLIPPING_INPUT_PRIMITIVES },
	{ 0x82F7 /* GL_CLIPPING_OUTPUT_PRIMITIVES */, TALLY_GL_CLIPPING_OUTPUT_PRIMITIVES },
	{ 0x8914 /* GL_SAMPLES_PASSED */, TALLY_GL_SAMPLES_PASSED },
	{ 0x8C2F /* GL_ANY_SAMPLES_PASSED */, TALLY_GL_SAMPLES_PASSED },
	{ 0x8D6A /* GL_ANY_SAMPLES_PASSED_CONSERVATIVE */, TALLY_GL_SAMPLES_PASSED },
	{ 0x8C87 /* GL_PRIMITIVES_GENERATED */, TALLY_GL_PRIMITIVES_GENERATED },
	{ 0x8C88 /* GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN */, TALLY_GL_XFB_PRIMITIVES_WRITTEN },
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
tally_gl_exclusive_target(enum tally_gl_exclusive which)
{
	for (size_t i = 0; i < N_TARGETS; i++) {
		if (exclusive_targets[i].which == which)
			return exclusive_targets[i].target;
	}
	return 0;
}

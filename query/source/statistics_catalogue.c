/* SPDX-License-Identifier: MIT */
#include "query/source/statistics_catalogue.h"

#include <stdio.h>
#include <string.h>

#include "query/source/source.h"

#define NAMED_AT_MOST 2u /* statistics with the same reason */

#define ROW(which_, overview_, key_, name_, text_) \
	[TALLY_STATISTIC_##which_] = { \
		.key = key_, .name = name_, .description = text_, .overview = overview_ \
	}

const struct tally_statistic_info tally_statistics[TALLY_N_STATISTICS] = {
	ROW(VERTICES_SUBMITTED, false, "vertices_submitted", "Vertices submitted",
	    "Vertices that draws handed to the pipeline. A vertex that several indices "
	    "name is counted once for each; whether vertices of an incomplete primitive "
	    "count is the driver's choice."),
	ROW(PRIMITIVES_SUBMITTED, true, "primitives_submitted", "Primitives submitted",
	    "Points, lines, triangles or patches that draws handed to the pipeline, "
	    "before any shader. Whether incomplete primitives count, and how a driver "
	    "that splits line loops, polygons or quads counts those, is its choice."),
	ROW(VERTEX_SHADER_INVOCATIONS, true, "vertex_shader_invocations",
	    "Vertex shader invocations",
	    "Runs of the vertex shader. With indexed draws the GPU's vertex cache saves "
	    "some, so the number lies between the distinct and all the indices and "
	    "differs from GPU to GPU; on tiling GPUs vertices may be shaded twice."),
	ROW(TESS_CONTROL_SHADER_PATCHES, false, "tess_control_shader_patches",
	    "Tessellation control shader patches",
	    "Patches that the tessellation control (hull) shader worked on: patches, "
	    "not runs of the shader, of which each patch takes several."),
	ROW(TESS_EVALUATION_SHADER_INVOCATIONS, false,
	    "tess_evaluation_shader_invocations",
	    "Tessellation evaluation shader invocations",
	    "Runs of the tessellation evaluation (domain) shader. A vertex that "
	    "neighboring triangles of a patch share may be evaluated more than once."),
	ROW(GEOMETRY_SHADER_INVOCATIONS, false, "geometry_shader_invocations",
	    "Geometry shader invocations",
	    "Runs of the geometry shader; an instanced geometry shader runs several "
	    "times for each primitive."),
	ROW(GEOMETRY_SHADER_PRIMITIVES_EMITTED, false,
	    "geometry_shader_primitives_emitted", "Geometry shader primitives emitted",
	    "Primitives that left the geometry shader. Whether a strip that was cut "
	    "short counts is the driver's choice."),
	ROW(FRAGMENT_SHADER_INVOCATIONS, true, "fragment_shader_invocations",
	    "Fragment shader invocations",
	    "Runs of the fragment shader. Inexact by nature: GPUs shade blocks of at "
	    "least 2x2 pixels and some count the helper pixels at edges, early tests "
	    "may save runs, and work that the driver does with shaders of its own "
	    "(clears, blits) may be included."),
	ROW(COMPUTE_SHADER_INVOCATIONS, true, "compute_shader_invocations",
	    "Compute shader invocations",
	    "Runs of compute shaders. Some GPUs count whole groups of lanes, idle ones "
	    "included."),
	ROW(CLIPPING_INPUT_PRIMITIVES, false, "clipping_input_primitives",
	    "Clipping input primitives",
	    "Primitives that reached the clipping stage. What is culled earlier, or "
	    "discarded before rasterization, may be missing."),
	ROW(CLIPPING_OUTPUT_PRIMITIVES, false, "clipping_output_primitives",
	    "Clipping output primitives",
	    "Primitives that left the clipping stage. One that is cut can leave as "
	    "several and one outside the view as none; a GPU that clips with a guard "
	    "band gives other numbers than one that clips exactly."),
	ROW(SAMPLES_PASSED, false, "samples_passed", "Samples passed",
	    "Samples that passed the depth and stencil tests. With multisampling each "
	    "covered sample of a pixel counts. Depends on the order of the draws."),
	ROW(PRIMITIVES_GENERATED, false, "primitives_generated", "Primitives generated",
	    "Primitives that left the last of the vertex, tessellation and geometry "
	    "stages "
	    "for transform feedback stream 0, whether or not anything recorded them."),
	ROW(TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, false,
	    "transform_feedback_primitives_written",
	    "Transform feedback primitives written",
	    "Primitives that transform feedback wrote to its buffers, stream 0. Less "
	    "than were generated when a buffer was full or nothing recorded."),
};

bool
tally_statistics_wanted(const char *list, enum tally_statistic which)
{
	const struct tally_statistic_info *info = &tally_statistics[which];

	const struct tally_counter counter = { .key = info->key, .name = info->name };
	return tally_counter_wanted(list, &counter, NULL, NULL, info->overview);
}

const struct tally_counter *
tally_statistics_counter(enum tally_statistic which, const char *source, uint32_t width_bits)
{
	const struct tally_statistic_info *info = &tally_statistics[which];
	return tally_counter_keep(&(struct tally_counter){
		.key = info->key,
		.name = info->name,
		.unit = "1",
		.source = source,
		.description = info->description,
		.kind = TALLY_KIND_EVENT,
		.storage = TALLY_STORAGE_U64,
		.scope = TALLY_SCOPE_PASS,
		.width_bits = width_bits,
	});
}

void
tally_statistics_report_left_out(char *reason, const char *why[TALLY_N_STATISTICS])
{
	for (unsigned i = 0; i < TALLY_N_STATISTICS; i++) {
		const char *of = why[i];
		char names[160] = "";
		size_t len = 0;
		unsigned n = 0;
		for (unsigned k = i; of && k < TALLY_N_STATISTICS; k++) {
			if (why[k] != of)
				continue;
			why[k] = NULL;
			if (n++ < NAMED_AT_MOST)
				len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
							len ? ", " : "", tally_statistics[k].key);
		}
		if (n > NAMED_AT_MOST)
			snprintf(names + len, sizeof(names) - len, " and %u more",
				 n - NAMED_AT_MOST);
		if (n)
			tally_reason_add(reason, "%s%s (%s)",
					 reason[0] ? "" : "not counted here: ", names, of);
	}
	if (strlen(reason) == TALLY_REASON_BYTES - 1)
		strcpy(reason + TALLY_REASON_BYTES - 4, "...");
}

/* The first rows: every draw raises them. */
static bool
is_of_every_draw(const struct tally_counter *counter)
{
	for (unsigned i = 0; i <= TALLY_STATISTIC_VERTEX_SHADER_INVOCATIONS; i++)
		if (strcmp(tally_statistics[i].key, counter->key) == 0)
			return true;
	return false;
}

__attribute__((hot)) bool
tally_statistics_refute_zeros(const char *source, const struct tally_counter *const *counters,
			      uint32_t n, const struct tally_value *values, uint64_t *valid)
{
	bool refuted = false;
	for (uint32_t i = 0; i < n; i++) {
		if (!(valid[i / 64] >> (i % 64) & 1) ||
		    strcmp(counters[i]->source, source) != 0)
			continue;
		if (values[i].u64)
			return false;
		refuted |= is_of_every_draw(counters[i]);
	}
	for (uint32_t i = 0; i < n && refuted; i++) {
		if (strcmp(counters[i]->source, source) == 0)
			valid[i / 64] &= ~(UINT64_C(1) << (i % 64));
	}
	return refuted;
}

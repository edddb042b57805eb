/* SPDX-License-Identifier: MIT */
#include "query/source/statistics_catalogue.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "layer/config/config.h"

const struct tally_statistic_info tally_statistics[TALLY_N_STATISTICS] = {
	[TALLY_STATISTIC_VERTICES_SUBMITTED] = {
		.key = "vertices_submitted",
		.name = "Vertices submitted",
		.description =
			"Vertices that draws handed to the pipeline. A vertex that several indices "
			"name is counted once for each; whether vertices of an incomplete "
			"primitive count is the driver's choice.",
	},
	[TALLY_STATISTIC_PRIMITIVES_SUBMITTED] = {
		.key = "primitives_submitted",
		.name = "Primitives submitted",
		.description =
			"Points, lines, triangles or patches that draws handed to the pipeline, "
			"before any shader. Whether incomplete primitives count, and how a driver "
			"that splits line loops, polygons or quads counts those, is its choice.",
		.overview = true,
	},
	[TALLY_STATISTIC_VERTEX_SHADER_INVOCATIONS] = {
		.key = "vertex_shader_invocations",
		.name = "Vertex shader invocations",
		.description =
			"Runs of the vertex shader. With indexed draws the GPU's vertex cache "
			"saves some, so the number lies between the distinct and all the indices "
			"and differs from GPU to GPU; on tiling GPUs vertices may be shaded twice.",
		.overview = true,
	},
	[TALLY_STATISTIC_TESS_CONTROL_SHADER_PATCHES] = {
		.key = "tess_control_shader_patches",
		.name = "Tessellation control shader patches",
		.description =
			"Patches that the tessellation control (hull) shader worked on: patches, "
			"not runs of the shader, of which each patch takes several.",
	},
	[TALLY_STATISTIC_TESS_EVALUATION_SHADER_INVOCATIONS] = {
		.key = "tess_evaluation_shader_invocations",
		.name = "Tessellation evaluation shader invocations",
		.description =
			"Runs of the tessellation evaluation (domain) shader. A vertex that "
			"neighbouring triangles of a patch share may be evaluated more than once.",
	},
	[TALLY_STATISTIC_GEOMETRY_SHADER_INVOCATIONS] = {
		.key = "geometry_shader_invocations",
		.name = "Geometry shader invocations",
		.description =
			"Runs of the geometry shader; an instanced geometry shader runs several "
			"times for each primitive.",
	},
	[TALLY_STATISTIC_GEOMETRY_SHADER_PRIMITIVES_EMITTED] = {
		.key = "geometry_shader_primitives_emitted",
		.name = "Geometry shader primitives emitted",
		.description =
			"Primitives that left the geometry shader. Whether a strip that was cut "
			"short counts is the driver's choice.",
	},
	[TALLY_STATISTIC_FRAGMENT_SHADER_INVOCATIONS] = {
		.key = "fragment_shader_invocations",
		.name = "Fragment shader invocations",
		.description =
			"Runs of the fragment shader. Inexact by nature: GPUs shade blocks of at "
			"least 2x2 pixels and some count the helper pixels at edges, early tests "
			"may save runs, and work that the driver does with shaders of its own "
			"(clears, blits) may be included.",
		.overview = true,
	},
	[TALLY_STATISTIC_COMPUTE_SHADER_INVOCATIONS] = {
		.key = "compute_shader_invocations",
		.name = "Compute shader invocations",
		.description =
			"Runs of compute shaders. Some GPUs count whole groups of lanes, idle ones "
			"included.",
		.overview = true,
	},
	[TALLY_STATISTIC_CLIPPING_INPUT_PRIMITIVES] = {
		.key = "clipping_input_primitives",
		.name = "Clipping input primitives",
		.description =
			"Primitives that reached the clipping stage. What is culled earlier, or "
			"discarded before rasterisation, may be missing.",
	},
	[TALLY_STATISTIC_CLIPPING_OUTPUT_PRIMITIVES] = {
		.key = "clipping_output_primitives",
		.name = "Clipping output primitives",
		.description =
			"Primitives that left the clipping stage. One that is cut can leave as "
			"several and one outside the view as none; a GPU that clips with a guard "
			"band gives other numbers than one that clips exactly.",
	},
	[TALLY_STATISTIC_SAMPLES_PASSED] = {
		.key = "samples_passed",
		.name = "Samples passed",
		.description =
			"Samples that passed the depth and stencil tests. With multisampling each "
			"covered sample of a pixel counts. Depends on the order of the draws.",
	},
	[TALLY_STATISTIC_PRIMITIVES_GENERATED] = {
		.key = "primitives_generated",
		.name = "Primitives generated",
		.description =
			"Primitives that left the last of the vertex, tessellation and geometry "
			"stages for transform feedback stream 0, whether or not anything recorded "
			"them.",
	},
	[TALLY_STATISTIC_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN] = {
		.key = "transform_feedback_primitives_written",
		.name = "Transform feedback primitives written",
		.description =
			"Primitives that transform feedback wrote to its buffers, stream 0. Less "
			"than were generated when a buffer was full or nothing recorded.",
	},
};

bool
tally_statistics_wanted(const char *list, enum tally_statistic which)
{
	const struct tally_statistic_info *info = &tally_statistics[which];

	if (!list)
		return info->overview;
	if (info->overview && tally_list_has(list, "overview"))
		return true;
	return tally_list_has(list, "all") || tally_list_matches(list, info->key, info->name);
}

struct known_counter {
	struct tally_counter counter;
	struct known_counter *next; /* never changes once published */
};

/* All counters returned so far: the combinations of statistics, widths and sources that occur,
 * a few dozen. They are never freed. Entries are pushed without a lock, so that a fork at any
 * moment is harmless. */
static struct known_counter *_Atomic known_counters;

static const struct tally_counter *
find_counter(const struct known_counter *list, const char *key, const char *source,
	     uint32_t width_bits)
{
	for (; list; list = list->next) {
		if (list->counter.key == key && list->counter.width_bits == width_bits &&
		    strcmp(list->counter.source, source) == 0)
			return &list->counter;
	}
	return NULL;
}

const struct tally_counter *
tally_statistics_counter(enum tally_statistic which, const char *source, uint32_t width_bits)
{
	const struct tally_statistic_info *info = &tally_statistics[which];
	struct known_counter *head = atomic_load_explicit(&known_counters, memory_order_acquire);
	const struct tally_counter *found = find_counter(head, info->key, source, width_bits);
	if (found)
		return found;

	struct known_counter *fresh = malloc(sizeof(*fresh));
	if (!fresh)
		return NULL;
	fresh->counter = (struct tally_counter){
		.key = info->key,
		.name = info->name,
		.unit = "1",
		.source = source,
		.description = info->description,
		.kind = TALLY_KIND_EVENT,
		.storage = TALLY_STORAGE_U64,
		.scope = TALLY_SCOPE_PASS,
		.width_bits = width_bits,
	};
	do {
		fresh->next = head;
		if (atomic_compare_exchange_weak_explicit(&known_counters, &head, fresh,
							  memory_order_acq_rel,
							  memory_order_acquire))
			return &fresh->counter;
		/* Another thread was faster, perhaps with this same counter. */
		found = find_counter(head, info->key, source, width_bits);
	} while (!found);
	free(fresh);
	return found;
}

/* The statistic that a counter of this source is, or TALLY_N_STATISTICS. */
static unsigned
statistic_of(const struct tally_counter *counter, const char *source)
{
	unsigned which = 0;
	if (strcmp(counter->source, source) != 0)
		return TALLY_N_STATISTICS;
	while (which < TALLY_N_STATISTICS && tally_statistics[which].key != counter->key)
		which++;
	return which;
}

bool
tally_statistics_refute_zeros(const char *source, const struct tally_counter *const *counters,
			      uint32_t n, const struct tally_value *values, uint64_t *valid)
{
	bool refuted = false;
	for (uint32_t i = 0; i < n; i++) {
		unsigned which = statistic_of(counters[i], source);
		if (which == TALLY_N_STATISTICS || !(valid[i / 64] >> (i % 64) & 1))
			continue;
		if (values[i].u64)
			return false;
		refuted |= which <= TALLY_STATISTIC_VERTEX_SHADER_INVOCATIONS;
	}
	for (uint32_t i = 0; i < n && refuted; i++) {
		if (statistic_of(counters[i], source) != TALLY_N_STATISTICS)
			valid[i / 64] &= ~(UINT64_C(1) << (i % 64));
	}
	return refuted;
}

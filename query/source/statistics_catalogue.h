/* SPDX-License-Identifier: MIT */
/* query/source/statistics_catalogue.h - the pipeline statistics, under one set of keys
 * for every API.
 *
 * OpenGL and Vulkan count the same things at the same points of the pipeline; a source that
 * offers one of them takes key, name and description from here, so that a report does not
 * depend on the API. Any thread; only tally_statistics_counter() allocates, and nothing
 * here blocks.
 */
#ifndef PASSTALLY_QUERY_STATISTICS_CATALOGUE_H
#define PASSTALLY_QUERY_STATISTICS_CATALOGUE_H

#include "layer/record.h"

/* query/gl/api.h counts on from these numbers. */
enum tally_statistic {
	TALLY_STATISTIC_VERTICES_SUBMITTED = 0,
	TALLY_STATISTIC_PRIMITIVES_SUBMITTED,
	TALLY_STATISTIC_VERTEX_SHADER_INVOCATIONS,
	TALLY_STATISTIC_TESS_CONTROL_SHADER_PATCHES,
	TALLY_STATISTIC_TESS_EVALUATION_SHADER_INVOCATIONS,
	TALLY_STATISTIC_GEOMETRY_SHADER_INVOCATIONS,
	TALLY_STATISTIC_GEOMETRY_SHADER_PRIMITIVES_EMITTED,
	TALLY_STATISTIC_FRAGMENT_SHADER_INVOCATIONS,
	TALLY_STATISTIC_COMPUTE_SHADER_INVOCATIONS,
	TALLY_STATISTIC_CLIPPING_INPUT_PRIMITIVES,
	TALLY_STATISTIC_CLIPPING_OUTPUT_PRIMITIVES,
	TALLY_STATISTIC_SAMPLES_PASSED,
	TALLY_STATISTIC_PRIMITIVES_GENERATED,
	TALLY_STATISTIC_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN,
	TALLY_N_STATISTICS,
};

/* No GPU counts this much in a pass: a larger value is not a count, but uninitialized memory of
 * the driver. */
#define TALLY_STATISTIC_MOST (UINT64_C(1) << 56)

/* The properties of a statistic that are the same in every API. */
struct tally_statistic_info {
	const char *key, *name, *description;
	bool overview; /* in the set `overview`, which is counted by default */
};
extern const struct tally_statistic_info tally_statistics[TALLY_N_STATISTICS];

/* Whether a --counters list requests it. NULL represents `overview`. */
bool tally_statistics_wanted(const char *list, enum tally_statistic which);

/* The counter as `source` (a static string) delivers it, `width_bits` wide. Lives as long as
 * the process, because the description of a device outlives contexts; equal arguments give
 * equal pointers. NULL on OOM. */
const struct tally_counter *
tally_statistics_counter(enum tally_statistic which, const char *source,
			 uint32_t width_bits);

/* Adds to a source's reason which statistics are not counted: why[i] is the reason of statistic i,
 * or NULL. Those of one reason (the same pointer) are named together, the first of many; a text
 * that does not fit ends in dots. Clears `why`. */
void tally_statistics_report_left_out(char *reason, const char *why[TALLY_N_STATISTICS]);

/* For the values of work that drew for certain, and with enough vertices for a primitive. If a
 * statistic that every draw raises is among the valid ones and all valid statistics are 0, they
 * are not counts, but the values that a driver returns after a reset of the GPU: clears their
 * bits in `valid` and returns true. Counters of other sources are left alone. */
bool tally_statistics_refute_zeros(const char *source,
				   const struct tally_counter *const *counters, uint32_t n,
				   const struct tally_value *values, uint64_t *valid);

#endif

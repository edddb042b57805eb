/* SPDX-License-Identifier: MIT */
/* tests/fake_gl/perf_intel.h - the query types that the fake INTEL extension offers.
 *
 * Only tables: perf_intel.c has what a query does. Numbers are sparse on purpose.
 * Any thread.
 */
#ifndef PASSTALLY_TESTS_FAKE_GL_PERF_INTEL_H
#define PASSTALLY_TESTS_FAKE_GL_PERF_INTEL_H

#include "tests/fake_gl/perf.h"

enum fake_perf_kind { FAKE_PERF_PIPELINE, FAKE_PERF_HARDWARE, FAKE_PERF_RAW };

struct fake_perf_query {
	unsigned id;
	const char *name;
	enum fake_perf_kind kind;
	const struct fake_perf_counter *counters;
	size_t n;
	unsigned size;
	unsigned from_sets; /* offered when config.sets is at least this number */
};

/* Returns the n-th type that the configuration offers, NULL past the last. */
const struct fake_perf_query *fake_perf_query_at(unsigned n);

#endif

/* SPDX-License-Identifier: MIT */
/* What the INTEL extension counts here: sets, some of which cannot be active together. Offsets
 * are those of natural alignment. */
#include "tests/fake_gl/perf_intel.h"

#include <stddef.h>

static const struct fake_perf_counter pipeline[] = {
	{ "N vertices submitted", FAKE_PERF_U64, FAKE_PERF_VERTICES, 0, 0, 0 },
	{ "N draw calls", FAKE_PERF_U64, FAKE_PERF_DRAWS, 0, 0, 8 },
};

/* Each data type, with gaps between the counters and after them. */
static const struct fake_perf_counter typed[] = {
	{ "Typed uint32", FAKE_PERF_U32, FAKE_PERF_SCRIPT, 1, 4, 0 },
	{ "Typed uint64", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 2, 0, 8 },
	{ "Typed float", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 3, 1, 20 },
	{ "Typed double", FAKE_PERF_DOUBLE, FAKE_PERF_SCRIPT, 4, 2, 24 },
	{ "Typed bool", FAKE_PERF_BOOL, FAKE_PERF_SCRIPT, 5, 4, 36 },
	{ "Typed wrap", FAKE_PERF_U32, FAKE_PERF_WRAP, 6, 4, 40 },
	{ "Hardware draws", FAKE_PERF_U32, FAKE_PERF_DRAWS, 0, 0, 44 },
	{ "Hardware vertices", FAKE_PERF_U64, FAKE_PERF_VERTICES, 0, 0, 48 },
};

static const struct fake_perf_counter raw[] = {
	{ "Raw report", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 90, 4, 0 },
};

#define TURN(k)                                                                                    \
	{                                                                                          \
		{ "Turn " #k " count", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 51 + 2 * (k), 0, 0 },      \
		{ "Turn " #k " share", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 52 + 2 * (k), 1, 8 },    \
	}
static const struct fake_perf_counter turns[8][2] = {
	TURN(1), TURN(2), TURN(3), TURN(4), TURN(5), TURN(6), TURN(7), TURN(8),
};

#define COUNTERS(table) (table), sizeof(table) / sizeof((table)[0])

/* By name, as Mesa sorts them; the numbers have gaps. */
static const struct fake_perf_query queries[] = {
	{ 97, "Intel_Raw_Hardware_Counters_Set_0_Query", FAKE_PERF_RAW, COUNTERS(raw), 256, 0 },
	{ 1, "Pipeline Statistics Registers", FAKE_PERF_PIPELINE, COUNTERS(pipeline), 16, 0 },
	{ 8, "Render Metrics Basic set", FAKE_PERF_HARDWARE, COUNTERS(typed), 64, 0 },
	{ 90, "TestOa", FAKE_PERF_RAW, COUNTERS(raw), 64, 0 },
	{ 15, "Turn set 1", FAKE_PERF_HARDWARE, COUNTERS(turns[0]), 16, 2 },
	{ 22, "Turn set 2", FAKE_PERF_HARDWARE, COUNTERS(turns[1]), 16, 3 },
	{ 29, "Turn set 3", FAKE_PERF_HARDWARE, COUNTERS(turns[2]), 16, 4 },
	{ 36, "Turn set 4", FAKE_PERF_HARDWARE, COUNTERS(turns[3]), 16, 5 },
	{ 43, "Turn set 5", FAKE_PERF_HARDWARE, COUNTERS(turns[4]), 16, 6 },
	{ 50, "Turn set 6", FAKE_PERF_HARDWARE, COUNTERS(turns[5]), 16, 7 },
	{ 57, "Turn set 7", FAKE_PERF_HARDWARE, COUNTERS(turns[6]), 16, 8 },
	{ 64, "Turn set 8", FAKE_PERF_HARDWARE, COUNTERS(turns[7]), 16, 9 },
};

/* The n-th that this configuration offers. */
const struct fake_perf_query *
fake_perf_query_at(unsigned n)
{
	const struct fake_perf_config *config = &fake_perf.config;

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		bool allowed = queries[i].kind == FAKE_PERF_PIPELINE || !config->paranoid;
		if (allowed && queries[i].from_sets <= config->sets && n-- == 0)
			return &queries[i];
	}
	return NULL;
}

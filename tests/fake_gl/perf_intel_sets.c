/* SPDX-License-Identifier: MIT */
/* What the INTEL extension counts here: sets of the present dialect, some that cannot be active
 * together, and the two queries of the pre-standard one as Windows had them on Sandy Bridge.
 * Offsets are those of natural alignment. */
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

static const struct fake_perf_counter old_hardware[] = {
	{ "TotalTime", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 201, 2, 0 },
	{ "GPUBusyTime", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 202, 1, 8 },
	{ "PipelineFrontEndWaitTime", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 203, 1, 12 },
	{ "PipelineFrontEndStallTime", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 204, 1, 16 },
	{ "GfxCoresBusyTime", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 205, 1, 20 },
	{ "GfxCoresStallTime", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 206, 1, 24 },
	{ "VertexShaderActiveTime", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 207, 1, 28 },
	{ "VertexShaderStallTime", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 208, 1, 32 },
	{ "VertexShaderWaitTime", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 209, 1, 36 },
	{ "FragmentShaderActiveTime", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 210, 1, 40 },
	{ "FragmentShaderStallTime", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 211, 1, 44 },
	{ "FragmentShaderWaitTime", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 212, 1, 48 },
	{ "SamplerBusyTime", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 213, 1, 52 },
	{ "SamplerStallTime", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 214, 1, 56 },
	{ "ClipperStageActiveTime", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 215, 1, 60 },
	{ "TriangleSetupStageActiveTime", FAKE_PERF_FLOAT, FAKE_PERF_SCRIPT, 216, 1, 64 },
	{ "VertexShaderActivePerThread", FAKE_PERF_U32, FAKE_PERF_SCRIPT, 217, 2, 68 },
	{ "VertexShaderStallPerThread", FAKE_PERF_U32, FAKE_PERF_SCRIPT, 218, 2, 72 },
	{ "VertexShaderWaitPerThread", FAKE_PERF_U32, FAKE_PERF_SCRIPT, 219, 2, 76 },
	{ "FragmentShaderActivePerThread", FAKE_PERF_U32, FAKE_PERF_SCRIPT, 220, 2, 80 },
	{ "FragmentShaderStallPerThread", FAKE_PERF_U32, FAKE_PERF_SCRIPT, 221, 2, 84 },
	{ "FragmentShaderWaitPerThread", FAKE_PERF_U32, FAKE_PERF_SCRIPT, 222, 2, 88 },
	{ "VertexShaderThreadsCount", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 223, 0, 96 },
	{ "FragmentShaderThreadsCount", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 224, 0, 104 },
	{ "FragmentsBlendedCount", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 225, 4, 112 },
	{ "SamplerTextureMemoryThroughput", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 226, 3, 120 },
	{ "SamplerPostFilteredTexels", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 227, 4, 128 },
	{ "GPUMemoryWriteThroughput", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 228, 3, 136 },
	{ "GPUMemoryReadThroughput", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 229, 3, 144 },
	{ "DepthBufferThroughput", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 230, 3, 152 },
	{ "FragmentsKillCount", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 231, 4, 160 },
	{ "AlphaTestFails", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 232, 4, 168 },
	{ "PerfCounter1", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 233, 0, 176 },
	{ "PerfCounter2", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 234, 0, 184 },
	{ "CoreClocksCount", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 235, 4, 192 },
	{ "SplitOccured", FAKE_PERF_BOOL, FAKE_PERF_SCRIPT, 236, 0, 200 },
	{ "CoreFrequencyChanged", FAKE_PERF_BOOL, FAKE_PERF_SCRIPT, 237, 0, 204 },
	{ "CoreFrequency", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 238, 4, 208 },
};

static const struct fake_perf_counter old_pipeline[] = {
	{ "VerticesCount", FAKE_PERF_U64, FAKE_PERF_VERTICES, 301, 4, 0 },
	{ "PrimitivesCount", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 302, 4, 8 },
	{ "VerticesProcessed", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 303, 4, 16 },
	{ "ClipperInvocations", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 304, 0, 24 },
	{ "ClipperPrimitives", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 305, 4, 32 },
	{ "FragmentsRendered", FAKE_PERF_U64, FAKE_PERF_SCRIPT, 306, 4, 40 },
};

#define COUNTERS(table) (table), sizeof(table) / sizeof((table)[0])

/* By name, as Mesa sorts them; the numbers have gaps. */
static const struct fake_perf_query present[] = {
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

static const struct fake_perf_query before[] = {
	{ 0x0206, "Intel_GT_Hardware_Counters", FAKE_PERF_HARDWARE, COUNTERS(old_hardware), 216,
	  0 },
	{ 0x0104, "Intel_Pipeline_Query", FAKE_PERF_PIPELINE, COUNTERS(old_pipeline), 48, 0 },
};

/* The n-th that this configuration offers. */
const struct fake_perf_query *
fake_perf_query_at(unsigned n)
{
	const struct fake_perf_config *config = &fake_perf.config;
	bool old = !(config->ext & FAKE_PERF_INTEL);
	const struct fake_perf_query *table = old ? before : present;
	size_t rows = old ? sizeof(before) / sizeof(before[0])
			  : sizeof(present) / sizeof(present[0]);

	for (size_t i = 0; i < rows; i++) {
		bool allowed = table[i].kind == FAKE_PERF_PIPELINE || !config->paranoid;
		if (allowed && table[i].from_sets <= config->sets && n-- == 0)
			return &table[i];
	}
	return NULL;
}

/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "tests/fake_vk_perf/perf.h"

#define COUNTER(what, times, unit_, storage_, scope_, flags_) \
	{ \
		.quantity = PERF_##what, .factor = times, \
		.unit = VK_PERFORMANCE_COUNTER_UNIT_##unit_##_KHR, \
		.storage = VK_PERFORMANCE_COUNTER_STORAGE_##storage_##_KHR, \
		.scope = VK_PERFORMANCE_COUNTER_SCOPE_##scope_##_KHR, .flags = flags_, \
	}
#define IMPACTED VK_PERFORMANCE_COUNTER_DESCRIPTION_CONCURRENTLY_IMPACTED_BIT_KHR
#define IMPACTING VK_PERFORMANCE_COUNTER_DESCRIPTION_PERFORMANCE_IMPACTING_BIT_KHR

/* Twenty counters that may be used anywhere, then those that may not. */
const struct perf_counter perf_counters[] = {
	COUNTER(DRAWS, 1, GENERIC, UINT64, COMMAND, 0),
	COUNTER(VERTICES, 1, GENERIC, UINT32, COMMAND, 0),
	COUNTER(DISPATCHES, 1, GENERIC, INT32, COMMAND, IMPACTED),
	COUNTER(DRAWS, 2, CYCLES, INT64, COMMAND, 0),
	COUNTER(DRAWS, 3, NANOSECONDS, UINT64, COMMAND, 0),
	COUNTER(VERTICES, 4, BYTES, UINT64, COMMAND, 0),
	COUNTER(VERTICES, 5, GENERIC, FLOAT32, COMMAND, 0),
	COUNTER(VERTICES, 6, GENERIC, FLOAT64, COMMAND, IMPACTED),
	COUNTER(DRAWS, 7, PERCENTAGE, FLOAT32, COMMAND, 0),
	COUNTER(DRAWS, 8, HERTZ, UINT64, COMMAND, 0),
	COUNTER(DRAWS, 9, BYTES_PER_SECOND, FLOAT64, COMMAND, 0),
	COUNTER(VERTICES, 10000000019, GENERIC, UINT64, COMMAND, 0),
	COUNTER(VERTICES, 11, GENERIC, INT64, COMMAND, 0),
	COUNTER(DRAWS, 12, CYCLES, UINT32, COMMAND, 0),
	COUNTER(DRAWS, 13, KELVIN, FLOAT32, COMMAND, 0),
	COUNTER(DISPATCHES, 14, GENERIC, UINT64, COMMAND, 0),
	COUNTER(VERTICES, 15, GENERIC, UINT32, COMMAND, 0),
	COUNTER(DRAWS, 16, WATTS, FLOAT64, COMMAND, 0),
	COUNTER(DRAWS, 17, GENERIC, INT32, COMMAND, 0),
	COUNTER(VERTICES, 18, BYTES, FLOAT64, COMMAND, IMPACTING),
	COUNTER(DRAWS, 101, GENERIC, UINT64, RENDER_PASS, 0),
	COUNTER(VERTICES, 102, BYTES, FLOAT64, RENDER_PASS, 0),
	COUNTER(DRAWS, 201, GENERIC, UINT64, COMMAND_BUFFER, 0),
	COUNTER(VERTICES, 202, VOLTS, FLOAT32, COMMAND_BUFFER, 0),
	COUNTER(DISPATCHES, 203, AMPS, FLOAT32, COMMAND_BUFFER, 0),
};
const uint32_t perf_n_counters = G_N_ELEMENTS(perf_counters);

static bool
is_named(const struct perf_counter *counter)
{
	return perf_config.share[0] && counter->unit == VK_PERFORMANCE_COUNTER_UNIT_PERCENTAGE_KHR;
}

void
perf_name(const struct perf_counter *counter, char *out, size_t size)
{
	static const char *const words[] = { "draws", "vertices", "dispatches" };
	if (is_named(counter))
		snprintf(out, size, "%s", perf_config.share);
	else
		snprintf(out, size, "%s times %" G_GUINT64_FORMAT, words[counter->quantity],
			 (guint64)counter->factor);
}

VkPerformanceCounterResultKHR
perf_value(const struct perf_counter *counter, const struct perf_work *work)
{
	const uint64_t of[] = { work->draws, work->vertices, work->dispatches };
	uint64_t value = is_named(counter) ? 88 : of[counter->quantity] * counter->factor;
	/* The bits that a 32-bit value does not set are noise. */
	VkPerformanceCounterResultKHR out = { .uint64 = UINT64_C(0xdededededededede) };
	switch (counter->storage) {
	case VK_PERFORMANCE_COUNTER_STORAGE_INT32_KHR:
		out.int32 = (int32_t)value;
		break;
	case VK_PERFORMANCE_COUNTER_STORAGE_INT64_KHR:
		out.int64 = (int64_t)value;
		break;
	case VK_PERFORMANCE_COUNTER_STORAGE_UINT32_KHR:
		out.uint32 = (uint32_t)value;
		break;
	case VK_PERFORMANCE_COUNTER_STORAGE_FLOAT32_KHR:
		out.float32 = (float)value;
		break;
	case VK_PERFORMANCE_COUNTER_STORAGE_FLOAT64_KHR:
		out.float64 = (double)value;
		break;
	default:
		out.uint64 = value;
		break;
	}
	return out;
}

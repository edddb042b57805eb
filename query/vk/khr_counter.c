/* SPDX-License-Identifier: MIT */
#include "query/vk/khr_counter.h"

#include <stdio.h>
#include <string.h>

struct meaning {
	const char *unit;
	enum tally_counter_kind kind;
};

static struct meaning
meaning_of(const VkPerformanceCounterKHR *counter, const char *name)
{
	static const struct meaning by_unit[] = {
		[VK_PERFORMANCE_COUNTER_UNIT_GENERIC_KHR] = { "1", TALLY_KIND_EVENT },
		[VK_PERFORMANCE_COUNTER_UNIT_PERCENTAGE_KHR] = { "percent", TALLY_KIND_RATIO },
		[VK_PERFORMANCE_COUNTER_UNIT_NANOSECONDS_KHR] = { "ns", TALLY_KIND_DURATION },
		[VK_PERFORMANCE_COUNTER_UNIT_BYTES_KHR] = { "bytes", TALLY_KIND_THROUGHPUT },
		[VK_PERFORMANCE_COUNTER_UNIT_BYTES_PER_SECOND_KHR] = { "bytes/s",
								       TALLY_KIND_THROUGHPUT },
		[VK_PERFORMANCE_COUNTER_UNIT_KELVIN_KHR] = { "kelvin", TALLY_KIND_RAW },
		[VK_PERFORMANCE_COUNTER_UNIT_WATTS_KHR] = { "watts", TALLY_KIND_RAW },
		[VK_PERFORMANCE_COUNTER_UNIT_VOLTS_KHR] = { "volts", TALLY_KIND_RAW },
		[VK_PERFORMANCE_COUNTER_UNIT_AMPS_KHR] = { "amps", TALLY_KIND_RAW },
		[VK_PERFORMANCE_COUNTER_UNIT_HERTZ_KHR] = { "hertz", TALLY_KIND_RAW },
		[VK_PERFORMANCE_COUNTER_UNIT_CYCLES_KHR] = { "cycles", TALLY_KIND_DURATION },
	};
	/* RADV (seen in Mesa 22.3.6) reports its cache hit ratios, which are percentages,
	 * as bytes. This can be removed when RADV_FORCE_FAMILY=navi21 no longer lists a
	 * ratio in bytes. */
	if (counter->unit == VK_PERFORMANCE_COUNTER_UNIT_BYTES_KHR && strstr(name, "hit ratio"))
		return by_unit[VK_PERFORMANCE_COUNTER_UNIT_PERCENTAGE_KHR];
	if ((uint32_t)counter->unit >= sizeof(by_unit) / sizeof(by_unit[0]))
		return (struct meaning){ "?", TALLY_KIND_RAW };
	return by_unit[counter->unit];
}

static const struct {
	enum tally_storage storage;
	uint32_t width;
} storages[] = {
	[VK_PERFORMANCE_COUNTER_STORAGE_INT32_KHR] = { TALLY_STORAGE_I64, 32 },
	[VK_PERFORMANCE_COUNTER_STORAGE_INT64_KHR] = { TALLY_STORAGE_I64, 64 },
	[VK_PERFORMANCE_COUNTER_STORAGE_UINT32_KHR] = { TALLY_STORAGE_U64, 32 },
	[VK_PERFORMANCE_COUNTER_STORAGE_UINT64_KHR] = { TALLY_STORAGE_U64, 64 },
	[VK_PERFORMANCE_COUNTER_STORAGE_FLOAT32_KHR] = { TALLY_STORAGE_F64, 32 },
	[VK_PERFORMANCE_COUNTER_STORAGE_FLOAT64_KHR] = { TALLY_STORAGE_F64, 64 },
};

bool
tally_khr_knows_storage(VkPerformanceCounterStorageKHR storage)
{
	return (uint32_t)storage < sizeof(storages) / sizeof(storages[0]);
}

enum tally_scope
tally_khr_scope(VkPerformanceCounterScopeKHR scope)
{
	switch (scope) {
	case VK_PERFORMANCE_COUNTER_SCOPE_COMMAND_BUFFER_KHR:
		return TALLY_SCOPE_SUBMISSION;
	case VK_PERFORMANCE_COUNTER_SCOPE_RENDER_PASS_KHR:
		return TALLY_SCOPE_PASS;
	default:
		return TALLY_SCOPE_WORKLOAD;
	}
}

/* The driver's description, its limitations, and a name that is the same across drivers and
 * runs. */
static void
describe(const VkPerformanceCounterKHR *counter, const VkPerformanceCounterDescriptionKHR *from,
	 struct tally_khr_texts *texts)
{
	size_t size = sizeof(texts->description);
	VkPerformanceCounterDescriptionFlagsKHR flags = from->flags;
	bool impacts = flags & VK_PERFORMANCE_COUNTER_DESCRIPTION_PERFORMANCE_IMPACTING_BIT_KHR;
	bool impacted = flags & VK_PERFORMANCE_COUNTER_DESCRIPTION_CONCURRENTLY_IMPACTED_BIT_KHR;
	bool whole = counter->scope == VK_PERFORMANCE_COUNTER_SCOPE_COMMAND_BUFFER_KHR;
	const char *text = from->description[0] ? from->description : from->name;
	size_t end = strlen(text);

	for (uint32_t i = 0; i < VK_UUID_SIZE; i++)
		snprintf(texts->uuid + 2 * i, 3, "%02x", counter->uuid[i]);
	snprintf(texts->description, size, "%s%s%s%s%s [%s]", text,
		 end && text[end - 1] != '.' ? "." : "",
		 whole ? " Of whole command buffers only." : "",
		 impacted ? " Includes what runs at the same time." : "",
		 impacts ? " Counting it slows the GPU down." : "", texts->uuid);
}

struct tally_counter
tally_khr_describe(const VkPerformanceCounterKHR *counter,
		   const VkPerformanceCounterDescriptionKHR *from, struct tally_khr_texts *texts)
{
	struct meaning meaning = meaning_of(counter, from->name);

	tally_counter_slug(from->name, texts->key, sizeof(texts->key));
	describe(counter, from, texts);
	bool known = tally_khr_knows_storage(counter->storage);
	uint32_t how = known ? (uint32_t)counter->storage
			     : VK_PERFORMANCE_COUNTER_STORAGE_UINT64_KHR;
	return (struct tally_counter){
		.key = texts->key,
		.name = from->name,
		.unit = meaning.unit,
		.source = TALLY_KHR_NAME,
		.description = texts->description,
		.kind = meaning.kind,
		.storage = storages[how].storage,
		.scope = tally_khr_scope(counter->scope),
		.width_bits = storages[how].width,
	};
}

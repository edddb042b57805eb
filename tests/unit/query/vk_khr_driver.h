/* SPDX-License-Identifier: MIT */
/* tests/unit/query/vk_khr_driver.h - a Vulkan driver that supports performance queries, for
 * the tests of query/vk/khr.c: what it lists, what was requested of it, and a source opened
 * on it.
 *
 * One thread.
 */
#ifndef PASSTALLY_TESTS_UNIT_VK_KHR_DRIVER_H
#define PASSTALLY_TESTS_UNIT_VK_KHR_DRIVER_H

#include <glib.h>
#include <math.h>
#include <string.h>

#include "query/vk/khr_catalogue.h"

/* A driver that supports performance queries: what it lists and what was requested of it. */
#define MAX_LISTED 64u
#define N_SLOTS 8u

struct listed {
	const char *name, *category, *description;
	unsigned uuid;
	VkPerformanceCounterUnitKHR unit;
	VkPerformanceCounterStorageKHR storage;
	VkPerformanceCounterScopeKHR scope;
	VkPerformanceCounterDescriptionFlagsKHR flags;
	unsigned cost; /* share of what one run can count; 0: 1 */
};

static struct {
	const struct listed *families[3];
	uint32_t n[3], n_families;
	unsigned room; /* what one run can count */
	bool with_arrays[3];
	VkResult lock_answer;
	uint64_t lock_timeout;
	unsigned locked, released;
	VkPhysicalDevice physical;
	/* The most recently made pools, by handle - 1. */
	uint32_t pool_family[8], pool_n[8], pool_indices[8][MAX_LISTED], n_pools;
	VkResult pool_answer;
	char log[256];
	/* The contents of a query; ready[] says whether they are available. */
	VkPerformanceCounterResultKHR results[N_SLOTS][MAX_LISTED];
	VkResult ready[N_SLOTS];
	VkQueryResultFlags flags;
	size_t size;
	VkDeviceSize stride;
} drv;

static inline VkResult VKAPI_CALL
drv_list(VkPhysicalDevice physical, uint32_t family, uint32_t *n,
	 VkPerformanceCounterKHR *counters, VkPerformanceCounterDescriptionKHR *texts)
{
	g_assert_true(physical == drv.physical);
	g_assert_cmpuint(family, <, drv.n_families);
	if (!counters && !texts) {
		*n = drv.n[family];
		return VK_SUCCESS;
	}
	g_assert_cmpuint(*n, ==, drv.n[family]);
	drv.with_arrays[family] = counters && texts;
	for (uint32_t i = 0; i < *n; i++) {
		const struct listed *from = &drv.families[family][i];
		g_assert_cmpint(counters[i].sType, ==,
				VK_STRUCTURE_TYPE_PERFORMANCE_COUNTER_KHR);
		g_assert_cmpint(texts[i].sType, ==,
				VK_STRUCTURE_TYPE_PERFORMANCE_COUNTER_DESCRIPTION_KHR);
		counters[i].unit = from->unit;
		counters[i].storage = from->storage;
		counters[i].scope = from->scope;
		memset(counters[i].uuid, 0, VK_UUID_SIZE);
		counters[i].uuid[VK_UUID_SIZE - 1] = (uint8_t)from->uuid;
		texts[i].flags = from->flags;
		g_strlcpy(texts[i].name, from->name, sizeof(texts[i].name));
		g_strlcpy(texts[i].category, from->category ? from->category : "",
			  sizeof(texts[i].category));
		g_strlcpy(texts[i].description, from->description ? from->description : "",
			  sizeof(texts[i].description));
	}
	return VK_SUCCESS;
}

static inline void VKAPI_CALL
drv_runs(VkPhysicalDevice physical, const VkQueryPoolPerformanceCreateInfoKHR *info,
	 uint32_t *runs)
{
	unsigned cost = 0;
	g_assert_true(physical == drv.physical);
	g_assert_cmpint(info->sType, ==,
			VK_STRUCTURE_TYPE_QUERY_POOL_PERFORMANCE_CREATE_INFO_KHR);
	g_assert_cmpuint(info->counterIndexCount, >, 0);
	for (uint32_t i = 0; i < info->counterIndexCount; i++) {
		uint32_t index = info->pCounterIndices[i];
		g_assert_cmpuint(index, <, drv.n[info->queueFamilyIndex]);
		unsigned one = drv.families[info->queueFamilyIndex][index].cost;
		cost += one ? one : 1;
	}
	*runs = (cost + drv.room - 1) / drv.room;
}

static inline VkResult VKAPI_CALL
drv_lock(VkDevice device, const VkAcquireProfilingLockInfoKHR *info)
{
	(void)device;
	g_assert_cmpint(info->sType, ==, VK_STRUCTURE_TYPE_ACQUIRE_PROFILING_LOCK_INFO_KHR);
	drv.lock_timeout = info->timeout;
	drv.locked++;
	return drv.lock_answer;
}

static inline void VKAPI_CALL
drv_release(VkDevice device)
{
	(void)device;
	drv.released++;
}

static inline VkResult VKAPI_CALL
drv_create_pool(VkDevice device, const VkQueryPoolCreateInfo *info,
		const VkAllocationCallbacks *allocator, VkQueryPool *out)
{
	const VkQueryPoolPerformanceCreateInfoKHR *counters = info->pNext;
	(void)device;
	(void)allocator;
	g_assert_cmpint(info->queryType, ==, VK_QUERY_TYPE_PERFORMANCE_QUERY_KHR);
	g_assert_cmpuint(info->queryCount, ==, N_SLOTS);
	if (drv.pool_answer != VK_SUCCESS)
		return drv.pool_answer;
	uint32_t at = drv.n_pools++;
	drv.pool_family[at] = counters->queueFamilyIndex;
	drv.pool_n[at] = counters->counterIndexCount;
	memcpy(drv.pool_indices[at], counters->pCounterIndices,
	       counters->counterIndexCount * sizeof(uint32_t));
	*out = (VkQueryPool)(uintptr_t)(at + 1);
	return VK_SUCCESS;
}

static inline void VKAPI_CALL
drv_destroy_pool(VkDevice device, VkQueryPool pool, const VkAllocationCallbacks *allocator)
{
	(void)device;
	(void)pool;
	(void)allocator;
}

static inline void
note(const char *what, uint32_t a, uint32_t b)
{
	size_t used = strlen(drv.log);
	g_snprintf(drv.log + used, sizeof(drv.log) - used, "%s%u.%u ", what, a, b);
}

static inline void VKAPI_CALL
drv_reset(VkDevice device, VkQueryPool pool, uint32_t first, uint32_t n)
{
	(void)device;
	(void)pool;
	note("reset", first, n);
}

static inline void VKAPI_CALL
drv_record_reset(VkCommandBuffer cb, VkQueryPool pool, uint32_t first, uint32_t n)
{
	(void)cb;
	(void)pool;
	note("RECORDED", first, n);
}

static inline void VKAPI_CALL
drv_begin(VkCommandBuffer cb, VkQueryPool pool, uint32_t query, VkQueryControlFlags flags)
{
	(void)cb;
	(void)pool;
	note("begin", query, flags);
}

static inline void VKAPI_CALL
drv_end(VkCommandBuffer cb, VkQueryPool pool, uint32_t query)
{
	(void)cb;
	(void)pool;
	note("end", query, 0);
}

static inline VkResult VKAPI_CALL
drv_results(VkDevice device, VkQueryPool pool, uint32_t first, uint32_t n, size_t size,
	    void *data, VkDeviceSize stride, VkQueryResultFlags flags)
{
	(void)device;
	uint32_t at = (uint32_t)(uintptr_t)pool - 1;
	g_assert_cmpuint(n, ==, 1);
	drv.flags |= flags;
	drv.size = size;
	drv.stride = stride;
	g_assert_cmpuint(size, ==, drv.pool_n[at] * sizeof(VkPerformanceCounterResultKHR));
	if (drv.ready[first] == VK_SUCCESS)
		memcpy(data, drv.results[first], size);
	return drv.ready[first];
}

#define LISTED(text, group, words, number, unit_, storage_, scope_) \
	{ \
		.name = text, .category = group, .description = words, .uuid = number, \
		.unit = VK_PERFORMANCE_COUNTER_UNIT_##unit_##_KHR, \
		.storage = VK_PERFORMANCE_COUNTER_STORAGE_##storage_##_KHR, \
		.scope = VK_PERFORMANCE_COUNTER_SCOPE_##scope_##_KHR, \
		.flags = number == 2    ? IMPACTED \
			 : number == 10 ? IMPACTING \
					: 0, \
	}
#define IMPACTED VK_PERFORMANCE_COUNTER_DESCRIPTION_CONCURRENTLY_IMPACTED_BIT_KHR
#define IMPACTING VK_PERFORMANCE_COUNTER_DESCRIPTION_PERFORMANCE_IMPACTING_BIT_KHR

static const struct listed units[] = {
	LISTED("Draws Issued", "Front", "Draws that came.", 1, GENERIC, UINT64, COMMAND),
	LISTED("Busy", "Front", NULL, 2, PERCENTAGE, FLOAT32, COMMAND),
	LISTED("Time", "Front", "Time that went by", 3, NANOSECONDS, INT64, COMMAND),
	LISTED("Read", "Memory", "Read.", 4, BYTES, UINT32, RENDER_PASS),
	LISTED("Read rate", "Memory", "Rate.", 5, BYTES_PER_SECOND, FLOAT64, RENDER_PASS),
	LISTED("Heat", "Board", "Heat.", 6, KELVIN, INT32, COMMAND_BUFFER),
	LISTED("Power", "Board", "Power.", 7, WATTS, FLOAT32, COMMAND_BUFFER),
	LISTED("Tension", "Board", "Volts.", 8, VOLTS, FLOAT32, COMMAND_BUFFER),
	LISTED("Current", "Board", "Amps.", 9, AMPS, FLOAT32, COMMAND_BUFFER),
	LISTED("Clock", "Board", "Clock.", 10, HERTZ, UINT64, COMMAND),
	LISTED("Cycles", "Front", "Cycles.", 11, CYCLES, UINT64, COMMAND),
	LISTED("L0 cache hit ratio", "Memory", "Hits.", 12, BYTES, FLOAT64, COMMAND),
};
#define N_UNITS ((uint32_t)G_N_ELEMENTS(units))

static inline void
drv_init(struct tally_vk_api *api)
{
	memset(&drv, 0, sizeof(drv));
	drv.families[0] = units;
	drv.n[0] = N_UNITS;
	drv.n_families = 1;
	drv.room = 100;
	drv.physical = (VkPhysicalDevice)(void *)&drv;
	*api = (struct tally_vk_api){
		.device = (VkDevice)(void *)&drv,
		.physical = drv.physical,
		.CreateQueryPool = drv_create_pool,
		.DestroyQueryPool = drv_destroy_pool,
		.CmdResetQueryPool = drv_record_reset,
		.ResetQueryPool = drv_reset,
		.CmdBeginQuery = drv_begin,
		.CmdEndQuery = drv_end,
		.GetQueryPoolResults = drv_results,
		.performance_offered = true,
		.performance_query = true,
		.EnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR = drv_list,
		.GetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR = drv_runs,
		.AcquireProfilingLockKHR = drv_lock,
		.ReleaseProfilingLockKHR = drv_release,
		.n_families = 1,
	};
}

static inline struct tally_vk_source *
open_source(struct tally_vk_api *api, const char *wanted, enum tally_status want)
{
	static struct tally_key_table keys;
	struct tally_vk_source *src = tally_vk_khr_create(api);

	tally_key_table_finish(&keys);
	api->n_families = drv.n_families;
	src->wanted = wanted;
	src->keys = &keys;
	g_assert_cmpint(src->ops->open(src), ==, want);
	src->wanted = NULL;
	return src;
}

static inline void
close_source(struct tally_vk_source *src)
{
	src->ops->close(src);
	g_assert_cmpuint(src->n_counters, ==, 0);
	g_assert_cmpuint(src->n_sets, ==, 0);
	tally_vk_source_destroy(src);
}

/* "set: key key | set: key" */
static inline char *
sets_of(const struct tally_vk_source *src)
{
	GString *out = g_string_new("");
	for (uint32_t i = 0; i < src->n_sets; i++) {
		const struct tally_layout *layout = &src->sets[i]->layout;
		g_string_append_printf(out, "%s%s:", i ? " | " : "", layout->set);
		for (uint32_t k = 0; k < layout->n_counters; k++)
			g_string_append_printf(out, " %s", layout->counters[k]->key);
	}
	return g_string_free(out, FALSE);
}

static inline void
expect_sets(const struct tally_vk_source *src, const char *want)
{
	char *sets = sets_of(src);
	g_assert_cmpstr(sets, ==, want);
	g_free(sets);
}

#endif

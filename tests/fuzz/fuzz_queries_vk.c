/* SPDX-License-Identifier: MIT */
/* Vulkan's half of fuzz_queries.c. */
#include "tests/fuzz/fuzz_queries.h"

#include "query/vk/source.h"

#define SLOTS 4

static VkResult
result(void)
{
	static const VkResult some[] = { VK_NOT_READY,  VK_ERROR_DEVICE_LOST,
					 VK_TIMEOUT,    VK_ERROR_OUT_OF_HOST_MEMORY,
					 VK_INCOMPLETE, VK_ERROR_UNKNOWN };
	uint8_t how = fuzz_byte(&fuzz_answers);
	return how < 200 ? VK_SUCCESS : some[how % 6];
}

static VkResult VKAPI_CALL
vk_create(VkDevice device, const VkQueryPoolCreateInfo *info, const VkAllocationCallbacks *a,
	  VkQueryPool *out)
{
	static uintptr_t next;
	(void)device, (void)a;
	fuzz_require(info->queryCount > 0, "a pool has queries");
	VkResult got = result();
	if (got == VK_SUCCESS)
		*out = (VkQueryPool)++next;
	return got;
}

static void VKAPI_CALL
vk_destroy(VkDevice device, VkQueryPool pool, const VkAllocationCallbacks *a)
{
	(void)device, (void)pool, (void)a;
}

static void VKAPI_CALL
vk_reset(VkDevice device, VkQueryPool pool, uint32_t first, uint32_t n)
{
	(void)device, (void)first;
	fuzz_require(pool != VK_NULL_HANDLE && n > 0, "a pool is reset");
}

static void VKAPI_CALL
vk_cmd_reset(VkCommandBuffer cb, VkQueryPool pool, uint32_t first, uint32_t n)
{
	(void)cb;
	vk_reset(NULL, pool, first, n);
}

static void VKAPI_CALL
vk_stamp(VkCommandBuffer cb, VkPipelineStageFlagBits stage, VkQueryPool pool, uint32_t n)
{
	(void)cb, (void)stage, (void)n;
	fuzz_require(pool != VK_NULL_HANDLE, "a query has a pool");
}

static void VKAPI_CALL
vk_begin(VkCommandBuffer cb, VkQueryPool pool, uint32_t n, VkQueryControlFlags flags)
{
	vk_stamp(cb, flags, pool, n);
}

static void VKAPI_CALL
vk_end(VkCommandBuffer cb, VkQueryPool pool, uint32_t n)
{
	vk_stamp(cb, 0, pool, n);
}

static VkResult VKAPI_CALL
vk_results(VkDevice device, VkQueryPool pool, uint32_t first, uint32_t n, size_t size, void *data,
	   VkDeviceSize stride, VkQueryResultFlags flags)
{
	(void)device, (void)first, (void)stride;
	fuzz_require(pool != VK_NULL_HANDLE && n > 0, "a query has a pool");
	fuzz_require(!(flags & VK_QUERY_RESULT_WAIT_BIT), "no result is waited for");
	VkResult got = result();
	if (fuzz_byte(&fuzz_answers) % 8)
		fuzz_fill(&fuzz_answers, data, size);
	return got;
}

static VkResult VKAPI_CALL
vk_clocks(VkDevice device, uint32_t n, const VkCalibratedTimestampInfoEXT *infos, uint64_t *values,
	  uint64_t *deviation)
{
	(void)device, (void)infos;
	VkResult got = result();
	for (uint32_t i = 0; i < n && fuzz_byte(&fuzz_answers) % 8; i++)
		values[i] = fuzz_number(&fuzz_answers);
	if (fuzz_byte(&fuzz_answers) % 8)
		*deviation = fuzz_number(&fuzz_answers);
	return got;
}

static VkResult VKAPI_CALL
vk_list(VkPhysicalDevice physical, uint32_t family, uint32_t *n, VkPerformanceCounterKHR *counters,
	VkPerformanceCounterDescriptionKHR *texts)
{
	(void)physical, (void)family;
	uint32_t there = fuzz_byte(&fuzz_answers) < 240 ? fuzz_byte(&fuzz_answers) % 12
							: (uint32_t)fuzz_number(&fuzz_answers);
	uint32_t room = counters || texts ? *n : 0;
	for (uint32_t i = 0; i < room && i < there && i < 64; i++) {
		counters[i].unit = fuzz_byte(&fuzz_answers) % 14;
		counters[i].storage = fuzz_byte(&fuzz_answers) % 8;
		counters[i].scope = fuzz_byte(&fuzz_answers) % 5;
		counters[i].uuid[0] = fuzz_byte(&fuzz_answers) % 4;
		fuzz_text(texts[i].name, sizeof(texts[i].name));
		fuzz_text(texts[i].category, sizeof(texts[i].category));
		fuzz_text(texts[i].description, sizeof(texts[i].description));
		texts[i].flags = fuzz_byte(&fuzz_answers);
	}
	*n = room && there > room && fuzz_byte(&fuzz_answers) < 200 ? room : there;
	return result();
}

static void VKAPI_CALL
vk_runs(VkPhysicalDevice physical, const VkQueryPoolPerformanceCreateInfoKHR *info, uint32_t *runs)
{
	(void)physical;
	fuzz_require(info->counterIndexCount > 0, "a set has counters");
	if (fuzz_byte(&fuzz_answers) < 250)
		*runs = fuzz_byte(&fuzz_answers) % 4;
}

static VkResult VKAPI_CALL
vk_lock(VkDevice device, const VkAcquireProfilingLockInfoKHR *info)
{
	(void)device;
	fuzz_require(info->timeout < 1000000000, "the lock is not waited for");
	return result();
}

static void VKAPI_CALL
vk_release(VkDevice device)
{
	(void)device;
}

static void
fill_vk(struct tally_vk_api *api)
{
	uint8_t how = fuzz_byte(&fuzz_answers);
	*api = (struct tally_vk_api){
		.device = (VkDevice)(uintptr_t)1,
		.physical = (VkPhysicalDevice)(uintptr_t)2,
		.CreateQueryPool = vk_create,
		.DestroyQueryPool = vk_destroy,
		.CmdResetQueryPool = vk_cmd_reset,
		.ResetQueryPool = how & 1 ? vk_reset : NULL,
		.CmdWriteTimestamp = vk_stamp,
		.CmdBeginQuery = vk_begin,
		.CmdEndQuery = vk_end,
		.GetQueryPoolResults = vk_results,
		.GetCalibratedTimestamps = how & 2 ? vk_clocks : NULL,
		.pipeline_statistics = how & 4,
		.performance_offered = true,
		.performance_query = true,
		.performance_pools = how & 16,
		.EnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR = vk_list,
		.GetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR = vk_runs,
		.AcquireProfilingLockKHR = vk_lock,
		.ReleaseProfilingLockKHR = vk_release,
		.n_families = fuzz_byte(&fuzz_answers) % 20,
	};
	if (how & 32)
		fuzz_fill(&fuzz_answers, &api->timestamp_period, sizeof(api->timestamp_period));
	else
		api->timestamp_period = 1.0f;
}

static void
read_slot(struct tally_vk_source *src, const struct tally_vk_family *family, VkQueryPool pool,
	  uint32_t slot)
{
	size_t row = tally_vk_row_bytes(src, family);
	void *rows = row ? calloc(SLOTS, row) : NULL;
	const struct tally_counter *const *counters = src->counters;
	struct tally_sample out = { .n = src->n_counters };
	if (src->n_sets) {
		counters = src->sets[family->set - 1]->layout.counters;
		out.n = src->sets[family->set - 1]->layout.n_counters;
	}
	out.values = calloc(out.n + 1, sizeof(*out.values));
	out.valid = calloc(out.n / 64 + 1, sizeof(*out.valid));
	enum tally_status got = rows ? tally_vk_fetch(src, family, pool, 0, SLOTS, rows)
				     : TALLY_OK;
	unsigned which = fuzz_byte(&fuzz_answers) % 3 + 1;
	if (got == TALLY_OK) {
		got = src->ops->read(src, family, pool, rows, slot, 1, which, &out);
		fuzz_require(got != TALLY_NOT_READY || !out.has_time,
			     "what is not ready has no time");
		fuzz_require(which == TALLY_VK_BOTH || !out.has_time,
			     "half an interval has no time");
		if (got == TALLY_OK)
			fuzz_check_sample(&out, counters);
	}
	free(out.values);
	free(out.valid);
	free(rows);
}

static void
use_vk(struct tally_vk_source *src)
{
	const VkCommandBuffer cb = (VkCommandBuffer)(uintptr_t)3;
	struct tally_vk_family family = {
		.flags = fuzz_byte(&fuzz_answers),
		.timestamp_bits = fuzz_byte(&fuzz_answers) % 80,
		.set = src->n_sets ? fuzz_byte(&fuzz_answers) % src->n_sets + 1 : 0,
	};
	VkQueryPool pool = VK_NULL_HANDLE;
	if (!src->ops->covers(src, &family) ||
	    src->ops->create_pool(src, &family, SLOTS, &pool) != TALLY_OK)
		return;
	tally_vk_record_reset(src, cb, pool, 0, SLOTS);
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		tally_vk_begin(src->api, src->ops->delivers_time, cb, pool, slot);
		tally_vk_end(src->api, src->ops->delivers_time, cb, pool, slot, 1);
		if (src->ops->tick)
			src->ops->tick(src, (slot + 1) * UINT64_C(2000000000));
		read_slot(src, &family, pool, slot);
	}
}

void
fuzz_vk_queries(void)
{
	static struct tally_vk_source *(*const create[])(const struct tally_vk_api *) = {
		tally_vk_timestamp_create,
		tally_vk_statistics_create,
		tally_vk_khr_create,
	};
	struct tally_vk_api api;
	fill_vk(&api);
	for (unsigned i = 0; i < 3; i++) {
		struct tally_vk_source *src = create[i](&api);
		if (!src)
			continue;
		src->wanted = "all";
		enum tally_status status = src->ops->open(src);
		fuzz_require(status == TALLY_OK || src->reason[0], "a source that is off says why");
		if (status == TALLY_OK) {
			use_vk(src);
			src->ops->close(src);
		}
		tally_vk_source_destroy(src);
	}
}

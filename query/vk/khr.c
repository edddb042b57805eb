/* SPDX-License-Identifier: MIT */
/* VK_KHR_performance_query: hardware counters, by begin and end in a command buffer.
 *
 * The profiling lock is acquired once, when the source opens, which is before any command
 * buffer is begun (Mesa's Intel driver allows no second acquisition), and released when it
 * closes. The host reads the results, because most drivers refuse vkCmdCopyQueryPoolResults. */
#include "query/vk/khr_catalogue.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Another program may hold the lock; a game must not wait for it. */
#define LOCK_TIMEOUT_NS UINT64_C(50000000)

struct vk_khr {
	struct tally_vk_source base;
	struct tally_khr_catalogue *catalogue; /* NULL while not open */
	VkPerformanceCounterResultKHR *results; /* of one query */
};

static const struct vk_khr *
khr_of(const struct tally_vk_source *src)
{
	return (const struct vk_khr *)src;
}

/* NULL: nothing is currently counted on the family. */
static const struct tally_khr_set *
set_on(const struct vk_khr *k, const struct tally_vk_family *family)
{
	const struct tally_khr_catalogue *all = k->catalogue;

	if (!all || !family->set || family->set > all->n_sets ||
	    family->index >= TALLY_KHR_MAX_FAMILIES)
		return NULL;
	const struct tally_khr_set *set = &all->sets[family->set - 1];
	return set->indices[family->index] ? set : NULL;
}

static bool
khr_covers(const struct tally_vk_source *src, const struct tally_vk_family *family)
{
	return set_on(khr_of(src), family) != NULL;
}

enum tally_scope
tally_vk_khr_scope(const struct tally_vk_source *src, uint32_t set)
{
	const struct tally_khr_catalogue *all = khr_of(src)->catalogue;

	return all && set && set <= all->n_sets ? all->sets[set - 1].scope
						: TALLY_SCOPE_SUBMISSION;
}

/* --- recording ---------------------------------------------------------------------------- */

static enum tally_status
khr_create_pool(struct tally_vk_source *src, const struct tally_vk_family *family,
		uint32_t slots, VkQueryPool *out)
{
	const struct tally_khr_set *set = set_on(khr_of(src), family);
	if (!set)
		return TALLY_UNSUPPORTED;
	const VkQueryPoolPerformanceCreateInfoKHR counters = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_PERFORMANCE_CREATE_INFO_KHR,
		.queueFamilyIndex = family->index,
		.counterIndexCount = set->n,
		.pCounterIndices = set->indices[family->index],
	};
	const VkQueryPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.pNext = &counters,
		.queryType = VK_QUERY_TYPE_PERFORMANCE_QUERY_KHR,
		.queryCount = slots,
	};

	return tally_vk_create_pool(src, &info, out);
}

/* --- reading ------------------------------------------------------------------------------ */

/* False: not a number. */
static bool
decode(const VkPerformanceCounterResultKHR *from, VkPerformanceCounterStorageKHR storage,
       struct tally_value *out)
{
	switch (storage) {
	case VK_PERFORMANCE_COUNTER_STORAGE_INT32_KHR:
		*out = (struct tally_value){ .storage = TALLY_STORAGE_I64, .i64 = from->int32 };
		return true;
	case VK_PERFORMANCE_COUNTER_STORAGE_INT64_KHR:
		*out = (struct tally_value){ .storage = TALLY_STORAGE_I64, .i64 = from->int64 };
		return true;
	case VK_PERFORMANCE_COUNTER_STORAGE_UINT32_KHR:
		*out = (struct tally_value){ .storage = TALLY_STORAGE_U64, .u64 = from->uint32 };
		return true;
	case VK_PERFORMANCE_COUNTER_STORAGE_UINT64_KHR:
		*out = (struct tally_value){ .storage = TALLY_STORAGE_U64, .u64 = from->uint64 };
		return true;
	case VK_PERFORMANCE_COUNTER_STORAGE_FLOAT32_KHR:
		*out = (struct tally_value){ .storage = TALLY_STORAGE_F64,
					     .f64 = (double)from->float32 };
		return isfinite(out->f64);
	case VK_PERFORMANCE_COUNTER_STORAGE_FLOAT64_KHR:
		*out = (struct tally_value){ .storage = TALLY_STORAGE_F64, .f64 = from->float64 };
		return isfinite(out->f64);
	default:
		return false;
	}
}

static void
take_results(const struct vk_khr *k, const struct tally_khr_set *set, uint32_t view,
	     struct tally_sample *out)
{
	for (uint32_t i = 0; i < set->n; i++) {
		uint64_t *word = &out->valid[i / 64], bit = UINT64_C(1) << (i % 64);
		struct tally_value value;
		bool fine = decode(&k->results[i], set->storages[i], &value);
		if (!view) {
			out->values[i] = value;
			*word |= fine ? bit : 0;
		} else if (*word & bit) {
			struct tally_value *sum = &out->values[i];
			fine = fine && set->adds_up[i] && tally_value_add(sum, value) &&
			       (sum->storage != TALLY_STORAGE_F64 || isfinite(sum->f64));
			*word &= fine ? ~UINT64_C(0) : ~bit;
		}
	}
}

/* Availability may not be queried, so one unavailable query of a range would hide the results
 * of the others: each is read by itself. */
static uint32_t
khr_words(const struct tally_vk_source *src, const struct tally_vk_family *family)
{
	(void)src;
	(void)family;
	return 0;
}

static enum tally_status
khr_read(struct tally_vk_source *src, const struct tally_vk_family *family,
	 VkQueryPool pool, const void *rows, uint32_t slot, uint32_t views,
	 unsigned which, struct tally_sample *out)
{
	const struct vk_khr *k = khr_of(src);
	const struct tally_vk_api *api = src->api;
	const struct tally_khr_set *set = set_on(k, family);

	(void)rows;
	if (!set || which != TALLY_VK_BOTH || out->n < set->n)
		return TALLY_LOST;
	size_t size = set->n * sizeof(*k->results);
	for (uint32_t view = 0; view < views; view++) {
		/* 64-bit results may not be requested, either. */
		VkResult result = api->GetQueryPoolResults(api->device, pool, slot + view,
							   1, size, k->results, size, 0);
		if (result < 0)
			return TALLY_LOST;
		if (result != VK_SUCCESS && !view)
			return TALLY_NOT_READY;
		if (result != VK_SUCCESS)
			break; /* a query that is begun outside the views may use only one */
		take_results(k, set, view, out);
	}
	return TALLY_OK;
}

/* --- lifetime ----------------------------------------------------------------------------- */

/* What this driver is known to require before it offers the extension. */
static const char *
why_not_offered(VkDriverId driver)
{
	switch (driver) {
	case VK_DRIVER_ID_MESA_RADV:
		return "RADV has VK_KHR_performance_query for RDNA 2 and, since Mesa 23, RDNA 3";
	case VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA:
		return "Mesa's Intel driver has VK_KHR_performance_query only where the kernel "
		       "lets this user count: sudo sysctl dev.i915.perf_stream_paranoid=0 "
		       "(dev.xe.observation_paranoid=0 with the xe driver)";
	case VK_DRIVER_ID_MESA_TURNIP:
		return "Turnip has VK_KHR_performance_query only in programs that are started "
		       "with TU_DEBUG=perfc";
	default:
		return "the driver does not offer VK_KHR_performance_query";
	}
}

static const char *
how_to_get_lock(VkDriverId driver)
{
	switch (driver) {
	case VK_DRIVER_ID_MESA_RADV:
		return "the driver may not fix the GPU's clocks, or another program has: "
		       "as root, echo profile_standard > "
		       "/sys/class/drm/card0/device/power_dpm_force_performance_level";
	case VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA:
		return "another program counts, or this user may not: sudo sysctl "
		       "dev.i915.perf_stream_paranoid=0";
	default:
		return "another program counts, or this user may not";
	}
}

/* NULL, or the reason why there are no performance queries at all. */
static const char *
obstacle(const struct tally_vk_api *api)
{
	if (api->multi_device)
		return "the program uses several GPUs as one device: only timestamps are taken";
	if (api->game_performance)
		return "the program uses performance queries itself: they are left to it";
	if (!api->performance_offered)
		return why_not_offered(api->driver_id);
	if (!api->performance_query)
		return "the driver does not offer performanceCounterQueryPools, or refused the "
		       "device with it";
	if (!api->ResetQueryPool)
		return "the device has no hostQueryReset, and a performance query may not be "
		       "reset by the command buffer that begins it";
	if (!api->EnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR ||
	    !api->GetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR ||
	    !api->AcquireProfilingLockKHR || !api->ReleaseProfilingLockKHR ||
	    !api->CreateQueryPool || !api->DestroyQueryPool || !api->CmdBeginQuery ||
	    !api->CmdEndQuery || !api->GetQueryPoolResults)
		return "the driver lacks functions of VK_KHR_performance_query: report "
		       "it to the driver's authors";
	return NULL;
}

static enum tally_status
take_lock(struct tally_vk_source *src)
{
	const VkAcquireProfilingLockInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_ACQUIRE_PROFILING_LOCK_INFO_KHR,
		.timeout = LOCK_TIMEOUT_NS,
	};

	VkResult result = src->api->AcquireProfilingLockKHR(src->api->device, &info);
	if (result == VK_SUCCESS)
		return TALLY_OK;
	snprintf(src->reason, sizeof(src->reason),
		 "the profiling lock was not to be had (VkResult %d): %s", (int)result,
		 how_to_get_lock(src->api->driver_id));
	return TALLY_DENIED;
}

static void
forget(struct vk_khr *k)
{
	tally_khr_catalogue_destroy(k->catalogue);
	k->catalogue = NULL;
	free(k->results);
	k->results = NULL;
	k->base.counters = NULL;
	k->base.sets = NULL;
	k->base.n_counters = k->base.n_sets = 0;
}

static void
khr_close(struct tally_vk_source *src)
{
	struct vk_khr *k = (struct vk_khr *)src;

	if (!k->catalogue)
		return;
	src->api->ReleaseProfilingLockKHR(src->api->device);
	forget(k);
}

static enum tally_status
khr_open(struct tally_vk_source *src)
{
	struct vk_khr *k = (struct vk_khr *)src;
	const char *why = obstacle(src->api);
	enum tally_status status = TALLY_UNSUPPORTED;

	src->reason[0] = '\0';
	if (why)
		return tally_unsupported(src->reason, "%s", why);
	k->catalogue = tally_khr_catalogue_create(src, &status);
	if (!k->catalogue)
		return status;
	k->results = calloc(k->catalogue->widest, sizeof(*k->results));
	/* The lock is taken last, because it may change the GPU's clocks. */
	status = k->results ? take_lock(src) : TALLY_NO_MEMORY;
	if (status != TALLY_OK) {
		forget(k);
		return status;
	}
	src->counters = k->catalogue->counters;
	src->n_counters = k->catalogue->n_counters;
	src->sets = k->catalogue->set_list;
	src->n_sets = k->catalogue->n_sets;
	return TALLY_OK;
}

static const struct tally_vk_source_ops khr_ops = {
	.name = TALLY_KHR_NAME,
	.queries = 1,
	.open = khr_open,
	.close = khr_close,
	.covers = khr_covers,
	.create_pool = khr_create_pool,
	.words = khr_words,
	.read = khr_read,
};

struct tally_vk_source *
tally_vk_khr_create(const struct tally_vk_api *api)
{
	struct vk_khr *k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->base.ops = &khr_ops;
	k->base.api = api;
	return &k->base;
}

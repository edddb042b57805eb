/* SPDX-License-Identifier: MIT */
/* The device: pools, results, the lock, submissions, waits, and the report. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake_vk_perf/perf.h"

struct perf_next perf_next;
static VkDevice the_device;
static bool enabled;
static GHashTable *pools; /* struct perf_pool * -> itself */
static GPtrArray *fences; /* of submission n - 1 */
static GHashTable *breaches; /* text -> times */
static unsigned questions;

void
perf_misuse(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *text = g_strdup_vprintf(format, args);
	va_end(args);
	if (!breaches)
		breaches = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	gsize times = (gsize)g_hash_table_lookup(breaches, text);
	g_hash_table_insert(breaches, text, (gpointer)(times + 1));
}

static void
report(void)
{
	const char *path = getenv("FAKE_VK_PERF_REPORT");
	FILE *out = path ? fopen(path, "w") : NULL;
	if (!out)
		return;
	const struct perf_counts *c = &perf_counts;
	fprintf(out,
		"{\"enabled\": %s, \"begun\": %u, \"ended\": %u, \"read\": %u, "
		"\"not_ready\": %u, "
		"\"pools\": %u, \"locks\": %u, \"releases\": %u, \"waits\": %u, "
		"\"misuse\": {",
		enabled ? "true" : "false", c->begun, c->ended, c->read, c->not_ready,
		c->pools, c->locks, c->releases, c->waits);
	GHashTableIter iter;
	gpointer text, times;
	const char *comma = "";
	if (breaches)
		g_hash_table_iter_init(&iter, breaches);
	while (breaches && g_hash_table_iter_next(&iter, &text, &times)) {
		fprintf(out, "%s\"%s\": %u", comma, (const char *)text, (unsigned)(gsize)times);
		comma = ", ";
	}
	fprintf(out, "}}\n");
	fclose(out);
}

/* ---- pools ---- */

struct perf_pool *
perf_pool_find(VkQueryPool handle)
{
	gpointer key = (gpointer)(uintptr_t)handle;
	g_mutex_lock(&perf_lock);
	struct perf_pool *p = pools ? g_hash_table_lookup(pools, key) : NULL;
	g_mutex_unlock(&perf_lock);
	return p;
}

static void
free_pool(gpointer data)
{
	struct perf_pool *p = data;
	g_free(p->counters);
	g_free(p->queries);
	g_free(p);
}

static VKAPI_ATTR VkResult VKAPI_CALL
create_pool(VkDevice device, const VkQueryPoolCreateInfo *info,
	    const VkAllocationCallbacks *allocator, VkQueryPool *out)
{
	const VkQueryPoolPerformanceCreateInfoKHR *how = info->pNext;
	if (info->queryType != VK_QUERY_TYPE_PERFORMANCE_QUERY_KHR)
		return perf_next.CreateQueryPool(device, info, allocator, out);
	g_mutex_lock(&perf_lock);
	struct perf_pool *p = g_new0(struct perf_pool, 1);
	p->n = info->queryCount;
	p->n_counters = how->counterIndexCount;
	p->family = how->queueFamilyIndex;
	p->counters = g_memdup2(how->pCounterIndices, p->n_counters * sizeof(uint32_t));
	p->queries = g_new0(struct perf_query, p->n);
	p->widest = VK_PERFORMANCE_COUNTER_SCOPE_COMMAND_KHR;
	for (uint32_t i = 0; i < p->n_counters; i++) {
		if (p->counters[i] >= perf_n_counters) {
			perf_misuse("a pool of counter %u", p->counters[i]);
			p->counters[i] = 0;
		}
		if (perf_counters[p->counters[i]].scope < p->widest)
			p->widest = perf_counters[p->counters[i]].scope;
	}
	if (p->n_counters > perf_config.room)
		perf_misuse("a pool of %u counters, for one run", p->n_counters);
	if (!enabled)
		perf_misuse("a pool without the feature");
	if (!pools)
		pools = g_hash_table_new_full(NULL, NULL, NULL, free_pool);
	g_hash_table_insert(pools, p, p);
	perf_counts.pools++;
	g_mutex_unlock(&perf_lock);
	*out = (VkQueryPool)(uintptr_t)p;
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL
destroy_pool(VkDevice device, VkQueryPool handle, const VkAllocationCallbacks *allocator)
{
	struct perf_pool *p = perf_pool_find(handle);
	if (!p) {
		perf_next.DestroyQueryPool(device, handle, allocator);
		return;
	}
	g_mutex_lock(&perf_lock);
	g_hash_table_remove(pools, p);
	g_mutex_unlock(&perf_lock);
}

/* Whether the submission has completed, now or the configured number of ms later. The layer's
 * fence follows the program's in a separate submission, so on a busy machine the program may
 * know some ms earlier. */
static bool
is_through(uint64_t serial, unsigned patience_ms)
{
	VkFence fence = (VkFence)(uintptr_t)g_ptr_array_index(fences, (guint)serial - 1);
	VkResult result;
	while ((result = perf_next.GetFenceStatus(the_device, fence)) == VK_NOT_READY &&
	       patience_ms--)
		g_usleep(1000);
	return result == VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL
reset_pool(VkDevice device, VkQueryPool handle, uint32_t first, uint32_t n)
{
	struct perf_pool *p = perf_pool_find(handle);
	if (!p) {
		perf_next.ResetQueryPool(device, handle, first, n);
		return;
	}
	g_mutex_lock(&perf_lock);
	for (uint32_t i = first; i < first + n && i < p->n; i++) {
		struct perf_query *q = &p->queries[i];
		if (q->state == PERF_DONE && !is_through(q->serial, 50))
			perf_misuse("a query is reset while it may still run");
		q->state = PERF_RESET;
	}
	g_mutex_unlock(&perf_lock);
}

static VkResult
read_query(const struct perf_pool *p, struct perf_query *q, VkPerformanceCounterResultKHR *out)
{
	if (perf_config.lost && ++questions >= perf_config.lost)
		return VK_ERROR_DEVICE_LOST;
	if (perf_config.error_every && ++questions % perf_config.error_every == 0)
		return VK_ERROR_OUT_OF_DEVICE_MEMORY;
	unsigned late = perf_config.late + ((q - p->queries) % 2 ? perf_config.shuffle : 0);
	if (q->state != PERF_DONE || perf_config.never || !is_through(q->serial, 50) ||
	    q->asked++ < late) {
		perf_counts.not_ready++;
		return VK_NOT_READY;
	}
	for (uint32_t i = 0; i < p->n_counters; i++)
		out[i] = perf_value(&perf_counters[p->counters[i]], &q->work);
	perf_counts.read++;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
get_results(VkDevice device, VkQueryPool handle, uint32_t first, uint32_t n, size_t size,
	    void *data, VkDeviceSize stride, VkQueryResultFlags flags)
{
	struct perf_pool *p = perf_pool_find(handle);
	if (flags & VK_QUERY_RESULT_WAIT_BIT)
		perf_counts.waits++;
	if (!p)
		return perf_next.GetQueryPoolResults(device, handle, first, n, size, data,
						     stride, flags);
	g_mutex_lock(&perf_lock);
	size_t one = p->n_counters * sizeof(VkPerformanceCounterResultKHR);
	VkResult result = VK_SUCCESS;
	if (flags & ~(VkQueryResultFlags)VK_QUERY_RESULT_WAIT_BIT)
		perf_misuse("results are asked for with flags %x", flags);
	if (first + n > p->n || stride < one || size < (n - 1) * stride + one) {
		perf_misuse("results do not fit");
		n = 0;
	}
	for (uint32_t i = 0; i < n && result >= 0; i++) {
		VkResult answer = read_query(p, &p->queries[first + i],
					     (void *)((char *)data + i * stride));
		result = answer == VK_SUCCESS ? result : answer;
	}
	g_mutex_unlock(&perf_lock);
	return result;
}

/* ---- the lock ---- */

static VKAPI_ATTR VkResult VKAPI_CALL
acquire(VkDevice device, const VkAcquireProfilingLockInfoKHR *info)
{
	(void)device;
	g_mutex_lock(&perf_lock);
	perf_counts.locks++;
	if (perf_counts.locked)
		perf_misuse("the lock is taken twice");
	if (info->timeout == UINT64_MAX)
		perf_misuse("the lock is waited for without end");
	perf_counts.locked |= perf_config.lock == VK_SUCCESS;
	g_mutex_unlock(&perf_lock);
	if (perf_config.lock == VK_TIMEOUT && info->timeout < UINT64_C(1000000000))
		g_usleep((gulong)(info->timeout / 1000));
	return perf_config.lock;
}

static VKAPI_ATTR void VKAPI_CALL
release(VkDevice device)
{
	(void)device;
	g_mutex_lock(&perf_lock);
	perf_counts.releases++;
	if (!perf_counts.locked)
		perf_misuse("the lock is given back and was not taken");
	perf_counts.locked = false;
	g_mutex_unlock(&perf_lock);
}

/* ---- submissions ---- */

/* A fence follows, which tells when the results are available. */
static void
follow(VkQueue queue, bool any, uint64_t serial)
{
	static const VkFenceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
	VkFence fence = VK_NULL_HANDLE;
	if (!any)
		return;
	perf_next.CreateFence(the_device, &info, NULL, &fence);
	perf_next.QueueSubmit(queue, 0, NULL, fence);
	g_mutex_lock(&perf_lock);
	g_ptr_array_index(fences, (guint)serial - 1) = (gpointer)(uintptr_t)fence;
	g_mutex_unlock(&perf_lock);
}

static uint64_t
next_serial(void)
{
	if (!fences)
		fences = g_ptr_array_new();
	g_ptr_array_add(fences, NULL);
	return fences->len;
}

static VKAPI_ATTR VkResult VKAPI_CALL
submit(VkQueue queue, uint32_t n, const VkSubmitInfo *batches, VkFence fence)
{
	VkResult result = perf_next.QueueSubmit(queue, n, batches, fence);
	if (result != VK_SUCCESS || !n)
		return result;
	g_mutex_lock(&perf_lock);
	uint64_t serial = next_serial();
	bool any = false;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < batches[i].commandBufferCount; k++)
			any |= perf_buffer_run(batches[i].pCommandBuffers[k], serial);
	g_mutex_unlock(&perf_lock);
	follow(queue, any, serial);
	return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
submit2(VkQueue queue, uint32_t n, const VkSubmitInfo2 *batches, VkFence fence)
{
	VkResult result = perf_next.QueueSubmit2(queue, n, batches, fence);
	if (result != VK_SUCCESS || !n)
		return result;
	g_mutex_lock(&perf_lock);
	uint64_t serial = next_serial();
	bool any = false;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < batches[i].commandBufferInfoCount; k++)
			any |= perf_buffer_run(batches[i].pCommandBufferInfos[k].commandBuffer,
					       serial);
	g_mutex_unlock(&perf_lock);
	follow(queue, any, serial);
	return result;
}

static void
count_wait(void)
{
	g_mutex_lock(&perf_lock);
	perf_counts.waits++;
	g_mutex_unlock(&perf_lock);
}

static VKAPI_ATTR VkResult VKAPI_CALL
queue_wait(VkQueue queue)
{
	count_wait();
	return perf_next.QueueWaitIdle(queue);
}

static VKAPI_ATTR VkResult VKAPI_CALL
device_wait(VkDevice device)
{
	count_wait();
	return perf_next.DeviceWaitIdle(device);
}

static VKAPI_ATTR VkResult VKAPI_CALL
wait_fences(VkDevice device, uint32_t n, const VkFence *of, VkBool32 all, uint64_t timeout)
{
	count_wait();
	return perf_next.WaitForFences(device, n, of, all, timeout);
}

static VKAPI_ATTR VkResult VKAPI_CALL
wait_semaphores(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout)
{
	count_wait();
	return perf_next.WaitSemaphores(device, info, timeout);
}

/* ---- life ---- */

static VKAPI_ATTR void VKAPI_CALL
destroy_device(VkDevice device, const VkAllocationCallbacks *allocator)
{
	g_mutex_lock(&perf_lock);
	if (perf_counts.locked)
		perf_misuse("the device goes with the lock taken");
	if (pools && g_hash_table_size(pools))
		perf_misuse("%u pools are left", g_hash_table_size(pools));
	report();
	for (guint i = 0; fences && i < fences->len; i++) {
		VkFence fence = (VkFence)(uintptr_t)g_ptr_array_index(fences, i);
		if (fence)
			perf_next.WaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX);
		perf_next.DestroyFence(device, fence, NULL);
	}
	g_clear_pointer(&fences, g_ptr_array_unref);
	g_clear_pointer(&pools, g_hash_table_unref);
	g_clear_pointer(&breaches, g_hash_table_unref);
	perf_buffers_finish();
	memset(&perf_counts, 0, sizeof(perf_counts));
	g_mutex_unlock(&perf_lock);
	perf_next.DestroyDevice(device, allocator);
}

static PFN_vkVoidFunction
load(PFN_vkGetDeviceProcAddr get, const char *name)
{
	static const char *const endings[] = { "", "KHR", "EXT" };
	for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
		char spelled[64];
		snprintf(spelled, sizeof(spelled), "%s%s", name, endings[i]);
		PFN_vkVoidFunction found = get(the_device, spelled);
		if (found)
			return found;
	}
	return NULL;
}

void
perf_device_created(VkDevice device, PFN_vkGetDeviceProcAddr get, bool with_feature)
{
	the_device = device;
	enabled = with_feature;
#define LOAD(name) perf_next.name = (PFN_vk##name)load(get, "vk" #name)
	LOAD(DestroyDevice);
	LOAD(CreateQueryPool);
	LOAD(DestroyQueryPool);
	LOAD(ResetQueryPool);
	LOAD(GetQueryPoolResults);
	LOAD(BeginCommandBuffer);
	LOAD(EndCommandBuffer);
	LOAD(CmdBeginQuery);
	LOAD(CmdEndQuery);
	LOAD(CmdResetQueryPool);
	LOAD(CmdCopyQueryPoolResults);
	LOAD(CmdWriteTimestamp);
	LOAD(CmdExecuteCommands);
	LOAD(CmdDraw);
	LOAD(CmdDrawIndexed);
	LOAD(CmdDispatch);
	LOAD(CmdPipelineBarrier);
	LOAD(CmdBindPipeline);
	LOAD(CmdCopyBuffer);
	LOAD(CmdFillBuffer);
	LOAD(CmdBeginRenderPass);
	LOAD(CmdEndRenderPass);
	LOAD(CmdBeginRendering);
	LOAD(CmdEndRendering);
	LOAD(QueueSubmit);
	LOAD(QueueSubmit2);
	LOAD(QueueWaitIdle);
	LOAD(DeviceWaitIdle);
	LOAD(WaitForFences);
	LOAD(WaitSemaphores);
	LOAD(GetFenceStatus);
	LOAD(CreateFence);
	LOAD(DestroyFence);
}

static const struct {
	const char *name;
	PFN_vkVoidFunction function;
	bool of_extension;
} ours[] = {
	{ "vkDestroyDevice", (PFN_vkVoidFunction)destroy_device, false },
	{ "vkCreateQueryPool", (PFN_vkVoidFunction)create_pool, false },
	{ "vkDestroyQueryPool", (PFN_vkVoidFunction)destroy_pool, false },
	{ "vkResetQueryPool", (PFN_vkVoidFunction)reset_pool, false },
	{ "vkResetQueryPoolEXT", (PFN_vkVoidFunction)reset_pool, false },
	{ "vkGetQueryPoolResults", (PFN_vkVoidFunction)get_results, false },
	{ "vkQueueSubmit", (PFN_vkVoidFunction)submit, false },
	{ "vkQueueSubmit2", (PFN_vkVoidFunction)submit2, false },
	{ "vkQueueSubmit2KHR", (PFN_vkVoidFunction)submit2, false },
	{ "vkQueueWaitIdle", (PFN_vkVoidFunction)queue_wait, false },
	{ "vkDeviceWaitIdle", (PFN_vkVoidFunction)device_wait, false },
	{ "vkWaitForFences", (PFN_vkVoidFunction)wait_fences, false },
	{ "vkWaitSemaphores", (PFN_vkVoidFunction)wait_semaphores, false },
	{ "vkWaitSemaphoresKHR", (PFN_vkVoidFunction)wait_semaphores, false },
	{ "vkAcquireProfilingLockKHR", (PFN_vkVoidFunction)acquire, true },
	{ "vkReleaseProfilingLockKHR", (PFN_vkVoidFunction)release, true },
};

PFN_vkVoidFunction
perf_device_function(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(ours); i++)
		if (strcmp(name, ours[i].name) == 0)
			return ours[i].of_extension && !enabled ? NULL : ours[i].function;
	return perf_buffer_function(name);
}

/* SPDX-License-Identifier: MIT */
/* tests/fake_vk_perf/perf.h - a Vulkan layer that gives the driver below it performance
 * queries.
 *
 * Offers VK_KHR_performance_query on a driver that has none (lavapipe), enforces its rules, and
 * counts what is recorded between begin and end, so that a test knows every value. It is below
 * the layer that is tested. README.md has the words of FAKE_VK_PERF. One instance and one
 * device at a time; any thread. Breaches of the rules, and calls in which the CPU waits, go
 * into a report.
 */
#ifndef PASSTALLY_TESTS_FAKE_VK_PERF_H
#define PASSTALLY_TESTS_FAKE_VK_PERF_H

#include <glib.h>
#include <stdbool.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

/* The quantity that a counter is derived from. */
struct perf_work {
	uint64_t draws, vertices, dispatches;
};

enum perf_quantity { PERF_DRAWS, PERF_VERTICES, PERF_DISPATCHES };

struct perf_counter {
	enum perf_quantity quantity;
	uint64_t factor;
	VkPerformanceCounterUnitKHR unit;
	VkPerformanceCounterStorageKHR storage;
	VkPerformanceCounterScopeKHR scope;
	VkPerformanceCounterDescriptionFlagsKHR flags;
};
extern const struct perf_counter perf_counters[];
extern const uint32_t perf_n_counters;
/* "draws times 3": its slug says what the value has to be. */
void perf_name(const struct perf_counter *counter, char *out, size_t size);
VkPerformanceCounterResultKHR
perf_value(const struct perf_counter *counter, const struct perf_work *work);

struct perf_config {
	unsigned room; /* counters that fit into one pass */
	unsigned late; /* how often a result that is ready is reported as not ready */
	unsigned lost; /* the N-th request for results loses the device; 0: none does */
	bool single; /* one pool per command buffer */
	bool never; /* no result ever arrives */
	unsigned shuffle; /* every other result is not ready so many times */
	unsigned error_every; /* the N-th question fails; 0: none does */
	bool no_feature, refuse;
	char share[64]; /* the name of the percentages, which are 88 then; or "" */
	VkResult lock; /* what vkAcquireProfilingLockKHR returns */
};
extern struct perf_config perf_config;

struct perf_next {
	PFN_vkDestroyDevice DestroyDevice;
	PFN_vkCreateQueryPool CreateQueryPool;
	PFN_vkDestroyQueryPool DestroyQueryPool;
	PFN_vkResetQueryPool ResetQueryPool;
	PFN_vkGetQueryPoolResults GetQueryPoolResults;
	PFN_vkBeginCommandBuffer BeginCommandBuffer;
	PFN_vkEndCommandBuffer EndCommandBuffer;
	PFN_vkCmdBeginQuery CmdBeginQuery;
	PFN_vkCmdEndQuery CmdEndQuery;
	PFN_vkCmdResetQueryPool CmdResetQueryPool;
	PFN_vkCmdCopyQueryPoolResults CmdCopyQueryPoolResults;
	PFN_vkCmdWriteTimestamp CmdWriteTimestamp;
	PFN_vkCmdExecuteCommands CmdExecuteCommands;
	PFN_vkCmdDraw CmdDraw;
	PFN_vkCmdDrawIndexed CmdDrawIndexed;
	PFN_vkCmdDispatch CmdDispatch;
	PFN_vkCmdPipelineBarrier CmdPipelineBarrier;
	PFN_vkCmdBindPipeline CmdBindPipeline;
	PFN_vkCmdCopyBuffer CmdCopyBuffer;
	PFN_vkCmdFillBuffer CmdFillBuffer;
	PFN_vkCmdBeginRenderPass CmdBeginRenderPass;
	PFN_vkCmdEndRenderPass CmdEndRenderPass;
	PFN_vkCmdBeginRendering CmdBeginRendering;
	PFN_vkCmdEndRendering CmdEndRendering;
	PFN_vkQueueSubmit QueueSubmit;
	PFN_vkQueueSubmit2 QueueSubmit2;
	PFN_vkQueueWaitIdle QueueWaitIdle;
	PFN_vkDeviceWaitIdle DeviceWaitIdle;
	PFN_vkWaitForFences WaitForFences;
	PFN_vkWaitSemaphores WaitSemaphores;
	PFN_vkGetFenceStatus GetFenceStatus;
	PFN_vkCreateFence CreateFence;
	PFN_vkDestroyFence DestroyFence;
};
extern struct perf_next perf_next;

/* ---- queries.c ---- */

void perf_device_created(VkDevice device, PFN_vkGetDeviceProcAddr get, bool enabled);
/* Returns the layer's function of that name, or NULL. */
PFN_vkVoidFunction perf_device_function(const char *name);
/* Reports a broken rule. */
void perf_misuse(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* ---- buffers.c: the contents of command buffers; called with the lock ---- */

struct perf_query {
	enum { PERF_UNRESET, PERF_RESET, PERF_DONE } state;
	uint64_t serial; /* of the submission that fills it */
	unsigned asked;
	struct perf_work work;
};

struct perf_pool {
	uint32_t n, n_counters, family;
	uint32_t *counters;
	VkPerformanceCounterScopeKHR widest; /* COMMAND_BUFFER, if any counter has that scope */
	struct perf_query *queries;
};
struct perf_pool *perf_pool_find(VkQueryPool pool); /* NULL: the driver's own */

extern GMutex perf_lock;
/* Fills the queries that the command buffer ends. True when it ended any. */
bool perf_buffer_run(VkCommandBuffer buffer, uint64_t serial);
PFN_vkVoidFunction perf_buffer_function(const char *name);
void perf_buffers_finish(void);
extern struct perf_counts {
	unsigned begun, ended, read, not_ready, pools, locks, releases, waits;
	bool locked;
} perf_counts;

#endif

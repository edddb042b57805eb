/* SPDX-License-Identifier: MIT */
/* query/vk/source.h - one way to count GPU work between two points of a Vulkan command buffer.
 *
 * It differs from query/source/source.h because recording and execution are separate: queries
 * are recorded by any number of threads, each into its own command buffer, and are executed
 * (and read) later, possibly often. So a source keeps no slot: it creates query pools, and the
 * caller that records chooses the slot and the pool. tally_vk_begin() and _end() may be called by
 * several threads at once, each with its own command buffer; everything else by one thread at a
 * time (the device's lock). Nothing waits for the GPU.
 */
#ifndef PASSTALLY_QUERY_VK_SOURCE_H
#define PASSTALLY_QUERY_VK_SOURCE_H

#include "query/source/source.h"

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES 1
#endif
#include <vulkan/vulkan_core.h>

/* The next layer's functions, under whichever spelling the device has; NULL where
 * it has none. */
struct tally_vk_api {
	VkDevice device;
	VkPhysicalDevice physical;
	PFN_vkCreateQueryPool CreateQueryPool;
	PFN_vkDestroyQueryPool DestroyQueryPool;
	PFN_vkCmdResetQueryPool CmdResetQueryPool;
	PFN_vkResetQueryPool ResetQueryPool; /* only where hostQueryReset is enabled */
	PFN_vkCmdWriteTimestamp CmdWriteTimestamp;
	PFN_vkCmdBeginQuery CmdBeginQuery;
	PFN_vkCmdEndQuery CmdEndQuery;
	PFN_vkGetQueryPoolResults GetQueryPoolResults;
	/* Only where enabled, with both domains offered. */
	PFN_vkGetCalibratedTimestampsEXT GetCalibratedTimestamps;
	float timestamp_period; /* ns per tick; may be inf, nan or 0 on odd drivers */
	bool pipeline_statistics; /* the feature is enabled */
	bool multi_device; /* timestamps only */
	/* VK_KHR_performance_query: the driver has it; it is enabled, by passtally alone; two
	 * pools may be used in one command buffer; the game enabled it for itself (R18). */
	bool performance_offered, performance_query, performance_pools, game_performance;
	PFN_vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR
		EnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR;
	PFN_vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR
		GetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR;
	PFN_vkAcquireProfilingLockKHR AcquireProfilingLockKHR;
	PFN_vkReleaseProfilingLockKHR ReleaseProfilingLockKHR;
	uint32_t n_families;
	VkDriverId driver_id; /* 0: unknown */
	/* Beginning a query that counts compute shaders crashes where no compute pipeline is
	 * bound: lavapipe (seen in 22.3.6) accesses the pipeline before it has one. */
	bool compute_crashes;
};

/* What queues of one family can do, and what is to be counted on them. */
struct tally_vk_family {
	VkQueueFlags flags;
	uint32_t timestamp_bits; /* 0: no timestamps */
	uint32_t index;
	uint32_t set; /* number, from 1, of the source's set that is counted now; 0: none */
};

/* Halves of an interval whose two ends lie in different command buffers. */
enum { TALLY_VK_BEGIN = 1, TALLY_VK_END = 2, TALLY_VK_BOTH = 3 };

struct tally_vk_source;

#define TALLY_VK_MAX_ROWS 64u /* intervals that read_many() reads: a bit of its result each */

/* Complete: no member is NULL. */
struct tally_vk_source_ops {
	const char *name;   /* as in the log: "vk-timestamp" */
	bool delivers_time; /* by two timestamps; fills sample->begin_ns and end_ns */
	uint32_t queries; /* of one slot; those of slot n begin at n times this */
	/* An interval may begin and end in different command buffers, and may be between the
	 * outer ends of suspended halves; otherwise it is recorded only as a whole. */
	bool halves;
	/* Secondaries may inherit its queries: tally_vk_statistics_mask(). */
	bool inherits;
	/* Probes and chooses counters from src->wanted. On error src->reason says why,
	 * unless that is TALLY_NO_MEMORY. May wait 50 ms for another program to release the
	 * profiling lock (vk-khr). */
	enum tally_status (*open)(struct tally_vk_source *src);
	void (*close)(struct tally_vk_source *src);
	/* Whether an interval can be recorded at all for queues of this family. */
	bool (*covers)(const struct tally_vk_source *src, const struct tally_vk_family *family);
	/* Creates a pool of `slots` slots for queues of a family that it covers. No query
	 * is reset yet. */
	enum tally_status (*create_pool)(struct tally_vk_source *src,
					 const struct tally_vk_family *family, uint32_t slots,
					 VkQueryPool *out);
	/* How many 64-bit words the results of one query take, with its availability, which comes
	 * last. 0: the driver cannot report which queries of a range are available, and read()
	 * asks for each slot. */
	uint32_t (*words)(const struct tally_vk_source *src,
			  const struct tally_vk_family *family);
	/* Reads the interval in `slot`, which took `views` consecutive slots: the first must
	 * hold a result, and counters are summed over those that do. `rows`: what
	 * tally_vk_fetch() wrote for its slots, NULL without words. `which`: the halves that were
	 * recorded; with one half only begin_ns or end_ns is set and has_time stays false.
	 * TALLY_NOT_READY leaves *out untouched. Implausible timestamps are left out, with
	 * TALLY_FLAG(BAD_TIME). TALLY_LOST: the driver returns an error. */
	enum tally_status (*read)(struct tally_vk_source *src,
				  const struct tally_vk_family *family, VkQueryPool pool,
				  const void *rows, uint32_t slot, uint32_t views,
				  unsigned which, struct tally_sample *out);
	/* The same for `n` intervals, at most TALLY_VK_MAX_ROWS, whose rows follow one another,
	 * each of one view and with both halves recorded. Bit i of the result: out[i] was
	 * filled. NULL: there are no rows. */
	uint64_t (*read_many)(struct tally_vk_source *src, const struct tally_vk_family *family,
			      const void *rows, uint32_t n, struct tally_sample *out);
	/* Called once per frame: keeps the clocks' mapping up to date. Submits no GPU work. NULL:
	 * there is no clock. */
	void (*tick)(struct tally_vk_source *src, uint64_t now_ns);
};

/* The first member of every source. */
struct tally_vk_source {
	const struct tally_vk_source_ops *ops;
	const struct tally_vk_api *api; /* outlives the source */
	/* Set by open(); valid as long as the process uses them. */
	const struct tally_counter *const *counters;
	uint32_t n_counters;
	/* Set by open(): the sets that take turns, counted where tally_vk_family.set names one;
	 * values are then in the order of the set. None: `counters` is always counted. */
	const struct tally_counter_set *const *sets;
	uint32_t n_sets;
	const char *wanted; /* --counters list; valid during open() */
	struct tally_key_table *keys; /* of the device, or NULL; valid during open() */
	/* Why it is off, or what it lacks; "" = nothing to report. */
	char reason[TALLY_REASON_BYTES];
};

/* NULL on OOM. Two queries per slot. A slot's begins come before its ends, so that each of the
 * two uses consecutive queries, one per view, and so do neighboring slots. */
struct tally_vk_source *tally_vk_timestamp_create(const struct tally_vk_api *api);
struct tally_vk_source *tally_vk_statistics_create(const struct tally_vk_api *api);
/* The statistics that a primary must name for secondaries to inherit; 0 when closed. */
VkQueryPipelineStatisticFlags tally_vk_statistics_mask(const struct tally_vk_source *src,
						       const struct tally_vk_family *family);
/* VK_KHR_performance_query. Holds the driver's profiling lock while it is open. */
struct tally_vk_source *tally_vk_khr_create(const struct tally_vk_api *api);
/* Where an interval of a set (number from 1) may be: WORKLOAD: anywhere; PASS: outside
 * render passes; SUBMISSION: its begin is the first and its end the last command of a primary.
 * Never across vkCmdExecuteCommands. */
enum tally_scope tally_vk_khr_scope(const struct tally_vk_source *src, uint32_t set);
/* For create_pool: TALLY_NO_MEMORY when the driver refuses. */
enum tally_status tally_vk_create_pool(struct tally_vk_source *src,
				       const VkQueryPoolCreateInfo *info, VkQueryPool *out);
/* Slots [first, first + n) become usable again: by the host, or recorded into `cb` outside a
 * render pass. (A performance query must not be reset in the command buffer in which it is begun:
 * vk-khr requires resets by the host.) */
void tally_vk_reset(struct tally_vk_source *src, VkQueryPool pool, uint32_t first, uint32_t n);
void tally_vk_record_reset(struct tally_vk_source *src, VkCommandBuffer cb, VkQueryPool pool,
			   uint32_t first, uint32_t n);
/* The size of what tally_vk_fetch() writes for one slot; 0: nothing. */
size_t tally_vk_row_bytes(const struct tally_vk_source *src, const struct tally_vk_family *family);
/* Asks the driver once for slots [first, first + n), all of which were reset at some time, and
 * writes a row for each, with the availability of its queries. Does not wait. TALLY_LOST: the
 * driver returns an error, and none of these rows may be read. */
enum tally_status tally_vk_fetch(struct tally_vk_source *src, const struct tally_vk_family *family,
				 VkQueryPool pool, uint32_t first, uint32_t n, void *rows);

/* Begin and end of an interval in `slot`: timestamps of a source that delivers time (`times`), else
 * one query. `views`: the number of consecutive slots that it takes (multiview; else 1). */
static inline void
tally_vk_begin(const struct tally_vk_api *api, bool times, VkCommandBuffer cb, VkQueryPool pool,
	       uint32_t slot)
{
	if (times)
		api->CmdWriteTimestamp(cb, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 2 * slot);
	else
		api->CmdBeginQuery(cb, pool, slot, 0);
}
static inline void
tally_vk_end(const struct tally_vk_api *api, bool times, VkCommandBuffer cb, VkQueryPool pool,
	     uint32_t slot, uint32_t views)
{
	if (times)
		api->CmdWriteTimestamp(cb, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool,
				       2 * slot + views);
	else
		api->CmdEndQuery(cb, pool, slot);
}

/* Frees a source that is not open. Accepts NULL. */
void tally_vk_source_destroy(struct tally_vk_source *src);

/* For a driver without VkPhysicalDeviceDriverProperties: the name of the vendor ("unknown" for
 * other ids), and its version as the vendor writes it, in `out`, which is returned. */
#define TALLY_VK_VERSION_SIZE 48
const char *tally_vk_vendor(uint32_t id);
const char *tally_vk_version(const VkPhysicalDeviceProperties *p,
			     char out[TALLY_VK_VERSION_SIZE]);

/* Whether reading a query waits until the whole device is idle: Mesa's lavapipe, which crashes in
 * compute, too (compute_crashes). `driver` 0: not known. */
bool tally_vk_read_waits(VkDriverId driver, uint32_t vendor);
/* Which of passtally's queries make passes run one after the other, for the device line: those
 * that are copied instead, or vk-khr's, where it is on. NULL: none. */
const char *tally_vk_serialized_by(bool read_waits, bool performance);

#endif

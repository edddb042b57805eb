/* SPDX-License-Identifier: MIT */
/* tests/unit/query/fake_queries.h - a driver that supports only query pools, for unit tests.
 *
 * Commands run as they are recorded: a timestamp returns `clock` and advances it, a statistics
 * query counts what a test puts into `counted`. It checks what the specification requires
 * (reset before use, ranges, one active query of a type a command buffer) and counts `misuse`.
 * One test at a time: state is one global, `fq`.
 */
#ifndef PASSTALLY_TESTS_UNIT_FAKE_QUERIES_H
#define PASSTALLY_TESTS_UNIT_FAKE_QUERIES_H

#include <glib.h>
#include <pthread.h>
#include <string.h>

#include "layer/base/clock.h"
#include "query/vk/source.h"

#define FQ_POOLS 2048
#define FQ_QUERIES 512
#define FQ_STATISTICS 11
#define FQ_UNDEFINED UINT64_C(0xdeadbeefdeadbeef)

enum fq_state { FQ_NEW = 0, FQ_RESET, FQ_ACTIVE, FQ_DONE };

struct fq_query {
	enum fq_state state;
	uint64_t values[FQ_STATISTICS];
};

struct fq_pool {
	VkQueryType type;
	uint32_t n, mask;
	bool live;
	struct fq_query *queries;
};

static struct {
	struct fq_pool pools[FQ_POOLS + 1]; /* handle n is pools[n] */
	uint32_t n_pools, n_live, fail_after; /* fail_after: pools that may still be made, + 1 */
	uint64_t clock, step;		      /* ticks; added at each timestamp */
	unsigned bits;
	bool noise; /* above the valid bits */
	uint64_t counted[FQ_STATISTICS];
	bool hold;	/* nothing becomes available */
	bool untouched; /* ... and nothing is written then */
	VkResult fail_results, fail_clock;
	unsigned n_results; /* calls for results */
	unsigned fail_from; /* the first of these that fails, counted from 1; 0: all */
	unsigned available; /* at most this many queries of a range; 0: all */
	bool stops; /* ... and nothing is written for the rest */
	uint64_t clock_offset, deviation; /* the device's clock: CLOCK_MONOTONIC + clock_offset */
	unsigned n_calibrations;
	uint32_t active_statistics;
	unsigned misuse;
	char log[4096]; /* what was recorded or reset: "r0+4 t0 b0 e0 t256 " */
	pthread_mutex_t lock; /* ThreadSanitizer does not see GLib's */
	bool count_only; /* no log */
} fq;

static inline void
fq_note(const char *format, ...) G_GNUC_PRINTF(1, 2);

static inline void
fq_note(const char *format, ...)
{
	size_t used = strlen(fq.log);
	va_list args;

	if (fq.count_only || used > sizeof(fq.log) - 64)
		return;
	va_start(args, format);
	g_vsnprintf(fq.log + used, sizeof(fq.log) - used, format, args);
	va_end(args);
}

static inline struct fq_query *
fq_query(VkQueryPool handle, uint32_t n)
{
	uintptr_t index = (uintptr_t)handle;

	g_assert_cmpuint(index, >, 0);
	g_assert_cmpuint(index, <=, FQ_POOLS);
	g_assert_true(fq.pools[index].live);
	g_assert_cmpuint(n, <, fq.pools[index].n);
	return &fq.pools[index].queries[n];
}

static inline struct fq_pool *
fq_pool(VkQueryPool handle)
{
	return &fq.pools[(uintptr_t)handle];
}

static VKAPI_ATTR VkResult VKAPI_CALL
fq_create(VkDevice device, const VkQueryPoolCreateInfo *info, const VkAllocationCallbacks *a,
	  VkQueryPool *out)
{
	VkResult result = VK_SUCCESS;

	pthread_mutex_lock(&fq.lock);
	g_assert_null(a);
	g_assert_nonnull(device);
	g_assert_cmpuint(info->queryCount, <=, FQ_QUERIES);
	if (fq.fail_after == 1 || fq.n_pools == FQ_POOLS) {
		result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
	} else {
		fq.fail_after -= fq.fail_after > 0;
		fq.pools[++fq.n_pools] = (struct fq_pool){
			.type = info->queryType,
			.n = info->queryCount,
			.mask = info->pipelineStatistics,
			.live = true,
			.queries = g_new0(struct fq_query, info->queryCount),
		};
		fq.n_live++;
		*out = (VkQueryPool)(uintptr_t)fq.n_pools;
	}
	pthread_mutex_unlock(&fq.lock);
	return result;
}

static VKAPI_ATTR void VKAPI_CALL
fq_destroy(VkDevice device, VkQueryPool handle, const VkAllocationCallbacks *a)
{
	struct fq_pool *pool = fq_pool(handle);

	(void)device;
	g_assert_null(a);
	g_assert_true(pool->live);
	pool->live = false;
	g_clear_pointer(&pool->queries, g_free);
	fq.n_live--;
}

static VKAPI_ATTR void VKAPI_CALL
fq_reset(VkDevice device, VkQueryPool handle, uint32_t first, uint32_t n)
{
	(void)device;
	for (uint32_t i = 0; i < n; i++)
		fq_query(handle, first + i)->state = FQ_RESET;
	fq_note("h%u+%u ", first, n);
}

static VKAPI_ATTR void VKAPI_CALL
fq_cmd_reset(VkCommandBuffer cb, VkQueryPool handle, uint32_t first, uint32_t n)
{
	g_assert_nonnull(cb);
	for (uint32_t i = 0; i < n; i++)
		fq_query(handle, first + i)->state = FQ_RESET;
	fq_note("r%u+%u ", first, n);
}

static VKAPI_ATTR void VKAPI_CALL
fq_stamp(VkCommandBuffer cb, VkPipelineStageFlagBits stage, VkQueryPool handle, uint32_t n)
{
	struct fq_query *query = fq_query(handle, n);

	g_assert_nonnull(cb);
	fq.misuse += query->state != FQ_RESET;
	fq.misuse += stage != VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT;
	fq.misuse += fq_pool(handle)->type != VK_QUERY_TYPE_TIMESTAMP;
	query->state = FQ_DONE;
	query->values[0] = fq.clock;
	if (fq.bits && fq.bits < 64) {
		query->values[0] &= (UINT64_C(1) << fq.bits) - 1;
		query->values[0] |= fq.noise ? UINT64_MAX << fq.bits : 0;
	}
	fq.clock += fq.step;
	fq_note("t%u ", n);
}

static VKAPI_ATTR void VKAPI_CALL
fq_begin(VkCommandBuffer cb, VkQueryPool handle, uint32_t n, VkQueryControlFlags flags)
{
	struct fq_query *query = fq_query(handle, n);

	g_assert_nonnull(cb);
	fq.misuse += query->state != FQ_RESET;
	fq.misuse += flags != 0 || fq.active_statistics != 0;
	fq.misuse += fq_pool(handle)->type != VK_QUERY_TYPE_PIPELINE_STATISTICS;
	query->state = FQ_ACTIVE;
	fq.active_statistics++;
	fq_note("b%u ", n);
}

static VKAPI_ATTR void VKAPI_CALL
fq_end(VkCommandBuffer cb, VkQueryPool handle, uint32_t n)
{
	struct fq_query *query = fq_query(handle, n);

	g_assert_nonnull(cb);
	fq.misuse += query->state != FQ_ACTIVE;
	query->state = FQ_DONE;
	memcpy(query->values, fq.counted, sizeof(query->values));
	fq.active_statistics--;
	fq_note("e%u ", n);
}

/* One row: values and availability, as 64-bit numbers. */
static inline bool
fq_write_row(const struct fq_pool *pool, const struct fq_query *query, bool held, uint64_t *row)
{
	bool done = query->state == FQ_DONE && !held;
	uint32_t at = 0, n_values = pool->mask ? (uint32_t)__builtin_popcount(pool->mask) : 1;

	if (!done && fq.untouched)
		return false;
	/* "Undefined" where a query is not available. */
	for (uint32_t bit = 0; !done && bit < n_values; bit++)
		row[bit] = FQ_UNDEFINED;
	if (pool->type == VK_QUERY_TYPE_TIMESTAMP) {
		if (done)
			row[0] = query->values[0];
		row[1] = done;
		return done;
	}
	for (uint32_t bit = 0; bit < FQ_STATISTICS; bit++) {
		if (pool->mask & 1u << bit) {
			if (done)
				row[at] = query->values[bit];
			at++;
		}
	}
	row[at] = done;
	return done;
}

static VKAPI_ATTR VkResult VKAPI_CALL
fq_results(VkDevice device, VkQueryPool handle, uint32_t first, uint32_t n, size_t size,
	   void *data, VkDeviceSize stride, VkQueryResultFlags flags)
{
	const struct fq_pool *pool = fq_pool(handle);
	uint32_t row = pool->type == VK_QUERY_TYPE_TIMESTAMP
			       ? 2
			       : (uint32_t)__builtin_popcount(pool->mask) + 1;
	VkResult result = VK_SUCCESS;

	(void)device;
	fq.misuse += flags != (VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
	fq.misuse += stride != row * sizeof(uint64_t) || size < n * stride;
	fq.n_results++;
	bool fails = fq.fail_results && fq.n_results >= fq.fail_from;
	for (uint32_t i = 0; i < n; i++) {
		const struct fq_query *query = fq_query(handle, first + i);
		/* Results before the one that fails are written. */
		if (fails && i >= n / 2)
			return fq.fail_results;
		fq.misuse += query->state == FQ_NEW;
		bool held = fq.hold || (fq.available && i >= fq.available);
		if (held && fq.stops)
			return VK_NOT_READY;
		if (!fq_write_row(pool, query, held, (uint64_t *)data + i * row))
			result = VK_NOT_READY;
	}
	return result;
}

G_GNUC_UNUSED static VKAPI_ATTR VkResult VKAPI_CALL
fq_calibrated(VkDevice device, uint32_t n, const VkCalibratedTimestampInfoEXT *infos,
	      uint64_t *values, uint64_t *deviation)
{
	(void)device;
	fq.n_calibrations++;
	if (fq.fail_clock)
		return fq.fail_clock;
	uint64_t now = tally_clock_now_ns();
	for (uint32_t i = 0; i < n; i++)
		values[i] = infos[i].timeDomain == VK_TIME_DOMAIN_DEVICE_EXT
				    ? now + fq.clock_offset
				    : now;
	*deviation = fq.deviation;
	return VK_SUCCESS;
}

/* A fresh driver: timestamps 100 ticks apart, of 64 bits. */
static inline void
fq_init(void)
{
	memset(&fq, 0, sizeof(fq));
	fq.clock = 1000;
	fq.step = 100;
	fq.deviation = 50;
	for (uint32_t i = 0; i < FQ_STATISTICS; i++)
		fq.counted[i] = 10 + i;
}

static inline void
fq_fill_api(struct tally_vk_api *api)
{
	*api = (struct tally_vk_api){
		.device = (VkDevice)(uintptr_t)1,
		.CreateQueryPool = fq_create,
		.DestroyQueryPool = fq_destroy,
		.CmdResetQueryPool = fq_cmd_reset,
		.ResetQueryPool = fq_reset,
		.CmdWriteTimestamp = fq_stamp,
		.CmdBeginQuery = fq_begin,
		.CmdEndQuery = fq_end,
		.GetQueryPoolResults = fq_results,
		.timestamp_period = 1.0f,
		.pipeline_statistics = true,
	};
}

#define FQ_CB ((VkCommandBuffer)(uintptr_t)2)

#endif

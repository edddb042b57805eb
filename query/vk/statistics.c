/* SPDX-License-Identifier: MIT */
/* Pipeline statistics, by vkCmdBeginQuery: one query counts all requested statistics. */
#include "query/vk/source.h"

#include <stdlib.h>
#include <string.h>

#include "query/source/statistics_catalogue.h"

#define SOURCE_NAME "vk-statistics"
#define N_BITS 11u
#define WIDTH_BITS 64u

/* In the order of Vulkan's bits, which is the order of a query's results. */
static const enum tally_statistic statistic_of_bit[N_BITS] = {
	TALLY_STATISTIC_VERTICES_SUBMITTED,
	TALLY_STATISTIC_PRIMITIVES_SUBMITTED,
	TALLY_STATISTIC_VERTEX_SHADER_INVOCATIONS,
	TALLY_STATISTIC_GEOMETRY_SHADER_INVOCATIONS,
	TALLY_STATISTIC_GEOMETRY_SHADER_PRIMITIVES_EMITTED,
	TALLY_STATISTIC_CLIPPING_INPUT_PRIMITIVES,
	TALLY_STATISTIC_CLIPPING_OUTPUT_PRIMITIVES,
	TALLY_STATISTIC_FRAGMENT_SHADER_INVOCATIONS,
	TALLY_STATISTIC_TESS_CONTROL_SHADER_PATCHES,
	TALLY_STATISTIC_TESS_EVALUATION_SHADER_INVOCATIONS,
	TALLY_STATISTIC_COMPUTE_SHADER_INVOCATIONS,
};
_Static_assert(VK_QUERY_PIPELINE_STATISTIC_INPUT_ASSEMBLY_VERTICES_BIT == 1u << 0 &&
		       VK_QUERY_PIPELINE_STATISTIC_GEOMETRY_SHADER_INVOCATIONS_BIT == 1u << 3 &&
		       VK_QUERY_PIPELINE_STATISTIC_CLIPPING_INVOCATIONS_BIT == 1u << 5 &&
		       VK_QUERY_PIPELINE_STATISTIC_FRAGMENT_SHADER_INVOCATIONS_BIT == 1u << 7 &&
		       VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT ==
			       1u << (N_BITS - 1),
	       "results come in the order of statistic_of_bit");

#define ON_COMPUTE ((uint32_t)VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT)
#define ON_GRAPHICS (ON_COMPUTE - 1)

struct vk_statistics {
	struct tally_vk_source base;
	uint32_t chosen; /* bits; 0 while not open. The n-th of them is the n-th counter */
	const struct tally_counter *counters[N_BITS];
};

static const struct vk_statistics *
statistics_of(const struct tally_vk_source *src)
{
	return (const struct vk_statistics *)src;
}

static uint32_t
mask_of(const struct vk_statistics *st, const struct tally_vk_family *family)
{
	uint32_t can = 0;

	if (family->flags & VK_QUEUE_GRAPHICS_BIT)
		can |= ON_GRAPHICS;
	if (family->flags & VK_QUEUE_COMPUTE_BIT)
		can |= ON_COMPUTE;
	return st->chosen & can;
}

VkQueryPipelineStatisticFlags
tally_vk_statistics_mask(const struct tally_vk_source *src, const struct tally_vk_family *family)
{
	return mask_of(statistics_of(src), family);
}

static bool
statistics_covers(const struct tally_vk_source *src, const struct tally_vk_family *family)
{
	return mask_of(statistics_of(src), family) != 0;
}

/* --- recording ---------------------------------------------------------------------------- */

static enum tally_status
statistics_create_pool(struct tally_vk_source *src, const struct tally_vk_family *family,
		       uint32_t slots, VkQueryPool *out)
{
	const VkQueryPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.queryType = VK_QUERY_TYPE_PIPELINE_STATISTICS,
		.queryCount = slots,
		.pipelineStatistics = mask_of(statistics_of(src), family),
	};

	return tally_vk_create_pool(src, &info, out);
}

/* --- reading ------------------------------------------------------------------------------ */

/* A row consists of the query's counts and its availability. */
static uint32_t
n_counted(const struct vk_statistics *st, const struct tally_vk_family *family)
{
	return (uint32_t)__builtin_popcount(mask_of(st, family));
}

static uint32_t
statistics_words(const struct tally_vk_source *src, const struct tally_vk_family *family)
{
	return n_counted(statistics_of(src), family) + 1;
}

static inline void
put(struct tally_sample *out, uint32_t counter, uint64_t sum)
{
	bool possible = sum <= TALLY_STATISTIC_MOST;

	out->values[counter].storage = TALLY_STORAGE_U64;
	out->values[counter].u64 = sum;
	out->valid[0] |= (uint64_t)possible << counter;
	if (!possible)
		out->flags |= TALLY_FLAG(LOST);
}

/* The queue counts all that was chosen, in one view. */
static inline void
read_all(const uint64_t *data, uint32_t n, struct tally_sample *out)
{
	struct tally_value *values = out->values;
	uint64_t bits = 0;

	for (uint32_t counter = 0; counter < n; counter++) {
		values[counter].storage = TALLY_STORAGE_U64;
		values[counter].u64 = data[counter];
		bits |= data[counter];
	}
	if (bits <= TALLY_STATISTIC_MOST) /* so is each of them */
		out->valid[0] |= (UINT64_C(1) << n) - 1;
	for (uint32_t counter = 0; counter < n && bits > TALLY_STATISTIC_MOST; counter++)
		put(out, counter, data[counter]);
}

/* The queue counts only `mask` of what was chosen, or there are several views. */
static void
read_some(const struct vk_statistics *st, uint32_t mask, const uint64_t *data, uint32_t views,
	  struct tally_sample *out)
{
	uint32_t n = (uint32_t)__builtin_popcount(mask), row = n + 1;

	for (uint32_t counter = 0, i = 0, left = st->chosen; left; left &= left - 1, counter++) {
		if (!(mask & left & -left))
			continue;
		uint64_t sum = 0;
		for (uint32_t view = 0; view < views; view++)
			sum += data[view * row + n] ? data[view * row + i] : 0;
		i++;
		put(out, counter, sum);
	}
}

static enum tally_status
statistics_read(struct tally_vk_source *src, const struct tally_vk_family *family,
		VkQueryPool pool, const void *rows, uint32_t slot, uint32_t views,
		unsigned which, struct tally_sample *out)
{
	const struct vk_statistics *st = statistics_of(src);
	uint32_t mask = mask_of(st, family);
	const uint64_t *data = rows;

	(void)pool;
	(void)slot;
	if (!mask || which != TALLY_VK_BOTH)
		return TALLY_LOST;
	if (!data[n_counted(st, family)])
		return TALLY_NOT_READY;
	read_some(st, mask, data, views, out);
	return TALLY_OK;
}

static uint64_t
statistics_read_many(struct tally_vk_source *src, const struct tally_vk_family *family,
		     const void *rows, uint32_t n, struct tally_sample *out)
{
	const struct vk_statistics *st = statistics_of(src);
	uint32_t mask = mask_of(st, family), counted = n_counted(st, family);
	const uint64_t *data = rows;
	uint64_t read = 0;

	for (uint32_t i = 0; i < n; i++, data += counted + 1) {
		if (!data[counted])
			continue;
		if (mask == st->chosen)
			read_all(data, counted, &out[i]);
		else
			read_some(st, mask, data, 1, &out[i]);
		read |= UINT64_C(1) << i;
	}
	return read;
}

/* --- lifetime ----------------------------------------------------------------------------- */

static void
statistics_close(struct tally_vk_source *src)
{
	struct vk_statistics *st = (struct vk_statistics *)src;

	st->chosen = 0;
	src->counters = NULL;
	src->n_counters = 0;
}

/* NULL, or the reason why there are no statistics at all. */
static const char *
obstacle(const struct tally_vk_api *api)
{
	if (api->multi_device)
		return "the program uses several GPUs as one device: only timestamps are taken";
	if (!api->pipeline_statistics)
		return "the driver does not offer the feature pipelineStatisticsQuery, "
		       "or refused the device with it";
	if (!api->CreateQueryPool || !api->DestroyQueryPool || !api->CmdResetQueryPool ||
	    !api->CmdBeginQuery || !api->CmdEndQuery || !api->GetQueryPoolResults)
		return "the driver lacks functions of Vulkan 1.0 for queries: report it to the "
		       "driver's authors";
	return NULL;
}

static enum tally_status
choose(struct vk_statistics *st)
{
	struct tally_vk_source *src = &st->base;
	const char *why[TALLY_N_STATISTICS] = { NULL };
	bool any = false;

	for (unsigned which = 0; which < TALLY_N_STATISTICS; which++) {
		if (!tally_statistics_wanted(src->wanted, which))
			continue;
		any = true;
		why[which] = "Vulkan's pipeline statistics have none";
	}
	for (uint32_t bit = 0; bit < N_BITS; bit++) {
		enum tally_statistic which = statistic_of_bit[bit];
		if (!why[which])
			continue;
		why[which] = NULL;
		if (src->api->compute_crashes && (ON_COMPUTE & 1u << bit))
			why[which] = "this driver would crash";
		if (why[which])
			continue;
		const struct tally_counter *counter =
			tally_statistics_counter(which, SOURCE_NAME, WIDTH_BITS);
		if (!counter)
			return TALLY_NO_MEMORY;
		st->counters[src->n_counters++] = counter;
		st->chosen |= UINT32_C(1) << bit;
	}
	tally_statistics_report_left_out(src->reason, why);
	if (!any)
		tally_unsupported(src->reason, "none of its counters is in --counters %.200s",
				  src->wanted);
	return st->chosen ? TALLY_OK : TALLY_UNSUPPORTED;
}

static enum tally_status
statistics_open(struct tally_vk_source *src)
{
	struct vk_statistics *st = (struct vk_statistics *)src;
	const char *why = obstacle(src->api);

	src->reason[0] = '\0';
	if (why)
		return tally_unsupported(src->reason, "%s", why);
	enum tally_status status = choose(st);
	if (status != TALLY_OK) {
		statistics_close(src);
		return status;
	}
	src->counters = st->counters;
	return TALLY_OK;
}

static const struct tally_vk_source_ops statistics_ops = {
	.name = SOURCE_NAME,
	.inherits = true,
	.queries = 1,
	.open = statistics_open,
	.close = statistics_close,
	.covers = statistics_covers,
	.create_pool = statistics_create_pool,
	.words = statistics_words,
	.read = statistics_read,
	.read_many = statistics_read_many,
};

struct tally_vk_source *
tally_vk_statistics_create(const struct tally_vk_api *api)
{
	struct vk_statistics *st = calloc(1, sizeof(*st));
	if (!st)
		return NULL;
	st->base.ops = &statistics_ops;
	st->base.api = api;
	return &st->base;
}

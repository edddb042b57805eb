/* SPDX-License-Identifier: MIT */
#include "tests/fake_vk/fake.h"

#include <stdlib.h>
#include <string.h>

#define CB(h) (&FAKE_OBJECT(h)->cb)

extern const struct fake_info info_vkCmdResetQueryPool, info_vkCmdBeginQuery, info_vkCmdEndQuery,
	info_vkCmdBeginQueryIndexedEXT, info_vkCmdEndQueryIndexedEXT, info_vkCmdWriteTimestamp,
	info_vkCmdWriteTimestamp2, info_vkCmdCopyQueryPoolResults, info_vkCmdExecuteCommands;

/* ---- pools ---- */

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkCreateQueryPool(VkDevice device, const VkQueryPoolCreateInfo *pCreateInfo,
		       const VkAllocationCallbacks *pAllocator, VkQueryPool *pQueryPool)
{
	(void)device;
	VkResult result = fake_enter("vkCreateQueryPool", !pAllocator);
	if (result != VK_SUCCESS)
		return result;
	static _Atomic uint32_t n_pools; /* of layers */
	if (!pAllocator && fake_config.pools && ++n_pools >= fake_config.pools)
		return VK_ERROR_OUT_OF_DEVICE_MEMORY;
	fake_lock();
	struct fake_object *o = FAKE_OBJECT(fake_new(FAKE_VkQueryPool, !pAllocator));
	o->queries.type = pCreateInfo->queryType;
	o->queries.bits = pCreateInfo->queryType == VK_QUERY_TYPE_PIPELINE_STATISTICS
				  ? pCreateInfo->pipelineStatistics
				  : 0;
	o->queries.n = pCreateInfo->queryCount;
	o->queries.n_values =
		o->queries.bits ? (uint32_t)__builtin_popcount(o->queries.bits) : 1;
	if (!fake_config.bench) /* whose results are always there */
		o->queries.queries = calloc(o->queries.n, sizeof(struct fake_query));
	*pQueryPool = (VkQueryPool)(uintptr_t)o;
	fake_line_begin("vkCreateQueryPool");
	fake_put_handle(FAKE_VkQueryPool, (uint64_t)(uintptr_t)o);
	fake_put_int(o->queries.type);
	fake_put_int(o->queries.n);
	fake_put_int(o->queries.bits);
	fake_put_word(pAllocator ? "allocator" : "-");
	fake_line_end();
	if (o->queries.type == VK_QUERY_TYPE_PIPELINE_STATISTICS && !fake_current->statistics)
		fake_rule("VUID-VkQueryPoolCreateInfo-queryType-00791", "not enabled");
	if (!o->queries.n)
		fake_rule("VUID-VkQueryPoolCreateInfo-queryCount-02763", "no queries");
	fake_unlock();
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL
fake_vkDestroyQueryPool(VkDevice device, VkQueryPool queryPool,
			const VkAllocationCallbacks *pAllocator)
{
	(void)device;
	(void)pAllocator;
	if (!queryPool)
		return;
	fake_lock();
	fake_pump();
	fake_line_begin("vkDestroyQueryPool");
	fake_put_handle(FAKE_VkQueryPool, (uint64_t)(uintptr_t)queryPool);
	fake_line_end();
	if (fake_pool_pending(FAKE_OBJECT(queryPool), 0, UINT32_MAX))
		fake_rule("VUID-vkDestroyQueryPool-queryPool-00793", "in use");
	fake_free((uint64_t)(uintptr_t)queryPool);
	fake_unlock();
}

static bool
in_range(const struct fake_object *pool, uint32_t first, uint32_t n, const char *id)
{
	bool fine = first < pool->queries.n && n <= pool->queries.n - first;
	if (!fine)
		fake_rule(id, "queries %u+%u of %u", first, n, pool->queries.n);
	if (pool->dead)
		fake_rule("VUID-any-queryPool-parameter", "the pool was destroyed");
	return fine && !pool->dead;
}

VKAPI_ATTR void VKAPI_CALL
fake_vkResetQueryPool(VkDevice device, VkQueryPool queryPool, uint32_t firstQuery,
		      uint32_t queryCount)
{
	if (fake_config.bench)
		return;
	struct fake_object *pool = FAKE_OBJECT(queryPool);
	fake_lock();
	fake_pump();
	fake_line_begin("vkResetQueryPool");
	fake_put_handle(FAKE_VkQueryPool, (uint64_t)(uintptr_t)queryPool);
	fake_put_int(firstQuery);
	fake_put_int(queryCount);
	fake_line_end();
	if (!((struct fake_device *)device)->host_reset)
		fake_rule("VUID-vkResetQueryPool-None-02665", "hostQueryReset is not enabled");
	if (fake_pool_pending(pool, firstQuery, queryCount))
		fake_rule("VUID-vkResetQueryPool-firstQuery-02741", "in use");
	if (in_range(pool, firstQuery, queryCount, "VUID-vkResetQueryPool-firstQuery-02666"))
		for (uint32_t i = 0; i < queryCount; i++)
			pool->queries.queries[firstQuery + i] =
				(struct fake_query){ .state = FAKE_QUERY_RESET };
	fake_unlock();
}

static void
put_value(char **at, uint64_t value, bool wide)
{
	uint32_t narrow = (uint32_t)value;
	memcpy(*at, wide ? (void *)&value : (void *)&narrow, wide ? 8 : 4);
	*at += wide ? 8 : 4;
}

/* Whether a layer's completed query is shown as available. */
static bool
is_shown(const struct fake_object *pool, struct fake_query *q)
{
	uint32_t index = (uint32_t)(q - pool->queries.queries);
	if (fake_config.never || (fake_config.gaps && index % fake_config.gaps == 1))
		return false;
	return index % 2 == 0 || q->asked++ >= fake_config.shuffle;
}

/* Writes the results of one query; false when it is not available. */
static bool
put_query(const struct fake_object *pool, struct fake_query *q, char *at,
	  VkQueryResultFlags flags)
{
	bool wide = flags & VK_QUERY_RESULT_64_BIT;
	bool there = q->state == FAKE_QUERY_DONE && (!pool->ours || is_shown(pool, q));
	uint64_t index = (uint64_t)(q - pool->queries.queries) + 1;
	uint64_t noise = fake_config.garbage && pool->ours ? UINT64_C(0xfedcba9876543211) : 0;
	for (uint32_t v = 0; v < pool->queries.n_values; v++)
		if (there)
			put_value(&at,
				  pool->ours && fake_config.zero
					  ? 0
					  : q->values[v] ^ noise * (index + v),
				  wide);
		else
			at += wide ? 8 : 4;
	if (flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT)
		put_value(&at, there, wide);
	return there;
}

/* Writes two timestamps, or two rows of counters, which are always available. */
static VkResult
bench_results(size_t size, uint64_t *out)
{
	static uint64_t stamp;
	for (size_t i = 0; i < size / 8; i++)
		out[i] = ++stamp;
	return VK_SUCCESS;
}

static VkResult
read_queries(const struct fake_object *pool, uint32_t first, uint32_t n, char *data,
	     VkDeviceSize stride, VkQueryResultFlags flags)
{
	VkResult result = VK_SUCCESS;
	for (uint32_t i = 0; i < n; i++) {
		struct fake_query *q = &pool->queries.queries[first + i];
		if (q->state == FAKE_QUERY_UNSET)
			fake_rule("VUID-vkGetQueryPoolResults-None-09401", "never reset");
		if (!put_query(pool, q, data + i * stride, flags))
			result = VK_NOT_READY;
	}
	if (flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT)
		result = VK_SUCCESS;
	return result;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkGetQueryPoolResults(VkDevice device, VkQueryPool queryPool, uint32_t firstQuery,
			   uint32_t queryCount, size_t dataSize, void *pData,
			   VkDeviceSize stride, VkQueryResultFlags flags)
{
	if (fake_config.bench)
		return bench_results(dataSize, pData);
	struct fake_object *pool = FAKE_OBJECT(queryPool);
	VkResult result = fake_enter("vkGetQueryPoolResults", pool->ours);
	if (result != VK_SUCCESS)
		return result;
	if (((struct fake_device *)device)->lost)
		return VK_ERROR_DEVICE_LOST;
	if (pool->ours && fake_config.results)
		return (VkResult)fake_config.results;
	if (pool->ours && fake_config.untouched)
		return VK_SUCCESS;
	fake_lock();
	fake_pump();
	fake_line_begin("vkGetQueryPoolResults");
	fake_put_handle(FAKE_VkQueryPool, (uint64_t)(uintptr_t)queryPool);
	fake_put_int(firstQuery);
	fake_put_int(queryCount);
	fake_put_int(flags);
	fake_line_end();
	if (pool->ours && fake_config.half)
		queryCount = (queryCount + 1) / 2;
	uint64_t until = fake_now_ns() + UINT64_C(5000000000);
	if (in_range(pool, firstQuery, queryCount,
		     "VUID-vkGetQueryPoolResults-firstQuery-00813"))
		do
			result = read_queries(pool, firstQuery, queryCount, pData, stride,
					      flags);
		while (result == VK_NOT_READY && (flags & VK_QUERY_RESULT_WAIT_BIT) &&
		       fake_wait_until(until));
	fake_unlock();
	return result;
}

/* ---- recording ---- */

static struct fake_op *
query_line(VkCommandBuffer commandBuffer, const struct fake_info *info, VkQueryPool pool,
	   uint32_t query)
{
	fake_cmd_begin(commandBuffer, info);
	fake_put_handle(FAKE_VkQueryPool, (uint64_t)(uintptr_t)pool);
	fake_put_int(query);
	struct fake_op *op = fake_last_op(commandBuffer);
	op->object = FAKE_OBJECT(pool);
	op->first = query;
	op->n = 1;
	struct fake_buffer *b = CB(commandBuffer);
	if (b->per_tile)
		fake_rule("VUID-any-None-10622", "%s in per-tile execution", info->name);
	if (fake_current->group_size > 1 && (b->device_mask & (b->device_mask - 1)) &&
	    info != &info_vkCmdWriteTimestamp && info != &info_vkCmdWriteTimestamp2 &&
	    info != &info_vkCmdResetQueryPool)
		fake_rule("VUID-any-deviceMask", "%s for several devices", info->name);
	return op;
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdResetQueryPool(VkCommandBuffer commandBuffer, VkQueryPool queryPool,
			 uint32_t firstQuery, uint32_t queryCount)
{
	struct fake_op *op =
		query_line(commandBuffer, &info_vkCmdResetQueryPool, queryPool, firstQuery);
	fake_put_int(queryCount);
	if (in_range(op->object, firstQuery, queryCount,
		     "VUID-vkCmdResetQueryPool-firstQuery-00796")) {
		op->kind = FAKE_OP_RESET;
		op->n = queryCount;
	}
	const struct fake_buffer *b = CB(commandBuffer);
	for (uint32_t i = 0; i < b->n_active; i++)
		if (b->active[i].pool == op->object && b->active[i].query >= firstQuery &&
		    b->active[i].query < firstQuery + queryCount)
			fake_rule("VUID-vkCmdResetQueryPool-None-02841", "the query is active");
	fake_cmd_end();
}

static void
check_statistics(VkCommandBuffer commandBuffer, const struct fake_object *pool)
{
	const VkQueryPipelineStatisticFlags compute =
		VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT;
	VkQueueFlags flags = fake_flags_of(FAKE_OBJECT(commandBuffer));
	if ((pool->queries.bits & ~compute) && !(flags & VK_QUEUE_GRAPHICS_BIT))
		fake_rule("VUID-vkCmdBeginQuery-queryType-00804", "graphics statistics");
	if ((pool->queries.bits & compute) && !(flags & VK_QUEUE_COMPUTE_BIT))
		fake_rule("VUID-vkCmdBeginQuery-queryType-00805", "compute statistics");
}

static void
begin_query(VkCommandBuffer commandBuffer, const struct fake_info *info, VkQueryPool queryPool,
	    uint32_t query)
{
	struct fake_buffer *b = CB(commandBuffer);
	struct fake_op *op = query_line(commandBuffer, info, queryPool, query);
	const struct fake_object *pool = op->object;
	for (uint32_t i = 0; i < b->n_active; i++)
		if (b->active[i].pool->queries.type == pool->queries.type)
			fake_rule("VUID-vkCmdBeginQuery-queryPool-01922", "another of its type");
	if (pool->queries.type == VK_QUERY_TYPE_TIMESTAMP)
		fake_rule("VUID-vkCmdBeginQuery-queryType-02804", "a timestamp query");
	if (FAKE_OBJECT(commandBuffer)->cb.pool->pool.flags &
	    VK_COMMAND_POOL_CREATE_PROTECTED_BIT)
		fake_rule("VUID-vkCmdBeginQuery-commandBuffer-01885", "protected");
	if (pool->queries.type == VK_QUERY_TYPE_PIPELINE_STATISTICS)
		check_statistics(commandBuffer, pool);
	uint32_t n = b->render ? b->views : 1;
	if (in_range(pool, query, n, "VUID-vkCmdBeginQuery-query-00808") &&
	    b->n_active < FAKE_MAX_ACTIVE) {
		op->kind = FAKE_OP_BEGIN;
		op->n = n;
		b->active[b->n_active++] = (struct fake_active){
			.pool = op->object, .query = query, .n = n, .scope = b->scope,
		};
	}
}

static void
end_query(VkCommandBuffer commandBuffer, const struct fake_info *info, VkQueryPool queryPool,
	  uint32_t query)
{
	struct fake_buffer *b = CB(commandBuffer);
	struct fake_op *op = query_line(commandBuffer, info, queryPool, query);
	if (b->pool->pool.flags & VK_COMMAND_POOL_CREATE_PROTECTED_BIT)
		fake_rule("VUID-vkCmdEndQuery-commandBuffer-01886", "protected");
	for (uint32_t i = 0; i < b->n_active; i++) {
		struct fake_active *a = &b->active[i];
		if (a->pool != op->object || a->query != query)
			continue;
		if (a->scope != b->scope)
			fake_rule("VUID-vkCmdEndQuery-None-07007", "begun in another subpass");
		op->kind = FAKE_OP_END;
		op->n = a->n;
		*a = b->active[--b->n_active];
		return;
	}
	fake_rule("VUID-vkCmdEndQuery-None-01923", "not active");
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdBeginQuery(VkCommandBuffer commandBuffer, VkQueryPool queryPool, uint32_t query,
		     VkQueryControlFlags flags)
{
	begin_query(commandBuffer, &info_vkCmdBeginQuery, queryPool, query);
	fake_put_int(flags);
	fake_cmd_end();
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdEndQuery(VkCommandBuffer commandBuffer, VkQueryPool queryPool, uint32_t query)
{
	end_query(commandBuffer, &info_vkCmdEndQuery, queryPool, query);
	fake_cmd_end();
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdBeginQueryIndexedEXT(VkCommandBuffer commandBuffer, VkQueryPool queryPool,
			       uint32_t query, VkQueryControlFlags flags, uint32_t index)
{
	begin_query(commandBuffer, &info_vkCmdBeginQueryIndexedEXT, queryPool, query);
	fake_put_int(flags);
	fake_put_int(index);
	fake_cmd_end();
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdEndQueryIndexedEXT(VkCommandBuffer commandBuffer, VkQueryPool queryPool,
			     uint32_t query, uint32_t index)
{
	end_query(commandBuffer, &info_vkCmdEndQueryIndexedEXT, queryPool, query);
	fake_put_int(index);
	fake_cmd_end();
}

static void
write_stamp(VkCommandBuffer commandBuffer, const struct fake_info *info, uint64_t stage,
	    VkQueryPool queryPool, uint32_t query)
{
	struct fake_buffer *b = CB(commandBuffer);
	struct fake_op *op = query_line(commandBuffer, info, queryPool, query);
	fake_put_int((int64_t)stage);
	if (!fake_config.families[b->pool->pool.family].timestamp_bits)
		fake_rule("VUID-vkCmdWriteTimestamp-timestampValidBits-00829", "no stamps here");
	if (op->object->queries.type != VK_QUERY_TYPE_TIMESTAMP)
		fake_rule("VUID-vkCmdWriteTimestamp-queryPool-01416", "no timestamp pool");
	uint32_t n = b->render ? b->views : 1;
	if (in_range(op->object, query, n, "VUID-vkCmdWriteTimestamp-query-00831")) {
		op->kind = FAKE_OP_STAMP;
		op->n = n;
	}
	fake_cmd_end();
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdWriteTimestamp(VkCommandBuffer commandBuffer, VkPipelineStageFlagBits pipelineStage,
			 VkQueryPool queryPool, uint32_t query)
{
	write_stamp(commandBuffer, &info_vkCmdWriteTimestamp, pipelineStage, queryPool, query);
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdWriteTimestamp2(VkCommandBuffer commandBuffer, VkPipelineStageFlags2 stage,
			  VkQueryPool queryPool, uint32_t query)
{
	write_stamp(commandBuffer, &info_vkCmdWriteTimestamp2, stage, queryPool, query);
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdCopyQueryPoolResults(VkCommandBuffer commandBuffer, VkQueryPool queryPool,
			       uint32_t firstQuery, uint32_t queryCount, VkBuffer dstBuffer,
			       VkDeviceSize dstOffset, VkDeviceSize stride,
			       VkQueryResultFlags flags)
{
	struct fake_op *op = query_line(commandBuffer, &info_vkCmdCopyQueryPoolResults,
					queryPool, firstQuery);
	fake_put_int(queryCount);
	fake_put_handle(FAKE_VkBuffer, (uint64_t)(uintptr_t)dstBuffer);
	fake_put_int((int64_t)dstOffset);
	fake_put_int((int64_t)stride);
	fake_put_int(flags);
	if (in_range(op->object, firstQuery, queryCount,
		     "VUID-vkCmdCopyQueryPoolResults-firstQuery-00820")) {
		op->kind = FAKE_OP_COPY_RESULTS;
		op->n = queryCount;
		op->buffer = FAKE_OBJECT(dstBuffer);
		op->offset = dstOffset;
		op->stride = stride;
		op->flags = flags;
	}
	fake_cmd_end();
}

static void
check_execute(const struct fake_buffer *primary, const struct fake_object *secondary)
{
	const struct fake_buffer *s = &secondary->cb;
	if (s->state != 2)
		fake_rule("VUID-vkCmdExecuteCommands-pCommandBuffers-00089", "not executable");
	if ((primary->render != 0) != s->continues)
		fake_rule("VUID-vkCmdExecuteCommands-pCommandBuffers-00096",
			  "RENDER_PASS_CONTINUE and the render pass disagree");
	if (!(s->flags & VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT) && s->pending)
		fake_rule("VUID-vkCmdExecuteCommands-pCommandBuffers-00091", "pending");
	for (uint32_t i = 0; i < primary->n_active; i++) {
		const struct fake_object *pool = primary->active[i].pool;
		if (!fake_current->inherited)
			fake_rule("VUID-vkCmdExecuteCommands-commandBuffer-00101",
				  "a query is active, inheritedQueries is not enabled");
		if (pool->queries.bits & ~s->inherited)
			fake_rule("VUID-vkCmdExecuteCommands-commandBuffer-00104",
				  "statistics %#x are not inherited",
				  pool->queries.bits & ~s->inherited);
		for (uint32_t k = 0; k < s->n_ops; k++)
			if (s->ops[k].kind == FAKE_OP_BEGIN &&
			    s->ops[k].object->queries.type == pool->queries.type)
				fake_rule("VUID-vkCmdExecuteCommands-commandBuffer-00105",
					  "begins a query of an active type");
	}
}

VKAPI_ATTR void VKAPI_CALL
fake_vkCmdExecuteCommands(VkCommandBuffer commandBuffer, uint32_t commandBufferCount,
			  const VkCommandBuffer *pCommandBuffers)
{
	struct fake_buffer *b = CB(commandBuffer);
	for (uint32_t i = 0; i < commandBufferCount; i++) {
		fake_cmd_begin(commandBuffer, &info_vkCmdExecuteCommands);
		fake_put_handle(FAKE_VkCommandBuffer, (uint64_t)(uintptr_t)pCommandBuffers[i]);
		check_execute(b, FAKE_OBJECT(pCommandBuffers[i]));
		struct fake_op *op = fake_last_op(commandBuffer);
		op->kind = FAKE_OP_EXECUTE;
		op->object = FAKE_OBJECT(pCommandBuffers[i]);
		fake_cmd_end();
	}
}

/* Where the results of a copy go; used by run.c. */
void fake_copy_results(const struct fake_op *op);
void
fake_copy_results(const struct fake_op *op)
{
	struct fake_object *memory = op->buffer->memory.memory;
	if (!memory || !memory->memory.bytes || memory->dead)
		return;
	char *at = (char *)memory->memory.bytes + op->buffer->memory.offset + op->offset;
	read_queries(op->object, op->first, op->n, at, op->stride, op->flags);
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkGetCalibratedTimestampsEXT(VkDevice device, uint32_t timestampCount,
				  const VkCalibratedTimestampInfoEXT *pTimestampInfos,
				  uint64_t *pTimestamps, uint64_t *pMaxDeviation)
{
	(void)device;
	VkResult result = fake_enter("vkGetCalibratedTimestampsEXT", true);
	if (result != VK_SUCCESS)
		return result;
	fake_lock();
	fake_clock();
	for (uint32_t i = 0; i < timestampCount; i++)
		pTimestamps[i] = pTimestampInfos[i].timeDomain == VK_TIME_DOMAIN_DEVICE_EXT
					 ? fake_stamp(fake_config.families[0].timestamp_bits)
					 : fake_now_ns();
	*pMaxDeviation = 1000;
	fake_unlock();
	return VK_SUCCESS;
}

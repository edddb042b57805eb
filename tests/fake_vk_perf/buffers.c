/* SPDX-License-Identifier: MIT */
/* The contents of each command buffer, and what running it does to queries. */
#include <string.h>

#include "tests/fake_vk_perf/perf.h"

struct op {
	enum { OP_END, OP_EXECUTE } kind;
	struct perf_pool *pool;
	uint32_t query;
	struct perf_work work;
	VkCommandBuffer secondary;
};

struct buffer {
	GArray *ops;
	struct perf_work work, at_begin;
	bool in_pass, any_command, whole_ended;
	struct perf_pool *used, *active;
	uint32_t active_query;
};

GMutex perf_lock;
struct perf_counts perf_counts;
static GHashTable *buffers; /* VkCommandBuffer -> struct buffer */

static void
free_buffer(gpointer data)
{
	struct buffer *b = data;
	g_array_unref(b->ops);
	g_free(b);
}

static struct buffer *
find(VkCommandBuffer handle)
{
	if (!buffers)
		buffers = g_hash_table_new_full(NULL, NULL, NULL, free_buffer);
	struct buffer *b = g_hash_table_lookup(buffers, handle);
	if (!b) {
		b = g_new0(struct buffer, 1);
		b->ops = g_array_new(FALSE, TRUE, sizeof(struct op));
		g_hash_table_insert(buffers, handle, b);
	}
	return b;
}

void
perf_buffers_finish(void)
{
	g_clear_pointer(&buffers, g_hash_table_unref);
}

/* Any command. */
static struct buffer *
command(VkCommandBuffer handle)
{
	g_mutex_lock(&perf_lock);
	struct buffer *b = find(handle);
	b->any_command = true;
	if (b->whole_ended)
		perf_misuse("a command after the end of a COMMAND_BUFFER query");
	return b;
}

#define DONE() g_mutex_unlock(&perf_lock)

static VKAPI_ATTR VkResult VKAPI_CALL
begin_buffer(VkCommandBuffer handle, const VkCommandBufferBeginInfo *info)
{
	g_mutex_lock(&perf_lock);
	struct buffer *b = find(handle);
	GArray *ops = b->ops;
	g_array_set_size(ops, 0);
	memset(b, 0, sizeof(*b));
	b->ops = ops;
	b->in_pass = info->flags & VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT;
	DONE();
	return perf_next.BeginCommandBuffer(handle, info);
}

static VKAPI_ATTR VkResult VKAPI_CALL
end_buffer(VkCommandBuffer handle)
{
	g_mutex_lock(&perf_lock);
	if (find(handle)->active)
		perf_misuse("a query is active at the end of a command buffer");
	DONE();
	return perf_next.EndCommandBuffer(handle);
}

/* ---- queries ---- */

static void
use(struct buffer *b, struct perf_pool *pool)
{
	if (perf_config.single && b->used && b->used != pool)
		perf_misuse("two pools in one command buffer");
	b->used = pool;
}

static VKAPI_ATTR void VKAPI_CALL
begin_query(VkCommandBuffer handle, VkQueryPool pool, uint32_t query, VkQueryControlFlags flags)
{
	struct perf_pool *p = perf_pool_find(pool);
	if (!p) {
		command(handle);
		DONE();
		perf_next.CmdBeginQuery(handle, pool, query, flags);
		return;
	}
	g_mutex_lock(&perf_lock);
	struct buffer *b = find(handle);
	if (query >= p->n)
		perf_misuse("begin of query %u of %u", query, p->n);
	if (!perf_counts.locked)
		perf_misuse("begin without the profiling lock");
	if (b->active)
		perf_misuse("two queries active at once");
	if (p->widest == VK_PERFORMANCE_COUNTER_SCOPE_COMMAND_BUFFER_KHR && b->any_command)
		perf_misuse("a COMMAND_BUFFER query is not the first command");
	if (p->widest == VK_PERFORMANCE_COUNTER_SCOPE_RENDER_PASS_KHR && b->in_pass)
		perf_misuse("a RENDER_PASS query inside a render pass");
	use(b, p);
	b->any_command = true;
	b->active = p;
	b->active_query = query;
	b->at_begin = b->work;
	perf_counts.begun++;
	DONE();
}

static VKAPI_ATTR void VKAPI_CALL
end_query(VkCommandBuffer handle, VkQueryPool pool, uint32_t query)
{
	struct perf_pool *p = perf_pool_find(pool);
	struct buffer *b = command(handle);
	if (!p) {
		DONE();
		perf_next.CmdEndQuery(handle, pool, query);
		return;
	}
	if (b->active != p || b->active_query != query)
		perf_misuse("end of a query that is not active");
	struct op op = { .kind = OP_END,
			 .pool = p,
			 .query = query,
			 .work = { .draws = b->work.draws - b->at_begin.draws,
				   .vertices = b->work.vertices - b->at_begin.vertices,
				   .dispatches = b->work.dispatches - b->at_begin.dispatches } };
	g_array_append_val(b->ops, op);
	b->active = NULL;
	b->whole_ended = p->widest == VK_PERFORMANCE_COUNTER_SCOPE_COMMAND_BUFFER_KHR;
	if (p->widest == VK_PERFORMANCE_COUNTER_SCOPE_RENDER_PASS_KHR && b->in_pass)
		perf_misuse("a RENDER_PASS query ends inside a render pass");
	perf_counts.ended++;
	DONE();
}

static VKAPI_ATTR void VKAPI_CALL
reset_queries(VkCommandBuffer handle, VkQueryPool pool, uint32_t first, uint32_t n)
{
	bool mine = perf_pool_find(pool) != NULL;
	command(handle);
	if (mine) {
		perf_misuse("a performance query is reset in a command buffer");
		DONE();
		return;
	}
	DONE();
	perf_next.CmdResetQueryPool(handle, pool, first, n);
}

static VKAPI_ATTR void VKAPI_CALL
copy_results(VkCommandBuffer handle, VkQueryPool pool, uint32_t first, uint32_t n, VkBuffer to,
	     VkDeviceSize offset, VkDeviceSize stride, VkQueryResultFlags flags)
{
	bool mine = perf_pool_find(pool) != NULL;
	command(handle);
	if (mine) {
		perf_misuse("results of a performance query are copied");
		DONE();
		return;
	}
	DONE();
	perf_next.CmdCopyQueryPoolResults(handle, pool, first, n, to, offset, stride, flags);
}

static VKAPI_ATTR void VKAPI_CALL
execute(VkCommandBuffer handle, uint32_t n, const VkCommandBuffer *secondaries)
{
	struct buffer *b = command(handle);
	if (b->active)
		perf_misuse("a performance query across vkCmdExecuteCommands");
	for (uint32_t i = 0; i < n; i++) {
		const struct buffer *s = find(secondaries[i]);
		struct op op = { .kind = OP_EXECUTE, .secondary = secondaries[i] };
		g_array_append_val(b->ops, op);
		b->work.draws += s->work.draws;
		b->work.vertices += s->work.vertices;
		b->work.dispatches += s->work.dispatches;
		if (s->used)
			use(b, s->used);
	}
	DONE();
	perf_next.CmdExecuteCommands(handle, n, secondaries);
}

bool
perf_buffer_run(VkCommandBuffer handle, uint64_t serial)
{
	struct buffer *b = find(handle);
	bool any = false;
	for (guint i = 0; i < b->ops->len; i++) {
		const struct op *op = &g_array_index(b->ops, struct op, i);
		if (op->kind == OP_EXECUTE) {
			any |= perf_buffer_run(op->secondary, serial);
			continue;
		}
		struct perf_query *q = &op->pool->queries[op->query];
		if (q->state != PERF_RESET)
			perf_misuse("query %u runs and was not reset", op->query);
		q->state = PERF_DONE;
		q->serial = serial;
		q->asked = 0;
		q->work = op->work;
		any = true;
	}
	return any;
}

/* ---- work ---- */

static VKAPI_ATTR void VKAPI_CALL
draw(VkCommandBuffer handle, uint32_t vertices, uint32_t instances, uint32_t first,
     uint32_t first_instance)
{
	struct buffer *b = command(handle);
	b->work.draws++;
	b->work.vertices += (uint64_t)vertices * instances;
	DONE();
	perf_next.CmdDraw(handle, vertices, instances, first, first_instance);
}

static VKAPI_ATTR void VKAPI_CALL
draw_indexed(VkCommandBuffer handle, uint32_t indices, uint32_t instances, uint32_t first,
	     int32_t offset, uint32_t first_instance)
{
	struct buffer *b = command(handle);
	b->work.draws++;
	b->work.vertices += (uint64_t)indices * instances;
	DONE();
	perf_next.CmdDrawIndexed(handle, indices, instances, first, offset, first_instance);
}

static VKAPI_ATTR void VKAPI_CALL
dispatch(VkCommandBuffer handle, uint32_t x, uint32_t y, uint32_t z)
{
	command(handle)->work.dispatches++;
	DONE();
	perf_next.CmdDispatch(handle, x, y, z);
}

/* ---- commands that are only recognized ---- */

static VKAPI_ATTR void VKAPI_CALL
write_timestamp(VkCommandBuffer handle, VkPipelineStageFlagBits stage, VkQueryPool pool,
		uint32_t query)
{
	command(handle);
	DONE();
	perf_next.CmdWriteTimestamp(handle, stage, pool, query);
}

static VKAPI_ATTR void VKAPI_CALL
barrier(VkCommandBuffer handle, VkPipelineStageFlags before, VkPipelineStageFlags after,
	VkDependencyFlags flags, uint32_t n_memory, const VkMemoryBarrier *memory,
	uint32_t n_buffers, const VkBufferMemoryBarrier *of_buffers, uint32_t n_images,
	const VkImageMemoryBarrier *of_images)
{
	command(handle);
	DONE();
	perf_next.CmdPipelineBarrier(handle, before, after, flags, n_memory, memory, n_buffers,
				     of_buffers, n_images, of_images);
}

static VKAPI_ATTR void VKAPI_CALL
bind_pipeline(VkCommandBuffer handle, VkPipelineBindPoint point, VkPipeline pipeline)
{
	command(handle);
	DONE();
	perf_next.CmdBindPipeline(handle, point, pipeline);
}

static VKAPI_ATTR void VKAPI_CALL
copy_buffer(VkCommandBuffer handle, VkBuffer from, VkBuffer to, uint32_t n,
	    const VkBufferCopy *r)
{
	command(handle);
	DONE();
	perf_next.CmdCopyBuffer(handle, from, to, n, r);
}

static VKAPI_ATTR void VKAPI_CALL
fill_buffer(VkCommandBuffer handle, VkBuffer to, VkDeviceSize at, VkDeviceSize size,
	    uint32_t word)
{
	command(handle);
	DONE();
	perf_next.CmdFillBuffer(handle, to, at, size, word);
}

static void
pass(VkCommandBuffer handle, bool begins)
{
	struct buffer *b = command(handle);
	b->in_pass = begins;
	DONE();
}

static VKAPI_ATTR void VKAPI_CALL
begin_render_pass(VkCommandBuffer handle, const VkRenderPassBeginInfo *info,
		  VkSubpassContents how)
{
	pass(handle, true);
	perf_next.CmdBeginRenderPass(handle, info, how);
}

static VKAPI_ATTR void VKAPI_CALL
end_render_pass(VkCommandBuffer handle)
{
	pass(handle, false);
	perf_next.CmdEndRenderPass(handle);
}

static VKAPI_ATTR void VKAPI_CALL
begin_rendering(VkCommandBuffer handle, const VkRenderingInfo *info)
{
	pass(handle, true);
	perf_next.CmdBeginRendering(handle, info);
}

static VKAPI_ATTR void VKAPI_CALL
end_rendering(VkCommandBuffer handle)
{
	pass(handle, false);
	perf_next.CmdEndRendering(handle);
}

static const struct {
	const char *name;
	PFN_vkVoidFunction function;
} ours[] = {
	{ "vkBeginCommandBuffer", (PFN_vkVoidFunction)begin_buffer },
	{ "vkEndCommandBuffer", (PFN_vkVoidFunction)end_buffer },
	{ "vkCmdBeginQuery", (PFN_vkVoidFunction)begin_query },
	{ "vkCmdEndQuery", (PFN_vkVoidFunction)end_query },
	{ "vkCmdResetQueryPool", (PFN_vkVoidFunction)reset_queries },
	{ "vkCmdCopyQueryPoolResults", (PFN_vkVoidFunction)copy_results },
	{ "vkCmdExecuteCommands", (PFN_vkVoidFunction)execute },
	{ "vkCmdDraw", (PFN_vkVoidFunction)draw },
	{ "vkCmdDrawIndexed", (PFN_vkVoidFunction)draw_indexed },
	{ "vkCmdDispatch", (PFN_vkVoidFunction)dispatch },
	{ "vkCmdWriteTimestamp", (PFN_vkVoidFunction)write_timestamp },
	{ "vkCmdPipelineBarrier", (PFN_vkVoidFunction)barrier },
	{ "vkCmdBindPipeline", (PFN_vkVoidFunction)bind_pipeline },
	{ "vkCmdCopyBuffer", (PFN_vkVoidFunction)copy_buffer },
	{ "vkCmdFillBuffer", (PFN_vkVoidFunction)fill_buffer },
	{ "vkCmdBeginRenderPass", (PFN_vkVoidFunction)begin_render_pass },
	{ "vkCmdEndRenderPass", (PFN_vkVoidFunction)end_render_pass },
	{ "vkCmdBeginRendering", (PFN_vkVoidFunction)begin_rendering },
	{ "vkCmdBeginRenderingKHR", (PFN_vkVoidFunction)begin_rendering },
	{ "vkCmdEndRendering", (PFN_vkVoidFunction)end_rendering },
	{ "vkCmdEndRenderingKHR", (PFN_vkVoidFunction)end_rendering },
};

PFN_vkVoidFunction
perf_buffer_function(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(ours); i++)
		if (strcmp(name, ours[i].name) == 0)
			return ours[i].function;
	return NULL;
}

/* SPDX-License-Identifier: MIT */
/* vk_layer/record/command.c - command pools and command buffers: allocation, begin, end, reset,
 * free.
 *
 * A recording outlives its command buffer until its submissions have been read (recording.h),
 * so nothing here reads results. A handle is removed from the tables before the call that frees
 * it, because another thread may get the same handle at once; its data is freed after the call.
 */
#include "vk_layer/record/command.h"

#include <stdlib.h>
#include <string.h>

#include "vk_layer/picture/picture.h"
#include "vk_layer/record/passes.h"
#include "vk_layer/record/secondary.h"
#include "vk_layer/record/slots_copy.h"
#include "vk_layer/record/slots_sources.h"

struct vk_pool {
	uint32_t family;
	bool is_protected;
	struct vk_command *commands;
};

struct vk_handles vk_commands;

static struct vk_command no_command;
__thread struct vk_command *vk_last_command
	__attribute__((tls_model("initial-exec"))) = &no_command;

/* Reused, never freed: see vk_last_command. */
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;
static struct vk_command *spare;

/* ---- one command buffer ---- */

static void
unlink_command(struct vk_command *c)
{
	*c->home.link = c->home.next;
	if (c->home.next)
		c->home.next->home.link = c->home.link;
}

static void
link_command(struct vk_pool *pool, struct vk_command *c)
{
	c->home.pool = pool;
	c->home.next = pool->commands;
	c->home.link = &pool->commands;
	if (c->home.next)
		c->home.next->home.link = &c->home.next;
	pool->commands = c;
}

/* No pass is open and nothing is being recorded. */
static void
clear_state(struct vk_command *c)
{
	c->counts = 0;
	c->unknown = 0;
	c->call_counts = (struct tally_call_counts){ 0 };
	c->flags = 0;
	c->recording_now = false;
	c->open = (struct vk_open_work){ .views = 1 };
	c->suspended = VK_SUSPENDED_NONE;
	c->plan = VK_PLAN_FULL;
	c->game = (struct vk_game_state){ 0 };
	c->measures_draws = false;
	memset(c->intervals, 0, sizeof(c->intervals));
	c->late = (struct vk_late){ 0 };
	c->bound = (struct vk_bound){ .on = c->device->config->pipelines };
}

static void
drop_recording(struct vk_command *c)
{
	struct vk_recording *r = c->recording;
	clear_state(c);
	c->recording = NULL;
	vk_recording_unref(r, false);
}

/* The same, but it keeps the memory, unless the game also releases that of the driver: most
 * command buffers that are reset are recorded again. */
static void
reset_recording(struct vk_command *c, bool release)
{
	if (release) {
		drop_recording(c);
		return;
	}
	clear_state(c);
	c->recording = vk_recording_empty(c->recording);
}

static void
set_handle(struct vk_command *c, VkCommandBuffer handle)
{
	__atomic_store_n(&c->handle, handle, __ATOMIC_RELAXED);
}

/* The result is zeroed. */
static struct vk_command *
take_command(void)
{
	pthread_mutex_lock(&spare_lock);
	struct vk_command *c = spare;
	if (c)
		spare = c->home.next;
	pthread_mutex_unlock(&spare_lock);
	if (!c)
		return calloc(1, sizeof(*c));
	memset((char *)c + sizeof(c->handle), 0, sizeof(*c) - sizeof(c->handle));
	return c;
}

static void
put_command(struct vk_command *c)
{
	pthread_mutex_lock(&spare_lock);
	c->home.next = spare;
	spare = c;
	pthread_mutex_unlock(&spare_lock);
}

static void
free_command(struct vk_command *c)
{
	drop_recording(c);
	put_command(c);
}

struct vk_command *
vk_command_look_up(VkCommandBuffer handle)
{
	struct vk_command *c = vk_handles_find(&vk_commands, VK_HANDLE_KEY(handle));
	if (c)
		vk_last_command = c;
	return c;
}

static enum vk_plan
plan_passes(const struct vk_recording *r)
{
	struct vk_device *d = r->device;
	if (r->idle)
		return VK_PLAN_COUNT;
	if (d->config->granularity != TALLY_GRANULARITY_PASS || r->simultaneous ||
	    r->is_protected || d->enabled.counts_inside)
		return VK_PLAN_FULL;
	return vk_slots_cover(d, r->family, VK_MEASURE_ALL) ? VK_PLAN_ONE_SLOT : VK_PLAN_COUNT;
}

static void
start_recording(struct vk_command *c, const VkCommandBufferBeginInfo *info)
{
	struct vk_device *d = c->device;
	clear_state(c);
	struct vk_recording *r = vk_recording_renew(c->recording, d, c->home.pool->family);
	c->recording = r;
	if (!r)
		return;
	VkCommandBufferUsageFlags flags = info->flags;
	r->secondary = c->secondary;
	r->simultaneous = flags & VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
	r->is_protected = c->home.pool->is_protected;
	r->idle = vk_device_idles(d);
	r->continues_pass = c->secondary &&
			    (flags & VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT);
	c->recording_now = true;
	/* The primary may be inside a query of the game. */
	if (c->secondary && d->enabled.game_statistics && info->pInheritanceInfo)
		c->game.statistics = info->pInheritanceInfo->pipelineStatistics != 0;
	/* Inside a pass only the host can reset the slots of draws. */
	c->measures_draws = d->config->granularity == TALLY_GRANULARITY_DRAW &&
			    d->enabled.host_reset && !r->simultaneous && !r->idle;
	c->late.on = vk_slots_read_waits(d);
	if (d->config->pictures.kind != TALLY_TRIGGER_NONE)
		r->pictures = vk_pictures_create(r);
	c->plan = r->pictures ? VK_PLAN_FULL : plan_passes(r);
	/* A primary, its secondaries included, must not use two pools. */
	r->runs.without_sets = c->secondary && !d->enabled.performance_pools;
	if (r->continues_pass)
		vk_inherited_begin(c, info->pInheritanceInfo);
	else
		vk_buffer_begin(c);
}

VkResult
vk_begin_command_buffer(struct vk_device *d, PFN_vkBeginCommandBuffer next,
			VkCommandBuffer handle, const VkCommandBufferBeginInfo *info)
{
	struct vk_command *c = vk_command_find(handle);
	if (!c)
		return next(handle, info);
	VkCommandBufferBeginInfo copy;
	VkCommandBufferInheritanceInfo inherit;
	uint32_t family = c->home.pool->family;
	VkResult result = next(handle, vk_inherit(c, family, info, &copy, &inherit));
	if (result == VK_SUCCESS && vk_device_runs(d))
		start_recording(c, info);
	else
		drop_recording(c);
	return result;
}

VkResult
vk_end_command_buffer(struct vk_device *d, PFN_vkEndCommandBuffer next, VkCommandBuffer handle)
{
	struct vk_command *c = vk_command_find(handle);
	if (c && vk_recording_of(c)) {
		/* This includes a render pass whose end was not seen. */
		vk_pass_close_any(c);
		if (c->open.kind == VK_OPEN_INHERITED)
			vk_inherited_end(c);
		vk_whole_end(c);
		if (!c->secondary && !c->suspended && !c->recording->is_protected)
			vk_recording_copy(d, handle, c->recording);
		vk_interval_end(c, VK_AROUND_BUFFER); /* the last command */
		c->recording->ends_suspended = c->suspended;
		clear_state(c);
	}
	VkResult result = next(handle);
	if (c && result != VK_SUCCESS)
		drop_recording(c);
	return result;
}

void
vk_command_reset(VkCommandBuffer handle, VkCommandBufferResetFlags flags)
{
	struct vk_command *c = vk_command_find(handle);
	if (c)
		reset_recording(c, flags & VK_COMMAND_BUFFER_RESET_RELEASE_RESOURCES_BIT);
}

/* ---- allocating and freeing ---- */

/* Where queries are inherited, every secondary has to inherit them (R24). */
static void
unfollowed(struct vk_device *d, bool secondary)
{
	if (secondary && d->enabled.inherited_queries)
		vk_device_stop(d, "no memory to follow a secondary command buffer");
}

static void
follow(struct vk_device *d, struct vk_pool *pool, VkCommandBuffer handle, bool secondary)
{
	struct vk_command *c = take_command();
	if (!c) {
		unfollowed(d, secondary);
		return;
	}
	if (secondary)
		atomic_store(&d->no_buffer_queries, true);
	c->next = &d->next;
	c->device = d;
	c->secondary = secondary;
	clear_state(c);
	if (!vk_handles_put(&vk_commands, VK_HANDLE_KEY(handle), c)) {
		put_command(c);
		unfollowed(d, secondary);
		return;
	}
	set_handle(c, handle);
	link_command(pool, c);
}

void
vk_commands_allocated(struct vk_device *d, const VkCommandBufferAllocateInfo *info,
		      const VkCommandBuffer *handles)
{
	struct vk_pool *pool = NULL;
	if (vk_device_runs(d))
		pool = vk_handles_find(&d->pools, VK_HANDLE_KEY(info->commandPool));
	for (uint32_t i = 0; pool && i < info->commandBufferCount; i++)
		follow(d, pool, handles[i], info->level == VK_COMMAND_BUFFER_LEVEL_SECONDARY);
}

void
vk_free_command_buffers(struct vk_device *d, PFN_vkFreeCommandBuffers next, VkDevice device,
			VkCommandPool pool, uint32_t n, const VkCommandBuffer *handles)
{
	(void)d;
	struct vk_command *gone = NULL;
	for (uint32_t i = 0; i < n; i++) {
		if (!handles[i])
			continue;
		struct vk_command *c = vk_handles_remove(&vk_commands,
							 VK_HANDLE_KEY(handles[i]));
		if (!c)
			continue;
		unlink_command(c);
		set_handle(c, VK_NULL_HANDLE);
		c->home.next = gone;
		gone = c;
	}
	next(device, pool, n, handles);
	while (gone) {
		struct vk_command *c = gone;
		gone = c->home.next;
		free_command(c);
	}
}

/* ---- pools ---- */

void
vk_pool_created(struct vk_device *d, const VkCommandPoolCreateInfo *info, VkCommandPool handle)
{
	if (!vk_device_runs(d) || info->queueFamilyIndex >= d->n_families)
		return;
	struct vk_pool *pool = calloc(1, sizeof(*pool));
	if (!pool)
		return;
	pool->family = info->queueFamilyIndex;
	pool->is_protected = info->flags & VK_COMMAND_POOL_CREATE_PROTECTED_BIT;
	if (!vk_handles_put(&d->pools, VK_HANDLE_KEY(handle), pool))
		free(pool);
}

static void
free_pool(struct vk_pool *pool)
{
	struct vk_command *c = pool->commands;
	while (c) {
		struct vk_command *after = c->home.next;
		free_command(c);
		c = after;
	}
	free(pool);
}

static void
forget_commands(const struct vk_pool *pool)
{
	for (struct vk_command *c = pool->commands; c; c = c->home.next) {
		vk_handles_remove(&vk_commands, VK_HANDLE_KEY(c->handle));
		set_handle(c, VK_NULL_HANDLE);
	}
}

void
vk_destroy_command_pool(struct vk_device *d, PFN_vkDestroyCommandPool next, VkDevice device,
			VkCommandPool pool, const VkAllocationCallbacks *allocator)
{
	struct vk_pool *p = pool ? vk_handles_remove(&d->pools, VK_HANDLE_KEY(pool)) : NULL;
	if (p)
		forget_commands(p);
	next(device, pool, allocator);
	if (p)
		free_pool(p);
}

void
vk_pool_reset(struct vk_device *d, VkCommandPool pool, VkCommandPoolResetFlags flags)
{
	struct vk_pool *p = vk_handles_find(&d->pools, VK_HANDLE_KEY(pool));
	for (struct vk_command *c = p ? p->commands : NULL; c; c = c->home.next)
		reset_recording(c, flags & VK_COMMAND_POOL_RESET_RELEASE_RESOURCES_BIT);
}

static void
forget_pool(void *value, void *data)
{
	(void)data;
	struct vk_pool *pool = value;
	forget_commands(pool);
	free_pool(pool);
}

void
vk_commands_forget(struct vk_device *d)
{
	vk_handles_each(&d->pools, forget_pool, NULL);
	vk_handles_finish(&d->pools);
	vk_handles_finish(&d->statistics_pools);
	vk_handles_finish(&d->performance_pools);
}

/* ---- the game's query pools ---- */

/* Where pools are listed whose queries ours have to yield to; NULL: they have not. */
static struct vk_handles *
pools_of(struct vk_device *d, VkQueryType type)
{
	if (type == VK_QUERY_TYPE_PIPELINE_STATISTICS && d->enabled.game_statistics)
		return &d->statistics_pools;
	if (type == VK_QUERY_TYPE_PERFORMANCE_QUERY_KHR && d->enabled.game_performance)
		return &d->performance_pools;
	return NULL;
}

void
vk_query_pool_created(struct vk_device *d, const VkQueryPoolCreateInfo *info, VkQueryPool pool)
{
	struct vk_handles *like = pools_of(d, info->queryType);
	if (like && !vk_handles_put(like, VK_HANDLE_KEY(pool), d))
		vk_device_stop(d, "no memory to know the program's own queries from ours");
}

void
vk_query_pool_destroyed(struct vk_device *d, VkQueryPool pool)
{
	if (pool && d->enabled.game_statistics)
		vk_handles_remove(&d->statistics_pools, VK_HANDLE_KEY(pool));
	if (pool && d->enabled.game_performance)
		vk_handles_remove(&d->performance_pools, VK_HANDLE_KEY(pool));
}

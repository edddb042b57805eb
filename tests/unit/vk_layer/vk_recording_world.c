/* SPDX-License-Identifier: MIT */
#include "tests/unit/vk_layer/vk_recording_world.h"
#include "vk_layer/record/slots_copy.h"

#include <stdlib.h>
#include <string.h>

#include "vk_layer/record/counted.h"
#include "vk_layer/record/slots_sources.h"
#include "vk_layer/record/targets_internal.h"
#include "vk_layer/record/workloads.h"

struct world world;

#define HANDLE(type, n) ((type)(uintptr_t)(n))
static unsigned now; /* the buffer that the script records */

static void
say(const char *word)
{
	if (world.stream->len)
		g_string_append_c(world.stream, ' ');
	g_string_append(world.stream, word);
}

static void
say_number(const char *format, unsigned n)
{
	char *word = g_strdup_printf(format, n);
	say(word);
	g_free(word);
}

/* ---- slots ---- */

bool
vk_slots_cover(struct vk_device *d, uint32_t family, unsigned what)
{
	(void)d, (void)family, (void)what;
	return !world.no_slots;
}

VkQueryPipelineStatisticFlags
vk_slots_inherited(struct vk_device *d, uint32_t family)
{
	(void)d, (void)family;
	return 0x400;
}

uint32_t
vk_slots_sources(const struct vk_device *d, uint32_t family, unsigned what)
{
	(void)d, (void)family;
	return (what & VK_MEASURE_TIME ? 1 : 0) |
	       (what & VK_MEASURE_STATISTICS ? WORLD_STATISTICS : 0);
}

uint32_t
vk_slots_choose(const struct vk_device *d, struct vk_slot_runs *runs)
{
	(void)d, (void)runs;
	return 0;
}

enum tally_scope
vk_slots_scope(const struct vk_device *d, uint32_t set)
{
	(void)d, (void)set;
	return TALLY_SCOPE_WORKLOAD;
}

bool
vk_slots_read_waits(const struct vk_device *d)
{
	(void)d;
	return world.late;
}

struct vk_slot
vk_slots_take(struct vk_device *d, struct vk_slot_runs *runs, uint32_t family, unsigned what,
	      uint32_t views, bool can_reset)
{
	g_assert_cmpuint(family, ==, 1);
	struct vk_slot slot = { .views = (uint8_t)views };
	slot.sources = vk_slots_sources(d, family, what);
	if (world.no_slots || !slot.sources || (!can_reset && !d->enabled.host_reset))
		return (struct vk_slot){ .views = (uint8_t)views };
	if (!runs->runs)
		runs->runs = g_new0(struct vk_slot_run, 1);
	runs->used += views;
	slot.page = (struct vk_page *)(void *)&world;
	slot.index = (uint16_t)world.taken;
	world.taken += views;
	return slot;
}

void
vk_slot_begin(struct vk_device *d, VkCommandBuffer cb, struct vk_slot *slot, bool can_reset)
{
	g_assert_true(cb == world.buffers[now]);
	if (!can_reset && !d->enabled.host_reset)
		slot->sources = 0;
	g_assert_cmpuint(slot->halves, ==, 0);
	if (!slot->sources)
		return;
	slot->halves |= TALLY_VK_BEGIN;
	const char *what[] = { "", "t", "c", "a" };
	char *word = g_strdup_printf("%s%u<", what[slot->sources], slot->index);
	say(word);
	g_free(word);
}

void
vk_slot_end(struct vk_device *d, VkCommandBuffer cb, struct vk_slot *slot)
{
	g_assert_true(cb == world.buffers[now]);
	g_assert_nonnull(slot->page);
	g_assert_cmpuint(slot->sources, !=, 0);
	g_assert_false(slot->halves & TALLY_VK_END);
	g_assert_true(slot->halves || d->enabled.host_reset);
	slot->halves |= TALLY_VK_END;
	say_number(">%u", slot->index);
}

void
vk_slot_yield(struct vk_device *d, VkCommandBuffer cb, struct vk_slot *slot, unsigned what)
{
	(void)d, (void)cb;
	if (!(what & VK_MEASURE_STATISTICS) || !(slot->sources & WORLD_STATISTICS))
		return;
	g_assert_cmpuint(slot->halves, ==, TALLY_VK_BEGIN);
	slot->sources &= ~WORLD_STATISTICS;
	say_number("~%u", slot->index);
}

void
vk_recording_copy(struct vk_device *d, VkCommandBuffer cb, const struct vk_recording *r)
{
	(void)d;
	g_assert_true(cb == world.buffers[now]);
	if (world.late && r->runs.runs)
		say("=");
}

void
vk_slots_release(struct vk_device *d, struct vk_slot_runs *runs)
{
	(void)d;
	world.released += runs->used;
	g_free(runs->runs);
	*runs = (struct vk_slot_runs){ .runs = NULL };
}

void
vk_device_stop(struct vk_device *d, const char *why)
{
	(void)why;
	atomic_store(&d->stopped, true);
}

/* ---- targets ---- */

const struct tally_target world_targets[3];

/* The handle of a render pass encodes its kind: 1 plain, 2 two subpasses, 3 two views, 4 both;
 * that of a framebuffer encodes its target. */
const struct vk_target_use *
vk_target_of_render_pass(struct vk_device *d, const VkRenderPassBeginInfo *info,
			 struct vk_target_use *out)
{
	uint64_t kind = VK_HANDLE_KEY(info->renderPass);
	(void)d;
	*out = (struct vk_target_use){ .views = kind >= 3 ? 2 : 1 };
	out->target = &world_targets[VK_HANDLE_KEY(info->framebuffer)];
	out->subpasses = kind == 2 || kind == 4 ? 2 : 1;
	out->surface = 7;
	out->load = TALLY_LOAD_CLEAR;
	out->store = TALLY_STORE_STORE;
	return out;
}

const struct vk_target_use *
vk_target_of_rendering(struct vk_device *d, const VkRenderingInfo *info,
		       struct vk_target_use *out)
{
	(void)d;
	*out = (struct vk_target_use){
		.target = &world_targets[info->layerCount - 1], .views = 1, .subpasses = 1
	};
	return out;
}

const struct tally_target *
vk_target_of_image(struct vk_device *d, VkImage image)
{
	(void)d;
	return &world_targets[VK_HANDLE_KEY(image)];
}

/* ---- the driver ---- */

static VKAPI_ATTR void VKAPI_CALL
drv_barrier(VkCommandBuffer buffer, VkPipelineStageFlags before, VkPipelineStageFlags after,
	    VkDependencyFlags flags, uint32_t n, const VkMemoryBarrier *barriers,
	    uint32_t n_buffers, const VkBufferMemoryBarrier *of_buffers, uint32_t n_images,
	    const VkImageMemoryBarrier *of_images)
{
	(void)before, (void)after, (void)flags, (void)barriers, (void)of_buffers, (void)of_images;
	g_assert_true(buffer == world.buffers[now]);
	g_assert_cmpuint(n + n_buffers + n_images, ==, 0);
	say("!");
}

static VKAPI_ATTR VkResult VKAPI_CALL
drv_allocate(VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *out)
{
	(void)device;
	for (uint32_t i = 0; i < info->commandBufferCount; i++)
		out[i] = HANDLE(VkCommandBuffer, (uint64_t)info->level * 4096 + 16 * (i + 1));
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
drv_create_pool(VkDevice device, const VkCommandPoolCreateInfo *info,
		const VkAllocationCallbacks *allocator, VkCommandPool *out)
{
	(void)device, (void)info, (void)allocator;
	*out = HANDLE(VkCommandPool, 0x77);
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL
drv_destroy_pool(VkDevice device, VkCommandPool pool, const VkAllocationCallbacks *allocator)
{
	(void)device, (void)pool, (void)allocator;
	for (unsigned i = 0; i < N_BUFFERS; i++)
		g_assert_null(vk_command_find(world.buffers[i]));
}

static VKAPI_ATTR VkResult VKAPI_CALL
drv_begin(VkCommandBuffer buffer, const VkCommandBufferBeginInfo *info)
{
	(void)buffer;
	say("B");
	if (info->pInheritanceInfo)
		world.inherited = info->pInheritanceInfo->pipelineStatistics;
	world.broke_begin |= info->pInheritanceInfo && info->pInheritanceInfo->pNext != NULL;
	return world.answer;
}

static VKAPI_ATTR VkResult VKAPI_CALL
drv_end(VkCommandBuffer buffer)
{
	(void)buffer;
	say("E");
	return world.answer;
}

/* Of occlusion queries, of performance queries, else of statistics. */
static VkQueryPool
game_pool(char kind)
{
	return HANDLE(VkQueryPool, kind == 'o' ? 0x90 : kind == 'p' ? 0x92 : 0x91);
}

static VKAPI_ATTR VkResult VKAPI_CALL
drv_create_queries(VkDevice device, const VkQueryPoolCreateInfo *info,
		   const VkAllocationCallbacks *allocator, VkQueryPool *out)
{
	(void)device, (void)allocator;
	*out = game_pool(info->queryType == VK_QUERY_TYPE_OCCLUSION               ? 'o'
			 : info->queryType == VK_QUERY_TYPE_PERFORMANCE_QUERY_KHR ? 'p'
										  : 0);
	return VK_SUCCESS;
}

/* ---- a world ---- */

static bool
has(const char *setting, const char *word)
{
	return setting && strstr(setting, word);
}

/* Pipelines 1 to 3 have identities of those numbers; 9 has one that is not known. */
static struct vk_targets pipelines;
static struct tally_pipeline known[4];
static struct vk_pipeline_known objects[5];

static void
learn_pipelines(void)
{
	memset(&pipelines, 0, sizeof(pipelines));
	memset(objects, 0, sizeof(objects));
	for (unsigned i = 1; i < 4; i++) {
		known[i].id = i;
		objects[i].pipeline = &known[i];
		vk_handles_put(&pipelines.objects[VK_PIPELINES], 0x70 + i, &objects[i]);
	}
	vk_handles_put(&pipelines.objects[VK_PIPELINES], 0x79, &objects[4]);
	world.config.pipelines = true;
	world.device.targets = &pipelines;
}

void
world_begin(const char *setting)
{
	memset(&world, 0, sizeof(world));
	world.stream = g_string_new(NULL);
	world.late = has(setting, "late");
	world.config = (struct tally_config){
		.granularity = has(setting, "draw")    ? TALLY_GRANULARITY_DRAW
			       : has(setting, "frame") ? TALLY_GRANULARITY_FRAME
						       : TALLY_GRANULARITY_PASS,
		.group_work = !has(setting, "nogroup"),
		.split = has(setting, "barrier") ? TALLY_SPLIT_BARRIER : TALLY_SPLIT_NONE,
		.max_passes = has(setting, "max1") ? 1 : 64,
		.start_on.kind = has(setting, "trigger") ? TALLY_TRIGGER_LABEL : TALLY_TRIGGER_NONE,
	};
	struct vk_device *d = &world.device;
	d->tracked = true;
	d->config = &world.config;
	d->n_families = 2;
	d->next.use.CmdPipelineBarrier = drv_barrier;
	d->enabled.host_reset = !has(setting, "nohost");
	atomic_store(&d->idle, has(setting, "idle"));
	d->enabled.inherited_queries = has(setting, "inherit");
	d->enabled.game_statistics = has(setting, "game");
	d->enabled.game_performance = has(setting, "performance");
	d->enabled.mesh_shader = has(setting, "mesh");
	d->enabled.counts_inside = d->enabled.game_statistics || d->enabled.mesh_shader;
	if (has(setting, "pipelines"))
		learn_pipelines();
	pthread_mutex_init(&d->lock, NULL);
	VkCommandPoolCreateInfo pool_info = {
		.flags = has(setting, "protected") ? VK_COMMAND_POOL_CREATE_PROTECTED_BIT : 0,
		.queueFamilyIndex = 1,
	};
	drv_create_pool(NULL, &pool_info, NULL, &world.pool);
	vk_pool_created(d, &pool_info, world.pool);
	VkCommandBufferAllocateInfo info = {
		.commandPool = world.pool,
		.commandBufferCount = N_BUFFERS / 2,
	};
	for (unsigned i = 0; i < 2; i++) {
		info.level = i ? VK_COMMAND_BUFFER_LEVEL_SECONDARY
			       : VK_COMMAND_BUFFER_LEVEL_PRIMARY;
		drv_allocate(NULL, &info, &world.buffers[i * 4]);
		vk_commands_allocated(d, &info, &world.buffers[i * 4]);
	}
	VkQueryPool pool;
	static const VkQueryType types[] = {
		VK_QUERY_TYPE_PIPELINE_STATISTICS,
		VK_QUERY_TYPE_OCCLUSION,
		VK_QUERY_TYPE_PERFORMANCE_QUERY_KHR,
	};
	for (unsigned i = 0; i < G_N_ELEMENTS(types); i++) {
		VkQueryPoolCreateInfo query = { .queryType = types[i] };
		drv_create_queries(NULL, &query, NULL, &pool);
		vk_query_pool_created(d, &query, pool);
	}
}

void
world_end(void)
{
	struct vk_device *d = &world.device;
	vk_query_pool_destroyed(d, game_pool(0));
	vk_query_pool_destroyed(d, game_pool('p'));
	g_assert_null(vk_handles_find(&d->statistics_pools, VK_HANDLE_KEY(game_pool(0))));
	g_assert_null(vk_handles_find(&d->performance_pools, VK_HANDLE_KEY(game_pool('p'))));
	vk_destroy_command_pool(d, drv_destroy_pool, NULL, world.pool, NULL);
	vk_commands_forget(d);
	g_assert_cmpuint(world.taken, ==, world.released);
	pthread_mutex_destroy(&d->lock);
	g_string_free(world.stream, TRUE);
	vk_handles_finish(&vk_commands);
	vk_handles_finish(&pipelines.objects[VK_PIPELINES]);
}

struct vk_command *
world_command(unsigned buffer)
{
	return vk_command_find(world.buffers[buffer]);
}

static VKAPI_ATTR void VKAPI_CALL
drv_free(VkDevice device, VkCommandPool pool, uint32_t n, const VkCommandBuffer *buffers)
{
	(void)device, (void)pool;
	g_assert_cmpuint(n, ==, 2);
	g_assert_null(vk_command_find(buffers[1]));
}

void
world_free(unsigned buffer)
{
	VkCommandBuffer buffers[] = { NULL, world.buffers[buffer] };
	vk_free_command_buffers(&world.device, drv_free, NULL, world.pool, 2, buffers);
}

/* ---- the script ---- */

static void
begin(const char *how)
{
	VkCommandBufferInheritanceInfo inherit = { .renderPass = HANDLE(VkRenderPass, 1) };
	VkCommandBufferBeginInfo info = { .pInheritanceInfo = now >= 4 ? &inherit : NULL };
	for (; *how; how++) {
		if (*how == 'c')
			info.flags |= VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT;
		if (*how == 's')
			info.flags |= VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
		if (*how == 'v')
			inherit.renderPass = HANDLE(VkRenderPass, 3);
		if (*how == 'q')
			inherit.pipelineStatistics = 1;
	}
	const VkCommandBufferInheritanceInfo before = inherit;
	vk_begin_command_buffer(&world.device, drv_begin, world.buffers[now], &info);
	g_assert_cmpmem(&inherit, sizeof(inherit), &before, sizeof(before));
}

static void
render(struct vk_command *c, const char *word)
{
	VkRenderPassBeginInfo info = { .renderPass = HANDLE(VkRenderPass, 1) };
	VkSubpassContents contents = VK_SUBPASS_CONTENTS_INLINE;
	for (const char *how = word + 2; *how; how++) {
		if (*how >= '1' && *how <= '4')
			info.renderPass = HANDLE(VkRenderPass, *how - '0');
		if (*how == 'a' || *how == 'b')
			info.framebuffer = HANDLE(VkFramebuffer, *how - 'a' + 1);
		if (*how == 's')
			contents = VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS;
		if (*how == 'm')
			contents = (VkSubpassContents)1000451000;
	}
	vk_render_pass_begin(c, &info, contents);
	say(word);
}

static void
dynamic(struct vk_command *c, const char *word)
{
	VkRenderingInfo info = { .layerCount = 1 };
	for (const char *how = word + 2; *how; how++) {
		if (*how == 's')
			info.flags |= VK_RENDERING_SUSPENDING_BIT;
		if (*how == 'r')
			info.flags |= VK_RENDERING_RESUMING_BIT;
		if (*how == 'c')
			info.flags |= VK_RENDERING_CONTENTS_SECONDARY_COMMAND_BUFFERS_BIT;
		if (*how == 'i')
			info.flags |= 0x10;
		if (*how == 'a' || *how == 'b')
			info.layerCount = 2 + (*how == 'b');
	}
	vk_rendering_begin(c, &info);
	say(word);
}

static void
tally(struct vk_command *c, const char *word)
{
	if (g_str_equal(word, "draw")) {
		VK_COUNT_DRAW(c, 3, 2);
	} else if (g_str_equal(word, "indirect")) {
		VK_COUNT_INDIRECT(c, 4);
	} else if (g_str_equal(word, "count")) {
		VK_COUNT_INDIRECT_COUNT(c);
	} else if (g_str_equal(word, "mesh")) {
		VK_COUNT_MESH(c);
	} else {
		VkMultiDrawInfoEXT draws[] = { { 0, 3 }, { 3, 6 } };
		VkMultiDrawIndexedInfoEXT indexed[] = { { 0, 3, 0 }, { 3, 6, 0 } };
		if (g_str_equal(word, "multi"))
			vk_count_multi(c, draws, 2, sizeof(draws[0]), 2);
		else
			vk_count_multi(c, indexed, 2, sizeof(indexed[0]), 2);
	}
}

static bool
draw(struct vk_command *c, const char *word)
{
	static const char *const draws[] = {
		"draw", "indirect", "count", "multi", "indexed", "mesh"
	};
	for (size_t i = 0; i < G_N_ELEMENTS(draws); i++) {
		if (!g_str_equal(word, draws[i]))
			continue;
		bool mesh = g_str_equal(word, "mesh");
		if (c->counts && !mesh) {
			tally(c, word);
			say(word);
			return true;
		}
		if (mesh)
			vk_mesh_begin(c);
		else
			vk_draw_begin(c);
		tally(c, word);
		say(word);
		vk_workload_end(c);
		return true;
	}
	return false;
}

/* Generated commands, by the stages or the bind point of the structure that the word names. */
static bool
generated(struct vk_command *c, const char *word)
{
	static const struct {
		const char *word;
		uint32_t what;
		enum vk_work (*read)(const void *info);
	} kinds[] = {
		{ "gdraw", VK_SHADER_STAGE_ALL_GRAPHICS & 0x3f, vk_generated_by_stages },
		{ "gmesh", VK_SHADER_STAGE_MESH_BIT_EXT, vk_generated_by_stages },
		{ "gdispatch", VK_SHADER_STAGE_COMPUTE_BIT, vk_generated_by_stages },
		{ "gtrace", VK_SHADER_STAGE_RAYGEN_BIT_KHR | VK_SHADER_STAGE_MISS_BIT_KHR,
		  vk_generated_by_stages },
		{ "pdraw", VK_PIPELINE_BIND_POINT_GRAPHICS, vk_generated_by_point },
		{ "pdispatch", VK_PIPELINE_BIND_POINT_COMPUTE, vk_generated_by_point },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		if (!g_str_equal(word, kinds[i].word))
			continue;
		const struct {
			VkStructureType type;
			const void *next;
			uint32_t what;
		} info = { .what = kinds[i].what };
		vk_generated_begin(c, kinds[i].read(&info));
		say(word);
		vk_work_end(c);
		return true;
	}
	return false;
}

static bool
work(struct vk_command *c, const char *word)
{
	static const struct {
		const char *word;
		enum vk_work what;
		unsigned image;
	} works[] = {
		{ "dispatch", VK_WORK_DISPATCH, 0 }, { "copy", VK_WORK_COPY, 0 },
		{ "copy1", VK_WORK_COPY, 1 },        { "copy2", VK_WORK_COPY, 2 },
		{ "clear", VK_WORK_CLEAR, 1 },       { "resolve", VK_WORK_RESOLVE, 1 },
		{ "read", VK_WORK_READBACK, 0 },     { "trace", VK_WORK_TRACE, 0 },
		{ "build", VK_WORK_BUILD, 0 },       { "other", VK_WORK_OTHER, 0 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(works); i++) {
		if (!g_str_equal(word, works[i].word))
			continue;
		vk_work_begin(c, works[i].what, HANDLE(VkImage, works[i].image));
		say(word);
		vk_work_end(c);
		return true;
	}
	return generated(c, word);
}

/* What the wrapper of vkCmdEndRenderPass does. */
static void
end_render(struct vk_command *c)
{
	bool done = vk_counted_end(c);
	if (!done)
		vk_render_end(c);
	say("end");
	if (!done)
		vk_render_ended(c);
}

static void
execute(struct vk_command *c, const char *word)
{
	VkCommandBuffer secondaries[N_BUFFERS];
	uint32_t n = 0;
	for (const char *which = word + 1; *which; which++)
		secondaries[n++] = *which == '?' ? HANDLE(VkCommandBuffer, 0xdead0)
						 : world.buffers[*which - '0'];
	vk_execute_begin(c, n, secondaries);
	say(word);
	vk_work_close(c);
}

/* "=g1" binds pipeline 1 for draws, "=c" for dispatches, "=r" for rays; "=s" binds shaders. */
static void
bind(struct vk_command *c, const char *word)
{
	const VkShaderStageFlagBits stages[] = { VK_SHADER_STAGE_VERTEX_BIT };
	VkPipeline pipeline = HANDLE(VkPipeline, 0x70 + g_ascii_strtoull(word + 2, NULL, 10));
	VkPipelineBindPoint point = word[1] == 'g'   ? VK_PIPELINE_BIND_POINT_GRAPHICS
				    : word[1] == 'c' ? VK_PIPELINE_BIND_POINT_COMPUTE
						     : VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR;
	if (word[1] == 's')
		vk_shaders_bound(c, 1, stages);
	else if (!vk_bind_noted(c, point, pipeline))
		vk_pipeline_bound(c, point, pipeline);
	say(word);
}

/* Calls that begin or end something other than a render pass: before the driver's call. */
static bool
before_other(struct vk_command *c, const char *word)
{
	if (g_str_equal(word, "vid"))
		vk_video_begin(c);
	else if (g_str_equal(word, "decode"))
		vk_video_work(c);
	else if (g_str_equal(word, "cond-"))
		vk_conditional(c, false);
	else if (g_str_equal(word, "tf-"))
		vk_transform_feedback(c, false);
	else if (g_str_equal(word, "barrier"))
		vk_barrier(c);
	else if (word[0] == '[')
		vk_label(c, true, word + 1);
	else if (word[0] == '*')
		vk_label_insert(c, word + 1);
	else if (word[0] == 'q')
		vk_query_begin(c, game_pool(word[1]));
	else if (word[0] == '-')
		vk_query_end(c, game_pool(word[1]));
	else if (g_str_equal(word, "attach"))
		vk_clear_attachments_begin(c);
	else if (g_str_equal(word, "tile"))
		vk_no_queries(c, true);
	else if (word[0] != ']' && !strstr("vid- cond tf tile- custom", word))
		return false;
	return true;
}

static void
after_other(struct vk_command *c, const char *word)
{
	if (g_str_equal(word, "vid-"))
		vk_video_ended(c);
	else if (g_str_equal(word, "cond"))
		vk_conditional(c, true);
	else if (g_str_equal(word, "custom"))
		vk_custom_resolve(c);
	else if (g_str_equal(word, "tf"))
		vk_transform_feedback(c, true);
	else if (word[0] == ']')
		vk_label(c, false, NULL);
	else if (g_str_equal(word, "attach"))
		vk_workload_end(c);
	else if (g_str_equal(word, "tile-"))
		vk_no_queries(c, false);
}

static bool
other(struct vk_command *c, const char *word)
{
	if (!before_other(c, word))
		return false;
	say(word);
	after_other(c, word);
	return true;
}

static void
play(const char *word)
{
	struct vk_command *c = world_command(now);
	if (g_ascii_isdigit(word[0]))
		now = (unsigned)(word[0] - '0');
	else if (word[0] == 'B')
		begin(word + 1);
	else if (g_str_equal(word, "E"))
		vk_end_command_buffer(&world.device, drv_end, world.buffers[now]);
	else if (g_str_equal(word, "R"))
		vk_command_reset(world.buffers[now], 0);
	else if (g_str_equal(word, "P"))
		vk_pool_reset(&world.device, world.pool, 0);
	else if (g_str_equal(word, "idle") || g_str_equal(word, "awake"))
		atomic_store(&world.device.idle, word[0] == 'i');
	else if (!c) /* a wrapper only forwards */
		say(word);
	else if (g_str_has_prefix(word, "rp"))
		render(c, word);
	else if (g_str_has_prefix(word, "dr") && !g_str_equal(word, "draw"))
		dynamic(c, word);
	else if (g_str_has_prefix(word, "next")) {
		say(word);
		vk_render_pass_next(c, word[4] ? VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS
					       : VK_SUBPASS_CONTENTS_INLINE);
	} else if (g_str_equal(word, "end")) {
		end_render(c);
	} else if (word[0] == 'x')
		execute(c, word);
	else if (word[0] == '=')
		bind(c, word);
	else if (!draw(c, word) && !work(c, word) && !other(c, word))
		g_error("no such word: %s", word);
}

void
world_play(const char *script)
{
	char **words = g_strsplit(script, " ", 0);
	for (unsigned i = 0; words[i]; i++)
		play(words[i]);
	g_strfreev(words);
}

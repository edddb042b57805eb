/* SPDX-License-Identifier: MIT */
/* vk_layer/record/work.c - single draws, work outside render passes, labels,
 * the game's own queries. */
#include "vk_layer/record/passes.h"
#include "vk_layer/record/secondary.h"
#include "vk_layer/record/targets.h"
#include "vk_layer/record/workloads.h"

static bool
in_render(const struct vk_command *c)
{
	return c->open.kind == VK_OPEN_RENDER || c->open.kind == VK_OPEN_INHERITED;
}

void
vk_draw_begin(struct vk_command *c)
{
	if (!vk_recording_of(c) || !in_render(c))
		return;
	vk_late_begin(c);
	vk_workload_begin(c, "draw", VK_MEASURE_ALL);
}

/* The statistics of what is open end here, and are absent. */
static void
give_way(struct vk_command *c)
{
	struct vk_pass *p = vk_open_pass(c);
	if (c->measures_draws)
		return; /* each draw by itself */
	if (c->open.kind == VK_OPEN_INHERITED)
		vk_inherited_yield(c);
	if (!p)
		return;
	if (c->open.kind == VK_OPEN_RENDER)
		vk_late_yield(c);
	else if (p->slot.page)
		vk_slot_yield(c->device, c->handle, &p->slot, VK_MEASURE_STATISTICS);
	vk_recording_miss(c->recording, p);
}

void
vk_no_queries(struct vk_command *c, bool on)
{
	if (on && (c->late.waiting | c->late.counting))
		give_way(c); /* a draw in it might begin them, or end them */
	if (on)
		c->game.no_queries++;
	else if (c->game.no_queries)
		c->game.no_queries--;
}

void
vk_mesh_begin(struct vk_command *c)
{
	if (!c->device->enabled.mesh_shader) {
		vk_draw_begin(c);
		return;
	}
	if (!vk_recording_of(c) || !in_render(c))
		return;
	give_way(c); /* R40 */
	vk_workload_begin(c, "draw", VK_MEASURE_ALL & ~VK_MEASURE_STATISTICS);
}

void
vk_clear_attachments_begin(struct vk_command *c)
{
	if (!vk_recording_of(c) || !in_render(c))
		return;
	vk_workload_begin(c, "clear", VK_MEASURE_ALL);
	c->call_counts.clears++;
}

void
vk_count_multi(struct vk_command *c, const void *draws, uint32_t n, uint32_t stride,
	       uint32_t instances)
{
	_Static_assert(offsetof(VkMultiDrawInfoEXT, vertexCount) ==
			       offsetof(VkMultiDrawIndexedInfoEXT, indexCount),
		       "indexed or not");
	const char *at = draws;
	uint64_t vertices = 0;
	for (uint32_t i = 0; at && i < n; i++, at += stride)
		vertices += ((const VkMultiDrawInfoEXT *)(const void *)at)->vertexCount;
	c->call_counts.draws += n;
	c->call_counts.vertices += vertices * instances;
	c->call_counts.instances += (uint64_t)n * instances;
	c->call_counts.calls += 1 - (uint64_t)n;
}

/* ---- work outside a render pass ---- */

enum counted { COPIES, CLEARS, DISPATCHES, NOTHING };

static const struct work {
	enum tally_pass_kind kind;
	enum counted counted;
	uint64_t flags;
	const char *command;
} works[] = {
	[VK_WORK_DISPATCH] = { TALLY_PASS_COMPUTE, DISPATCHES, 0, "dispatch" },
	[VK_WORK_COPY] = { TALLY_PASS_TRANSFER, COPIES, 0, "copy" },
	[VK_WORK_CLEAR] = { TALLY_PASS_TRANSFER, CLEARS, 0, "clear" },
	[VK_WORK_RESOLVE] = { TALLY_PASS_TRANSFER, COPIES, TALLY_FLAG(RESOLVE), "copy" },
	[VK_WORK_READBACK] = { TALLY_PASS_TRANSFER, COPIES, TALLY_FLAG(READBACK), "copy" },
	[VK_WORK_TRACE] = { TALLY_PASS_RAYTRACING, DISPATCHES, 0, "trace" },
	[VK_WORK_BUILD] = { TALLY_PASS_BUILD, NOTHING, 0, "build" },
	[VK_WORK_OTHER] = { TALLY_PASS_OTHER, NOTHING, 0, "other" },
};

static void
count_work(struct vk_command *c, const struct work *w)
{
	struct tally_call_counts *t = &c->call_counts;
	switch (w->counted) {
	case COPIES:
		t->copies++;
		break;
	case CLEARS:
		t->clears++;
		break;
	case DISPATCHES:
		t->dispatches++;
		break;
	case NOTHING:
		t->calls++;
		break;
	}
	c->flags |= w->flags;
}

static void
open_work(struct vk_command *c, enum tally_pass_kind kind,
	  const struct tally_target *target)
{
	vk_pass_close_any(c);
	vk_whole_begin(c);
	struct vk_pass *p = vk_pass_open(c, kind);
	c->open.kind = VK_OPEN_WORK;
	c->open.work_kind = (uint8_t)kind;
	if (p)
		p->target = target;
	if (vk_yields(c))
		c->flags |= TALLY_FLAG(YIELDED);
	vk_pass_measure(c, p, c->measures_draws ? VK_MEASURE_TIME : vk_measures_now(c),
			1);
}

void
vk_work_begin(struct vk_command *c, enum vk_work what, VkImage image)
{
	if (!vk_recording_of(c))
		return;
	const struct work *w = &works[what];
	if (!in_render(c)) {
		/* A video coding scope is one pass, including everything in it. */
		if (c->open.kind == VK_OPEN_VIDEO || c->suspended)
			return;
		const struct tally_target *target = image ? vk_target_of_image(c->device,
									       image)
							  : NULL;
		struct vk_pass *p = vk_open_pass(c);
		if (c->open.kind != VK_OPEN_WORK || c->open.work_kind != w->kind)
			open_work(c, w->kind, target);
		else if (p && p->target != target)
			p->target = NULL;
	}
	vk_workload_begin(c, w->command, VK_MEASURE_ALL);
	count_work(c, w);
}

void
vk_work_close(struct vk_command *c)
{
	if (c->open.kind == VK_OPEN_WORK)
		vk_pass_close(c);
}

void
vk_work_end(struct vk_command *c)
{
	vk_workload_end(c);
	if (!c->device->config->group_work)
		vk_work_close(c);
}

/* How both structures begin, which are newer than the oldest headers that we build with. */
struct generated_info {
	VkStructureType type;
	const void *next;
	uint32_t what; /* VkShaderStageFlags, or VkPipelineBindPoint */
};

enum vk_work
vk_generated_by_stages(const void *info)
{
	VkShaderStageFlags stages = ((const struct generated_info *)info)->what;
	if (stages & VK_SHADER_STAGE_RAYGEN_BIT_KHR)
		return VK_WORK_TRACE;
	if (stages & VK_SHADER_STAGE_COMPUTE_BIT)
		return VK_WORK_DISPATCH;
	return stages & VK_SHADER_STAGE_MESH_BIT_EXT ? VK_WORK_MESHES : VK_WORK_DRAWS;
}

enum vk_work
vk_generated_by_point(const void *info)
{
	uint32_t point = ((const struct generated_info *)info)->what;
	if (point == VK_PIPELINE_BIND_POINT_COMPUTE)
		return VK_WORK_DISPATCH;
	return VK_WORK_MESHES; /* where they are enabled, nobody knows */
}

void
vk_generated_begin(struct vk_command *c, enum vk_work what)
{
	if (what != VK_WORK_DRAWS && what != VK_WORK_MESHES) {
		vk_work_begin(c, what, VK_NULL_HANDLE);
		c->flags |= TALLY_FLAG(INDIRECT);
		return;
	}
	if (what == VK_WORK_MESHES)
		vk_mesh_begin(c);
	else
		vk_draw_begin(c);
	VK_COUNT_INDIRECT_COUNT(c);
}

void
vk_barrier(struct vk_command *c)
{
	if (c->device->config->split == TALLY_SPLIT_BARRIER)
		vk_work_close(c);
}

void
vk_video_begin(struct vk_command *c)
{
	if (!vk_recording_of(c) || c->open.kind == VK_OPEN_INHERITED)
		return;
	vk_pass_close_any(c);
	vk_whole_begin(c);
	vk_whole_yield(c, VK_MEASURE_COUNT); /* only the scope's own query may
						be active in it */
	struct vk_pass *p = vk_pass_open(c, TALLY_PASS_OTHER);
	c->open.kind = VK_OPEN_VIDEO;
	vk_pass_measure(c, p, VK_MEASURE_TIME, 1);
}

void
vk_video_ended(struct vk_command *c)
{
	if (c->open.kind == VK_OPEN_VIDEO)
		vk_pass_close(c);
}

void
vk_video_work(struct vk_command *c)
{
	if (c->open.kind == VK_OPEN_VIDEO)
		c->call_counts.calls++;
}

/* ---- changes to the open pass ---- */

void
vk_custom_resolve(struct vk_command *c)
{
	if (in_render(c))
		c->flags |= TALLY_FLAG(RESOLVE);
}

static void
set_standing(struct vk_command *c, uint64_t flag, bool on)
{
	c->game.flags = on ? c->game.flags | flag : c->game.flags & ~flag;
	if (on && c->open.kind != VK_OPEN_NOTHING)
		c->flags |= flag;
}

void
vk_conditional(struct vk_command *c, bool on)
{
	/* The work before and after it is not of the same kind. */
	vk_work_close(c);
	set_standing(c, TALLY_FLAG(CONDITIONAL), on);
}

void
vk_transform_feedback(struct vk_command *c, bool on)
{
	set_standing(c, TALLY_FLAG(TRANSFORM_FEEDBACK), on);
}

/* ---- labels ---- */

void
vk_label(struct vk_command *c, bool begins, const char *name)
{
	struct vk_recording *r = vk_recording_of(c);
	if (!r)
		return;
	vk_work_close(c); /* a label covers a whole pass or none of it */
	vk_recording_add_label(r, begins, name);
}

/* It names nothing, but may end a frame, or start or stop the capture. */
void
vk_label_insert(struct vk_command *c, const char *name)
{
	const struct tally_config *config = c->device->config;
	if (config->frame != TALLY_FRAME_LABEL &&
	    config->start_on.kind != TALLY_TRIGGER_LABEL &&
	    config->stop_on.kind != TALLY_TRIGGER_LABEL)
		return;
	vk_label(c, true, name);
	vk_label(c, false, NULL);
}

/* ---- the game's own queries ---- */

static bool
is_statistics(struct vk_command *c, VkQueryPool pool)
{
	struct vk_device *d = c->device;
	return d->enabled.game_statistics && c->recording_now &&
	       vk_handles_find(&d->statistics_pools, VK_HANDLE_KEY(pool));
}

static bool
is_performance(struct vk_command *c, VkQueryPool pool)
{
	struct vk_device *d = c->device;
	return d->enabled.game_performance && c->recording_now &&
	       vk_handles_find(&d->performance_pools, VK_HANDLE_KEY(pool));
}

void
vk_query_begin(struct vk_command *c, VkQueryPool pool)
{
	/* A query that has to end last had to begin first, too. */
	if (is_performance(c, pool) && !c->intervals[VK_AROUND_PRIMARY].state)
		c->game.performance++;
	if (!is_statistics(c, pool) || c->game.statistics++)
		return;
	if (!vk_yields(c) || c->open.kind == VK_OPEN_NOTHING)
		return;
	c->flags |= TALLY_FLAG(YIELDED);
	give_way(c);
}

void
vk_query_end(struct vk_command *c, VkQueryPool pool)
{
	if (is_performance(c, pool))
		vk_work_close(c); /* nothing of ours may follow */
	if (c->game.statistics && is_statistics(c, pool))
		c->game.statistics--;
}

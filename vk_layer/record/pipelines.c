/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/pipelines.h"

#include "vk_layer/record/passes.h"
#include "vk_layer/record/targets_internal.h"

#define LOOK_BACK 32u /* uses of a pass among which a pipeline is looked for */

/* The pipelines of the open pass; a secondary that continues a pass is one. */
static void
add_use(struct vk_command *c, struct tally_pipeline *pipeline,
	const struct tally_call_counts *call_counts)
{
	struct vk_recording *r = c->recording;
	struct vk_pass *p = vk_open_pass(c);
	if (!p && c->open.kind != VK_OPEN_INHERITED)
		return;
	uint32_t first = p ? p->first_use : 0;
	for (uint32_t n = 0, i = r->n_uses; n < LOOK_BACK && i-- > first; n++) {
		if (r->uses[i].pipeline == pipeline) {
			tally_call_counts_add(&r->uses[i].call_counts, call_counts);
			return;
		}
	}
	if (!vk_recording_add_use(r, pipeline, call_counts))
		return;
	if (p)
		p->n_uses++;
}

/* The pipeline that does the work of what is open; 0: none, or it is not known. */
static uint64_t
bound_pipeline(const struct vk_command *c)
{
	const uint64_t *pipelines = c->bound.pipelines;
	switch (c->open.kind) {
	case VK_OPEN_RENDER:
	case VK_OPEN_INHERITED:
		return pipelines[VK_BIND_GRAPHICS];
	case VK_OPEN_WORK:
		return c->open.work_kind == TALLY_PASS_COMPUTE      ? pipelines[VK_BIND_COMPUTE]
		       : c->open.work_kind == TALLY_PASS_RAYTRACING ? pipelines[VK_BIND_RAYS]
								    : 0;
	default:
		return 0;
	}
}

struct tally_pipeline *
vk_pipeline_in_use(const struct vk_command *c)
{
	uint64_t handle = bound_pipeline(c);
	/* It exists: a command buffer in which it is bound is being recorded. */
	const struct vk_pipeline_known *p =
		handle ? vk_handles_find(&c->device->targets->objects[VK_PIPELINES], handle) : NULL;
	return p ? p->pipeline : NULL;
}

void
vk_pipelines_count(struct vk_command *c)
{
	struct vk_bound *b = &c->bound;
	const struct tally_call_counts *now = &c->call_counts;
	if (c->open.kind == VK_OPEN_NOTHING) /* the counts are those of the last pass */
		return;
	struct tally_call_counts since = {
		.draws = now->draws - b->before.draws,
		.dispatches = now->dispatches - b->before.dispatches,
		.vertices = now->vertices - b->before.vertices,
		.instances = now->instances - b->before.instances,
		.calls = now->calls - b->before.calls,
	};
	b->before = *now;
	since.calls = vk_n_calls(&since);
	struct tally_pipeline *pipeline = since.calls ? vk_pipeline_in_use(c) : NULL;
	if (pipeline)
		add_use(c, pipeline, &since);
}

void
vk_pipelines_end_pass(struct vk_command *c)
{
	vk_pipelines_count(c);
	c->bound.before = (struct tally_call_counts){ 0 };
}

void
vk_pipelines_join(struct vk_command *c, const struct vk_recording *from)
{
	for (uint32_t i = 0; i < from->n_uses; i++)
		add_use(c, from->uses[i].pipeline, &from->uses[i].call_counts);
	c->bound.before = c->call_counts;
}

static void
bind(struct vk_command *c, enum vk_bind_point point, uint64_t handle)
{
	struct vk_bound *b = &c->bound;
	if (!b->on || b->pipelines[point] == handle)
		return;
	if (vk_worked_since_bind(c))
		vk_pipelines_count(c);
	b->pipelines[point] = handle;
}

void
vk_pipeline_bound(struct vk_command *c, VkPipelineBindPoint point, VkPipeline pipeline)
{
	if (point == VK_PIPELINE_BIND_POINT_GRAPHICS)
		bind(c, VK_BIND_GRAPHICS, VK_HANDLE_KEY(pipeline));
	else if (point == VK_PIPELINE_BIND_POINT_COMPUTE)
		bind(c, VK_BIND_COMPUTE, VK_HANDLE_KEY(pipeline));
	else if (point == VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR)
		bind(c, VK_BIND_RAYS, VK_HANDLE_KEY(pipeline));
}

void
vk_shaders_bound(struct vk_command *c, uint32_t n, const VkShaderStageFlagBits *stages)
{
	for (uint32_t i = 0; i < n; i++)
		bind(c,
		     stages[i] == VK_SHADER_STAGE_COMPUTE_BIT ? VK_BIND_COMPUTE : VK_BIND_GRAPHICS,
		     0);
}

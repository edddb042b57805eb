/* SPDX-License-Identifier: MIT */
/* The game's shader modules and pipelines, as they are created. */
#include "vk_layer/record/pipelines.h"

#include "layer/pass_id.h"
#include "vk_layer/record/making.h"
#include "vk_layer/record/targets_internal.h"

#include <string.h>

#define MAX_STAGES 64u /* of one pipeline; ray tracing has the most */

/* The stages of a pipeline while they are gathered. */
struct stages {
	uint32_t n;
	bool unknown; /* one of them is */
	struct tally_stage_record of[MAX_STAGES];
};

static const struct {
	VkShaderStageFlags bit;
	enum tally_stage stage;
} stage_bits[] = {
	{ VK_SHADER_STAGE_VERTEX_BIT, TALLY_STAGE_VERTEX },
	{ VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT, TALLY_STAGE_TESS_CONTROL },
	{ VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT, TALLY_STAGE_TESS_EVALUATION },
	{ VK_SHADER_STAGE_GEOMETRY_BIT, TALLY_STAGE_GEOMETRY },
	{ VK_SHADER_STAGE_TASK_BIT_EXT, TALLY_STAGE_TASK },
	{ VK_SHADER_STAGE_MESH_BIT_EXT, TALLY_STAGE_MESH },
	{ VK_SHADER_STAGE_FRAGMENT_BIT, TALLY_STAGE_FRAGMENT },
	{ VK_SHADER_STAGE_COMPUTE_BIT, TALLY_STAGE_COMPUTE },
	{ VK_SHADER_STAGE_RAYGEN_BIT_KHR, TALLY_STAGE_RAYGEN },
	{ VK_SHADER_STAGE_ANY_HIT_BIT_KHR, TALLY_STAGE_ANY_HIT },
	{ VK_SHADER_STAGE_CLOSEST_HIT_BIT_KHR, TALLY_STAGE_CLOSEST_HIT },
	{ VK_SHADER_STAGE_MISS_BIT_KHR, TALLY_STAGE_MISS },
	{ VK_SHADER_STAGE_INTERSECTION_BIT_KHR, TALLY_STAGE_INTERSECTION },
	{ VK_SHADER_STAGE_CALLABLE_BIT_KHR, TALLY_STAGE_CALLABLE },
};

static enum tally_stage
stage_of(VkShaderStageFlags bit)
{
	for (size_t i = 0; i < sizeof(stage_bits) / sizeof(stage_bits[0]); i++) {
		if (stage_bits[i].bit == bit)
			return stage_bits[i].stage;
	}
	return TALLY_STAGE_OTHER;
}

void
vk_module_created(struct vk_device *d, const VkShaderModuleCreateInfo *info, VkShaderModule handle)
{
	struct vk_module_known *m = d->config->pipelines ? vk_known_create(d->targets, sizeof(*m))
							 : NULL;
	if (!m)
		return;
	m->code = tally_fnv1a(TALLY_FNV_OFFSET, info->pCode, info->codeSize);
	m->bytes = info->codeSize;
	vk_known_remember(d->targets, VK_MODULES, VK_HANDLE_KEY(handle), m);
}

static void
add_stage(struct vk_device *d, struct stages *to, const VkPipelineShaderStageCreateInfo *info)
{
	if (to->n == MAX_STAGES) {
		to->unknown = true;
		return;
	}
	struct tally_stage_record *stage = &to->of[to->n++];
	*stage = (struct tally_stage_record){ .stage = stage_of(info->stage),
					      .entry = info->pName };
	const struct vk_module_known *m = info->module ? vk_handles_find(
								 &d->targets->objects[VK_MODULES],
								 VK_HANDLE_KEY(info->module))
						       : NULL;
	const VkShaderModuleCreateInfo *code = vk_find_in_chain(
		info->pNext, VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
	if (m) {
		stage->code = m->code;
		stage->bytes = m->bytes;
	} else if (code && !info->module) {
		stage->code = tally_fnv1a(TALLY_FNV_OFFSET, code->pCode, code->codeSize);
		stage->bytes = code->codeSize;
	} else { /* named by an identifier only: the driver alone has its code */
		to->unknown = true;
	}
}

/* Those of the libraries that it is linked of. */
static void
add_libraries(struct vk_device *d, struct stages *to, const VkPipelineLibraryCreateInfoKHR *info)
{
	for (uint32_t i = 0; info && i < info->libraryCount; i++) {
		const struct vk_pipeline_known *p = vk_handles_find(
			&d->targets->objects[VK_PIPELINES], VK_HANDLE_KEY(info->pLibraries[i]));
		if (!p) /* it has no stage */
			continue;
		const struct tally_pipeline *from = p->pipeline;
		if (!from || from->n_stages > MAX_STAGES - to->n) {
			to->unknown = true;
			return;
		}
		memcpy(&to->of[to->n], from->stages, from->n_stages * sizeof(*to->of));
		to->n += from->n_stages;
	}
}

/* VkPipelineCreateFlags2CreateInfo, newer than our headers, takes the place of `flags`. */
static uint64_t
flags_of(const VkGraphicsPipelineCreateInfo *info)
{
	const struct {
		VkStructureType type;
		const void *next;
		uint64_t flags;
	} *larger = vk_find_in_chain(info->pNext, 1000470005);
	return larger ? larger->flags : info->flags;
}

/* Whether the driver reads its stages: else they may point anywhere. */
static bool
has_stages(const VkGraphicsPipelineCreateInfo *info, const VkPipelineLibraryCreateInfoKHR *links)
{
	const VkGraphicsPipelineLibraryCreateInfoEXT *part = vk_find_in_chain(
		info->pNext, VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT);
	if (part)
		return part->flags &
		       (VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT |
			VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT);
	return !(flags_of(info) & VK_PIPELINE_CREATE_LIBRARY_BIT_KHR) &&
	       !(links && links->libraryCount);
}

/* Returns what was made, if it is known. */
static struct tally_pipeline *
learn(struct vk_device *d, VkPipeline handle, struct stages *stages)
{
	if (!handle || (!stages->n && !stages->unknown))
		return NULL;
	struct vk_pipeline_known *p = vk_known_create(d->targets, sizeof(*p));
	if (!p)
		return NULL;
	if (!stages->unknown)
		p->pipeline = tally_pipeline_intern(stages->of, stages->n);
	struct tally_pipeline *pipeline = p->pipeline;
	vk_known_remember(d->targets, VK_PIPELINES, VK_HANDLE_KEY(handle), p);
	return pipeline;
}

/* Whether what was created is known: a deferred operation has yet to create it. */
static bool
is_made(const struct vk_device *d, VkResult result)
{
	return d->config->pipelines &&
	       (result == VK_SUCCESS || result == VK_PIPELINE_COMPILE_REQUIRED ||
		result == VK_OPERATION_NOT_DEFERRED_KHR);
}

VkResult
vk_create_graphics_pipelines(struct vk_device *d, PFN_vkCreateGraphicsPipelines next,
			     VkDevice device, VkPipelineCache cache, uint32_t n,
			     const VkGraphicsPipelineCreateInfo *infos,
			     const VkAllocationCallbacks *allocator, VkPipeline *handles)
{
	struct vk_making making;
	const VkGraphicsPipelineCreateInfo *given =
		vk_making_begin(&making, d, infos, n, sizeof(*infos), false);
	VkResult result = next(device, cache, n, given, allocator, handles);
	vk_making_end(&making, "vkCreateGraphicsPipelines", result, handles);
	for (uint32_t i = 0; is_made(d, result) && i < n; i++) {
		const VkPipelineLibraryCreateInfoKHR *links = vk_find_in_chain(
			infos[i].pNext, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR);
		struct stages stages = { .n = 0 };
		bool reads = handles[i] && has_stages(&infos[i], links);
		for (uint32_t k = 0; reads && k < infos[i].stageCount; k++)
			add_stage(d, &stages, &infos[i].pStages[k]);
		add_libraries(d, &stages, links);
		vk_making_read(&making, i, handles[i], learn(d, handles[i], &stages));
	}
	return result;
}

VkResult
vk_create_compute_pipelines(struct vk_device *d, PFN_vkCreateComputePipelines next, VkDevice device,
			    VkPipelineCache cache, uint32_t n,
			    const VkComputePipelineCreateInfo *infos,
			    const VkAllocationCallbacks *allocator, VkPipeline *handles)
{
	struct vk_making making;
	const VkComputePipelineCreateInfo *given =
		vk_making_begin(&making, d, infos, n, sizeof(*infos), false);
	VkResult result = next(device, cache, n, given, allocator, handles);
	vk_making_end(&making, "vkCreateComputePipelines", result, handles);
	for (uint32_t i = 0; is_made(d, result) && i < n; i++) {
		struct stages stages = { .n = 0 };
		if (handles[i])
			add_stage(d, &stages, &infos[i].stage);
		vk_making_read(&making, i, handles[i], learn(d, handles[i], &stages));
	}
	return result;
}

VkResult
vk_create_ray_pipelines(struct vk_device *d, PFN_vkCreateRayTracingPipelinesKHR next,
			VkDevice device, VkDeferredOperationKHR deferred, VkPipelineCache cache,
			uint32_t n, const VkRayTracingPipelineCreateInfoKHR *infos,
			const VkAllocationCallbacks *allocator, VkPipeline *handles)
{
	struct vk_making making;
	const VkRayTracingPipelineCreateInfoKHR *given = vk_making_begin(
		&making, d, infos, n, sizeof(*infos), deferred != VK_NULL_HANDLE);
	VkResult result = next(device, deferred, cache, n, given, allocator, handles);
	vk_making_end(&making, "vkCreateRayTracingPipelinesKHR", result, handles);
	for (uint32_t i = 0; is_made(d, result) && i < n; i++) {
		struct stages stages = { .n = 0 };
		for (uint32_t k = 0; handles[i] && k < infos[i].stageCount; k++)
			add_stage(d, &stages, &infos[i].pStages[k]);
		add_libraries(d, &stages, infos[i].pLibraryInfo);
		vk_making_read(&making, i, handles[i], learn(d, handles[i], &stages));
	}
	return result;
}

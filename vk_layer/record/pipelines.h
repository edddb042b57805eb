/* SPDX-License-Identifier: MIT */
/* vk_layer/record/pipelines.h - which pipelines did the work of a pass (--pipelines).
 *
 * A shader module's code is hashed when it is created, and a pipeline is identified by its
 * stages (layer/frame/pipeline.h). While a command buffer is recorded, what was counted since the
 * last bind belongs to the pipeline that was bound: it is added to the open pass where another is
 * bound and where the pass ends. Without --pipelines nothing is learned and a bind is not hooked.
 * Creation: any thread; the rest: the recording thread, which takes no lock.
 */
#ifndef PASSTALLY_VK_LAYER_PIPELINES_H
#define PASSTALLY_VK_LAYER_PIPELINES_H

#include "layer/frame/pipeline.h"
#include "vk_layer/vk_types.h"

struct vk_command;
struct vk_device;
struct vk_recording;

enum vk_bind_point {
	VK_BIND_GRAPHICS = 0,
	VK_BIND_COMPUTE,
	VK_BIND_RAYS,
	VK_N_BIND_POINTS,
};

/* The work of one pipeline in a recorded pass. */
struct vk_pipeline_use {
	struct tally_pipeline *pipeline;
	struct tally_call_counts call_counts;
};

/* What a command buffer has bound; zeroed at first. */
struct vk_bound {
	bool on; /* --pipelines */
	uint64_t pipelines[VK_N_BIND_POINTS]; /* 0: none, or one that is not known */
	struct tally_call_counts before; /* of the open pass: what has been added already */
};

/* After it was created. The hooks that create pipelines are in vk_next.h. */
void
vk_module_created(struct vk_device *d, const VkShaderModuleCreateInfo *info, VkShaderModule handle);

/* What the next draw or dispatch uses; NULL: none, or it is not known. */
struct tally_pipeline *vk_pipeline_in_use(const struct vk_command *c);
/* Adds what was counted since the last time to the open pass. */
void vk_pipelines_count(struct vk_command *c);
/* The pass ends. */
void vk_pipelines_end_pass(struct vk_command *c);
/* What `from`, an executed secondary, did in the open pass. Its counts are in those of the pass. */
void vk_pipelines_join(struct vk_command *c, const struct vk_recording *from);
void vk_pipeline_bound(struct vk_command *c, VkPipelineBindPoint point, VkPipeline pipeline);
/* vkCmdBindShadersEXT: no pipeline draws from here on. */
void vk_shaders_bound(struct vk_command *c, uint32_t n, const VkShaderStageFlagBits *stages);

#endif

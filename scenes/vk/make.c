/* SPDX-License-Identifier: MIT */
/* scenes/vk/make.c - render passes, framebuffers, pipelines and shaders of a scene. */
#include "scenes/vk/stage.h"

#include <string.h>

static const uint32_t cover_code[] = {
#include "vk_cover.vert.inc"
};
static const uint32_t views_code[] = {
#include "vk_views.vert.inc"
};
static const uint32_t feedback_code[] = {
#include "vk_feedback.vert.inc"
};
static const uint32_t shade_code[] = {
#include "vk_shade.frag.inc"
};
static const uint32_t two_code[] = {
#include "vk_two.frag.inc"
};
static const uint32_t fill_code[] = {
#include "vk_fill.comp.inc"
};

static const struct {
	const uint32_t *code;
	size_t size;
} shaders[] = {
	[VK_SHADER_COVER] = { cover_code, sizeof(cover_code) },
	[VK_SHADER_VIEWS] = { views_code, sizeof(views_code) },
	[VK_SHADER_FEEDBACK] = { feedback_code, sizeof(feedback_code) },
	[VK_SHADER_SHADE] = { shade_code, sizeof(shade_code) },
	[VK_SHADER_TWO] = { two_code, sizeof(two_code) },
	[VK_SHADER_FILL] = { fill_code, sizeof(fill_code) },
};

static VkShaderModule
make_shader(struct vk_stage *s, enum vk_shader which)
{
	VkShaderModuleCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
		.codeSize = shaders[which].size,
		.pCode = shaders[which].code,
	};
	VkShaderModule module;
	VK_STAGE_MAKE(s, ShaderModule, &info, &module);
	return module;
}

/* ---- render passes ---- */

struct attachments {
	VkAttachmentDescription descriptions[9];
	VkAttachmentReference colors[4], depth, resolves[4];
	uint32_t n, n_colors;
	bool has_depth;
};

static uint32_t
add_attachment(struct attachments *a, VkFormat format, VkSampleCountFlagBits samples,
	       VkAttachmentLoadOp load, VkAttachmentStoreOp store)
{
	bool keeps = load == VK_ATTACHMENT_LOAD_OP_LOAD;
	a->descriptions[a->n] = (VkAttachmentDescription){
		.format = format,
		.samples = samples,
		.loadOp = load,
		.storeOp = store,
		.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
		.stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
		.initialLayout = keeps ? VK_IMAGE_LAYOUT_GENERAL : VK_IMAGE_LAYOUT_UNDEFINED,
		.finalLayout = VK_IMAGE_LAYOUT_GENERAL,
	};
	return a->n++;
}

static void
fill_attachments(struct attachments *a, const struct vk_pass_wish *wish)
{
	*a = (struct attachments){ 0 };
	VkSampleCountFlagBits samples = wish->samples ? wish->samples : VK_SAMPLE_COUNT_1_BIT;
	while (a->n_colors < 4 && wish->color[a->n_colors]) {
		uint32_t n = add_attachment(a, wish->color[a->n_colors], samples, wish->load,
					    wish->store);
		a->colors[a->n_colors++] = (VkAttachmentReference){ n, VK_IMAGE_LAYOUT_GENERAL };
	}
	if (wish->depth) {
		uint32_t n = add_attachment(a, wish->depth, samples, wish->load, wish->store);
		a->depth = (VkAttachmentReference){ n, VK_IMAGE_LAYOUT_GENERAL };
		a->has_depth = true;
	}
	for (uint32_t i = 0; wish->resolve && i < a->n_colors; i++) {
		uint32_t n = add_attachment(a, wish->color[i], VK_SAMPLE_COUNT_1_BIT,
					    VK_ATTACHMENT_LOAD_OP_DONT_CARE,
					    VK_ATTACHMENT_STORE_OP_STORE);
		a->resolves[i] = (VkAttachmentReference){ n, VK_IMAGE_LAYOUT_GENERAL };
	}
}

static VkRenderPass
make_pass_1(struct vk_stage *s, const struct vk_pass_wish *wish, const struct attachments *a)
{
	uint32_t n = wish->subpasses ? wish->subpasses : 1;
	VkSubpassDescription subpasses[4];
	VkSubpassDependency dependencies[4];
	uint32_t masks[4];
	for (uint32_t i = 0; i < n; i++) {
		subpasses[i] = (VkSubpassDescription){
			.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
			.colorAttachmentCount = a->n_colors,
			.pColorAttachments = a->colors,
			.pResolveAttachments = wish->resolve ? a->resolves : NULL,
			.pDepthStencilAttachment = a->has_depth ? &a->depth : NULL,
		};
		masks[i] = wish->view_mask;
		dependencies[i] = (VkSubpassDependency){
			.srcSubpass = i,
			.dstSubpass = i + 1,
			.srcStageMask = VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT,
			.dstStageMask = VK_PIPELINE_STAGE_ALL_GRAPHICS_BIT,
			.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
			.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
		};
	}
	VkRenderPassMultiviewCreateInfo views = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO,
		.subpassCount = n,
		.pViewMasks = masks,
	};
	VkRenderPassCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
		.pNext = wish->view_mask ? &views : NULL,
		.attachmentCount = a->n,
		.pAttachments = a->descriptions,
		.subpassCount = n,
		.pSubpasses = subpasses,
		.dependencyCount = n - 1,
		.pDependencies = n > 1 ? dependencies : NULL,
	};
	VkRenderPass pass;
	VK_STAGE_MAKE(s, RenderPass, &info, &pass);
	return pass;
}

static VkAttachmentReference2
second_reference(VkAttachmentReference reference, VkImageAspectFlags aspect)
{
	return (VkAttachmentReference2){
		.sType = VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2,
		.attachment = reference.attachment,
		.layout = reference.layout,
		.aspectMask = aspect,
	};
}

/* One subpass, without resolves: the parts that scenes use. */
static VkRenderPass
make_pass_2(struct vk_stage *s, const struct vk_pass_wish *wish, const struct attachments *a)
{
	VkAttachmentDescription2 descriptions[9];
	for (uint32_t i = 0; i < a->n; i++) {
		const VkAttachmentDescription *d = &a->descriptions[i];
		descriptions[i] = (VkAttachmentDescription2){
			.sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
			.format = d->format,
			.samples = d->samples,
			.loadOp = d->loadOp,
			.storeOp = d->storeOp,
			.stencilLoadOp = d->stencilLoadOp,
			.stencilStoreOp = d->stencilStoreOp,
			.initialLayout = d->initialLayout,
			.finalLayout = d->finalLayout,
		};
	}
	VkAttachmentReference2 colors[4];
	for (uint32_t i = 0; i < a->n_colors; i++)
		colors[i] = second_reference(a->colors[i], VK_IMAGE_ASPECT_COLOR_BIT);
	VkAttachmentReference2 depth = second_reference(a->depth, VK_IMAGE_ASPECT_DEPTH_BIT);
	VkSubpassDescription2 subpass = {
		.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
		.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
		.viewMask = wish->view_mask,
		.colorAttachmentCount = a->n_colors,
		.pColorAttachments = colors,
		.pDepthStencilAttachment = a->has_depth ? &depth : NULL,
	};
	VkRenderPassCreateInfo2 info = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
		.attachmentCount = a->n,
		.pAttachments = descriptions,
		.subpassCount = 1,
		.pSubpasses = &subpass,
	};
	VkRenderPass pass;
	vk_check(vkCreateRenderPass2(s->device, &info, NULL, &pass), "vkCreateRenderPass2");
	VK_STAGE_OWN(s, vkDestroyRenderPass, pass);
	return pass;
}

VkRenderPass
vk_make_pass(struct vk_stage *s, const struct vk_pass_wish *wish)
{
	struct attachments a;
	fill_attachments(&a, wish);
	return wish->second ? make_pass_2(s, wish, &a) : make_pass_1(s, wish, &a);
}

VkFramebuffer
vk_make_framebuffer(struct vk_stage *s, VkRenderPass pass, uint32_t n,
		    const struct vk_picture *const *pictures)
{
	VkImageView views[9];
	for (uint32_t i = 0; i < n; i++)
		views[i] = pictures[i]->view;
	VkFramebufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
		.renderPass = pass,
		.attachmentCount = n,
		.pAttachments = views,
		.width = pictures[0]->width,
		.height = pictures[0]->height,
		.layers = 1,
	};
	VkFramebuffer framebuffer;
	VK_STAGE_MAKE(s, Framebuffer, &info, &framebuffer);
	return framebuffer;
}

/* ---- pipelines ---- */

static VkPipelineShaderStageCreateInfo
stage_info(struct vk_stage *s, VkShaderStageFlagBits stage, enum vk_shader which)
{
	return (VkPipelineShaderStageCreateInfo){
		.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
		.stage = stage,
		.module = make_shader(s, which),
		.pName = "main",
	};
}

/* The parts of a pipeline that point to each other. */
struct pipeline_parts {
	VkPipelineShaderStageCreateInfo stages[2];
	VkPipelineVertexInputStateCreateInfo vertices;
	VkPipelineInputAssemblyStateCreateInfo assembly;
	VkPipelineViewportStateCreateInfo viewport;
	VkPipelineRasterizationStateCreateInfo raster;
	VkPipelineMultisampleStateCreateInfo samples;
	VkPipelineDepthStencilStateCreateInfo depth;
	VkPipelineColorBlendAttachmentState blends[4];
	VkPipelineColorBlendStateCreateInfo blend;
	VkDynamicState dynamic_states[2];
	VkPipelineDynamicStateCreateInfo dynamic;
	VkFormat formats[4];
	VkPipelineRenderingCreateInfo rendering;
};

static void
fill_fixed_parts(struct pipeline_parts *p, const struct vk_pipeline_wish *wish)
{
	p->vertices.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO;
	p->assembly.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO;
	p->assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
	p->viewport.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO;
	p->viewport.viewportCount = 1;
	p->viewport.scissorCount = 1;
	p->raster.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO;
	p->raster.lineWidth = 1;
	p->samples.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO;
	p->samples.rasterizationSamples = wish->samples ? wish->samples : VK_SAMPLE_COUNT_1_BIT;
	p->depth.sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO;
	p->depth.depthTestEnable = wish->writes_depth;
	p->depth.depthWriteEnable = wish->writes_depth;
	p->depth.depthCompareOp = VK_COMPARE_OP_ALWAYS;
	p->blend.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO;
	p->blend.attachmentCount = wish->colors;
	p->blend.pAttachments = p->blends;
	p->dynamic_states[0] = VK_DYNAMIC_STATE_VIEWPORT;
	p->dynamic_states[1] = VK_DYNAMIC_STATE_SCISSOR;
	p->dynamic.sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO;
	p->dynamic.dynamicStateCount = 2;
	p->dynamic.pDynamicStates = p->dynamic_states;
	for (uint32_t i = 0; i < wish->colors; i++) {
		p->blends[i].colorWriteMask = 0xf;
		p->formats[i] = wish->color;
	}
	p->rendering.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO;
	p->rendering.viewMask = wish->view_mask;
	p->rendering.colorAttachmentCount = wish->colors;
	p->rendering.pColorAttachmentFormats = p->formats;
	p->rendering.depthAttachmentFormat = wish->depth;
}

VkPipeline
vk_make_pipeline(struct vk_stage *s, const struct vk_pipeline_wish *wish)
{
	struct pipeline_parts p;
	memset(&p, 0, sizeof(p));
	fill_fixed_parts(&p, wish);
	enum vk_shader fragment = wish->fragment ? wish->fragment : VK_SHADER_SHADE;
	p.stages[0] = stage_info(s, VK_SHADER_STAGE_VERTEX_BIT, wish->vertex);
	p.stages[1] = stage_info(s, VK_SHADER_STAGE_FRAGMENT_BIT, fragment);
	VkGraphicsPipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
		.pNext = wish->pass ? NULL : &p.rendering,
		.stageCount = wish->colors ? 2 : 1,
		.pStages = p.stages,
		.pVertexInputState = &p.vertices,
		.pInputAssemblyState = &p.assembly,
		.pViewportState = &p.viewport,
		.pRasterizationState = &p.raster,
		.pMultisampleState = &p.samples,
		.pDepthStencilState = &p.depth,
		.pColorBlendState = &p.blend,
		.pDynamicState = &p.dynamic,
		.layout = s->layout,
		.renderPass = wish->pass,
		.subpass = wish->subpass,
	};
	VkPipeline pipeline;
	vk_check(vkCreateGraphicsPipelines(s->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline),
		 "vkCreateGraphicsPipelines");
	VK_STAGE_OWN(s, vkDestroyPipeline, pipeline);
	return pipeline;
}

/* ---- compute ---- */

static VkDescriptorSet
make_set(struct vk_stage *s, VkDescriptorSetLayout set_layout, const struct vk_buffer *buffer)
{
	VkDescriptorPoolSize size = { VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1 };
	VkDescriptorPoolCreateInfo pool_info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
		.maxSets = 1,
		.poolSizeCount = 1,
		.pPoolSizes = &size,
	};
	VkDescriptorPool pool;
	VK_STAGE_MAKE(s, DescriptorPool, &pool_info, &pool);
	VkDescriptorSetAllocateInfo set_info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
		.descriptorPool = pool,
		.descriptorSetCount = 1,
		.pSetLayouts = &set_layout,
	};
	VkDescriptorSet set;
	vk_check(vkAllocateDescriptorSets(s->device, &set_info, &set),
		 "vkAllocateDescriptorSets");
	VkDescriptorBufferInfo range = { buffer->handle, 0, VK_WHOLE_SIZE };
	VkWriteDescriptorSet write = {
		.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
		.dstSet = set,
		.descriptorCount = 1,
		.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
		.pBufferInfo = &range,
	};
	vkUpdateDescriptorSets(s->device, 1, &write, 0, NULL);
	return set;
}

struct vk_compute
vk_make_compute(struct vk_stage *s, const struct vk_buffer *buffer)
{
	VkDescriptorSetLayoutBinding binding = {
		.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
		.descriptorCount = 1,
		.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
	};
	VkDescriptorSetLayoutCreateInfo set_info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.bindingCount = 1,
		.pBindings = &binding,
	};
	VkDescriptorSetLayout set_layout;
	VK_STAGE_MAKE(s, DescriptorSetLayout, &set_info, &set_layout);
	struct vk_compute compute = {
		.layout = vk_make_layout(s, VK_SHADER_STAGE_COMPUTE_BIT, set_layout),
		.set = make_set(s, set_layout, buffer),
	};
	VkComputePipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage = stage_info(s, VK_SHADER_STAGE_COMPUTE_BIT, VK_SHADER_FILL),
		.layout = compute.layout,
	};
	vk_check(vkCreateComputePipelines(s->device, VK_NULL_HANDLE, 1, &info, NULL,
					  &compute.pipeline),
		 "vkCreateComputePipelines");
	VK_STAGE_OWN(s, vkDestroyPipeline, compute.pipeline);
	return compute;
}

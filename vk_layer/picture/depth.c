/* SPDX-License-Identifier: MIT */
#include "vk_layer/picture/depth.h"

#include "query/quirks.h"
#include "vk_formats.h" /* generated */
#include "vk_layer/record/command.h"

static bool
is_writable(VkImageLayout layout)
{
	switch (layout) {
	case VK_IMAGE_LAYOUT_GENERAL:
	case VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL:
	case VK_IMAGE_LAYOUT_STENCIL_ATTACHMENT_OPTIMAL:
	case VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL:
	case VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL:
		return true;
	default:
		return false;
	}
}

static bool
resolves(const struct vk_device *d)
{
	return d->enabled.depth_resolve ||
	       (d->instance->api_version >= VK_API_VERSION_1_2 &&
		d->properties.apiVersion >= VK_API_VERSION_1_2);
}

const char *
vk_depth_cannot(const struct vk_command *c, const struct vk_pictured *at)
{
	const struct vk_device *d = c->device;
	const VkPhysicalDeviceLimits *most = &d->properties.limits;
	if (c->secondary) /* VUID-vkCmdBeginRenderPass-bufferlevel */
		return "a secondary command buffer cannot resolve depth";
	if (!resolves(d))
		return "depth with several samples a pixel needs Vulkan 1.2 or "
		       "VK_KHR_depth_stencil_resolve";
	if (at->width > most->maxFramebufferWidth || at->height > most->maxFramebufferHeight)
		return "it is larger than a framebuffer may be";
	if ((at->layer || at->level) && tally_vk_quirk(TALLY_QUIRK_RESOLVES_FIRST,
						       d->driver_id, d->properties.vendorID))
		return "the driver resolves depth from an image's first layer only";
	/* The render pass has stencil, too, whose layout must be known, and may change. */
	if (d->enabled.layouts_apart && vk_format_has_stencil(at->format) &&
	    at->stencil_layout != at->layout && !is_writable(at->stencil_layout))
		return "the pass only reads its stencil, or does not have it";
	return NULL;
}

/* Each pixel is its first sample, which every driver can do, stencil as well: a mode of its own, or
 * none, needs a feature. Neither attachment changes its layout. */
static VkResult
make_pass(struct vk_device *d, const struct vk_pictured *at, VkImageLayout layout,
	  VkRenderPass *out)
{
	VkAttachmentDescription2 both[2] = { {
		.sType = VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
		.format = at->format,
		.samples = (VkSampleCountFlagBits)at->samples,
		.loadOp = VK_ATTACHMENT_LOAD_OP_LOAD,
		.storeOp = VK_ATTACHMENT_STORE_OP_STORE,
		.stencilLoadOp = VK_ATTACHMENT_LOAD_OP_LOAD,
		.stencilStoreOp = VK_ATTACHMENT_STORE_OP_STORE,
		.initialLayout = layout,
		.finalLayout = layout,
	} };
	VkAttachmentReference2 from = {
		.sType = VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2,
		.layout = layout,
	};
	VkAttachmentReference2 to = {
		.sType = VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2,
		.attachment = 1,
		.layout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
	};
	VkSubpassDescriptionDepthStencilResolve resolve = {
		.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE,
		.depthResolveMode = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT,
		.stencilResolveMode = VK_RESOLVE_MODE_SAMPLE_ZERO_BIT,
		.pDepthStencilResolveAttachment = &to,
	};
	VkSubpassDescription2 subpass = {
		.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
		.pNext = &resolve,
		.pDepthStencilAttachment = &from,
	};
	VkRenderPassCreateInfo2 info = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
		.attachmentCount = 2,
		.pAttachments = both,
		.subpassCount = 1,
		.pSubpasses = &subpass,
	};
	both[1] = both[0];
	both[1].samples = VK_SAMPLE_COUNT_1_BIT;
	both[1].loadOp = both[1].stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
	both[1].initialLayout = both[1].finalLayout = to.layout;
	return d->next.use.CreateRenderPass2(d->handle, &info, NULL, out);
}

static VkResult
make_view(struct vk_device *d, VkImage image, VkFormat format, uint32_t level,
	  uint32_t layer, VkImageView *out)
{
	VkImageAspectFlags stencil =
		vk_format_has_stencil(format) ? VK_IMAGE_ASPECT_STENCIL_BIT : 0;
	VkImageViewCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
		.image = image,
		.viewType = VK_IMAGE_VIEW_TYPE_2D,
		.format = format,
		.subresourceRange = { VK_IMAGE_ASPECT_DEPTH_BIT | stencil, level, 1,
				      layer, 1 },
	};
	return d->next.use.CreateImageView(d->handle, &info, NULL, out);
}

const char *
vk_depth_make(struct vk_device *d, const struct vk_pictured *at, VkImageLayout layout,
	      VkImage to, struct vk_depth_resolve *r)
{
	struct vk_depth_resolve made;
	VkFramebufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
		.attachmentCount = 2,
		.pAttachments = r->views,
		.width = at->width,
		.height = at->height,
		.layers = 1,
	};
	if (make_pass(d, at, layout, &made.pass) != VK_SUCCESS)
		return "the driver cannot resolve it";
	info.renderPass = r->pass = made.pass;
	if (make_view(d, at->image, at->format, at->level, at->layer, &made.views[0]) !=
	    VK_SUCCESS)
		return "the driver cannot resolve it";
	r->views[0] = made.views[0];
	if (make_view(d, to, at->format, 0, 0, &made.views[1]) != VK_SUCCESS)
		return "the driver cannot resolve it";
	r->views[1] = made.views[1];
	if (d->next.use.CreateFramebuffer(d->handle, &info, NULL, &made.framebuffer) !=
	    VK_SUCCESS)
		return "the driver cannot resolve it";
	r->framebuffer = made.framebuffer;
	return NULL;
}

void
vk_depth_record(struct vk_command *c, const struct vk_depth_resolve *r, uint32_t width,
		uint32_t height)
{
	VkRenderPassBeginInfo info = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
		.renderPass = r->pass,
		.framebuffer = r->framebuffer,
		.renderArea.extent = { width, height },
	};
	c->device->next.use.CmdBeginRenderPass(c->handle, &info,
					       VK_SUBPASS_CONTENTS_INLINE);
	c->device->next.use.CmdEndRenderPass(c->handle);
}

void
vk_depth_free(struct vk_device *d, const struct vk_depth_resolve *r)
{
	if (!r->pass)
		return;
	d->next.use.DestroyFramebuffer(d->handle, r->framebuffer, NULL);
	d->next.use.DestroyImageView(d->handle, r->views[1], NULL);
	d->next.use.DestroyImageView(d->handle, r->views[0], NULL);
	d->next.use.DestroyRenderPass(d->handle, r->pass, NULL);
}

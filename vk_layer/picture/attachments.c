/* SPDX-License-Identifier: MIT */
#include "vk_layer/picture/attachments.h"

#include "vk_layer/record/targets_internal.h"

#include "vk_formats.h" /* generated */

#include <stdio.h>

static const struct {
	VkImageCreateFlags flags;
	const char *why;
} never_copied[] = {
	{ VK_IMAGE_CREATE_PROTECTED_BIT, "it is protected" },
	{ VK_IMAGE_CREATE_SPARSE_BINDING_BIT | VK_IMAGE_CREATE_SUBSAMPLED_BIT_EXT,
	  "it is sparse or subsampled" },
	{ VK_IMAGE_CREATE_SAMPLE_LOCATIONS_COMPATIBLE_DEPTH_BIT_EXT,
	  "it may have sample locations of its own" },
};

static uint32_t
at_level(uint32_t size, uint32_t level)
{
	uint32_t s = level < 32 ? size >> level : 0;
	return s ? s : 1;
}

/* Another queue may read it at the same time, so that its layout must not change. */
static bool
only_reads(VkImageLayout initial, VkImageLayout final)
{
	switch (final) {
	case VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL:
	case VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL:
	case VK_IMAGE_LAYOUT_DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL:
	case VK_IMAGE_LAYOUT_DEPTH_READ_ONLY_OPTIMAL:
	case VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL:
		return initial == final;
	default:
		return false;
	}
}

static const char *
refusal(const struct vk_image_known *image)
{
	if (!image)
		return "its image is not known";
	if (image->usage & VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT)
		return "it is transient, its memory may be lazily allocated";
	for (size_t i = 0; i < sizeof(never_copied) / sizeof(never_copied[0]); i++)
		if (image->flags & never_copied[i].flags)
			return never_copied[i].why;
	if (image->tiling > VK_IMAGE_TILING_LINEAR)
		return "its memory is laid out by a modifier";
	if (image->type == VK_IMAGE_TYPE_1D)
		return "it is a 1D image";
	/* Depth of several samples is resolved by a render pass (depth.c). */
	if (!(image->samples > 1 && vk_format_has_depth(image->format)) &&
	    !((image->usage & VK_IMAGE_USAGE_TRANSFER_SRC_BIT) || image->base.usage_added))
		return "it may not be copied from (shared, or the driver does not allow "
		       "it)";
	return NULL;
}

/* `number`: of a color, TALLY_MAX_COLOR: depth. */
static void
add(struct vk_targets *t, struct vk_pictured *to, uint32_t number, VkImageView handle,
    VkImageLayout initial, VkImageLayout final, bool stored)
{
	const struct vk_view_known *view = vk_handles_find(&t->objects[VK_VIEWS],
							   VK_HANDLE_KEY(handle));
	const struct vk_image_known *image =
		view ? vk_handles_find(&t->objects[VK_IMAGES], view->image) : NULL;
	*to = (struct vk_pictured){ .layout = final };
	to->why = refusal(image);
	if (!to->why && only_reads(initial, final))
		to->why = "the pass only reads it or its stencil, which others may do, too";
	else if (!to->why && !stored)
		to->why = "the pass does not store it";
	if (number == TALLY_MAX_COLOR)
		snprintf(to->name, sizeof(to->name), "depth");
	else
		snprintf(to->name, sizeof(to->name), "color%u", number);
	if (!image)
		return;
	to->image = (VkImage)view->image;
	to->format = image->format;
	to->tiling = image->tiling;
	to->level = view->level;
	*(image->type == VK_IMAGE_TYPE_3D ? &to->slice : &to->layer) = view->layer;
	to->width = at_level(image->width, view->level);
	to->height = at_level(image->height, view->level);
	to->samples = image->samples;
}

struct views {
	const struct vk_framebuffer_known *fb;
	const VkRenderPassAttachmentBeginInfo *given; /* of an imageless one */
};

static VkImageView
view_at(const struct views *v, uint32_t i)
{
	if (v->given)
		return i < v->given->attachmentCount ? v->given->pAttachments[i]
						     : VK_NULL_HANDLE;
	return i < v->fb->n_attachments ? v->fb->views[i].view : VK_NULL_HANDLE;
}

static void
add_attachment(struct vk_targets *t, struct vk_pictured *to, uint32_t number,
	       const struct vk_render_pass_known *pass, const struct views *views,
	       uint32_t i)
{
	if (pass->attachments[i].resolve < pass->n_attachments)
		i = pass->attachments[i].resolve;
	const struct vk_pass_attachment *a = &pass->attachments[i];
	add(t, to, number, view_at(views, i), a->initial, a->final,
	    a->store == VK_ATTACHMENT_STORE_OP_STORE);
	to->stencil_layout = a->stencil_final;
}

static uint32_t
find_in_pass(struct vk_targets *t, const VkRenderPassBeginInfo *info,
	     struct vk_pictured *at)
{
	const struct vk_render_pass_known *pass = vk_handles_find(
		&t->objects[VK_RENDER_PASSES], VK_HANDLE_KEY(info->renderPass));
	struct views views = {
		.fb = vk_handles_find(&t->objects[VK_FRAMEBUFFERS],
				      VK_HANDLE_KEY(info->framebuffer)),
		.given = vk_find_in_chain(
			info->pNext, VK_STRUCTURE_TYPE_RENDER_PASS_ATTACHMENT_BEGIN_INFO),
	};
	uint32_t n = 0;
	if (!pass || !views.fb)
		return 0;
	for (uint32_t i = 0; i < pass->n_color; i++)
		if (pass->color[i] < pass->n_attachments)
			add_attachment(t, &at[n++], i, pass, &views, pass->color[i]);
	if (pass->depth < pass->n_attachments &&
	    vk_format_has_depth(pass->attachments[pass->depth].format))
		add_attachment(t, &at[n++], TALLY_MAX_COLOR, pass, &views, pass->depth);
	return n;
}

static void
add_rendering(struct vk_targets *t, struct vk_pictured *to, uint32_t number,
	      const VkRenderingAttachmentInfo *a)
{
	bool resolves = a->resolveMode != VK_RESOLVE_MODE_NONE && a->resolveImageView;
	VkImageLayout layout = resolves ? a->resolveImageLayout : a->imageLayout;
	add(t, to, number, resolves ? a->resolveImageView : a->imageView, layout, layout,
	    resolves || a->storeOp == VK_ATTACHMENT_STORE_OP_STORE);
}

uint32_t
vk_pictured_find(struct vk_device *d, const VkRenderPassBeginInfo *pass,
		 const VkRenderingInfo *info, struct vk_pictured at[VK_PICTURED_MAX])
{
	uint32_t n = 0;
	if (pass)
		return find_in_pass(d->targets, pass, at);
	for (uint32_t i = 0; i < info->colorAttachmentCount && i < TALLY_MAX_COLOR; i++)
		if (info->pColorAttachments[i].imageView)
			add_rendering(d->targets, &at[n++], i,
				      &info->pColorAttachments[i]);
	if (info->pDepthAttachment && info->pDepthAttachment->imageView) {
		const VkRenderingAttachmentInfo *stencil = info->pStencilAttachment;
		add_rendering(d->targets, &at[n], TALLY_MAX_COLOR, info->pDepthAttachment);
		if (stencil && stencil->imageView)
			at[n].stencil_layout = stencil->imageLayout;
		n++;
	}
	return n;
}

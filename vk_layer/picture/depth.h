/* SPDX-License-Identifier: MIT */
/* vk_layer/picture/depth.h - depth of several samples a pixel, resolved by a render pass of ours.
 *
 * No command copies or resolves such depth. Recording thread, without a lock; the objects live as
 * long as the copy, whose commands name them.
 */
#ifndef PASSTALLY_VK_LAYER_PICTURE_DEPTH_H
#define PASSTALLY_VK_LAYER_PICTURE_DEPTH_H

#include "vk_layer/picture/picture.h"

/* NULL, or why it cannot be resolved. */
const char *vk_depth_cannot(const struct vk_command *c, const struct vk_pictured *at);
/* From the layout `layout` into an image of ours, which is an attachment. NULL, or why not; what
 * was made until then is to be freed all the same. */
const char *vk_depth_make(struct vk_device *d, const struct vk_pictured *at,
			  VkImageLayout layout, VkImage to, struct vk_depth_resolve *r);
void vk_depth_record(struct vk_command *c, const struct vk_depth_resolve *r, uint32_t width,
		     uint32_t height);
void vk_depth_free(struct vk_device *d, const struct vk_depth_resolve *r);

#endif

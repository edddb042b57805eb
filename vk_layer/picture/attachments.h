/* SPDX-License-Identifier: MIT */
/* vk_layer/picture/attachments.h - which images a pass draws to, how it leaves them, and why one
 * cannot be copied.
 */
#ifndef PASSTALLY_VK_LAYER_PICTURE_ATTACHMENTS_H
#define PASSTALLY_VK_LAYER_PICTURE_ATTACHMENTS_H

#include "vk_layer/picture/picture.h"

/* What a pass that begins so will have drawn to; returns how many. */
uint32_t vk_pictured_find(struct vk_device *d, const VkRenderPassBeginInfo *pass,
			  const VkRenderingInfo *rendering,
			  struct vk_pictured at[VK_PICTURED_MAX]);

#endif

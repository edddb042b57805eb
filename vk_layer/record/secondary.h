/* SPDX-License-Identifier: MIT */
/* vk_layer/record/secondary.h - what a secondary command buffer inherits, and the counters of one
 * that continues a pass.
 */
#ifndef PASSTALLY_VK_LAYER_RECORD_SECONDARY_H
#define PASSTALLY_VK_LAYER_RECORD_SECONDARY_H

#include "vk_layer/record/passes.h"

/* The game's begin info, or a copy in which a secondary inherits our statistics (R24). `family` is
 * that of its pool. */
const VkCommandBufferBeginInfo *
vk_inherit(const struct vk_command *c, uint32_t family, const VkCommandBufferBeginInfo *info,
	   VkCommandBufferBeginInfo *copy, VkCommandBufferInheritanceInfo *inherit);
/* Called first and last in a secondary with RENDER_PASS_CONTINUE. */
void vk_inherited_begin(struct vk_command *c, const VkCommandBufferInheritanceInfo *inherit);
void vk_inherited_end(struct vk_command *c);
/* Ends the counters of a secondary that continues a pass; they are absent. */
void vk_inherited_yield(struct vk_command *c);

#endif

/* SPDX-License-Identifier: MIT */
/* vk_layer/picture/memory.h - the images and buffers that pictures are copied to.
 *
 * Any thread; all calls the driver, without a lock. What a device has of them at a time is limited.
 */
#ifndef PASSTALLY_VK_LAYER_PICTURE_MEMORY_H
#define PASSTALLY_VK_LAYER_PICTURE_MEMORY_H

#include "vk_layer/picture/picture.h"

/* Both return NULL, or why there is none; what was made until then is to be destroyed all the same.
 */
const char *vk_picture_make_image(struct vk_device *d, VkFormat format, uint32_t width,
				  uint32_t height, VkImageUsageFlags usage,
				  struct vk_picture_image *out);
const char *vk_picture_make_buffer(struct vk_device *d, struct vk_picture_copy *c);
void vk_picture_free_image(struct vk_device *d, const struct vk_picture_image *image);
void vk_picture_free_buffer(struct vk_device *d, const struct vk_picture_copy *c);

#endif

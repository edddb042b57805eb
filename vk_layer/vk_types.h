/* vk_layer/vk_types.h - the Vulkan headers, without prototypes: every call goes through a table. */
#ifndef PASSTALLY_VK_LAYER_VK_TYPES_H
#define PASSTALLY_VK_LAYER_VK_TYPES_H

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES 1
#endif
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan_core.h>

#endif

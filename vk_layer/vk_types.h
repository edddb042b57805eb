/* SPDX-License-Identifier: MIT */
/* vk_layer/vk_types.h - the Vulkan headers as the layer sees them.
 *
 * Without prototypes: every call goes through a table of the next layer's functions, and a call
 * by name would reach the function that the game calls, which is hooked. Types only; any
 * thread.
 */
#ifndef PASSTALLY_VK_LAYER_VK_TYPES_H
#define PASSTALLY_VK_LAYER_VK_TYPES_H

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES 1
#endif
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan_core.h>

#endif

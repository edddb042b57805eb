/* SPDX-License-Identifier: MIT */
/* vk_layer/vk_types.h - the Vulkan headers as the layer uses them.
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

/* The structure of this type in a pNext chain; NULL: there is none. An int, because some types
 * are newer than the headers. */
static inline const void *
vk_find_in_chain(const void *chain, int type)
{
	const VkBaseInStructure *s = chain;
	while (s && (int)s->sType != type)
		s = s->pNext;
	return s;
}

#endif

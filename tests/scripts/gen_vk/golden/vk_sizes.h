/* vk_sizes.h - how large the structures of a chain are.
 *
 * Made by scripts/gen_vk.py from toy.xml and toy.rules. Do not edit.
 */
#ifndef PASSTALLY_VK_SIZES_H
#define PASSTALLY_VK_SIZES_H

#include "vk_layer/vk_types.h"

#include <stddef.h>

/* Of any structure that says its type; 0: not known. */
size_t vk_structure_size(VkStructureType type);

#endif

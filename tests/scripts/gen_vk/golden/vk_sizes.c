/* vk_sizes.c - how large the structures of a chain are.
 *
 * Made by scripts/gen_vk.py from toy.xml and toy.rules. Do not edit.
 */
#ifndef VK_ENABLE_BETA_EXTENSIONS
#define VK_ENABLE_BETA_EXTENSIONS 1
#endif
#include "vk_sizes.h"

#include <vulkan/vulkan_beta.h>

size_t
vk_structure_size(VkStructureType type)
{
	/* Not every case is one of the enumeration's that the headers declare. */
	switch ((int)type) {
	case VK_STRUCTURE_TYPE_TOY_INFO:
		return sizeof(VkToyInfo);
	case VK_STRUCTURE_TYPE_OTHER_TOY:
		return sizeof(VkOtherToy);
	default:
		return 0;
	}
}

/* vk_formats.c - what a format is called, and has.
 *
 * Made by scripts/gen_vk.py from toy.xml and toy.rules. Do not edit.
 */
#include "vk_formats.h"

const char *
vk_format_name(VkFormat format)
{
	switch ((int)format) {
	case VK_FORMAT_R8_UNORM:
		return "R8_UNORM";
	case VK_FORMAT_D24_UNORM_S8_UINT:
		return "D24_UNORM_S8_UINT";
	default:
		return NULL;
	}
}

bool
vk_format_has_depth(VkFormat format)
{
	switch ((int)format) {
	case VK_FORMAT_D24_UNORM_S8_UINT:
		return true;
	default:
		return false;
	}
}

bool
vk_format_has_stencil(VkFormat format)
{
	switch ((int)format) {
	case VK_FORMAT_D24_UNORM_S8_UINT:
		return true;
	default:
		return false;
	}
}

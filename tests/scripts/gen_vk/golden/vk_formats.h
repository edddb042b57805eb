/* vk_formats.h - what a format is called, and has.
 *
 * Made by scripts/gen_vk.py from toy.xml and toy.rules. Do not edit.
 */
#ifndef PASSTALLY_VK_FORMATS_H
#define PASSTALLY_VK_FORMATS_H

#include "vk_layer/vk_types.h"

#include <stdbool.h>

/* Without VK_FORMAT_; static. NULL when unknown. */
const char *vk_format_name(VkFormat format);
bool vk_format_has_depth(VkFormat format);
bool vk_format_has_stencil(VkFormat format);

#endif

/* SPDX-License-Identifier: MIT */
/* vk_layer/settings.h - options that the program itself gives its layers (VK_EXT_layer_settings).
 *
 * Any thread; nothing is kept, allocated or waited for.
 */
#ifndef PASSTALLY_VK_LAYER_SETTINGS_H
#define PASSTALLY_VK_LAYER_SETTINGS_H

#include "vk_layer/vk_types.h"

#define VK_SETTINGS_SIZE 4096
/* Newer than Debian's headers. */
#define VK_SETTINGS_EXTENSION "VK_EXT_layer_settings"
#define VK_SETTINGS_EXTENSION_VERSION 2

/* Writes the settings of this layer in a pNext chain of VkInstanceCreateInfo as
 * PASSTALLY_OPTIONS has them: "max-log=1000000,tag=a=b". The parts of a list are joined with
 * '+'. Returns `text`, or NULL if there are none. Settings that do not fit are left out, which
 * is logged. */
const char *vk_settings_read(const void *chain, char *text, size_t size);

#endif

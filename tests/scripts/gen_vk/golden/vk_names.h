/* vk_names.h - the names we have a hook for.
 *
 * Made by scripts/gen_vk.py from toy.xml and toy.rules. Do not edit.
 */
#ifndef PASSTALLY_VK_NAMES_H
#define PASSTALLY_VK_NAMES_H

#include "vk_layer/vk_types.h"

enum vk_hook_kind {
	VK_HOOK_COUNT = 0, /* a draw: only where calls are counted */
	VK_HOOK_AROUND,
	VK_HOOK_HAND,
};

struct vk_hook {
	const char *name;
	PFN_vkVoidFunction hook;
	uint16_t offset; /* of its member in struct vk_device_next */
	uint8_t kind;
};

#define VK_N_HOOKS 7
extern const struct vk_hook vk_hooks[VK_N_HOOKS]; /* sorted by name */

/* NULL when we have no hook for it. */
const struct vk_hook *vk_hook_find(const char *name);

#endif

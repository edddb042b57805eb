/* vk_names.h - the names we have a hook for.
 *
 * Made by scripts/gen_vk.py from toy.xml and toy.rules. Do not edit.
 */
#ifndef PASSTALLY_VK_NAMES_H
#define PASSTALLY_VK_NAMES_H

#include "vk_layer/vk_types.h"

struct vk_hook {
	const char *name;
	PFN_vkVoidFunction hook;
};

#define VK_N_HOOKS 9
extern const struct vk_hook vk_hooks[VK_N_HOOKS]; /* sorted by name */

/* NULL when we have no hook for it. */
const struct vk_hook *vk_hook_find(const char *name);

#endif

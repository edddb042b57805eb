/* vk_names.c - the names we have a hook for.
 *
 * Made by scripts/gen_vk.py from toy.xml and toy.rules. Do not edit.
 */
#include "vk_names.h"

#include <string.h>

const struct vk_hook *
vk_hook_find(const char *name)
{
	int low = 0, high = VK_N_HOOKS - 1;
	while (low <= high) {
		int middle = (low + high) / 2;
		int order = strcmp(name, vk_hooks[middle].name);
		if (order == 0)
			return &vk_hooks[middle];
		if (order < 0)
			high = middle - 1;
		else
			low = middle + 1;
	}
	return NULL;
}

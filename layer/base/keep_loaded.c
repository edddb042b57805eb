/* SPDX-License-Identifier: MIT */
#include "layer/base/keep_loaded.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

void
tally_keep_loaded(const void *address)
{
	Dl_info info;
	struct link_map *map = NULL;
	/* The handle is leaked on purpose; the program itself (no name) is never unloaded. */
	if (dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) && map && map->l_name &&
	    *map->l_name)
		dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

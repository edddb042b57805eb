/* SPDX-License-Identifier: MIT */
/* What all Vulkan sources have in common: how they are freed. */
#include "query/vk/source.h"

#include <stdlib.h>

void
tally_vk_source_destroy(struct tally_vk_source *src)
{
	free(src);
}

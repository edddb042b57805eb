/* SPDX-License-Identifier: MIT */
#include "layer/base/array.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 32

bool
tally_array_fit(void *array, uint32_t n, uint32_t *room, size_t size)
{
	if (n < *room)
		return true;
	uint32_t more;
	size_t bytes;
	if (__builtin_mul_overflow(*room ? *room : FIRST_ROOM / 2, 2u, &more) ||
	    __builtin_mul_overflow((size_t)more, size, &bytes))
		return false;
	void *old;
	memcpy(&old, array, sizeof(old)); /* for any type of pointer */
	void *grown = realloc(old, bytes);
	if (!grown)
		return false;
	memcpy(array, &grown, sizeof(grown));
	*room = more;
	return true;
}

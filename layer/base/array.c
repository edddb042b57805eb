/* SPDX-License-Identifier: MIT */
#include "layer/base/array.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 32

bool
tally_array_resize(void *array, size_t n, size_t size)
{
	void *old;
	memcpy(&old, array, sizeof(old)); /* for any type of pointer */
	void *resized = n > SIZE_MAX / size ? NULL : realloc(old, n * size);
	if (resized)
		memcpy(array, &resized, sizeof(resized));
	return resized != NULL;
}

bool
tally_array_fit(void *array, uint32_t n, uint32_t *room, size_t size)
{
	if (n < *room)
		return true;
	uint32_t more;
	if (__builtin_mul_overflow(*room ? *room : FIRST_ROOM / 2, 2u, &more) ||
	    !tally_array_resize(array, more, size))
		return false;
	*room = more;
	return true;
}

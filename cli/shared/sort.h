/* SPDX-License-Identifier: MIT */
/* cli/shared/sort.h - comparisons for qsort() and g_ptr_array_sort().
 *
 * The smallest comes first. Pure; any thread.
 */
#ifndef PASSTALLY_CLI_SHARED_SORT_H
#define PASSTALLY_CLI_SHARED_SORT_H

#include <stdint.h>
#include <string.h>

static inline int
tally_order_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* None of them is a NAN. */
static inline int
tally_order_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Pointers to text. */
static inline int
tally_order_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

#endif

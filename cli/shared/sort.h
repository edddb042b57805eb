/* SPDX-License-Identifier: MIT */
/* cli/shared/sort.h - comparisons for qsort() and g_ptr_array_sort(), and a median.
 *
 * The smallest comes first. Pure; any thread.
 */
#ifndef PASSTALLY_CLI_SHARED_SORT_H
#define PASSTALLY_CLI_SHARED_SORT_H

#include <stdint.h>
#include <stdlib.h>
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

/* Sorts the values; n > 0. */
static inline double
tally_median(double *values, uint32_t n)
{
	qsort(values, n, sizeof(*values), tally_order_double);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Pointers to text. */
static inline int
tally_order_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

#endif

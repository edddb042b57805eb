/* SPDX-License-Identifier: MIT */
/* query/statistics/sketch.h - how values of a series are spread, in little memory, for quantiles.
 *
 * A value is rounded to 7 significant binary digits, which is at most 1/128 of it, and equal ones
 * are counted. Past TALLY_MAX_BUCKETS different ones all are rounded to a digit less. Sketches are
 * merged by adding the counts of equal values, and whatever their order or grouping gives the same
 * sketch, as long as none lost a digit. One thread at a time; memory grows with new values only.
 */
#ifndef PASSTALLY_QUERY_SKETCH_H
#define PASSTALLY_QUERY_SKETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_MAX_BUCKETS 512u
#define TALLY_SKETCH_DIGITS 7

struct tally_bucket {
	double value;
	uint64_t n;
};

struct tally_sketch {
	struct tally_bucket *buckets; /* by value, ascending */
	uint32_t n, room;
	int lost; /* digits fewer than TALLY_SKETCH_DIGITS */
};

/* Adds a value n times; zeroed is empty. A value that is not finite is not counted. False on OOM:
 * the sketch lacks it, and is then of no use. */
bool tally_sketch_add(struct tally_sketch *s, double value, uint64_t n);
/* The most by which a value may be wrong, as a part of it. */
double tally_sketch_error(const struct tally_sketch *s);
/* Writes "MANTISSA,EXPONENT,COUNT ..." for values of MANTISSA times 2 to the EXPONENT, whatever
 * the locale; returns the length that it has or would have, as snprintf() does. */
size_t tally_sketch_print(const struct tally_sketch *s, char *out, size_t size);
void tally_sketch_finish(struct tally_sketch *s);

#endif

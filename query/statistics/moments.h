/* SPDX-License-Identifier: MIT */
/* query/statistics/moments.h - N, sum, sum of squares, minimum, maximum of one series, and
 * values derived from them: mean, deviation of the population and of a sample.
 *
 * MicroBlaze's latency counters keep the same moments; here they are kept for any
 * value. Whole numbers are summed exactly (layer/base/int192.h), so mean and deviation are
 * accurate to the last digits of a double whatever the values; other numbers are summed in
 * pairs of doubles (106 bits), as are the squares of their distance from the first value, so
 * that nothing cancels. The run's own statistics and `passtally report` both use this: equal
 * values in equal order give equal numbers. Nothing allocates; one thread at a time.
 */
#ifndef PASSTALLY_QUERY_MOMENTS_H
#define PASSTALLY_QUERY_MOMENTS_H

#include "layer/record.h"
#include "layer/base/int192.h"

/* A sum of two doubles: hi + lo, where hi is the nearest double. */
struct tally_pair {
	double hi, lo;
};

/* The moments of one series. */
struct tally_moments {
	uint64_t n;
	enum tally_storage storage; /* the storage in which all values so far fit */
	struct tally_value min, max;
	union {
		struct { /* used while storage is that of an integer */
			struct tally_int192 sum, sum_sq;
		};
		struct { /* used otherwise: distances are from `origin` */
			double origin;
			struct tally_pair total, total_sq, distance, distance_sq;
		};
	};
};

/* Zeroed is empty. A value that is not finite is not counted. */
void tally_moments_add_any(struct tally_moments *m, struct tally_value v);

/* As often as `times`. */
void tally_moments_add_same(struct tally_moments *m, struct tally_value v, uint64_t times);

/* The same as tally_moments_add_any(). */
static inline void
tally_moments_add(struct tally_moments *m, struct tally_value v)
{
	if (!m->n || v.storage != TALLY_STORAGE_U64 || m->storage != TALLY_STORAGE_U64 ||
	    v.u64 > UINT32_MAX) {
		tally_moments_add_any(m, v);
		return;
	}
	/* True of nearly all values. */
	if (v.u64 < m->min.u64)
		m->min.u64 = v.u64;
	if (v.u64 > m->max.u64)
		m->max.u64 = v.u64;
	m->n++;
	tally_int192_add_parts(&m->sum, 0, v.u64);
	tally_int192_add_parts(&m->sum_sq, 0, v.u64 * v.u64);
}

/* All functions below need n > 0 (sd_sample n > 1). The result is not finite where squares
 * exceed a double's range. */
double tally_moments_total(const struct tally_moments *m);
double tally_moments_mean(const struct tally_moments *m);
double tally_moments_sd_population(const struct tally_moments *m);
double tally_moments_sd_sample(const struct tally_moments *m);

/* Fills in the log's record of it; `id` and `key` are left alone. */
void tally_moments_record(const struct tally_moments *m, struct tally_statistic_record *out);

/* Exact between integers; as doubles when at least one value is not an integer. Less, equal,
 * more: -1, 0, 1. */
int tally_value_compare(struct tally_value a, struct tally_value b);

#endif

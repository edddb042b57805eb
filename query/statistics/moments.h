/* query/statistics/moments.h - N, sum, sum of squares, minimum, maximum of one series, and what
 * follows from them: mean, deviation of the population and of a sample.
 *
 * What MicroBlaze's latency counters keep (seed 003), for any value. Whole numbers are summed
 * exactly (layer/int192.h), so mean and deviation are true to the last places of a double whatever
 * the values; other numbers are summed in pairs of doubles (106 bits), squares of their distance
 * from the first value too, so that nothing cancels. The run's own statistics and `passtally
 * report` both use this: equal values in equal order give equal numbers. Nothing allocates; one
 * thread at a time.
 */
#ifndef PASSTALLY_QUERY_MOMENTS_H
#define PASSTALLY_QUERY_MOMENTS_H

#include "layer/record.h"
#include "layer/int192.h"

/* A sum of two doubles: hi + lo, of which hi is the nearest double. */
struct tally_pair {
	double hi, lo;
};

struct tally_moments {
	uint64_t n;
	enum tally_storage storage; /* what all values so far fit in */
	struct tally_value min, max;
	union {
		struct { /* while storage is an integer's */
			struct tally_int192 sum, sum_sq;
		};
		struct { /* while it is not: distances are from `origin` */
			double origin;
			struct tally_pair total, total_sq, distance, distance_sq;
		};
	};
};

/* Zeroed is empty. A value that is not finite is not counted. */
void tally_moments_add(struct tally_moments *m, struct tally_value v);

/* All below need n > 0 (sd_sample n > 1). No finite number where squares leave a double's range. */
double tally_moments_total(const struct tally_moments *m);
double tally_moments_mean(const struct tally_moments *m);
double tally_moments_sd_population(const struct tally_moments *m);
double tally_moments_sd_sample(const struct tally_moments *m);

/* The log's record of it; `id` and `key` are left alone. */
void tally_moments_record(const struct tally_moments *m, struct tally_statistic_record *out);

/* Exact between integers; through doubles as soon as one is. Less, equal, more: -1, 0, 1. */
int tally_value_compare(struct tally_value a, struct tally_value b);

#endif

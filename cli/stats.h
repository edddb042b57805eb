/* cli/stats.h - N, sum, mean, deviation, extremes and quantiles of one series of values.
 *
 * Sums of integers are exact in 128 bits; mean and deviation come from a running (Welford)
 * update, so they lose nothing to cancellation. Quantiles follow the nearest-rank definition: the
 * q-quantile of N values is the ceil(q * N)-th smallest, at least the first, so it is always a
 * value that was seen. They are exact while the series fits in what `keep` allows (runs of equal
 * values count once); past that values fall into buckets whose width is at most 1/512 of the
 * value, and a quantile is the middle of its bucket, true to 0.1 %. A series that would need more
 * than 32768 buckets (whole numbers never do) doubles their width. No randomness: equal input
 * gives equal output. One thread at a time. Out of memory ends the program, as everywhere in the
 * command.
 */
#ifndef PASSTALLY_CLI_STATS_H
#define PASSTALLY_CLI_STATS_H

#include "layer/record.h"

/* Two's complement, 128 bits, in two halves: 32-bit machines have no such type. */
struct tally_sum128 {
	uint64_t lo, hi;
};
void tally_sum128_add_u64(struct tally_sum128 *sum, uint64_t v);
void tally_sum128_add_i64(struct tally_sum128 *sum, int64_t v);
long double tally_sum128_to_float(struct tally_sum128 sum);
/* Decimal digits, at most 40 bytes with sign and NUL. */
void tally_sum128_print(struct tally_sum128 sum, char out[41]);

struct tally_stats_run;
struct tally_stats_bucket;

struct tally_stats {
	uint64_t n;
	enum tally_storage storage; /* what all values so far fit in */
	struct tally_sum128 sum; /* while storage is an integer's */
	double sum_f64; /* while it is not */
	struct tally_value min, max;
	struct tally_value first, last;
	long double mean_distance, m2; /* of the first n - repeats values; mean less `first` */
	uint64_t repeats; /* of `last`, not yet in these two */
	bool sorted; /* the runs are */
	uint32_t keep; /* runs kept before buckets take over */
	uint32_t n_runs, room_runs;
	struct tally_stats_run *runs;
	uint32_t n_buckets, room_buckets;
	uint32_t last_bucket; /* hit last: most series repeat themselves */
	unsigned mantissa_bits;
	struct tally_stats_bucket *buckets; /* NULL while quantiles are exact */
};

/* Runs kept for a pass's values and for a frame's. */
#define TALLY_STATS_KEEP_PASS 4096
#define TALLY_STATS_KEEP_FRAME (1u << 20)

void tally_stats_init(struct tally_stats *s, uint32_t keep);
void tally_stats_finish(struct tally_stats *s);

/* A value that is not finite is not counted. */
void tally_stats_add(struct tally_stats *s, struct tally_value v);
void tally_stats_add_u64(struct tally_stats *s, uint64_t v);

/* All below need n > 0 (deviation n > 1). */
double tally_stats_mean(struct tally_stats *s);
double tally_stats_sd(struct tally_stats *s); /* of the sample: divisor n - 1 */
double tally_stats_total(const struct tally_stats *s);
/* `q` from 0 to 1. May reorder what is kept. */
struct tally_value tally_stats_quantile(struct tally_stats *s, double q);
/* False: quantiles are true to 0.1 % only. */
bool tally_stats_exact(const struct tally_stats *s);

struct tally_value tally_u64(uint64_t v);
struct tally_value tally_f64(double v);

#endif

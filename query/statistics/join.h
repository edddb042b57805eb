/* SPDX-License-Identifier: MIT */
/* query/statistics/join.h - how the values of several segments of work are joined into one
 * value.
 *
 * One rule for the run's own statistics and for the command: the segments of a pass in one
 * frame are joined before they count as one value. Any thread; nothing allocates.
 */
#ifndef PASSTALLY_QUERY_JOIN_H
#define PASSTALLY_QUERY_JOIN_H

#include "layer/record.h"

/* How two values become one. */
enum tally_join {
	TALLY_JOIN_SUM = 0,
	TALLY_JOIN_MIN, /* a latency counter's extremes */
	TALLY_JOIN_MAX,
	TALLY_JOIN_NONE, /* ratios, averages, metrics: two of them have no joint value */
};

/* How the values of a key, or of a counter, are joined. */
enum tally_join tally_join_of_key(const char *key);
enum tally_join tally_join_of_counter(const struct tally_counter *counter);
/* Sums of integers that do not fit continue as doubles. With TALLY_JOIN_NONE the
 * result is a. */
struct tally_value tally_join_values(struct tally_value a, struct tally_value b,
				     enum tally_join join);

#endif

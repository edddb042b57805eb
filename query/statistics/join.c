/* SPDX-License-Identifier: MIT */
#include "query/statistics/join.h"

#include "query/statistics/moments.h"

#include <string.h>

static bool
ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);
	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

enum tally_join
tally_join_of_key(const char *key)
{
	if (ends_with(key, ".min"))
		return TALLY_JOIN_MIN;
	return ends_with(key, ".max") ? TALLY_JOIN_MAX : TALLY_JOIN_SUM;
}

enum tally_join
tally_join_of_counter(const struct tally_counter *counter)
{
	return tally_counter_adds_up(counter) ? tally_join_of_key(counter->key)
					      : TALLY_JOIN_NONE;
}

struct tally_value
tally_join_values(struct tally_value a, struct tally_value b, enum tally_join join)
{
	struct tally_value sum = a;
	switch (join) {
	case TALLY_JOIN_SUM:
		return tally_value_add(&sum, b)
			       ? sum
			       : (struct tally_value){
					 .storage = TALLY_STORAGE_F64,
					 .f64 = tally_value_f64(a) + tally_value_f64(b),
				 };
	case TALLY_JOIN_MIN:
		return tally_value_compare(b, a) < 0 ? b : a;
	case TALLY_JOIN_MAX:
		return tally_value_compare(b, a) > 0 ? b : a;
	default:
		return a;
	}
}

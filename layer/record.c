/* SPDX-License-Identifier: MIT */
#include "layer/record.h"

#include <string.h>

int
tally_name_find(const char *(*name)(unsigned), unsigned n, const char *word, size_t len)
{
	for (unsigned i = 0; i < n; i++) {
		const char *w = name(i);
		if (w && strlen(w) == len && memcmp(w, word, len) == 0)
			return (int)i;
	}
	return -1;
}

bool
tally_counter_adds_up(const struct tally_counter *counter)
{
	static const char *const levels[] = {
		"percent", "hertz", "kelvin", "celsius", "watts", "volts", "amps",
	};
	if (counter->kind == TALLY_KIND_RATIO || counter->kind == TALLY_KIND_TIMESTAMP)
		return false;
	if (!counter->unit) /* a log may leave it out */
		return true;
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		if (strcmp(counter->unit, levels[i]) == 0)
			return false;
	}
	return !strchr(counter->unit, '/');
}

bool
tally_value_add(struct tally_value *sum, struct tally_value v)
{
	struct tally_value more = *sum;
	bool good = v.storage == sum->storage;
	switch (v.storage) {
	case TALLY_STORAGE_I64:
		good = good && !__builtin_add_overflow(sum->i64, v.i64, &more.i64);
		break;
	case TALLY_STORAGE_F64:
		more.f64 += v.f64;
		break;
	default:
		good = good && !__builtin_add_overflow(sum->u64, v.u64, &more.u64);
	}
	if (good)
		*sum = more;
	return good;
}

double
tally_value_f64(struct tally_value v)
{
	switch (v.storage) {
	case TALLY_STORAGE_I64:
		return (double)v.i64;
	case TALLY_STORAGE_F64:
		return v.f64;
	default:
		return (double)v.u64;
	}
}

/* SPDX-License-Identifier: MIT */
#include "query/gl/amd_result.h"

#include <math.h>
#include <string.h>

#define NONE UINT32_MAX

/* False: the number is meaningless, and `flags` says what is known of the cause. */
static bool
put_integer(const struct tally_amd_counter *c, uint64_t number, struct tally_value *out,
	    uint64_t *flags)
{
	/* A wide counter that overflowed is stuck at all ones. */
	bool stuck = number == c->largest && number >= UINT16_MAX && !(number & (number + 1));
	if (stuck || number > c->largest) {
		*flags |= TALLY_FLAG(SATURATED);
		return false;
	}
	*out = (struct tally_value){ .storage = TALLY_STORAGE_U64, .u64 = number };
	return number >= c->least;
}

static bool
put_float(const struct tally_amd_counter *c, float number, struct tally_value *out,
	  uint64_t *flags)
{
	double value = (double)number;
	/* By the extension's text a percentage has a range, whether or not the driver
	 * reports one. */
	bool ranged = c->ranged || c->type == TALLY_AMD_PERCENTAGE;
	double min = c->ranged ? c->min : 0.0, max = c->ranged ? c->max : 100.0;
	double slack = (max - min) / 1024; /* a rounding error is not an overflow */

	/* Infinite, not a number, or so small that the bits must belong to something else. */
	if (!isnormal(number) && number != 0.0f) {
		*flags |= TALLY_FLAG(LOST);
		return false;
	}
	if (ranged && (value < min - slack || value > max + slack)) {
		*flags |= TALLY_FLAG(OVERFLOW);
		return false;
	}
	*out = (struct tally_value){ .storage = TALLY_STORAGE_F64, .f64 = value };
	return true;
}

/* Reads one value, of which only the bytes up to its size are present. */
static bool
put_value(const struct tally_amd_counter *c, const unsigned char *bytes, struct tally_value *out,
	  uint64_t *flags)
{
	uint32_t narrow;
	uint64_t wide;
	float number;

	switch (c->type) {
	case TALLY_AMD_U32:
		memcpy(&narrow, bytes, sizeof(narrow));
		return put_integer(c, narrow, out, flags);
	case TALLY_AMD_U64:
		memcpy(&wide, bytes, sizeof(wide));
		return put_integer(c, wide, out, flags);
	default:
		memcpy(&number, bytes, sizeof(number));
		return put_float(c, number, out, flags);
	}
}

/* The index of a counter in the set. Records come in any order, but mostly in the set's, so
 * `hint` is tried first. NONE: the counter is not in the set. */
static uint32_t
find_counter(const struct tally_amd_set *set, unsigned group, unsigned id, uint32_t hint)
{
	for (uint32_t i = 0; i < set->n; i++) {
		uint32_t at = (hint + i) % set->n;
		if (set->counters[at]->group == group && set->counters[at]->id == id)
			return at;
	}
	return NONE;
}

void
tally_amd_decode(const struct tally_amd_set *set, const void *result, size_t len,
		 struct tally_sample *out)
{
	const unsigned char *bytes = result;
	uint32_t hint = 0;

	for (size_t at = 0; len - at >= 3 * sizeof(uint32_t);) {
		unsigned names[2];
		memcpy(names, bytes + at, sizeof(names));
		uint32_t which = find_counter(set, names[0], names[1], hint);
		if (which == NONE)
			return;
		const struct tally_amd_counter *c = set->counters[which];
		size_t size = c->type == TALLY_AMD_U64 ? 8 : 4;
		at += sizeof(names);
		if (len - at < size)
			return;
		if (put_value(c, bytes + at, &out->values[which], &out->flags))
			out->valid[which / 64] |= UINT64_C(1) << which % 64;
		at += size;
		hint = which + 1;
	}
}

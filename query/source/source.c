/* SPDX-License-Identifier: MIT */
#include "query/source/source.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "query/source/statistics_catalogue.h"

#define WORD_BITS 64u

/* ---- reasons ---- */

enum tally_status
tally_unsupported(char *reason, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(reason, TALLY_REASON_BYTES, format, args);
	va_end(args);
	return TALLY_UNSUPPORTED;
}

void
tally_reason_add(char *reason, const char *format, ...)
{
	size_t at = strnlen(reason, TALLY_REASON_BYTES - 1);
	if (at && at + 3 < TALLY_REASON_BYTES) {
		memcpy(reason + at, "; ", 3);
		at += 2;
	}
	va_list args;
	va_start(args, format);
	vsnprintf(reason + at, TALLY_REASON_BYTES - at, format, args);
	va_end(args);
}

/* ---- samples ---- */

/* False: the value cannot be; *flags gets what is known of the cause. */
static bool
is_possible(const struct tally_counter *counter, struct tally_value value, uint64_t *flags)
{
	switch (value.storage) {
	case TALLY_STORAGE_F64:
		if (isfinite(value.f64) && (counter->unit[0] != 'p' || value.f64 >= -1.0))
			return true;
		*flags |= TALLY_FLAG(LOST);
		return false;
	case TALLY_STORAGE_U64:
		if (value.u64 <= TALLY_STATISTIC_MOST || counter->kind == TALLY_KIND_TIMESTAMP)
			return true;
		/* A counter that overflowed is stuck at all ones; others are negative
		 * differences, of a counter that was reset, or other memory. */
		*flags |= value.u64 == UINT64_MAX ? TALLY_FLAG(SATURATED) : TALLY_FLAG(LOST);
		return false;
	default:
		return true;
	}
}

__attribute__((hot)) void
tally_sample_check(const struct tally_counter *const *counters, struct tally_sample *out)
{
	uint64_t flags = 0;
	uint32_t n_valid = 0;

	for (uint32_t first = 0; first < out->n; first += 64) {
		uint64_t *word = &out->valid[first / 64];
		for (uint64_t left = *word; left; left &= left - 1) {
			uint32_t i = first + (uint32_t)__builtin_ctzll(left);
			const struct tally_value *v = &out->values[i];
			bool possible = v->storage == TALLY_STORAGE_U64 &&
				     v->u64 <= TALLY_STATISTIC_MOST;
			if (possible || is_possible(counters[i], *v, &flags))
				n_valid++;
			else
				*word &= ~(left & -left);
		}
	}
	out->flags |= flags;
	if (n_valid && n_valid < out->n && !out->flags)
		out->flags |= TALLY_FLAG(LOST);
}

__attribute__((hot)) void
tally_sample_merge_valid(uint64_t *to, uint32_t first, const uint64_t *from, uint32_t n)
{
	uint64_t *word = to + first / WORD_BITS;
	uint32_t shift = first % WORD_BITS;

	for (uint32_t done = 0; done < n; done += WORD_BITS, word++, from++) {
		uint32_t left = n - done;
		uint64_t bits = left < WORD_BITS ? *from & ((UINT64_C(1) << left) - 1) : *from;
		word[0] |= bits << shift;
		if (shift && bits >> (WORD_BITS - shift))
			word[1] |= bits >> (WORD_BITS - shift);
	}
}

/* SPDX-License-Identifier: MIT */
#include "query/mali/layout.h"

#include <stdlib.h>
#include <string.h>

#define STUCK UINT32_MAX

/* ---- totals ---- */

bool
tally_mali_sums_init(struct tally_mali_sums *sums, const struct tally_mali_choice *choice)
{
	size_t n = choice->n ? choice->n : 1;
	size_t words = tally_bit_words((uint32_t)n);

	*sums = (struct tally_mali_sums){ .choice = choice };
	/* One allocation holds the deltas, totals, doubt bits and unknown bits. */
	uint64_t *memory = calloc(2 * n + 2 * words, sizeof(*memory));
	if (!memory)
		return false;
	sums->growth = memory;
	sums->totals = memory + n;
	sums->invalid = memory + 2 * n;
	sums->unknown = memory + 2 * n + words;
	return true;
}

void
tally_mali_sums_finish(struct tally_mali_sums *sums)
{
	free(sums->growth);
	*sums = (struct tally_mali_sums){ 0 };
}

void
tally_mali_sums_reset(struct tally_mali_sums *sums)
{
	memset(sums->totals, 0, sums->choice->n * sizeof(*sums->totals));
	memset(sums->unknown, 0,
	       tally_bit_words(sums->choice->n) * sizeof(*sums->unknown));
	sums->flags = 0;
}

void
tally_mali_sums_begin(struct tally_mali_sums *sums)
{
	memset(sums->growth, 0, sums->choice->n * sizeof(*sums->growth));
	memset(sums->invalid, 0,
	       tally_bit_words(sums->choice->n) * sizeof(*sums->invalid));
}

/* Adds the values of a block of a dump. A saturated one sets the flag, and its counter is
 * unknown. */
static void
add_block(struct tally_mali_sums *sums, enum tally_mali_block block, const uint32_t *words,
	  uint32_t position)
{
	const struct tally_mali_choice *choice = sums->choice;
	const uint32_t *values = words + (size_t)position * TALLY_MALI_DUMP_VALUES;

	for (uint32_t i = choice->first[block]; i < choice->first[block + 1]; i++) {
		uint32_t index = choice->places[i].index;
		if (index >= TALLY_MALI_DUMP_VALUES) {
			tally_bit_set(sums->invalid, i);
		} else if (values[index] == STUCK) {
			tally_bit_set(sums->invalid, i);
			sums->flags |= TALLY_FLAG(SATURATED);
		} else {
			sums->growth[i] += values[index];
		}
	}
}

bool
tally_mali_sums_add64(struct tally_mali_sums *sums, enum tally_mali_block block,
		      const uint64_t *values, uint32_t n_values)
{
	const struct tally_mali_choice *choice = sums->choice;
	uint64_t any = 0;

	for (uint32_t i = choice->first[block]; i < choice->first[block + 1]; i++) {
		uint32_t index = choice->places[i].index;
		if (index >= n_values) {
			tally_bit_set(sums->invalid, i);
			continue;
		}
		any |= values[index];
		if (__builtin_add_overflow(sums->growth[i], values[index], &sums->growth[i])) {
			tally_bit_set(sums->invalid, i);
			sums->flags |= TALLY_FLAG(SATURATED);
		}
	}
	return any != 0;
}

void
tally_mali_sums_add_clock(struct tally_mali_sums *sums, bool known, uint64_t cycles)
{
	uint32_t i = sums->choice->first[TALLY_N_MALI_BLOCKS];

	if (i == sums->choice->n)
		return;
	if (known)
		sums->growth[i] += cycles;
	else
		tally_bit_set(sums->invalid, i);
}

void
tally_mali_sums_invalidate(struct tally_mali_sums *sums, enum tally_mali_block block)
{
	for (uint32_t i = sums->choice->first[block]; i < sums->choice->first[block + 1]; i++)
		tally_bit_set(sums->invalid, i);
}

void
tally_mali_sums_invalidate_all(struct tally_mali_sums *sums)
{
	for (uint32_t i = 0; i < sums->choice->n; i++)
		tally_bit_set(sums->invalid, i);
}

void
tally_mali_sums_end(struct tally_mali_sums *sums)
{
	for (uint32_t i = 0; i < sums->choice->n; i++) {
		if (tally_bit(sums->invalid, i))
			tally_bit_set(sums->unknown, i);
		else
			sums->totals[i] += sums->growth[i] << sums->choice->places[i].shift;
	}
}

void
tally_mali_sums_deliver(struct tally_mali_sums *sums, struct tally_totals *out)
{
	size_t words = tally_bit_words(sums->choice->n);

	memcpy(out->totals, sums->totals, sums->choice->n * sizeof(*out->totals));
	for (size_t i = 0; i < words; i++)
		out->unknown[i] |= sums->unknown[i];
	out->flags |= sums->flags;
	memset(sums->unknown, 0, words * sizeof(*sums->unknown));
	sums->flags = 0;
}

/* ---- dumps ---- */

#define MAX_SLICES 64u

/* The number of core blocks, including those of absent cores. */
static uint32_t
core_blocks(uint64_t mask)
{
	return mask ? 64u - (uint32_t)__builtin_clzll(mask) : 0;
}

size_t
tally_mali_dump_bytes(const struct tally_mali_dump *dump)
{
	if (dump->core_mask == 0 || dump->l2_slices == 0 || dump->l2_slices > MAX_SLICES)
		return 0;
	return (size_t)(2 + dump->l2_slices + core_blocks(dump->core_mask)) *
	       TALLY_MALI_BLOCK_BYTES;
}

void
tally_mali_dump_add(const struct tally_mali_dump *dump, const uint32_t *words,
		    struct tally_mali_sums *sums)
{
	add_block(sums, TALLY_MALI_FRONTEND, words, 0);
	add_block(sums, TALLY_MALI_TILER, words, 1);
	for (uint32_t i = 0; i < dump->l2_slices; i++)
		add_block(sums, TALLY_MALI_L2, words, 2 + i);
	for (uint32_t i = 0; i < core_blocks(dump->core_mask); i++) {
		if (dump->core_mask >> i & 1)
			add_block(sums, TALLY_MALI_CORE, words, 2 + dump->l2_slices + i);
	}
}

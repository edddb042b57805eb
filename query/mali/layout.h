/* SPDX-License-Identifier: MIT */
/* query/mali/layout.h - which Mali counters are read, and their sums over the instances of a
 * block.
 *
 * All ways of reading counters share it: each passes on the blocks of one sample as it finds
 * them; their deltas are added up to 64-bit totals. Where a block cannot be trusted in one
 * sample, its counters keep their totals, and the next delivery reports them as `unknown`. One
 * thread at a time; only choose() and init() allocate memory, and nothing here makes a request
 * to the kernel.
 */
#ifndef PASSTALLY_QUERY_MALI_LAYOUT_H
#define PASSTALLY_QUERY_MALI_LAYOUT_H

#include "query/mali/catalogue.h"
#include "query/source/snapshot.h"

#define TALLY_MALI_HEADER_WORDS 4u
#define TALLY_MALI_DUMP_VALUES 64u /* per block, in a dump of 32-bit values */
#define TALLY_MALI_MAX_CORES 64u
#define TALLY_MALI_BLOCK_BYTES (TALLY_MALI_DUMP_VALUES * 4u)

/* What the driver reports about a GPU; 0 where it reports nothing. */
struct tally_mali_props {
	uint64_t gpu_id; /* in the form that tally_mali_find_product() takes */
	uint64_t core_mask, l2_mask;
	uint32_t l2_slices, l2_slice_bytes, bus_bits;
	uint32_t core_features, thread_features;
	bool reports_clock; /* each sample holds the cycles of the GPU's clock */
};
static inline uint32_t
tally_mali_count_cores(const struct tally_mali_props *props)
{
	return (uint32_t)__builtin_popcountll(props->core_mask);
}

/* The chosen counters of a source, by block, then in the catalogue's order. */
struct tally_mali_place {
	uint16_t index;
	uint8_t shift;
};
struct tally_mali_choice {
	uint32_t n;
	const struct tally_counter **counters;
	struct tally_mali_place *places;
	uint64_t *logged;
	/* Block b has the counters first[b] to first[b + 1] - 1; if one is left after those of
	 * the last block, it is tally_mali_clock. */
	uint32_t first[TALLY_N_MALI_BLOCKS + 1];
	struct tally_constant *constants;
	uint32_t n_constants;
};

/* Totals of the chosen counters. */
struct tally_mali_sums {
	const struct tally_mali_choice *choice;
	uint64_t *growth; /* deltas of the sample that is being read */
	uint64_t *invalid; /* one bit per counter, for that sample */
	uint64_t *totals;
	uint64_t *unknown; /* one bit per counter, for the samples since the last delivery */
	uint64_t flags; /* for the samples since the last delivery */
};
bool tally_mali_sums_init(struct tally_mali_sums *sums, const struct tally_mali_choice *choice);
void tally_mali_sums_finish(struct tally_mali_sums *sums);
/* Sets all totals to 0. */
void tally_mali_sums_reset(struct tally_mali_sums *sums);

/* For one sample, call begin, then blocks and invalidations in any order, then end. */
void tally_mali_sums_begin(struct tally_mali_sums *sums);
/* Adds a 64-bit value. Returns whether any value that was read is not 0. */
bool tally_mali_sums_add64(struct tally_mali_sums *sums, enum tally_mali_block block,
			   const uint64_t *values, uint32_t n_values);
/* Adds cycles of the GPU's clock, if they are among the chosen counters. Not known: they are
 * unknown in this sample. */
void tally_mali_sums_add_clock(struct tally_mali_sums *sums, bool known, uint64_t cycles);
void
tally_mali_sums_invalidate(struct tally_mali_sums *sums, enum tally_mali_block block);
void tally_mali_sums_invalidate_all(struct tally_mali_sums *sums);
void tally_mali_sums_end(struct tally_mali_sums *sums);
/* Delivers totals, unknown bits and flags of all samples since the last delivery; the caller
 * sets the times. */
void tally_mali_sums_deliver(struct tally_mali_sums *sums, struct tally_totals *out);

/* ---- dumps of 32-bit values: vinstr and panfrost ---- */

struct tally_mali_dump {
	uint32_t l2_slices;
	uint64_t core_mask; /* by physical core number, with holes */
};
/* The size of a dump in bytes; 0: there is no such dump. */
size_t tally_mali_dump_bytes(const struct tally_mali_dump *dump);
/* Adds the blocks of all present cores to the sums; `words` has tally_mali_dump_bytes(). */
void tally_mali_dump_add(const struct tally_mali_dump *dump, const uint32_t *words,
			 struct tally_mali_sums *sums);

/* ---- times ---- */

/* CLOCK_MONOTONIC_RAW, which kbase uses, between two readings of CLOCK_MONOTONIC. */
struct tally_mali_clocks {
	uint64_t before_ns, raw_ns, after_ns;
};

#endif

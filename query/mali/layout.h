/* query/mali/layout.h - which Mali counters are read, and sums of them over instances of a block.
 *
 * Shared by all ways to the counters: a way hands over the blocks of one sample as it finds
 * them; what they grew by is added up to 64-bit totals. Counters of a block that can not be trusted
 * in one sample are doubted: their totals stay, and the next delivery says `unknown`. One thread at
 * a time; memory is taken in choose() and init() only, nothing here asks the kernel.
 */
#ifndef PASSTALLY_QUERY_MALI_LAYOUT_H
#define PASSTALLY_QUERY_MALI_LAYOUT_H

#include "query/mali/catalogue.h"
#include "query/source/snapshot.h"

#define TALLY_MALI_HEADER_WORDS 4u
#define TALLY_MALI_DUMP_VALUES 64u /* of a block in a dump of 32-bit values */
#define TALLY_MALI_MAX_CORES 64u
#define TALLY_MALI_BLOCK_BYTES (TALLY_MALI_DUMP_VALUES * 4u)

/* What the driver says of a GPU; 0 where it does not. */
struct tally_mali_props {
	uint64_t gpu_id; /* as tally_mali_find_product() wants it */
	uint64_t core_mask, l2_mask;
	uint32_t l2_slices, l2_slice_bytes, bus_bits;
	uint32_t core_features, thread_features;
};
uint32_t tally_mali_count_cores(const struct tally_mali_props *props);

/* The counters of a source: those that were chosen, by block, then in the catalogue's order. */
struct tally_mali_place {
	uint16_t index;
	uint8_t shift;
};
struct tally_mali_choice {
	uint32_t n;
	const struct tally_counter **counters;
	struct tally_mali_place *places;
	uint64_t *logged;
	/* Block b has counters first[b] to first[b + 1] - 1. */
	uint32_t first[TALLY_N_MALI_BLOCKS + 1];
	struct tally_constant *constants;
	uint32_t n_constants;
};
/* By src->wanted and src->metrics_wanted; counters whose index is n_values or more are left out.
 * On success src->counters, logged, constants and layout are set, else src->reason. `source` is a
 * static name. */
enum tally_status
tally_mali_choose(struct tally_mali_choice *choice, struct tally_snapshot_source *src,
		  const char *source, uint32_t width_bits, uint32_t n_values,
		  const struct tally_mali_product *product, const struct tally_mali_props *props);
void tally_mali_choice_finish(struct tally_mali_choice *choice, struct tally_snapshot_source *src);

/* Totals of what was chosen. */
struct tally_mali_sums {
	const struct tally_mali_choice *choice;
	uint64_t *growth; /* of the sample that is being read */
	uint64_t *doubt; /* bits: of that sample */
	uint64_t *totals;
	uint64_t *unknown; /* bits: of samples since the last delivery */
	uint64_t flags; /* likewise */
};
bool tally_mali_sums_init(struct tally_mali_sums *sums, const struct tally_mali_choice *choice);
void tally_mali_sums_finish(struct tally_mali_sums *sums);
/* Totals are 0 from here on. */
void tally_mali_sums_reset(struct tally_mali_sums *sums);

/* A sample: begin, blocks and doubts in any order, end. */
void tally_mali_sums_begin(struct tally_mali_sums *sums);
/* A 32-bit value that stuck at its end is flagged as saturated and doubted. */
void tally_mali_sums_add32(struct tally_mali_sums *sums, enum tally_mali_block block,
			   const uint32_t *values, uint32_t n_values);
/* Returns whether any value that was read is not 0. */
bool tally_mali_sums_add64(struct tally_mali_sums *sums, enum tally_mali_block block,
			   const uint64_t *values, uint32_t n_values);
void tally_mali_sums_doubt(struct tally_mali_sums *sums, enum tally_mali_block block);
void tally_mali_sums_doubt_all(struct tally_mali_sums *sums);
void tally_mali_sums_end(struct tally_mali_sums *sums);
/* Totals, doubts and flags of all samples since the last delivery; times are the caller's. */
void tally_mali_sums_deliver(struct tally_mali_sums *sums, struct tally_totals *out);

/* ---- dumps of 32-bit values: vinstr and panfrost ---- */

struct tally_mali_dump {
	bool v4; /* by core groups of 8 blocks: the first Midgard GPUs */
	uint32_t n_groups; /* v4 only */
	uint32_t l2_slices; /* else */
	uint64_t core_mask; /* by physical number, with holes */
};
/* 0: no such dump. */
size_t tally_mali_dump_bytes(const struct tally_mali_dump *dump);
/* Hand all blocks of cores that are there to the sums; `words` has tally_mali_dump_bytes(). */
void tally_mali_dump_add(const struct tally_mali_dump *dump, const uint32_t *words,
			 struct tally_mali_sums *sums);

/* ---- times ---- */

/* CLOCK_MONOTONIC_RAW, on which kbase tells time, between two readings of CLOCK_MONOTONIC. */
struct tally_mali_clocks {
	uint64_t before_ns, raw_ns, after_ns;
};
struct tally_mali_clocks tally_mali_clocks_read(void);
/* A stamp taken between the two readings, on CLOCK_MONOTONIC: true between *begin_ns and *end_ns.
 * A stamp that can not have been taken there is not believed: then all that lies between. */
void
tally_mali_clocks_apply(const struct tally_mali_clocks *first, const struct tally_mali_clocks *last,
			uint64_t raw_ns, uint64_t *begin_ns, uint64_t *end_ns);

/* Why the kernel refused: fills src->reason with "what: why; what to do". EPERM and EACCES are
 * TALLY_DENIED, ENOMEM TALLY_NO_MEMORY, ENODEV TALLY_LOST, others TALLY_UNSUPPORTED. */
enum tally_status tally_mali_refuse(char *reason, size_t size, const char *what, int error);

#endif

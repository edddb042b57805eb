/* SPDX-License-Identifier: MIT */
/* query/mali/reader.h - one counting session with kbase: kinstr_prfcnt or vinstr.
 *
 * There are two tables of functions over one struct; query/mali/kbase.c chooses. Deltas go into
 * the source's sums, and times are the kernel's timestamps. One thread at a time; a read waits
 * for the kernel's dump of the counters, never for the GPU's work.
 */
#ifndef PASSTALLY_QUERY_MALI_READER_H
#define PASSTALLY_QUERY_MALI_READER_H

#include "query/mali/kbase_device.h"

struct tally_mali_reader;

struct tally_mali_reader_ops {
	const char *name; /* "kinstr_prfcnt" */
	uint32_t width_bits;
	/* Opens a session: sets the descriptor and the number of values in a block. On error
	 * nothing is left open and reason says why. */
	enum tally_status (*open)(struct tally_mali_reader *r);
	/* Starts counting from 0. */
	enum tally_status (*start)(struct tally_mali_reader *r);
	void (*stop)(struct tally_mali_reader *r);
	/* One ioctl that makes the kernel take a sample: less than 0 with errno. */
	int (*request)(struct tally_mali_reader *r);
	/* Reads one waiting sample, and with `keep` adds its deltas to r->sums; returns 0 or an
	 * errno. The sample is always returned to the kernel, whatever its contents. */
	int (*take)(struct tally_mali_reader *r, bool keep);
	int no_sample; /* errno of take() when none is waiting, besides EAGAIN and EINTR */
};
extern const struct tally_mali_reader_ops tally_mali_kinstr;
extern const struct tally_mali_reader_ops tally_mali_vinstr;

/* What the kernel reports that a kinstr_prfcnt session can count; arrays are indexed by enum
 * tally_mali_block. */
struct tally_kinstr_offer {
	uint32_t n_items;
	uint32_t n_blocks; /* instances of all types, including those that are ignored */
	uint32_t n_values; /* per block */
	uint32_t n_clock_domains; /* 0: samples do not contain how long the clock ran */
	uint32_t n_instances[TALLY_N_MALI_BLOCKS]; /* 0: no such block */
};

/* How to interpret a kinstr_prfcnt sample. */
struct tally_kinstr_format {
	struct tally_kinstr_offer offer;
	uint32_t item_size; /* size of a metadata item */
	bool enabled[TALLY_N_MALI_BLOCKS];
	/* Older kernels number cores by their position in the hardware. */
	bool physical_cores;
	uint64_t core_mask;
	/* Bits of a block's state that this kernel defines. */
	uint32_t states;
};

struct tally_kinstr_sample {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC_RAW */
	uint64_t seq;
	uint32_t flags;
};

struct tally_mali_reader {
	const struct tally_mali_reader_ops *ops;
	const struct tally_kbase *dev;
	struct tally_mali_sums *sums; /* set from start() on */
	int fd;
	const void *map;
	size_t map_size;
	uint32_t n_values; /* per block */
	bool reports_clock; /* set by open: samples hold the cycles of the GPU's clock */
	uint64_t
		timestamp_ns; /* CLOCK_MONOTONIC_RAW, of the newest sample that was read */
	bool irregular; /* zero or several samples may be waiting instead of one */
	uint32_t most_waiting; /* samples that the kernel keeps for us; set by open */
	uint32_t n_failures; /* consecutive failures */
	/* Members of kinstr_prfcnt only. */
	struct tally_kinstr_format format;
	bool has_seq;
	uint64_t next_seq;
	/* Members of vinstr only. */
	struct tally_mali_dump dump;
	size_t buffer_bytes;
	uint32_t n_buffers;
	char *reason;
};

/* Maps the session's samples; on error it is closed, and reason says why. */
enum tally_status tally_mali_reader_map(struct tally_mali_reader *r, size_t bytes);
/* Unmaps and closes; makes no ioctl. */
void tally_mali_reader_close(struct tally_mali_reader *r);
/* Takes a sample; its deltas and those of waiting samples are added to r->sums. Returns
 * TALLY_OK, TALLY_NOT_READY, or TALLY_LOST after filling reason. */
enum tally_status tally_mali_reader_read(struct tally_mali_reader *r);
/* Takes all waiting samples. */
void tally_mali_reader_drain(struct tally_mali_reader *r, bool keep);

/* Whether a session of kinstr_prfcnt works, tried once with the shader cores alone: TALLY_OK if
 * it does. *workaround is set where its samples only follow the rules of older kernels. */
enum tally_status
tally_mali_kinstr_try(const struct tally_kbase *dev, bool *workaround, char *reason);

#endif

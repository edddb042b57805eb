/* query/mali/reader.h - one session of counting with kbase: kinstr_prfcnt or vinstr.
 *
 * Two tables of functions over one struct; query/mali/kbase.c chooses. Growth goes into the
 * source's sums, times come as the kernel stamps them. One thread at a time; a read waits for the
 * kernel's dump of the counters, never for the GPU's work.
 */
#ifndef PASSTALLY_QUERY_MALI_READER_H
#define PASSTALLY_QUERY_MALI_READER_H

#include "query/mali/kbase_device.h"

struct tally_mali_reader;

struct tally_mali_reader_ops {
	const char *name; /* "kinstr_prfcnt" */
	uint32_t width_bits;
	/* Ask for a session: the descriptor, and how many values a block has. On error nothing is
	 * left and reason says why. */
	enum tally_status (*open)(struct tally_mali_reader *r);
	/* Count from 0. */
	enum tally_status (*start)(struct tally_mali_reader *r);
	/* Take a sample; what it and waiting ones grew by goes to r->sums. TALLY_OK,
	 * TALLY_NOT_READY, TALLY_LOST after filling reason. */
	enum tally_status (*read)(struct tally_mali_reader *r);
	void (*stop)(struct tally_mali_reader *r);
};
extern const struct tally_mali_reader_ops tally_mali_kinstr;
extern const struct tally_mali_reader_ops tally_mali_vinstr;

/* What a kernel says that a kinstr_prfcnt session can count; indices of enum tally_mali_block. */
struct tally_kinstr_offer {
	uint32_t n_items;
	uint32_t n_blocks; /* instances of all types, those of no interest too */
	uint32_t n_values; /* of a block */
	uint32_t n_instances[TALLY_N_MALI_BLOCKS]; /* 0: no such block */
};

/* How to understand a kinstr_prfcnt sample. */
struct tally_kinstr_format {
	struct tally_kinstr_offer offer;
	uint32_t item_size; /* of a metadata item */
	bool enabled[TALLY_N_MALI_BLOCKS];
	/* Older kernels number cores by their place in the hardware. */
	bool physical_cores;
	uint64_t core_mask;
	/* Bits of a block's state that mean something on this kernel. */
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
	struct tally_mali_sums *sums; /* from start() on */
	int fd;
	const void *map;
	size_t map_size;
	uint32_t n_values; /* of a block */
	uint64_t stamp_ns; /* CLOCK_MONOTONIC_RAW: of the newest sample that was read */
	bool irregular; /* more or fewer samples than one may wait */
	uint32_t n_failures; /* in a row */
	/* kinstr_prfcnt */
	struct tally_kinstr_format format;
	bool has_seq;
	uint64_t next_seq;
	/* vinstr */
	struct tally_mali_dump dump;
	size_t buffer_bytes;
	uint32_t n_buffers;
	char *reason;
	size_t reason_size;
};

/* Unmap and close; no ioctl. */
void tally_mali_reader_close(struct tally_mali_reader *r);
/* Has the kernel ended the session? */
bool tally_mali_reader_is_gone(const struct tally_mali_reader *r);
/* TALLY_LOST, after saying why. */
enum tally_status tally_mali_reader_lose(struct tally_mali_reader *r, const char *what, int error);

/* Whether a session of kinstr_prfcnt works, tried once with the shader cores alone: TALLY_OK, and
 * *workaround is set where its samples follow the rules of older kernels only. */
enum tally_status
tally_mali_kinstr_try(const struct tally_kbase *dev, bool *workaround, char *reason, size_t size);

/* The enumeration list; `why` is a word or two on what is wrong with it. */
bool tally_kinstr_parse_offer(const uint8_t *list, size_t item_size, size_t n_items,
			      struct tally_kinstr_offer *offer, const char **why);
/* The sample whose metadata begins at `offset` of the mapping, which is aligned to 8. Growth goes
 * to `sums` (begun by the caller; NULL: only looked at). */
bool tally_kinstr_parse_sample(const struct tally_kinstr_format *format, const uint8_t *map,
			       size_t map_size, uint64_t offset, struct tally_kinstr_sample *sample,
			       struct tally_mali_sums *sums, const char **why);

#endif

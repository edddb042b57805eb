/* SPDX-License-Identifier: MIT */
/* query/source/snapshot.h - one way to read running totals of counters on the CPU.
 *
 * A snapshot source reports which counters it has, and at any moment their totals. Totals
 * are 64-bit and never decrease: a wrap at the hardware's width is undone here, and readings
 * that clear the hardware's counter are added up. query/sampler/sampler.c is the only caller,
 * one call at a time, on its own threads: errno is not preserved. Nothing here waits for the
 * GPU, and any wait in the kernel is bounded; memory is allocated in probe() and open() only. A
 * source that fails later reports it once and returns TALLY_LOST from then on.
 */
#ifndef PASSTALLY_QUERY_SNAPSHOT_H
#define PASSTALLY_QUERY_SNAPSHOT_H

#include "layer/config/config.h"
#include "query/source/source.h"

#include <stdatomic.h>
#include <stdio.h>

/* A constant of a device, for metrics: "MaliConstantsShaderCoreCount". */
struct tally_constant {
	const char *name;
	double value;
};

/* The readings of one moment; arrays belong to the caller. */
struct tally_totals {
	uint64_t *totals; /* n_counters; start() counts from 0 */
	/* Bit i set: the delta of counter i since the previous sample is unknown
	 * (saturated, block off or protected, descriptor lost); its total increased by the
	 * known part. Cleared by the caller. */
	uint64_t *unknown; /* (n_counters + 63) / 64 words */
	/* CLOCK_MONOTONIC: the totals are those of some moment between these. */
	uint64_t begin_ns, end_ns;
	uint64_t flags; /* TALLY_FLAG(...) of what happened since the previous sample */
};

static inline uint32_t
tally_bit_words(uint32_t n)
{
	return n / 64 + (n % 64 != 0);
}

static inline bool
tally_bit(const uint64_t *words, uint32_t i)
{
	return words[i / 64] >> (i % 64) & 1;
}

static inline void
tally_bit_set(uint64_t *words, uint32_t i)
{
	words[i / 64] |= UINT64_C(1) << (i % 64);
}

#define TALLY_MAX_LEVELS 16
/* A value that applies to all of the time since start() and has no delta, such as the minimum
 * latency. */
struct tally_snapshot_level {
	const struct tally_counter *counter;
	uint64_t value; /* as of the last sample */
	bool known;
};

struct tally_snapshot_source;

/* A PCI address ("0000:03:00.0") as a number; 0: it is none. */
static inline uint64_t
tally_pci_number(const char *text)
{
	unsigned domain, bus, slot, function;
	int used = 0;
	if (!text ||
	    sscanf(text, "%8x:%2x:%2x.%1x%n", &domain, &bus, &slot, &function, &used) != 4 ||
	    text[used])
		return 0;
	return UINT64_C(1) << 63 | (uint64_t)domain << 16 | bus << 8 | slot << 3 | function;
}

/* Complete: no member is NULL. */
struct tally_snapshot_ops {
	const char *name; /* as in the log: "mali-kbase" */
	/* Checks whether the hardware exists and this user may read it. Makes no lasting
	 * changes. On error reason says why, and for TALLY_DENIED what grants access. */
	enum tally_status (*probe)(struct tally_snapshot_source *src);
	/* After probe() returned TALLY_OK: chooses counters by `wanted`, sets the members
	 * below. On error nothing is left allocated. */
	enum tally_status (*open)(struct tally_snapshot_source *src);
	/* Begins to count: the totals are 0 now. */
	enum tally_status (*start)(struct tally_snapshot_source *src);
	/* TALLY_OK; TALLY_NOT_READY: no reading this time, nothing is lost; TALLY_LOST: reason
	 * says why, and only stop() and close() may be called from then on. */
	enum tally_status (*sample)(struct tally_snapshot_source *src, struct tally_totals *out);
	void (*stop)(struct tally_snapshot_source *src);
	void (*close)(struct tally_snapshot_source *src);
	/* In a forked child: closes descriptors and unmaps; makes no ioctl. */
	void (*abandon)(struct tally_snapshot_source *src);
	/* Frees a source that is closed or was never opened. */
	void (*destroy)(struct tally_snapshot_source *src);
};

/* The first member of every source. */
struct tally_snapshot_source {
	const struct tally_snapshot_ops *ops;
	/* Set by open(): what sample() delivers, all of them TALLY_STORAGE_U64 and additive.
	 * They live as long as the process. */
	const struct tally_counter *const *counters;
	uint32_t n_counters;
	/* Bit i: counter i was requested and belongs in the log. The others are only
	 * for metrics. */
	const uint64_t *logged;
	/* Set by open(): constants of the device for metrics, and its counter layout in the
	 * catalogue ("Mali-G715"); NULL when there is none. */
	const struct tally_constant *constants;
	uint32_t n_constants;
	const char *layout;
	uint64_t least_period_ns; /* it cannot be sampled more often than this; 0 = no limit */
	/* Sampled less often than this, it may lose counts; 0 = no limit. */
	uint64_t most_period_ns;
	/* Set by open(): in no log, but inputs to metrics of whole frames; sample()
	 * sets the values. */
	const struct tally_snapshot_level *levels;
	uint32_t n_levels; /* at most TALLY_MAX_LEVELS */
	/* Set by start(): a sample is also due when this descriptor is readable; sample() makes
	 * it unreadable again. NULL: only time decides. */
	const int *due_fd;
	/* Set by open(): it reads the state of a GPU, and not work of the program: frames are
	 * not flagged for missing readings, nor because of other devices. */
	bool of_state;
	/* Set before open(): the PCI address of the GPU whose frames are captured, 0 where it is
	 * not known or there are several. NULL: it is never known. */
	const _Atomic uint64_t *gpu;
	const struct tally_config *config; /* or NULL; valid during probe() and open() */
	const char *wanted; /* --counters list or NULL; valid during open() */
	bool metrics_wanted; /* also count what metrics may need; valid during open() */
	/* Set before open(): wait this long before each reading, for hardware that
	 * reports late (option mali-delay, with --snapshot exact). Sources that do not
	 * need it do not wait. */
	uint64_t settle_ns;
	struct tally_key_table *keys; /* or NULL; valid during open() */
	char reason
		[TALLY_REASON_BYTES]; /* why it is off, or what it lacks; "" = nothing to report */
};

#endif

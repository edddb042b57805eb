/* query/source/snapshot.h - one way to read running totals of counters on the CPU.
 *
 * A snapshot source says what it can count, and at any moment what the totals are. Totals are
 * 64-bit and never go back: wrap by the hardware's width is undone here, reads that clear are
 * added up. query/sampler/sampler.c is the only caller, one call at a time. Nothing here waits
 * for the GPU, and what the kernel makes it wait is bounded; it allocates in probe() and open()
 * only. A source that fails later says so once and answers TALLY_LOST from then on.
 */
#ifndef PASSTALLY_QUERY_SNAPSHOT_H
#define PASSTALLY_QUERY_SNAPSHOT_H

#include "layer/config/config.h"
#include "query/source/source.h"

/* What is constant of a device, for metrics: "MaliConstantsShaderCoreCount". */
struct tally_constant {
	const char *name;
	double value;
};

/* Readings of one moment; arrays are the caller's. */
struct tally_totals {
	uint64_t *totals; /* n_counters; start() counts from 0 */
	/* Bit i set: the growth of counter i since the sample before is not known (saturated,
	 * block off or protected, descriptor lost); its total then stays as it was. Cleared by
	 * the caller. */
	uint64_t *unknown; /* (n_counters + 63) / 64 words */
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC: the totals are true at some moment between */
	uint64_t flags; /* TALLY_FLAG(...) of what happened since the sample before */
};

#define TALLY_MAX_LEVELS 16
/* What holds for all of the time since start() and has no growth: the least latency. */
struct tally_snapshot_level {
	const struct tally_counter *counter;
	uint64_t value; /* as of the last sample */
	bool known;
};

struct tally_snapshot_source;

/* Complete: no member is NULL. */
struct tally_snapshot_ops {
	const char *name; /* as in the log: "mali-kbase" */
	/* Is it there, and may this user read it? Changes nothing that lasts. On error reason says
	 * why, and for TALLY_DENIED what grants it. */
	enum tally_status (*probe)(struct tally_snapshot_source *src);
	/* After probe() was TALLY_OK: choose counters by `wanted`, set what follows below. On error
	 * nothing is left behind. */
	enum tally_status (*open)(struct tally_snapshot_source *src);
	/* Begin to count: the totals are 0 now. */
	enum tally_status (*start)(struct tally_snapshot_source *src);
	/* TALLY_OK; TALLY_NOT_READY: no reading this time, nothing is lost; TALLY_LOST: reason says
	 * why, call no more but stop() and close(). */
	enum tally_status (*sample)(struct tally_snapshot_source *src, struct tally_totals *out);
	void (*stop)(struct tally_snapshot_source *src);
	void (*close)(struct tally_snapshot_source *src);
	/* In a forked child: close descriptors, unmap; no ioctl. */
	void (*abandon)(struct tally_snapshot_source *src);
	/* Free a source that is closed or was never opened. */
	void (*destroy)(struct tally_snapshot_source *src);
};

/* What every source begins with. */
struct tally_snapshot_source {
	const struct tally_snapshot_ops *ops;
	/* Set by open(): what sample() delivers, all TALLY_STORAGE_U64 and adding up. They live as
	 * long as the process. */
	const struct tally_counter *const *counters;
	uint32_t n_counters;
	/* Bit i: counter i was asked for and belongs in the log. The others serve metrics only. */
	const uint64_t *logged;
	/* Set by open(): constants of the device for metrics, and its counter layout in the
	 * catalogue ("Mali-G715"); NULL when there is none. */
	const struct tally_constant *constants;
	uint32_t n_constants;
	const char *layout;
	uint64_t least_period_ns; /* more often than this it can not be sampled; 0 = as one likes */
	uint64_t most_period_ns; /* more seldom than this it may lose counts; 0 = as one likes */
	/* Set by open(), in no log but as inputs to metrics of whole frames; values by sample(). */
	const struct tally_snapshot_level *levels;
	uint32_t n_levels; /* at most TALLY_MAX_LEVELS */
	/* Set by start(): a sample is due, too, when this descriptor can be read from; sample()
	 * sees to it that it no longer can. NULL: time alone tells. */
	const int *due_fd;
	const struct tally_config *config; /* or NULL; valid during probe() and open() */
	const char *wanted; /* --counters list or NULL; valid during open() */
	bool metrics_wanted; /* count what metrics may need too; valid during open() */
	/* Set before open(): wait this long before each reading, for hardware that is late to tell
	 * (option mali-delay, with --snapshot exact). Sources that need it not do not wait. */
	uint64_t settle_ns;
	struct tally_key_table *keys; /* or NULL; valid during open() */
	char reason[256]; /* why it is off, or what it does without; "" = nothing to say */
};

#endif

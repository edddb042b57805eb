/* SPDX-License-Identifier: MIT */
/* query/source/source.h - one way to count GPU work between two points of a pass.
 *
 * A source is used by one thread at a time: the one that owns the GL context or records the
 * command buffer. Between open() and close() nothing here waits for the GPU or prints; memory
 * is allocated only in open() and grow().
 */
#ifndef PASSTALLY_QUERY_SOURCE_H
#define PASSTALLY_QUERY_SOURCE_H

#include <stdlib.h>

#include "query/source/counter_set.h"

/* The answer of a call into a source. */
enum tally_status {
	TALLY_OK = 0,
	TALLY_UNSUPPORTED, /* the driver offers no such query: normal, not an error */
	TALLY_DENIED,      /* it does, but this user may not read it: give the remedy */
	TALLY_NO_MEMORY,
	TALLY_NOT_READY,   /* the GPU is still busy: ask again next frame */
	TALLY_LOST,        /* this result will never come */
};

#define TALLY_REASON_BYTES 256
/* Writes to `reason`, which has that many bytes; returns TALLY_UNSUPPORTED. */
enum tally_status tally_unsupported(char *reason, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Appends to it, after "; " if it is not empty. */
void tally_reason_add(char *reason, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Counters of one interval; arrays belong to the caller, n is the source's n_counters, or that
 * of the set with which the interval was begun. values[i] is valid only when bit i of valid is
 * set, in the unit that counters[i] names. */
struct tally_sample {
	struct tally_value *values;
	uint64_t *valid; /* (n + 63) / 64 words, cleared by the caller */
	uint32_t n;
	/* Filled only by a source with delivers_time: CLOCK_MONOTONIC unless
	 * TALLY_FLAG(UNCALIBRATED) is in flags. */
	bool has_time;
	uint64_t begin_ns, end_ns;
	uint64_t flags; /* TALLY_FLAG(...) bits to add to the pass */
	/* The GPU never did the interval's work: what other sources measured of it is
	 * invalid too. */
	bool undone;
};

/* What a value may be is in its counter's description: takes out those that cannot be, with a flag,
 * and sees to it that values that are missing beside others have one. For results of the GPU, once
 * they are decoded; `counters` are the sample's. */
void tally_sample_check(const struct tally_counter *const *counters, struct tally_sample *out);
/* ORs the first n bits of `from` into `to`, starting at bit `first`. */
void
tally_sample_merge_valid(uint64_t *to, uint32_t first, const uint64_t *from, uint32_t n);

struct tally_source;

/* Complete: no member is NULL (query/source/noop.h has no-ops). */
struct tally_source_ops {
	const char *name;   /* as in the log: "gl-timestamp" */
	bool delivers_time; /* fills sample->begin_ns and end_ns */
	/* Probes the driver, chooses counters from the requested list, reserves `slots` slots.
	 * On error nothing is left allocated and, unless that is TALLY_NO_MEMORY,
	 * src->reason says why, for people. */
	enum tally_status (*open)(struct tally_source *src, uint32_t slots);
	/* Raises the number of slots to `slots` in total (more than before); those in flight
	 * keep their results. On error nothing changes. */
	enum tally_status (*grow)(struct tally_source *src, uint32_t slots);
	/* Returns everything to the driver. Only while the context is current. */
	void (*close)(struct tally_source *src);
	/* The context no longer exists: forgets driver objects, makes no driver calls,
	 * frees memory. */
	void (*abandon)(struct tally_source *src);
	void (*begin)(struct tally_source *src, uint32_t slot);
	void (*end)(struct tally_source *src, uint32_t slot);
	/* Time that belongs to no interval may pass on the GPU (end of frame, a CPU wait): the
	 * next begin must not reuse the last end's timestamp. */
	void (*gap)(struct tally_source *src);
	/* Work continues in the interval that was active at the last gap: without more work,
	 * the gap would have been its end. */
	void (*resume)(struct tally_source *src);
	/* Fetches a finished slot without waiting; the slot is free afterwards. TALLY_NOT_READY
	 * leaves *out untouched; TALLY_LOST frees the slot too. */
	enum tally_status (*read)(struct tally_source *src, uint32_t slot,
				  struct tally_sample *out);
	/* The game is about to use `what` itself (a number of the API: enum tally_gl_use):
	 * gives up passtally's objects that would be in its way. True when there were any and
	 * the source's row changed. Does nothing on a source that is not open. */
	bool (*yield)(struct tally_source *src, unsigned what);
	/* What the driver serializes or disturbs because this source counts, for the device
	 * line; NULL = nothing known. Static. */
	const char *(*serialized_by)(const struct tally_source *src);
};

/* The first member of every source. */
struct tally_source {
	const struct tally_source_ops *ops;
	/* Set by open(): all that may be counted. Static, owned by the source, or
	 * never freed. */
	const struct tally_counter *const *counters;
	uint32_t n_counters;
	/* Set by open(): the sets that take turns; none: `counters` is always counted. */
	const struct tally_counter_set *const *sets;
	uint32_t n_sets;
	const bool *sets_off; /* for each set, whether it has given up since; NULL: none can */
	/* The set that is counted from the next begin on; TALLY_NO_SET: none. Set by
	 * the harvest; open() sets 0. Slots in flight keep the set with which they were begun. */
	uint32_t set;
	uint64_t frame; /* the number of frames that ended; maintained by the harvest */
	/* Sets cannot take turns faster than this, in frames; 0 = in every one. May grow. */
	uint32_t turn_frames;
	/* Set before open(), for a source of time that nobody asked for: it only shows that the GPU
	 * got past the intervals of the others, whose results are not true otherwise. */
	bool unlogged;
	/* Set by the harvest, for a source of time: others count within its intervals. */
	bool guards;
	/* It gave up after open(): nothing more will come of it, and reason says why. */
	bool off;
	const char *wanted; /* --counters list; valid during open() */
	const char *pinned; /* --set or NULL: no other set is requested; valid during open() */
	struct tally_key_table *keys; /* of the context or device, or NULL; valid in open() */
	/* Why the source is off, or what one that is on lacks; "" = nothing to report. */
	char reason[TALLY_REASON_BYTES];
};

/* Frees a source that is not open: never opened, or since closed or abandoned. Accepts NULL.
 * Every concrete source is one allocation that begins with its struct tally_source. */
static inline void
tally_source_destroy(struct tally_source *src)
{
	free(src);
}

#endif

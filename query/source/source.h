/* query/source/source.h - one way to count GPU work between two points of a pass.
 *
 * A source is used by one thread at a time: the one that owns the GL context or records the
 * command buffer. Between open() and close() nothing here waits for the GPU or prints; memory is
 * taken only in open() and grow().
 */
#ifndef PASSTALLY_QUERY_SOURCE_H
#define PASSTALLY_QUERY_SOURCE_H

#include "query/source/counter_set.h"

enum tally_status {
	TALLY_OK = 0,
	TALLY_UNSUPPORTED, /* the driver offers no such query: normal, not a fault */
	TALLY_DENIED,      /* it does, but this user may not read it: tell how to allow it */
	TALLY_NO_MEMORY,
	TALLY_NOT_READY,   /* the GPU is still busy: ask again next frame */
	TALLY_LOST,        /* this result will never come */
};

/* Counters of one interval; arrays belong to the caller, n is the source's n_counters, or that of
 * the set the interval was begun with. values[i] counts only when bit i of valid is set, in the
 * unit counters[i] names. */
struct tally_sample {
	struct tally_value *values;
	uint64_t *valid; /* (n + 63) / 64 words, cleared by the caller */
	uint32_t n;
	/* Filled only by a source with delivers_time: CLOCK_MONOTONIC unless
	 * TALLY_FLAG(UNCALIBRATED) is in flags. */
	bool has_time;
	uint64_t begin_ns, end_ns;
	uint64_t flags; /* TALLY_FLAG(...) bits to add to the pass */
	/* The GPU never did the interval's work: what others measured of it is void too. */
	bool undone;
};

struct tally_source;

/* Complete: no member is NULL (query/source/noop.h has no-ops). */
struct tally_source_ops {
	const char *name;   /* as in the log: "gl-timestamp" */
	bool delivers_time; /* fills sample->begin_ns and end_ns */
	/* Probe the driver, choose counters from the wish list, reserve `slots` slots. On error
	 * nothing is left behind and src->reason says why, for people. */
	enum tally_status (*open)(struct tally_source *src, uint32_t slots);
	/* Slots become `slots` in all (more than before); those in flight keep their results. On
	 * error nothing changes. */
	enum tally_status (*grow)(struct tally_source *src, uint32_t slots);
	/* Give everything back to the driver. Only while the context is current. */
	void (*close)(struct tally_source *src);
	/* The context is gone: forget driver objects, call nothing, free memory. */
	void (*abandon)(struct tally_source *src);
	void (*begin)(struct tally_source *src, uint32_t slot);
	void (*end)(struct tally_source *src, uint32_t slot);
	/* Time may pass on the GPU that belongs to nobody (end of frame, a CPU wait): the next
	 * begin must not reuse the last end's stamp. */
	void (*gap)(struct tally_source *src);
	/* Work goes on in the interval that was running at the last gap: had nothing more come,
	 * the gap would have been its end. */
	void (*resume)(struct tally_source *src);
	/* Fetch a finished slot without waiting; the slot is free afterwards. TALLY_NOT_READY
	 * leaves *out untouched; TALLY_LOST frees the slot too. */
	enum tally_status (*read)(struct tally_source *src, uint32_t slot,
				  struct tally_sample *out);
	/* From the next begin on count src->sets[set], or nothing (TALLY_NO_SET). Slots in flight
	 * keep the set they were begun with. Open, a source counts sets[0]. */
	void (*select)(struct tally_source *src, uint32_t set);
	/* The game is about to use `what` itself (a number of the API's: enum tally_gl_use): give
	 * back what of ours would be in its way. True when that was something and the source's
	 * row changed. Nothing happens on a source that is not open. */
	bool (*yield)(struct tally_source *src, unsigned what);
	/* What the driver serialises or disturbs because this source counts, for the device line;
	 * NULL = nothing known. Static. */
	const char *(*serialized_by)(const struct tally_source *src);
};

/* What every source begins with. */
struct tally_source {
	const struct tally_source_ops *ops;
	/* Set by open(): all that may be counted. Static, the source's, or never freed. */
	const struct tally_counter *const *counters;
	uint32_t n_counters;
	/* Set by open(): what takes turns; none: `counters` is counted always. */
	const struct tally_counter_set *const *sets;
	uint32_t n_sets;
	const bool *sets_off; /* of each, whether it gave up since; NULL: none can */
	uint32_t set; /* kept by select() */
	uint64_t frame; /* how many ended; kept by the harvest */
	/* Sets can not take turns faster than this, in frames; 0 = in every one. May grow. */
	uint32_t turn_frames;
	/* It gave up after open(): nothing more will come of it, and reason says why. */
	bool off;
	const char *wanted; /* --counters list; valid during open() */
	const char *pinned; /* --set or NULL: no other set is asked for; valid during open() */
	struct tally_key_table *keys; /* of the context or device, or NULL; valid during open() */
	/* Why the source is off, or what one that is on has to do without; "" = nothing to say. */
	char reason[256];
};

/* Free a source that is not open: never opened, or since closed or abandoned. Accepts NULL. */
void tally_source_destroy(struct tally_source *src);

#endif

/* SPDX-License-Identifier: MIT */
/* query/attribute/annotate_internal.h - shared by the files of query/attribute/annotate.h: the
 * annotator's devices, and metrics of their frames.
 *
 * Collector thread only; nothing here waits for the GPU. Each device has its own account of
 * each snapshot source; it records how far the device's frames have advanced and what they were
 * given.
 */
#ifndef PASSTALLY_QUERY_ANNOTATE_INTERNAL_H
#define PASSTALLY_QUERY_ANNOTATE_INTERNAL_H

#include "query/attribute/attribute.h"
#include "query/metric/metric.h"
#include "query/sampler/sampler.h"

/* The account of one source for one device. Arrays have n_counters entries. */
struct tally_account {
	const struct tally_snapshot_source *src;
	struct tally_history *history;
	const struct tally_snapshot_level *now; /* levels as of the last reading */
	struct tally_attributor *attributor; /* remembers where its last window ended */
	const struct tally_counter **counters; /* under keys that are unique in the device line */
	bool shown; /* a counter of it is in the log: passes may lack a value */
	bool begun, reported; /* reported: the last frame was given `window`'s deltas */
	uint64_t cursor_ns; /* where the last window ended */
	uint64_t *block;
	uint64_t *growth, *unlogged, *outside; /* see tally_growth_record */
	struct tally_window window; /* the last window */
	struct tally_snapshot_level levels[TALLY_MAX_LEVELS]; /* at the last window's end */
};

/* The parts of the capture's configuration that are used here. */
struct tally_annotate_by {
	const struct tally_config *config;
	struct tally_sampler *sampler; /* or NULL */
	struct tally_metric *own; /* the user's metrics, or NULL */
	uint32_t n_own;
};

struct tally_metric_frame; /* scratch of query/attribute/annotate_metrics.c */

struct tally_annotated {
	struct tally_annotated *next;
	uint32_t number;
	bool off; /* out of memory: frames are not changed */
	bool skipped; /* the last one was not captured */
	bool reported_no_times, uncalibrated;
	uint64_t seen_ns; /* when its last frame with passes ended, at first when it appeared */
	uint64_t n_frames, n_untimed; /* with passes; the latest consecutive untimed ones */
	struct tally_account accounts[TALLY_MAX_SNAPSHOT_SOURCES];
	uint32_t n_accounts;
	uint32_t n_logged, n_hidden; /* counters of all accounts */
	struct tally_metric_set *metrics; /* or NULL: none */
	struct tally_metric_frame *sums; /* exists together with metrics */
	/* The device line. */
	struct tally_device_record line;
	struct tally_device_record *info; /* as last reported; one allocation */
	uint32_t rows; /* of the sampler and those of them that are on, when it was created */
	struct tally_source_info *sources;
	const struct tally_counter **counters;
	struct tally_metric_info *infos;
	char *serialized_by;
};

/* Memory for one frame, as large as the largest one so far needed. All zeros is empty. */
struct tally_scratch {
	/* The passes that deltas are divided among: all, or none if there are too many. */
	uint32_t n_shared;
	struct tally_work *work; /* n_shared entries */
	struct tally_share *shares; /* ordered by source, then by pass */
	uint64_t *numbers; /* the shares point into these */
	struct tally_keyed_value *values;
	uint32_t *n_own; /* per pass: counters that are not from snapshots */
	size_t max_work, max_shares, max_numbers, max_values, max_own, n_values;
};

#endif

/* SPDX-License-Identifier: MIT */
/* cli/export/export.h - declarations that the formats of `passtally export` share.
 *
 * A format receives the records of a log one by one and writes to a stream. Names of passes and
 * what is known of devices come from the summary of the log up to there, which keeps no values of
 * passes. One thread. Missing values are never invented: an item without a place in time is not
 * drawn but counted.
 */
#ifndef PASSTALLY_CLI_EXPORT_H
#define PASSTALLY_CLI_EXPORT_H

#include "cli/log/aggregate.h"

#include <glib.h>
#include <stdio.h>

struct tally_export; /* one format being written; only its own file knows the contents */

/* Counts of items without a place in time, which could not be drawn. */
struct tally_export_left {
	uint64_t passes, workloads;
};

struct tally_export_options {
	bool no_counters; /* leave out the tracks, or rows, of counters and metrics */
	const struct tally_aggregate *log; /* up to the line that is written */
	GHashTable *keys; /* a set of struct tally_export_key *, of the devices up to there */
};

struct tally_export_format {
	bool binary; /* not suitable for a terminal */
	/* `options` outlives the format. */
	struct tally_export *(*begin)(FILE *out, const struct tally_export_options *options);
	/* Each line except frames. */
	void (*line)(struct tally_export *e, const struct tally_log_line *line);
	void (*frame)(struct tally_export *e, const struct tally_frame_record *frame);
	/* Writes the end of the file and frees everything. */
	void (*end)(struct tally_export *e, struct tally_export_left *left);
};

extern const struct tally_export_format tally_export_perfetto, tally_export_csv;

#endif

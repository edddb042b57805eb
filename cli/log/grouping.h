/* SPDX-License-Identifier: MIT */
/* cli/log/grouping.h - what a row of a log's summary is: a pass, a label, a frame, a workload,
 * a pipeline.
 *
 * A grouping is a file by_NAME.c and a row of grouping.c; `report --by` takes its
 * word. Its `add` decides in which rows the passes of a frame count, and adds their values by the
 * functions of rows.h. A row's type begins with struct tally_group. One thread.
 */
#ifndef PASSTALLY_CLI_LOG_GROUPING_H
#define PASSTALLY_CLI_LOG_GROUPING_H

#include "cli/log/aggregate.h"

struct tally_grouping {
	const char *word; /* of --by */
	const char *columns; /* of a table for 80 columns */
	const char *none; /* what to do where a log has no row, after its name; NULL = nothing */
	const char *untimed; /* why no row has a time; NULL = the flags say it */
	bool frames; /* a row is a frame: its values are the frame's own */
	bool passes; /* a row is a pass: rare ones without a time are folded */
	bool parts; /* a row is a part of a pass, and work outside passes has none */
	GHashTable *only; /* by frame: ids of the passes that count; NULL = all */
	size_t row_bytes;
	/* Adds a frame that counts: its passes, and what was measured outside them. */
	void (*add)(struct tally_aggregate *a, struct tally_device_summary *d,
		    const struct tally_frame_record *f);
};

extern const struct tally_grouping tally_by_pass, tally_by_label, tally_by_frame, tally_by_workload,
	tally_by_pipeline;
/* NULL: there is none of that word. */
const struct tally_grouping *tally_grouping_find(const char *word);

#endif

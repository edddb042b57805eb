/* SPDX-License-Identifier: MIT */
/* cli/log/aggregate_parts.h - shared by the files of a log's summary; private to them.
 *
 * aggregate.c reads lines, and keeps notes and marks; rows.c makes rows and adds values,
 * by_*.c decide what a row is; device_summary.c keeps what concerns a device, and numbers counters
 * and metrics. One thread.
 */
#ifndef PASSTALLY_CLI_AGGREGATE_PARTS_H
#define PASSTALLY_CLI_AGGREGATE_PARTS_H

#include "cli/log/grouping.h"
#include "cli/log/pass_name.h"

/* A mark that waits for its frame, which follows it in the log. */
struct tally_mark {
	uint64_t ns;
	guint note; /* index among the notes */
};

struct tally_notes {
	GHashTable *set;
	GArray *marks; /* elements: struct tally_mark, those whose frame was not read yet */
	uint64_t first_ns; /* the first point in time in the log, 0: none yet */
};

struct tally_pipeline_name {
	const char *text;
	enum tally_pass_kind kind;
	bool measured; /* the driver said what it was compiled to */
	uint64_t instructions, spills;
};

struct tally_groups {
	struct tally_pass_names names;
	GHashTable *by_id; /* maps struct tally_pass_key * to struct tally_group * */
	GHashTable *by_label; /* maps "device|name" to struct tally_group * */
	GHashTable *pipelines; /* maps struct tally_pass_key * to a row */
	GHashTable *pipeline_names; /* maps an id to struct tally_pipeline_name * */
	GHashTable *workloads; /* a set of struct tally_workload_row * */
	GPtrArray *named; /* elements: struct tally_pass_row *, which are no rows of the summary */
	GStringChunk *texts; /* of rows */
};

struct tally_aggregate_state {
	GHashTable *keys; /* maps the reader's key pointer to the index of a key + 1 */
	struct tally_groups groups;
	struct tally_notes notes;
	GHashTable *devices; /* maps a number to struct tally_device_summary * */
	struct tally_warmup *warmup; /* NULL: a->warmup is a number */
	GPtrArray *touched; /* groups of the frame being read */
};

#endif

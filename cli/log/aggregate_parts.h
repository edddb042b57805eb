/* SPDX-License-Identifier: MIT */
/* cli/log/aggregate_parts.h - shared by the files of a log's summary; private to them.
 *
 * aggregate.c reads lines; rows.c makes rows and adds values, by_*.c decide what a row is; keys.c
 * numbers counters and metrics; device_summary.c keeps what concerns a device; notes.c keeps notes
 * and marks. One thread.
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

/* keys.c */

/* The index of a key among a->keys, added where it is new. */
uint32_t tally_aggregate_key(struct tally_aggregate *a, const char *key, bool metric);

/* device_summary.c */

void tally_device_summary_destroy(gpointer summary);
/* Begins anew what concerns frames. */
void tally_device_summary_forget(struct tally_device_summary *d);
/* The summary of a device, created where its number is new. */
struct tally_device_summary *
tally_aggregate_need_device(struct tally_aggregate *a, uint32_t number);
/* A device line. */
void tally_device_summary_read(struct tally_aggregate *a, const struct tally_device_record *r);
/* A frame line that is not left out. */
void tally_device_summary_count(struct tally_device_summary *d, const struct tally_frame_record *f);
/* The queue of a pass, for its device and its group. */
void tally_device_summary_add_queue(struct tally_aggregate *a, struct tally_device_summary *d,
				    struct tally_group *g, const struct tally_pass_record *p);

/* notes.c */

void tally_notes_init(struct tally_aggregate *a);
void tally_notes_finish(struct tally_aggregate *a);
/* A note line; a mark gets its point in time. */
void tally_notes_add(struct tally_aggregate *a, const struct tally_note_record *r);
/* A frame was read: the marks in it get its number. */
void tally_notes_add_frame(struct tally_aggregate *a, const struct tally_frame_record *f);

#endif

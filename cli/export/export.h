/* SPDX-License-Identifier: MIT */
/* cli/export/export.h - declarations that the formats of `passtally export` share.
 *
 * A format receives the records of a log one by one and writes to a stream. Memory grows
 * with the number of passes, tracks and keys in a log, never with its frames. One thread.
 * Missing values are never invented: an item without a place in time is not drawn but
 * counted.
 */
#ifndef PASSTALLY_CLI_EXPORT_H
#define PASSTALLY_CLI_EXPORT_H

#include "cli/log/pass_name.h"
#include "json/record_json.h"

#include <glib.h>
#include <stdio.h>

struct tally_export; /* one format being written; only its own file knows the contents */

/* Counts of items without a place in time, which could not be drawn. */
struct tally_export_left {
	uint64_t passes, workloads;
};

struct tally_export_options {
	bool no_counters; /* leave out the tracks, or rows, of counters and metrics */
};

struct tally_export_format {
	const char *name; /* name of the command-line option */
	bool binary; /* not suitable for a terminal */
	struct tally_export *(*begin)(FILE *out, const struct tally_export_options *options);
	void (*line)(struct tally_export *e, const struct tally_log_line *line);
	/* Writes the end of the file and frees everything. */
	void (*end)(struct tally_export *e, struct tally_export_left *left);
};

extern const struct tally_export_format tally_export_perfetto, tally_export_csv;

/* Names for people, the same as in `passtally report`, and what keys mean (cli/export/names.c). */
struct tally_export_names {
	struct tally_pass_names passes;
	GHashTable *names; /* maps struct tally_pass_key to char * */
	GHashTable *keys; /* a set of struct tally_export_key * */
};
void tally_export_names_init(struct tally_export_names *names);
void tally_export_names_finish(struct tally_export_names *names);
/* Reads a device or a pass_info line; a later line replaces an earlier one. */
void tally_export_names_read(struct tally_export_names *names, const struct tally_log_line *line);
/* Returns the same pointer for the same pass of a device as long as `names` lives. */
const char *tally_export_names_find(struct tally_export_names *names, uint32_t device,
				    const struct tally_pass_record *pass);
/* The lane that a pass ran on: "queue 0.1", "context 2" or "no context". */
void tally_export_lane_name(const struct tally_pass_record *pass, char *out, size_t size);

/* Description of a key; a member is NULL where the log does not state it. Interned (GLib). */
struct tally_export_key {
	const char *key; /* the reader's: equal ones are one pointer */
	uint32_t device;
	const char *unit, *source, *description;
};
/* NULL: the log does not describe the key. */
const struct tally_export_key *
tally_export_names_key(const struct tally_export_names *names, uint32_t device, const char *key);

#endif

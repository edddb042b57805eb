/* cli/export/export.h - what the formats of `passtally export` share.
 *
 * A format is handed one record of a log after the other and writes to a stream. Memory grows with
 * the number of passes, tracks and keys that a log has, never with its frames. One thread. Absent
 * stays absent: what cannot be placed in time is not drawn, and counted.
 */
#ifndef PASSTALLY_CLI_EXPORT_H
#define PASSTALLY_CLI_EXPORT_H

#include "json/record_json.h"

#include <glib.h>
#include <stdio.h>

struct tally_export; /* one format being written; its own file knows what is in it */

/* What has no place in time and could not be drawn. */
struct tally_export_left {
	uint64_t passes, workloads;
};

struct tally_export_format {
	const char *name; /* the option's */
	bool binary; /* not for a terminal */
	struct tally_export *(*begin)(FILE *out);
	void (*line)(struct tally_export *e, const struct tally_log_line *line);
	/* Write what stands at the end and free it all. */
	void (*end)(struct tally_export *e, struct tally_export_left *left);
};

extern const struct tally_export_format tally_export_perfetto, tally_export_chrome,
	tally_export_csv;

/* Names for people, as `passtally report` gives them (cli/export/names.c). */
struct tally_export_names;
struct tally_export_names *tally_export_names_create(void);
void tally_export_names_destroy(struct tally_export_names *names);
void
tally_export_names_add(struct tally_export_names *names, const struct tally_pass_info_record *info);
/* The same pointer for the same pass of a device, for the life of `names`. */
const char *tally_export_names_find(struct tally_export_names *names, uint32_t device,
				    const struct tally_pass_record *pass);
/* Where a pass ran: "queue 0.1", "context 2" or "no context". */
void tally_export_lane_name(const struct tally_pass_record *pass, char *out, size_t size);

/* What is known of a key; NULL members where a log does not say. */
struct tally_export_key {
	char *unit, *source, *description;
	bool metric;
};
/* By device and key (cli/export/names.c). A later device line replaces what an earlier said. */
void tally_export_names_add_device(struct tally_export_names *names,
				   const struct tally_device_record *device);
/* NULL: the log describes no such key. */
const struct tally_export_key *
tally_export_names_key(const struct tally_export_names *names, uint32_t device, const char *key);

/* Everything a record says beside its times and name, one by one (cli/export/args.c): to be shown
 * with what is drawn. Prefixes "counters." and "metrics." mark what is not a field of its own. */
struct tally_export_arg {
	const char *prefix; /* "" or one that ends in a point */
	const char *key;
	const char *text; /* or NULL: `value` */
	struct tally_value value;
};
typedef void tally_export_see(void *user, const struct tally_export_arg *arg);
void
tally_export_see_frame(const struct tally_frame_record *frame, tally_export_see *see, void *user);
/* Only what tells which pass it is. */
void
tally_export_see_identity(const struct tally_pass_record *pass, tally_export_see *see, void *user);
void tally_export_see_pass(const struct tally_pass_record *pass, tally_export_see *see, void *user);
void tally_export_see_workload(const struct tally_workload_record *workload, tally_export_see *see,
			       void *user);

#endif

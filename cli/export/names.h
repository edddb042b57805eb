/* SPDX-License-Identifier: MIT */
/* cli/export/names.h - what a log calls its passes, lanes and keys, for what is exported.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_EXPORT_NAMES_H
#define PASSTALLY_CLI_EXPORT_NAMES_H

#include "cli/export/export.h"

/* The name of a pass for people, the same as in `passtally report`. */
const char *
tally_export_name(const struct tally_export_options *options, uint32_t device,
		  const struct tally_pass_record *pass);
/* The lane that a pass ran on: "queue 0.1", "context 2" or "no context". */
void tally_export_lane_name(const struct tally_pass_record *pass, char *out, size_t size);

/* Description of a key; a member is NULL where the log does not state it. Interned (GLib). */
struct tally_export_key {
	const char *key; /* the reader's: equal ones are one pointer */
	uint32_t device;
	const char *unit, *source, *description;
};
GHashTable *tally_export_keys_new(void);
/* A later device line replaces an earlier one. */
void tally_export_keys_read(GHashTable *keys, const struct tally_device_record *device);
/* NULL: the log does not describe the key. */
const struct tally_export_key *
tally_export_key(const struct tally_export_options *options, uint32_t device,
		 const char *key);

#endif

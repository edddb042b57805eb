/* SPDX-License-Identifier: MIT */
/* cli/selftest/reading.h - what a law looks at: a whole log in memory, and what a scene expects.
 *
 * Both are small: a few frames of a few passes. Strings are interned (GLib) and live as long as
 * the process; everything else is freed by the functions below. One thread.
 */
#ifndef PASSTALLY_CLI_SELFTEST_READING_H
#define PASSTALLY_CLI_SELFTEST_READING_H

#include "json/record_json.h"

#include <glib.h>

struct tally_seen_frame {
	guint number; /* from 0 */
	struct tally_frame_record record; /* its pointers are not valid */
	const char *set; /* NULL = the only one */
	struct tally_pass_record
		*passes; /* counters are copies; other pointers are not valid */
	uint32_t n_passes;
	struct tally_keyed_value *unattributed;
};

struct tally_seen_log {
	bool found; /* a device of the API is there, to which the members below belong */
	uint32_t device;
	GPtrArray *
		counters; /* elements: struct tally_counter *, without its name */
	GArray *frames; /* elements: struct tally_seen_frame, those that a boundary ended */
	char *error; /* why the log could not be read; NULL = it was, to its end line */
};

/* Reads the frames of the first device of OpenGL (or OpenGL ES), or of Vulkan. */
void tally_seen_read(struct tally_seen_log *log, const char *path, bool vulkan);
void tally_seen_clear(struct tally_seen_log *log);
/* NULL: the device has no such counter. */
const struct tally_counter *
tally_seen_counter(const struct tally_seen_log *log, const char *key);
/* NULL: it was not counted. */
const struct tally_value *
tally_seen_value(const struct tally_pass_record *pass, const char *key);

/* What `--expect` of the scenes' programs prints: a text that they made, not any JSON. */
struct tally_expected {
	char **passes; /* a text for each, NULL-terminated */
	char *boundary; /* the option frame=; NULL = none is said */
};
bool tally_expected_read(struct tally_expected *expected, const char *json);
void tally_expected_clear(struct tally_expected *expected);
/* False: nothing is stated. `group` names the object that holds the key, NULL = the pass. */
bool tally_expected_number(const char *pass, const char *group, const char *key,
			   int64_t *out);
/* The word; NULL = none is stated. The caller frees it. */
char *tally_expected_word(const char *pass, const char *key);

#endif

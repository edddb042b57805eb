/* SPDX-License-Identifier: MIT */
/* layer/config/microblaze_options.h - option `microblaze`: where a debug module is, and what it
 * has.
 *
 * Words with '+' or ',' between them: "path=uio0+width=48+events=instructions:cycles". No
 * register shows how many counters a core has or how wide they are, and some facts about the
 * debug module were written from memory, not from its manual: each of these is a word with a
 * documented default (docs/microblaze.md). Plain data; any thread; nothing blocks.
 */
#ifndef PASSTALLY_LAYER_CONFIG_MICROBLAZE_OPTIONS_H
#define PASSTALLY_LAYER_CONFIG_MICROBLAZE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_MICROBLAZE_MAX_EVENT_COUNTERS 48u
#define TALLY_MICROBLAZE_MAX_LATENCY_COUNTERS 7u

enum tally_microblaze_access {
	TALLY_MICROBLAZE_AUTO = 0, /* as the device tree says, else parallel */
	TALLY_MICROBLAZE_PARALLEL,
	TALLY_MICROBLAZE_SERIAL,
};

/* The words that were given: the others may come from the device tree. */
enum {
	TALLY_MICROBLAZE_SAID_BASE = 1u << 0,
	TALLY_MICROBLAZE_SAID_NE = 1u << 1,
	TALLY_MICROBLAZE_SAID_NL = 1u << 2,
	TALLY_MICROBLAZE_SAID_WIDTH = 1u << 3,
	TALLY_MICROBLAZE_SAID_PORTS = 1u << 4,
	TALLY_MICROBLAZE_SAID_UNLOCK = 1u << 5,
};

struct tally_microblaze_options {
	bool on; /* some word was given: the hardware may be accessed */
	uint32_t said;
	char path[128]; /* "/dev/uio0", "/dev/mem"; "": look for it */
	uint64_t base; /* physical, for /dev/mem; offset into the map of a UIO device */
	enum tally_microblaze_access access;
	uint32_t ne, nl, width;
	uint32_t ports, core;
	uint32_t unlock; /* key of DBG_LOCK */
	uint32_t take; /* bits 19:18 of DBG_CTRL */
	bool check; /* check at the start whether ne, nl and width are right */
	uint64_t interval; /* sample after this many cycles; 0: by time */
	/* Names or numbers with ':' between them; "": passtally chooses. */
	char events[512], latency[256];
};

/* False: `why` has a sentence that lists what is valid, and *out is unchanged. */
bool tally_microblaze_options_parse(struct tally_microblaze_options *out, const char *text,
				    char *why, size_t size);
/* Prints the words that would set the options, for those that differ from the default; "off" if
 * none was given. Returns the length, as snprintf() does. */
size_t
tally_microblaze_options_print(const struct tally_microblaze_options *o, char *out, size_t size);

#endif

/* SPDX-License-Identifier: MIT */
/* query/microblaze/options.h - the words of option `microblaze`: "path=uio0+width=48".
 *
 * They say where a debug module is, and its properties. No register shows how many counters a core
 * has or how wide they are, and some facts about the debug module were written from memory, not
 * from its manual: each of these is a word with a documented default (docs/microblaze.md).
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_OPTIONS_H
#define PASSTALLY_QUERY_MICROBLAZE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_MB_MAX_EVENTS 48u
#define TALLY_MB_MAX_LATENCIES 7u

enum tally_mb_access {
	TALLY_MB_AUTO = 0, /* as the device tree says, else parallel */
	TALLY_MB_PARALLEL,
	TALLY_MB_SERIAL,
};

/* The words that were given: the others may come from the device tree. */
enum {
	TALLY_MB_SAID_BASE = 1u << 0,
	TALLY_MB_SAID_NE = 1u << 1,
	TALLY_MB_SAID_NL = 1u << 2,
	TALLY_MB_SAID_WIDTH = 1u << 3,
	TALLY_MB_SAID_PORTS = 1u << 4,
	TALLY_MB_SAID_UNLOCK = 1u << 5,
};

struct tally_mb_options {
	bool on; /* some word was given: the hardware may be accessed */
	uint32_t said;
	char path[128]; /* "/dev/uio0", "/dev/mem"; "": look for it */
	uint64_t base; /* physical, for /dev/mem; offset into the map of a UIO device */
	enum tally_mb_access access;
	uint32_t ne, nl, width;
	uint32_t ports, core;
	uint32_t unlock; /* key of DBG_LOCK */
	uint32_t take; /* bits 19:18 of DBG_CTRL */
	bool check; /* check at the start whether ne, nl and width are right */
	uint64_t interval; /* sample after this many cycles; 0: by time */
	/* Names or numbers separated by ':'; "": passtally chooses. */
	char events[512], latency[256];
};

/* Reads words with + or a comma between them; NULL and "off" turn the source off. False: `why`
 * has a sentence that lists what is valid, and *out is unchanged. Any thread. */
bool tally_mb_options_parse(struct tally_mb_options *out, const char *text, char *why,
			    size_t size);

#endif

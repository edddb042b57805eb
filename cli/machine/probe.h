/* SPDX-License-Identifier: MIT */
/* cli/machine/probe.h - runs the probes in a child process, because a driver may crash its
 * process.
 *
 * The child's findings come back as a log, which is read like any other. One thread; may
 * take as long as a driver needs to start, at most 30 s per API: after 2 s a line on standard
 * error, if that is a terminal, says what it waits for.
 */
#ifndef PASSTALLY_CLI_PROBE_H
#define PASSTALLY_CLI_PROBE_H

#include "json/record_json.h"
#include "query/source/counter_set.h"

/* One device; valid during the callback that reports it. */
struct tally_probe_found {
	const struct tally_device_record *device;
	/* Sentences for people, terminated by NULL; the first one says where the device was
	 * found or what it is. */
	const char *const *facts;
	/* The sets of a rotation, in order, one per captured frame. Counters that are always
	 * counted are in none of them, even where a layout lists them. */
	const struct tally_counter_set *const *sets;
	uint32_t n_sets;
};

typedef void tally_probe_report(void *data, const struct tally_probe_found *found);

/* The options of a run: --counters, and --set or NULL. */
struct tally_probe_wish {
	const char *counters, *set;
};

/* Reports each device. False: nothing was found; `why` holds a sentence for people. */
bool tally_probe(enum tally_api api, const struct tally_probe_wish *wish,
		 tally_probe_report *report, void *data, char *why, size_t size);

/* In a child that is to call drivers: they print to the standard streams, and that must not
 * become part of our output. */
void tally_probe_silence(void);

/* The source that the set belongs to; the set must have counters. */
const char *tally_probe_set_source(const struct tally_counter_set *set);

#endif

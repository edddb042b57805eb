/* cli/machine/probe.h - run the probes in a child process, for a driver may take its process
 * with it.
 *
 * What the child finds comes back as a log, read like any other. One thread; may take as
 * long as a driver needs to start, at most 30 s an API.
 */
#ifndef PASSTALLY_CLI_PROBE_H
#define PASSTALLY_CLI_PROBE_H

#include "json/record_json.h"
#include "query/source/counter_set.h"

/* One device; valid during the call that tells of it. */
struct tally_probe_found {
	const struct tally_device_record *device;
	/* Sentences for people, ended by NULL; the first one says where it was seen or what it
	 * is. */
	const char *const *facts;
	/* What takes turns, in that order: one captured frame each. What counts always is in
	 * none of them, even where a layout says so. */
	const struct tally_counter_set *const *sets;
	uint32_t n_sets;
};

typedef void tally_probe_report(void *data, const struct tally_probe_found *found);

/* What a run would be asked for: --counters, and --set or NULL. */
struct tally_probe_wish {
	const char *counters, *set;
};

/* Tells of each device. False: nothing was found; `why` holds a sentence for people. */
bool tally_probe(enum tally_api api, const struct tally_probe_wish *wish,
		 tally_probe_report *report, void *data, char *why, size_t size);

/* The source whose set it is; it has counters. */
const char *tally_probe_set_source(const struct tally_counter_set *set);

#endif

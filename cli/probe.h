/* cli/probe.h - run the probes in a child process, for a driver may take its process with it.
 *
 * What the child finds comes back as a log, read like any other. One thread; may take as long as a
 * driver needs to start, at most 30 s an API.
 */
#ifndef PASSTALLY_CLI_PROBE_H
#define PASSTALLY_CLI_PROBE_H

#include "json/record_json.h"

/* Told of each device found; the record is valid during the call. `facts`: sentences for people,
 * ended by NULL; the first one says where it was seen or what it is. */
typedef void
tally_probe_device(void *data, const struct tally_device_record *device, const char *const *facts);

/* False: nothing was found; `why` holds a sentence for people. */
bool tally_probe(enum tally_api api, const char *counters, tally_probe_device *device, void *data,
		 char *why, size_t size);

#endif

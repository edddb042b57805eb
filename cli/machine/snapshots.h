/* cli/machine/snapshots.h - what snapshot sources this machine has, and what they count.
 *
 * They ask the kernel, not a driver's library, so they are probed in this process: opened,
 * looked at, and closed again. One that is told only by its values whether it is what it
 * should be counts for a moment, too. Options are those of the configuration files and the
 * environment. One thread.
 */
#ifndef PASSTALLY_CLI_SNAPSHOTS_H
#define PASSTALLY_CLI_SNAPSHOTS_H

#include "layer/record.h"
#include "query/source/source.h"
#include "query/sources.h"

#include <glib.h>

/* One source, on or off; what it names lives as long as the list. */
struct tally_snapshot_found {
	const struct tally_snapshot_source_row *row;
	struct tally_source_info info;
	enum tally_status status;
	const struct tally_counter **counters; /* those that a log would hold */
	uint32_t n_counters;
	char reason[256];
};

struct tally_snapshots {
	struct tally_snapshot_found found[TALLY_MAX_SNAPSHOT_SOURCES];
	uint32_t n;
};

/* `counters`: as of --counters. */
void tally_snapshots_find(struct tally_snapshots *s, const char *counters);
void tally_snapshots_finish(struct tally_snapshots *s);

/* The device as a log would name it, their sources and counters included. It lives as long
 * as both; tally_snapshots_free_device() frees what was added. */
struct tally_device_record
tally_snapshots_add(const struct tally_snapshots *s, const struct tally_device_record *device);
void tally_snapshots_free_device(struct tally_device_record *device);

#endif

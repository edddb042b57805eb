/* SPDX-License-Identifier: MIT */
/* cli/machine/snapshots.h - finds the snapshot sources of this machine, and what they count.
 *
 * They query the kernel, not a driver's library, so they are probed in this process: opened,
 * examined and closed again. A source whose correct operation shows only in its values also
 * counts for a short interval. Options are those of the configuration files and the
 * environment. One thread.
 */
#ifndef PASSTALLY_CLI_SNAPSHOTS_H
#define PASSTALLY_CLI_SNAPSHOTS_H

#include "layer/record.h"
#include "query/source/source.h"
#include "query/sources.h"

#include <glib.h>

/* One source, on or off; the strings it refers to live as long as the list. */
struct tally_snapshot_found {
	const struct tally_snapshot_source_row *row;
	struct tally_source_info info;
	enum tally_status status;
	const struct tally_counter **counters; /* the counters that a log would contain */
	uint32_t n_counters;
	char reason[256];
};

struct tally_snapshots {
	struct tally_snapshot_found found[TALLY_MAX_SNAPSHOT_SOURCES];
	uint32_t n;
};

/* `counters`: the list, as in --counters. */
void tally_snapshots_find(struct tally_snapshots *s, const char *counters);
void tally_snapshots_finish(struct tally_snapshots *s);

/* The device as a log would describe it, including the snapshot sources and their counters.
 * It is valid as long as both arguments; tally_snapshots_free_device() frees what was added. */
struct tally_device_record
tally_snapshots_add(const struct tally_snapshots *s, const struct tally_device_record *device);
void tally_snapshots_free_device(struct tally_device_record *device);

#endif

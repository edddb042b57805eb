/* SPDX-License-Identifier: MIT */
/* cli/machine/ask.h - what the drivers of this machine offer: the device lines of a capture of a
 * program that makes a device and draws nothing to speak of.
 *
 * One thread; blocks as long as a driver needs to start, at most 30 s per API, and 10 for the
 * display.
 */
#ifndef PASSTALLY_CLI_ASK_H
#define PASSTALLY_CLI_ASK_H

#include "layer/record.h"
#include "query/sources.h"

#include <stdbool.h>
#include <stddef.h>

/* The options of a run: --counters, and --set or NULL. */
struct tally_ask_wish {
	const char *counters, *set;
	bool snapshots; /* also the sources that the CPU reads, which every device's line has */
};

#define TALLY_ASK_DISPLAY "display"
/* Where an OpenGL context could be made: the arguments of the scenes' program, and for people. */
struct tally_ask_place {
	const char *words[2], *name;
};

/* One device, as its line says it; valid during the call. `place` is NULL for Vulkan. */
typedef void tally_ask_report(void *data, const struct tally_device_record *device,
			      const struct tally_ask_place *place);

/* Reports each device. False: nothing was found; `why` holds a sentence for people. */
bool tally_ask(enum tally_api api, const struct tally_ask_wish *wish, tally_ask_report *report,
	       void *data, char *why, size_t size);

/* The row of a source that the CPU reads; NULL: it is one of the device. */
const struct tally_snapshot_source_row *tally_ask_snapshot(const char *source);

#endif

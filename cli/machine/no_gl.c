/* SPDX-License-Identifier: MIT */
/* Replaces probe_gl.c where passtally is built without the driver probes. */
#include "cli/machine/probe.h"

#include <stdio.h>

bool
tally_probe_gl(enum tally_api api, const struct tally_probe_wish *wish,
	       tally_probe_report *report, void *data, char *why, size_t size)
{
	(void)wish;
	(void)report;
	(void)data;
	snprintf(why, size,
		 "%s: this passtally was built without asking drivers (meson configure "
		 "-Dprobe=enabled)",
		 tally_api_name(api));
	return false;
}

enum tally_tiles
tally_probe_gl_tiles(bool (*meet)(void *data, const char *name, bool named), void *data)
{
	(void)meet;
	(void)data;
	return TALLY_TILES_UNKNOWN;
}

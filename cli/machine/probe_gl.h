/* SPDX-License-Identifier: MIT */
/* cli/machine/probe_gl.h - reports which OpenGL sources and counters this machine offers.
 *
 * It makes a context of its own through EGL (on the display, else on the first device, else
 * without any), opens the sources of query/ on it and closes everything again. Drivers may
 * crash, and libepoxy aborts if it finds no EGL, so call this in a process that may die
 * (cli/machine/probe.h). One thread.
 */
#ifndef PASSTALLY_CLI_PROBE_GL_H
#define PASSTALLY_CLI_PROBE_GL_H

#include "cli/machine/probe.h"

/* Probes one API. False: no context of that API could be made; `why` lists the attempts. */
bool tally_probe_gl(enum tally_api api, uint32_t number, const struct tally_probe_wish *wish,
		    tally_probe_report *report, void *data, char *why, size_t size);

#endif

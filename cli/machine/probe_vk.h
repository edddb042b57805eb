/* SPDX-License-Identifier: MIT */
/* cli/machine/probe_vk.h - reports which Vulkan devices this machine has, and what they can
 * count.
 *
 * It opens Vulkan's loader with dlopen(), creates a device on each GPU as a capture would,
 * opens the sources of query/ on it and closes everything again. Drivers may crash or hang,
 * so call this in a process that may die (cli/machine/probe.h). One thread. Nothing is
 * submitted to any queue.
 */
#ifndef PASSTALLY_CLI_PROBE_VK_H
#define PASSTALLY_CLI_PROBE_VK_H

#include "cli/machine/probe.h"

/* `counters` is the list to choose from, as in --counters. False: no device; `why` says why. */
bool tally_probe_vk(const char *counters, tally_probe_report *report, void *data, char *why,
		    size_t size);

/* Whether a Vulkan instance created here loads the library with that file name. False: see
 * `why`. */
bool tally_probe_vk_loads(const char *library, char *why, size_t size);

#endif

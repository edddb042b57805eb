/* SPDX-License-Identifier: MIT */
/* Replaces probe_vk.c where passtally is built without Vulkan's headers or vk.xml, or
 * without the driver probes. */
#include "cli/machine/probe.h"

#include <stdio.h>

#define WITHOUT \
	"this passtally was built without Vulkan or without asking drivers (meson configure " \
	"-Dvulkan=enabled -Dprobe=enabled)"

bool
tally_probe_vk(const char *counters, tally_probe_report *report, void *data, char *why,
	       size_t size)
{
	(void)counters;
	(void)report;
	(void)data;
	snprintf(why, size, "%s", WITHOUT);
	return false;
}

bool
tally_probe_vk_loads(const char *library, char *why, size_t size)
{
	(void)library;
	snprintf(why, size, "%s", WITHOUT);
	return false;
}

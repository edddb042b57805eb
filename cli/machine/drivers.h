/* SPDX-License-Identifier: MIT */
/* cli/machine/drivers.h - what drivers report: sources, counters, and how they draw.
 *
 * OpenGL is queried through an EGL context (on the display, else on the first device, else
 * without any), Vulkan through its loader, which dlopen() opens, and a device on each GPU as a
 * capture would make it; nothing is submitted to its queues. The sources of query/ are opened
 * there, and everything is closed again. Drivers may crash or hang, and libepoxy aborts if it finds
 * no EGL, so call this in a process that may die (cli/machine/probe.h). One thread.
 */
#ifndef PASSTALLY_CLI_DRIVERS_H
#define PASSTALLY_CLI_DRIVERS_H

#include "cli/machine/probe.h"

/* Probes one API, OpenGL or OpenGL ES. False: no context of it could be made; `why` lists the
 * attempts. */
bool tally_probe_gl(enum tally_api api, const struct tally_probe_wish *wish,
		    tally_probe_report *report, void *data, char *why, size_t size);

/* `counters` is the list to choose from, as in --counters. False: no device; `why` says why. */
bool tally_probe_vk(const char *counters, tally_probe_report *report, void *data, char *why,
		    size_t size);

/* Whether a Vulkan instance created here loads the library with that file name. False: see
 * `why`. */
bool tally_probe_vk_loads(const char *library, char *why, size_t size);

enum tally_tiles {
	TALLY_TILES_UNKNOWN = 0,
	TALLY_TILES_APART, /* passes of one framebuffer have separate times */
	TALLY_TILES_TOGETHER, /* they have one time, unless the shim leaves it out */
};

struct tally_gl_api;

/* Draws to find out whether timestamps separate the passes of one framebuffer (tiles_gl.c): a
 * light and a heavy pass into one framebuffer, with timestamps before, between and after. Where
 * the driver draws tile by tile, the timestamp between them is late, and the light pass gets
 * the time of the heavy one. The probe's context is current; objects are left in it. Takes half
 * a second, two at most if the driver answers. Several rounds must agree, so that a busy
 * machine makes it UNKNOWN rather than wrong; UNKNOWN too if the context has no timestamps or
 * there is an error. */
enum tally_tiles tally_tiles_measure(struct tally_gl_api *api);

/* Whether the driver that a game would get draws passes of one framebuffer together (tiles_gl.c).
 * `meet` gets its name (query/gl/tiles.h), or an empty one, and returns whether to draw; if it
 * returns false, or no context could be made, the answer is UNKNOWN. Takes as long as the
 * driver does. */
enum tally_tiles tally_probe_gl_tiles(bool (*meet)(void *data, const char *name, bool named),
				      void *data);

#endif

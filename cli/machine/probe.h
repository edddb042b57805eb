/* SPDX-License-Identifier: MIT */
/* cli/machine/probe.h - what the drivers of this machine offer, and how they draw.
 * One thread.
 */
#ifndef PASSTALLY_CLI_PROBE_H
#define PASSTALLY_CLI_PROBE_H

#include "json/record_json.h"
#include "query/source/counter_set.h"

/* ---- probe.c: runs the probes in a child process, because a driver may crash its
 * process.
 *
 * The child's findings come back as a log, which is read like any other. One thread; may
 * take as long as a driver needs to start, at most 30 s per API: after 2 s a line on standard
 * error, if that is a terminal, says what it waits for. */

/* One device; valid during the callback that reports it. */
struct tally_probe_found {
	const struct tally_device_record *device;
	/* Sentences for people, terminated by NULL; the first one says where the device was
	 * found or what it is. */
	const char *const *facts;
	/* The sets of a rotation, in order, one per captured frame. Counters that are always
	 * counted are in none of them, even where a layout lists them. */
	const struct tally_counter_set *const *sets;
	uint32_t n_sets;
};

typedef void tally_probe_report(void *data, const struct tally_probe_found *found);

/* The options of a run: --counters, and --set or NULL. */
struct tally_probe_wish {
	const char *counters, *set;
};

/* Reports each device. False: nothing was found; `why` holds a sentence for people. */
bool tally_probe(enum tally_api api, const struct tally_probe_wish *wish,
		 tally_probe_report *report, void *data, char *why, size_t size);

/* In a child that is to call drivers: they print to the standard streams, and that must not
 * become part of our output. */
void tally_probe_silence(void);

/* The source that the set belongs to; the set must have counters. */
const char *tally_probe_set_source(const struct tally_counter_set *set);

/* ---- probe_gl.c, probe_vk.c: what drivers report: sources, counters, and how they draw.
 *
 * OpenGL is queried through an EGL context (on the display, else on the first device, else
 * without any), Vulkan through its loader, which dlopen() opens, and a device on each GPU as a
 * capture would make it; nothing is submitted to its queues. The sources of query/ are opened
 * there, and everything is closed again. Drivers may crash or hang, and libepoxy aborts if it finds
 * no EGL, so call this in a process that may die (probe.c). */

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

/* ---- tiles.c: finds out, before a game starts, whether its OpenGL driver draws passes of
 * one framebuffer together, so that they have one time.
 *
 * A child process asks the driver that this environment selects (tiles_gl.c), and the answer is
 * stored in the user's cache folder: by the environment and the libraries of the system for a
 * day, so that no driver is loaded at the next start, and permanently by the driver's name,
 * which includes its version. If the driver hangs or crashes, or the answer is unknown, that is
 * the same as no probe. */

/* Returns the driver's name (query/gl/tiles.h) if it does so and is not already known by its
 * name; the caller frees it. NULL otherwise. Takes at most 5 s if nothing is stored. */
char *tally_tiles_driver(void);
/* That process: `passtally doctor` with this argument, which is not for users. Prints the driver's
 * name, and on the next line the answer; does not return. */
#define TALLY_TILES_CHILD "--self-test-tiles"
_Noreturn void tally_tiles_child(void);

#endif

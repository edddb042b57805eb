/* SPDX-License-Identifier: MIT */
/* query/gl/tiles.h - which drivers draw a framebuffer tile by tile, timestamps included, so that
 * the passes of one scene have one time (timestamps_in_tiles in query/gl/api.h).
 *
 * Two are known by name. Others are found by a scene that the command captures
 * before the game (cli/machine/shared_time.h); the option shared-time then names the driver. Any
 * thread. Nothing here allocates, blocks or calls a driver.
 */
#ifndef PASSTALLY_QUERY_GL_TILES_H
#define PASSTALLY_QUERY_GL_TILES_H

#include <stdbool.h>
#include <stddef.h>

#define TALLY_GL_DRIVER_SIZE 512

/* Writes a driver's name: vendor, renderer and the version of the driver, which are the same in
 * all of its contexts, whatever their API, version and profile. False, with an empty name: a
 * string is NULL, or they are too long. */
bool tally_gl_driver_name(const char *vendor, const char *renderer, const char *version,
			  char name[TALLY_GL_DRIVER_SIZE]);
/* Whether GL_RENDERER, which may be NULL, is that of a driver known to draw in this way. */
bool tally_gl_tiles_by_name(const char *renderer);

#endif

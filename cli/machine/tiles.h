/* SPDX-License-Identifier: MIT */
/* cli/machine/tiles.h - finds out, before a game starts, whether its OpenGL driver draws passes of
 * one framebuffer together, so that they have one time.
 *
 * A child process asks the driver that this environment selects (tiles_gl.c), and the answer is
 * stored in the user's cache folder: by the environment and the libraries of the system for a
 * day, so that no driver is loaded at the next start, and permanently by the driver's name,
 * which includes its version. If the driver hangs or crashes, or the answer is unknown, that is
 * the same as no probe. One thread.
 */
#ifndef PASSTALLY_CLI_TILES_H
#define PASSTALLY_CLI_TILES_H

/* Returns the driver's name (query/gl/tiles.h) if it does so and is not already known by its
 * name; the caller frees it. NULL otherwise. Takes at most 5 s if nothing is stored. */
char *tally_tiles_driver(void);

#endif

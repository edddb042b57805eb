/* SPDX-License-Identifier: MIT */
/* cli/machine/tiles.h - finds out, before a game starts, whether its OpenGL driver draws passes of
 * one framebuffer together, so that they have one time.
 *
 * A child process asks the driver that this environment gives (tiles_gl.c), and the answer is
 * kept in the user's cache folder: by the environment and the libraries of the system for a day,
 * so that no driver is loaded at the next start, and by the driver's name for good, which has
 * its version. A driver that hangs or crashes, or an answer in doubt, is like no probe. One thread.
 */
#ifndef PASSTALLY_CLI_TILES_H
#define PASSTALLY_CLI_TILES_H

/* The driver's name (query/gl/tiles.h) if it does so and is not known by its name alone; the
 * caller frees it. NULL otherwise. Takes at most 5 s where nothing is kept. */
char *tally_tiles_driver(void);

#endif

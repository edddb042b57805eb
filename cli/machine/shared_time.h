/* SPDX-License-Identifier: MIT */
/* cli/machine/shared_time.h - finds out, before a game starts, whether its OpenGL driver draws
 * passes of one framebuffer together, so that they have one time.
 *
 * A scene with a light and a heavy pass in one framebuffer is captured with the driver that this
 * environment selects: where timestamps come late, the light pass has the time of the heavy one.
 * The answer is stored in the user's cache folder: by the environment and the libraries of the
 * system for a day, so that no driver is loaded at the next start, and permanently by the driver's
 * name, which includes its version. If the driver hangs or crashes, or the answer is unknown, that
 * is the same as not having asked. One thread.
 */
#ifndef PASSTALLY_CLI_SHARED_TIME_H
#define PASSTALLY_CLI_SHARED_TIME_H

/* Returns the driver's name (query/gl/tiles.h) if it does so and is not already known by its
 * name; the caller frees it. NULL otherwise. Takes at most 15 s if nothing is stored. */
char *tally_shared_time_driver(void);

#endif

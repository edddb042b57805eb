/* SPDX-License-Identifier: MIT */
/* cli/machine/tiles_gl.h - draws to see whether timestamps tell the passes of one framebuffer
 * apart.
 *
 * A light and a heavy pass are drawn into one framebuffer, with timestamps before, between and
 * after. Where the driver draws tile by tile, the timestamp between them is late, and the light
 * pass gets the time of the heavy one. One thread, a context of ours current; takes half a
 * second, two at most if the driver answers.
 */
#ifndef PASSTALLY_CLI_TILES_GL_H
#define PASSTALLY_CLI_TILES_GL_H

#include "cli/machine/probe_gl.h"
#include "query/gl/api.h"

/* Several rounds must agree, so that a busy machine makes it UNKNOWN rather than wrong; UNKNOWN
 * too if the context has no timestamps or there is an error. Leaves objects in the context. */
enum tally_tiles tally_tiles_measure(struct tally_gl_api *api);

#endif

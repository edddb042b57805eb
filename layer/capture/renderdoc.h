/* SPDX-License-Identifier: MIT */
/* layer/capture/renderdoc.h - from a slow frame into RenderDoc, where the program runs under it.
 *
 * Any thread, but not in a signal handler. Loads nothing: only a RenderDoc that is there is asked.
 */
#ifndef PASSTALLY_LAYER_CAPTURE_RENDERDOC_H
#define PASSTALLY_LAYER_CAPTURE_RENDERDOC_H

/* Has RenderDoc capture the next frame. Returns NULL, or why that is not possible. */
const char *tally_renderdoc_capture(void);

#endif

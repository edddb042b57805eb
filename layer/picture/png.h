/* SPDX-License-Identifier: MIT */
/* layer/picture/png.h - 8-bit RGB pixels as a PNG file, without zlib, which a game may have in
 * another version.
 *
 * Rows are filtered with the one above, and what is then equal is written as runs with deflate's
 * fixed codes: enough for render targets, which are flat or smooth in most places.
 */
#ifndef PASSTALLY_LAYER_PICTURE_PNG_H
#define PASSTALLY_LAYER_PICTURE_PNG_H

#include <stddef.h>
#include <stdint.h>

/* Returns the file's bytes, *size of them, which the caller frees; NULL when out of memory. Does
 * not block. `rgb` has 3 * width * height bytes, the top row first. */
unsigned char *
tally_png_make(const unsigned char *rgb, uint32_t width, uint32_t height, size_t *size);

#endif

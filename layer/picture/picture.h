/* SPDX-License-Identifier: MIT */
/* layer/picture/picture.h - the pixels of a render target as they come from a GPU, and as a person
 * can look at them. Any thread; nothing blocks.
 */
#ifndef PASSTALLY_LAYER_PICTURE_PICTURE_H
#define PASSTALLY_LAYER_PICTURE_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALLY_PICTURE_SIDE 512 /* pixels, at most */

/* The GPU makes one of these of every format: the first of normalized ones, of sRGB as it is
 * stored. */
enum tally_pixels {
	TALLY_PIXELS_RGBA8 = 0,
	TALLY_PIXELS_RGBA32F, /* linear */
	TALLY_PIXELS_RGBA32I,
	TALLY_PIXELS_RGBA32UI,
	TALLY_PIXELS_D16,
	TALLY_PIXELS_D24, /* in the lower bits of 32 */
	TALLY_PIXELS_D32F,
	TALLY_N_PIXELS,
};

struct tally_picture {
	struct tally_picture *next;
	uint32_t pass; /* tally_pass.picture */
	char name[16]; /* "color0", "depth" */
	enum tally_pixels pixels;
	uint32_t width, height; /* rows follow one another without a gap */
	bool upside_down; /* the bottom row is the first */
	_Alignas(8) unsigned char data[];
};

/* Bytes of one pixel. */
size_t tally_pixels_size(enum tally_pixels pixels);

/* What the GPU shrinks a target to before it is copied, with its proportions. */
static inline void
tally_picture_shrink(uint32_t *width, uint32_t *height)
{
	uint64_t w = *width, h = *height, longer = w > h ? w : h;
	if (longer <= TALLY_PICTURE_SIDE)
		return;
	w = w * TALLY_PICTURE_SIDE / longer;
	h = h * TALLY_PICTURE_SIDE / longer;
	*width = w ? (uint32_t)w : 1;
	*height = h ? (uint32_t)h : 1;
}

/* Makes RGB of 8 bits, the top row first, which the caller frees; NULL when out of memory. A side
 * of more than TALLY_PICTURE_SIDE becomes shorter by leaving out pixels. Floating point is exposed
 * so that 99 of 100 pixels are not clipped, where it is above 1, and gets a gamma of 2; depth and
 * integers are stretched from their smallest to their largest value. What is not a number is
 * black. */
unsigned char *
tally_picture_rgb(const struct tally_picture *picture, uint32_t *width, uint32_t *height);

#endif

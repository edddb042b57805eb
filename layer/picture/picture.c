/* SPDX-License-Identifier: MIT */
#include "layer/picture/picture.h"

#include <stdlib.h>
#include <string.h>

/* Positive floats are in the order of their bits: their upper halves are the buckets. */
#define BUCKETS 0x7f80u

/* Values from `low` on are black, from `low` + `span` on white. */
struct range {
	double low, span;
	bool gamma;
};

size_t
tally_pixels_size(enum tally_pixels pixels)
{
	static const size_t sizes[TALLY_N_PIXELS] = { 4, 16, 16, 16, 2, 4, 4 };
	return sizes[pixels];
}

/* A channel of a pixel, or its depth, whichever channel. */
static double
value(enum tally_pixels pixels, const unsigned char *at, unsigned channel)
{
	uint32_t u;
	uint16_t half;
	float f;
	switch (pixels) {
	case TALLY_PIXELS_RGBA8:
		return at[channel];
	case TALLY_PIXELS_D16:
		memcpy(&half, at, sizeof(half));
		return half;
	case TALLY_PIXELS_D24:
		memcpy(&u, at, sizeof(u));
		return u & 0xffffff;
	case TALLY_PIXELS_D32F:
		memcpy(&f, at, sizeof(f));
		return (double)f;
	case TALLY_PIXELS_RGBA32F:
		memcpy(&f, at + 4 * channel, sizeof(f));
		return (double)f;
	default:
		memcpy(&u, at + 4 * channel, sizeof(u));
		return pixels == TALLY_PIXELS_RGBA32I ? (double)(int32_t)u : (double)u;
	}
}

/* The brightest channel of 99 of 100 pixels; 1 where that is less, or memory is out. */
static double
exposure(const struct tally_picture *p)
{
	uint32_t *count = calloc(BUCKETS, sizeof(*count));
	size_t n = (size_t)p->width * p->height;
	uint32_t above = (uint32_t)(n / 100);
	if (!count)
		return 1;
	for (size_t i = 0; i < n; i++) {
		float most = 0;
		uint32_t bits;
		for (unsigned k = 0; k < 3; k++) {
			float v = (float)value(p->pixels, p->data + 16 * i, k);
			most = v > most ? v : most;
		}
		memcpy(&bits, &most, sizeof(bits));
		if (bits >> 16 < BUCKETS)
			count[bits >> 16]++;
	}
	uint32_t bucket = BUCKETS - 1;
	while (bucket && count[bucket] <= above)
		above -= count[bucket--];
	free(count);
	uint32_t bits = bucket << 16;
	float most;
	memcpy(&most, &bits, sizeof(most));
	return most > 1 ? (double)most : 1;
}

static struct range
range_of(const struct tally_picture *p)
{
	if (p->pixels == TALLY_PIXELS_RGBA8)
		return (struct range){ 0, 255, false };
	if (p->pixels == TALLY_PIXELS_RGBA32F)
		return (struct range){ 0, exposure(p), true };
	size_t n = (size_t)p->width * p->height, size = tally_pixels_size(p->pixels);
	unsigned channels = size == 16 ? 3 : 1;
	double low = 0, high = 0;
	bool any = false;
	for (size_t i = 0; i < n * channels; i++) {
		unsigned channel = (unsigned)(i % channels);
		double v = value(p->pixels, p->data + i / channels * size, channel);
		if (v != v || v - v != 0)
			continue;
		low = !any || v < low ? v : low;
		high = !any || v > high ? v : high;
		any = true;
	}
	return (struct range){ low, high > low ? high - low : 1, false };
}

/* The square root of 0 to 1, times 255, without libm. */
static unsigned
root(double v)
{
	unsigned low = 0;
	for (unsigned step = 128; step; step /= 2)
		if ((low + step - 0.5) * (low + step - 0.5) <= v * 65025)
			low += step;
	return low;
}

static unsigned char
shade(const struct range *r, double v)
{
	double part = (v - r->low) / r->span;
	if (!(part > 0))
		return 0;
	if (part >= 1)
		return 255;
	return (unsigned char)(r->gamma ? root(part) : (unsigned)(part * 255 + 0.5));
}

unsigned char *
tally_picture_rgb(const struct tally_picture *p, uint32_t *width, uint32_t *height)
{
	uint32_t longer = p->width > p->height ? p->width : p->height;
	uint32_t step = (longer + TALLY_PICTURE_SIDE - 1) / TALLY_PICTURE_SIDE;
	if (!step)
		return NULL;
	uint32_t w = (p->width + step - 1) / step, h = (p->height + step - 1) / step;
	size_t size = tally_pixels_size(p->pixels);
	unsigned char *rgb = malloc((size_t)3 * w * h), *to = rgb;
	if (!rgb || !w || !h) {
		free(rgb);
		return NULL;
	}
	struct range range = range_of(p);
	for (uint32_t y = 0; y < h; y++) {
		uint32_t row = p->upside_down ? p->height - 1 - y * step : y * step;
		for (uint32_t x = 0; x < w; x++) {
			const unsigned char *at = p->data +
						  ((size_t)row * p->width + (size_t)x * step) *
							  size;
			for (unsigned k = 0; k < 3; k++)
				*to++ = shade(&range, value(p->pixels, at, k));
		}
	}
	*width = w;
	*height = h;
	return rgb;
}

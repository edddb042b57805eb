/* SPDX-License-Identifier: MIT */
#include "layer/picture/picture.h"
#include "layer/picture/pictures.h"
#include "layer/picture/png.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* ---- pixels ---- */

#define F(v) \
	{ \
		.f = v \
	}
#define U(v) \
	{ \
		.u = v \
	}
union word {
	float f;
	uint32_t u;
};

/* One row of pixels, as 32-bit words, and the RGB that is seen of it. */
static const struct {
	const char *name;
	enum tally_pixels pixels;
	uint32_t width;
	union word data[12];
	unsigned char rgb[9];
} rows[] = {
	{ "normalized: as it is, without alpha",
	  TALLY_PIXELS_RGBA8,
	  2,
	  { U(0x00030201), U(0xff0080ff) },
	  { 1, 2, 3, 255, 128, 0 } },
	{ "float up to 1: only gamma",
	  TALLY_PIXELS_RGBA32F,
	  2,
	  { F(0), F(0.25f), F(1), F(1), F(0.0625f), F(-1), F(0.5f), F(0) },
	  { 0, 128, 255, 64, 0, 180 } },
	{ "float above 1: exposed to the brightest",
	  TALLY_PIXELS_RGBA32F,
	  2,
	  { F(100), F(0), F(0), F(1), F(25), F(6.25f), F(0), F(1) },
	  { 255, 0, 0, 128, 64, 0 } },
	{ "what is not a number is black",
	  TALLY_PIXELS_RGBA32F,
	  2,
	  { U(0x7fc00000), F(0.25f), F(1), F(1), F(1), F(1), U(0xff800000), F(1) },
	  { 0, 128, 255, 255, 255, 0 } },
	{ "signed integers: by their range",
	  TALLY_PIXELS_RGBA32I,
	  2,
	  { U(-10u), U(0), U(10), U(99), U(5), U(-5u), U(0), U(99) },
	  { 0, 128, 255, 191, 64, 128 } },
	{ "unsigned integers",
	  TALLY_PIXELS_RGBA32UI,
	  1,
	  { U(0), U(0xffffffff), U(0x80000000), U(1) },
	  { 0, 255, 128 } },
	{ "16 bits of depth", TALLY_PIXELS_D16, 2, { U(0xfffe0000) }, { 0, 0, 0, 255, 255, 255 } },
	{ "24 bits: the rest is not looked at",
	  TALLY_PIXELS_D24,
	  3,
	  { U(0xff000010), U(0x00000020), U(0x77000030) },
	  { 0, 0, 0, 128, 128, 128, 255, 255, 255 } },
	{ "floats of depth: by their range",
	  TALLY_PIXELS_D32F,
	  3,
	  { F(0.9f), F(0.95f), F(1) },
	  { 0, 0, 0, 128, 128, 128, 255, 255, 255 } },
	{ "flat depth", TALLY_PIXELS_D32F, 2, { F(1), F(1) }, { 0 } },
};

static struct tally_picture *
picture(enum tally_pixels pixels, uint32_t width, uint32_t height)
{
	struct tally_picture *p = g_malloc0(sizeof(*p) +
					    (size_t)width * height * tally_pixels_size(pixels));
	p->pixels = pixels;
	p->width = width;
	p->height = height;
	return p;
}

static void
test_rows(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree struct tally_picture *p = picture(rows[i].pixels, rows[i].width, 1);
		uint32_t w, h;
		memcpy(p->data, rows[i].data, rows[i].width * tally_pixels_size(rows[i].pixels));
		unsigned char *rgb = tally_picture_rgb(p, &w, &h);
		g_test_message("%s", rows[i].name);
		g_assert_cmpuint(w, ==, rows[i].width);
		g_assert_cmpuint(h, ==, 1);
		g_assert_cmpmem(rgb, (size_t)3 * w, rows[i].rgb, (size_t)3 * w);
		free(rgb);
	}
}

/* One pixel of 200 is far brighter than the others: it does not darken them. */
static void
test_exposure(void)
{
	g_autofree struct tally_picture *p = picture(TALLY_PIXELS_RGBA32F, 200, 1);
	float *at = (float *)(void *)p->data;
	uint32_t w, h;
	for (int i = 0; i < 200; i++)
		at[4 * i] = i == 77 ? 1e9f : 16;
	unsigned char *rgb = tally_picture_rgb(p, &w, &h);
	g_assert_cmpuint(rgb[0], >=, 254);
	free(rgb);
}

static void
test_large(void)
{
	g_autofree struct tally_picture *p = picture(TALLY_PIXELS_RGBA8, 1025, 5);
	uint32_t w, h;
	p->upside_down = true;
	/* The fourth pixel of the last row, which is shown first. */
	p->data[(size_t)4 * 1025 * 4 + 4 * 3] = 9;
	unsigned char *rgb = tally_picture_rgb(p, &w, &h);
	g_assert_cmpuint(w, ==, 342);
	g_assert_cmpuint(h, ==, 2);
	g_assert_cmpuint(rgb[3], ==, 9);
	free(rgb);
}

/* ---- files ---- */

static unsigned
take(const unsigned char *data, size_t *bit, unsigned n)
{
	unsigned value = 0;
	for (unsigned i = 0; i < n; i++, ++*bit)
		value |= (unsigned)(data[*bit / 8] >> *bit % 8 & 1) << i;
	return value;
}

/* A symbol of the fixed code, read as RFC 1951 lists it. */
static unsigned
take_symbol(const unsigned char *data, size_t *bit)
{
	unsigned code = 0;
	for (unsigned n = 1; n <= 9; n++) {
		code = code << 1 | take(data, bit, 1);
		if (n == 7 && code <= 0x17)
			return 256 + code;
		if (n == 8 && code >= 0x30 && code <= 0xbf)
			return code - 0x30;
		if (n == 8 && code >= 0xc0 && code <= 0xc7)
			return 280 + code - 0xc0;
		if (n == 9)
			return 144 + code - 0x190;
	}
	g_assert_not_reached();
}

static GByteArray *
inflate(const unsigned char *data, size_t size)
{
	GByteArray *out = g_byte_array_new();
	size_t bit = 0;
	g_assert_cmpuint(take(data, &bit, 3), ==, 3);
	for (unsigned symbol; (symbol = take_symbol(data, &bit)) != 256;) {
		g_assert_cmpuint(bit, <, size * 8);
		unsigned char byte = (unsigned char)symbol;
		unsigned n = symbol < 256 ? 1 : symbol == 285 ? 258 : symbol - 254;
		g_assert_true(symbol < 265 || symbol == 285);
		if (symbol > 256) {
			g_assert_cmpuint(take(data, &bit, 5), ==, 0);
			byte = out->data[out->len - 1];
		}
		for (; n; n--)
			g_byte_array_append(out, &byte, 1);
	}
	return out;
}

static uint32_t
u32(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void
check_png(const unsigned char *rgb, uint32_t width, uint32_t height)
{
	size_t size;
	unsigned char *png = tally_png_make(rgb, width, height, &size);
	g_assert_cmpmem(png, 16, "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR", 16);
	g_assert_cmpuint(u32(png + 16), ==, width);
	g_assert_cmpuint(u32(png + 20), ==, height);
	g_assert_cmpmem(png + 24, 5, "\x08\x02\0\0\0", 5);
	size_t n = u32(png + 33);
	g_assert_cmpmem(png + 37, 4, "IDAT", 4);
	g_assert_cmpuint(45 + n + 12, ==, size);
	g_assert_cmpmem(png + size - 12, 12, "\0\0\0\0IEND\xae\x42\x60\x82", 12);
	g_autoptr(GByteArray) data = inflate(png + 43, n - 6);
	g_assert_cmpuint(data->len, ==, height * (3 * width + 1));
	for (uint32_t y = 0; y < height; y++) {
		unsigned char *row = data->data + (size_t)y * (3 * width + 1);
		g_assert_cmpuint(row[0], ==, 2);
		for (uint32_t x = 0; x < 3 * width; x++) {
			row[1 + x] += y ? row[(long)x - 3 * (long)width] : 0;
			g_assert_cmpuint(row[1 + x], ==, rgb[y * 3 * width + x]);
		}
	}
	free(png);
}

static void
test_png(void)
{
	static const uint32_t sizes[][2] = { { 1, 1 }, { 2, 3 }, { 511, 2 }, { 64, 64 } };
	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
		size_t n = (size_t)3 * sizes[i][0] * sizes[i][1];
		for (unsigned kind = 0; kind < 4; kind++) {
			g_autofree unsigned char *rgb = g_malloc0(n);
			for (size_t k = 0; k < n; k++)
				rgb[k] = (unsigned char)(kind == 0   ? 200
							 : kind == 1 ? k
							 : kind == 2 ? k / 7
								     : g_random_int());
			check_png(rgb, sizes[i][0], sizes[i][1]);
		}
	}
}

/* What another program made of one red pixel: the sums of the chunks and of the data. */
static void
test_sums(void)
{
	static const unsigned char red[3] = { 255, 0, 0 };
	size_t size;
	unsigned char *png = tally_png_make(red, 1, 1, &size);
	g_assert_cmphex(u32(png + 29), ==, 0x907753de);
	g_assert_cmphex(u32(png + size - 20), ==, 0x03090102);
	free(png);
}

/* Two threads may find room at once. */
static void
test_room(void)
{
	struct tally_picture *p[2];
	for (unsigned i = 0; i < 2; i++)
		p[i] = tally_picture_make(TALLY_PIXELS_D32F, 8192, 6144);
	for (unsigned i = 0; i < 2; i++)
		tally_pictures_hand_over(p[i]);
	g_assert_null(tally_picture_make(TALLY_PIXELS_RGBA8, 8, 8));
	tally_pictures_begin(NULL, "/nowhere/log.jsonl"); /* as a child does: nothing waits */
	for (unsigned i = 0; i < 2; i++)
		free(p[i]);
}

/* A part of a file is no picture: the disk is full after some bytes. */
static void
test_full_disk(void)
{
	static const struct tally_config config;
	const struct rlimit little = { 40, RLIM_INFINITY }, all = { RLIM_INFINITY, RLIM_INFINITY };
	g_autofree char *folder = g_dir_make_tmp("picture-XXXXXX", NULL);
	g_autofree char *log = g_build_filename(folder, "log.jsonl", NULL);
	g_autofree char *picture = g_build_filename(folder, "log-1-depth.png", NULL);
	tally_pictures_begin(&config, log);
	signal(SIGXFSZ, SIG_IGN);
	for (int fits = 0; fits < 2; fits++) {
		struct tally_picture *p = tally_picture_make(TALLY_PIXELS_D32F, 1, 1);
		p->pass = 1;
		memcpy(p->name, "depth", sizeof("depth"));
		memset(p->data, 0, sizeof(float));
		tally_pictures_hand_over(p);
		g_assert_no_errno(setrlimit(RLIMIT_FSIZE, fits ? &all : &little));
		g_assert_true(tally_pictures_write());
		g_assert_no_errno(setrlimit(RLIMIT_FSIZE, &all));
		g_assert_cmpint(g_unlink(picture), ==, fits ? 0 : -1);
	}
	g_assert_no_errno(g_rmdir(folder));
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/picture/rows", test_rows);
	g_test_add_func("/picture/exposure", test_exposure);
	g_test_add_func("/picture/large", test_large);
	g_test_add_func("/picture/png", test_png);
	g_test_add_func("/picture/sums", test_sums);
	g_test_add_func("/picture/room", test_room);
	g_test_add_func("/picture/full-disk", test_full_disk);
	return g_test_run();
}

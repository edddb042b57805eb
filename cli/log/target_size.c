/* SPDX-License-Identifier: MIT */
#include "cli/log/target_size.h"

#include <ctype.h>
#include <string.h>

/* Words that stand for so many components of what the number behind them says. */
static const struct {
	const char *word;
	unsigned n;
} words[] = {
	{ "DEPTH_COMPONENT", 1 },
	{ "DEPTH", 1 },
	{ "STENCIL_INDEX", 1 },
	{ "STENCIL", 1 },
	{ "SRGB", 3 },
	{ "ALPHA", 1 },
	{ "PACK", 0 },
};

/* Passes over the components before a number, and counts them. */
static const char *
count_components(const char *at, unsigned *n)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strncmp(at, words[i].word, strlen(words[i].word)) == 0) {
			*n = words[i].n;
			return at + strlen(words[i].word);
		}
	}
	*n = strchr("RGBADSEX", *at) ? *n + 1 : 0;
	return at + 1;
}

unsigned
tally_format_bits(const char *format)
{
	unsigned bits = 0, n = 0;
	for (const char *at = format; *at;) {
		if (!isdigit((unsigned char)*at)) {
			at = count_components(at, &n);
			continue;
		}
		unsigned number = 0;
		for (; isdigit((unsigned char)*at); at++)
			number = number < 1000 ? number * 10 + (unsigned)(*at - '0') : number;
		bits += number == 565 ? 16 : n * number;
		n = 0;
	}
	return bits <= 256 ? bits : 0;
}

struct tally_target_size
tally_target_size(const struct tally_pass_info_record *info)
{
	const struct tally_target *t = &info->target;
	uint64_t samples = t->samples ? t->samples : 1;
	struct tally_target_size size = {
		.pixels = (uint64_t)t->width * t->height * (t->layers ? t->layers : 1),
		.known = info->load != TALLY_LOAD_UNKNOWN && info->store != TALLY_STORE_UNKNOWN,
	};
	unsigned color = 0, rest = 0;
	const char *const others[] = { t->depth.format, t->stencil.format };
	for (uint32_t i = 0; i < t->n_color; i++) {
		unsigned bits = t->color[i].format ? tally_format_bits(t->color[i].format) : 0;
		color += bits;
		size.known &= bits || !t->color[i].format;
	}
	for (unsigned i = 0; i < 2; i++) {
		unsigned bits = others[i] ? tally_format_bits(others[i]) : 0;
		rest += bits;
		size.known &= bits || !others[i];
	}
	size.known &= size.pixels && (color || rest);
	size.color_bytes = size.known ? size.pixels * color / 8 : 0;
	if (size.known && info->load == TALLY_LOAD_LOAD)
		size.loaded = size.pixels * samples * (color + rest) / 8;
	if (size.known && info->store == TALLY_STORE_STORE)
		size.stored = size.pixels * samples * (color + rest) / 8;
	if (size.known && info->store == TALLY_STORE_RESOLVE)
		size.stored = size.color_bytes;
	return size;
}

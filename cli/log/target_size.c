/* SPDX-License-Identifier: MIT */
#include "cli/log/target_size.h"

#include <ctype.h>
#include <glib.h>
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

/* Appends the attachment's format and returns the bits of a pixel of it. *known: if there is one,
 * they are. */
static unsigned
add_format(GString *formats, const struct tally_attachment *a, bool *known)
{
	unsigned bits = a->format ? tally_format_bits(a->format) : 0;
	*known &= bits || !a->format;
	if (a->format && *a->format)
		g_string_append_printf(formats, "%s%s", formats->len ? " " : "", a->format);
	return bits;
}

struct part {
	unsigned bit;
	uint64_t bytes; /* of one sample */
	enum tally_load_op load;
	enum tally_store_op store;
};

/* Where the part's operations are not known, those of all parts are its own at most. */
static void
add_part(struct tally_target_size *size, const struct part *part)
{
	const uint64_t samples = MAX(size->samples, 1);
	const enum tally_load_op load = part->load ? part->load : size->load;
	const enum tally_store_op store = part->store ? part->store : size->store;
	size->parts_known &= !part->bytes || (part->load && part->store);
	if (load == TALLY_LOAD_LOAD && part->bytes) {
		size->loads |= part->bit;
		size->loaded += part->bytes * samples;
	}
	if ((store != TALLY_STORE_STORE && store != TALLY_STORE_RESOLVE) || !part->bytes)
		return;
	size->stores |= part->bit;
	if (store == TALLY_STORE_RESOLVE)
		size->stored += part->bytes;
	if (store == TALLY_STORE_STORE || !part->store)
		size->stored += part->bytes * samples;
}

struct tally_target_size
tally_target_size(const struct tally_pass_info_record *info)
{
	const struct tally_target *t = &info->target;
	g_autoptr(GString) formats = g_string_new(NULL);
	unsigned color = 0, rest = 0;
	bool known = info->load != TALLY_LOAD_UNKNOWN && info->store != TALLY_STORE_UNKNOWN;
	for (uint32_t i = 0; i < t->n_color; i++)
		color += add_format(formats, &t->color[i], &known);
	rest += add_format(formats, &t->depth, &known);
	rest += add_format(formats, &t->stencil, &known);
	struct tally_target_size size = {
		.width = t->width,
		.height = t->height,
		.layers = t->layers,
		.samples = t->samples,
		.load = info->load,
		.store = info->store,
		.formats = g_intern_string(formats->str),
		.pixels = (uint64_t)t->width * t->height * MAX(t->layers, 1),
	};
	size.known = known && size.pixels && (color || rest);
	if (!size.known)
		return size;
	size.color_bytes = size.pixels * color / 8;
	size.parts_known = true;
	const struct part parts[] = {
		{ 1, size.color_bytes, t->color_load, t->color_store },
		{ 2, size.pixels * rest / 8, t->depth_load, t->depth_store },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		add_part(&size, &parts[i]);
	return size;
}

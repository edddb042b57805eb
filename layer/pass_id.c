/* SPDX-License-Identifier: MIT */
#include "layer/pass_id.h"

#include <string.h>

#define FNV_PRIME UINT64_C(0x100000001b3)

static const struct ratio {
	uint32_t n, d;
} ratios[] = {
	{ 1, 1 },  { 1, 2 },  { 1, 3 },  { 1, 4 },  { 1, 6 }, { 1, 8 },
	{ 1, 12 }, { 1, 16 }, { 1, 32 }, { 1, 64 }, { 2, 3 }, { 3, 4 },
	{ 4, 3 },  { 3, 2 },  { 2, 1 },  { 3, 1 },  { 4, 1 },
};

uint64_t
tally_fnv1a(uint64_t hash, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * FNV_PRIME;
	return hash;
}

static void
put(uint64_t *hash, const char *bytes, size_t len)
{
	*hash = tally_fnv1a(*hash, bytes, len);
}

static void
put_string(uint64_t *hash, const char *s)
{
	put(hash, s, strlen(s));
}

static void
put_number(uint64_t *hash, uint32_t n)
{
	char digits[10];
	size_t i = sizeof(digits);
	do {
		digits[--i] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	put(hash, digits + i, sizeof(digits) - i);
}

static void
put_label(uint64_t *hash, const char *label)
{
	for (const char *p = label; p && *p; p++) {
		unsigned char c = (unsigned char)*p;
		if (c == '|' || c == '\\') {
			put(hash, "\\", 1);
			put(hash, p, 1);
		} else if (c < 0x20 || c == 0x7f) {
			static const char hex[] = "0123456789abcdef";
			char escape[4] = { '\\', 'x', hex[c >> 4], hex[c & 15] };
			put(hash, escape, sizeof(escape));
		} else {
			put(hash, p, 1);
		}
	}
}

static void
put_attachment(uint64_t *hash, bool *any, const char *role, const struct tally_attachment *a)
{
	if (!a->format)
		return;
	if (*any)
		put(hash, ",", 1);
	*any = true;
	put_string(hash, role);
	put(hash, ":", 1);
	put_string(hash, a->format);
	put(hash, ":", 1);
	put_number(hash, a->samples);
	put(hash, ":", 1);
	put_number(hash, a->layers);
}

static void
put_targets(uint64_t *hash, const struct tally_target *target)
{
	static const char *const roles[TALLY_MAX_COLOR] = { "c0", "c1", "c2", "c3",
							    "c4", "c5", "c6", "c7" };
	bool any = false;
	for (uint32_t i = 0; i < target->n_color && i < TALLY_MAX_COLOR; i++)
		put_attachment(hash, &any, roles[i], &target->color[i]);
	put_attachment(hash, &any, "d", &target->depth);
	put_attachment(hash, &any, "s", &target->stencil);
	if (!any)
		put(hash, "-", 1);
}

/* Whether `size` is within 1 % of `whole` * n / d. */
static bool
is_near(uint32_t size, uint32_t whole, struct ratio r)
{
	uint64_t have = (uint64_t)size * r.d;
	uint64_t want = (uint64_t)whole * r.n;
	uint64_t off = have > want ? have - want : want - have;
	return want != 0 && off <= want / 100;
}

static void
put_size(uint64_t *hash, const struct tally_target *target, struct tally_extent presented)
{
	if (target->width == 0 || target->height == 0) {
		put(hash, "-", 1);
		return;
	}
	for (size_t i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++) {
		if (!is_near(target->width, presented.width, ratios[i]) ||
		    !is_near(target->height, presented.height, ratios[i]))
			continue;
		put_number(hash, ratios[i].n);
		put(hash, "/", 1);
		put_number(hash, ratios[i].d);
		return;
	}
	put_number(hash, target->width);
	put(hash, "x", 1);
	put_number(hash, target->height);
}

static void
put_base(uint64_t *hash, enum tally_pass_kind kind, const char *label,
	 const struct tally_target *target, struct tally_extent presented)
{
	const char *word = tally_pass_kind_name(kind);
	put_string(hash, "v1|");
	put_string(hash, word ? word : "?");
	put(hash, "|", 1);
	put_label(hash, label);
	put(hash, "|", 1);
	put_targets(hash, target);
	put(hash, "|", 1);
	put_size(hash, target, presented);
	put(hash, "|", 1);
}

uint64_t
tally_pass_id_base(enum tally_pass_kind kind, const char *label,
		   const struct tally_target *target, struct tally_extent presented)
{
	uint64_t hash = TALLY_FNV_OFFSET;
	put_base(&hash, kind, label, target, presented);
	return hash;
}

uint64_t
tally_pass_id_finish(uint64_t base, uint32_t ordinal)
{
	put_number(&base, ordinal);
	return base;
}

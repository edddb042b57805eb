/* SPDX-License-Identifier: MIT */
#include "layer/pass_id.h"

#include <string.h>

#define FNV_PRIME UINT64_C(0x100000001b3)

/* Text goes into a hash, into a buffer, or into both; `len` counts what was appended. */
struct text {
	uint64_t hash;
	char *out;
	size_t size, len;
};

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
put(struct text *t, const char *bytes, size_t len)
{
	t->hash = tally_fnv1a(t->hash, bytes, len);
	if (t->out && t->len < t->size) {
		size_t room = t->size - t->len;
		memcpy(t->out + t->len, bytes, len < room ? len : room);
	}
	t->len += len;
}

static void
put_string(struct text *t, const char *s)
{
	put(t, s, strlen(s));
}

static void
put_number(struct text *t, uint32_t n)
{
	char digits[10];
	size_t i = sizeof(digits);
	do {
		digits[--i] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	put(t, digits + i, sizeof(digits) - i);
}

static void
put_label(struct text *t, const char *label)
{
	for (const char *p = label; p && *p; p++) {
		unsigned char c = (unsigned char)*p;
		if (c == '|' || c == '\\') {
			put(t, "\\", 1);
			put(t, p, 1);
		} else if (c < 0x20 || c == 0x7f) {
			static const char hex[] = "0123456789abcdef";
			char escape[4] = { '\\', 'x', hex[c >> 4], hex[c & 15] };
			put(t, escape, sizeof(escape));
		} else {
			put(t, p, 1);
		}
	}
}

static void
put_attachment(struct text *t, bool *any, const char *role, const struct tally_attachment *a)
{
	if (!a->format)
		return;
	if (*any)
		put(t, ",", 1);
	*any = true;
	put_string(t, role);
	put(t, ":", 1);
	put_string(t, a->format);
	put(t, ":", 1);
	put_number(t, a->samples);
	put(t, ":", 1);
	put_number(t, a->layers);
}

static void
put_targets(struct text *t, const struct tally_target *target)
{
	static const char *const roles[TALLY_MAX_COLOR] = { "c0", "c1", "c2", "c3",
							    "c4", "c5", "c6", "c7" };
	bool any = false;
	for (uint32_t i = 0; i < target->n_color && i < TALLY_MAX_COLOR; i++)
		put_attachment(t, &any, roles[i], &target->color[i]);
	put_attachment(t, &any, "d", &target->depth);
	put_attachment(t, &any, "s", &target->stencil);
	if (!any)
		put(t, "-", 1);
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
put_size(struct text *t, const struct tally_target *target, struct tally_extent presented)
{
	if (target->width == 0 || target->height == 0) {
		put(t, "-", 1);
		return;
	}
	for (size_t i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++) {
		if (!is_near(target->width, presented.width, ratios[i]) ||
		    !is_near(target->height, presented.height, ratios[i]))
			continue;
		put_number(t, ratios[i].n);
		put(t, "/", 1);
		put_number(t, ratios[i].d);
		return;
	}
	put_number(t, target->width);
	put(t, "x", 1);
	put_number(t, target->height);
}

static void
put_base(struct text *t, enum tally_pass_kind kind, const char *label,
	 const struct tally_target *target, struct tally_extent presented)
{
	const char *word = tally_pass_kind_name(kind);
	put_string(t, "v1|");
	put_string(t, word ? word : "?");
	put(t, "|", 1);
	put_label(t, label);
	put(t, "|", 1);
	put_targets(t, target);
	put(t, "|", 1);
	put_size(t, target, presented);
	put(t, "|", 1);
}

/* Ends the text in the buffer with a NUL; returns the full length. */
static size_t
end_text(struct text *t)
{
	if (t->size)
		t->out[t->len < t->size ? t->len : t->size - 1] = '\0';
	return t->len;
}

uint64_t
tally_pass_id_base(enum tally_pass_kind kind, const char *label,
		   const struct tally_target *target, struct tally_extent presented)
{
	struct text t = { .hash = TALLY_FNV_OFFSET };
	put_base(&t, kind, label, target, presented);
	return t.hash;
}

uint64_t
tally_pass_id_finish(uint64_t base, uint32_t ordinal)
{
	struct text t = { .hash = base };
	put_number(&t, ordinal);
	return t.hash;
}

size_t
tally_pass_id_size(const struct tally_target *target, struct tally_extent presented, char *out,
		   size_t size)
{
	struct text t = { .out = out, .size = size };
	put_size(&t, target, presented);
	return end_text(&t);
}

size_t
tally_pass_id_string(enum tally_pass_kind kind, const char *label,
		     const struct tally_target *target, struct tally_extent presented,
		     uint32_t ordinal, char *out, size_t size)
{
	struct text t = { .out = out, .size = size };
	put_base(&t, kind, label, target, presented);
	put_number(&t, ordinal);
	return end_text(&t);
}

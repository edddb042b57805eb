/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/labels.h"

#include "layer/frame/stream.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LEVELS 64
#define MAX_PATH 512 /* the same limit as in tally_stream_intern_label() */

struct vk_labels {
	bool dxvk;
	uint64_t depth; /* may be larger than MAX_LEVELS: further levels are only counted */
	uint16_t end[MAX_LEVELS + 1]; /* length of the path with this many levels */
	const char *interned[MAX_LEVELS + 1]; /* NULL: not interned yet */
	char path[MAX_PATH];
};

struct vk_labels *
vk_labels_create(bool dxvk)
{
	struct vk_labels *l = calloc(1, sizeof(*l));
	if (l)
		l->dxvk = dxvk;
	return l;
}

void
vk_labels_destroy(struct vk_labels *l)
{
	free(l);
}

static bool
ends_with(const char *text, size_t n, const char *end)
{
	size_t len = strlen(end);
	return n >= len && memcmp(text + n - len, end, len) == 0;
}

/* How many bytes of `rest`, which follows `text`, are one of DXVK's numbers: of a pass in
 * "Color pass 12 (0: Back buffer 1 (37))", of a buffer of the window, and, in parentheses inside
 * others, of an image. */
static size_t
number(const char *text, size_t n, unsigned depth, const char *rest)
{
	static const char digits[] = "0123456789";
	if (*rest != ' ')
		return 0;
	size_t plain = strspn(rest + 1, digits);
	if (plain && rest[plain + 1] == ' ' && rest[plain + 2] == '(' &&
	    ends_with(text, n, depth ? "Back buffer" : " pass"))
		return plain + 1;
	size_t inside = depth && rest[1] == '(' ? strspn(rest + 2, digits) : 0;
	return inside && rest[inside + 2] == ')' ? inside + 3 : 0;
}

static size_t
copy_unnumbered(char *out, size_t size, const char *name)
{
	size_t n = 0;
	unsigned depth = 0;
	while (*name && n < size) {
		size_t skip = number(out, n, depth, name);
		name += skip;
		if (skip)
			continue;
		depth += *name == '(';
		depth -= depth && *name == ')';
		out[n++] = *name++;
	}
	return n;
}

void
vk_labels_push(struct vk_labels *l, const char *name)
{
	if (!l || ++l->depth > MAX_LEVELS)
		return;
	size_t at = l->end[l->depth - 1];
	size_t blank = at && at < MAX_PATH ? 1 : 0;
	size_t room = MAX_PATH - at - blank;
	size_t n = strnlen(name ? name : "", room);
	if (blank)
		l->path[at] = '/';
	if (n && l->dxvk)
		n = copy_unnumbered(l->path + at + blank, room, name);
	else if (n)
		memcpy(l->path + at + blank, name, n);
	l->end[l->depth] = (uint16_t)(at + blank + n);
	l->interned[l->depth] = NULL;
}

void
vk_labels_pop(struct vk_labels *l)
{
	if (l && l->depth) /* otherwise an error of the game */
		l->depth--;
}

static unsigned
levels(const struct vk_labels *l)
{
	return !l ? 0 : l->depth > MAX_LEVELS ? MAX_LEVELS : (unsigned)l->depth;
}

bool
vk_labels_any(const struct vk_labels *l)
{
	unsigned n = levels(l);
	return n && l->end[n];
}

const char *
vk_labels_path(struct vk_labels *l, struct tally_stream *stream)
{
	unsigned n = levels(l);
	if (!n || !l->end[n])
		return NULL;
	if (!l->interned[n])
		l->interned[n] = tally_stream_intern_label(stream, l->path, l->end[n]);
	return l->interned[n];
}

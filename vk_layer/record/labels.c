/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/labels.h"

#include "layer/frame/stream.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LEVELS 64
#define MAX_PATH 512 /* the same limit as in tally_stream_intern_label() */

struct vk_labels {
	uint64_t depth; /* may be larger than MAX_LEVELS: further levels are only counted */
	uint16_t end[MAX_LEVELS + 1]; /* length of the path with this many levels */
	const char *interned[MAX_LEVELS + 1]; /* NULL: not interned yet */
	char path[MAX_PATH];
};

struct vk_labels *
vk_labels_create(void)
{
	return calloc(1, sizeof(struct vk_labels));
}

void
vk_labels_destroy(struct vk_labels *l)
{
	free(l);
}

void
vk_labels_push(struct vk_labels *l, const char *name)
{
	if (!l || ++l->depth > MAX_LEVELS)
		return;
	size_t at = l->end[l->depth - 1];
	size_t blank = at && at < MAX_PATH ? 1 : 0;
	size_t n = strnlen(name ? name : "", MAX_PATH - at - blank);
	if (blank)
		l->path[at] = '/';
	if (n)
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

/* SPDX-License-Identifier: MIT */
#include "layer/frame/intern.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#define MAX_TARGETS 4096
#define MAX_LABELS 16384
#define MAX_NAMES 4096 /* of objects, which are kept among the labels */
#define MAX_LABEL_BYTES 512
#define CACHE_SLOTS 256 /* for each kind; a power of two */

struct target_entry {
	uint64_t hash;
	struct tally_target target;
	struct target_entry *same_hash;
	UT_hash_handle hh;
};

struct label_entry {
	UT_hash_handle hh;
	size_t len;
	char text[];
};

struct tally_intern_cache {
	struct cached {
		uint64_t hash;
		const void *what; /* a struct tally_target, or a text */
	} targets[CACHE_SLOTS], labels[CACHE_SLOTS];
};

/* Guards the tables; taken only for a new target or label, and never while
 * another of our locks is held. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct target_entry *targets;
static struct label_entry *labels;
static unsigned n_targets, n_labels, n_names;

void
tally_intern_around_fork(bool begins)
{
	(begins ? pthread_mutex_lock : pthread_mutex_unlock)(&lock);
}

struct tally_intern_cache *
tally_intern_cache_create(void)
{
	return calloc(1, sizeof(struct tally_intern_cache));
}

void
tally_intern_cache_destroy(struct tally_intern_cache *cache)
{
	free(cache);
}

/* uthash's own, which takes less time than FNV. */
static uint64_t
mix(uint64_t hash, const void *bytes, size_t len)
{
	unsigned more;
	HASH_VALUE(bytes, len, more);
	return (hash ^ more) * UINT64_C(0x100000001b3);
}

static uint64_t
hash_attachment(uint64_t hash, const struct tally_attachment *a)
{
	if (!a->format)
		return mix(hash, "", 1);
	uint32_t numbers[2] = { a->samples, a->layers };
	hash = mix(hash, a->format, strlen(a->format));
	return mix(hash, numbers, sizeof(numbers));
}

static uint64_t
hash_target(const struct tally_target *t)
{
	uint32_t numbers[] = { t->width,       t->height,     t->layers,     t->samples,
			       t->n_color,     t->presented,  t->color_load, t->depth_load,
			       t->color_store, t->depth_store };
	uint64_t hash = mix((uintptr_t)t->name, numbers, sizeof(numbers));
	for (uint32_t i = 0; i < t->n_color; i++)
		hash = hash_attachment(hash, &t->color[i]);
	hash = hash_attachment(hash, &t->depth);
	return hash_attachment(hash, &t->stencil);
}

static bool
same_attachment(const struct tally_attachment *a, const struct tally_attachment *b)
{
	if (!a->format || !b->format)
		return a->format == b->format;
	return (a->format == b->format || strcmp(a->format, b->format) == 0) &&
	       a->samples == b->samples && a->layers == b->layers;
}

static bool
same_target(const struct tally_target *a, const struct tally_target *b)
{
	if (a->width != b->width || a->height != b->height || a->layers != b->layers ||
	    a->samples != b->samples || a->n_color != b->n_color || a->presented != b->presented ||
	    a->name != b->name || a->color_load != b->color_load ||
	    a->depth_load != b->depth_load || a->color_store != b->color_store ||
	    a->depth_store != b->depth_store)
		return false;
	for (uint32_t i = 0; i < a->n_color; i++) {
		if (!same_attachment(&a->color[i], &b->color[i]))
			return false;
	}
	return same_attachment(&a->depth, &b->depth) &&
	       same_attachment(&a->stencil, &b->stencil);
}

/* Called with the lock held. */
static const struct tally_target *
find_or_add_target(uint64_t hash, const struct tally_target *target)
{
	struct target_entry *first = NULL;
	HASH_FIND(hh, targets, &hash, sizeof(hash), first);
	for (struct target_entry *e = first; e; e = e->same_hash) {
		if (same_target(&e->target, target))
			return &e->target;
	}
	/* A program that makes up new names all the time leaves room for what has none. */
	if (n_targets >= (target->name ? MAX_TARGETS / 2 : MAX_TARGETS))
		return NULL;
	struct target_entry *entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->hash = hash;
	entry->target = *target;
	if (first) {
		entry->same_hash = first->same_hash;
		first->same_hash = entry;
	} else {
		HASH_ADD(hh, targets, hash, sizeof(entry->hash), entry);
		if (!entry->hh.tbl) {
			free(entry);
			return NULL;
		}
	}
	n_targets++;
	return &entry->target;
}

const struct tally_target *
tally_intern_target(struct tally_intern_cache *cache, const struct tally_target *target)
{
	if (target->n_color > TALLY_MAX_COLOR)
		return NULL;
	uint64_t hash = hash_target(target);
	struct cached *slot = cache ? &cache->targets[hash & (CACHE_SLOTS - 1)] : NULL;
	const struct tally_target *hit = cache ? slot->what : NULL;
	if (hit && slot->hash == hash && same_target(hit, target))
		return hit;
	pthread_mutex_lock(&lock);
	hit = find_or_add_target(hash, target);
	pthread_mutex_unlock(&lock);
	if (!hit && target->name) {
		struct tally_target unnamed = *target;
		unnamed.name = NULL;
		return tally_intern_target(cache, &unnamed);
	}
	if (hit && cache)
		*slot = (struct cached){ hash, hit };
	return hit;
}

/* Called with the lock held. */
static const char *
find_or_add_label(const char *text, size_t len)
{
	struct label_entry *entry = NULL;
	HASH_FIND(hh, labels, text, len, entry);
	if (entry)
		return entry->text;
	if (n_labels == MAX_LABELS)
		return NULL;
	entry = calloc(1, sizeof(*entry) + len + 1);
	if (!entry)
		return NULL;
	entry->len = len;
	memcpy(entry->text, text, len);
	HASH_ADD_KEYPTR(hh, labels, entry->text, len, entry);
	if (!entry->hh.tbl) {
		free(entry);
		return NULL;
	}
	n_labels++;
	return entry->text;
}

/* At most 512 bytes, and no torn UTF-8 sequence at the cut. */
static size_t
cut_label(const char *text, size_t len)
{
	size_t n = strnlen(text, len < MAX_LABEL_BYTES + 1 ? len : MAX_LABEL_BYTES + 1);
	if (n <= MAX_LABEL_BYTES)
		return n;
	n = MAX_LABEL_BYTES;
	for (unsigned back = 0; back < 3 && ((unsigned char)text[n - back] & 0xc0) == 0x80;
	     back++) {
		if (((unsigned char)text[n - back - 1] & 0xc0) == 0xc0)
			return n - back - 1;
	}
	return n;
}

const char *
tally_intern_label(struct tally_intern_cache *cache, const char *text, size_t len)
{
	len = cut_label(text, len);
	uint64_t hash = mix(0, text, len);
	struct cached *slot = cache ? &cache->labels[hash & (CACHE_SLOTS - 1)] : NULL;
	const char *hit = cache ? slot->what : NULL;
	if (hit && slot->hash == hash && strncmp(hit, text, len) == 0 && !hit[len])
		return hit;
	pthread_mutex_lock(&lock);
	hit = find_or_add_label(text, len);
	pthread_mutex_unlock(&lock);
	if (hit && cache)
		*slot = (struct cached){ hash, hit };
	return hit;
}

const char *
tally_intern_name(const char *text)
{
	size_t len = cut_label(text, strlen(text));
	pthread_mutex_lock(&lock);
	unsigned before = n_labels;
	struct label_entry *known = NULL;
	HASH_FIND(hh, labels, text, len, known);
	const char *name = known                 ? known->text
			   : n_names < MAX_NAMES ? find_or_add_label(text, len)
						 : NULL;
	n_names += n_labels - before;
	pthread_mutex_unlock(&lock);
	return name;
}

/* SPDX-License-Identifier: MIT */
#include "query/source/counter_set.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "layer/config/config.h"
#include "layer/config/list.h"

#define N_BUCKETS 1024u /* a power of two */
#define MAX_KEY 256

/* ---- data that lives as long as the process ---- */

struct kept {
	struct kept *next; /* never changes once published */
	union {
		struct tally_counter counter;
		struct tally_counter_set set;
	};
};

/* Every counter and set returned so far: as many as the drivers of this process offer. Entries
 * are pushed without a lock, so that a fork at any moment is harmless, and never freed, because
 * the description of a device outlives contexts. */
static _Atomic(struct kept *) kept_counters[N_BUCKETS], kept_sets[N_BUCKETS];

static uint32_t
hash_text(uint32_t hash, const char *text)
{
	for (const char *p = text ? text : ""; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 16777619u;
	return (hash ^ 0xff) * 16777619u;
}

static bool
same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether they are equal in everything except the key. */
static bool
same_meaning(const struct tally_counter *a, const struct tally_counter *b)
{
	return a->kind == b->kind && a->storage == b->storage && a->scope == b->scope &&
	       a->width_bits == b->width_bits && same_text(a->name, b->name) &&
	       same_text(a->unit, b->unit) && same_text(a->source, b->source) &&
	       same_text(a->description, b->description);
}

/* Room for a `struct kept` and `bytes` more, and after them copies of the texts, at which the
 * pointers then point. NULL on OOM. */
static struct kept *
make_kept(size_t bytes, const char **const texts[], uint32_t n_texts)
{
	size_t size = sizeof(struct kept) + bytes;
	for (uint32_t i = 0; i < n_texts; i++)
		size += *texts[i] ? strlen(*texts[i]) + 1 : 0;
	struct kept *kept = malloc(size);
	char *at = kept ? (char *)(kept + 1) + bytes : NULL;
	for (uint32_t i = 0; kept && i < n_texts; i++) {
		size_t len = *texts[i] ? strlen(*texts[i]) + 1 : 0;
		if (len)
			*texts[i] = memcpy(at, *texts[i], len);
		at += len;
	}
	return kept;
}

typedef bool is_same(const struct kept *kept, const void *wanted);

static struct kept *
find_kept(struct kept *list, is_same *is, const void *wanted)
{
	while (list && !is(list, wanted))
		list = list->next;
	return list;
}

/* Pushes it, unless another thread pushed the same in the meantime: then that one. */
static struct kept *
publish(_Atomic(struct kept *) *bucket, struct kept *kept, is_same *is, const void *wanted)
{
	struct kept *head = atomic_load(bucket);
	do {
		struct kept *known = find_kept(head, is, wanted);
		if (known) {
			free(kept);
			return known;
		}
		kept->next = head;
	} while (!atomic_compare_exchange_weak(bucket, &head, kept));
	return kept;
}

static bool
is_counter(const struct kept *kept, const void *wanted)
{
	const struct tally_counter *counter = wanted;
	return same_text(kept->counter.key, counter->key) && same_meaning(&kept->counter, counter);
}

const struct tally_counter *
tally_counter_keep(const struct tally_counter *counter)
{
	uint32_t hash = hash_text(hash_text(2166136261u, counter->key), counter->name);
	_Atomic(struct kept *) *bucket = &kept_counters[hash & (N_BUCKETS - 1)];
	struct kept *known = find_kept(atomic_load(bucket), is_counter, counter);
	if (known)
		return &known->counter;
	struct tally_counter copy = *counter;
	const char **const texts[] = { &copy.key, &copy.name, &copy.unit, &copy.source,
				       &copy.description };
	struct kept *kept = make_kept(0, texts, sizeof(texts) / sizeof(texts[0]));
	if (!kept)
		return NULL;
	kept->counter = copy;
	return &publish(bucket, kept, is_counter, counter)->counter;
}

static bool
is_set(const struct kept *kept, const void *wanted)
{
	const struct tally_counter_set *set = wanted;
	const struct tally_layout *want = &set->layout, *have = &kept->set.layout;
	return have->n_counters == want->n_counters && kept->set.bytes == set->bytes &&
	       same_text(have->set, want->set) && same_text(kept->set.category, set->category) &&
	       (!want->n_counters || memcmp(have->counters, want->counters,
					    want->n_counters * sizeof(*want->counters)) == 0);
}

const struct tally_counter_set *
tally_counter_set_keep(const struct tally_counter_set *set)
{
	const struct tally_layout *layout = &set->layout;
	uint32_t hash = hash_text(hash_text(2166136261u, layout->set), set->category);
	_Atomic(struct kept *) *bucket = &kept_sets[hash & (N_BUCKETS - 1)];
	struct kept *known = find_kept(atomic_load(bucket), is_set, set);
	if (known)
		return &known->set;
	struct tally_counter_set copy = *set;
	const char **const texts[] = { &copy.layout.set, &copy.category };
	size_t bytes = layout->n_counters * sizeof(*layout->counters);
	struct kept *kept = make_kept(bytes, texts, 2);
	if (!kept)
		return NULL;
	kept->set = copy;
	kept->set.layout.counters = (const struct tally_counter **)(kept + 1);
	if (bytes)
		memcpy(kept + 1, layout->counters, bytes);
	return &publish(bucket, kept, is_set, set)->set;
}

/* ---- choosing ---- */

bool
tally_counter_wanted(const char *list, const struct tally_counter *counter, const char *set,
		     const char *category, bool overview)
{
	if (!list)
		return overview;
	if (tally_list_has(list, "all") || (overview && tally_list_has(list, "overview")))
		return true;
	return tally_list_matches(list, counter->key, counter->name) ||
	       tally_list_matches(list, set, category);
}

/* ---- keys ---- */

void
tally_counter_slug(const char *name, char *out, size_t size)
{
	size_t n = 0;
	bool gap = false;
	if (!size)
		return;
	for (const char *p = name ? name : ""; *p && n + 1 < size; p++) {
		char c = tally_lower(*p);
		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) {
			gap = n > 0;
			continue;
		}
		if (gap && n + 2 >= size)
			break;
		if (gap)
			out[n++] = '_';
		gap = false;
		out[n++] = c;
	}
	out[n] = '\0';
	if (!n)
		snprintf(out, size, "counter");
}

struct tally_key_entry {
	const struct tally_counter *counter;
	UT_hash_handle hh;
};

static const struct tally_counter *
holder_of(const struct tally_key_table *table, const char *key)
{
	struct tally_key_entry *entry = NULL;
	HASH_FIND_STR(table->entries, key, entry);
	return entry ? entry->counter : NULL;
}

bool
tally_key_table_has(const struct tally_key_table *table, const char *key)
{
	return holder_of(table, key) != NULL;
}

bool
tally_key_table_reserve(struct tally_key_table *table, const struct tally_counter *counter)
{
	if (!table || holder_of(table, counter->key))
		return true;
	struct tally_key_entry *entry = calloc(1, sizeof(*entry));
	if (!entry)
		return false;
	entry->counter = counter;
	HASH_ADD_KEYPTR(hh, table->entries, counter->key, strlen(counter->key), entry);
	if (entry->hh.tbl)
		return true;
	free(entry);
	return false;
}

const struct tally_counter *
tally_key_table_add(struct tally_key_table *table, struct tally_counter *counter)
{
	char key[MAX_KEY];
	const char *liked = counter->key;
	if (!table)
		return tally_counter_keep(counter);
	for (uint32_t i = 0; i < HASH_COUNT(table->entries) + 2; i++) {
		if (i == 0)
			snprintf(key, sizeof(key), "%.200s", liked);
		else if (i == 1)
			snprintf(key, sizeof(key), "%.24s.%.200s", counter->source, liked);
		else
			snprintf(key, sizeof(key), "%.24s.%.200s.%u", counter->source, liked, i);
		const struct tally_counter *holder = holder_of(table, key);
		if (holder && same_meaning(holder, counter)) {
			counter->key = holder->key;
			return holder;
		}
		if (holder)
			continue;
		counter->key = key;
		const struct tally_counter *kept = tally_counter_keep(counter);
		counter->key = kept ? kept->key : liked;
		return kept && tally_key_table_reserve(table, kept) ? kept : NULL;
	}
	return NULL;
}

void
tally_key_table_finish(struct tally_key_table *table)
{
	struct tally_key_entry *entry, *next;
	HASH_ITER (hh, table->entries, entry, next) {
		HASH_DEL(table->entries, entry);
		free(entry);
	}
}

/* ---- for the device line ---- */

static uint32_t
first_of_its_source(const struct tally_layout *layout)
{
	uint32_t first = layout->n_counters - 1;
	const char *source = layout->counters[first]->source;
	while (first && strcmp(layout->counters[first - 1]->source, source) == 0)
		first--;
	return first;
}

struct tally_set_info *
tally_counter_sets_list(const struct tally_counter_set *const *sets, uint32_t n, uint32_t *n_out)
{
	size_t n_keys = 0;
	*n_out = 0;
	for (uint32_t i = 0; i < n; i++)
		n_keys += sets[i]->layout.n_counters;
	struct tally_set_info *out = malloc(n * sizeof(*out) + n_keys * sizeof(char *) + 1);
	const char **keys = (const char **)(out + n);
	for (uint32_t i = 0; out && i < n; i++) {
		const struct tally_layout *layout = &sets[i]->layout;
		if (!layout->set || !layout->n_counters)
			continue;
		uint32_t first = first_of_its_source(layout);
		out[(*n_out)++] = (struct tally_set_info){
			.name = layout->set,
			.source = layout->counters[first]->source,
			.category = sets[i]->category,
			.bytes = sets[i]->bytes,
			.keys = keys,
			.n_keys = layout->n_counters - first,
		};
		while (first < layout->n_counters)
			*keys++ = layout->counters[first++]->key;
	}
	return out;
}

/* ---- grouping and rotation ---- */

uint32_t
tally_counter_group(uint32_t n, uint32_t *set_of, uint32_t *order, tally_counter_fits *fits,
		    void *data)
{
	uint32_t n_sets = 0, left = n;
	for (uint32_t i = 0; i < n; i++)
		set_of[i] = TALLY_NO_SET;
	/* A counter that would open a set but does not fit alone is skipped permanently; so
	 * each round takes the first remaining counter, and the loop ends. */
	for (uint32_t first = 0; first < n && left; first++) {
		uint32_t chosen = 0;
		if (set_of[first] != TALLY_NO_SET)
			continue;
		for (uint32_t i = first; i < n; i++) {
			if (set_of[i] != TALLY_NO_SET)
				continue;
			order[chosen] = i;
			if (fits(data, order, chosen + 1)) {
				set_of[i] = n_sets;
				chosen++;
				left--;
			} else if (!chosen) {
				break;
			}
		}
		if (chosen)
			n_sets++;
		order += chosen;
	}
	for (uint32_t i = 0; i < n; i++)
		if (set_of[i] == TALLY_NO_SET)
			*order++ = i;
	return n_sets;
}

bool
tally_set_is_pinned(const char *name, const char *pinned)
{
	return strcmp(name, pinned) == 0 || tally_list_matches(pinned, name, NULL);
}

__attribute__((hot)) uint32_t
tally_counter_turn(const struct tally_counter_set *const *sets, uint32_t n, const char *pinned,
		   uint64_t turn)
{
	if (!n)
		return TALLY_NO_SET;
	if (!pinned)
		return (uint32_t)(turn % n);
	for (uint32_t i = 0; i < n; i++) {
		const char *name = sets[i]->layout.set;
		if (name && tally_set_is_pinned(name, pinned))
			return i;
	}
	return TALLY_NO_SET;
}

/* SPDX-License-Identifier: MIT */
#include "query/sampler/history.h"

#include "query/sampler/share_of.h"

#include <stdlib.h>
#include <string.h>

/* Readings are stored in chunks, so that memory is allocated as it is needed and no reading is
 * ever moved to grow. */
#define CHUNK 16u

/* The layout of a stored reading: FIRST, NUMBER, TIME, FLAGS, totals, unknown. */
enum { FIRST = 0, NUMBER, TIME, FLAGS, TOTALS };

struct tally_history {
	uint32_t n_counters, words;
	size_t stride; /* numbers per reading */
	uint64_t **chunks; /* the oldest first; those after the newest reading are spare */
	uint32_t n_chunks, max_chunks;
	uint32_t head; /* index of the oldest in chunks[0] */
	uint32_t n;
	/* Of readings that could not be kept: their flags, then which deltas were unknown. */
	uint64_t *owed;
};

static uint64_t *
slot(const struct tally_history *h, uint32_t i)
{
	uint32_t place = h->head + i;
	return h->chunks[place / CHUNK] + (place % CHUNK) * h->stride;
}

static uint64_t *
unknown_of(const struct tally_history *h, uint64_t *reading)
{
	return reading + TOTALS + h->n_counters;
}

struct tally_history *
tally_history_create(uint32_t n_counters, size_t max_bytes)
{
	struct tally_history *h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	h->n_counters = n_counters;
	h->words = n_counters / 64 + (n_counters % 64 != 0);
	h->stride = (size_t)TOTALS + n_counters + h->words;
	size_t chunk_bytes = CHUNK * h->stride * sizeof(uint64_t) + sizeof(*h->chunks);
	size_t max = max_bytes / chunk_bytes;
	/* Two chunks: sixteen readings have room wherever the first one lies. */
	h->max_chunks = max < 2                        ? 2
			: max > UINT32_MAX / CHUNK - 1 ? UINT32_MAX / CHUNK - 1
						       : (uint32_t)max;
	h->chunks = calloc(h->max_chunks, sizeof(*h->chunks));
	h->owed = calloc((size_t)h->words + 1, sizeof(*h->owed));
	if (!h->chunks || !h->owed) {
		tally_history_destroy(h);
		return NULL;
	}
	return h;
}

void
tally_history_destroy(struct tally_history *h)
{
	if (!h)
		return;
	for (uint32_t i = 0; h->chunks && i < h->n_chunks; i++)
		free(h->chunks[i]);
	free(h->chunks);
	free(h->owed);
	free(h);
}

/* What is known about the delta before `from` applies to the delta before `to` as well. */
static void
merge_doubts(const struct tally_history *h, uint64_t *to, uint64_t *from)
{
	to[FLAGS] |= from[FLAGS];
	for (uint32_t w = 0; w < h->words; w++)
		unknown_of(h, to)[w] |= unknown_of(h, from)[w];
}

/* Drops every second reading of the older half, but not the first. */
static void
coarsen(struct tally_history *h)
{
	uint32_t kept = 1;
	for (uint32_t i = 1; i < h->n; i++) {
		if (i < h->n / 2 && i % 2 == 1) {
			merge_doubts(h, slot(h, i + 1), slot(h, i));
			continue;
		}
		if (kept != i)
			memcpy(slot(h, kept), slot(h, i), h->stride * sizeof(uint64_t));
		kept++;
	}
	h->n = kept;
}

static bool
make_room(struct tally_history *h)
{
	if ((h->head + h->n) / CHUNK < h->n_chunks)
		return true;
	if (h->n_chunks == h->max_chunks) {
		coarsen(h);
		return true;
	}
	uint64_t *chunk = malloc(CHUNK * h->stride * sizeof(*chunk));
	if (!chunk)
		return false;
	h->chunks[h->n_chunks++] = chunk;
	return true;
}

bool
tally_history_add(struct tally_history *h, const struct tally_reading *reading)
{
	if (!make_room(h)) {
		h->owed[0] |= reading->flags;
		for (uint32_t w = 0; w < h->words; w++)
			h->owed[1 + w] |= reading->unknown[w];
		return false;
	}
	const uint64_t *last = h->n ? slot(h, h->n - 1) : NULL;
	uint64_t *added = slot(h, h->n);
	added[FIRST] = reading->first;
	added[NUMBER] = reading->number;
	added[TIME] = reading->time_ns;
	if (last && added[TIME] <= last[TIME])
		added[TIME] = last[TIME] + 1;
	added[FLAGS] = reading->flags | h->owed[0];
	for (uint32_t i = 0; i < h->n_counters; i++) {
		added[TOTALS + i] = reading->totals[i];
		/* A source whose total decreases violates its contract: no delta is better than
		 * one of 2^64. */
		if (last && added[TOTALS + i] < last[TOTALS + i])
			added[TOTALS + i] = last[TOTALS + i];
	}
	for (uint32_t w = 0; w < h->words; w++)
		unknown_of(h, added)[w] = reading->unknown[w] | h->owed[1 + w];
	memset(h->owed, 0, ((size_t)h->words + 1) * sizeof(*h->owed));
	h->n++;
	return true;
}

/* The number of readings whose `field`, which increases, is at most that: TIME or NUMBER. */
static uint32_t
count_up_to(const struct tally_history *h, unsigned field, uint64_t value)
{
	uint32_t low = 0, high = h->n;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (slot(h, middle)[field] <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void
tally_history_trim(struct tally_history *h, uint64_t time_ns)
{
	uint32_t before = count_up_to(h, TIME, time_ns);
	if (before < 2)
		return;
	h->head += before - 1;
	h->n -= before - 1;
	/* Empty chunks are moved after the others. */
	uint32_t empty = h->head / CHUNK;
	h->head %= CHUNK;
	for (; empty > 0; empty--) {
		uint64_t *chunk = h->chunks[0];
		memmove(h->chunks, h->chunks + 1, (h->n_chunks - 1) * sizeof(*h->chunks));
		h->chunks[h->n_chunks - 1] = chunk;
	}
}

static bool
read_entry(const struct tally_history *h, uint32_t i, struct tally_reading *out)
{
	if (i >= h->n)
		return false;
	uint64_t *reading = slot(h, i);
	*out = (struct tally_reading){
		.first = reading[FIRST],
		.number = reading[NUMBER],
		.time_ns = reading[TIME],
		.totals = reading + TOTALS,
		.unknown = unknown_of(h, reading),
		.flags = reading[FLAGS],
	};
	return true;
}

bool
tally_history_first(const struct tally_history *h, struct tally_reading *out)
{
	return read_entry(h, 0, out);
}

bool
tally_history_last(const struct tally_history *h, struct tally_reading *out)
{
	return h->n > 0 && read_entry(h, h->n - 1, out);
}

bool
tally_history_find(const struct tally_history *h, uint64_t number, struct tally_reading *out)
{
	uint32_t i = number ? count_up_to(h, NUMBER, number - 1) : 0;
	return i < h->n && slot(h, i)[FIRST] <= number && read_entry(h, i, out);
}

void
tally_history_at(const struct tally_history *h, uint64_t time_ns, uint64_t *totals)
{
	if (h->n == 0) {
		memset(totals, 0, h->n_counters * sizeof(*totals));
		return;
	}
	uint32_t after = count_up_to(h, TIME, time_ns);
	const uint64_t *a = slot(h, after ? after - 1 : 0);
	if (after == 0 || after == h->n) {
		memcpy(totals, a + TOTALS, h->n_counters * sizeof(*totals));
		return;
	}
	const uint64_t *b = slot(h, after);
	uint64_t part = time_ns - a[TIME], whole = b[TIME] - a[TIME];
	for (uint32_t i = 0; i < h->n_counters; i++) {
		uint64_t rest, total = a[TOTALS + i];
		totals[i] = total + tally_share_of(b[TOTALS + i] - total, part, whole, &rest);
	}
}

static void
doubt_all(const struct tally_history *h, uint64_t *unknown)
{
	for (uint32_t i = 0; i < h->n_counters; i++)
		unknown[i / 64] |= UINT64_C(1) << i % 64;
}

uint64_t
tally_history_invalid(const struct tally_history *h, uint64_t begin_ns, uint64_t end_ns,
		      uint64_t *unknown)
{
	uint64_t flags = 0;
	/* Before the first reading and after the last one, nothing was observed. */
	if (h->n == 0 || begin_ns < slot(h, 0)[TIME] || end_ns > slot(h, h->n - 1)[TIME])
		doubt_all(h, unknown);
	if (begin_ns >= end_ns)
		return 0;
	for (uint32_t i = count_up_to(h, TIME, begin_ns); i < h->n; i++) {
		uint64_t *reading = slot(h, i);
		/* The first reading applies to a time about which nothing else is known. */
		if (i > 0) {
			flags |= reading[FLAGS];
			for (uint32_t w = 0; w < h->words; w++)
				unknown[w] |= unknown_of(h, reading)[w];
		}
		if (reading[TIME] >= end_ns)
			break;
	}
	return flags;
}

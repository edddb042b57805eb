/* SPDX-License-Identifier: MIT */
#include "cli/answer/hitch.h"

#include "cli/shared/each.h"
#include "cli/shared/sort.h"

#include <stdlib.h>
#include <string.h>

/* The thresholds of docs/verdicts.md. */
#define LEAST_FRAMES 8 /* in the window: with fewer frames nothing is judged */
#define FACTOR_NUM 3 /* one and a half times as long */
#define FACTOR_DEN 2
#define LONGER_NS UINT64_C(5000000)

void
tally_hitches_init(struct tally_hitches *h)
{
	*h = (struct tally_hitches){ 0 };
	for (unsigned i = 0; i < TALLY_HITCH_WINDOW; i++)
		h->ring[i].parts = g_array_new(FALSE, FALSE, sizeof(struct tally_hitch_part));
}

void
tally_hitches_finish(struct tally_hitches *h)
{
	for (unsigned i = 0; i < TALLY_HITCH_WINDOW; i++)
		g_array_unref(h->ring[i].parts);
	for (unsigned i = 0; i < h->n_worst; i++)
		g_array_unref(h->worst[i].parts);
	*h = (struct tally_hitches){ 0 };
}

struct tally_hitch_frame *
tally_hitches_next(struct tally_hitches *h)
{
	struct tally_hitch_frame *f = &h->ring[h->n % TALLY_HITCH_WINDOW];
	GArray *parts = f->parts;
	g_array_set_size(parts, 0);
	*f = (struct tally_hitch_frame){ .parts = parts };
	return f;
}

static const struct tally_hitch_frame *
frame_at(const struct tally_hitches *h, uint64_t number)
{
	return &h->ring[number % TALLY_HITCH_WINDOW];
}

/* The parts of the frame and of those shortly before it: of each part the largest. */
static void
take_parts(const struct tally_hitches *h, uint64_t number, struct tally_hitch *out)
{
	out->timed = true;
	out->parts = g_array_new(FALSE, FALSE, sizeof(struct tally_hitch_part));
	g_autoptr(GHashTable) index = g_hash_table_new(NULL, NULL);
	uint64_t first = number > TALLY_HITCH_BEFORE ? number - TALLY_HITCH_BEFORE : 0;
	uint64_t oldest = h->n > TALLY_HITCH_WINDOW ? h->n - TALLY_HITCH_WINDOW : 0;
	for (uint64_t k = MAX(first, oldest); k <= number; k++) {
		const struct tally_hitch_frame *f = frame_at(h, k);
		out->timed &= f->timed;
		TALLY_EACH_OF (const struct tally_hitch_part, p, f->parts) {
			guint at = GPOINTER_TO_UINT(g_hash_table_lookup(index, p->what));
			if (at == 0) {
				g_array_append_val(out->parts, *p);
				g_hash_table_insert(index, p->what,
						    GUINT_TO_POINTER(out->parts->len));
				continue;
			}
			struct tally_hitch_part *kept = &g_array_index(
				out->parts, struct tally_hitch_part, at - 1);
			kept->may_wait = p->ns > kept->ns ? p->may_wait : kept->may_wait;
			kept->ns = MAX(kept->ns, p->ns);
			kept->first |= p->first;
		}
	}
}

static void
keep_worst(struct tally_hitches *h, uint64_t number, uint64_t excess_ns, uint64_t usual_thread_ns)
{
	const struct tally_hitch_frame *f = frame_at(h, number);
	unsigned at = h->n_worst;
	while (at > 0 && h->worst[at - 1].excess_ns < excess_ns)
		at--;
	if (at == TALLY_HITCH_WORST)
		return;
	if (h->n_worst == TALLY_HITCH_WORST)
		g_array_unref(h->worst[--h->n_worst].parts);
	memmove(&h->worst[at + 1], &h->worst[at], (h->n_worst - at) * sizeof(h->worst[0]));
	h->n_worst++;
	h->worst[at] = (struct tally_hitch){
		.frame = f->frame,
		.start_ns = f->start_ns,
		.frame_ns = f->frame_ns,
		.excess_ns = excess_ns,
		.has_thread = f->has_thread,
		.thread_growth_ns = (int64_t)(f->thread_ns - usual_thread_ns),
	};
	take_parts(h, number, &h->worst[at]);
}

/* The median of a uint64_t, a member of struct tally_hitch_frame. */
static uint64_t
median_of(const struct tally_hitches *h, uint64_t first, size_t n, size_t member)
{
	uint64_t values[TALLY_HITCH_WINDOW];
	for (size_t i = 0; i < n; i++)
		values[i] = G_STRUCT_MEMBER(uint64_t, frame_at(h, first + i), member);
	qsort(values, n, sizeof(values[0]), tally_order_u64);
	return values[(n - 1) / 2];
}

/* Compares the oldest frame that is not judged yet with those around it, up to the newest. */
static void
judge_next(struct tally_hitches *h)
{
	uint64_t number = h->judged++, ns = frame_at(h, number)->frame_ns;
	uint64_t first = number > TALLY_HITCH_AROUND ? number - TALLY_HITCH_AROUND : 0;
	size_t n = (size_t)(h->n - first);
	if (n < LEAST_FRAMES || ns < LONGER_NS)
		return;
	/* Four of five of them must be shorter by this much. */
	uint64_t limit = MIN(ns / FACTOR_NUM * FACTOR_DEN, ns - LONGER_NS);
	size_t shorter = 0;
	for (uint64_t k = first; k < h->n; k++)
		shorter += frame_at(h, k)->frame_ns <= limit;
	if (5 * shorter < 4 * n)
		return;
	const size_t thread = offsetof(struct tally_hitch_frame, thread_ns);
	uint64_t excess_ns = ns - median_of(h, first, n,
					    offsetof(struct tally_hitch_frame, frame_ns));
	h->count++;
	h->excess_ns += excess_ns;
	keep_worst(h, number, excess_ns, median_of(h, first, n, thread));
}

void
tally_hitches_add(struct tally_hitches *h)
{
	if (++h->n > TALLY_HITCH_AROUND)
		judge_next(h);
}

void
tally_hitches_conclude(struct tally_hitches *h)
{
	while (h->judged < h->n)
		judge_next(h);
}

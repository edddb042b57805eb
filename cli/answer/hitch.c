/* SPDX-License-Identifier: MIT */
#include "cli/answer/hitch.h"

#include "cli/shared/each.h"
#include "cli/shared/sort.h"

#include <stdlib.h>

/* The thresholds of docs/verdicts.md. */
#define LEAST_FRAMES 8 /* in the window: with fewer frames nothing is judged */
#define FACTOR_NUM 3 /* one and a half times as long */
#define FACTOR_DEN 2
#define LONGER_NS UINT64_C(5000000)

bool
tally_hitch_is_one(uint64_t ns, uint64_t around_ns)
{
	return ns >= LONGER_NS && around_ns <= MIN(ns / FACTOR_NUM * FACTOR_DEN, ns - LONGER_NS);
}

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
	*h = (struct tally_hitches){ 0 };
}

struct tally_hitch_frame *
tally_hitches_next(struct tally_hitches *h)
{
	struct tally_hitch_frame *f = &h->ring[h->n % TALLY_HITCH_WINDOW];
	GArray *parts = f->parts;
	g_array_set_size(parts, 0);
	*f = (struct tally_hitch_frame){ .parts = parts, .known = { true } };
	return f;
}

static const struct tally_hitch_frame *
frame_at(const struct tally_hitches *h, uint64_t number)
{
	return &h->ring[number % TALLY_HITCH_WINDOW];
}

static uint64_t
median_of(uint64_t *values, size_t n)
{
	qsort(values, n, sizeof(values[0]), tally_order_u64);
	return n ? values[(n - 1) / 2] : 0;
}

/* Whether work of frame `k` may have delayed frame `number`: the GPU had not finished it when
 * that began. */
static bool
may_delay(const struct tally_hitches *h, uint64_t k, uint64_t number)
{
	const struct tally_hitch_frame *f = frame_at(h, k);
	if (!f->placed)
		return k + TALLY_HITCH_BEFORE >= number;
	return k == number || f->start_ns + f->ns[TALLY_HITCH_FRAME] + f->behind_ns >
				      frame_at(h, number)->start_ns;
}

/* Whether frame `k` was a hitch itself, and what made it one is over: the GPU had done it soon
 * after that, if it is known when. */
static bool
is_over(const struct tally_hitches *h, uint64_t k, const struct tally_hitch *of)
{
	const struct tally_hitch_frame *f = frame_at(h, k);
	return tally_hitch_is_one(f->ns[TALLY_HITCH_FRAME], of->frame_ns - of->excess_ns) &&
	       !(f->placed && f->start_ns + f->ns[TALLY_HITCH_FRAME] + f->behind_ns >=
				      of->start_ns + of->frame_ns / 2);
}

static struct tally_hitch_part *
need_part(GArray *parts, GHashTable *index, const struct tally_hitch_part *like)
{
	const struct tally_hitch_part new = { .what = like->what, .name = like->name };
	guint at = GPOINTER_TO_UINT(g_hash_table_lookup(index, like->what));
	if (at == 0) {
		g_array_append_val(parts, new);
		at = parts->len;
		g_hash_table_insert(index, like->what, GUINT_TO_POINTER(at));
	}
	return &g_array_index(parts, struct tally_hitch_part, at - 1);
}

/* The parts of the frame and of those before it that may have delayed it: of each part the
 * largest. Also, the shaders that were made there. */
static void
take_parts(const struct tally_hitches *h, uint64_t first, uint64_t number, struct tally_hitch *out,
	   GArray *parts, GHashTable *index)
{
	out->timed = true;
	for (uint64_t k = first; k <= number; k++) {
		const struct tally_hitch_frame *f = frame_at(h, k);
		if (!may_delay(h, k, number))
			continue;
		out->timed &= f->timed;
		if (k < number && is_over(h, k, out))
			continue;
		out->made = MAX(out->made,
				tally_event_made(&f->events, &out->usual[TALLY_HITCH_EVENTS]));
		uint64_t draws = 0;
		TALLY_EACH_OF (const struct tally_hitch_part, p, f->parts) {
			if (k == number && p->after)
				continue;
			struct tally_hitch_part *most = need_part(parts, index, p);
			draws += p->no_draws ? 0 : p->draws;
			bool first_time = most->first || p->first;
			if (p->ns > most->ns || (p->ns == most->ns && p->draws > most->draws))
				*most = *p;
			most->first = first_time;
		}
		out->draws = MAX(out->draws, draws);
	}
}

/* What is usual for these parts and those that are only around: 0 for one that is in fewer than
 * half of the frames. */
static void
look_around(const struct tally_hitches *h, uint64_t first, GArray *parts, GHashTable *index)
{
	for (uint64_t k = first; k < h->n; k++)
		TALLY_EACH_OF (const struct tally_hitch_part, p, frame_at(h, k)->parts)
			need_part(parts, index, p);
	size_t n = (size_t)(h->n - first), n_parts = parts->len;
	g_autofree uint64_t *ns = g_new0(uint64_t, n * n_parts);
	g_autofree uint64_t *draws = g_new0(uint64_t, n * n_parts);
	g_autofree uint64_t *cpu_ns = g_new0(uint64_t, n * n_parts);
	for (uint64_t k = first; k < h->n; k++)
		TALLY_EACH_OF (const struct tally_hitch_part, p, frame_at(h, k)->parts) {
			guint at = GPOINTER_TO_UINT(g_hash_table_lookup(index, p->what));
			ns[(at - 1) * n + (k - first)] = p->ns;
			draws[(at - 1) * n + (k - first)] = p->draws;
			cpu_ns[(at - 1) * n + (k - first)] = p->cpu_ns;
		}
	for (size_t i = 0; i < n_parts; i++) {
		struct tally_hitch_part *p = &g_array_index(parts, struct tally_hitch_part, i);
		p->around_ns = median_of(&ns[i * n], n);
		p->around_draws = median_of(&draws[i * n], n);
		p->around_cpu_ns = median_of(&cpu_ns[i * n], n);
	}
}

/* Its value of one kind, and the median of those around. */
static void
take_time(const struct tally_hitches *h, uint64_t first, const struct tally_hitch_frame *f,
	  int what, struct tally_hitch *out)
{
	uint64_t values[TALLY_HITCH_WINDOW];
	size_t n = 0;
	for (uint64_t k = first; k < h->n; k++)
		if (frame_at(h, k)->known[what])
			values[n++] = frame_at(h, k)->ns[what];
	out->ns[what] = f->ns[what];
	out->usual[what] = median_of(values, n);
	out->known[what] = f->known[what] && n >= LEAST_FRAMES;
}

/* Whether a limiter may sleep in such a call; other calls do what the frame does not usually. */
static bool
is_of_limiter(const struct tally_asleep_record *a)
{
	enum tally_asleep_kind kind = tally_asleep_kind(a);
	bool may_wait = kind == TALLY_ASLEEP_EVENTS || kind == TALLY_ASLEEP_LOCK ||
			kind == TALLY_ASLEEP_DEVICE;
	return !a->thread && (kind == TALLY_ASLEEP_SLEEP || (may_wait && !a->of));
}

/* Where its thread slept for longer than in a usual frame, and where not: that may be a limiter. */
static void
take_asleep(const struct tally_hitch_frame *f, struct tally_hitch *out)
{
	const uint64_t *usual = out->usual;
	uint64_t used_ns = usual[TALLY_HITCH_WORK] + usual[TALLY_HITCH_WAIT];
	unsigned n = 0;
	for (unsigned i = 0; i < TALLY_HITCH_PLACES; i++)
		if (!is_of_limiter(&f->asleep[i]) ||
		    f->asleep[i].ns + used_ns > usual[TALLY_HITCH_FRAME])
			out->asleep[n++] = f->asleep[i];
		else if (!out->limiter.in)
			out->limiter = f->asleep[i];
}

static void
report_hitch(struct tally_hitches *h, uint64_t first, uint64_t number)
{
	const struct tally_hitch_frame *f = frame_at(h, number);
	struct tally_hitch out = {
		.frame = f->frame,
		.start_ns = f->start_ns,
		.frame_ns = f->ns[TALLY_HITCH_FRAME],
	};
	for (int i = 0; i < TALLY_N_HITCH_TIMES; i++)
		take_time(h, first, f, i, &out);
	out.excess_ns = tally_hitch_more(&out, TALLY_HITCH_FRAME);
	take_asleep(f, &out);
	h->count++;
	h->excess_ns += out.excess_ns;
	if (!h->found)
		return;
	g_autoptr(GArray) parts = g_array_new(FALSE, FALSE, sizeof(struct tally_hitch_part));
	g_autoptr(GHashTable) index = g_hash_table_new(NULL, NULL);
	struct tally_hitch_seen seen = { .events = &f->events, .parts = parts };
	for (int i = 0; i < TALLY_N_EVENT_GROUPS; i++)
		for (uint64_t k = number + 1; k < h->n; k++)
			seen.goes_on[i] |= tally_event_goes_on(
				&frame_at(h, k)->events, (enum tally_event_group)i,
				k == number + 1, out.start_ns + out.frame_ns);
	take_parts(h, first, number, &out, parts, index);
	look_around(h, first, parts, index);
	h->found(h->user, &out, &seen);
}

/* Whether every third or fourth frame takes as long: that is how the program works. */
static bool
is_regular(const struct tally_hitches *h, uint64_t first, uint64_t number)
{
	enum { LEAST = 3 };
	uint64_t ns = frame_at(h, number)->ns[TALLY_HITCH_FRAME];
	for (uint64_t period = 3; period <= 4; period++) {
		size_t n = 0, alike = 0;
		for (uint64_t k = first + (number - first) % period; k < h->n; k += period) {
			n += k != number;
			alike += k != number &&
				 !tally_hitch_is_one(ns, frame_at(h, k)->ns[TALLY_HITCH_FRAME]);
		}
		if (n >= LEAST && 5 * alike >= 4 * n)
			return true;
	}
	return false;
}

/* Compares the oldest frame that is not judged yet with those around it, up to the newest. */
static void
judge_next(struct tally_hitches *h)
{
	uint64_t number = h->judged++, ns = frame_at(h, number)->ns[TALLY_HITCH_FRAME];
	uint64_t first = number > TALLY_HITCH_AROUND ? number - TALLY_HITCH_AROUND : 0;
	size_t n = (size_t)(h->n - first);
	if (n < LEAST_FRAMES || (h->from_start && number == 0))
		return;
	/* It must be one beside two of three of them. */
	size_t shorter = 0;
	for (uint64_t k = first; k < h->n; k++)
		shorter += tally_hitch_is_one(ns, frame_at(h, k)->ns[TALLY_HITCH_FRAME]);
	if (3 * shorter >= 2 * n && !is_regular(h, first, number))
		report_hitch(h, first, number);
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

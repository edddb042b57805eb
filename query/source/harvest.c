/* SPDX-License-Identifier: MIT */
#include "query/source/harvest.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/base/array.h"
#include "layer/log.h"

#define WORD_BITS 64u
#define RETRIES 4u /* slots per call */

/* An open source, and the position of its counters among all counters. */
struct open_source {
	struct tally_source *src;
	uint32_t first;
};

/* One entry of the rotation: a source and one of its sets. */
struct turn {
	struct tally_source *src;
	uint32_t set; /* index among that source's sets */
};

struct harvest_slot {
	const struct tally_counter_set *set;
	uint16_t waiting; /* one bit per open source that has not answered yet */
	bool running;     /* begun and not ended */
	bool lost;        /* a source answered TALLY_LOST */
	bool undone;      /* a source detected that the GPU did not do the work */
	uint64_t ended;   /* as the how many-th of all */
};

struct tally_harvest {
	/* In the order in which they begin: sources of time come first and are hence outermost;
	 * they end in reverse order. */
	struct open_source open[TALLY_MAX_SOURCES];
	uint32_t n_open;

	struct harvest_slot *slots;
	/* A stack: the slots used last are reused first, because their query
	 * objects are warm. */
	uint32_t *free;
	uint32_t n_free, n_slots, max_slots;
	uint32_t *given_up; /* slots for which some source has not answered yet */
	uint32_t n_given_up, next_retry;
	uint64_t n_ended, n_submitted; /* slots; see tally_harvest_submitted() */

	/* The counters that are always counted, and room for building on them. */
	const struct tally_counter **fixed;
	uint32_t n_fixed;
	const struct tally_counter **counters; /* those of all sets */
	uint32_t n_counters, max_values;
	const struct tally_counter_set **sets;
	struct turn *turns; /* one for each of the sets */
	uint32_t n_sets;
	bool has_sets; /* now or at some time */
	const char *pinned; /* only a set of that name is counted; NULL: all in turn */
	bool in_frame; /* one was begun, and has not ended here */
	uint64_t first_frame, every, chosen_for; /* see tally_harvest_rotate() */
	const struct tally_counter_set *unselected, *selected;
	uint16_t counting; /* one bit per open source that counts from the next begin on */
	uint16_t timed;    /* those of them that deliver time */
	struct tally_key_table keys;
	/* One source's valid bits, before they are moved to their position. */
	uint64_t *scratch;
	struct tally_sample unwanted; /* room for the answers to slots that were given up */

	struct tally_source *all[TALLY_MAX_SOURCES]; /* in log order */
	bool is_open[TALLY_MAX_SOURCES];
	struct tally_source_info infos[TALLY_MAX_SOURCES];
	uint32_t n_all;
};

/* Makes room for `n` slots; add_slots() puts the new ones on the free stack, lowest on top. */
static bool
resize_pool(struct tally_harvest *h, uint32_t n)
{
	if (!tally_array_resize(&h->slots, n, sizeof(*h->slots)) ||
	    !tally_array_resize(&h->free, n, sizeof(*h->free)) ||
	    !tally_array_resize(&h->given_up, n, sizeof(*h->given_up)))
		return false;
	for (uint32_t slot = n; slot-- > h->n_slots;)
		h->free[h->n_free++] = slot;
	h->n_slots = n;
	return true;
}

static bool
open_sources(struct tally_harvest *h, uint32_t slots)
{
	bool ok = true;
	for (uint32_t i = 0; i < h->n_all; i++) {
		struct tally_source *src = h->all[i];
		src->keys = &h->keys;
		enum tally_status status = src->ops->open(src, slots);
		if (status == TALLY_NO_MEMORY)
			snprintf(src->reason, sizeof(src->reason), "out of memory");
		h->is_open[i] = status == TALLY_OK;
		src->keys = NULL;
		/* Reserves the keys of sources whose counters have fixed names. */
		for (uint32_t k = 0; h->is_open[i] && !src->n_sets && k < src->n_counters; k++)
			ok &= tally_key_table_reserve(&h->keys, src->counters[k]);
	}
	tally_key_table_finish(&h->keys);
	return ok;
}

static void
close_sources(struct tally_harvest *h, bool context_current)
{
	for (uint32_t i = 0; i < h->n_all; i++) {
		struct tally_source *src = h->all[i];
		if (h->is_open[i] && context_current)
			src->ops->close(src);
		else if (h->is_open[i])
			src->ops->abandon(src);
		tally_source_destroy(src);
	}
}

/* Makes room for `n` more pointers after the existing ones. */
static bool
append(const struct tally_counter ***array, uint32_t *n, const struct tally_counter *const *more,
       uint32_t n_more)
{
	if (!tally_array_resize(array, (size_t)*n + n_more + 1, sizeof(**array)))
		return false;
	for (uint32_t i = 0; i < n_more; i++)
		(*array)[(*n)++] = more[i];
	return true;
}

/* Sources of time guard the others; an unlogged one is of no use without any. */
static void
set_guards(struct tally_harvest *h)
{
	bool others = false;

	for (uint32_t i = 0; i < h->n_all; i++)
		others |= h->is_open[i] && !h->all[i]->ops->delivers_time;
	for (uint32_t i = 0; i < h->n_all; i++) {
		struct tally_source *src = h->all[i];
		src->guards = others && src->ops->delivers_time;
		if (h->is_open[i] && src->unlogged && !others) {
			src->ops->close(src);
			h->is_open[i] = false;
		}
	}
}

/* Lists the open sources in the order in which they begin; the counters that are always counted
 * come first in every layout. */
static bool
lay_out_fixed(struct tally_harvest *h)
{
	uint32_t first[TALLY_MAX_SOURCES];

	set_guards(h);
	for (uint32_t i = 0; i < h->n_all; i++) {
		struct tally_source *src = h->all[i];
		first[i] = h->n_fixed;
		if (h->is_open[i] && !src->n_sets &&
		    !append(&h->fixed, &h->n_fixed, src->counters, src->n_counters))
			return false;
	}
	for (int time = 1; time >= 0; time--) {
		for (uint32_t i = 0; i < h->n_all; i++) {
			struct tally_source *src = h->all[i];
			if (!h->is_open[i] || src->ops->delivers_time != (time == 1))
				continue;
			h->timed |= (uint16_t)(time << h->n_open);
			h->open[h->n_open++] =
				(struct open_source){ src, src->n_sets ? h->n_fixed : first[i] };
		}
	}
	return true;
}

/* The layout in which a source's set follows the counters that are always counted. */
static const struct tally_counter_set *
lay_out_set(struct tally_harvest *h, const struct tally_counter_set *set)
{
	uint32_t n = h->n_fixed;
	if (!append(&h->fixed, &n, set->layout.counters, set->layout.n_counters))
		return NULL;
	const struct tally_counter_set whole = {
		.layout = { set->layout.set, h->fixed, n },
		.category = set->category,
		.bytes = set->bytes,
	};
	return tally_counter_set_keep(&whole);
}

static bool
lay_out_sets(struct tally_harvest *h)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < h->n_open; i++)
		n += h->open[i].src->n_sets;
	h->turns = calloc(n + 1, sizeof(*h->turns));
	h->sets = calloc(n + 1, sizeof(const struct tally_counter_set *));
	const struct tally_counter_set fixed = { .layout = { NULL, h->fixed, h->n_fixed } };
	h->unselected = tally_counter_set_keep(&fixed);
	if (!h->turns || !h->sets || !h->unselected)
		return false;
	/* In log order, like the values. */
	for (uint32_t i = 0; i < h->n_all; i++) {
		struct tally_source *src = h->all[i];
		for (uint32_t k = 0; h->is_open[i] && k < src->n_sets; k++) {
			const struct tally_counter_set *set = lay_out_set(h, src->sets[k]);
			if (!set)
				return false;
			h->turns[h->n_sets] = (struct turn){ .src = src, .set = k };
			h->sets[h->n_sets++] = set;
		}
	}
	h->has_sets = h->n_sets > 0;
	return true;
}

/* Collects all counters that may be counted, each once. */
static bool
lay_out_union(struct tally_harvest *h)
{
	uint32_t widest = h->n_fixed;
	for (uint32_t i = 0; i < h->n_all; i++) {
		const struct tally_source *src = h->all[i];
		if (h->is_open[i] &&
		    !append(&h->counters, &h->n_counters, src->counters, src->n_counters))
			return false;
	}
	for (uint32_t i = 0; i < h->n_sets; i++) {
		if (widest < h->sets[i]->layout.n_counters)
			widest = h->sets[i]->layout.n_counters;
	}
	h->max_values = widest;
	h->scratch = calloc(widest / WORD_BITS + 1, sizeof(*h->scratch));
	h->unwanted.values = calloc(widest + 1, sizeof(*h->unwanted.values));
	h->unwanted.valid = calloc(widest / WORD_BITS + 1, sizeof(*h->unwanted.valid));
	if (!h->scratch || !h->unwanted.values || !h->unwanted.valid)
		return false;
	return append(&h->counters, &h->n_counters, NULL, 0);
}

static void
choose_set(struct tally_harvest *h, uint32_t set)
{
	const struct turn *turn = set < h->n_sets ? &h->turns[set] : NULL;

	h->selected = turn ? h->sets[set] : h->unselected;
	h->counting = 0;
	bool any = false;
	for (uint32_t i = 0; i < h->n_open; i++) {
		struct tally_source *src = h->open[i].src;
		bool counts = !src->n_sets || (turn && turn->src == src);
		if (src->n_sets)
			src->set = counts ? turn->set : TALLY_NO_SET;
		if (counts)
			h->counting |= (uint16_t)(1u << i);
		any |= counts & !src->unlogged;
	}
	h->counting *= any;
}

static void
free_harvest(struct tally_harvest *h)
{
	free(h->slots);
	free(h->free);
	free(h->given_up);
	free(h->unwanted.values);
	free(h->unwanted.valid);
	free(h->fixed);
	free(h->counters);
	free(h->sets);
	free(h->turns);
	free(h->scratch);
	free(h);
}

struct tally_harvest *
tally_harvest_create(struct tally_source *const *sources, uint32_t n, uint32_t slots,
		     uint32_t max_slots)
{
	assert(n <= TALLY_MAX_SOURCES);
	struct tally_harvest *h = calloc(1, sizeof(*h));
	if (!h) {
		for (uint32_t i = 0; i < n; i++)
			tally_source_destroy(sources[i]);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (sources[i])
			h->all[h->n_all++] = sources[i];
	}
	h->n_submitted = h->chosen_for = UINT64_MAX;
	h->every = 1;
	h->max_slots = max_slots < TALLY_MAX_SLOTS ? max_slots : TALLY_MAX_SLOTS;
	if (!h->max_slots)
		h->max_slots = 1;
	slots = slots < h->max_slots ? slots : h->max_slots;
	if (!slots)
		slots = 1;
	if (!resize_pool(h, slots))
		goto close_all;
	if (!open_sources(h, slots) || !lay_out_fixed(h) || !lay_out_sets(h) ||
	    !lay_out_union(h))
		goto close_all;
	choose_set(h, 0);
	return h;

close_all:
	close_sources(h, true);
	free_harvest(h);
	return NULL;
}

void
tally_harvest_destroy(struct tally_harvest *h, bool context_current)
{
	if (!h)
		return;
	close_sources(h, context_current);
	free_harvest(h);
}

const struct tally_counter *const *
tally_harvest_counters(const struct tally_harvest *h, uint32_t *n)
{
	*n = h->n_counters;
	return h->counters;
}

/* Removes the sets of sources that gave up from the rotation. */
static void
drop_off(struct tally_harvest *h)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < h->n_sets; i++) {
		const struct tally_source *src = h->turns[i].src;
		if (src->off || (src->sets_off && src->sets_off[h->turns[i].set]))
			continue;
		h->turns[n] = h->turns[i];
		h->sets[n++] = h->sets[i];
	}
	h->n_sets = n;
}

const struct tally_counter_set *const *
tally_harvest_sets(const struct tally_harvest *h, uint32_t *n)
{
	*n = h->n_sets ? h->n_sets : 1;
	return h->n_sets ? h->sets : (const struct tally_counter_set *const *)&h->unselected;
}

__attribute__((hot)) void
tally_harvest_select(struct tally_harvest *h, uint32_t set)
{
	if (!h->has_sets)
		return;
	/* The number refers to the list before the removal: keeps the set that was selected. */
	const struct tally_counter_set *wanted = set < h->n_sets ? h->sets[set] : NULL;
	drop_off(h);
	for (set = 0; set < h->n_sets && h->sets[set] != wanted; set++)
		;
	choose_set(h, set);
}

void
tally_harvest_rotate(struct tally_harvest *h, const char *pinned, uint64_t first_frame,
		     uint64_t every)
{
	h->pinned = pinned;
	h->first_frame = first_frame;
	h->every = every;
	h->chosen_for = UINT64_MAX;
}

/* The set whose turn it is in the frame. */
static uint32_t
turn_of(const struct tally_harvest *h, uint64_t frame)
{
	uint32_t frames = 1;
	for (uint32_t i = 0; i < h->n_open; i++) {
		if (frames < h->open[i].src->turn_frames)
			frames = h->open[i].src->turn_frames;
	}
	uint64_t turn = frame < h->first_frame ? 0 : (frame - h->first_frame) / h->every;
	return tally_counter_turn(h->sets, h->n_sets, h->pinned, turn / frames);
}

__attribute__((hot)) const struct tally_layout *
tally_harvest_frame(struct tally_harvest *h, uint64_t frame)
{
	if (frame != h->chosen_for) {
		if (h->in_frame)
			tally_harvest_frame_end(h); /* another context ended it */
		h->in_frame = true;
		h->chosen_for = frame;
		tally_harvest_select(h, turn_of(h, frame));
	}
	return &h->selected->layout;
}

const struct tally_counter_set *
tally_harvest_layout(const struct tally_harvest *h, uint32_t slot)
{
	return h->slots[slot].set;
}

uint32_t
tally_harvest_max_values(const struct tally_harvest *h)
{
	return h->max_values;
}

__attribute__((hot)) uint32_t
tally_harvest_n_off(const struct tally_harvest *h)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < h->n_open; i++) {
		const struct tally_source *src = h->open[i].src;
		n += src->off;
		for (uint32_t k = 0; src->sets_off && k < src->n_sets; k++)
			n += src->sets_off[k];
	}
	return n;
}

const struct tally_source_info *
tally_harvest_sources(struct tally_harvest *h, uint32_t *n)
{
	*n = 0;
	for (uint32_t i = 0; i < h->n_all; i++) {
		const struct tally_source *src = h->all[i];
		if (src->unlogged)
			continue;
		h->infos[(*n)++] = (struct tally_source_info){
			.name = src->ops->name,
			.on = h->is_open[i] && !src->off,
			.reason = src->reason[0] ? src->reason : NULL,
		};
	}
	return h->infos;
}

bool
tally_harvest_yield(struct tally_harvest *h, unsigned what)
{
	bool yielded = false;
	for (uint32_t i = 0; i < h->n_all; i++)
		if (h->is_open[i])
			yielded |= h->all[i]->ops->yield(h->all[i], what);
	return yielded;
}

void
tally_harvest_serialized_by(const struct tally_harvest *h, char *out, size_t size)
{
	size_t at = 0;
	out[0] = '\0';
	for (uint32_t i = 0; i < h->n_all && at < size; i++) {
		const struct tally_source *src = h->all[i];
		const char *words = h->is_open[i] && !src->off ? src->ops->serialized_by(src)
							       : NULL;
		if (words)
			at += (size_t)snprintf(out + at, size - at, "%s%s",
					       at ? "; " : "", words);
	}
}

void
tally_harvest_warn(const struct tally_harvest *h)
{
	for (uint32_t i = 0; i < h->n_all; i++) {
		const struct tally_source *src = h->all[i];
		if (src->n_sets && src->reason[0])
			tally_log_say(TALLY_LEVEL_WARNING, src->ops->name, "%s", src->reason);
	}
}

bool
tally_harvest_counts(const struct tally_harvest *h)
{
	return h->n_open > 0;
}

bool
tally_harvest_has_time(const struct tally_harvest *h)
{
	return h->n_open && h->open[0].src->ops->delivers_time && !h->open[0].src->unlogged;
}

/* Doubles the number of slots. A pool that failed to grow is never asked again: the game should
 * not pay for the attempt at every pass. */
static void
grow_pool(struct tally_harvest *h)
{
	uint32_t n = h->n_slots <= h->max_slots / 2 ? 2 * h->n_slots : h->max_slots;

	bool grown = true;
	for (uint32_t i = 0; i < h->n_open && grown; i++)
		grown = h->open[i].src->ops->grow(h->open[i].src, n) == TALLY_OK;
	if (!grown || !resize_pool(h, n))
		h->max_slots = h->n_slots;
}

__attribute__((hot)) uint32_t
tally_harvest_begin(struct tally_harvest *h)
{
	if (!h->n_free && h->n_slots < h->max_slots)
		grow_pool(h);
	if (!h->n_free)
		return TALLY_NO_SLOT;
	uint32_t slot = h->free[--h->n_free];
	h->slots[slot] = (struct harvest_slot){
		.set = h->selected,
		.waiting = h->counting,
		.running = true,
	};
	for (uint32_t left = h->counting; left; left &= left - 1) {
		struct tally_source *src = h->open[__builtin_ctz(left)].src;
		src->ops->begin(src, slot);
	}
	return slot;
}

__attribute__((hot)) void
tally_harvest_end(struct tally_harvest *h, uint32_t slot)
{
	struct harvest_slot *s = &h->slots[slot];

	s->running = false;
	s->ended = ++h->n_ended;
	for (uint32_t left = s->waiting; left;) {
		uint32_t last = 31 - (uint32_t)__builtin_clz(left);
		struct tally_source *src = h->open[last].src;
		left &= ~(UINT32_C(1) << last);
		src->ops->end(src, slot);
	}
}

__attribute__((hot)) void
tally_harvest_submitted(struct tally_harvest *h)
{
	h->n_submitted = h->n_ended;
}

__attribute__((hot)) void
tally_harvest_gap(struct tally_harvest *h)
{
	for (uint32_t i = 0; i < h->n_open; i++)
		h->open[i].src->ops->gap(h->open[i].src);
}

void
tally_harvest_resume(struct tally_harvest *h)
{
	for (uint32_t i = 0; i < h->n_open; i++)
		h->open[i].src->ops->resume(h->open[i].src);
}

/* Whether the GPU got past the slot's interval, of a source whose times nobody asked for. */
static enum tally_status
read_sign(struct tally_harvest *h, struct tally_source *src, uint32_t slot)
{
	struct tally_sample sign = { .values = NULL };
	enum tally_status answer = src->ops->read(src, slot, &sign);

	h->slots[slot].undone |= sign.undone;
	return answer == TALLY_NOT_READY ? answer : TALLY_OK;
}

/* Asks one source and puts its answer at its position among all. */
static enum tally_status
read_source(struct tally_harvest *h, const struct open_source *open, uint32_t slot,
	    struct tally_sample *out)
{
	struct tally_source *src = open->src;
	if (src->unlogged)
		return read_sign(h, src, slot);
	if (!src->n_sets && !src->n_counters && !out->has_time) {
		/* It has only a time, for which there is no other place. */
		enum tally_status answer = src->ops->read(src, slot, out);
		h->slots[slot].undone |= out->undone;
		return answer == TALLY_OK || answer == TALLY_NOT_READY ? answer : TALLY_LOST;
	}
	struct tally_sample part = {
		.values = out->values + open->first,
		.valid = h->scratch,
		.n = src->n_sets ? h->slots[slot].set->layout.n_counters - open->first
				 : src->n_counters,
	};

	for (uint32_t i = 0; i * WORD_BITS < part.n; i++)
		h->scratch[i] = 0;
	enum tally_status status = src->ops->read(src, slot, &part);
	if (status == TALLY_NOT_READY)
		return status;
	h->slots[slot].undone |= part.undone;
	if (status == TALLY_OK)
		tally_sample_check(h->slots[slot].set->layout.counters + open->first, &part);
	out->flags |= part.flags;
	if (status != TALLY_OK)
		return TALLY_LOST;
	tally_sample_merge_valid(out->valid, open->first, h->scratch, part.n);
	if (part.has_time && !out->has_time) {
		out->has_time = true;
		out->begin_ns = part.begin_ns;
		out->end_ns = part.end_ns;
	}
	return TALLY_OK;
}

/* The work was not done, or it is unknown whether it was: none of its values is valid. */
static void
clear(const struct harvest_slot *s, struct tally_sample *out)
{
	uint32_t n = s->set->layout.n_counters;

	for (uint32_t i = 0; i * WORD_BITS < n; i++)
		out->valid[i] = 0;
	out->has_time = false;
	out->flags |= TALLY_FLAG(LOST);
}

__attribute__((hot)) enum tally_status
tally_harvest_read(struct tally_harvest *h, uint32_t slot, struct tally_sample *out)
{
	struct harvest_slot *s = &h->slots[slot];

	if (s->running || s->ended > h->n_submitted)
		return TALLY_NOT_READY;
	for (uint32_t left = s->waiting; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		/* Sources of time come first in this order; they begin first and end last. */
		if (!(h->timed >> i & 1) && s->waiting & h->timed)
			return TALLY_NOT_READY;
		enum tally_status status = read_source(h, &h->open[i], slot, out);
		if (status == TALLY_NOT_READY)
			continue;
		s->waiting &= (uint16_t)~(1u << i);
		s->lost |= status == TALLY_LOST;
	}
	if (s->waiting)
		return TALLY_NOT_READY;
	h->free[h->n_free++] = slot;
	if (s->undone)
		clear(s, out);
	else if (s->lost)
		out->flags |= TALLY_FLAG(LOST);
	return s->undone || s->lost ? TALLY_LOST : TALLY_OK;
}

void
tally_harvest_give_up(struct tally_harvest *h, uint32_t slot, struct tally_sample *out)
{
	struct harvest_slot *s = &h->slots[slot];

	if (s->running)
		tally_harvest_end(h, slot);
	clear(s, out);
	h->given_up[h->n_given_up++] = slot;
}

__attribute__((hot)) void
tally_harvest_frame_end(struct tally_harvest *h)
{
	h->in_frame = false;
	for (uint32_t i = 0; i < h->n_open; i++)
		h->open[i].src->frame++;
}

bool
tally_harvest_retry(struct tally_harvest *h)
{
	for (uint32_t n = 0; n < RETRIES && h->n_given_up; n++) {
		uint32_t i = h->next_retry++ % h->n_given_up;
		if (tally_harvest_read(h, h->given_up[i], &h->unwanted) != TALLY_NOT_READY)
			h->given_up[i] = h->given_up[--h->n_given_up];
	}
	return h->n_given_up > 0;
}

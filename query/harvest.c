#include "query/harvest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BITS 64u

/* A source that is open, and where its counters stand among all. */
struct open_source {
	struct tally_source *src;
	uint32_t first;
};

struct harvest_slot {
	uint16_t waiting; /* bit per open source that has not answered yet */
	bool running;     /* begun and not ended */
	bool lost;        /* some source answered TALLY_LOST */
};

struct tally_harvest {
	/* Order of begin: sources of time first, hence outermost; end runs it backwards. */
	struct open_source open[TALLY_MAX_SOURCES];
	uint32_t n_open;

	struct harvest_slot *slots;
	uint32_t *free; /* a stack: the slots used last are used again, with warm query objects */
	uint32_t n_free, n_slots, max_slots;

	const struct tally_counter **counters;
	uint32_t n_counters;
	uint64_t *scratch; /* one source's valid bits, before they move to their place */

	struct tally_source *all[TALLY_MAX_SOURCES]; /* in log order */
	bool is_open[TALLY_MAX_SOURCES];
	struct tally_source_info infos[TALLY_MAX_SOURCES];
	uint32_t n_all;
};

/* Room for `n` slots and the new ones free, lowest on top. On failure nothing changes. */
static bool
resize_pool(struct tally_harvest *h, uint32_t n)
{
	struct harvest_slot *slots = realloc(h->slots, n * sizeof(*slots));
	if (!slots)
		return false;
	h->slots = slots;
	uint32_t *stack = realloc(h->free, n * sizeof(*stack));
	if (!stack)
		return false;
	h->free = stack;
	return true;
}

static void
add_slots(struct tally_harvest *h, uint32_t n)
{
	for (uint32_t slot = n; slot-- > h->n_slots;)
		h->free[h->n_free++] = slot;
	h->n_slots = n;
}

static void
open_sources(struct tally_harvest *h, uint32_t slots)
{
	for (uint32_t i = 0; i < h->n_all; i++)
		h->is_open[i] = h->all[i]->ops->open(h->all[i], slots) == TALLY_OK;
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

/* Values stand in log order; begin and end go time sources first. */
static bool
lay_out(struct tally_harvest *h)
{
	uint32_t first[TALLY_MAX_SOURCES];
	uint32_t widest = 1;

	for (uint32_t i = 0; i < h->n_all; i++) {
		first[i] = h->n_counters;
		if (!h->is_open[i])
			continue;
		h->n_counters += h->all[i]->n_counters;
		if (widest < h->all[i]->n_counters)
			widest = h->all[i]->n_counters;
	}
	h->scratch = calloc((widest + WORD_BITS - 1) / WORD_BITS, sizeof(*h->scratch));
	h->counters = calloc(h->n_counters ? h->n_counters : 1, sizeof(*h->counters));
	if (!h->scratch || !h->counters)
		return false;
	for (int time = 1; time >= 0; time--) {
		for (uint32_t i = 0; i < h->n_all; i++) {
			struct tally_source *src = h->all[i];
			if (!h->is_open[i] || src->ops->delivers_time != (time == 1))
				continue;
			h->open[h->n_open++] = (struct open_source){ src, first[i] };
			for (uint32_t k = 0; k < src->n_counters; k++)
				h->counters[first[i] + k] = src->counters[k];
		}
	}
	return true;
}

static void
free_harvest(struct tally_harvest *h)
{
	free(h->slots);
	free(h->free);
	free(h->counters);
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
	h->max_slots = max_slots < TALLY_MAX_SLOTS ? max_slots : TALLY_MAX_SLOTS;
	if (!h->max_slots)
		h->max_slots = 1;
	slots = slots < h->max_slots ? slots : h->max_slots;
	if (!slots)
		slots = 1;
	if (!resize_pool(h, slots))
		goto close_all;
	add_slots(h, slots);
	open_sources(h, slots);
	if (!lay_out(h))
		goto close_all;
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

const struct tally_source_info *
tally_harvest_sources(struct tally_harvest *h, uint32_t *n)
{
	for (uint32_t i = 0; i < h->n_all; i++) {
		const struct tally_source *src = h->all[i];
		h->infos[i] = (struct tally_source_info){
			.name = src->ops->name,
			.on = h->is_open[i],
			.reason = src->reason[0] ? src->reason : NULL,
		};
	}
	*n = h->n_all;
	return h->infos;
}

bool
tally_harvest_has_time(const struct tally_harvest *h)
{
	return h->n_open && h->open[0].src->ops->delivers_time;
}

/* Twice as many slots. A pool that cannot grow is never asked to again: the game should not pay
 * for the attempt at every pass. */
static void
grow(struct tally_harvest *h)
{
	uint32_t n = h->n_slots <= h->max_slots / 2 ? 2 * h->n_slots : h->max_slots;

	bool grown = resize_pool(h, n);
	for (uint32_t i = 0; i < h->n_open && grown; i++)
		grown = h->open[i].src->ops->grow(h->open[i].src, n) == TALLY_OK;
	if (grown)
		add_slots(h, n);
	else
		h->max_slots = h->n_slots;
}

uint32_t
tally_harvest_begin(struct tally_harvest *h)
{
	if (!h->n_free && h->n_slots < h->max_slots)
		grow(h);
	if (!h->n_free)
		return TALLY_NO_SLOT;
	uint32_t slot = h->free[--h->n_free];
	h->slots[slot] = (struct harvest_slot){
		.waiting = (uint16_t)((1u << h->n_open) - 1),
		.running = true,
	};
	for (uint32_t i = 0; i < h->n_open; i++)
		h->open[i].src->ops->begin(h->open[i].src, slot);
	return slot;
}

void
tally_harvest_end(struct tally_harvest *h, uint32_t slot)
{
	h->slots[slot].running = false;
	for (uint32_t i = h->n_open; i-- > 0;)
		h->open[i].src->ops->end(h->open[i].src, slot);
}

void
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

/* OR the first n bits of `from` into `to`, starting at bit `first`. */
static void
merge_valid(uint64_t *to, uint32_t first, const uint64_t *from, uint32_t n)
{
	uint64_t *word = to + first / WORD_BITS;
	uint32_t shift = first % WORD_BITS;

	for (uint32_t done = 0; done < n; done += WORD_BITS, word++, from++) {
		uint32_t left = n - done;
		uint64_t bits = left < WORD_BITS ? *from & ((UINT64_C(1) << left) - 1) : *from;
		word[0] |= bits << shift;
		if (shift && bits >> (WORD_BITS - shift))
			word[1] |= bits >> (WORD_BITS - shift);
	}
}

/* Ask one source and put its answer where it belongs among all. */
static enum tally_status
read_source(struct tally_harvest *h, const struct open_source *open, uint32_t slot,
	    struct tally_sample *out)
{
	struct tally_source *src = open->src;
	struct tally_sample part = {
		.values = out->values + open->first,
		.valid = h->scratch,
		.n = src->n_counters,
	};

	for (uint32_t i = 0; i * WORD_BITS < part.n || i == 0; i++)
		h->scratch[i] = 0;
	enum tally_status status = src->ops->read(src, slot, &part);
	if (status == TALLY_NOT_READY)
		return status;
	out->flags |= part.flags;
	if (status != TALLY_OK)
		return TALLY_LOST;
	merge_valid(out->valid, open->first, h->scratch, part.n);
	if (part.has_time && !out->has_time) {
		out->has_time = true;
		out->begin_ns = part.begin_ns;
		out->end_ns = part.end_ns;
	}
	return TALLY_OK;
}

enum tally_status
tally_harvest_read(struct tally_harvest *h, uint32_t slot, struct tally_sample *out)
{
	struct harvest_slot *s = &h->slots[slot];

	if (s->running)
		return TALLY_NOT_READY;
	for (uint32_t i = 0; i < h->n_open; i++) {
		if (!(s->waiting & 1u << i))
			continue;
		enum tally_status status = read_source(h, &h->open[i], slot, out);
		if (status == TALLY_NOT_READY)
			continue;
		s->waiting &= (uint16_t)~(1u << i);
		s->lost |= status == TALLY_LOST;
	}
	if (s->waiting)
		return TALLY_NOT_READY;
	h->free[h->n_free++] = slot;
	if (!s->lost)
		return TALLY_OK;
	out->flags |= TALLY_FLAG(LOST);
	return TALLY_LOST;
}

void
tally_harvest_discard(struct tally_harvest *h, uint32_t slot)
{
	struct harvest_slot *s = &h->slots[slot];

	for (uint32_t i = h->n_open; i-- > 0;) {
		if (s->waiting & 1u << i)
			h->open[i].src->ops->discard(h->open[i].src, slot);
	}
	s->running = false;
	s->waiting = 0;
	h->free[h->n_free++] = slot;
}

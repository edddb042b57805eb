/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/slots_read.h"

#include "vk_layer/record/slots_internal.h"

void
vk_slot_request(struct vk_device *d, const struct vk_slot *slot, uint32_t sources)
{
	struct vk_slots *s = d->slots;
	struct vk_page *page = slot->page;
	if (!page || !sources)
		return;
	uint32_t first = slot->index / UNIT_SLOTS;
	uint32_t last = (slot->index + slot->views - 1u) / UNIT_SLOTS;
	uint64_t units = (UINT64_MAX >> (UNITS - 1 - (last - first))) << first;

	for (uint32_t left = sources & page->sources; left; left &= left - 1)
		page->requested[__builtin_ctz(left)] |= units;
	if (page->is_requested)
		return;
	page->is_requested = true;
	page->requested_next = s->requested;
	s->requested = page;
}

/* Makes one call for each sequence of neighboring units, none where they were copied. */
static void
fetch_source(struct vk_slots *s, struct vk_page *page, uint32_t i)
{
	struct tally_vk_source *src = s->sources[i];
	const struct tally_vk_family *family = &page->kind->family;
	size_t row = page->kind->row_bytes[i];
	uint64_t left = page->requested[i];

	page->requested[i] = 0;
	page->fetched[i] = left;
	page->lost[i] = 0;
	while (row && left && !page->mapped.map) {
		uint32_t first = (uint32_t)__builtin_ctzll(left);
		uint64_t after = ~(left >> first);
		uint32_t n = after ? (uint32_t)__builtin_ctzll(after) : UNITS;
		uint64_t units = (UINT64_MAX >> (UNITS - n)) << first;
		uint32_t slot = first * UNIT_SLOTS;
		if (tally_vk_fetch(src, family, page->pools[i], slot, n * UNIT_SLOTS,
				    (char *)page->rows[i] + slot * row) != TALLY_OK)
			page->lost[i] |= units;
		left &= ~units;
	}
}

void
vk_slots_fetch(struct vk_device *d)
{
	struct vk_slots *s = d->slots;

	s->round++;
	while (s->requested) {
		struct vk_page *page = s->requested;
		s->requested = page->requested_next;
		page->is_requested = false;
		page->round = s->round;
		for (uint32_t i = 0; i < s->n && vk_device_runs(d); i++)
			fetch_source(s, page, i);
	}
}

/* What this round fetched for the source: only with TALLY_OK there are rows. */
static enum tally_status
fetched(const struct vk_slots *s, const struct vk_slot *slot, uint32_t i)
{
	const struct vk_page *page = slot->page;
	uint64_t unit = UINT64_C(1) << slot->index / UNIT_SLOTS;

	if (page->round != s->round || !(page->fetched[i] & unit))
		return TALLY_NOT_READY;
	return page->lost[i] & unit ? TALLY_LOST : TALLY_OK;
}

static inline enum tally_status
read_rows(struct vk_slots *s, const struct vk_slot *slot, uint32_t i, struct tally_sample *out)
{
	const struct vk_page *page = slot->page;
	struct tally_vk_source *src = s->sources[i];
	enum tally_status status = fetched(s, slot, i);
	if (status != TALLY_OK)
		return status;
	size_t row = page->kind->row_bytes[i];
	const void *rows = row ? (const char *)page->rows[i] + slot->index * row : NULL;
	return src->ops->read(src, &page->kind->family, page->pools[i], rows,
			      slot->index, slot->views, slot->halves, out);
}

/* The source's values follow those of others in `out`. */
static enum tally_status
read_apart(struct vk_slots *s, const struct vk_slot *slot, uint32_t i, struct tally_sample *out)
{
	struct tally_vk_source *src = s->sources[i];
	uint32_t n = src->n_counters, first = s->first[i];
	uint32_t set = slot->page->kind->family.set;

	if (src->n_sets) {
		n = set ? src->sets[set - 1]->layout.n_counters : 0;
		if (first + n > out->n)
			return TALLY_LOST;
	}
	struct tally_sample part = {
		.values = out->values ? out->values + first : NULL,
		.valid = s->scratch,
		.n = n,
	};
	for (uint32_t word = 0; word * 64 <= n; word++)
		s->scratch[word] = 0;
	enum tally_status status = read_rows(s, slot, i, &part);
	if (status != TALLY_OK)
		return status;
	out->flags |= part.flags;
	tally_sample_merge_valid(out->valid, first, s->scratch, n);
	if (src->ops->delivers_time) {
		out->has_time = part.has_time;
		out->begin_ns = part.begin_ns;
		out->end_ns = part.end_ns;
	}
	return TALLY_OK;
}

/* A source without values, or whose values come first in `out`, writes there itself. */
static inline enum tally_status
read_source(struct vk_slots *s, const struct vk_slot *slot, uint32_t i, struct tally_sample *out)
{
	const struct tally_vk_source *src = s->sources[i];

	return src->n_sets || (src->n_counters && s->first[i]) ? read_apart(s, slot, i, out)
							       : read_rows(s, slot, i, out);
}

/* Whether all these units were fetched in this round. */
static bool
all_fetched(const struct vk_slots *s, const struct vk_page *page, uint32_t i, uint64_t units)
{
	return page->kind->row_bytes[i] && !s->sources[i]->n_sets &&
	       !(s->sources[i]->n_counters && s->first[i]) &&
	       !(units & ~page->fetched[i]) && !(units & page->lost[i]);
}

uint64_t
vk_slots_read(struct vk_device *d, const struct vk_slot *first, uint32_t n,
	      struct tally_sample *out)
{
	struct vk_slots *s = d->slots;
	const struct vk_page *page = first->page;
	uint32_t unit = first->index / UNIT_SLOTS, last = (first->index + n - 1) / UNIT_SLOTS;
	uint64_t units = (UINT64_MAX >> (UNITS - 1 - (last - unit))) << unit;
	uint64_t complete = UINT64_MAX;

	if (page->round != s->round || !vk_device_runs(d))
		return 0;
	for (uint32_t left = first->sources; left; left &= left - 1)
		if (!all_fetched(s, page, (uint32_t)__builtin_ctz(left), units))
			return 0;
	for (uint32_t left = first->sources; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		struct tally_vk_source *src = s->sources[i];
		const char *rows = (const char *)page->rows[i] +
				   first->index * page->kind->row_bytes[i];
		complete &= src->ops->read_many(src, &page->kind->family, rows, n, out);
	}
	return complete;
}

enum tally_status
vk_slot_read(struct vk_device *d, const struct vk_slot *slot, uint32_t *left,
	     struct tally_sample *out)
{
	struct vk_slots *s = d->slots;
	bool asks = slot->page && vk_device_runs(d);

	for (uint32_t ask = *left; ask; ask &= ask - 1) {
		enum tally_status status = TALLY_LOST;
		if (asks)
			status = read_source(s, slot, (uint32_t)__builtin_ctz(ask), out);
		if (status == TALLY_NOT_READY)
			continue;
		*left &= ~(ask & -ask);
		if (status != TALLY_OK)
			out->flags |= TALLY_FLAG(LOST);
	}
	if (*left)
		return TALLY_NOT_READY;
	return out->flags & TALLY_FLAG(LOST) ? TALLY_LOST : TALLY_OK;
}

bool
vk_slot_is_ready(struct vk_device *d, const struct vk_slot *slot)
{
	struct tally_value values[VK_MAX_COUNTERS];
	uint64_t valid[VK_MAX_COUNTERS / 64 + 1] = { 0 };
	struct tally_sample sample = { .values = values, .valid = valid, .n = VK_MAX_COUNTERS };
	uint32_t timed = slot->sources & d->slots->with_time;
	uint32_t left = timed ? timed : slot->sources;

	vk_slot_request(d, slot, left);
	vk_slots_fetch(d);
	return vk_slot_read(d, slot, &left, &sample) != TALLY_NOT_READY;
}

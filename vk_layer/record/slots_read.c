/* Reading the results of queries: one round makes few calls for many slots. */
#include "vk_layer/record/slots_internal.h"

#include <string.h>

void
vk_slot_want(struct vk_device *d, const struct vk_slot *slot, uint32_t sources)
{
	struct vk_slots *s = d->slots;
	struct vk_page *page = slot->page;
	if (!page || !sources)
		return;
	uint32_t first = slot->index / UNIT_SLOTS;
	uint32_t last = (slot->index + slot->views - 1u) / UNIT_SLOTS;
	uint64_t units = (UINT64_MAX >> (UNITS - 1 - (last - first))) << first;

	for (uint32_t left = sources & page->sources; left; left &= left - 1)
		page->wanted[__builtin_ctz(left)] |= units;
	if (page->is_wanted)
		return;
	page->is_wanted = true;
	page->wanted_next = s->wanted;
	s->wanted = page;
}

/* Makes one call for each sequence of neighboring units. */
static void
fetch_source(struct vk_slots *s, struct vk_page *page, uint32_t i)
{
	struct tally_vk_source *src = s->sources[i];
	const struct tally_vk_family *family = &s->kinds[page->kind].family;
	size_t row = src->ops->row_bytes(src, family);
	uint64_t left = page->wanted[i];

	page->wanted[i] = 0;
	page->fetched[i] = left;
	page->lost[i] = 0;
	while (row && left) {
		uint32_t first = (uint32_t)__builtin_ctzll(left);
		uint64_t after = ~(left >> first);
		uint32_t n = after ? (uint32_t)__builtin_ctzll(after) : UNITS;
		uint64_t units = (UINT64_MAX >> (UNITS - n)) << first;
		uint32_t slot = first * UNIT_SLOTS;
		if (src->ops->fetch(src, family, page->pools[i], slot, n * UNIT_SLOTS,
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
	while (s->wanted) {
		struct vk_page *page = s->wanted;
		s->wanted = page->wanted_next;
		page->is_wanted = false;
		page->round = s->round;
		for (uint32_t i = 0; i < s->n && vk_device_runs(d); i++)
			fetch_source(s, page, i);
	}
}

/* The rows of a slot that this round fetched. */
static enum tally_status
find_rows(const struct vk_slots *s, const struct vk_slot *slot, uint32_t i, const void **rows)
{
	const struct vk_page *page = slot->page;
	const struct tally_vk_source *src = s->sources[i];
	uint64_t unit = UINT64_C(1) << slot->index / UNIT_SLOTS;
	size_t row = src->ops->row_bytes(src, &s->kinds[page->kind].family);

	*rows = row ? (const char *)page->rows[i] + slot->index * row : NULL;
	if (page->round != s->round || !(page->fetched[i] & unit))
		return TALLY_NOT_READY;
	return page->lost[i] & unit ? TALLY_LOST : TALLY_OK;
}

static enum tally_status
read_source(struct vk_device *d, uint32_t family, const struct vk_slot *slot, uint32_t i,
	    struct tally_sample *out)
{
	struct vk_slots *s = d->slots;
	struct tally_vk_source *src = s->sources[i];
	const struct tally_vk_family *how = &s->kinds[slot->page->kind].family;
	struct tally_vk_family mine = d->families[family];
	struct tally_sample part = {
		.values = out->values ? out->values + s->first[i] : NULL,
		.valid = s->scratch,
		.n = src->n_counters,
	};

	mine.index = how->index; /* the kind's own index, where the index makes a difference */
	mine.set = how->set;
	if (src->n_sets)
		part.n = how->set ? src->sets[how->set - 1]->layout.n_counters : 0;
	if (src->n_sets && s->first[i] + part.n > out->n)
		return TALLY_LOST;
	const void *rows;
	enum tally_status status = find_rows(s, slot, i, &rows);
	if (status != TALLY_OK)
		return status;
	memset(s->scratch, 0, (part.n / 64 + 1) * sizeof(s->scratch[0]));
	status = src->ops->read(src, &mine, slot->page->pools[i], rows, slot->index, slot->views,
				slot->halves, &part);
	if (status != TALLY_OK)
		return status;
	out->flags |= part.flags;
	for (uint32_t k = 0; k < part.n; k++) {
		uint32_t at = s->first[i] + k;
		if (s->scratch[k / 64] & UINT64_C(1) << (k % 64))
			out->valid[at / 64] |= UINT64_C(1) << (at % 64);
	}
	if (src->ops->delivers_time) {
		out->has_time = part.has_time;
		out->begin_ns = part.begin_ns;
		out->end_ns = part.end_ns;
	}
	return TALLY_OK;
}

enum tally_status
vk_slot_read(struct vk_device *d, uint32_t family, const struct vk_slot *slot, uint32_t *left,
	     struct tally_sample *out)
{
	bool asks = slot->page && family < d->n_families && vk_device_runs(d);

	for (uint32_t ask = *left; ask; ask &= ask - 1) {
		enum tally_status status = TALLY_LOST;
		if (asks)
			status = read_source(d, family, slot, (uint32_t)__builtin_ctz(ask), out);
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

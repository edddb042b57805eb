/* SPDX-License-Identifier: MIT */
/* Query pools in pages, and their slots for the recording threads. */
#include "vk_layer/record/slots_internal.h"

#include <stdlib.h>
#include <string.h>

#include "layer/log.h"
#include "vk_layer/record/slots_copy.h"

#define ALL_UNITS UINT64_MAX
/* 65536 slots, 16 MiB: drivers need about 256 bytes for two timestamps
 * and a statistics query. */
#define MAX_PAGES 256u
#define FIRST_RUN 4u
#define LONGEST_RUN 64u
#define MAX_SLOT_VIEWS 32u
#define SPREAD 4u /* the end of a slot is its second query: five more lie in the three after it */

_Static_assert(UNITS == 64, "a page's units have a bit each");

/* ---- runs ---- */

static uint64_t
bits_of(const struct vk_slot_run *run)
{
	uint32_t n = run->n / UNIT_SLOTS;
	return (ALL_UNITS >> (UNITS - n)) << (run->first / UNIT_SLOTS);
}

/* The first of `n` consecutive free units, n a power of two; UNITS when there are none. */
static uint32_t
find_units(uint64_t free_units, uint32_t n)
{
	uint64_t starts = free_units;

	for (uint32_t far = 1; far < n; far *= 2)
		starts &= starts >> far;
	return starts ? (uint32_t)__builtin_ctzll(starts) : UNITS;
}

/* How many units are free from `at` on, at most `most`. */
static uint32_t
n_free_from(uint64_t free_units, uint32_t at, uint32_t most)
{
	uint64_t taken = at < UNITS ? ~(free_units >> at) : 1;
	uint32_t n = taken ? (uint32_t)__builtin_ctzll(taken) : UNITS;

	return n < most ? n : most;
}

/* The caller holds the device's lock. */
static void
reset_run(struct vk_slots *s, const struct vk_slot_run *run, uint32_t n)
{
	struct vk_page *page = run->page;

	for (uint32_t left = page->sources; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		size_t row = page->kind->row_bytes[i];
		if (page->mapped.map && row)
			memset((char *)page->rows[i] + run->first * row, 0, n * row);
		if (!s->api.ResetQueryPool)
			continue;
		tally_vk_reset(s->sources[i], page->pools[i], run->first, n);
		page->fetched[i] &= ~bits_of(run);
	}
}

/* The caller holds the device's lock. Makes the queries of the newly taken run usable, here or
 * at the first begin. */
static void
prepare_run(struct vk_slots *s, const struct vk_slot_run *run)
{
	uint8_t *unreset = &run->page->unreset[run->first / UNIT_SLOTS];

	memset(unreset, 0, run->n / UNIT_SLOTS);
	*unreset = s->api.ResetQueryPool ? 0 : (uint8_t)(run->n / UNIT_SLOTS);
	reset_run(s, run, run->n);
}

/* The caller holds the device's lock. */
static bool
take_from_pages(struct page_kind *kind, struct vk_slot_run *run)
{
	struct vk_page *page;

	for (struct vk_page **link = &kind->pages; (page = *link);) {
		uint32_t at = find_units(page->free, run->n / UNIT_SLOTS);
		if (at != UNITS) {
			run->page = page;
			run->first = (uint16_t)(at * UNIT_SLOTS);
			page->free &= ~bits_of(run);
		}
		if (page->free) {
			link = &page->next;
		} else {
			*link = page->next;
			page->listed = false;
		}
		if (at != UNITS)
			return true;
	}
	return false;
}

/* The caller holds the device's lock. Slots of one recording are contiguous if the units after
 * its last run are free: one call then resets or reads them. */
static bool
lengthen(struct vk_slots *s, struct vk_slot_runs *runs, uint32_t n, uint32_t views)
{
	if (!runs->n)
		return false;
	struct vk_slot_run *last = &runs->runs[runs->n - 1];
	struct vk_slot_run more = { .page = last->page,
				    .first = (uint16_t)(last->first + last->n) };
	more.n = (uint16_t)(UNIT_SLOTS * n_free_from(more.page->free,
						     more.first / UNIT_SLOTS,
						     n / UNIT_SLOTS));
	if (!more.n || more.n < views)
		return false;
	more.page->free &= ~bits_of(&more);
	prepare_run(s, &more);
	runs->used = last->n;
	last->n = (uint16_t)(last->n + more.n);
	return true;
}

/* Without the device's lock. */
static bool
make_rows(struct vk_device *d, struct vk_page *page)
{
	if (page->kind->copied)
		return vk_page_map(d, page);
	for (uint32_t left = page->sources; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		size_t row = page->kind->row_bytes[i];
		page->rows[i] = row ? malloc(PAGE_SLOTS * row) : NULL;
		if (row && !page->rows[i])
			return false;
	}
	return true;
}

void
vk_page_destroy(struct vk_device *d, struct vk_page *page)
{
	struct vk_slots *s = d->slots;

	for (uint32_t i = 0; i < s->n; i++) {
		if (page->pools[i])
			s->api.DestroyQueryPool(s->api.device, page->pools[i], NULL);
		if (!page->mapped.map)
			free(page->rows[i]);
	}
	vk_mapped_free(d, &page->mapped);
	free(page);
}

/* Without the device's lock. */
static struct vk_page *
create_page(struct vk_device *d, struct page_kind *kind)
{
	struct vk_slots *s = d->slots;
	struct vk_page *page = calloc(1, sizeof(*page));
	if (!page)
		return NULL;
	page->kind = kind;
	page->sources = kind->sources;
	page->free = ALL_UNITS;
	bool made = make_rows(d, page);
	for (uint32_t left = kind->sources; made && left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		struct tally_vk_source *src = s->sources[i];
		VkQueryPool pool = VK_NULL_HANDLE;
		made = src->ops->create_pool(src, &kind->family, PAGE_SLOTS,
					     &pool) == TALLY_OK;
		if (!made && src == s->performance) {
			page->sources &= ~s->performance_bit;
			made = true;
			continue;
		}
		page->pools[i] = made ? pool : VK_NULL_HANDLE;
	}
	if (made)
		return page;
	vk_page_destroy(d, page);
	return NULL;
}

/* Adds another page. The caller holds the device's lock, which is released while the driver
 * creates it. */
static bool
add_page(struct vk_device *d, struct page_kind *kind)
{
	struct vk_slots *s = d->slots;

	if (s->full)
		return false;
	bool room = s->n_pages < MAX_PAGES;
	struct vk_page *page = NULL;
	if (room) {
		s->n_pages++;
		pthread_mutex_unlock(&d->lock);
		page = create_page(d, kind);
		pthread_mutex_lock(&d->lock);
	}
	if (!page) {
		s->n_pages -= room;
		s->full = true;
		tally_log_say(TALLY_LEVEL_WARNING, "vulkan",
			      room ? "the driver could not make another query pool: what finds "
				     "no query free is not measured"
				   : "65536 passes or workloads are recorded or wait for their "
				     "results, more than are kept: what comes on top is not "
				     "measured");
		return false;
	}
	page->all_next = s->all;
	s->all = page;
	page->next = kind->pages;
	page->listed = true;
	kind->pages = page;
	if (page->sources != kind->sources)
		tally_log_say(TALLY_LEVEL_WARNING, "vk-khr",
			      "the driver could not make another pool of performance queries: "
			      "passes go without their counters");
	return true;
}

static bool
take_run(struct vk_device *d, struct vk_slot_runs *runs, struct page_kind *kind, uint32_t views)
{
	struct vk_slots *s = d->slots;
	uint32_t n = FIRST_RUN;

	if (runs->n == runs->room) {
		uint32_t room = runs->room ? 2 * runs->room : 4;
		struct vk_slot_run *more = realloc(runs->runs, room * sizeof(*more));
		if (!more)
			return false;
		runs->runs = more;
		runs->room = room;
	}
	for (uint32_t i = 0; n < LONGEST_RUN && (i < runs->n_taken || n < views); i++)
		n *= 4;
	struct vk_slot_run *run = &runs->runs[runs->n];
	*run = (struct vk_slot_run){ .n = (uint16_t)n };
	runs->n_taken++;
	runs->everything = 0;

	pthread_mutex_lock(&d->lock);
	bool longer = lengthen(s, runs, n, views);
	bool taken = longer || take_from_pages(kind, run);
	/* Another thread may take the page that was just created before this one does. */
	while (!taken && add_page(d, kind))
		taken = take_from_pages(kind, run);
	if (taken && !longer)
		prepare_run(s, run);
	pthread_mutex_unlock(&d->lock);
	if (!taken || longer)
		return taken;
	runs->n++;
	runs->used = 0;
	return true;
}

/* For drivers without performanceCounterMultipleQueryPools: one pool per command buffer. */
static bool
is_other_pool(const struct vk_device *d, struct vk_slot_runs *runs,
	      const struct vk_page *page)
{
	if (d->enabled.performance_pools)
		return false;
	if (!runs->performance)
		runs->performance = page;
	return runs->performance != page;
}

/* How many slots one takes: on a driver that writes a timestamp into one query for each view of the
 * last pass, up to six, none of these may belong to another slot. */
static uint32_t
width_of(const struct vk_slots *s, struct vk_slot_runs *runs, unsigned what, uint32_t views)
{
	if (views > 1) {
		runs->spread = true;
		runs->everything = 0;
	}
	if (!runs->spread && what == VK_MEASURE_ALL)
		return 1;
	return views < SPREAD && s->times_by_view ? SPREAD : views;
}

uint32_t
vk_slots_choose(const struct vk_device *d, struct vk_slot_runs *runs)
{
	if (!runs->chosen)
		runs->set = runs->without_sets ? 0
					       : atomic_load_explicit(&d->slots->set,
								      memory_order_relaxed);
	runs->chosen = true;
	return runs->set;
}

struct vk_slot
vk_slots_take(struct vk_device *d, struct vk_slot_runs *runs, uint32_t family,
	      unsigned what, uint32_t views, bool can_reset)
{
	struct vk_slots *s = d->slots;
	const struct vk_slot none = { .page = NULL };

	if (family >= d->n_families)
		return none;
	struct page_kind *kind =
		&s->kinds[vk_kind_of(s, family, vk_slots_choose(d, runs))];
	uint32_t sources = kind->counting[what][!can_reset];
	if (!sources || runs->failed || !vk_device_runs(d) ||
	    (!s->api.ResetQueryPool && !can_reset))
		return none;
	views = views < 1 ? 1 : views < MAX_SLOT_VIEWS ? views : MAX_SLOT_VIEWS;
	uint32_t width = width_of(s, runs, what, views);
	if ((!runs->n || runs->runs[runs->n - 1].n - runs->used < width) &&
	    !take_run(d, runs, kind, width)) {
		runs->failed = true;
		return none;
	}
	const struct vk_slot_run *run = &runs->runs[runs->n - 1];
	sources &= run->page->sources;
	if ((sources & s->performance_bit) && is_other_pool(d, runs, run->page))
		sources &= ~s->performance_bit;
	if (!sources)
		return none;
	struct vk_slot slot = {
		.page = run->page,
		.index = (uint16_t)(run->first + runs->used),
		.views = (uint8_t)views,
		.sources = sources,
	};
	runs->used += width;
	if (what == VK_MEASURE_ALL && width == 1 && can_reset)
		runs->everything = sources;
	return slot;
}

void
vk_slots_reset(struct vk_device *d, const struct vk_slot_runs *runs)
{
	for (uint32_t i = 0; i < runs->n; i++) {
		bool newest = i + 1 == runs->n;
		reset_run(d->slots, &runs->runs[i],
			  newest ? runs->used : runs->runs[i].n);
	}
}

void
vk_slots_release(struct vk_device *d, struct vk_slot_runs *runs)
{
	for (uint32_t i = 0; i < runs->n; i++) {
		struct vk_page *page = runs->runs[i].page;
		page->free |= bits_of(&runs->runs[i]);
		for (uint32_t k = 0; k < d->slots->n; k++)
			page->fetched[k] &= ~bits_of(&runs->runs[i]);
		if (page->listed)
			continue;
		page->next = page->kind->pages;
		page->listed = true;
		page->kind->pages = page;
	}
	free(runs->runs);
	*runs = (struct vk_slot_runs){ .runs = NULL };
}

/* ---- slots ---- */

/* The first slot of a newly taken run resets all of the run. */
static void
record_reset(const struct vk_slots *s, VkCommandBuffer cb, const struct vk_slot *slot)
{
	uint32_t unit = slot->index / UNIT_SLOTS;
	uint32_t n = slot->page->unreset[unit] * UNIT_SLOTS;

	slot->page->unreset[unit] = 0;
	for (uint32_t left = n ? slot->page->sources : 0; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		tally_vk_record_reset(s->sources[i], cb, slot->page->pools[i], unit * UNIT_SLOTS,
				      n);
	}
}

void
vk_slot_begin(struct vk_device *d, VkCommandBuffer cb, struct vk_slot *slot, bool can_reset)
{
	const struct vk_slots *s = d->slots;

	if (!s->api.ResetQueryPool && !can_reset)
		slot->sources = 0;
	/* Also if no query begins: other slots of the run rely on the reset. */
	if (!s->api.ResetQueryPool && slot->page && can_reset)
		record_reset(s, cb, slot);
	if (!slot->page || !slot->sources)
		return;
	for (uint32_t left = slot->sources; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		tally_vk_begin(&s->api, s->with_time >> i & 1, cb, slot->page->pools[i],
			       slot->index);
	}
	slot->halves |= TALLY_VK_BEGIN;
}

/* Ends the last source first. */
static inline void
end_sources(const struct vk_slots *s, VkCommandBuffer cb, const struct vk_slot *slot,
	    uint32_t sources)
{
	for (uint32_t i, left = sources; left; left ^= UINT32_C(1) << i) {
		i = 31 - (uint32_t)__builtin_clz(left);
		tally_vk_end(&s->api, s->with_time >> i & 1, cb, slot->page->pools[i],
			     slot->index, slot->views);
	}
}

void
vk_slot_end(struct vk_device *d, VkCommandBuffer cb, struct vk_slot *slot)
{
	const struct vk_slots *s = d->slots;

	/* The slot began in another command buffer. Only timestamps can do that, and without
	 * host reset they would have to be reset where nothing may be recorded (R23). */
	if (!(slot->halves & TALLY_VK_BEGIN))
		slot->sources &= s->api.ResetQueryPool ? s->with_halves : 0;
	if (!slot->page || !slot->sources)
		return;
	end_sources(s, cb, slot, slot->sources);
	slot->halves |= TALLY_VK_END;
}

void
vk_slot_yield(struct vk_device *d, VkCommandBuffer cb, struct vk_slot *slot,
	      unsigned what)
{
	const struct vk_slots *s = d->slots;
	uint32_t gone = 0;

	if (what & VK_MEASURE_STATISTICS)
		gone |= s->statistics_bit;
	if (what & VK_MEASURE_PERFORMANCE)
		gone |= s->performance_bit;
	if (!slot->page || slot->halves != TALLY_VK_BEGIN)
		return;
	end_sources(s, cb, slot, slot->sources & gone);
	slot->sources &= ~gone;
}

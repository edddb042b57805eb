/* Query pools in pages, and slots of them for whoever records. What a page consists of depends only
 * on what queues can do and which set has its turn, so that families that behave alike share. */
#include "vk_layer/record/slots_internal.h"

#include <stdlib.h>
#include <string.h>

#include "layer/log.h"

#define UNIT_SLOTS 4u
#define UNITS (PAGE_SLOTS / UNIT_SLOTS)
#define ALL_UNITS UINT64_MAX
/* 65536 slots; drivers take some 256 bytes for one, two stamps and a statistics query: 16 MiB. */
#define MAX_PAGES 256u
#define FIRST_RUN 4u
#define LONGEST_RUN 64u
#define MAX_SLOT_VIEWS 32u

_Static_assert(UNITS == 64, "a page's units have a bit each");

/* ---- runs ---- */

static uint64_t
bits_of(const struct vk_slot_run *run)
{
	uint32_t n = run->n / UNIT_SLOTS;
	return (ALL_UNITS >> (UNITS - n)) << (run->first / UNIT_SLOTS);
}

/* A free, aligned stretch of `n` units, a power of two; UNITS when there is none. */
static uint32_t
find_units(uint64_t free_units, uint32_t n)
{
	uint64_t starts = free_units;

	for (uint32_t far = 1; far < n; far *= 2)
		starts &= starts >> far;
	for (uint32_t at = 0; starts && at < UNITS; at += n) {
		if (starts & UINT64_C(1) << at)
			return at;
	}
	return UNITS;
}

/* With the lock. */
static void
reset_run(struct vk_slots *s, const struct vk_slot_run *run, uint32_t n)
{
	if (!s->api.ResetQueryPool)
		return;
	for (uint32_t left = run->page->sources; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		s->sources[i]->ops->reset(s->sources[i], run->page->pools[i], PAGE_SLOTS,
					  run->first, n);
	}
}

/* With the lock. */
static bool
take_from_pages(struct page_kind *kind, struct vk_slot_run *run)
{
	for (struct vk_page **link = &kind->pages; *link; link = &(*link)->next) {
		struct vk_page *page = *link;
		uint32_t at = find_units(page->free, run->n / UNIT_SLOTS);
		if (at == UNITS)
			continue;
		run->page = page;
		run->first = (uint16_t)(at * UNIT_SLOTS);
		page->free &= ~bits_of(run);
		if (!page->free) {
			*link = page->next;
			page->listed = false;
		}
		return true;
	}
	return false;
}

/* Without the lock. */
static struct vk_page *
create_page(struct vk_slots *s, uint32_t k)
{
	const struct page_kind *kind = &s->kinds[k];
	struct vk_page *page = calloc(1, sizeof(*page));
	if (!page)
		return NULL;
	page->kind = k;
	page->sources = kind->sources;
	page->free = ALL_UNITS;
	for (uint32_t left = kind->sources; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		struct tally_vk_source *src = s->sources[i];
		VkQueryPool pool = VK_NULL_HANDLE;
		bool made = src->ops->create_pool(src, &kind->family, PAGE_SLOTS, &pool) ==
			    TALLY_OK;
		if (!made && src == s->performance) {
			page->sources &= ~s->performance_bit;
			continue;
		}
		if (!made) {
			vk_page_destroy(s, page);
			return NULL;
		}
		page->pools[i] = pool;
	}
	return page;
}

/* Have another page. With the lock, which is let go while the driver makes it. */
static bool
add_page(struct vk_device *d, uint32_t k)
{
	struct vk_slots *s = d->slots;

	if (s->full)
		return false;
	bool room = s->n_pages < MAX_PAGES;
	struct vk_page *page = NULL;
	if (room) {
		s->n_pages++;
		pthread_mutex_unlock(&d->lock);
		page = create_page(s, k);
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
	page->next = s->kinds[k].pages;
	page->listed = true;
	s->kinds[k].pages = page;
	if (page->sources != s->kinds[k].sources && !s->no_performance) {
		s->no_performance = true;
		tally_log_say(TALLY_LEVEL_WARNING, "vk-khr",
			      "the driver could not make another pool of performance queries: "
			      "passes go without their counters");
	}
	return true;
}

static bool
take_run(struct vk_device *d, struct vk_slot_runs *runs, uint32_t family, uint32_t views)
{
	struct vk_slots *s = d->slots;
	uint32_t k = vk_kind_of(s, family, runs->set), n = FIRST_RUN;

	if (runs->n == runs->room) {
		uint32_t room = runs->room ? 2 * runs->room : 4;
		struct vk_slot_run *more = realloc(runs->runs, room * sizeof(*more));
		if (!more)
			return false;
		runs->runs = more;
		runs->room = room;
	}
	for (uint32_t i = 0; n < LONGEST_RUN && (i < runs->n || n < views); i++)
		n *= 4;
	struct vk_slot_run *run = &runs->runs[runs->n];
	*run = (struct vk_slot_run){ .n = (uint16_t)n };

	pthread_mutex_lock(&d->lock);
	bool taken = take_from_pages(&s->kinds[k], run);
	/* Another thread may be faster than we are with what we just made. */
	while (!taken && add_page(d, k))
		taken = take_from_pages(&s->kinds[k], run);
	if (taken)
		reset_run(s, run, run->n);
	pthread_mutex_unlock(&d->lock);
	if (!taken)
		return false;
	runs->n++;
	runs->used = 0;
	return true;
}

/* Drivers without performanceCounterMultipleQueryPools: one pool a command buffer. */
static bool
is_other_pool(const struct vk_device *d, struct vk_slot_runs *runs, const struct vk_page *page)
{
	if (d->enabled.performance_pools)
		return false;
	if (!runs->performance)
		runs->performance = page;
	return runs->performance != page;
}

struct vk_slot
vk_slots_take(struct vk_device *d, struct vk_slot_runs *runs, uint32_t family, unsigned what,
	      uint32_t views, bool can_reset)
{
	struct vk_slots *s = d->slots;
	const struct vk_slot none = { .page = NULL };

	uint32_t sources = vk_sources_for(d, family, vk_slots_choose(d, runs), what, !can_reset);
	views = views < 1 ? 1 : views < MAX_SLOT_VIEWS ? views : MAX_SLOT_VIEWS;
	if (!sources || runs->failed || !vk_device_runs(d) ||
	    (!s->api.ResetQueryPool && !can_reset))
		return none;
	if ((!runs->n || runs->runs[runs->n - 1].n - runs->used < views) &&
	    !take_run(d, runs, family, views)) {
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
	runs->used += views;
	return slot;
}

uint32_t
vk_slot_set(const struct vk_device *d, const struct vk_slot *slot)
{
	return slot->page ? d->slots->kinds[slot->page->kind].family.set : 0;
}

void
vk_slots_reset(struct vk_device *d, const struct vk_slot_runs *runs)
{
	for (uint32_t i = 0; i < runs->n; i++) {
		bool newest = i + 1 == runs->n;
		reset_run(d->slots, &runs->runs[i], newest ? runs->used : runs->runs[i].n);
	}
}

void
vk_slots_release(struct vk_device *d, struct vk_slot_runs *runs)
{
	for (uint32_t i = 0; i < runs->n; i++) {
		struct vk_page *page = runs->runs[i].page;
		page->free |= bits_of(&runs->runs[i]);
		if (page->listed)
			continue;
		struct page_kind *kind = &d->slots->kinds[page->kind];
		page->next = kind->pages;
		page->listed = true;
		kind->pages = page;
	}
	free(runs->runs);
	*runs = (struct vk_slot_runs){ .runs = NULL };
}

/* ---- slots ---- */

void
vk_slot_begin(struct vk_device *d, VkCommandBuffer cb, uint32_t family, struct vk_slot *slot,
	      bool can_reset)
{
	const struct vk_slots *s = d->slots;

	(void)family;
	if (!s->api.ResetQueryPool && !can_reset)
		slot->sources = 0;
	if (!slot->page || !slot->sources)
		return;
	for (uint32_t left = slot->sources; left && !s->api.ResetQueryPool; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		s->sources[i]->ops->record_reset(s->sources[i], cb, slot->page->pools[i],
						 PAGE_SLOTS, slot->index, slot->views);
	}
	for (uint32_t left = slot->sources; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		s->sources[i]->ops->begin(s->sources[i], cb, slot->page->pools[i], PAGE_SLOTS,
					  slot->index);
	}
	slot->halves |= TALLY_VK_BEGIN;
}

/* The last source first. */
static void
end_sources(const struct vk_slots *s, VkCommandBuffer cb, const struct vk_slot *slot,
	    uint32_t sources)
{
	for (uint32_t i = s->n; i-- > 0;) {
		if (sources & UINT32_C(1) << i)
			s->sources[i]->ops->end(s->sources[i], cb, slot->page->pools[i], PAGE_SLOTS,
						slot->index);
	}
}

void
vk_slot_end(struct vk_device *d, VkCommandBuffer cb, struct vk_slot *slot)
{
	const struct vk_slots *s = d->slots;

	/* It began in another command buffer: only stamps can, and who resets in command buffers
	 * would have to do it where nothing may be recorded (R23). */
	if (!(slot->halves & TALLY_VK_BEGIN))
		slot->sources &= s->api.ResetQueryPool ? s->with_halves : 0;
	if (!slot->page || !slot->sources)
		return;
	end_sources(s, cb, slot, slot->sources);
	slot->halves |= TALLY_VK_END;
}

void
vk_slot_yield(struct vk_device *d, VkCommandBuffer cb, struct vk_slot *slot, unsigned what)
{
	const struct vk_slots *s = d->slots;
	uint32_t gone = 0;

	if (what & VK_BRACKET_STATISTICS)
		gone |= s->statistics_bit;
	if (what & VK_BRACKET_PERFORMANCE)
		gone |= s->performance_bit;
	if (!slot->page || slot->halves != TALLY_VK_BEGIN)
		return;
	end_sources(s, cb, slot, slot->sources & gone);
	slot->sources &= ~gone;
}

/* ---- reading ---- */

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

	mine.index = how->index; /* its own, where that makes a difference */
	mine.set = how->set;
	if (src->n_sets)
		part.n = how->set ? src->sets[how->set - 1]->layout.n_counters : 0;
	if (src->n_sets && s->first[i] + part.n > out->n)
		return TALLY_LOST;
	memset(s->scratch, 0, (part.n / 64 + 1) * sizeof(s->scratch[0]));
	enum tally_status status = src->ops->read(src, &mine, slot->page->pools[i], PAGE_SLOTS,
						  slot->index, slot->views, slot->halves, &part);
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

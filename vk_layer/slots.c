/* Query pools in pages, and slots of them for whoever records. What a page consists of depends only
 * on what queues can do, so that families that behave alike share. */
#include "vk_layer/slots.h"

#include <stdlib.h>
#include <string.h>

#include "layer/log.h"
#include "query/harvest.h"

#define PAGE_SLOTS 256u
#define UNIT_SLOTS 4u
#define UNITS (PAGE_SLOTS / UNIT_SLOTS)
#define ALL_UNITS UINT64_MAX
/* 65536 slots; drivers take some 256 bytes for one, two stamps and a statistics query: 16 MiB. */
#define MAX_PAGES 256u
#define FIRST_RUN 4u
#define LONGEST_RUN 64u
#define MAX_SLOT_VIEWS 32u

_Static_assert(UNITS == 64, "a page's units have a bit each");

struct vk_page {
	struct vk_page *all_next;
	struct vk_page *next; /* with free units, of the same kind */
	bool listed;
	uint32_t kind;
	uint64_t free; /* bit per unit */
	VkQueryPool pools[TALLY_MAX_SOURCES];
};

/* Families whose pools are alike. */
struct page_kind {
	struct tally_vk_family family; /* one of them */
	uint32_t sources;
	VkQueryPipelineStatisticFlags statistics;
	struct vk_page *pages; /* that have free units */
};

struct vk_slots {
	struct tally_vk_api api;
	struct tally_vk_source *sources[TALLY_MAX_SOURCES]; /* open, in value order: their bits */
	uint32_t first[TALLY_MAX_SOURCES]; /* of their counters among all */
	uint32_t n;
	uint32_t with_time, with_halves; /* bits of sources */
	struct tally_vk_source *statistics; /* NULL when not open */
	const struct tally_counter **counters;
	uint32_t n_counters;
	uint64_t *scratch; /* valid bits of one source; with the lock */

	/* For people: sources that could not open (they keep the reason), or were not wanted. */
	struct tally_vk_source *closed[TALLY_MAX_SOURCES];
	uint32_t n_closed;
	const char *left_out[TALLY_MAX_SOURCES];
	uint32_t n_left_out;

	struct page_kind kinds[VK_MAX_FAMILIES];
	uint32_t n_kinds;
	uint32_t kind_of[VK_MAX_FAMILIES];

	/* With the lock. */
	struct vk_page *all;
	uint32_t n_pages; /* made, or being made */
	bool full;	  /* no more pages: said once */
};

/* ---- the sources ---- */

/* CLOCK_MONOTONIC and the device's own clock can be read together. */
static bool
can_calibrate(const struct vk_device *d)
{
	if (!d->enabled.calibrated || !d->instance ||
	    !d->instance->next.GetPhysicalDeviceCalibrateableTimeDomainsEXT)
		return false;
	VkTimeDomainEXT domains[16];
	uint32_t n = sizeof(domains) / sizeof(domains[0]);
	VkResult result = d->instance->next.GetPhysicalDeviceCalibrateableTimeDomainsEXT(
		d->physical, &n, domains);
	bool device = false, monotonic = false;
	for (uint32_t i = 0; i < n && result >= 0; i++) {
		device |= domains[i] == VK_TIME_DOMAIN_DEVICE_EXT;
		monotonic |= domains[i] == VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
	}
	return device && monotonic;
}

static void
fill_api(struct vk_slots *s, const struct vk_device *d)
{
	s->api = (struct tally_vk_api){
		.device = d->handle,
		.physical = d->physical,
		.CreateQueryPool = d->next.use.CreateQueryPool,
		.DestroyQueryPool = d->next.use.DestroyQueryPool,
		.CmdResetQueryPool = d->next.use.CmdResetQueryPool,
		.ResetQueryPool = d->enabled.host_reset ? d->next.use.ResetQueryPool : NULL,
		.CmdWriteTimestamp = d->next.use.CmdWriteTimestamp,
		.CmdBeginQuery = d->next.use.CmdBeginQuery,
		.CmdEndQuery = d->next.use.CmdEndQuery,
		.GetQueryPoolResults = d->next.use.GetQueryPoolResults,
		.timestamp_period = d->properties.limits.timestampPeriod,
		.pipeline_statistics = d->enabled.pipeline_statistics,
		.mesh_shader = d->enabled.mesh_shader,
		.multi_device = d->enabled.multi_device,
		.compute_crashes = vk_slots_read_waits(d), /* both of lavapipe */
	};
	if (can_calibrate(d))
		s->api.GetCalibratedTimestamps = d->next.use.GetCalibratedTimestampsEXT;
}

/* False: out of memory. */
static bool
choose(struct vk_device *d, const char *name,
       struct tally_vk_source *(*create)(const struct tally_vk_api *))
{
	struct vk_slots *s = d->slots;
	const char *list = d->config->sources;

	if (list && !tally_list_matches(list, name, name) && !tally_list_has(list, "all")) {
		s->left_out[s->n_left_out++] = name;
		return true;
	}
	struct tally_vk_source *src = create(&s->api);
	if (!src)
		return false;
	src->wanted = d->config->counters;
	enum tally_status status = src->ops->open(src);
	src->wanted = NULL;
	if (status != TALLY_OK) {
		s->closed[s->n_closed++] = src;
		return status != TALLY_NO_MEMORY;
	}
	uint32_t bit = UINT32_C(1) << s->n;
	s->with_time |= src->ops->delivers_time ? bit : 0;
	s->with_halves |= src->ops->halves ? bit : 0;
	s->first[s->n] = s->n_counters;
	s->n_counters += src->n_counters;
	s->sources[s->n++] = src;
	return true;
}

static bool
list_counters(struct vk_slots *s)
{
	uint32_t n = 0;

	s->counters = calloc(s->n_counters + 1, sizeof(s->counters[0]));
	s->scratch = calloc(s->n_counters / 64 + 1, sizeof(s->scratch[0]));
	if (!s->counters || !s->scratch)
		return false;
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = 0; k < s->sources[i]->n_counters; k++)
			s->counters[n++] = s->sources[i]->counters[k];
	return true;
}

static void
sort_families(struct vk_device *d)
{
	struct vk_slots *s = d->slots;

	for (uint32_t f = 0; f < d->n_families; f++) {
		struct page_kind kind = { .family = d->families[f] };
		for (uint32_t i = 0; i < s->n; i++)
			if (s->sources[i]->ops->covers(s->sources[i], &kind.family))
				kind.sources |= UINT32_C(1) << i;
		if (s->statistics)
			kind.statistics = tally_vk_statistics_mask(s->statistics, &kind.family);
		uint32_t k = 0;
		while (k < s->n_kinds && (s->kinds[k].sources != kind.sources ||
					  s->kinds[k].statistics != kind.statistics))
			k++;
		if (k == s->n_kinds)
			s->kinds[s->n_kinds++] = kind;
		s->kind_of[f] = k;
	}
}

bool
vk_slots_create(struct vk_device *d)
{
	struct vk_slots *s = calloc(1, sizeof(*s));
	if (!s)
		return false;
	d->slots = s;
	fill_api(s, d);
	bool ok = choose(d, "vk-timestamp", tally_vk_timestamp_create);
	uint32_t before = s->n;
	ok = ok && choose(d, "vk-statistics", tally_vk_statistics_create);
	if (!ok || !list_counters(s)) {
		vk_slots_destroy(d);
		return false;
	}
	s->statistics = s->n > before ? s->sources[before] : NULL;
	sort_families(d);
	return true;
}

static void
destroy_page(struct vk_slots *s, struct vk_page *page)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (page->pools[i])
			s->api.DestroyQueryPool(s->api.device, page->pools[i], NULL);
	free(page);
}

void
vk_slots_destroy(struct vk_device *d)
{
	struct vk_slots *s = d->slots;

	if (!s)
		return;
	while (s->all) {
		struct vk_page *page = s->all;
		s->all = page->all_next;
		destroy_page(s, page);
	}
	for (uint32_t i = 0; i < s->n; i++) {
		s->sources[i]->ops->close(s->sources[i]);
		tally_vk_source_destroy(s->sources[i]);
	}
	for (uint32_t i = 0; i < s->n_closed; i++)
		tally_vk_source_destroy(s->closed[i]);
	free(s->counters);
	free(s->scratch);
	free(s);
	d->slots = NULL;
}

/* ---- what there is ---- */

uint32_t
vk_slots_describe(struct vk_device *d, struct tally_source_info *rows)
{
	static const char by_option[] = "left out by --sources";
	const struct vk_slots *s = d->slots;
	uint32_t n = 0;

	rows[n++] = (struct tally_source_info){
		.name = "api", .on = d->counts_calls, .reason = d->counts_calls ? NULL : by_option
	};
	for (uint32_t i = 0; i < s->n; i++) {
		const struct tally_vk_source *src = s->sources[i];
		rows[n++] = (struct tally_source_info){
			.name = src->ops->name,
			.on = true,
			.reason = src->reason[0] ? src->reason : NULL,
		};
	}
	for (uint32_t i = 0; i < s->n_closed; i++)
		rows[n++] = (struct tally_source_info){
			.name = s->closed[i]->ops->name, .reason = s->closed[i]->reason
		};
	for (uint32_t i = 0; i < s->n_left_out; i++)
		rows[n++] = (struct tally_source_info){ .name = s->left_out[i],
							.reason = by_option };
	return n;
}

const struct tally_counter *const *
vk_slots_counters(struct vk_device *d, uint32_t *n)
{
	*n = d->slots->n_counters;
	return d->slots->counters;
}

VkQueryPipelineStatisticFlags
vk_slots_inherited(struct vk_device *d, uint32_t family)
{
	const struct vk_slots *s = d->slots;

	if (!d->enabled.inherited_queries || family >= d->n_families)
		return 0;
	return s->kinds[s->kind_of[family]].statistics;
}

static uint32_t
sources_for(const struct vk_device *d, uint32_t family, enum vk_bracket what)
{
	const struct vk_slots *s = d->slots;

	if (family >= d->n_families)
		return 0;
	uint32_t sources = s->kinds[s->kind_of[family]].sources;
	switch (what) {
	case VK_BRACKET_TIME:
		return sources & s->with_time;
	case VK_BRACKET_COUNT:
		return sources & ~s->with_time;
	case VK_BRACKET_ALL:
		break;
	}
	return sources;
}

uint32_t
vk_slots_sources(const struct vk_device *d, uint32_t family, enum vk_bracket what)
{
	return sources_for(d, family, what);
}

bool
vk_slots_cover(struct vk_device *d, uint32_t family, enum vk_bracket what)
{
	return sources_for(d, family, what) != 0;
}

bool
vk_slots_read_waits(const struct vk_device *d)
{
	/* Mesa's lavapipe (seen in 22.3.6) calls vkDeviceWaitIdle() inside, whatever the flags. It
	 * can go when tests/apps/vk_sources says that a result is read while a later submission
	 * waits. A device of Vulkan 1.0 does not tell its driver, but the vendor id is Mesa's own
	 * only where there is no hardware. */
	return d->driver_id == VK_DRIVER_ID_MESA_LLVMPIPE ||
	       (!d->driver_id && d->properties.vendorID == VK_VENDOR_ID_MESA);
}

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
	for (uint32_t left = s->kinds[run->page->kind].sources; left; left &= left - 1) {
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
	page->free = ALL_UNITS;
	for (uint32_t left = kind->sources; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		struct tally_vk_source *src = s->sources[i];
		VkQueryPool pool = VK_NULL_HANDLE;
		if (src->ops->create_pool(src, &kind->family, PAGE_SLOTS, &pool) != TALLY_OK) {
			destroy_page(s, page);
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
	return true;
}

static bool
take_run(struct vk_device *d, struct vk_slot_runs *runs, uint32_t family, uint32_t views)
{
	struct vk_slots *s = d->slots;
	uint32_t k = s->kind_of[family], n = FIRST_RUN;

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

struct vk_slot
vk_slots_take(struct vk_device *d, struct vk_slot_runs *runs, uint32_t family,
	      enum vk_bracket what, uint32_t views, bool can_reset)
{
	struct vk_slots *s = d->slots;
	const struct vk_slot none = { .page = NULL };
	uint32_t sources = sources_for(d, family, what);

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
	struct vk_slot slot = {
		.page = run->page,
		.index = (uint16_t)(run->first + runs->used),
		.views = (uint8_t)views,
		.sources = sources,
	};
	runs->used += views;
	return slot;
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
			s->sources[i]->ops->end(s->sources[i], cb, slot->page->pools[i],
						PAGE_SLOTS, slot->index);
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
vk_slot_yield(struct vk_device *d, VkCommandBuffer cb, struct vk_slot *slot)
{
	const struct vk_slots *s = d->slots;

	if (!slot->page || slot->halves != TALLY_VK_BEGIN)
		return;
	end_sources(s, cb, slot, slot->sources & ~s->with_time);
	slot->sources &= s->with_time;
}

/* ---- reading ---- */

static enum tally_status
read_source(struct vk_device *d, uint32_t family, const struct vk_slot *slot, uint32_t i,
	    struct tally_sample *out)
{
	struct vk_slots *s = d->slots;
	struct tally_vk_source *src = s->sources[i];
	struct tally_sample part = {
		.values = out->values ? out->values + s->first[i] : NULL,
		.valid = s->scratch,
		.n = src->n_counters,
	};

	memset(s->scratch, 0, (part.n / 64 + 1) * sizeof(s->scratch[0]));
	enum tally_status status = src->ops->read(src, &d->families[family], slot->page->pools[i],
						  PAGE_SLOTS, slot->index, slot->views,
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

void
vk_slots_tick(struct vk_device *d, uint64_t now_ns)
{
	struct vk_slots *s = d->slots;

	for (uint32_t i = 0; i < s->n; i++)
		s->sources[i]->ops->tick(s->sources[i], now_ns);
}

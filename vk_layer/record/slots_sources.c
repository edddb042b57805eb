/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/slots_sources.h"

#include "vk_layer/record/slots_internal.h"

#include <stdlib.h>
#include <string.h>

#include "layer/capture/capture.h"
#include "layer/log.h"
#include "layer/session/session.h"
#include "query/quirks.h"
#include "query/sources.h"

/* ---- the sources ---- */

static void
fill_api(struct vk_slots *s, const struct vk_device *d)
{
	s->api = (struct tally_vk_api){
		.device = d->handle,
		.physical = d->physical,
		.CreateQueryPool = d->next.use.CreateQueryPool,
		.DestroyQueryPool = d->next.use.DestroyQueryPool,
		.CmdResetQueryPool = d->next.use.CmdResetQueryPool,
		.ResetQueryPool = d->enabled.host_reset ? d->next.use.ResetQueryPool
							: NULL,
		.CmdWriteTimestamp = d->next.use.CmdWriteTimestamp,
		.CmdBeginQuery = d->next.use.CmdBeginQuery,
		.CmdEndQuery = d->next.use.CmdEndQuery,
		.GetQueryPoolResults = d->next.use.GetQueryPoolResults,
		.timestamp_period = d->properties.limits.timestampPeriod,
		.pipeline_statistics = d->enabled.pipeline_statistics,
		.multi_device = d->enabled.multi_device,
		/* lavapipe has both defects: its reads wait, and it crashes in compute. */
		.compute_crashes = vk_slots_read_waits(d),
		.performance_offered = d->enabled.performance_offered,
		.performance_query = d->enabled.performance,
		.performance_pools = d->enabled.performance_pools,
		.game_performance = d->enabled.game_performance,
		.AcquireProfilingLockKHR = d->next.use.AcquireProfilingLockKHR,
		.ReleaseProfilingLockKHR = d->next.use.ReleaseProfilingLockKHR,
		.n_families = d->n_families,
		.driver_id = d->driver_id,
	};
	if (d->instance) {
		const struct vk_instance_next *next = &d->instance->next;
		s->api.EnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR =
			next->EnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR;
		s->api.GetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR =
			next->GetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR;
	}
	if (d->enabled.calibrated)
		s->api.GetCalibratedTimestamps = d->next.use.GetCalibratedTimestampsEXT;
}

/* False: out of memory. */
static bool
choose(struct vk_device *d, const struct tally_vk_source_row *row,
       struct tally_key_table *keys)
{
	struct vk_slots *s = d->slots;

	if (!tally_vk_source_wanted(d->config->sources, d->config->counters, row)) {
		s->left_out[s->n_left_out++] = row;
		return true;
	}
	struct tally_vk_source *src = row->create(&s->api);
	if (!src)
		return false;
	src->wanted = d->config->counters;
	src->keys = keys;
	enum tally_status status = src->ops->open(src);
	src->wanted = NULL;
	src->keys = NULL;
	if (status != TALLY_OK) {
		s->closed[s->n_closed++] = src;
		return status != TALLY_NO_MEMORY;
	}
	uint32_t bit = UINT32_C(1) << s->n;
	s->with_time |= src->ops->delivers_time ? bit : 0;
	s->with_halves |= src->ops->halves ? bit : 0;
	s->first[s->n] = s->n_counters;
	s->n_counters += src->n_counters;
	s->n_sets += src->n_sets;
	if (src->ops->inherits) {
		s->statistics = src;
		s->statistics_bit = bit;
	}
	if (row->performance_query) {
		s->performance = src;
		s->performance_bit = bit;
	}
	s->sources[s->n++] = src;
	bool ok = true;
	for (uint32_t i = 0; i < src->n_counters && !src->n_sets; i++)
		ok = ok && tally_key_table_reserve(keys, src->counters[i]);
	return ok;
}

/* Only the last source has sets. */
static bool
choose_all(struct vk_device *d)
{
	struct tally_key_table keys = { NULL };
	bool ok = true;

	for (uint32_t i = 0; ok && i < tally_n_vk_sources; i++)
		ok = choose(d, &tally_vk_sources[i], &keys);
	tally_key_table_finish(&keys);
	return ok;
}

static bool
list_counters(struct vk_slots *s)
{
	uint32_t n = 0;

	s->counters = calloc((size_t)s->n_counters + 1, sizeof(s->counters[0]));
	s->scratch = calloc(s->n_counters / 64 + 1, sizeof(s->scratch[0]));
	if (!s->counters || !s->scratch)
		return false;
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = 0; k < s->sources[i]->n_counters; k++)
			s->counters[n++] = s->sources[i]->counters[k];
	return true;
}

/* ---- the meaning of values ---- */

static bool
fill_layout(struct vk_slots *s, uint32_t number, const struct tally_counter **counters)
{
	struct vk_layout *out = &s->layouts[number];
	const struct tally_vk_source *last = s->performance;
	out->scope =
		number && last ? tally_vk_khr_scope(last, number) : TALLY_SCOPE_WORKLOAD;
	uint32_t n = s->n_counters - (last ? last->n_counters : 0);

	memcpy(counters, s->counters, n * sizeof(*counters));
	out->n_always = n;
	struct tally_counter_set set = { .layout = { NULL, counters, n } };
	if (number && last) {
		const struct tally_counter_set *more = last->sets[number - 1];
		memcpy(counters + n, more->layout.counters,
		       more->layout.n_counters * sizeof(*counters));
		set.layout.set = more->layout.set;
		set.layout.n_counters += more->layout.n_counters;
		set.category = more->category;
	}
	out->set = tally_counter_set_keep(&set);
	if (!out->set)
		return false;
	for (uint32_t i = 0; i < set.layout.n_counters && i < VK_MAX_COUNTERS; i++)
		if (!tally_counter_adds_up(counters[i]))
			out->levels[i / 64] |= UINT64_C(1) << (i % 64);
	return true;
}

static bool
make_layouts(struct vk_slots *s)
{
	const struct tally_counter **counters = calloc((size_t)s->n_counters + 1,
						       sizeof(*counters));
	s->layouts = calloc((size_t)s->n_sets + 1, sizeof(*s->layouts));
	bool ok = counters && s->layouts;
	for (uint32_t i = 0; ok && i <= s->n_sets; i++)
		ok = fill_layout(s, i, counters);
	free(counters);
	return ok;
}

/* Selects the current set of the open frame. The caller holds the lock, or nothing was recorded
 * yet. */
static void
rotate_sets(struct vk_device *d)
{
	struct vk_slots *s = d->slots;
	uint64_t frame = d->tally ? tally_device_frame(d->tally) : 0;

	if (!s->n_sets)
		return;
	uint32_t set = tally_counter_turn(s->performance->sets, s->n_sets, d->config->set,
					  tally_session_rotation(frame));
	atomic_store(&s->set, set == TALLY_NO_SET ? 0 : set + 1);
}

/* ---- capabilities of queues ---- */

/* Whether performance queries of this set may begin and end there. Their scope determines
 * it. */
static bool
may_measure(const struct vk_slots *s, uint32_t set, unsigned what, bool inside)
{
	switch (s->layouts[set].scope) {
	case TALLY_SCOPE_WORKLOAD:
		return !(what & VK_MEASURE_BUFFER);
	case TALLY_SCOPE_PASS:
		return !(what & VK_MEASURE_BUFFER) && !inside;
	default:
		return what & VK_MEASURE_BUFFER;
	}
}

static uint32_t
bits_of(const struct vk_slots *s, unsigned what)
{
	uint32_t bits = 0;

	if (what & VK_MEASURE_TIME)
		bits |= s->with_time;
	if (what & VK_MEASURE_STATISTICS)
		bits |= s->statistics_bit;
	if (what & (VK_MEASURE_PERFORMANCE | VK_MEASURE_BUFFER))
		bits |= s->performance_bit;
	return bits;
}

/* The sources that count for each `what`. */
static void
fill_counting(const struct vk_slots *s, struct page_kind *kind)
{
	uint32_t set = kind->family.set;

	for (unsigned what = 0; what < VK_MEASURE_SETS; what++) {
		for (unsigned inside = 0; inside < 2; inside++) {
			uint32_t bits = bits_of(s, what) & kind->sources;
			if ((bits & s->performance_bit) &&
			    !may_measure(s, set, what, inside))
				bits &= ~s->performance_bit;
			kind->counting[what][inside] = bits;
		}
	}
}

static struct page_kind
kind_on(const struct vk_device *d, uint32_t f, uint32_t set)
{
	const VkQueueFlags can_copy = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
	const struct vk_slots *s = d->slots;
	struct page_kind kind = { .family = d->families[f] };
	kind.copied = vk_slots_read_waits(d);
	bool has_rows = !kind.copied || kind.family.flags & can_copy;

	kind.family.index = f;
	kind.family.set = set;
	for (uint32_t i = 0; i < s->n; i++) {
		kind.row_bytes[i] =
			(uint32_t)tally_vk_row_bytes(s->sources[i], &kind.family);
		if (s->sources[i]->ops->covers(s->sources[i], &kind.family) &&
		    (has_rows || !kind.row_bytes[i]))
			kind.sources |= UINT32_C(1) << i;
	}
	if (s->statistics)
		kind.statistics = tally_vk_statistics_mask(s->statistics, &kind.family);
	fill_counting(s, &kind);
	return kind;
}

static bool
make_kinds(struct vk_device *d)
{
	struct vk_slots *s = d->slots;

	s->kinds = calloc((size_t)d->n_families * (s->n_sets + 1) + 1, sizeof(*s->kinds));
	if (!s->kinds)
		return false;
	for (uint32_t f = 0; f < d->n_families; f++) {
		for (uint32_t set = 0; set <= s->n_sets; set++) {
			struct page_kind *kind = &s->kinds[vk_kind_of(s, f, set)];
			*kind = kind_on(d, f, set);
			s->covering[f] |= kind->sources;
		}
	}
	return true;
}

bool
vk_slots_create(struct vk_device *d)
{
	struct vk_slots *s = calloc(1, sizeof(*s));
	if (!s)
		return false;
	d->slots = s;
	fill_api(s, d);
	s->times_by_view = tally_vk_quirk(TALLY_QUIRK_TIMES_BY_VIEW, d->driver_id,
					  d->properties.vendorID);
	if (!choose_all(d) || !list_counters(s) || !make_layouts(s) ||
	    !make_kinds(d)) {
		vk_slots_destroy(d);
		return false;
	}
	rotate_sets(d);
	atomic_store(&d->idle, tally_capture_idles(0, TALLY_NO_FRAME));
	if (s->n_sets && d->config->set && !atomic_load(&s->set))
		tally_log_say(TALLY_LEVEL_WARNING, "vk-khr",
			      "no set is called %s: --set names one of vk-khr-1 to vk-khr-%u",
			      d->config->set, s->n_sets);
	if (d->config->granularity == TALLY_GRANULARITY_DRAW && !d->enabled.host_reset)
		tally_log_say(TALLY_LEVEL_WARNING, "vulkan",
			      "--granularity draw lists no workloads on this device: it has no "
			      "hostQueryReset, without which a query cannot begin inside a "
			      "render pass; passes are measured as a whole");
	return true;
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
		vk_page_destroy(d, page);
	}
	for (uint32_t i = 0; i < s->n; i++) {
		s->sources[i]->ops->close(s->sources[i]);
		tally_vk_source_destroy(s->sources[i]);
	}
	for (uint32_t i = 0; i < s->n_closed; i++)
		tally_vk_source_destroy(s->closed[i]);
	free(s->counters);
	free(s->scratch);
	free(s->layouts);
	free(s->kinds);
	free(s);
	d->slots = NULL;
}

/* ---- queries about the sources ---- */

uint32_t
vk_slots_describe(struct vk_device *d, struct tally_source_info *rows)
{
	static const char by_option[] = "left out by --sources";
	const struct vk_slots *s = d->slots;
	uint32_t n = 0;

	rows[n++] = (struct tally_source_info){ .name = tally_api_source.name,
						.on = true };
	for (uint32_t i = 0; i < s->n; i++) {
		const struct tally_vk_source *src = s->sources[i];
		rows[n++] = (struct tally_source_info){
			.name = src->ops->name,
			.on = true,
			.reason = src->reason[0] ? src->reason : NULL,
		};
	}
	for (uint32_t i = 0; i < s->n_closed; i++)
		rows[n++] = (struct tally_source_info){ .name = s->closed[i]->ops->name,
							.reason = s->closed[i]->reason };
	for (uint32_t i = 0; i < s->n_left_out; i++)
		rows[n++] = (struct tally_source_info){
			.name = s->left_out[i]->row.name,
			.reason = tally_source_wanted(d->config->sources, &s->left_out[i]->row)
					  ? s->left_out[i]->on_request
					  : by_option,
		};
	return n;
}

const struct tally_counter *const *
vk_slots_counters(struct vk_device *d, uint32_t *n)
{
	*n = d->slots->n_counters;
	return d->slots->counters;
}

const struct tally_counter_set *const *
vk_slots_sets(struct vk_device *d, uint32_t *n)
{
	const struct tally_vk_source *src = d->slots->performance;
	*n = src ? src->n_sets : 0;
	return src ? src->sets : NULL;
}

VkQueryPipelineStatisticFlags
vk_slots_inherited(struct vk_device *d, uint32_t family)
{
	const struct vk_slots *s = d->slots;

	if (!d->enabled.inherited_queries || family >= d->n_families)
		return 0;
	return s->kinds[vk_kind_of(s, family, 0)].statistics;
}

uint32_t
vk_slots_sources(const struct vk_device *d, uint32_t family, unsigned what)
{
	return family < d->n_families
		       ? bits_of(d->slots, what) & d->slots->covering[family]
		       : 0;
}

uint32_t
vk_slots_expected(const struct vk_device *d, uint32_t family, const struct vk_slot_runs *runs)
{
	const struct vk_slots *s = d->slots;
	uint32_t set = runs->set;

	if (runs->without_sets)
		set = atomic_load_explicit(&s->set, memory_order_relaxed);
	return family < d->n_families
		       ? s->kinds[vk_kind_of(s, family, set)].counting[VK_MEASURE_COUNT][false]
		       : 0;
}

bool
vk_slots_cover(struct vk_device *d, uint32_t family, unsigned what)
{
	return vk_slots_sources(d, family, what) != 0;
}

enum tally_scope
vk_slots_scope(const struct vk_device *d, uint32_t set)
{
	return d->slots->layouts[set].scope;
}

const struct vk_layout *
vk_slots_layout(const struct vk_device *d, uint32_t set)
{
	return &d->slots->layouts[set];
}

uint32_t
vk_slots_max_values(const struct vk_device *d)
{
	const struct vk_slots *s = d->slots;
	uint32_t most = 0;

	for (uint32_t i = 0; i <= s->n_sets; i++) {
		uint32_t n = s->layouts[i].set->layout.n_counters;
		most = n > most ? n : most;
	}
	return most;
}

void
vk_slots_mask(const struct vk_device *d, uint32_t set, uint32_t sources, uint64_t *mask)
{
	const struct vk_slots *s = d->slots;

	memset(mask, 0, VK_MAX_COUNTERS / 8);
	for (uint32_t left = sources; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left), end;
		if (i >= s->n)
			break;
		end = s->sources[i] == s->performance
			      ? s->layouts[set].set->layout.n_counters
			      : s->first[i] + s->sources[i]->n_counters;
		for (uint32_t k = s->first[i]; k < end && k < VK_MAX_COUNTERS; k++)
			mask[k / 64] |= UINT64_C(1) << (k % 64);
	}
}

const char *
vk_slots_serialized_by(const struct vk_device *d)
{
	return tally_vk_serialized_by(vk_slots_read_waits(d), d->slots->performance != NULL);
}

void
vk_slots_tick(struct vk_device *d, uint64_t now_ns)
{
	struct vk_slots *s = d->slots;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->sources[i]->ops->tick)
			s->sources[i]->ops->tick(s->sources[i], now_ns);
	rotate_sets(d);
}

bool
vk_slots_read_waits(const struct vk_device *d)
{
	return tally_vk_read_waits(d->driver_id, d->properties.vendorID);
}

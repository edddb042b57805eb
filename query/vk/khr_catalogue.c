/* SPDX-License-Identifier: MIT */
#include "query/vk/khr_catalogue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/base/array.h"
#include "layer/config/config.h"
#include "layer/config/list.h"
#include "query/vk/khr_counter.h"

#define OVERVIEW 32u /* counters of one set */
#define NOWHERE UINT32_MAX

/* What the driver lists for one queue family. */
struct table {
	VkPerformanceCounterKHR *counters;
	VkPerformanceCounterDescriptionKHR *texts;
	uint32_t n;
};

/* A requested counter. */
struct entry {
	uint32_t index; /* in the table of its first family */
	const struct tally_counter *counter;
	uint32_t set;
};

struct draft {
	const struct tally_vk_api *api;
	struct table tables[TALLY_KHR_MAX_FAMILIES];
	uint32_t n_families;
	uint32_t family; /* the family whose counters are being examined */
	struct entry *entries; /* ordered by first family */
	/* For each family, its first index in entries. */
	uint32_t first[TALLY_KHR_MAX_FAMILIES + 1];
	uint32_t n, room;
	uint32_t n_offered, too_many, misfits;
	uint32_t *indices; /* scratch space */
	uint32_t n_sets;
	uint32_t n_overview, overview_family; /* n_overview: their indices are in `indices` */
	bool disturbs, no_memory;
};

/* ---- available counters ---- */

/* Queries the arrays too, whatever is requested: validation layers accept only counters that
 * they saw listed (seen in 1.3.239:
 * VUID-VkQueryPoolPerformanceCreateInfoKHR-pCounterIndices-03321). */
static bool
list_family(struct draft *d, uint32_t family)
{
	struct table *t = &d->tables[family];
	PFN_vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR ask =
		d->api->EnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR;
	uint32_t n = 0, room;

	if (ask(d->api->physical, family, &n, NULL, NULL) < 0 || n == 0)
		return true;
	room = n = n < TALLY_KHR_MAX_COUNTERS ? n : TALLY_KHR_MAX_COUNTERS;
	t->counters = calloc(n, sizeof(*t->counters));
	t->texts = calloc(n, sizeof(*t->texts));
	if (!t->counters || !t->texts)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		t->counters[i].sType = VK_STRUCTURE_TYPE_PERFORMANCE_COUNTER_KHR;
		t->texts[i].sType = VK_STRUCTURE_TYPE_PERFORMANCE_COUNTER_DESCRIPTION_KHR;
	}
	if (ask(d->api->physical, family, &n, t->counters, t->texts) >= 0)
		t->n = n < room ? n : room; /* a driver may report more than it wrote */
	for (uint32_t i = 0; i < t->n; i++) {
		t->texts[i].name[VK_MAX_DESCRIPTION_SIZE - 1] = '\0';
		t->texts[i].category[VK_MAX_DESCRIPTION_SIZE - 1] = '\0';
		t->texts[i].description[VK_MAX_DESCRIPTION_SIZE - 1] = '\0';
	}
	return true;
}

/* The index of the same counter on another family, where it may differ. The name is
 * compared too: if a driver leaves all UUIDs empty, one counter's value must not appear
 * under another's name. */
static uint32_t
find_on(const struct draft *d, uint32_t family, uint32_t home, uint32_t index)
{
	const struct table *t = &d->tables[family], *of = &d->tables[home];
	const VkPerformanceCounterKHR *counter = &of->counters[index];
	const VkPerformanceCounterDescriptionKHR *text = &of->texts[index];

	for (uint32_t i = 0; i < t->n; i++) {
		const VkPerformanceCounterKHR *other = &t->counters[i];
		if (memcmp(other->uuid, counter->uuid, VK_UUID_SIZE) == 0 &&
		    other->storage == counter->storage && other->scope == counter->scope &&
		    strcmp(t->texts[i].name, text->name) == 0 &&
		    strcmp(t->texts[i].category, text->category) == 0)
			return i;
	}
	return NOWHERE;
}

static bool
is_new(const struct draft *d, uint32_t family, uint32_t index)
{
	for (uint32_t before = 0; before < family; before++)
		if (find_on(d, before, family, index) != NOWHERE)
			return false;
	return true;
}

/* Whether these counters, given as indices of a family, can be counted in one run. */
static bool
in_one_run(const struct draft *d, uint32_t family, const uint32_t *indices, uint32_t n)
{
	const VkQueryPoolPerformanceCreateInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_PERFORMANCE_CREATE_INFO_KHR,
		.queueFamilyIndex = family,
		.counterIndexCount = n,
		.pCounterIndices = indices,
	};
	uint32_t runs = 0;

	d->api->GetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR(d->api->physical, &info,
								      &runs);
	return runs == 1;
}

/* ---- choosing ---- */

static bool
has(const struct draft *d, const struct tally_counter *counter)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (d->entries[i].counter == counter)
			return true;
	return false;
}

static void
add_entry(struct draft *d, struct tally_key_table *keys, uint32_t index,
	  struct tally_counter *counter)
{
	if (d->n >= TALLY_KHR_MAX_COUNTERS) {
		d->too_many++;
		return;
	}
	const struct tally_counter *kept = tally_key_table_add(keys, counter);
	if (kept && has(d, kept))
		return; /* the driver lists it twice: one key, one value */
	if (!kept || !tally_array_fit(&d->entries, d->n, &d->room, sizeof(*d->entries))) {
		d->no_memory = true;
		return;
	}
	d->entries[d->n++] = (struct entry){ .index = index, .counter = kept };
}

/* Adds the counter to the overview if it fits: one scope, one run, so that by default nothing
 * takes turns. */
static void
try_for_overview(struct draft *d, uint32_t family, uint32_t index)
{
	const struct table *t = &d->tables[family];

	if (d->n_overview >= OVERVIEW || (d->n_overview && d->overview_family != family) ||
	    (t->texts[index].flags &
	     VK_PERFORMANCE_COUNTER_DESCRIPTION_PERFORMANCE_IMPACTING_BIT_KHR) ||
	    (d->n_overview && t->counters[d->indices[0]].scope != t->counters[index].scope))
		return;
	d->overview_family = family;
	d->indices[d->n_overview] = index;
	if (in_one_run(d, family, d->indices, d->n_overview + 1))
		d->n_overview++;
}

/* Whether there are any counters whose values can be attributed to a pass. */
static bool
bears_on_passes(const struct table *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->counters[i].scope != VK_PERFORMANCE_COUNTER_SCOPE_COMMAND_BUFFER_KHR)
			return true;
	return false;
}

/* The driver does not say how useful a counter is: the overview consists of shares, which say
 * what limits a pass, and then of the first counters. */
static void
make_overview(struct draft *d, uint32_t family)
{
	const struct table *t = &d->tables[family];
	bool of_passes = bears_on_passes(t);

	for (unsigned round = 0; round < 2; round++)
		for (uint32_t i = 0; i < t->n; i++) {
			const VkPerformanceCounterKHR *c = &t->counters[i];
			bool later = c->unit != VK_PERFORMANCE_COUNTER_UNIT_PERCENTAGE_KHR;
			bool whole = c->scope == VK_PERFORMANCE_COUNTER_SCOPE_COMMAND_BUFFER_KHR;
			if (later == round && !(of_passes && whole) && is_new(d, family, i) &&
			    tally_khr_knows_storage(c->storage))
				try_for_overview(d, family, i);
		}
}

static bool
in_overview(const struct draft *d, uint32_t family, uint32_t index)
{
	for (uint32_t i = 0; i < d->n_overview; i++)
		if (d->overview_family == family && d->indices[i] == index)
			return true;
	return false;
}

static void
choose(struct draft *d, const char *wanted, struct tally_key_table *keys, uint32_t family)
{
	const struct table *t = &d->tables[family];

	make_overview(d, family);
	for (uint32_t i = 0; i < t->n; i++) {
		const VkPerformanceCounterKHR *counter = &t->counters[i];
		const VkPerformanceCounterDescriptionKHR *text = &t->texts[i];
		struct tally_khr_texts texts;
		if (!is_new(d, family, i))
			continue;
		d->n_offered++;
		if (!tally_khr_knows_storage(counter->storage)) {
			d->misfits++;
			continue;
		}
		bool shown = in_overview(d, family, i);
		struct tally_counter out = tally_khr_describe(counter, text, &texts);
		if (!tally_counter_wanted(wanted, &out, NULL, text->category, shown) &&
		    !tally_list_matches(wanted, texts.uuid, NULL))
			continue;
		d->disturbs |= text->flags &
			       VK_PERFORMANCE_COUNTER_DESCRIPTION_CONCURRENTLY_IMPACTED_BIT_KHR;
		add_entry(d, keys, i, &out);
	}
}

/* ---- sets ---- */

static bool
fits(void *data, const uint32_t *chosen, uint32_t n)
{
	struct draft *d = data;
	const struct table *t = &d->tables[d->family];
	const struct entry *entries = &d->entries[d->first[d->family]];

	if (n > TALLY_KHR_MAX_SET)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		d->indices[i] = entries[chosen[i]].index;
		if (t->counters[d->indices[i]].scope != t->counters[d->indices[0]].scope)
			return false;
	}
	return in_one_run(d, d->family, d->indices, n);
}

static bool
group(struct draft *d)
{
	uint32_t *set_of = calloc((size_t)d->n + 1, sizeof(*set_of));
	uint32_t *scratch = calloc((size_t)d->n + 1, sizeof(*scratch));

	for (uint32_t f = 0; set_of && scratch && f < d->n_families; f++) {
		uint32_t n = d->first[f + 1] - d->first[f];
		d->family = f;
		uint32_t n_sets = n ? tally_counter_group(n, set_of, scratch, fits, d) : 0;
		for (uint32_t i = 0; i < n; i++) {
			bool fit = set_of[i] != TALLY_NO_SET &&
				   d->n_sets + set_of[i] < TALLY_KHR_MAX_SETS;
			d->entries[d->first[f] + i].set = fit ? d->n_sets + set_of[i]
							      : TALLY_NO_SET;
			d->misfits += !fit;
		}
		d->n_sets += n_sets;
		if (d->n_sets > TALLY_KHR_MAX_SETS)
			d->n_sets = TALLY_KHR_MAX_SETS;
	}
	bool ok = set_of && scratch;
	free(set_of);
	free(scratch);
	return ok;
}

/* ---- making the catalogue ---- */

static uint32_t
home_of(const struct draft *d, uint32_t entry)
{
	uint32_t f = 0;

	while (d->first[f + 1] <= entry)
		f++;
	return f;
}

/* A family that has all counters of a set, and can also count them in one run, counts the
 * set as well. */
static bool
spread_set(struct draft *d, uint32_t home, struct tally_khr_set *set)
{
	for (uint32_t f = 0; f < d->n_families; f++) {
		if (f == home || !d->tables[f].n)
			continue;
		uint32_t *indices = calloc((size_t)set->n + 1, sizeof(*indices));
		bool all = true;
		if (!indices)
			return false;
		for (uint32_t i = 0; i < set->n && all; i++) {
			indices[i] = find_on(d, f, home, set->indices[home][i]);
			all = indices[i] != NOWHERE;
		}
		if (all && in_one_run(d, f, indices, set->n))
			set->indices[f] = indices;
		else
			free(indices);
	}
	return true;
}

static const struct tally_counter_set *
fill_set(struct draft *d, uint32_t number, struct tally_khr_set *set)
{
	const struct tally_counter_set *kept = NULL;
	uint32_t n = 0, home = 0;

	for (uint32_t i = 0; i < d->n; i++)
		n += d->entries[i].set == number;
	const struct tally_counter **layout = calloc((size_t)n + 1, sizeof(*layout));
	uint32_t *indices = calloc((size_t)n + 1, sizeof(*indices));
	set->storages = calloc((size_t)n + 1, sizeof(*set->storages));
	set->adds_up = calloc((size_t)n + 1, sizeof(*set->adds_up));
	if (layout && indices && set->storages && set->adds_up) {
		const char *category = NULL;
		bool mixed = false;
		for (uint32_t i = 0; i < d->n; i++) {
			const struct entry *e = &d->entries[i];
			if (e->set != number)
				continue;
			home = home_of(d, i);
			const struct table *t = &d->tables[home];
			const char *of = t->texts[e->index].category;
			mixed |= category && strcmp(category, of) != 0;
			category = of;
			set->storages[set->n] = t->counters[e->index].storage;
			set->scope = tally_khr_scope(t->counters[e->index].scope);
			set->adds_up[set->n] = tally_counter_adds_up(e->counter);
			indices[set->n] = e->index;
			layout[set->n++] = e->counter;
		}
		char name[sizeof(TALLY_KHR_NAME) + 12];
		snprintf(name, sizeof(name), TALLY_KHR_NAME "-%u", number + 1);
		kept = tally_counter_set_keep(&(struct tally_counter_set){
			.layout = { name, layout, n },
			.category = mixed || !category || !category[0] ? NULL : category,
			.bytes = n * (uint32_t)sizeof(VkPerformanceCounterResultKHR),
		});
		set->indices[home] = indices;
		indices = NULL;
		kept = kept && spread_set(d, home, set) ? kept : NULL;
	}
	free(indices);
	free(layout);
	return kept;
}

static struct tally_khr_catalogue *
make(struct draft *d)
{
	struct tally_khr_catalogue *out = calloc(1, sizeof(*out));
	if (!out)
		return NULL;
	out->counters = calloc((size_t)d->n + 1, sizeof(*out->counters));
	out->sets = calloc((size_t)d->n_sets + 1, sizeof(*out->sets));
	out->set_list = calloc((size_t)d->n_sets + 1, sizeof(*out->set_list));
	if (!out->counters || !out->sets || !out->set_list)
		goto destroy;
	for (uint32_t i = 0; i < d->n; i++)
		if (d->entries[i].set != TALLY_NO_SET)
			out->counters[out->n_counters++] = d->entries[i].counter;
	out->n_sets = d->n_sets;
	for (uint32_t i = 0; i < d->n_sets; i++) {
		out->set_list[i] = fill_set(d, i, &out->sets[i]);
		if (!out->set_list[i])
			goto destroy;
		if (out->widest < out->sets[i].n)
			out->widest = out->sets[i].n;
	}
	return out;

destroy:
	tally_khr_catalogue_destroy(out);
	return NULL;
}

void
tally_khr_catalogue_destroy(struct tally_khr_catalogue *catalogue)
{
	if (!catalogue)
		return;
	for (uint32_t i = 0; catalogue->sets && i < catalogue->n_sets; i++) {
		free(catalogue->sets[i].storages);
		free(catalogue->sets[i].adds_up);
		for (uint32_t f = 0; f < TALLY_KHR_MAX_FAMILIES; f++)
			free(catalogue->sets[i].indices[f]);
	}
	free(catalogue->sets);
	free(catalogue->set_list);
	free(catalogue->counters);
	free(catalogue);
}

/* The reason why there is nothing, or what part of it is missing. */
static void
report_left_out(const struct draft *d, struct tally_vk_source *src,
		const struct tally_khr_catalogue *made)
{
	size_t size = sizeof(src->reason);

	if (!d->n_offered)
		snprintf(src->reason, size,
			 "the driver has VK_KHR_performance_query, but no counter in it");
	else if (!d->n)
		snprintf(src->reason, size, "none of its counters is in --counters %.200s",
			 src->wanted ? src->wanted : "overview");
	else if (!made)
		snprintf(src->reason, size,
			 "none of its counters can be counted in one run of the work");
	else if (d->misfits || d->too_many)
		snprintf(src->reason, size,
			 "%u counters that do not fit one run of the work, and "
			 "%u past the ceiling of %u, are left out",
			 d->misfits, d->too_many, TALLY_KHR_MAX_COUNTERS);
	else if (d->disturbs)
		snprintf(src->reason, size,
			 "counts include what else runs on the GPU at the same time");
}

static bool
list(struct draft *d)
{
	uint32_t most = 0;

	for (uint32_t f = 0; f < d->n_families; f++) {
		if (!list_family(d, f))
			return false;
		most = d->tables[f].n > most ? d->tables[f].n : most;
	}
	d->indices = calloc((size_t)most + 1, sizeof(*d->indices));
	return d->indices != NULL;
}

struct tally_khr_catalogue *
tally_khr_catalogue_create(struct tally_vk_source *src, enum tally_status *status)
{
	struct draft d = { .api = src->api };
	struct tally_khr_catalogue *out = NULL;

	d.n_families = src->api->n_families < TALLY_KHR_MAX_FAMILIES ? src->api->n_families
								     : TALLY_KHR_MAX_FAMILIES;
	*status = TALLY_NO_MEMORY;
	bool ok = list(&d);
	for (uint32_t f = 0; ok && f < d.n_families; f++) {
		choose(&d, src->wanted, src->keys, f);
		d.first[f + 1] = d.n;
	}
	if (ok && !d.no_memory && group(&d)) {
		out = d.n_sets ? make(&d) : NULL;
		if (out || !d.n_sets) {
			*status = out ? TALLY_OK : TALLY_UNSUPPORTED;
			report_left_out(&d, src, out);
		}
	}
	for (uint32_t f = 0; f < d.n_families; f++) {
		free(d.tables[f].counters);
		free(d.tables[f].texts);
	}
	free(d.entries);
	free(d.indices);
	return out;
}

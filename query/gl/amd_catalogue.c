/* SPDX-License-Identifier: MIT */
/* Enumerates groups and counters, chooses among them, and puts them into sets: of a group as many
 * as it allows. Nothing is begun to find out what else the driver refuses: no program begins a
 * monitor without work, and Mesa 25.0's zink crashes at the flush after one. */
#include "query/gl/amd_catalogue.h"

#include "layer/base/array.h"
#include "query/quirks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_NAME "gl-amd"
#define COUNTER_TYPE 0x8BC0
#define COUNTER_RANGE 0x8BC1
#define UNSIGNED_INT64 0x8BC2
#define PERCENTAGE 0x8BC3
#define UNSIGNED_INT 0x1405
#define FLOAT 0x1406
#define MAX_GROUPS 512
#define NAME_SIZE 128
/* Drivers begin more than they can count. Mesa's freedreno writes samples of 40 bytes into a
 * buffer of 4 KiB without checking for its end (22.3, fd_acc_begin_query). */
#define MAX_IN_A_SET 96u
/* The driver does not say which counters are useful, so the overview takes a few
 * of each group. */
#define OVERVIEW_OF_A_GROUP 4u
#define OVERVIEW 32u

struct group {
	unsigned id;
	uint32_t max_active;
	uint32_t n, first; /* its counters among all ids */
	char name[NAME_SIZE];
};

/* Strings that a counter points to until the key table has a copy. */
struct texts {
	char key[2 * NAME_SIZE], name[NAME_SIZE], description[3 * NAME_SIZE];
};

/* A requested counter. */
struct entry {
	struct tally_amd_counter amd;
	struct tally_counter counter;
	struct texts texts;
	uint32_t group; /* an index */
};

/* State while a catalogue is being made. */
struct draft {
	struct tally_gl_api *api;
	struct group *groups;
	uint32_t n_groups;
	unsigned *ids; /* of all counters, group by group */
	uint32_t n_ids;
	struct entry *entries;
	uint32_t n, room;
	uint32_t unknown_types, too_many; /* counters that were left out */
	uint32_t *set_of;
	uint32_t *order; /* the entries by set; those of no set at the end */
	uint32_t n_sets;
	struct tally_key_table named; /* the counters that have their key */
	uint32_t *active; /* per group: its counters in the set that fits() is asked about */
	bool one_group;   /* a set holds counters of only one group */
};

/* ---- available groups and counters ---- */

/* A text that fits the buffer exactly may lack its terminating NUL. */
static void
close_text(char *text, const char *instead, unsigned number)
{
	text[NAME_SIZE - 1] = '\0';
	if (!text[0])
		snprintf(text, NAME_SIZE, "%s %u", instead, number);
}

static bool
list_groups(struct draft *d)
{
	const struct tally_gl_api *api = d->api;
	unsigned ids[MAX_GROUPS] = { 0 };
	int n = 0;

	api->GetPerfMonitorGroupsAMD(&n, 0, NULL);
	n = n < 0 ? 0 : n > MAX_GROUPS ? MAX_GROUPS : n;
	if (n)
		api->GetPerfMonitorGroupsAMD(NULL, n, ids);
	d->groups = calloc((size_t)n + 1, sizeof(*d->groups));
	d->active = calloc((size_t)n + 1, sizeof(*d->active));
	if (!d->groups || !d->active)
		return false;
	for (int i = 0; i < n; i++) {
		struct group *group = &d->groups[d->n_groups];
		int counters = 0, most = 0, length = 0;
		api->GetPerfMonitorCountersAMD(ids[i], &counters, &most, 0, NULL);
		if (counters <= 0 || most <= 0)
			continue;
		*group = (struct group){
			.id = ids[i],
			.max_active = (uint32_t)most,
			.n = (uint32_t)counters,
			.first = d->n_ids,
		};
		api->GetPerfMonitorGroupStringAMD(ids[i], NAME_SIZE - 1, &length, group->name);
		close_text(group->name, "group", ids[i]);
		uint32_t room = TALLY_AMD_MAX_COUNTERS * 4 - d->n_ids;
		if (group->n > room)
			group->n = room;
		d->n_ids += group->n;
		d->n_groups++;
	}
	return true;
}

static bool
list_counters(struct draft *d)
{
	d->ids = calloc((size_t)d->n_ids + 1, sizeof(*d->ids));
	if (!d->ids)
		return false;
	for (uint32_t i = 0; i < d->n_groups; i++) {
		struct group *group = &d->groups[i];
		int n = 0, most = 0;
		if (group->n)
			d->api->GetPerfMonitorCountersAMD(group->id, &n, &most, (int)group->n,
							  d->ids + group->first);
	}
	return true;
}

/* The driver writes two values of the counter's type. An invalid range (minimum not below
 * maximum, which Mesa reports for floats) carries no information. */
static void
ask_range(const struct tally_gl_api *api, struct tally_amd_counter *amd)
{
	uint32_t words[4] = { 0 };
	float numbers[2];
	bool is_wide = amd->type == TALLY_AMD_U64;

	api->GetPerfMonitorCounterInfoAMD(amd->group, amd->id, COUNTER_RANGE, words);
	uint64_t wide[2] = { words[0], words[1] };
	if (is_wide)
		memcpy(wide, words, sizeof(wide));
	if (is_wide || amd->type == TALLY_AMD_U32) {
		amd->ranged = wide[0] < wide[1];
		amd->least = amd->ranged ? wide[0] : 0;
		amd->largest = amd->ranged ? wide[1] : is_wide ? UINT64_MAX : UINT32_MAX;
		return;
	}
	memcpy(numbers, words, sizeof(numbers));
	amd->ranged = isfinite(numbers[0]) && isfinite(numbers[1]) && numbers[0] < numbers[1];
	amd->min = amd->ranged ? (double)numbers[0] : 0.0;
	amd->max = amd->ranged ? (double)numbers[1] : 0.0;
}

static bool
ask_type(const struct tally_gl_api *api, struct tally_amd_counter *amd)
{
	/* Indexed by enum tally_amd_type. */
	static const unsigned types[] = { UNSIGNED_INT, UNSIGNED_INT64, FLOAT, PERCENTAGE };
	unsigned type = 0;

	api->GetPerfMonitorCounterInfoAMD(amd->group, amd->id, COUNTER_TYPE, &type);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		amd->type = (enum tally_amd_type)i;
		if (types[i] == type)
			return true;
	}
	return false;
}

/* "SQ_PS" and "SQ_PS_003" become sq_ps_003, "Setup" and "busy" become setup_busy. */
static void
make_key(const struct group *group, struct texts *texts)
{
	char own[NAME_SIZE], in_front[NAME_SIZE];

	tally_counter_slug(texts->name, own, sizeof(own));
	tally_counter_slug(group->name, in_front, sizeof(in_front));
	size_t len = strlen(in_front);
	if (strncmp(own, in_front, len) == 0 && (own[len] == '_' || own[len] == '\0'))
		snprintf(texts->key, sizeof(texts->key), "%s", own);
	else
		snprintf(texts->key, sizeof(texts->key), "%s_%s", in_front, own);
}

/* The result points into the entry, which may move: describe it where it is used. */
static void
describe(const struct group *group, struct entry *e)
{
	bool percent = e->amd.type == TALLY_AMD_PERCENTAGE;
	bool real = percent || e->amd.type == TALLY_AMD_FLOAT;
	uint32_t width = e->amd.type == TALLY_AMD_U64 ? 64 : 32;

	while (!real && width > 1 && !(e->amd.largest >> (width - 1)))
		width--;
	snprintf(e->texts.description, sizeof(e->texts.description),
		 "Counter %s of the driver's group %s%s", e->texts.name, group->name,
		 percent ? ", a percentage." : ".");
	e->counter = (struct tally_counter){
		.key = e->texts.key,
		.name = e->texts.name,
		.unit = percent ? "percent" : "1",
		.source = SOURCE_NAME,
		.description = e->texts.description,
		.kind = percent ? TALLY_KIND_RATIO : TALLY_KIND_RAW,
		.storage = real ? TALLY_STORAGE_F64 : TALLY_STORAGE_U64,
		.scope = TALLY_SCOPE_PASS,
		.width_bits = width,
	};
}

static struct entry *
room_for_entry(struct draft *d)
{
	if (!tally_array_fit(&d->entries, d->n, &d->room, sizeof(*d->entries)))
		return NULL;
	d->entries[d->n] = (struct entry){ .group = 0 };
	return &d->entries[d->n];
}

/* The inputs of the metrics of the overview (data/metrics/adreno.txt). */
static bool
is_input(const char *key)
{
	static const char *const keys[] = {
		"sp_perf_sp_busy_cycles",
		"sp_perf_sp_alu_working_cycles",
		"sp_perf_sp_stall_cycles_tp",
	};
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

static bool
choose(struct draft *d, const char *wanted)
{
	uint32_t overview = 0;

	for (uint32_t g = 0; g < d->n_groups; g++) {
		const struct group *group = &d->groups[g];
		for (uint32_t i = 0; i < group->n; i++) {
			struct entry *e = room_for_entry(d);
			int length = 0;
			if (!e)
				return false;
			e->group = g;
			e->amd.group = group->id;
			e->amd.id = d->ids[group->first + i];
			d->api->GetPerfMonitorCounterStringAMD(group->id, e->amd.id,
							       NAME_SIZE - 1, &length,
							       e->texts.name);
			close_text(e->texts.name, "counter", e->amd.id);
			if (!ask_type(d->api, &e->amd)) {
				d->unknown_types++;
				continue;
			}
			ask_range(d->api, &e->amd);
			make_key(group, &e->texts);
			describe(group, e);
			bool input = is_input(e->texts.key);
			bool shown = input || (i < OVERVIEW_OF_A_GROUP && i < group->max_active &&
					       overview < OVERVIEW);
			if (!tally_counter_wanted(wanted, &e->counter, NULL, group->name, shown))
				continue;
			overview += shown && !input;
			if (d->n < TALLY_AMD_MAX_COUNTERS)
				d->n++;
			else
				d->too_many++;
		}
	}
	return true;
}

/* ---- which counters go together ---- */

void
tally_amd_select(const struct tally_gl_api *api, unsigned monitor,
		 const struct tally_amd_set *set, uint32_t first, uint32_t n, bool enable)
{
	for (uint32_t i = 0; i < set->n_runs; i++) {
		const struct tally_amd_run *run = &set->runs[i];
		uint32_t from = run->first > first ? run->first : first;
		uint32_t to = run->first + run->n < first + n ? run->first + run->n : first + n;
		if (from < to)
			api->SelectPerfMonitorCountersAMD(monitor, enable, run->group,
							  (int)(to - from), set->ids + from);
	}
}

uint32_t
tally_amd_middle(const struct tally_amd_set *set, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < set->n_runs; i++) {
		uint32_t at = set->runs[i].first;
		if (at >= first + (n + 1) / 2 && at < first + n)
			return at;
	}
	return first + n / 2;
}

static bool
fits(void *data, const uint32_t *chosen, uint32_t n)
{
	struct draft *d = data;
	uint32_t group = d->entries[chosen[n - 1]].group;

	if (n == 1)
		memset(d->active, 0, d->n_groups * sizeof(*d->active));
	bool other = d->one_group ? group != d->entries[chosen[0]].group : n > MAX_IN_A_SET;
	if (other || d->active[group] == d->groups[group].max_active)
		return false;
	d->active[group]++;
	return true;
}

/* The number of entries in the set that begins at `first` of the order. */
static uint32_t
set_length(const struct draft *d, uint32_t first)
{
	uint32_t n = 0;
	while (first + n < d->n && d->set_of[d->order[first + n]] == d->set_of[d->order[first]])
		n++;
	return n;
}

static bool
put_into_sets(struct draft *d)
{
	d->order = calloc((size_t)d->n + 1, sizeof(*d->order));
	d->set_of = calloc((size_t)d->n + 1, sizeof(*d->set_of));
	if (!d->order || !d->set_of)
		return false;
	d->n_sets = tally_counter_group(d->n, d->set_of, d->order, fits, d);
	if (d->n_sets > TALLY_AMD_MAX_SETS)
		d->n_sets = TALLY_AMD_MAX_SETS;
	return true;
}

/* ---- making the catalogue ---- */

/* The shared copy of the counter. Two counters of the same name, in groups of the same name,
 * are two counters. */
static const struct tally_counter *
name_counter(struct draft *d, struct tally_key_table *keys, struct entry *e)
{
	describe(&d->groups[e->group], e);
	const struct tally_counter *counter = tally_key_table_add(keys, &e->counter);
	if (counter && tally_key_table_has(&d->named, counter->key)) {
		size_t len = strlen(e->texts.key), used = strlen(e->texts.description);
		snprintf(e->texts.key + len, sizeof(e->texts.key) - len, "_%u_%u", e->amd.group,
			 e->amd.id);
		snprintf(e->texts.description + used, sizeof(e->texts.description) - used,
			 " Its numbers are %u and %u.", e->amd.group, e->amd.id);
		e->counter.key = e->texts.key;
		counter = tally_key_table_add(keys, &e->counter);
	}
	return counter && tally_key_table_reserve(&d->named, counter) ? counter : NULL;
}

static bool
name_counters(struct draft *d, struct tally_key_table *keys, struct tally_amd_catalogue *out)
{
	out->all = calloc((size_t)d->n + 1, sizeof(*out->all));
	out->counters = calloc((size_t)d->n + 1, sizeof(*out->counters));
	if (!out->all || !out->counters)
		return false;
	for (uint32_t i = 0; i < d->n; i++) {
		struct entry *e = &d->entries[i];
		if (d->set_of[i] >= d->n_sets)
			continue;
		e->amd.counter = name_counter(d, keys, e);
		if (!e->amd.counter)
			return false;
		out->all[i] = e->amd;
		out->counters[out->n_counters++] = e->amd.counter;
	}
	return true;
}

static const struct tally_counter_set *
fill_set(const struct draft *d, const uint32_t *members, uint32_t n,
	 const struct tally_amd_catalogue *from, struct tally_amd_set *set)
{
	char name[sizeof(SOURCE_NAME) + 12];
	const struct tally_counter_set *kept = NULL;

	const struct tally_counter **layout = calloc((size_t)n + 1, sizeof(*layout));
	set->counters = calloc((size_t)n + 1, sizeof(*set->counters));
	set->ids = calloc((size_t)n + 1, sizeof(*set->ids));
	set->runs = calloc((size_t)n + 1, sizeof(*set->runs));
	if (layout && set->counters && set->ids && set->runs) {
		const char *group = NULL;
		uint32_t bytes = 0;
		for (uint32_t i = 0; i < n; i++) {
			const struct tally_amd_counter *amd = &from->all[members[i]];
			if (!set->n_runs || set->runs[set->n_runs - 1].group != amd->group)
				set->runs[set->n_runs++] =
					(struct tally_amd_run){ amd->group, set->n, 0 };
			set->runs[set->n_runs - 1].n++;
			set->counters[set->n] = amd;
			set->ids[set->n] = amd->id;
			layout[set->n++] = amd->counter;
			/* The bytes of group, number and value. */
			bytes += amd->type == TALLY_AMD_U64 ? 16 : 12;
			group = d->groups[d->entries[members[i]].group].name;
		}
		snprintf(name, sizeof(name), SOURCE_NAME "-%u", d->set_of[members[0]] + 1);
		kept = tally_counter_set_keep(&(struct tally_counter_set){
			.layout = { name, layout, n },
			.category = set->n_runs == 1 ? group : NULL,
			.bytes = bytes,
		});
	}
	free(layout);
	return kept;
}

void
tally_amd_catalogue_destroy(struct tally_amd_catalogue *catalogue)
{
	if (!catalogue)
		return;
	for (uint32_t i = 0; catalogue->sets && i < catalogue->n_sets; i++) {
		free(catalogue->sets[i].counters);
		free(catalogue->sets[i].ids);
		free(catalogue->sets[i].runs);
	}
	free(catalogue->sets);
	free(catalogue->set_list);
	free(catalogue->counters);
	free(catalogue->all);
	free(catalogue);
}

static struct tally_amd_catalogue *
make(struct draft *d, struct tally_key_table *keys)
{
	struct tally_amd_catalogue *out = calloc(1, sizeof(*out));
	if (!out)
		return NULL;
	if (!name_counters(d, keys, out))
		goto destroy;
	out->sets = calloc((size_t)d->n_sets + 1, sizeof(*out->sets));
	out->set_list = calloc((size_t)d->n_sets + 1, sizeof(*out->set_list));
	if (!out->sets || !out->set_list)
		goto destroy;
	out->n_sets = d->n_sets;
	for (uint32_t i = 0, first = 0; i < d->n_sets; i++) {
		uint32_t n = set_length(d, first);
		out->set_list[i] = fill_set(d, d->order + first, n, out, &out->sets[i]);
		first += n;
		if (!out->set_list[i])
			goto destroy;
		if (out->widest < out->sets[i].n)
			out->widest = out->sets[i].n;
	}
	return out;

destroy:
	tally_amd_catalogue_destroy(out);
	return NULL;
}

/* The reason why there is nothing, or what part of it is missing. */
static void
report_left_out(const struct draft *d, struct tally_source *src, uint32_t n_counters)
{
	size_t size = sizeof(src->reason);

	if (!d->n_groups)
		snprintf(src->reason, size, "the driver has GL_AMD_performance_monitor, but no "
					    "group of counters in it");
	else if (!d->n)
		snprintf(src->reason, size, "none of its counters is in --counters %s",
			 src->wanted ? src->wanted : "overview");
	else if (d->n + d->too_many > n_counters)
		snprintf(src->reason, size, "%u counters past the ceiling of %u, or of %u sets, "
					    "are left out",
			 d->n + d->too_many - n_counters, TALLY_AMD_MAX_COUNTERS,
			 TALLY_AMD_MAX_SETS);
	else if (d->unknown_types)
		snprintf(src->reason, size, "%u counters of a type that the extension does not "
					    "name are left out", d->unknown_types);
}

struct tally_amd_catalogue *
tally_amd_catalogue_create(struct tally_gl_api *api, struct tally_source *src,
			   enum tally_status *status)
{
	struct draft d = {
		.api = api,
		.one_group = tally_gl_quirk(TALLY_QUIRK_MONITORS_ONE_GROUP, api->driver),
	};
	struct tally_amd_catalogue *out = NULL;

	*status = TALLY_NO_MEMORY;
	if (list_groups(&d) && list_counters(&d) && choose(&d, src->wanted) &&
	    put_into_sets(&d)) {
		out = d.n_sets ? make(&d, src->keys) : NULL;
		if (out || !d.n_sets) {
			*status = out ? TALLY_OK : TALLY_UNSUPPORTED;
			report_left_out(&d, src, out ? out->n_counters : 0);
		}
	}
	tally_key_table_finish(&d.named);
	free(d.groups);
	free(d.active);
	free(d.ids);
	free(d.entries);
	free(d.set_of);
	free(d.order);
	return out;
}

/* SPDX-License-Identifier: MIT */
#include "query/gl/intel_list.h"

#include "layer/base/array.h"
#include "layer/base/small_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "layer/config/config.h"
#include "layer/config/list.h"

#define SOURCE_NAME "gl-intel"
#define MAX_QUERIES 512 /* the drivers of newer GPUs have several hundred */
#define MAX_COUNTERS 1024 /* of one query */
#define MAX_DATA 65536 /* bytes of one query's results */

struct lister {
	struct tally_intel_offer *offer;
	const struct tally_gl_api *api;
	const struct tally_intel_dialect *dialect;
	struct tally_source *src;
	bool more_queries, more_counters; /* more exist than are examined */
	uint32_t n_unread; /* counters that cannot be decoded */
};

static bool
add_counter(struct lister *in, const struct tally_counter *counter)
{
	for (uint32_t i = 0; i < in->offer->n_counters; i++) {
		if (in->offer->counters[i] == counter)
			return true;
	}
	struct tally_intel_offer *o = in->offer;
	if (!tally_array_fit(&o->counters, o->n_counters, &o->room_counters,
			     sizeof(*o->counters)))
		return false;
	in->offer->counters[in->offer->n_counters++] = counter;
	return true;
}

static bool
add_place(struct lister *in, struct tally_intel_place place)
{
	struct tally_intel_offer *o = in->offer;
	if (!tally_array_fit(&o->places, o->n_places, &o->room_places, sizeof(*o->places)))
		return false;
	in->offer->places[in->offer->n_places++] = place;
	return true;
}

/* One query type while its counters are listed. */
struct listing {
	struct tally_intel_said said;
	char name[256]; /* the query's name */
	char key[256];
	unsigned data_size, n_counters, n_instances, caps;
	const struct tally_counter *chosen[MAX_COUNTERS];
	uint32_t n_chosen;
	uint32_t first; /* the first of its places */
	uint32_t end; /* end of the last byte that a counter needs */
	bool overview, everything;
	bool narrow; /* of the overview only tally_intel_in_overview() */
	uint32_t n_narrow; /* how many of these the query has */
	struct tally_key_table *keys;
};

/* The counter's index among the values, or NONE. */
static uint32_t
find_chosen(const struct listing *l, const struct tally_counter *counter)
{
	for (uint32_t i = 0; i < l->n_chosen; i++) {
		if (l->chosen[i] == counter)
			return i;
	}
	return TALLY_INTEL_NONE;
}

/* Whether it is the same counter with this position in the query, listed again. */
static bool
lies_at(const struct lister *in, const struct listing *l, uint32_t value,
	const struct tally_intel_field *field)
{
	for (uint32_t i = l->first; i < in->offer->n_places; i++) {
		const struct tally_intel_place *place = &in->offer->places[i];
		if (place->value == value)
			return place->field.offset == field->offset;
	}
	return false;
}

/* The shared copy of the counter; NULL on OOM. Two of one name in one query are two counters:
 * the second is distinguished by its number. */
static const struct tally_counter *
name_counter(const struct lister *in, struct listing *l, unsigned number,
	     const struct tally_intel_field *field, struct tally_counter *counter)
{
	const struct tally_counter *kept = tally_key_table_add(l->keys, counter);
	uint32_t before = kept ? find_chosen(l, kept) : TALLY_INTEL_NONE;
	if (before == TALLY_INTEL_NONE || lies_at(in, l, before, field))
		return kept;
	char numbered[sizeof(l->key)], text[sizeof(l->said.text) + 32];
	tally_counter_slug(l->said.name, l->key, sizeof(l->key));
	snprintf(numbered, sizeof(numbered), "%.180s_%u", l->key, number);
	snprintf(text, sizeof(text), "%s%sIts number is %u.", l->said.text,
		 l->said.text[0] ? " " : "", number);
	counter->key = numbered;
	counter->description = text;
	return tally_key_table_add(l->keys, counter);
}

/* False only on OOM. */
static bool
list_counter(struct lister *in, struct listing *l, unsigned query, unsigned number)
{
	struct tally_intel_said *said = &l->said;
	struct tally_counter counter;
	struct tally_intel_place place = { .value = TALLY_INTEL_NONE };

	memset(said, 0, sizeof(*said));
	in->api->GetPerfCounterInfoINTEL(query, number, sizeof(said->name), said->name,
					 sizeof(said->text), said->text, &said->offset,
					 &said->size, &said->kind, &said->type, &said->raw_max);
	said->name[sizeof(said->name) - 1] = said->text[sizeof(said->text) - 1] = '\0';
	if (!said->name[0])
		return true;
	if (said->offset > MAX_DATA || said->size > 8 ||
	    !tally_intel_describe(in->dialect, said, &place.field, &counter)) {
		in->n_unread++;
		return true;
	}
	tally_counter_slug(said->name, l->key, sizeof(l->key));
	counter.key = l->key;
	counter.source = SOURCE_NAME;
	if (in->dialect->has_caps && (l->caps & 1))
		counter.scope = TALLY_SCOPE_DEVICE;
	place.disturbs = tally_intel_reports_disturbance(said->name);
	place.elapsed = tally_intel_is_elapsed(said->name);
	bool listed = !l->narrow || tally_intel_in_overview(said->name);
	l->n_narrow += listed;
	bool wanted = l->everything ||
		      tally_counter_wanted(in->src->wanted, &counter, l->name, SOURCE_NAME,
					   l->overview && listed);
	if (wanted && l->n_chosen < MAX_COUNTERS) {
		const struct tally_counter *kept =
			name_counter(in, l, number, &place.field, &counter);
		if (!kept || !add_counter(in, kept))
			return false;
		if (find_chosen(l, kept) == TALLY_INTEL_NONE) {
			place.value = l->n_chosen;
			l->chosen[l->n_chosen++] = kept;
		}
	}
	if (place.value == TALLY_INTEL_NONE && !place.disturbs && !place.elapsed)
		return true;
	if (l->end < place.field.offset + place.field.size)
		l->end = place.field.offset + place.field.size;
	return add_place(in, place);
}

/* False only on OOM. */
static bool
list_counters(struct lister *in, struct listing *l, unsigned query)
{
	l->n_chosen = l->n_narrow = l->end = 0;
	in->offer->n_places = l->first;
	for (unsigned i = 1; i <= l->n_counters && i <= MAX_COUNTERS; i++)
		if (!list_counter(in, l, query, i))
			return false;
	return true;
}

/* The set of a query type, if any of its counters is requested. False only on OOM. */
static bool
list_query(struct lister *in, struct listing *l, unsigned query)
{
	struct tally_intel_set set = {
		.query = query,
		.pipeline = tally_intel_is_pipeline(l->name),
		.first = in->offer->n_places,
		.free = TALLY_INTEL_NONE,
		.limit = TALLY_INTEL_MAX_HANDLES,
	};
	if (in->dialect->has_limit && l->n_instances && l->n_instances < set.limit)
		set.limit = l->n_instances;
	l->first = set.first;
	in->more_counters |= l->n_counters > MAX_COUNTERS;
	uint32_t n_unread = in->n_unread;
	l->narrow = l->overview && !l->everything;
	if (!list_counters(in, l, query))
		return false;
	if (l->narrow && l->n_narrow < TALLY_INTEL_OVERVIEW) {
		l->narrow = false;
		in->n_unread = n_unread;
		if (!list_counters(in, l, query))
			return false;
	}
	if (!l->n_chosen) {
		in->offer->n_places = set.first;
		return true;
	}
	set.n_places = in->offer->n_places - set.first;
	set.data_size = l->data_size > l->end ? l->data_size : l->end;
	if (in->offer->data_size < set.data_size)
		in->offer->data_size = set.data_size;
	const struct tally_counter_set named = {
		.layout = { l->name, l->chosen, l->n_chosen },
		.category = SOURCE_NAME,
		.bytes = set.data_size,
	};
	uint32_t room = in->offer->room_sets;
	if (!tally_array_fit(&in->offer->sets, in->offer->n_sets, &room,
			     sizeof(*in->offer->sets)))
		return false;
	in->offer->layouts[in->offer->n_sets] = tally_counter_set_keep(&named);
	in->offer->sets[in->offer->n_sets] = set;
	in->offer->room_sets = room;
	return in->offer->layouts[in->offer->n_sets++] != NULL;
}

/* Fills in the name and the numbers; false: the driver reports nothing of the query, or the
 * query has no counters. */
static bool
ask_query(struct lister *in, struct listing *l, unsigned query)
{
	/* What a driver writes there may lack its terminating NUL. */
	memset(l->name, 0, sizeof(l->name));
	l->data_size = l->n_counters = l->n_instances = l->caps = 0;
	in->api->GetPerfQueryInfoINTEL(query, sizeof(l->name), l->name, &l->data_size,
				       &l->n_counters, &l->n_instances, &l->caps);
	l->name[sizeof(l->name) - 1] = '\0';
	return l->name[0] && l->n_counters && l->data_size <= MAX_DATA &&
	       !tally_intel_is_blob(l->name);
}

static uint32_t
list_ids(struct lister *in, unsigned ids[MAX_QUERIES])
{
	unsigned id = 0;
	uint32_t n = 0;
	in->api->GetFirstPerfQueryIdINTEL(&id);
	while (id && n < MAX_QUERIES) {
		unsigned next = 0;
		ids[n++] = id;
		in->api->GetNextPerfQueryIdINTEL(id, &next);
		id = next;
		/* A list that leads back into itself ends there. */
		for (uint32_t i = 0; i < n && id; i++)
			id = ids[i] == next ? 0 : id;
	}
	in->more_queries = id != 0;
	return n;
}

/* Whether another source counts the pipeline's statistics in this context. */
static bool
statistics_elsewhere(const struct tally_gl_api *api)
{
	return api->has_statistics_source && !api->es &&
	       (api->version >= 46 ||
		api->has_extension(api, "GL_ARB_pipeline_statistics_query"));
}

/* The query whose counters answer most questions: the basic one, else the first query of the
 * observation unit. TALLY_INTEL_NONE: there is no such query. */
static uint32_t
find_basic(struct lister *in, struct listing *l, const unsigned *ids, uint32_t n)
{
	uint32_t first = TALLY_INTEL_NONE;
	for (uint32_t i = 0; i < n; i++) {
		if (!ask_query(in, l, ids[i]))
			continue;
		if (tally_intel_is_basic(l->name))
			return i;
		if (first == TALLY_INTEL_NONE && !tally_intel_is_pipeline(l->name))
			first = i;
	}
	return first;
}

/* False only on OOM. To be called inside the guard. */
static bool
list_all(struct lister *in, struct listing *l)
{
	unsigned ids[MAX_QUERIES];
	const char *wanted = in->src->wanted, *pinned = in->src->pinned;
	uint32_t n = list_ids(in, ids);
	uint32_t basic = find_basic(in, l, ids, n);
	bool elsewhere = statistics_elsewhere(in->api);

	in->offer->layouts = calloc(n + 1, sizeof(const struct tally_counter_set *));
	if (!in->offer->layouts)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (!ask_query(in, l, ids[i]) || (pinned && !tally_set_is_pinned(l->name, pinned)))
			continue;
		/* A user who pins a set and names no counters wants the counters of the set. */
		l->everything = pinned && (!wanted || tally_list_has(wanted, "overview"));
		l->overview = i == basic || (tally_intel_is_pipeline(l->name) && !elsewhere);
		if (!list_query(in, l, ids[i]))
			return false;
	}
	if (!in->offer->n_sets)
		snprintf(in->src->reason, sizeof(in->src->reason),
			 n ? "none of its counters is in --counters and --set"
			   : "the driver names no type of query");
	else if (in->more_queries || in->more_counters)
		snprintf(in->src->reason, sizeof(in->src->reason),
			 "the driver has more than %d types of query, or more than %d counters "
			 "in one: the rest is left out",
			 MAX_QUERIES, MAX_COUNTERS);
	else if (in->n_unread)
		snprintf(in->src->reason, sizeof(in->src->reason),
			 "left out, of a type or a size that the extension does not have: %u of "
			 "its counters",
			 in->n_unread);
	return true;
}

bool
tally_intel_list(struct tally_intel_offer *offer, const struct tally_gl_api *api,
		 const struct tally_intel_dialect *dialect, struct tally_source *src)
{
	struct lister in = { offer, api, dialect, src, false, false, 0 };
	struct listing *l = calloc(1, sizeof(*l));
	if (!l)
		return false;
	l->keys = src->keys;
	bool ok = list_all(&in, l);
	free(l);
	return ok;
}

void
tally_intel_offer_finish(struct tally_intel_offer *offer)
{
	free(offer->sets);
	free(offer->layouts);
	free(offer->places);
	free(offer->counters);
	*offer = (struct tally_intel_offer){ .n_sets = 0 };
}

/* ---- permission ---- */

void
tally_intel_explain_permission(char *out, size_t size)
{
	static const struct {
		const char *path, *name;
	} locks[] = {
		{ "/proc/sys/dev/i915/perf_stream_paranoid", "dev.i915.perf_stream_paranoid" },
		{ "/proc/sys/dev/xe/observation_paranoid", "dev.xe.observation_paranoid" },
	};
	int saved_errno = errno;
	out[0] = '\0';
	for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]) && !out[0]; i++) {
		long long is;
		if (tally_small_file_number(locks[i].path, &is) && is > 0 && geteuid() != 0)
			snprintf(out, size, "; %s is %lld: sudo sysctl %s=0 allows it",
				 locks[i].name, is, locks[i].name);
	}
	errno = saved_errno;
}

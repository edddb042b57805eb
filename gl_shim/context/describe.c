/* SPDX-License-Identifier: MIT */
#include "gl_shim/context/describe.h"

#include "gl_shim/image/drawable.h"
#include "layer/base/array.h"
#include "layer/frame/identity.h"
#include "query/quirks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UUID_SIZE 16

const char *
gl_source_left_out(const struct gl_context_state *s, const struct tally_gl_source_row *source)
{
	bool monitors = s->counting.game_monitors || (s->counting.game_counts && s->caps.intel);
	if (!tally_source_wanted(s->config->sources, &source->row))
		return source->row.in_tests ? "" : "left out by --sources";
	if ((source->yields == TALLY_YIELDS_COUNTERS && s->counting.game_counts) ||
	    (source->yields == TALLY_YIELDS_MONITORS && monitors))
		return "the program uses the extension itself";
	return NULL;
}

static uint32_t
list_sources(struct gl_context_state *s, struct tally_source_info *rows)
{
	uint32_t n = 0, n_open;
	rows[n++] = (struct tally_source_info){ .name = tally_api_source.name, .on = true };
	const struct tally_source_info *open = tally_harvest_sources(s->harvest, &n_open);
	for (uint32_t i = 0; i < n_open && i < TALLY_MAX_GL_SOURCES; i++)
		rows[n++] = open[i];
	for (uint32_t i = 0; i < tally_n_gl_sources; i++) {
		const char *name = tally_gl_sources[i].row.name;
		const char *why = gl_source_left_out(s, &tally_gl_sources[i]);
		bool listed = false;
		for (uint32_t k = 0; k < n; k++)
			listed |= strcmp(rows[k].name, name) == 0;
		if (!listed && why && why[0])
			rows[n++] = (struct tally_source_info){ .name = name, .reason = why };
	}
	return n;
}

/* Adds this context's counters to those reported for the share group; true when there were new
 * ones. Called with the group's lock held. */
static bool
merge_counters(struct gl_share_group *group, const struct tally_counter *const *counters,
	       uint32_t n)
{
	bool grown = false;
	for (uint32_t i = 0; i < n; i++) {
		bool known = false;
		for (uint32_t j = 0; j < group->n_counters; j++)
			known |= strcmp(group->counters[j]->key, counters[i]->key) == 0;
		if (known)
			continue;
		if (!tally_array_resize(&group->counters, group->n_counters + 1,
					sizeof(group->counters[0])))
			return grown;
		group->counters[group->n_counters++] = counters[i];
		grown = true;
	}
	return grown;
}

/* ---- facts ---- */

enum { N_FACTS = 5 };

/* Whether a source counts by performance queries, which Mesa offers on Intel's GPUs. */
static bool
counts_by_queries(const struct tally_source_info *rows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct tally_gl_source_row *row = tally_gl_sources;
		while (row < tally_gl_sources + tally_n_gl_sources &&
		       strcmp(row->row.name, rows[i].name) != 0)
			row++;
		if (rows[i].on && row < tally_gl_sources + tally_n_gl_sources &&
		    row->yields == TALLY_YIELDS_COUNTERS)
			return true;
	}
	return false;
}

static uint32_t
list_facts(const struct gl_context_state *s, const struct tally_device_record *info,
	   const char *facts[N_FACTS])
{
	const struct tally_gl_api *api = &s->api;
	bool queries = api->has_extension(api, "GL_INTEL_performance_query");
	bool old = !queries && api->has_extension(api, "GL_INTEL_performance_queries");
	bool monitors = api->has_extension(api, "GL_AMD_performance_monitor");
	uint32_t n = 0;
	facts[n++] = queries ? "GL_INTEL_performance_query: yes"
		     : old   ? "GL_INTEL_performance_queries: yes"
			     : "GL_INTEL_performance_query: no";
	facts[n++] = monitors ? "GL_AMD_performance_monitor: yes"
			      : "GL_AMD_performance_monitor: no";
	if (!tally_gl_quirk(TALLY_QUIRK_QUERIES_SHARED, s->caps.driver) ||
	    !counts_by_queries(info->sources, info->n_sources))
		return n;
	facts[n++] = "performance queries: one runs at a time, and one set of counters at a time "
		     "is unread";
	facts[n++] = "performance queries: the GPU's counters serve one program at a time; "
		     "intel_gpu_top -m, GPUVis or Perfetto keep them from others";
	facts[n++] = "performance queries: a refusal is known frames later only, for Mesa's "
		     "threaded context has the calls made by a thread of its own; passes until "
		     "then are flagged lost";
	return n;
}

/* The GPU's UUID; "" where the driver does not offer it. The extension makes the query valid,
 * so that it cannot cause an error. */
static void
read_uuid(struct gl_context_state *s, char out[37])
{
	unsigned char uuid[UUID_SIZE] = { 0 };
	if (s->pub.next->GetUnsignedBytei_vEXT &&
	    s->api.has_extension(&s->api, "GL_EXT_memory_object"))
		s->pub.next->GetUnsignedBytei_vEXT(GL_DEVICE_UUID_EXT, 0, uuid);
	tally_uuid_print(uuid, out);
}

bool
gl_describe_device(struct gl_context_state *s, bool again)
{
	struct gl_share_group *group = s->group;
	const struct gl_next *gl = s->pub.next;
	struct tally_source_info rows[2 * TALLY_MAX_GL_SOURCES + 1]; /* on, off, calls */
	char serialized[512], uuid[37], interval[24];
	int swaps = group->interval;
	const char *facts[N_FACTS];
	uint32_t n_counters, n_sets;
	const struct tally_counter_set *const *sets = tally_harvest_sets(s->harvest, &n_sets);
	struct tally_set_info *listed = tally_counter_sets_list(sets, n_sets, &n_sets);
	const struct tally_counter *const *counters = tally_harvest_counters(s->harvest,
									     &n_counters);
	struct tally_device_record info = {
		.api = s->api.es ? TALLY_API_OPENGL_ES : TALLY_API_OPENGL,
		.name = (const char *)gl->GetString(GL_RENDERER),
		.driver = (const char *)gl->GetString(GL_VENDOR),
		.driver_version = (const char *)gl->GetString(GL_VERSION),
		.beneath = -1,
		.sources = rows,
		.n_sources = list_sources(s, rows),
		.sets = listed,
		.n_sets = n_sets,
		.facts = facts,
	};
	info.n_facts = list_facts(s, &info, facts);
	read_uuid(s, uuid);
	info.uuid = uuid[0] ? uuid : NULL;
	snprintf(interval, sizeof(interval), "interval %d", swaps);
	info.present_mode = swaps == GL_INTERVAL_UNKNOWN ? NULL : interval;
	tally_harvest_serialized_by(s->harvest, serialized, sizeof(serialized));
	if (serialized[0])
		info.serialized_by = serialized;
	pthread_mutex_lock(&group->lock);
	bool grown = merge_counters(group, counters, n_counters) || again;
	info.counters = group->counters;
	info.n_counters = group->n_counters;
	if (!group->device)
		group->device = tally_device_create(&info);
	else if (grown)
		tally_device_describe(group->device, &info);
	bool ok = group->device != NULL;
	pthread_mutex_unlock(&group->lock);
	free(listed);
	return ok;
}

void
gl_describe_interval(struct gl_context_state *s, int interval)
{
	enum { MOST = 16 };
	pthread_mutex_lock(&s->group->lock);
	bool described = s->group->n_intervals++ < MOST;
	s->group->interval = interval;
	pthread_mutex_unlock(&s->group->lock);
	if (described && !s->zone.lost)
		gl_describe_device(s, true);
}

void
gl_describe_again(struct gl_context_state *s)
{
	s->counting.n_off = tally_harvest_n_off(s->harvest);
	tally_harvest_warn(s->harvest);
	if (!s->zone.lost)
		gl_describe_device(s, true);
}

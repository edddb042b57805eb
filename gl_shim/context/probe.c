/* SPDX-License-Identifier: MIT */
#include "gl_shim/context/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gl_shim/context/describe.h"
#include "gl_shim/context/state.h"
#include "gl_shim/game/queries.h"
#include "gl_shim/image/picture.h"
#include "json/record_json.h"
#include "layer/log.h"
#include "query/attribute/annotate.h"
#include "query/quirks.h"
#include "query/sources.h"

#define FIRST_SLOTS 64
#define MAX_SLOTS 262144
#define MAX_EXTENSIONS 1024

/* ---- what the driver reports about itself ---- */

static void
read_version(struct gl_context_state *s)
{
	const char *text = (const char *)s->pub.next->GetString(GL_VERSION);
	int major = 1, minor = 0;
	s->api.es = text && strncmp(text, "OpenGL ES", 9) == 0;
	const char *p = text ? text : "";
	while (*p && (*p < '0' || *p > '9'))
		p++;
	if (sscanf(p, "%d.%d", &major, &minor) != 2 || major < 1 || major > 9 || minor < 0)
		minor = 0;
	s->api.version = 10 * major + minor;
	GLint profile = 0;
	if (!s->api.es && s->api.version >= 32)
		s->pub.next->GetIntegerv(GL_CONTEXT_PROFILE_MASK, &profile);
	s->caps.core_profile = s->api.es || (profile & GL_CONTEXT_CORE_PROFILE_BIT);
	if (s->caps.core_profile)
		s->pub.modes &= ~GL_OLD_MODES;
}

static char *
indexed_extensions(const struct gl_next *gl)
{
	GLint n = 0;
	size_t len = 2;
	gl->GetIntegerv(GL_NUM_EXTENSIONS, &n);
	n = n > MAX_EXTENSIONS ? MAX_EXTENSIONS : n;
	for (GLint i = 0; i < n; i++) {
		const char *name = (const char *)gl->GetStringi(GL_EXTENSIONS, (GLuint)i);
		len += name ? strlen(name) + 1 : 0;
	}
	char *out = malloc(len);
	if (!out)
		return NULL;
	size_t at = 0;
	out[at++] = ' ';
	for (GLint i = 0; i < n; i++) {
		const char *name = (const char *)gl->GetStringi(GL_EXTENSIONS, (GLuint)i);
		size_t room = len - at;
		size_t add = name ? strlen(name) : 0;
		if (!add || add + 2 > room)
			continue;
		memcpy(out + at, name, add);
		at += add;
		out[at++] = ' ';
	}
	out[at < len ? at : len - 1] = '\0';
	return out;
}

static char *
joined_extensions(const struct gl_next *gl)
{
	const char *all = (const char *)gl->GetString(GL_EXTENSIONS);
	char *out;
	return asprintf(&out, " %s ", all ? all : "") < 0 ? NULL : out;
}

static bool
has_extension(const struct tally_gl_api *api, const char *name)
{
	const struct gl_context_state *s = api->user;
	size_t len = strlen(name);
	for (const char *p = s->caps.extensions; p && (p = strstr(p, name)); p += len)
		if (p[-1] == ' ' && p[len] == ' ')
			return true;
	return false;
}

static void (*find_function(void *data, const char *name))(void)
{
	return gl_next_find(data, name);
}

/* Query names go through the shim's own functions, so that the game never sees them. */
static void
fill_api(struct gl_context_state *s)
{
	struct tally_gl_api *api = &s->api;
	api->has_extension = has_extension;
	api->guard_begin = gl_own_guard_begin;
	api->guard_end = gl_own_guard_end;
	api->read_disjoint = gl_read_disjoint;
	api->user = s;
	tally_gl_api_fill(api, find_function, (void *)s->pub.next);
	s->queries.generate = api->GenQueries;
	s->queries.destroy = api->DeleteQueries;
	if (api->GenQueries) {
		api->GenQueries = gl_own_gen_queries;
		api->DeleteQueries = gl_own_delete_queries;
	}
	GLint release = GL_CONTEXT_RELEASE_BEHAVIOR_FLUSH;
	if (api->version >= 45 || has_extension(api, "GL_KHR_context_flush_control"))
		s->pub.next->GetIntegerv(GL_CONTEXT_RELEASE_BEHAVIOR, &release);
	s->caps.release_flushes = release != GL_NONE;
	s->caps.has_texture_dsa = !api->es && (api->version >= 45 ||
					       has_extension(api, "GL_ARB_direct_state_access"));
}

/* ---- sources ---- */

static bool
open_harvest(struct gl_context_state *s)
{
	struct tally_source *sources[TALLY_MAX_GL_SOURCES];
	uint32_t n = 0;
	bool stamps = false;
	for (uint32_t i = 0; i < tally_n_gl_sources; i++) {
		const struct tally_gl_source_row *row = &tally_gl_sources[i];
		bool left_out = gl_source_left_out(s, row);
		bool times = row->create == tally_gl_timestamp_create;
		/* Even unasked it shows whether the work of others was done. */
		struct tally_source *src = left_out && !times ? NULL : row->create(&s->api);
		if (!src)
			continue;
		src->unlogged = left_out;
		stamps |= times && !left_out;
		src->wanted = s->config->counters;
		src->pinned = s->config->set;
		sources[n++] = src;
	}
	/* Times from another source have no tiles. */
	s->api.timestamps_in_tiles = s->api.timestamps_in_tiles && stamps;
	gl_worker = s;
	s->harvest = tally_harvest_create(sources, n, FIRST_SLOTS, MAX_SLOTS);
	if (!s->harvest)
		return false;
	tally_harvest_submitted(s->harvest);
	tally_harvest_rotate(s->harvest, s->config->set, tally_session_first_frame(),
			     s->config->every);
	s->counting.counts = tally_harvest_counts(s->harvest);
	s->counting.timed = tally_harvest_has_time(s->harvest);
	if (!s->counting.timed)
		s->counting.pass_flags |= TALLY_FLAG(NO_TIMESTAMPS);
	s->captured.frame = UINT64_MAX;
	return true;
}

/* Warns if --set names a set that does not exist: then the frames have none. */
static void
mind_pinned_set(struct gl_context_state *s)
{
	const char *pinned = s->config->set;
	uint32_t n;
	const struct tally_counter_set *const *sets = tally_harvest_sets(s->harvest, &n);
	if (!pinned || tally_counter_turn(sets, n, pinned, 0) != TALLY_NO_SET)
		return;
	char names[256];
	size_t at = 0;
	names[0] = '\0';
	for (uint32_t i = 0; i < n && at < sizeof(names); i++) {
		if (sets[i]->layout.set)
			at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s",
					       at ? ", " : "", sets[i]->layout.set);
	}
	tally_log_say(
		TALLY_LEVEL_WARNING, "gl",
		"no set of counters here is named %s, so none is counted; there %s%s",
		pinned, names[0] ? "are: " : "are no sets", names);
}

static bool
open_stream(struct gl_context_state *s)
{
	struct tally_stream_info info = {
		.context = s->number,
		.queue_family = -1,
		.queue_index = -1,
	};
	/* The layout of each pass says what its values are. */
	info.n_counters = tally_harvest_max_values(s->harvest);
	s->stream = tally_stream_create(s->group->device, &info);
	return s->stream != NULL;
}

static void
choose_around(struct gl_context_state *s)
{
	unsigned n = 0;
	if (s->config->pipelines)
		s->around[n++] = &gl_around_programs;
	if (s->config->snapshot == TALLY_SNAPSHOT_EXACT)
		s->around[n++] = &gl_around_snapshot;
	if (s->pictures)
		s->around[n++] = &gl_around_picture;
}

static bool
set_up(struct gl_context_state *s)
{
	const struct gl_next *gl = s->pub.next;
	read_version(s);
	s->caps.extensions = s->api.version >= 30 ? indexed_extensions(gl)
						  : joined_extensions(gl);
	fill_api(s);
	const char *renderer = (const char *)gl->GetString(GL_RENDERER);
	const char *vendor = (const char *)gl->GetString(GL_VENDOR);
	s->api.sources = s->config->sources;
	s->api.driver = s->caps.driver;
	snprintf(s->caps.driver, sizeof(s->caps.driver), "%s %s", vendor ? vendor : "",
		 renderer ? renderer : "");
	s->caps.intel = tally_gl_quirk(TALLY_QUIRK_COMPUTE_BATCH, s->caps.driver);
	s->caps.works_at_once = tally_gl_quirk(TALLY_QUIRK_WORK_AT_ONCE, s->caps.driver);
	s->api.timestamps_in_tiles =
		tally_gl_quirk(TALLY_QUIRK_TIMES_OF_TILES, s->caps.driver);
	if (!open_harvest(s))
		return false;
	mind_pinned_set(s);
	if (!gl_describe_device(s, false))
		return false;
	s->frame_state = tally_device_state(s->group->device);
	if (s->config->pictures.kind != TALLY_TRIGGER_NONE)
		s->pictures = gl_pictures_create();
	choose_around(s);
	return open_stream(s);
}

static void
at_end(void)
{
	tally_session_stop("exit");
}

bool
gl_set_up(struct gl_context *c)
{
	static atomic_flag exit_watched = ATOMIC_FLAG_INIT;
	struct gl_context_state *s = c->state;
	if (gl_no_query_zone(s))
		return false;
	s->probe = GL_PROBE_OFF;
	c->live = GL_FORWARDED; /* the shim's own calls from here on are not the game's */
	tally_session_use_annotator(&tally_annotator);
	if (!tally_session_start(&tally_json_recorder))
		return false;
	if (!atomic_flag_test_and_set(&exit_watched))
		at_quick_exit(at_end);
	s->by_draw = s->config->granularity == TALLY_GRANULARITY_DRAW;
	gl_yield_as_elsewhere(c);
	gl_guard_begin(c);
	bool ok = set_up(s);
	gl_guard_end(c);
	if (!ok) {
		if (tally_session_running()) /* else that, and not memory, is why */
			tally_log_say(TALLY_LEVEL_ERROR, "gl",
				      "out of memory while setting up context %lld: it is not "
				      "measured",
				      (long long)s->number);
		tally_harvest_destroy(s->harvest, true);
		s->harvest = NULL;
		return false;
	}
	s->probe = GL_PROBE_DONE;
	c->live = GL_MEASURED;
	return true;
}

/* gl_shim/probe.c - what a context can do, and its capture set up: once, at its first work. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gl_shim/passes.h"
#include "gl_shim/state.h"
#include "json/record_json.h"
#include "layer/log.h"
#include "query/attribute/annotate.h"
#include "query/sources.h"

#define FIRST_SLOTS 64
#define MAX_SLOTS 262144
#define MAX_EXTENSIONS 1024

/* ---- what the driver says of itself ---- */

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
	s->core_profile = s->api.es || (profile & GL_CONTEXT_CORE_PROFILE_BIT);
	if (s->core_profile)
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
	size_t len = all ? strlen(all) : 0;
	char *out = malloc(len + 3);
	if (!out)
		return NULL;
	out[0] = ' ';
	if (len)
		memcpy(out + 1, all, len);
	out[len + 1] = ' ';
	out[len + 2] = '\0';
	return out;
}

static bool
has_extension(const struct tally_gl_api *api, const char *name)
{
	const struct gl_context_state *s = api->user;
	size_t len = strlen(name);
	for (const char *p = s->extensions; p && (p = strstr(p, name)); p += len)
		if (p[-1] == ' ' && p[len] == ' ')
			return true;
	return false;
}

static void
(*find_function(void *data, const char *name))(void)
{
	return gl_next_find(data, name);
}

/* Query names go through the shim's own, which the game never sees. */
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
	s->release_flushes = release != GL_NONE;
	s->has_texture_dsa = !api->es && (api->version >= 45 ||
					  has_extension(api, "GL_ARB_direct_state_access"));
}

/* ---- sources ---- */

/* Why a source is not even created, or NULL. */
static const char *
left_out(const struct gl_context_state *s, const struct tally_gl_source_row *source)
{
	bool monitors = s->game_monitors || (s->game_counts && s->intel);
	if (!tally_source_wanted(s->config->sources, &source->row))
		return source->row.in_tests ? "" : "left out by --sources";
	if ((source->yields == TALLY_YIELDS_COUNTERS && s->game_counts) ||
	    (source->yields == TALLY_YIELDS_MONITORS && monitors))
		return "the program uses the extension itself";
	return NULL;
}

static bool
open_harvest(struct gl_context_state *s)
{
	struct tally_source *sources[TALLY_MAX_GL_SOURCES];
	uint32_t n = 0;
	for (uint32_t i = 0; i < tally_n_gl_sources; i++) {
		const struct tally_gl_source_row *row = &tally_gl_sources[i];
		struct tally_source *src = left_out(s, row) ? NULL : row->create(&s->api);
		if (!src)
			continue;
		src->wanted = s->config->counters;
		src->pinned = s->config->set;
		sources[n++] = src;
	}
	gl_worker = s;
	s->set_frame = UINT64_MAX;
	s->harvest = tally_harvest_create(sources, n, FIRST_SLOTS, MAX_SLOTS);
	return s->harvest != NULL;
}

/* A name that --set pins and that no set has: the frames are without it. */
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
	tally_log_say(TALLY_LEVEL_WARNING, "gl",
		      "no set of counters here is named %s, so none is counted; there %s%s", pinned,
		      names[0] ? "are: " : "are no sets", names);
}

/* ---- the device line ---- */

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
		const char *why = left_out(s, &tally_gl_sources[i]);
		bool listed = false;
		for (uint32_t k = 0; k < n; k++)
			listed |= strcmp(rows[k].name, name) == 0;
		if (!listed && why && why[0])
			rows[n++] = (struct tally_source_info){ .name = name, .reason = why };
	}
	return n;
}

/* Add this context's counters to those said for the share group; true when there were new ones.
 * With the group's lock held. */
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
		const struct tally_counter **more = realloc(
			group->counters, (group->n_counters + 1) * sizeof(group->counters[0]));
		if (!more)
			return grown;
		group->counters = more;
		group->counters[group->n_counters++] = counters[i];
		grown = true;
	}
	return grown;
}

static bool
describe_device(struct gl_context_state *s, bool again)
{
	struct gl_share_group *group = s->group;
	const struct gl_next *gl = s->pub.next;
	struct tally_source_info rows[2 * TALLY_MAX_GL_SOURCES + 1]; /* on, off, calls */
	char serialized[512];
	uint32_t n_counters;
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
	};
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
	return ok;
}

static bool
open_stream(struct gl_context_state *s)
{
	struct tally_stream_info info = {
		.context = s->number,
		.queue_family = -1,
		.queue_index = -1,
	};
	/* Each pass tells by its layout what its values are. */
	info.n_counters = tally_harvest_max_values(s->harvest);
	s->stream = tally_stream_create(s->group->device, &info);
	return s->stream != NULL;
}

static bool
set_up(struct gl_context_state *s)
{
	const struct gl_next *gl = s->pub.next;
	read_version(s);
	s->extensions = s->api.version >= 30 ? indexed_extensions(gl) : joined_extensions(gl);
	fill_api(s);
	const char *renderer = (const char *)gl->GetString(GL_RENDERER);
	/* zink over lavapipe names llvmpipe too, but its stamps are Vulkan's. */
	s->api.stamps_in_tiles = renderer && (strncmp(renderer, "llvmpipe", 8) == 0 ||
					      strncmp(renderer, "softpipe", 8) == 0);
	s->api.sources = s->config->sources;
	s->api.driver = s->driver;
	const char *vendor = (const char *)gl->GetString(GL_VENDOR);
	s->intel = vendor && strstr(vendor, "Intel");
	snprintf(s->driver, sizeof(s->driver), "%s %s", vendor ? vendor : "",
		 renderer ? renderer : "");
	if (!open_harvest(s))
		return false;
	mind_pinned_set(s);
	return describe_device(s, false) && open_stream(s);
}

void
gl_probe_again(struct gl_context_state *s)
{
	s->n_off = tally_harvest_n_off(s->harvest);
	tally_harvest_warn(s->harvest);
	if (!s->lost)
		describe_device(s, true);
}

/* Run before the session's own exit handler, so that this thread's passes get into the log. */
static void
at_exit(void)
{
	gl_shim_exit();
}

static void
watch_exit(void)
{
	tally_session_on_stop(gl_hand_over);
	atexit(at_exit);
	at_quick_exit(at_exit);
}

void
gl_probe_context(struct gl_context_state *s)
{
	static atomic_flag exit_watched = ATOMIC_FLAG_INIT;
	s->probe = GL_PROBE_OFF;
	s->pub.live = 0; /* what we call ourselves now is not the game's */
	tally_session_use_annotator(&tally_annotator);
	if (!tally_session_start(&tally_json_recorder))
		return;
	if (!atomic_flag_test_and_set(&exit_watched))
		watch_exit();
	s->by_draw = s->config->granularity == TALLY_GRANULARITY_DRAW;
	gl_mind_game_queries(&s->pub);
	gl_guard_begin(&s->pub);
	bool ok = set_up(s);
	gl_guard_end(&s->pub);
	if (!ok) {
		tally_log_say(TALLY_LEVEL_ERROR, "gl",
			      "out of memory while setting up context %lld: it is not measured",
			      (long long)s->number);
		tally_harvest_destroy(s->harvest, true);
		s->harvest = NULL;
		return;
	}
	s->probe = GL_PROBE_DONE;
	s->pub.live = 1;
}

/* SPDX-License-Identifier: MIT */
/* Pipeline statistics, samples passed and primitives, by glBeginQuery. Each target can be used
 * by one query at a time, and the game's queries have priority: a target that the game uses is
 * left out, and a target that it requests while passtally counts is given up. */
#include <stdlib.h>
#include <string.h>

#include "layer/base/array.h"
#include "layer/config/config.h"
#include "layer/config/list.h"
#include "query/gl/api.h"
#include "query/quirks.h"
#include "query/source/noop.h"
#include "query/source/statistics_catalogue.h"

#define SOURCE_NAME "gl-statistics"
#define QUERY_COUNTER_BITS 0x8864

/* Where a target is available: from a version of GL or GLES on (0 = never in core), or with an
 * extension. For one of the eleven statistics, this is where its shader stage is available,
 * because querying a context without the stage is an error. */
struct offer {
	bool statistics; /* one of the eleven statistics */
	int gl, es;
	const char *extensions[2]; /* for desktop GL */
	const char *es_extensions[2];
	const char *needs; /* for people */
};

static const struct offer any_stage = { .statistics = true, .gl = 15, .needs = "needs GL 1.5" };
static const struct offer tessellation = {
	.statistics = true,
	.gl = 40,
	.extensions = { "GL_ARB_tessellation_shader" },
	.needs = "needs GL 4.0",
};
static const struct offer geometry = {
	.statistics = true,
	.gl = 32,
	.extensions = { "GL_ARB_geometry_shader4" },
	.needs = "needs GL 3.2",
};
static const struct offer compute = {
	.statistics = true,
	.gl = 43,
	.extensions = { "GL_ARB_compute_shader" },
	.needs = "needs GL 4.3",
};
static const struct offer samples = {
	.gl = 15,
	.extensions = { "GL_ARB_occlusion_query" },
	.needs = "needs desktop GL 1.5 or ARB_occlusion_query",
};
static const struct offer generated = {
	.gl = 30,
	.es = 32,
	.extensions = { "GL_EXT_transform_feedback" },
	.es_extensions = { "GL_EXT_geometry_shader", "GL_OES_geometry_shader" },
	.needs = "needs GL 3.0, GLES 3.2 or EXT_geometry_shader",
};
static const struct offer written = {
	.gl = 30,
	.es = 30,
	.extensions = { "GL_EXT_transform_feedback" },
	.needs = "needs GL 3.0 or GLES 3.0",
};

/* The others exist in any stage. */
static const struct offer *const offers[TALLY_N_STATISTICS] = {
	[TALLY_STATISTIC_TESS_CONTROL_SHADER_PATCHES] = &tessellation,
	[TALLY_STATISTIC_TESS_EVALUATION_SHADER_INVOCATIONS] = &tessellation,
	[TALLY_STATISTIC_GEOMETRY_SHADER_INVOCATIONS] = &geometry,
	[TALLY_STATISTIC_GEOMETRY_SHADER_PRIMITIVES_EMITTED] = &geometry,
	[TALLY_STATISTIC_COMPUTE_SHADER_INVOCATIONS] = &compute,
	[TALLY_STATISTIC_SAMPLES_PASSED] = &samples,
	[TALLY_STATISTIC_PRIMITIVES_GENERATED] = &generated,
	[TALLY_STATISTIC_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN] = &written,
};

/* One counter that is counted; its index here is its index in a sample. */
struct chosen {
	unsigned target;
	uint32_t group_bit; /* as in app_active */
	/* The largest value of the counter: a result this large is invalid. */
	uint64_t largest;
};

/* Bit i of each mask is chosen[i] of struct gl_statistics. */
struct stat_slot {
	uint32_t active;  /* begun, not ended */
	uint32_t pending; /* ended, result not read yet */
	uint32_t known;   /* read */
	uint64_t flags;
};

/* A query object, bound to its first target, and its result once known. Each result is read
 * once: Mesa 22.3's llvmpipe multiplies the previous result by 16 when it is queried again. */
struct stat_query {
	unsigned id; /* 0 = none yet */
	uint64_t result;
};

struct gl_statistics {
	struct tally_source base;
	struct tally_gl_api *api;

	struct chosen chosen[TALLY_N_STATISTICS];
	const struct tally_counter *counters[TALLY_N_STATISTICS];
	uint32_t n;      /* chosen; 0 while not open */
	uint32_t groups; /* group bits of all chosen */
	bool no_wait;

	uint32_t held;                       /* counters that are active in some slot */
	uint32_t holder[TALLY_N_STATISTICS]; /* the slot in which each one is active */

	struct stat_slot *slots;
	struct stat_query *queries; /* slots x n */
	uint32_t n_slots;

	struct tally_gl_names names;
};

static struct gl_statistics *
statistics_of(struct tally_source *src)
{
	return (struct gl_statistics *)src;
}

static bool
any_extension(const struct tally_gl_api *api, const char *const names[2])
{
	for (int i = 0; i < 2 && names[i]; i++) {
		if (api->has_extension(api, names[i]))
			return true;
	}
	return false;
}

/* NULL when the context has the target; otherwise what it lacks. */
static const char *
obstacle(const struct tally_gl_api *api, const struct offer *offer)
{
	if (offer->statistics &&
	    (api->es || (api->version < 46 &&
			 !api->has_extension(api, "GL_ARB_pipeline_statistics_query"))))
		return "needs desktop GL 4.6 or ARB_pipeline_statistics_query";
	int since = api->es ? offer->es : offer->gl;
	if (since && api->version >= since)
		return NULL;
	if (any_extension(api, api->es ? offer->es_extensions : offer->extensions))
		return NULL;
	return offer->needs;
}

/* Bits of a result that we can fetch; 0 = the driver does not count this. GLES promises 32 bits
 * and has no way to query it. */
static uint32_t
width_of(const struct tally_gl_api *api, unsigned target)
{
	if (api->es)
		return 32;
	int bits = 0;
	api->GetQueryiv(target, QUERY_COUNTER_BITS, &bits);
	int most = api->GetQueryObjectui64v ? 64 : 32;
	if (bits < 0)
		return 0;
	return (uint32_t)(bits < most ? bits : most);
}

/* Where compute runs in a batch of its own, the driver submits one at each change between it and
 * the batch of the timestamps. */
static bool
is_unasked_in_batch(const struct gl_statistics *st, unsigned which)
{
	const struct tally_statistic_info *info = &tally_statistics[which];
	const char *wanted = st->base.wanted;

	return which == TALLY_STATISTIC_COMPUTE_SHADER_INVOCATIONS &&
	       tally_gl_quirk(TALLY_QUIRK_COMPUTE_BATCH, st->api->driver) &&
	       !(wanted && (tally_list_has(wanted, "all") ||
			    tally_list_matches(wanted, info->key, info->name)));
}

static enum tally_status
choose(struct gl_statistics *st)
{
	static const char in_batch[] =
		"it costs submissions on this driver: name it in --counters";
	static const char no_bits[] = "the driver counts it with 0 bits";
	static const char one_only[] =
		"zink can run only one pipeline statistics query at a time";
	const struct tally_gl_api *api = st->api;
	const char *why[TALLY_N_STATISTICS] = { NULL };
	uint32_t wanted = 0;
	bool one_at_a_time = tally_gl_quirk(TALLY_QUIRK_ONE_STATISTIC, api->driver);
	bool has_one = false;

	for (unsigned which = 0; which < TALLY_N_STATISTICS; which++) {
		if (!tally_statistics_wanted(st->base.wanted, which))
			continue;
		wanted++;
		why[which] = is_unasked_in_batch(st, which)
				     ? in_batch
				     : obstacle(api, offers[which] ? offers[which] : &any_stage);
		if (why[which])
			continue;
		unsigned target = tally_gl_exclusive_target(which);
		bool pipeline = which < TALLY_STATISTIC_SAMPLES_PASSED;
		if (pipeline && one_at_a_time && has_one) {
			why[which] = one_only;
			continue;
		}
		has_one |= pipeline;
		uint32_t width = width_of(api, target);
		if (!width) {
			why[which] = no_bits;
			continue;
		}
		const struct tally_counter *counter =
			tally_statistics_counter(which, SOURCE_NAME, width);
		if (!counter)
			return TALLY_NO_MEMORY;
		st->counters[st->n] = counter;
		st->chosen[st->n] = (struct chosen){
			.target = target,
			.group_bit = UINT32_C(1) << which,
			.largest = UINT64_MAX >> (64 - width),
		};
		st->groups |= st->chosen[st->n].group_bit;
		st->n++;
	}
	tally_statistics_report_left_out(st->base.reason, why);
	if (!wanted)
		return tally_unsupported(st->base.reason,
					 "none of its counters is in --counters %s",
					 st->base.wanted);
	return st->n ? TALLY_OK : TALLY_UNSUPPORTED;
}

static enum tally_status
statistics_grow(struct tally_source *src, uint32_t slots)
{
	struct gl_statistics *st = statistics_of(src);

	size_t n_queries = (size_t)slots * st->n;
	if (!tally_array_resize(&st->slots, slots, sizeof(*st->slots)) ||
	    !tally_array_resize(&st->queries, n_queries, sizeof(*st->queries)))
		return TALLY_NO_MEMORY;
	for (size_t i = (size_t)st->n_slots * st->n; i < n_queries; i++)
		st->queries[i].id = 0;
	for (uint32_t i = st->n_slots; i < slots; i++)
		st->slots[i] = (struct stat_slot){ .active = 0 };
	st->n_slots = slots;
	return TALLY_OK;
}

/* Forgets everything that open() found and begin() created. */
static void
statistics_abandon(struct tally_source *src)
{
	struct gl_statistics *st = statistics_of(src);

	free(st->slots);
	free(st->queries);
	*st = (struct gl_statistics){ .base = *src, .api = st->api };
	src->counters = NULL;
	src->n_counters = 0;
}

/* Where these queries may corrupt memory they are counted only on request. */
static bool
is_unasked_on_llvmpipe(const struct gl_statistics *st)
{
	const struct tally_gl_api *api = st->api;
	const char *wanted = st->base.wanted;
	bool corrupts = tally_gl_quirk(TALLY_QUIRK_STATISTICS_CORRUPT, api->driver);
	bool by_source = api->sources &&
			 tally_list_matches(api->sources, SOURCE_NAME, SOURCE_NAME);
	bool by_counter = wanted && !tally_list_has(wanted, "overview") &&
			  !tally_list_has(wanted, "all");

	for (unsigned which = 0; by_counter && which < TALLY_N_STATISTICS; which++) {
		if (tally_statistics_wanted(wanted, which))
			return false;
	}
	return corrupts && !by_source;
}

static enum tally_status
statistics_open(struct tally_source *src, uint32_t slots)
{
	struct gl_statistics *st = statistics_of(src);
	const struct tally_gl_api *api = st->api;

	src->reason[0] = '\0';
	if (!api->GenQueries || !api->DeleteQueries || !api->BeginQuery || !api->EndQuery ||
	    !api->GetQueryiv || !api->GetQueryObjectuiv)
		return tally_unsupported(src->reason, "this context has no query objects: they "
						      "need GL 1.5 or GLES 3.0");
	if (is_unasked_on_llvmpipe(st))
		return tally_unsupported(
			src->reason,
			"on llvmpipe these queries may corrupt Mesa's memory: name "
			"gl-statistics in --sources, or one of its counters, to use it");
	enum tally_status status = choose(st);
	if (status == TALLY_OK)
		status = statistics_grow(src, slots);
	if (status != TALLY_OK) {
		statistics_abandon(src);
		return status;
	}
	st->no_wait = tally_gl_has_no_wait(api);
	src->counters = st->counters;
	src->n_counters = st->n;
	return TALLY_OK;
}

static void
end_active(struct gl_statistics *st, uint32_t slot)
{
	struct stat_slot *s = &st->slots[slot];

	for (uint32_t left = s->active; left; left &= left - 1)
		st->api->EndQuery(st->chosen[__builtin_ctz(left)].target);
	st->held &= ~s->active;
	s->pending |= s->active;
	s->active = 0;
}

static void
statistics_close(struct tally_source *src)
{
	struct gl_statistics *st = statistics_of(src);
	size_t n_queries = (size_t)st->n_slots * st->n;

	for (uint32_t i = 0; i < st->n; i++) {
		if (st->held & UINT32_C(1) << i)
			end_active(st, st->holder[i]);
	}
	for (size_t i = 0; i < n_queries; i++) {
		if (st->queries[i].id)
			st->api->DeleteQueries(1, &st->queries[i].id);
	}
	if (st->names.n)
		st->api->DeleteQueries((int)st->names.n, st->names.made);
	statistics_abandon(src);
}

static __attribute__((hot)) void
statistics_begin(struct tally_source *src, uint32_t slot)
{
	struct gl_statistics *st = statistics_of(src);
	const struct tally_gl_api *api = st->api;
	struct stat_slot *s = &st->slots[slot];
	struct stat_query *queries = st->queries + (size_t)slot * st->n;
	uint32_t theirs = api->app_active & st->groups & ~api->impossible;
	uint32_t active = 0, zero = 0;

	for (uint32_t i = 0; i < st->n; i++) {
		uint32_t bit = UINT32_C(1) << i;
		if (api->impossible & st->chosen[i].group_bit) {
			queries[i].result = 0;
			zero |= bit;
			continue;
		}
		if (theirs & st->chosen[i].group_bit || st->held & bit)
			continue;
		if (!queries[i].id)
			queries[i].id = tally_gl_take_name(&st->names, api->GenQueries);
		if (!queries[i].id)
			continue;
		api->BeginQuery(st->chosen[i].target, queries[i].id);
		st->holder[i] = slot;
		active |= bit;
	}
	st->held |= active;
	*s = (struct stat_slot){
		.active = active,
		.known = zero,
		.flags = theirs ? TALLY_FLAG(YIELDED) : 0,
	};
}

static __attribute__((hot)) void
statistics_end(struct tally_source *src, uint32_t slot)
{
	end_active(statistics_of(src), slot);
}

static __attribute__((hot)) enum tally_status
statistics_read(struct tally_source *src, uint32_t slot, struct tally_sample *out)
{
	struct gl_statistics *st = statistics_of(src);
	struct stat_slot *s = &st->slots[slot];
	struct stat_query *queries = st->queries + (size_t)slot * st->n;
	uint32_t pending = s->pending, ended = pending;
	uint64_t valid = 0;

	/* The query that ended last is read first: when it is available, the others most
	 * probably are. */
	while (pending) {
		uint32_t i = 31 - (uint32_t)__builtin_clz(pending);
		if (!tally_gl_result(st->api, st->no_wait, queries[i].id, &queries[i].result))
			break;
		pending &= ~(UINT32_C(1) << i);
	}
	s->pending = pending;
	s->known |= ended & ~pending;
	if (pending)
		return TALLY_NOT_READY;
	for (uint32_t left = s->known; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		/* A counter that overflowed is stuck at the largest value. */
		if (queries[i].result >= st->chosen[i].largest) {
			s->flags |= TALLY_FLAG(SATURATED);
			continue;
		}
		if (queries[i].result > TALLY_STATISTIC_MOST) {
			s->flags |= TALLY_FLAG(LOST);
			continue;
		}
		out->values[i].storage = TALLY_STORAGE_U64;
		out->values[i].u64 = queries[i].result;
		valid |= UINT64_C(1) << i;
	}
	out->valid[0] |= valid;
	out->flags |= s->flags;
	s->known = 0;
	return TALLY_OK;
}

static bool
statistics_yield(struct tally_source *src, unsigned what)
{
	struct gl_statistics *st = statistics_of(src);

	for (uint32_t i = 0; i < st->n && what < TALLY_GL_N_EXCLUSIVE; i++) {
		uint32_t bit = UINT32_C(1) << i;
		if (st->chosen[i].group_bit != UINT32_C(1) << what || !(st->held & bit))
			continue;
		struct stat_slot *s = &st->slots[st->holder[i]];
		st->api->EndQuery(st->chosen[i].target);
		st->held &= ~bit;
		s->active &= ~bit;
		s->flags |= TALLY_FLAG(YIELDED);
	}
	return false;
}

static const char *
statistics_serialized_by(const struct tally_source *src)
{
	const struct tally_gl_api *api = ((const struct gl_statistics *)src)->api;
	return tally_gl_quirk(TALLY_QUIRK_STATISTICS_STALL, api->driver)
		       ? "gl-statistics: Mesa's Intel drivers stall at each query"
		       : NULL;
}

static const struct tally_source_ops statistics_ops = {
	.name = SOURCE_NAME,
	.open = statistics_open,
	.grow = statistics_grow,
	.close = statistics_close,
	.abandon = statistics_abandon,
	.begin = statistics_begin,
	.end = statistics_end,
	.gap = tally_source_noop,
	.resume = tally_source_noop,
	.read = statistics_read,
	.yield = statistics_yield,
	.serialized_by = statistics_serialized_by,
};

struct tally_source *
tally_gl_statistics_create(struct tally_gl_api *api)
{
	struct gl_statistics *st = calloc(1, sizeof(*st));
	if (!st)
		return NULL;
	st->base.ops = &statistics_ops;
	st->api = api;
	api->has_statistics_source = true;
	return &st->base;
}

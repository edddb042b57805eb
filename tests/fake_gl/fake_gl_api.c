/* SPDX-License-Identifier: MIT */
#include "tests/fake_gl/fake_gl_api.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer/base/clock.h"

#define TIMESTAMP 0x8E28
#define QUERY_COUNTER_BITS 0x8864
#define CURRENT_QUERY 0x8865
#define QUERY_RESULT 0x8866
#define QUERY_RESULT_AVAILABLE 0x8867
#define QUERY_RESULT_NO_WAIT 0x9194
#define THE_GAMES UINT32_MAX

struct fake_gl *fake_gl;

__attribute__((format(printf, 1, 2))) static void
misuse(const char *format, ...)
{
	va_list args;

	fake_gl->misuse++;
	va_start(args, format);
	vsnprintf(fake_gl->last_misuse, sizeof(fake_gl->last_misuse), format, args);
	va_end(args);
}

static void
called(const char *name)
{
	fake_gl->n_calls++;
	if (fake_gl->gone)
		misuse("%s without a context", name);
}

static bool
has_extension(const struct tally_gl_api *api, const char *name)
{
	const struct fake_gl *f = api->user;
	size_t len = strlen(name);

	for (const char *at = f->extensions; (at = strstr(at, name)); at += len) {
		if (at[-1] == ' ' && at[len] == ' ')
			return true;
	}
	return false;
}

/* As the specifications say, a target that the context does not have is an error. */
static bool
has(int version, const char *extension)
{
	const struct tally_gl_api *api = &fake_gl->api;
	return api->version >= version || (extension && has_extension(api, extension));
}

/* The pipeline statistics, which ES does not have. */
static bool
knows_statistic(unsigned target)
{
	if (fake_gl->api.es || !has(46, "GL_ARB_pipeline_statistics_query"))
		return false;
	switch (target) {
	case 0x82F1: case 0x82F2: /* TESS_* */
		return has(40, "GL_ARB_tessellation_shader");
	case 0x887F: case 0x82F3: /* GEOMETRY_* */
		return has(32, NULL);
	case 0x82F5: /* COMPUTE_SHADER_INVOCATIONS */
		return has(43, "GL_ARB_compute_shader");
	default:
		return tally_gl_exclusive_of(target) >= 0 && target != 0x88BF;
	}
}

static bool
knows_target(unsigned target)
{
	bool es = fake_gl->api.es;

	switch (target) {
	case 0x8C87: /* PRIMITIVES_GENERATED */
		return es ? has(32, "GL_EXT_geometry_shader") : has(30, NULL);
	case 0x8C88: /* TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN */
		return has(30, NULL);
	case 0x8914: /* SAMPLES_PASSED */
		return !es;
	default:
		return knows_statistic(target);
	}
}

static bool
knows_timestamp(void)
{
	return fake_gl->api.es ? has_extension(&fake_gl->api, "GL_EXT_disjoint_timer_query")
			       : fake_gl->api.version >= 33 ||
					 has_extension(&fake_gl->api, "GL_ARB_timer_query");
}

static struct fake_gl_object *
object_of(unsigned id, const char *call)
{
	if (id == 0 || id >= FAKE_GL_MAX_NAMES || !fake_gl->objects[id].named) {
		misuse("%s of name %u, which was never generated", call, id);
		return NULL;
	}
	return &fake_gl->objects[id];
}

static unsigned
get_error(void)
{
	called("glGetError");
	return 0;
}

static void
get_integerv(unsigned pname, int *data)
{
	called("glGetIntegerv");
	misuse("glGetIntegerv(0x%x)", pname);
	*data = 0;
}

static void
get_integer64v(unsigned pname, int64_t *data)
{
	called("glGetInteger64v");
	fake_gl->n_clock_reads++;
	if (pname != TIMESTAMP || !knows_timestamp())
		misuse("glGetInteger64v(0x%x)", pname);
	if (fake_gl->blind_clock)
		return;
	uint64_t ticks = tally_clock_now_ns() + fake_gl->offset_ns;
	if (fake_gl->timestamp_bits < 64)
		ticks &= (UINT64_C(1) << fake_gl->timestamp_bits) - 1;
	*data = (int64_t)ticks;
}

static void
flush(void)
{
	called("glFlush");
}

static void
gen_queries(int n, unsigned *ids)
{
	called("glGenQueries");
	fake_gl->n_gens++;
	if (n < 0)
		misuse("glGenQueries of %d", n);
	for (int i = 0; i < n; i++) {
		ids[i] = 0;
		if (fake_gl->no_names || fake_gl->next_name == FAKE_GL_MAX_NAMES)
			continue;
		ids[i] = fake_gl->next_name++;
		fake_gl->objects[ids[i]].named = true;
		fake_gl->n_names++;
	}
}

static void
delete_queries(int n, const unsigned *ids)
{
	called("glDeleteQueries");
	for (int i = 0; i < n; i++) {
		struct fake_gl_object *object = object_of(ids[i], "glDeleteQueries");
		if (!object)
			continue;
		if (object->active)
			misuse("glDeleteQueries of active query %u", ids[i]);
		*object = (struct fake_gl_object){ .named = false };
		fake_gl->n_names--;
	}
}

static void
begin_query(unsigned target, unsigned id)
{
	called("glBeginQuery");
	struct fake_gl_object *object = object_of(id, "glBeginQuery");
	int which = tally_gl_exclusive_of(target);

	if (which < 0 || !knows_target(target)) {
		misuse("glBeginQuery of unknown target 0x%x", target);
		return;
	}
	if (!object)
		return;
	if (fake_gl->active[which]) {
		misuse("glBeginQuery: target 0x%x is active%s", target,
		       fake_gl->active[which] == THE_GAMES ? ", the game's" : "");
		return;
	}
	if (object->active || (object->target && object->target != target)) {
		misuse("glBeginQuery: query %u is active or of target 0x%x, not 0x%x", id,
		       object->target, target);
		return;
	}
	object->target = target;
	object->active = true;
	object->begin_total = fake_gl->totals[which];
	fake_gl->active[which] = id;
}

static void
end_query(unsigned target)
{
	called("glEndQuery");
	int which = tally_gl_exclusive_of(target);

	if (which < 0 || !fake_gl->active[which] || fake_gl->active[which] == THE_GAMES) {
		misuse("glEndQuery of target 0x%x, which is %s", target,
		       which >= 0 && fake_gl->active[which] ? "the game's" : "not active");
		return;
	}
	struct fake_gl_object *object = &fake_gl->objects[fake_gl->active[which]];
	fake_gl->active[which] = 0;
	object->active = false;
	object->issued = true;
	object->read = false;
	object->done_at = ++fake_gl->issued;
	object->result = fake_gl->totals[which] - object->begin_total;
}

static void
query_counter(unsigned id, unsigned target)
{
	called("glQueryCounter");
	struct fake_gl_object *object = object_of(id, "glQueryCounter");

	if (target != TIMESTAMP || !knows_timestamp())
		misuse("glQueryCounter of target 0x%x", target);
	if (!object)
		return;
	if (object->active || (object->target && object->target != target))
		misuse("glQueryCounter: query %u is active or of target 0x%x", id,
		       object->target);
	object->target = target;
	object->issued = true;
	object->read = false;
	object->done_at = ++fake_gl->issued;
	fake_gl->n_stamps++;
	fake_gl->last_cpu_ns = tally_clock_now_ns();
	fake_gl->last_ticks =
		fake_gl->last_cpu_ns + fake_gl->offset_ns + fake_gl->query_offset_ns;
	object->result = fake_gl->last_ticks;
	if (fake_gl->timestamp_bits < 64)
		object->result = (object->result &
				  ((UINT64_C(1) << fake_gl->timestamp_bits) - 1)) |
				 fake_gl->noise;
}

static void
get_queryiv(unsigned target, unsigned pname, int *params)
{
	called("glGetQueryiv");
	int which = tally_gl_exclusive_of(target);

	if (pname != QUERY_COUNTER_BITS || (target == TIMESTAMP && !knows_timestamp()) ||
	    (target != TIMESTAMP && !knows_target(target))) {
		misuse("glGetQueryiv(0x%x, 0x%x)", target, pname);
		return;
	}
	*params = target == TIMESTAMP ? (int)fake_gl->timestamp_bits
				      : (int)fake_gl->counter_bits[which];
}

/* Is there something to write to *value? */
static bool
get_object(unsigned id, unsigned pname, const char *call, uint64_t *value)
{
	called(call);
	const struct fake_gl_object *object = object_of(id, call);
	const struct tally_gl_api *api = &fake_gl->api;

	if (!object)
		return false;
	if (!object->issued || object->active) {
		misuse("%s: query %u has no result to come", call, id);
		return false;
	}
	bool available = object->done_at <= fake_gl->completed &&
			 (object->done_at < fake_gl->lost_from ||
			  object->done_at > fake_gl->lost_to);
	*value = pname == QUERY_RESULT_AVAILABLE ? available : object->result;
	switch (pname) {
	case QUERY_RESULT_NO_WAIT:
		if (api->es ||
		    (api->version < 44 && !has_extension(api, "GL_ARB_query_buffer_object")))
			misuse("%s(QUERY_RESULT_NO_WAIT) in a context without it", call);
		fake_gl->n_polls++;
		return available;
	case QUERY_RESULT_AVAILABLE:
		fake_gl->n_polls++;
		return true;
	case QUERY_RESULT:
		fake_gl->stalls += !available;
		return true;
	default:
		misuse("%s(0x%x)", call, pname);
		return false;
	}
}

/* llvmpipe multiplies the result of a statistic when it is asked a second time. */
static bool
read_once(unsigned id, unsigned pname, const char *call, uint64_t *value)
{
	if (!get_object(id, pname, call, value))
		return false;
	struct fake_gl_object *object = &fake_gl->objects[id];
	if (object->read && pname != QUERY_RESULT_AVAILABLE)
		misuse("%s: the result of query %u was read before", call, id);
	object->read |= pname != QUERY_RESULT_AVAILABLE;
	return true;
}

static void
get_query_objectuiv(unsigned id, unsigned pname, unsigned *params)
{
	uint64_t value;

	if (read_once(id, pname, "glGetQueryObjectuiv", &value))
		*params = value < UINT32_MAX ? (unsigned)value : UINT32_MAX;
}

static void
get_query_objectui64v(unsigned id, unsigned pname, uint64_t *params)
{
	uint64_t value;

	if (read_once(id, pname, "glGetQueryObjectui64v", &value))
		*params = value;
}

static bool
read_disjoint(struct tally_gl_api *api)
{
	called("glGetIntegerv");
	struct fake_gl *f = api->user;
	bool seen = f->disjoint;

	f->n_disjoint_reads++;
	f->disjoint = false;
	return seen;
}

void
fake_gl_init(struct fake_gl *f, bool es, int version, const char *extensions)
{
	*f = (struct fake_gl){
		.api = {
			.es = es,
			.version = version,
			.has_extension = has_extension,
			.user = f,
			.GetError = get_error,
			.GetIntegerv = get_integerv,
			.GetInteger64v = get_integer64v,
			.Flush = flush,
			.GenQueries = gen_queries,
			.DeleteQueries = delete_queries,
			.BeginQuery = begin_query,
			.EndQuery = end_query,
			.QueryCounter = query_counter,
			.GetQueryiv = get_queryiv,
			.GetQueryObjectuiv = get_query_objectuiv,
			.GetQueryObjectui64v = get_query_objectui64v,
			.read_disjoint = es ? read_disjoint : NULL,
		},
		.extensions = extensions,
		.timestamp_bits = 64,
		.offset_ns = UINT64_C(5000000000000),
		.next_name = 1,
		.objects = calloc(FAKE_GL_MAX_NAMES, sizeof(*f->objects)),
	};
	for (int i = 0; i < FAKE_GL_N_COUNTERS; i++)
		f->counter_bits[i] = 64;
	if (!f->objects)
		exit(1);
	fake_gl = f;
}

void
fake_gl_finish(struct fake_gl *f)
{
	free(f->objects);
	f->objects = NULL;
	fake_gl = NULL;
}

void
fake_gl_complete(struct fake_gl *f, uint64_t n)
{
	f->completed = f->issued - f->completed < n ? f->issued : f->completed + n;
}

void
fake_gl_work(struct fake_gl *f, uint64_t amount)
{
	for (uint64_t i = 0; i < FAKE_GL_N_COUNTERS; i++)
		f->totals[i] += amount * (i + 1) + i;
}

void
fake_gl_disturb(struct fake_gl *f, int64_t jump_ns)
{
	f->offset_ns += (uint64_t)jump_ns;
	f->disjoint = true;
}

void
fake_gl_game_begin(struct fake_gl *f, struct tally_source *statistics,
		   unsigned which)
{
	if (f->active[which] == THE_GAMES)
		return;
	if (statistics)
		statistics->ops->yield(statistics, which);
	if (f->active[which])
		misuse("the game's glBeginQuery of group %u fails: ours is active",
		       (unsigned)which);
	f->active[which] = THE_GAMES;
	f->api.app_active |= UINT32_C(1) << which;
}

void
fake_gl_game_end(struct fake_gl *f, unsigned which)
{
	if (f->active[which] != THE_GAMES)
		return;
	f->active[which] = 0;
	f->api.app_active &= ~(UINT32_C(1) << which);
}

/* SPDX-License-Identifier: MIT */
#include "query/gl/api.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct row {
	size_t at; /* offset of the member in struct tally_gl_api */
	const char *name;
};
#define AS_NAMED(member_) { offsetof(struct tally_gl_api, member_), "gl" #member_ }

static const struct row always[] = {
	AS_NAMED(GetError),
	AS_NAMED(GetIntegerv),
	AS_NAMED(Flush),
	/* The sources check for the extension before they use these. */
	AS_NAMED(GetFirstPerfQueryIdINTEL),
	AS_NAMED(GetNextPerfQueryIdINTEL),
	AS_NAMED(GetPerfQueryInfoINTEL),
	AS_NAMED(GetPerfCounterInfoINTEL),
	AS_NAMED(CreatePerfQueryINTEL),
	AS_NAMED(DeletePerfQueryINTEL),
	AS_NAMED(BeginPerfQueryINTEL),
	AS_NAMED(EndPerfQueryINTEL),
	AS_NAMED(GetPerfQueryDataINTEL),
	AS_NAMED(GetPerfMonitorGroupsAMD),
	AS_NAMED(GetPerfMonitorCountersAMD),
	AS_NAMED(GetPerfMonitorGroupStringAMD),
	AS_NAMED(GetPerfMonitorCounterStringAMD),
	AS_NAMED(GetPerfMonitorCounterInfoAMD),
	AS_NAMED(GenPerfMonitorsAMD),
	AS_NAMED(DeletePerfMonitorsAMD),
	AS_NAMED(SelectPerfMonitorCountersAMD),
	AS_NAMED(BeginPerfMonitorAMD),
	AS_NAMED(EndPerfMonitorAMD),
	AS_NAMED(GetPerfMonitorCounterDataAMD),
};

static const struct row queries[] = {
	AS_NAMED(GenQueries), AS_NAMED(DeleteQueries), AS_NAMED(BeginQuery),
	AS_NAMED(EndQuery),   AS_NAMED(GetQueryiv),    AS_NAMED(GetQueryObjectuiv),
};

static const struct row timer_queries[] = {
	AS_NAMED(QueryCounter),
	AS_NAMED(GetQueryObjectui64v),
};
static const struct row clock_query = AS_NAMED(GetInteger64v);

struct filling {
	struct tally_gl_api *api;
	tally_gl_find *find;
	void *data;
};

/* `ending`: what names of OpenGL ES' extensions have in addition. */
static void
fill(const struct filling *f, const struct row *rows, size_t n, const char *ending)
{
	for (size_t i = 0; i < n; i++) {
		char longer[64];
		if (*ending)
			snprintf(longer, sizeof(longer), "%s%s", rows[i].name, ending);
		void (*found)(void) = f->find(f->data, *ending ? longer : rows[i].name);
		memcpy((char *)f->api + rows[i].at, &found, sizeof(found));
	}
}
#define FILL(f_, rows_, ending_) fill(f_, rows_, sizeof(rows_) / sizeof((rows_)[0]), ending_)

void
tally_gl_api_fill(struct tally_gl_api *api, tally_gl_find *find, void *data)
{
	const struct filling f = { api, find, data };
	bool es_timer = api->es && api->has_extension(api, "GL_EXT_disjoint_timer_query");

	FILL(&f, always, "");
	if (api->version >= (api->es ? 30 : 15))
		FILL(&f, queries, "");
	else if (es_timer ||
		 (api->es && api->has_extension(api, "GL_EXT_occlusion_query_boolean")))
		FILL(&f, queries, "EXT");
	if (es_timer) {
		FILL(&f, timer_queries, "EXT");
		fill(&f, &clock_query, 1, api->version >= 30 ? "" : "EXT");
	} else if (!api->es &&
		   (api->version >= 33 || api->has_extension(api, "GL_ARB_timer_query"))) {
		FILL(&f, timer_queries, "");
		fill(&f, &clock_query, 1, "");
	}
	if (!es_timer)
		api->read_disjoint = NULL;
}

/* ---- targets that exclude each other ---- */

#define OF(target_, name_) { target_, TALLY_STATISTIC_##name_ }

/* Query targets and the group within which they exclude each other. The first row of a group is
 * the target that counts. */
static const struct {
	unsigned target;
	unsigned which;
} exclusive_targets[] = {
	OF(0x82EE, VERTICES_SUBMITTED),
	OF(0x82EF, PRIMITIVES_SUBMITTED),
	OF(0x82F0, VERTEX_SHADER_INVOCATIONS),
	OF(0x82F1, TESS_CONTROL_SHADER_PATCHES),
	OF(0x82F2, TESS_EVALUATION_SHADER_INVOCATIONS),
	OF(0x887F, GEOMETRY_SHADER_INVOCATIONS),
	OF(0x82F3, GEOMETRY_SHADER_PRIMITIVES_EMITTED),
	OF(0x82F4, FRAGMENT_SHADER_INVOCATIONS),
	OF(0x82F5, COMPUTE_SHADER_INVOCATIONS),
	OF(0x82F6, CLIPPING_INPUT_PRIMITIVES),
	OF(0x82F7, CLIPPING_OUTPUT_PRIMITIVES),
	OF(0x8914, SAMPLES_PASSED),
	OF(0x8C2F, SAMPLES_PASSED), /* GL_ANY_SAMPLES_PASSED */
	OF(0x8D6A, SAMPLES_PASSED), /* GL_ANY_SAMPLES_PASSED_CONSERVATIVE */
	OF(0x8C87, PRIMITIVES_GENERATED),
	OF(0x8C88, TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN),
	{ 0x88BF /* GL_TIME_ELAPSED */, TALLY_GL_TIME_ELAPSED },
};

#define N_TARGETS (sizeof(exclusive_targets) / sizeof(exclusive_targets[0]))

int
tally_gl_exclusive_of(unsigned target)
{
	for (size_t i = 0; i < N_TARGETS; i++) {
		if (exclusive_targets[i].target == target)
			return (int)exclusive_targets[i].which;
	}
	return -1;
}

unsigned
tally_gl_exclusive_target(unsigned which)
{
	for (size_t i = 0; i < N_TARGETS; i++) {
		if (exclusive_targets[i].which == which)
			return exclusive_targets[i].target;
	}
	return 0;
}

/* ---- results ---- */

#define QUERY_RESULT 0x8866
#define QUERY_RESULT_AVAILABLE 0x8867
#define QUERY_RESULT_NO_WAIT 0x9194
/* No counter reaches this value; the largest value is that of a counter that overflowed. */
#define UNWRITTEN (UINT64_MAX - 1)

bool
tally_gl_has_no_wait(const struct tally_gl_api *api)
{
	return !api->es && api->GetQueryObjectui64v &&
	       (api->version >= 44 || api->has_extension(api, "GL_ARB_query_buffer_object"));
}

__attribute__((hot)) bool
tally_gl_result(const struct tally_gl_api *api, bool no_wait, unsigned id, uint64_t *value)
{
	unsigned narrow = 0;

	if (no_wait) {
		*value = UNWRITTEN;
		api->GetQueryObjectui64v(id, QUERY_RESULT_NO_WAIT, value);
		return *value != UNWRITTEN;
	}
	api->GetQueryObjectuiv(id, QUERY_RESULT_AVAILABLE, &narrow);
	if (!narrow)
		return false;
	if (api->GetQueryObjectui64v) {
		*value = 0;
		api->GetQueryObjectui64v(id, QUERY_RESULT, value);
	} else {
		api->GetQueryObjectuiv(id, QUERY_RESULT, &narrow);
		*value = narrow;
	}
	return true;
}

unsigned
tally_gl_take_name(struct tally_gl_names *names, void (*make)(int n, unsigned *names))
{
	if (!names->n && !names->none) {
		unsigned made[sizeof(names->made) / sizeof(names->made[0])] = { 0 };
		uint32_t i = sizeof(made) / sizeof(made[0]);
		make((int)i, made);
		while (i-- > 0) {
			if (made[i])
				names->made[names->n++] = made[i];
		}
		names->none = !names->n;
	}
	return names->n ? names->made[--names->n] : 0;
}

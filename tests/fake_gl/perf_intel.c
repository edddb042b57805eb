/* SPDX-License-Identifier: MIT */
/* GL_INTEL_performance_query, by its text and by Mesa's performance_query.c; with the enums of
 * the pre-standard dialect where only that is offered. */
#include <stdio.h>
#include <string.h>

#include "tests/fake_gl/perf_intel.h"

#define INVALID_VALUE 0x0501
#define INVALID_OPERATION 0x0502
#define DONOT_FLUSH 0x83F9
#define FLUSH 0x83FA /* NONBLOCK in the old dialect: no other flag avoids the wait */
#define WAIT 0x83FB
#define FIRST_TYPE 0x94F8
#define FIRST_CATEGORY 0x94F0
#define OLD_FIRST_TYPE 0x9402
#define OLD_FIRST_CATEGORY 0x9407

static bool
is_old(void)
{
	return !(fake_perf.config.ext & FAKE_PERF_INTEL);
}

static const struct fake_perf_query *
find_query(unsigned id, unsigned *place)
{
	const struct fake_perf_query *query;

	for (unsigned i = 0; (query = fake_perf_query_at(i)); i++) {
		if (query->id == id) {
			*place = i;
			return query;
		}
	}
	return NULL;
}

static const struct fake_perf_query *
query_of(unsigned id)
{
	unsigned place;
	return find_query(id, &place);
}

static void
get_first(unsigned *id)
{
	if (!fake_perf_call("glGetFirstPerfQueryIdINTEL"))
		return;
	const struct fake_perf_query *query = fake_perf_query_at(0);
	*id = query ? query->id : 0;
	if (!query)
		fake_perf_error(INVALID_OPERATION, "glGetFirstPerfQueryIdINTEL");
}

static void
get_next(unsigned id, unsigned *next)
{
	unsigned place = 0;

	if (!fake_perf_call("glGetNextPerfQueryIdINTEL"))
		return;
	if (!next || !find_query(id, &place)) {
		fake_perf_error(INVALID_VALUE, "glGetNextPerfQueryIdINTEL");
		return;
	}
	const struct fake_perf_query *query = fake_perf_query_at(place + 1);
	*next = query ? query->id : 0;
}

static void
get_by_name(const char *name, unsigned *id)
{
	const struct fake_perf_query *query;

	if (!fake_perf_call("glGetPerfQueryIdByNameINTEL"))
		return;
	for (unsigned i = 0; (query = fake_perf_query_at(i)); i++) {
		if (strcmp(query->name, name) == 0) {
			*id = query->id;
			return;
		}
	}
	fake_perf_error(INVALID_VALUE, "glGetPerfQueryIdByNameINTEL");
}

static void
put_text(const char *text, unsigned size, char *out)
{
	if (size && out)
		snprintf(out, size, "%s", text);
}

static unsigned
count_active(unsigned id)
{
	unsigned n = 0;

	for (unsigned i = 0; i < FAKE_PERF_MAX_OBJECTS; i++) {
		const struct fake_perf_object *o = &fake_perf.queries[i];
		n += o->alive && o->active && o->kind == id;
	}
	return n;
}

/* Seven arguments, whatever the prose of the specification shows. */
static void
get_query_info(unsigned id, unsigned name_size, char *name, unsigned *size, unsigned *n_counters,
	       unsigned *n_instances, unsigned *caps)
{
	const struct fake_perf_query *query = query_of(id);

	if (!fake_perf_call("glGetPerfQueryInfoINTEL"))
		return;
	if (!query) {
		fake_perf_error(INVALID_VALUE, "glGetPerfQueryInfoINTEL");
		return;
	}
	put_text(query->name, name_size, name);
	*size = query->size;
	*n_counters = (unsigned)query->n;
	if (is_old())
		*n_instances = query->kind == FAKE_PERF_HARDWARE ? 32767 : 8191;
	else
		*n_instances = fake_perf.config.instances ? count_active(id) : 100;
	*caps = is_old() ? 1 : 0;
}

static unsigned
type_word(enum fake_perf_type type)
{
	static const unsigned places[] = {
		[FAKE_PERF_U32] = 0, [FAKE_PERF_U64] = 1, [FAKE_PERF_FLOAT] = 2,
		[FAKE_PERF_DOUBLE] = 3, [FAKE_PERF_BOOL] = 4, [FAKE_PERF_PERCENT] = 2,
	};
	return (is_old() ? OLD_FIRST_TYPE : FIRST_TYPE) + places[type];
}

static void
get_counter_info(unsigned id, unsigned number, unsigned name_size, char *name,
		 unsigned text_size, char *text, unsigned *offset, unsigned *size,
		 unsigned *category, unsigned *type, uint64_t *most)
{
	const struct fake_perf_query *query = query_of(id);
	char line[128];

	if (!fake_perf_call("glGetPerfCounterInfoINTEL"))
		return;
	if (!query || number < 1 || number > query->n) { /* numbers count from one */
		fake_perf_error(INVALID_VALUE, "glGetPerfCounterInfoINTEL");
		return;
	}
	const struct fake_perf_counter *counter = &query->counters[number - 1];
	snprintf(line, sizeof(line), "Counter %u of %s.", number, query->name);
	put_text(counter->name, name_size, name);
	put_text(line, text_size, text);
	*offset = counter->offset;
	*size = counter->type == FAKE_PERF_U64 || counter->type == FAKE_PERF_DOUBLE ? 8 : 4;
	*category = (is_old() ? OLD_FIRST_CATEGORY : FIRST_CATEGORY) + counter->category;
	*type = type_word(counter->type);
	*most = is_old() ? counter->category == 1 : 0;
}

static void
create_query(unsigned id, unsigned *handle)
{
	if (!fake_perf_call("glCreatePerfQueryINTEL"))
		return;
	if (!query_of(id)) {
		fake_perf_error(INVALID_VALUE, "glCreatePerfQueryINTEL");
		return;
	}
	*handle = fake_perf_create(fake_perf.queries);
	if (*handle)
		fake_perf.queries[*handle].kind = id;
}

static bool
is_pending(const struct fake_perf_object *o)
{
	return o->active || (o->ended && !o->was_read && !o->deferred);
}

static void
delete_query(unsigned handle)
{
	struct fake_perf_object *o = fake_perf_object(fake_perf.queries, handle);

	if (!fake_perf_call("glDeletePerfQueryINTEL"))
		return;
	if (!o) {
		fake_perf_error(INVALID_VALUE, "glDeletePerfQueryINTEL");
		return;
	}
	if (o->active)
		fake_perf_misuse("query %u is deleted while it counts", handle);
	if (o->ended && !o->was_read && !fake_perf_is_ready(o))
		fake_perf_wait("glDeletePerfQueryINTEL");
	o->alive = false;
}

/* Whether another query prevents a begin, which Mesa finds out in its driver thread. */
static bool
stands_in_the_way(const struct fake_perf_query *query)
{
	for (unsigned i = 0; i < FAKE_PERF_MAX_OBJECTS; i++) {
		const struct fake_perf_object *o = &fake_perf.queries[i];
		if (!o->alive || !is_pending(o) || o->kind == query->id)
			continue;
		const struct fake_perf_query *other = query_of(o->kind);
		if (o->active && other->kind != query->kind)
			fake_perf_misuse("%s is begun while %s counts", query->name,
					 other->name);
		if (fake_perf.config.one_set && query->kind == FAKE_PERF_HARDWARE &&
		    other->kind == FAKE_PERF_HARDWARE)
			return true;
	}
	return fake_perf.config.exclusive && query->kind == FAKE_PERF_HARDWARE;
}

static bool
any_active(void)
{
	for (unsigned i = 0; i < FAKE_PERF_MAX_OBJECTS; i++) {
		if (fake_perf.queries[i].alive && fake_perf.queries[i].active)
			return true;
	}
	return false;
}

static void
begin_query(unsigned handle)
{
	struct fake_perf_object *o = fake_perf_object(fake_perf.queries, handle);
	const struct fake_perf_config *config = &fake_perf.config;
	static unsigned n;

	if (!fake_perf_call("glBeginPerfQueryINTEL"))
		return;
	if (!o) {
		fake_perf_error(INVALID_VALUE, "glBeginPerfQueryINTEL");
		return;
	}
	n = fake_perf.tally.begun ? n + 1 : 1;
	if (o->active || (config->error_every && n % config->error_every == 0)) {
		fake_perf_error(INVALID_OPERATION, "glBeginPerfQueryINTEL");
		return;
	}
	if (config->stall_begin && o->ended && !o->was_read && !fake_perf_is_ready(o))
		fake_perf_wait("glBeginPerfQueryINTEL");
	if (any_active())
		fake_perf.tally.nested++;
	bool fails = stands_in_the_way(query_of(o->kind)) ||
		     (config->defer_every && n % config->defer_every == 0);
	fake_perf_begin(o);
	o->deferred = fails;
}

static void
end_query(unsigned handle)
{
	struct fake_perf_object *o = fake_perf_object(fake_perf.queries, handle);

	if (!fake_perf_call("glEndPerfQueryINTEL"))
		return;
	if (!o)
		fake_perf_error(INVALID_VALUE, "glEndPerfQueryINTEL");
	else if (!o->active)
		fake_perf_error(INVALID_OPERATION, "glEndPerfQueryINTEL");
	else
		fake_perf_end(o);
}

static void
put_result(const struct fake_perf_object *o, unsigned size, unsigned char *out,
	   unsigned *written)
{
	const struct fake_perf_query *query = query_of(o->kind);
	unsigned reach = 0;

	if (size < query->size)
		fake_perf_misuse("%u bytes for a result of %u", size, query->size);
	if (fake_perf.config.ignore_size || size > query->size)
		size = query->size;
	memset(out, 0xa5, size); /* gaps keep their previous contents */
	for (size_t i = 0; i < query->n; i++) {
		unsigned char value[8];
		const struct fake_perf_counter *counter = &query->counters[i];
		size_t bytes = fake_perf_value(counter, o, value);
		if (counter->offset + bytes <= size)
			memcpy(out + counter->offset, value, bytes);
		if (reach < counter->offset + bytes)
			reach = counter->offset + (unsigned)bytes;
	}
	*written = fake_perf.config.short_write ? reach : size;
	if (fake_perf.config.cut)
		*written = reach - 1;
}

static void
get_data(unsigned handle, unsigned flags, int size, void *data, unsigned *written)
{
	struct fake_perf_object *o = fake_perf_object(fake_perf.queries, handle);

	if (!fake_perf_call("glGetPerfQueryDataINTEL"))
		return;
	if (!o || !data || !written || size < 0) {
		fake_perf_error(INVALID_VALUE, "glGetPerfQueryDataINTEL");
		return;
	}
	bool known = flags == FLUSH || flags == WAIT || (flags == DONOT_FLUSH && !is_old());
	if (!known)
		fake_perf_misuse("request 0x%04x is not one of this dialect", flags);
	*written = 0;
	fake_perf.tally.reads++;
	fake_perf.tally.flushes += flags == FLUSH && !is_old();
	if (o->active || !o->ended) {
		fake_perf_error(INVALID_OPERATION, "glGetPerfQueryDataINTEL");
		return;
	}
	if (!fake_perf_is_ready(o) && flags == WAIT)
		fake_perf_wait("glGetPerfQueryDataINTEL");
	else if (!fake_perf_is_ready(o))
		return;
	fake_perf.tally.ready_reads++;
	o->was_read = true;
	if (!o->deferred) {
		put_result(o, (unsigned)size, data, written);
		return;
	}
	/* "deferred begin query failure" */
	fake_perf.tally.deferred++;
	memset(data, 0, (size_t)size);
	fake_perf_error(INVALID_OPERATION, "glGetPerfQueryDataINTEL");
}

void *
fake_perf_intel_function(const char *name)
{
	static const struct {
		const char *name;
		void *function;
	} rows[] = {
		{ "glGetFirstPerfQueryIdINTEL", (void *)get_first },
		{ "glGetNextPerfQueryIdINTEL", (void *)get_next },
		{ "glGetPerfQueryIdByNameINTEL", (void *)get_by_name },
		{ "glGetPerfQueryInfoINTEL", (void *)get_query_info },
		{ "glGetPerfCounterInfoINTEL", (void *)get_counter_info },
		{ "glCreatePerfQueryINTEL", (void *)create_query },
		{ "glDeletePerfQueryINTEL", (void *)delete_query },
		{ "glBeginPerfQueryINTEL", (void *)begin_query },
		{ "glEndPerfQueryINTEL", (void *)end_query },
		{ "glGetPerfQueryDataINTEL", (void *)get_data },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(name, rows[i].name) == 0)
			return strcmp(name, "glGetPerfQueryIdByNameINTEL") == 0 && is_old() ?
				       NULL : rows[i].function;
	}
	return NULL;
}

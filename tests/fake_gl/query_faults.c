/* SPDX-License-Identifier: MIT */
#include "tests/fake_gl/query_faults.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fake_gl/perf.h"

#define GL_INVALID_OPERATION 0x0502
#define GL_VENDOR 0x1F00
#define GL_RENDERER 0x1F01
#define GL_QUERY_RESULT 0x8866
#define GL_QUERY_RESULT_AVAILABLE 0x8867
#define GL_UNKNOWN_CONTEXT_RESET 0x8255
#define GL_TIMESTAMP 0x8E28
#define MAX_NAMES 65536
#define MAX_TARGETS 16

static struct fake_query_config config;
static void (*driver_finish)(void);
static unsigned now, serial; /* swaps; queries ended */
static unsigned stamps; /* since the last glFinish() */
static unsigned waits, questions, faults;

static struct {
	unsigned serial, swap; /* 0 = never ended */
	unsigned stamp; /* position of the timestamp after a glFinish(); 0 = no timestamp */
} queries[MAX_NAMES];

static struct {
	unsigned target, name;
} active[MAX_TARGETS];

static struct {
	void (*BeginQuery)(unsigned, unsigned);
	void (*EndQuery)(unsigned);
	void (*QueryCounter)(unsigned, unsigned);
	void (*GetQueryObjectiv)(unsigned, unsigned, int32_t *);
	void (*GetQueryObjectuiv)(unsigned, unsigned, uint32_t *);
	void (*GetQueryObjecti64v)(unsigned, unsigned, int64_t *);
	void (*GetQueryObjectui64v)(unsigned, unsigned, uint64_t *);
	unsigned (*GetGraphicsResetStatus)(void);
	void (*GenQueries)(int, unsigned *);
	const unsigned char *(*GetString)(unsigned);
	void (*GetInteger64v)(unsigned, int64_t *);
	void (*DrawArrays)(unsigned, int, int);
	unsigned (*GetError)(void);
} next;

bool
fake_queries_configure(const char *text)
{
	const struct {
		const char *key;
		unsigned *value;
	} keys[] = {
		{ "never", &config.never },     { "late", &config.late },
		{ "shuffle", &config.shuffle }, { "lost_from", &config.lost_from },
		{ "lost_to", &config.lost_to }, { "error_every", &config.error_every },
		{ "garbage", &config.garbage }, { "reset", &config.reset },
		{ "zero_every", &config.zero_every }, { "narrow", &config.narrow },
		{ "backwards", &config.backwards }, { "no_names", &config.no_names },
		{ "no_strings", &config.no_strings }, { "renamed", &config.renamed },
		{ "plus", &config.plus },       { "unequal", &config.unequal },
		{ "scale", &config.scale },     { "even", &config.even },
		{ "pixels", &config.pixels },   { "fails", &config.fails },
		{ "stuck", &config.stuck },
		{ "hang", &config.hang },       { "crash", &config.crash },
		{ "gl_error", &config.gl_error }, { "exact", &config.exact },
	};
	char copy[256];
	snprintf(copy, sizeof(copy), "%s", text ? text : "");
	char *rest = copy;
	for (char *pair; (pair = strsep(&rest, ","));) {
		char *equals = strchr(pair, '=');
		bool known = *pair == '\0';
		if (equals)
			*equals = '\0';
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			if (strcmp(pair, keys[i].key) != 0)
				continue;
			*keys[i].value = equals ? (unsigned)strtoul(equals + 1, NULL, 10) : 1;
			known = true;
		}
		if (!known) {
			fprintf(stderr, "FAKE_QUERIES: no key %s\n", pair);
			return false;
		}
	}
	return true;
}

void
fake_queries_use(void (*finish)(void))
{
	driver_finish = finish;
}

void
fake_queries_tick(void)
{
	now++;
}

void
fake_queries_finish(void)
{
	stamps = 0;
}

static void
note_end(unsigned name)
{
	if (name < MAX_NAMES) {
		queries[name].serial = ++serial;
		queries[name].swap = now;
	}
}

static bool
is_lost(void)
{
	return config.reset && now >= config.reset;
}

static bool
is_there(unsigned name)
{
	unsigned number = name < MAX_NAMES ? queries[name].serial : 0;
	unsigned delay = config.late;
	if (is_lost())
		return true;
	if (config.shuffle && number % 2)
		delay = config.shuffle;
	if (config.never || (number >= config.lost_from && number <= config.lost_to && number))
		return false;
	return !delay || now >= queries[name].swap + delay;
}

/* True where the driver is not asked; then `value` is what the program gets, unless `writes` is
 * false. */
static bool
answer(unsigned name, unsigned what, uint64_t *value, bool *writes)
{
	*writes = true;
	questions++;
	if (config.error_every && questions % config.error_every == 0) {
		fake_perf_error(GL_INVALID_OPERATION, "a query's result");
		faults++;
		*writes = false;
		return true;
	}
	bool there = is_there(name);
	if (what == GL_QUERY_RESULT_AVAILABLE) {
		*value = there;
		return !there || is_lost();
	}
	if (!there) {
		waits += what == GL_QUERY_RESULT;
		*writes = false;
		return true;
	}
	/* A different number each time, none of them small. */
	*value = is_lost() ? 0 : UINT64_C(0xfedcba9876543210) ^ ((uint64_t)questions << 40);
	faults += config.garbage;
	return is_lost() || config.garbage;
}

/* Changes the driver's own result. */
static uint64_t
spoil(unsigned what, uint64_t value)
{
	static unsigned results;
	static uint64_t less = UINT64_C(1) << 62;
	if (what == GL_QUERY_RESULT_AVAILABLE)
		return value;
	results++;
	bool zero = config.zero_every && results % config.zero_every == 0;
	faults += zero || config.narrow || config.backwards;
	if (zero)
		return 0;
	if (config.backwards)
		return less -= 1000;
	return config.narrow ? (uint32_t)value : value;
}

/* The time that a driver with a wrong clock reports. */
static uint64_t
wrong_time(uint64_t time)
{
	static uint64_t first;
	if (config.stuck)
		return 1000000000;
	first = first ? first : time;
	return config.scale ? first + (time - first) * config.scale : time;
}

static uint64_t
even_time(unsigned number, uint64_t time)
{
	static uint64_t last;
	last = config.even && number > 1 ? last + config.even : time;
	return last;
}

static uint64_t
lie(unsigned name, unsigned what, uint64_t value)
{
	value = spoil(what, value);
	if (what == GL_QUERY_RESULT_AVAILABLE || name >= MAX_NAMES)
		return value;
	if (queries[name].stamp)
		return even_time(queries[name].stamp, wrong_time(value));
	/* Half of them, in an order that no pass follows. */
	bool chosen = (uint32_t)(queries[name].serial * 2654435761u) >> 31;
	return value + config.plus + (chosen ? config.unequal : 0);
}

/* A value that the driver left unchanged is no result. */
#define GET(name, type, call) \
	static void name(unsigned query, unsigned what, type *out) \
	{ \
		uint64_t value; \
		bool writes; \
		if (!answer(query, what, &value, &writes)) { \
			type before = *out; \
			next.call(query, what, out); \
			if (*out != before) \
				*out = (type)lie(query, what, (uint64_t)*out); \
		} else if (writes) \
			*out = (type)value; \
	}
GET(get_iv, int32_t, GetQueryObjectiv)
GET(get_uiv, uint32_t, GetQueryObjectuiv)
GET(get_i64v, int64_t, GetQueryObjecti64v)
GET(get_ui64v, uint64_t, GetQueryObjectui64v)

static void
begin_query(unsigned target, unsigned name)
{
	size_t i = 0;
	while (i < MAX_TARGETS - 1 && active[i].target && active[i].target != target)
		i++;
	active[i].target = target;
	active[i].name = name;
	next.BeginQuery(target, name);
}

static void
end_query(unsigned target)
{
	for (size_t i = 0; i < MAX_TARGETS; i++) {
		if (active[i].target == target)
			note_end(active[i].name);
	}
	next.EndQuery(target);
}

static void
query_counter(unsigned name, unsigned target)
{
	note_end(name);
	if (name < MAX_NAMES)
		queries[name].stamp = ++stamps;
	if (config.exact)
		driver_finish();
	next.QueryCounter(name, target);
	if (config.exact)
		driver_finish();
}

static void
get_integer(unsigned what, int64_t *out)
{
	next.GetInteger64v(what, out);
	if (what == GL_TIMESTAMP)
		*out = (int64_t)wrong_time((uint64_t)*out);
}

static unsigned draws;

static void
draw_arrays(unsigned mode, int first, int count)
{
	draws++;
	if (config.crash && draws == config.crash)
		raise(SIGSEGV);
	while (config.hang && draws >= config.hang)
		pause();
	next.DrawArrays(mode, first, config.pixels && serial ? count - 3 : count);
}

static unsigned
get_error(void)
{
	bool wrong = (config.gl_error && draws >= config.gl_error) ||
		     (config.fails && serial);
	return wrong ? GL_INVALID_OPERATION : next.GetError();
}

static unsigned
reset_status(void)
{
	return is_lost() ? GL_UNKNOWN_CONTEXT_RESET : next.GetGraphicsResetStatus();
}

static void
gen_queries(int n, unsigned *names)
{
	static unsigned calls;
	if (config.no_names && ++calls >= config.no_names) {
		memset(names, 0, (size_t)n * sizeof(*names));
		faults++;
	} else {
		next.GenQueries(n, names);
	}
}

static const unsigned char *
get_string(unsigned name)
{
	bool none = config.no_strings && (name == GL_VENDOR || name == GL_RENDERER);
	faults += none;
	if (config.renamed && name == GL_RENDERER)
		return (const unsigned char *)"Unheard-of";
	return none ? NULL : next.GetString(name);
}

void *
fake_queries_function(const char *name, void (*behind)(void))
{
	typedef void (*function)(void);
	static const struct {
		const char *name;
		function *behind;
		function ours;
	} wrapped[] = {
#define ROW(call, ours) { "gl" #call, (function *)&next.call, (function)(ours) }
		ROW(BeginQuery, begin_query),        ROW(EndQuery, end_query),
		ROW(QueryCounter, query_counter),    ROW(GetQueryObjectiv, get_iv),
		ROW(GetQueryObjectuiv, get_uiv),     ROW(GetQueryObjecti64v, get_i64v),
		ROW(GetQueryObjectui64v, get_ui64v), ROW(GetGraphicsResetStatus, reset_status),
		ROW(GenQueries, gen_queries),        ROW(GetString, get_string),
		ROW(GetInteger64v, get_integer),     ROW(DrawArrays, draw_arrays),
		ROW(GetError, get_error),
#undef ROW
	};
	static const char *const suffixes[] = { "", "EXT", "ARB", "KHR" };
	for (size_t i = 0; i < sizeof(wrapped) / sizeof(wrapped[0]); i++) {
		size_t n = strlen(wrapped[i].name);
		if (strncmp(name, wrapped[i].name, n) != 0)
			continue;
		for (size_t k = 0; k < sizeof(suffixes) / sizeof(suffixes[0]); k++) {
			if (strcmp(name + n, suffixes[k]) != 0)
				continue;
			*wrapped[i].behind = behind;
			return (void *)(uintptr_t)wrapped[i].ours;
		}
	}
	return NULL;
}

void
fake_queries_report(const char *path)
{
	char part[4096];
	if (!path || snprintf(part, sizeof(part), "%s.part", path) >= (int)sizeof(part))
		return;
	FILE *f = fopen(part, "w");
	if (!f)
		return;
	fprintf(f, "waits %u\nquestions %u\nfaults %u\nended %u\n", waits, questions, faults,
		serial);
	if (fclose(f) == 0)
		rename(part, path);
}

/* SPDX-License-Identifier: MIT */
#include "tests/fake_gl/perf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INVALID_OPERATION 0x0502

struct fake_perf fake_perf;

/* ---- configuration ---- */

static const struct {
	const char *key;
	size_t offset;
} keys[] = {
#define KEY(name) { #name, offsetof(struct fake_perf_config, name) }
	KEY(late), KEY(shuffle), KEY(sets), KEY(paranoid), KEY(exclusive), KEY(defer_every),
	KEY(short_write), KEY(ignore_size), KEY(instances), KEY(stall_begin), KEY(no_nul),
	KEY(conflict), KEY(backwards), KEY(error_at), KEY(error_every), KEY(one_set),
	KEY(unequal), KEY(absurd), KEY(idle_dies), KEY(negative), KEY(cut),
	KEY(adreno),
};

static bool
set_extensions(const char *value)
{
	char words[64];
	char *rest = NULL;

	snprintf(words, sizeof(words), "%s", value);
	for (char *word = strtok_r(words, "+", &rest); word; word = strtok_r(NULL, "+", &rest)) {
		if (strcmp(word, "intel") == 0)
			fake_perf.config.ext |= FAKE_PERF_INTEL;
		else if (strcmp(word, "old") == 0)
			fake_perf.config.ext |= FAKE_PERF_OLD;
		else if (strcmp(word, "amd") == 0)
			fake_perf.config.ext |= FAKE_PERF_AMD;
		else if (strcmp(word, "all") == 0)
			fake_perf.config.ext = FAKE_PERF_INTEL | FAKE_PERF_OLD | FAKE_PERF_AMD;
		else if (strcmp(word, "none") != 0)
			return false;
	}
	return true;
}

static bool
set_key(const char *key, const char *value)
{
	if (strcmp(key, "ext") == 0)
		return set_extensions(value);
	if (strcmp(key, "vendor") == 0) {
		snprintf(fake_perf.config.vendor, sizeof(fake_perf.config.vendor), "%s", value);
		return true;
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(key, keys[i].key) != 0)
			continue;
		unsigned number = value[0] ? (unsigned)strtoul(value, NULL, 10) : 1;
		memcpy((char *)&fake_perf.config + keys[i].offset, &number, sizeof(number));
		return true;
	}
	return false;
}

bool
fake_perf_configure(const char *text)
{
	char words[512];
	char *rest = NULL;
	bool fine = true;

	memset(&fake_perf, 0, sizeof(fake_perf));
	fake_perf.config = (struct fake_perf_config){
		.late = 1, .sets = 1, .ignore_size = 1, .instances = 1, .stall_begin = 1,
	};
	snprintf(words, sizeof(words), "%s", text ? text : "");
	for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		char *value = strchr(word, '=');
		if (value)
			*value++ = '\0';
		if (set_key(word, value ? value : ""))
			continue;
		fprintf(stderr, "fake_perf: %s=%s is unknown\n", word, value ? value : "");
		fine = false;
	}
	return fine;
}

const char *
fake_perf_extension(unsigned n)
{
	static const struct {
		unsigned bit;
		const char *name;
	} rows[] = {
		{ FAKE_PERF_INTEL, "GL_INTEL_performance_query" },
		{ FAKE_PERF_OLD, "GL_INTEL_performance_queries" },
		{ FAKE_PERF_AMD, "GL_AMD_performance_monitor" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if ((fake_perf.config.ext & rows[i].bit) && n-- == 0)
			return rows[i].name;
	}
	return NULL;
}

/* ---- events ---- */

/* One flag, as in software drivers: the first error stays until it is fetched. */
void
fake_perf_error(unsigned error, const char *what)
{
	fake_perf.tally.errors++;
	if (!fake_perf.error)
		fake_perf.error = error;
	if (getenv("FAKE_PERF_VERBOSE"))
		fprintf(stderr, "fake_perf: error 0x%04x by %s\n", error, what);
}

void
fake_perf_misuse(const char *format, ...)
{
	va_list args;

	fake_perf.tally.misuse++;
	va_start(args, format);
	vsnprintf(fake_perf.tally.last_misuse, sizeof(fake_perf.tally.last_misuse),
		  format, args);
	va_end(args);
}

void
fake_perf_wait(const char *what)
{
	fake_perf.tally.waits++;
	if (getenv("FAKE_PERF_VERBOSE"))
		fprintf(stderr, "fake_perf: %s waits\n", what);
}

bool
fake_perf_call(const char *name)
{
	if (++fake_perf.tally.calls != fake_perf.config.error_at)
		return true;
	fake_perf_error(INVALID_OPERATION, name);
	return false;
}

unsigned
fake_perf_get_error(void)
{
	unsigned error = fake_perf.error;

	fake_perf.error = 0;
	return error;
}

void
fake_perf_tick(void)
{
	fake_perf.now.tick++;
}

void
fake_perf_work(uint64_t draws, uint64_t vertices)
{
	fake_perf.worked = true;
	fake_perf.now.draws += draws;
	fake_perf.now.vertices += vertices;
}

/* ---- objects ---- */

/* The lowest name that is free, as Mesa's. 0: there is none. */
unsigned
fake_perf_create(struct fake_perf_object *objects)
{
	for (unsigned i = 1; i < FAKE_PERF_MAX_OBJECTS; i++) {
		if (objects[i].alive)
			continue;
		objects[i] = (struct fake_perf_object){ .alive = true };
		fake_perf.tally.created++;
		if (fake_perf.tally.most < i)
			fake_perf.tally.most = i;
		return i;
	}
	return 0;
}

struct fake_perf_object *
fake_perf_object(struct fake_perf_object *objects, unsigned name)
{
	bool fine = name > 0 && name < FAKE_PERF_MAX_OBJECTS && objects[name].alive;
	return fine ? &objects[name] : NULL;
}

void
fake_perf_begin(struct fake_perf_object *o)
{
	o->active = true;
	o->ended = o->was_read = o->deferred = false;
	o->begin = fake_perf.now;
	fake_perf.tally.begun++;
}

void
fake_perf_end(struct fake_perf_object *o)
{
	const struct fake_perf_config *config = &fake_perf.config;
	uint64_t serial = fake_perf.serial++;

	if (config->idle_dies && !fake_perf.worked)
		abort();
	o->active = false;
	o->ended = true;
	o->end = fake_perf.now;
	o->serial = serial;
	o->ready = config->late ? fake_perf.now.tick + config->late : UINT64_MAX;
	if (config->late && serial % 2 == 0)
		o->ready += config->shuffle;
	fake_perf.tally.ended++;
}

bool
fake_perf_is_ready(const struct fake_perf_object *o)
{
	return o->ended && fake_perf.now.tick >= o->ready;
}

/* ---- values ---- */

uint64_t
fake_perf_script(unsigned seed, uint64_t tick)
{
	return (seed * UINT64_C(7919) + tick * (seed % 13 + 1)) & 0x7fffffff;
}

static uint64_t
meaning_of(const struct fake_perf_counter *counter, const struct fake_perf_object *o)
{
	uint64_t script = fake_perf_script(counter->seed, o->begin.tick);
	uint32_t first = UINT32_MAX - 2, second = first + (uint32_t)script;

	switch (counter->meaning) {
	case FAKE_PERF_DRAWS:
		return o->end.draws - o->begin.draws;
	case FAKE_PERF_VERTICES:
		return o->end.vertices - o->begin.vertices;
	case FAKE_PERF_WRAP:
		return second - first;
	default:
		return counter->type == FAKE_PERF_U64 ? script | (uint64_t)counter->seed << 40
						      : script;
	}
}

size_t
fake_perf_value(const struct fake_perf_counter *counter, const struct fake_perf_object *o,
		void *out)
{
	/* Half of them, in an order that no pass follows. */
	bool chosen = (uint32_t)((o->serial + 1) * 2654435761u) >> 31;
	uint64_t wide = meaning_of(counter, o) + (chosen ? fake_perf.config.unequal : 0);
	uint32_t narrow = (uint32_t)wide;
	if (fake_perf.config.negative)
		wide = -wide - 1;
	float number;
	double precise = (double)wide / 16;

	switch (counter->type) {
	case FAKE_PERF_U64:
		memcpy(out, &wide, sizeof(wide));
		return sizeof(wide);
	case FAKE_PERF_DOUBLE:
		memcpy(out, &precise, sizeof(precise));
		return sizeof(precise);
	case FAKE_PERF_FLOAT:
		number = (float)wide / 8;
		memcpy(out, &number, sizeof(number));
		return sizeof(number);
	case FAKE_PERF_PERCENT:
		number = (float)(wide % 801) / 8;
		if (fake_perf.config.absurd)
			number *= (float)fake_perf.config.absurd;
		memcpy(out, &number, sizeof(number));
		return sizeof(number);
	case FAKE_PERF_BOOL:
		narrow &= 1;
		break;
	default:
		break;
	}
	memcpy(out, &narrow, sizeof(narrow));
	return sizeof(narrow);
}

/* ---- the rest ---- */

void *
fake_perf_function(const char *name)
{
	bool intel = fake_perf.config.ext & (FAKE_PERF_INTEL | FAKE_PERF_OLD);
	void *found = intel ? fake_perf_intel_function(name) : NULL;

	if (!found && (fake_perf.config.ext & FAKE_PERF_AMD))
		found = fake_perf_amd_function(name);
	return found;
}

void
fake_perf_destroy_context(void)
{
	memset(fake_perf.queries, 0, sizeof(fake_perf.queries));
	memset(fake_perf.monitors, 0, sizeof(fake_perf.monitors));
}

void
fake_perf_report(const char *path)
{
	struct fake_perf_tally *t = &fake_perf.tally;

	t->leaks = 0;
	for (unsigned i = 0; i < FAKE_PERF_MAX_OBJECTS; i++)
		t->leaks += fake_perf.queries[i].alive + fake_perf.monitors[i].alive;
	FILE *out = path ? fopen(path, "we") : NULL;
	if (!out)
		return;
	fprintf(out, "waits %u\nerrors %u\nmisuse %u\nleaks %u\n", t->waits, t->errors,
		t->misuse, t->leaks);
	fprintf(out, "calls %u\ncreated %u\nbegun %u\nended %u\nreads %u\nready_reads %u\n",
		t->calls, t->created, t->begun, t->ended, t->reads, t->ready_reads);
	fprintf(out, "most %u\n", t->most);
	fprintf(out, "deferred %u\nnested %u\nflushes %u\nticks %llu\nlast_misuse %s\n",
		t->deferred, t->nested, t->flushes, (unsigned long long)fake_perf.now.tick,
		t->last_misuse);
	fclose(out);
}

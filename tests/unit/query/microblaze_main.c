/* SPDX-License-Identifier: MIT */
/* Plays traces of register accesses back to query/microblaze_*.c, and prints how they were
 * interpreted.
 *
 * Standard input, for microblaze_vectors.py:
 *   vector WIDTH NE NL SERIAL PORTS CORE PRESET_COUNTER PRESET_VALUE EVENT...
 *   w OFFSET VALUE | r OFFSET VALUE      hexadecimal, in order; then
 *   go
 * PRESET_COUNTER -1: none. The output is one JSON object per vector. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/metric/bind.h"
#include "query/metric/metric.h"
#include "query/metric/set.h"
#include "query/microblaze/counters.h"
#include "query/microblaze/events.h"
#include "query/microblaze/mmio.h"

#define MAX_ACCESSES 1024

struct access {
	char what;
	uint32_t offset, value;
};

static struct access trace[MAX_ACCESSES];
static unsigned n_trace, at;
static char wrong[200]; /* the first access that differs from the expected one */

static uint32_t
play(char what, uint32_t offset, uint32_t value)
{
	const struct access *a = at < n_trace ? &trace[at] : NULL;
	bool as_told = a && a->what == what && a->offset == offset &&
		       (what == 'r' || a->value == value);
	if (!as_told && !wrong[0])
		snprintf(wrong, sizeof(wrong), "access %u: %c %x %x instead of %c %x %x",
			 at, what, offset, value, a ? a->what : '-', a ? a->offset : 0,
			 a ? a->value : 0);
	at++;
	return a ? a->value : 0;
}

uint32_t
tally_mmio_read(const void *map, uint32_t offset)
{
	(void)map;
	return play('r', offset, 0);
}

void
tally_mmio_write(void *map, uint32_t offset, uint32_t value)
{
	(void)map;
	play('w', offset, value);
}

/* ---- one vector ---- */

struct vector {
	struct tally_mb_shape shape;
	struct tally_mdm mdm;
	int preset_k;
	uint64_t preset;
	uint8_t events[TALLY_MB_MAX_COUNTERS];
};

static bool
next_is(uint32_t offset, uint32_t value)
{
	return at < n_trace && trace[at].what == 'w' && trace[at].offset == offset &&
	       trace[at].value == value;
}

static void
run(const struct vector *v, struct tally_mb_sample *sample)
{
	if (v->mdm.serial) {
		tally_mdm_unlock(&v->mdm);
		if (at < n_trace && trace[at].what == 'r' && tally_mdm_status(&v->mdm) != 0)
			exit(2);
		if (next_is(0x10, 0x6181f))
			printf("\"identity\":%" PRIu32 ",", tally_mdm_identify(&v->mdm));
		tally_mdm_select_core(&v->mdm);
	}
	tally_mb_configure(&v->mdm, &v->shape, v->events);
	if (v->preset_k >= 0) {
		tally_mb_command(&v->mdm, TALLY_MDM_CLEAR);
		tally_mb_preset(&v->mdm, &v->shape, (uint32_t)v->preset_k, v->preset);
		tally_mb_command(&v->mdm, TALLY_MDM_START);
	} else {
		tally_mb_command(&v->mdm, TALLY_MDM_CLEAR | TALLY_MDM_START);
	}
	bool running = next_is(0x5480, TALLY_MDM_SAMPLE);
	tally_mb_command(&v->mdm,
			 running ? TALLY_MDM_SAMPLE : TALLY_MDM_SAMPLE | TALLY_MDM_STOP);
	tally_mb_read(&v->mdm, &v->shape, sample);
}

/* ---- the interpretation ---- */

static struct tally_counter counters[3 * TALLY_MB_MAX_COUNTERS];
static const struct tally_counter *pointers[3 * TALLY_MB_MAX_COUNTERS];
static struct tally_keyed_value values[3 * TALLY_MB_MAX_COUNTERS];
static char keys[3 * TALLY_MB_MAX_COUNTERS][64];
static uint32_t n_counters, n_values;

/* A counter that exists; a value only where it is valid. */
static void
add(const char *key, const char *suffix, uint64_t value, bool valid)
{
	uint32_t i = n_counters++;
	snprintf(keys[i], sizeof(keys[i]), "%s%s", key, suffix);
	counters[i] = (struct tally_counter){ .key = keys[i],
					      .name = keys[i],
					      .unit = "1",
					      .source = "microblaze",
					      .description = "" };
	pointers[i] = &counters[i];
	if (valid)
		values[n_values++] = (struct tally_keyed_value){
			.key = keys[i],
			.value = { .storage = TALLY_STORAGE_U64, .u64 = value },
		};
}

static void
print_optional(const char *name, bool there, double value)
{
	if (there)
		printf(",\"%s\":%.17g", name, value);
	else
		printf(",\"%s\":null", name);
}

static void
print_events(const struct vector *v, const struct tally_mb_sample *s)
{
	for (uint32_t i = 0; i < v->shape.ne; i++) {
		uint64_t value = s->events[i];
		bool preset = (int)i == v->preset_k;
		uint64_t since = (value - (preset ? v->preset : 0)) & tally_mb_mask(&v->shape);
		printf("%s{\"value\":\"%" PRIu64 "\",\"since\":\"%" PRIu64
		       "\",\"overflow\":%s,\"full\":%s}",
		       i ? "," : "", value, since,
		       s->status[i] & TALLY_MDM_OVERFLOW ? "true" : "false",
		       s->status[i] & TALLY_MDM_FULL ? "true" : "false");
		add(tally_mb_events[v->events[i]].key,
		    tally_mb_is_latency(v->events[i]) ? ".n" : "", since, s->status[i] == 0);
	}
}

static void
print_latencies(const struct vector *v, const struct tally_mb_sample *s)
{
	for (uint32_t i = 0; i < v->shape.nl; i++) {
		const struct tally_latency *l = &s->latencies[i].l;
		uint32_t status = s->status[v->shape.ne + i];
		double sd;
		bool has_sd = tally_latency_sd_population(l, &sd);
		printf("%s{\"n\":\"%" PRIu64 "\",\"sum\":\"%" PRIu64 "\",\"sum_sq\":\"%" PRIu64
		       "\",\"min\":\"%" PRIu32 "\",\"max\":\"%" PRIu32
		       "\",\"overflow\":%s,\"full\":%s,\"possible\":%s",
		       i ? "," : "", l->n, l->sum, l->sum_sq, s->latencies[i].min,
		       s->latencies[i].max, status & TALLY_MDM_OVERFLOW ? "true" : "false",
		       status & TALLY_MDM_FULL ? "true" : "false",
		       tally_latency_is_possible(l) ? "true" : "false");
		print_optional("sd_population", has_sd, sd);
		printf("}");
		const char *key = tally_mb_events[v->events[v->shape.ne + i]].key;
		add(key, ".n", l->n, status == 0);
		add(key, ".sum", l->sum, status == 0);
		add(key, ".sum_sq", l->sum_sq, status == 0);
	}
}

static void
print_metrics(void)
{
	const struct tally_metric_inputs in = { .counters = pointers, .n_counters = n_counters };
	struct tally_metric_set *set = tally_metric_set_create(&in, NULL, 0, "all");
	if (!set)
		exit(2);
	struct tally_keyed_value *out = calloc(tally_metric_set_size(set) + 1, sizeof(*out));
	const struct tally_metric_values with = { .counters = values, .n_counters = n_values };
	uint32_t n = out ? tally_metric_set_evaluate(set, &with, out) : 0;
	for (uint32_t i = 0; i < n; i++)
		printf("%s\"%s\":%.17g", i ? "," : "", out[i].key, out[i].value.f64);
	free(out);
	tally_metric_set_destroy(set);
}

static void
go(const struct vector *v)
{
	struct tally_mb_sample sample;
	at = n_counters = n_values = 0;
	wrong[0] = '\0';
	printf("{");
	run(v, &sample);
	if (at != n_trace && !wrong[0])
		snprintf(wrong, sizeof(wrong), "%u accesses of %u", at, n_trace);
	printf("\"wrong\":\"%s\",\"bad\":%s,\"events\":[", wrong,
	       sample.bad_item || sample.bad_status ? "true" : "false");
	print_events(v, &sample);
	printf("],\"latencies\":[");
	print_latencies(v, &sample);
	printf("],\"metrics\":{");
	print_metrics();
	printf("}}\n");
	fflush(stdout);
}

/* ---- reading ---- */

static uint64_t
next_number(char **p)
{
	return strtoull(*p, p, 0);
}

static void
read_vector(char *line, struct vector *v)
{
	memset(v, 0, sizeof(*v));
	v->shape.width = (uint32_t)next_number(&line);
	v->shape.ne = (uint32_t)next_number(&line);
	v->shape.nl = (uint32_t)next_number(&line);
	v->mdm.serial = next_number(&line) != 0;
	v->mdm.ports = (uint32_t)next_number(&line);
	v->mdm.core = (uint32_t)next_number(&line);
	v->mdm.unlock = 0xebab;
	v->mdm.take = 1;
	v->preset_k = (int)strtol(line, &line, 10);
	v->preset = next_number(&line);
	for (uint32_t i = 0; i < v->shape.ne + v->shape.nl && i < TALLY_MB_MAX_COUNTERS; i++)
		v->events[i] = (uint8_t)next_number(&line);
	n_trace = 0;
}

int
main(void)
{
	char line[1024];
	struct vector v = { 0 };
	while (fgets(line, sizeof(line), stdin)) {
		if (strncmp(line, "vector ", 7) == 0) {
			read_vector(line + 7, &v);
		} else if (strncmp(line, "go", 2) == 0) {
			go(&v);
		} else if (n_trace < MAX_ACCESSES) {
			struct access *a = &trace[n_trace++];
			char *p = line + 1;
			a->what = line[0];
			a->offset = (uint32_t)strtoul(p, &p, 16);
			a->value = (uint32_t)strtoul(p, &p, 16);
		}
	}
	return 0;
}

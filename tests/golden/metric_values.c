/* SPDX-License-Identifier: MIT */
/* Bind metrics to a made-up device and evaluate them: what tests/golden/metrics.py compares with an
 * evaluator of its own. Lines from stdin, words separated by tabs:
 *
 *     layout NAME             the device: its counters, constants none
 *     constant NAME VALUE
 *     counter KEY             a counter that is not of the layout
 *     absent KEY              a counter of the layout that the device does not count
 *     wanted LIST             as --counters
 *     own KEY DIALECT EXPR    a metric of the user's
 *     bind                    prints "metric KEY DIALECT NAME UNIT EXPRESSION" for each
 *     value KEY NUMBER        of the next pass
 *     gpu_ns NUMBER
 *     pass                    prints "value KEY NUMBER" for each, then "done"
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/metric/bind.h"
#include "query/metric/metric.h"
#include "query/metric/set.h"

#define MAX_COUNTERS 1024
#define MAX_CONSTANTS 64
#define MAX_OWN 64

static struct {
	struct tally_metric_inputs in;
	struct tally_counter extra[MAX_COUNTERS];
	const struct tally_counter *counters[MAX_COUNTERS];
	struct tally_constant constants[MAX_CONSTANTS];
	struct tally_metric own[MAX_OWN];
	uint32_t n_extra, n_own;
	char *wanted;
	struct tally_metric_set *set;
	struct tally_keyed_value values[MAX_COUNTERS];
	struct tally_keyed_value *out;
	struct tally_metric_values pass;
	char **strings;
	size_t n_strings;
} device;

/* Lives as long as the device. */
static char *
copy(const char *text)
{
	if (device.n_strings % 1024 == 0)
		device.strings = realloc(device.strings,
					 (device.n_strings + 1024) * sizeof(*device.strings));
	char *made = strdup(text);
	if (!made || !device.strings)
		exit(1);
	device.strings[device.n_strings++] = made;
	return made;
}

static void
clear(void)
{
	for (size_t i = 0; i < device.n_strings; i++)
		free(device.strings[i]);
	free(device.strings);
	free(device.out);
	tally_metric_set_destroy(device.set);
	memset(&device, 0, sizeof(device));
}

static void
start(const char *layout)
{
	const struct tally_mali_product *product = tally_mali_find_name(layout);
	clear();
	device.in.counters = device.counters;
	device.in.constants = device.constants;
	device.in.layout = product ? product->layout : NULL;
	device.pass.counters = device.values;
	for (uint32_t i = 0; device.in.layout && i < device.in.layout->n_counters; i++)
		device.counters[device.in.n_counters++] = &device.in.layout->counters[i].counter;
}

static void
leave_out(const char *key)
{
	for (uint32_t i = 0; i < device.in.n_counters; i++) {
		if (strcmp(device.counters[i]->key, key) == 0) {
			device.counters[i] = device.counters[--device.in.n_counters];
			return;
		}
	}
	fprintf(stderr, "metric_values: there is no counter %s\n", key);
	exit(1);
}

static void
bind(void)
{
	device.set = tally_metric_set_create(&device.in, device.own, device.n_own,
					     device.wanted);
	if (!device.set)
		exit(1);
	uint32_t n = tally_metric_set_size(device.set);
	device.out = calloc(n + 1, sizeof(*device.out));
	for (uint32_t i = 0; i < n; i++) {
		struct tally_metric_info m = tally_metric_set_info(device.set, i);
		printf("metric\t%s\t%s\t%s\t%s\t%s\n", m.key, m.dialect, m.name, m.unit,
		       m.expression);
	}
	printf("done\n");
	fflush(stdout);
}

static void
end_pass(void)
{
	uint32_t n = tally_metric_set_evaluate(device.set, &device.pass, device.out);
	for (uint32_t i = 0; i < n; i++)
		printf("value\t%s\t%.17g\n", device.out[i].key, device.out[i].value.f64);
	printf("done\n");
	fflush(stdout);
	device.pass.n_counters = 0;
	device.pass.has_gpu = false;
}

static void
take_constant(char **word)
{
	device.constants[device.in.n_constants++] = (struct tally_constant){
		copy(word[1]), strtod(word[2], NULL)
	};
}

static void
take_counter(char **word)
{
	struct tally_counter *c = &device.extra[device.n_extra++];
	*c = (struct tally_counter){ .key = copy(word[1]), .name = "n", .unit = "1" };
	device.counters[device.in.n_counters++] = c;
}

static void
take_own(char **word)
{
	struct tally_metric *m = &device.own[device.n_own++];
	*m = (struct tally_metric){ .key = copy(word[1]),
				    .name = "own",
				    .unit = "1",
				    .expression = copy(word[3]),
				    .layouts = "",
				    .overview = true };
	for (unsigned d = 0; d < TALLY_N_DIALECTS; d++) {
		if (strcmp(tally_dialect_name(d), word[2]) == 0)
			m->dialect = (enum tally_dialect)d;
	}
}

/* Under a copy of its key, as a log that is read back would have it. */
static void
take_value(char **word)
{
	struct tally_keyed_value *v = &device.values[device.pass.n_counters++];
	v->key = copy(word[1]);
	v->value = (struct tally_value){ .storage = TALLY_STORAGE_U64,
					 .u64 = strtoull(word[2], NULL, 10) };
}

static void
take_gpu_ns(char **word)
{
	device.pass.has_gpu = true;
	device.pass.gpu_ns = strtoull(word[1], NULL, 10);
}

static void
take_layout(char **word)
{
	start(word[1]);
}

static void
take_absent(char **word)
{
	leave_out(word[1]);
}

static void
take_wanted(char **word)
{
	device.wanted = copy(word[1]);
}

static void
take_bind(char **word)
{
	(void)word;
	bind();
}

static void
take_pass(char **word)
{
	(void)word;
	end_pass();
}

static void
take(char **word, unsigned n)
{
	static const struct {
		const char *word;
		unsigned n; /* words of the line; 0: any */
		void (*take)(char **word);
	} lines[] = {
		{ "layout", 2, take_layout },	{ "constant", 3, take_constant },
		{ "counter", 2, take_counter }, { "absent", 2, take_absent },
		{ "wanted", 2, take_wanted },	{ "own", 4, take_own },
		{ "bind", 0, take_bind },	{ "value", 3, take_value },
		{ "gpu_ns", 2, take_gpu_ns },	{ "pass", 0, take_pass },
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (strcmp(word[0], lines[i].word) == 0 && (!lines[i].n || lines[i].n == n)) {
			lines[i].take(word);
			return;
		}
	}
	fprintf(stderr, "metric_values: cannot do '%s'\n", word[0]);
	exit(1);
}

int
main(void)
{
	static char line[65536];
	while (fgets(line, sizeof(line), stdin)) {
		char *word[4] = { line };
		unsigned n = 1;
		line[strcspn(line, "\n")] = '\0';
		for (char *tab; n < 4 && (tab = strchr(word[n - 1], '\t')); n++) {
			*tab = '\0';
			word[n] = tab + 1;
		}
		take(word, n);
	}
	clear();
	return 0;
}

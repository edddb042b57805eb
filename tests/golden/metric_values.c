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

#include "query/metric/metric.h"

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
	device.set = tally_metric_set_create(&device.in, device.own, device.n_own, device.wanted);
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
take(char **word, unsigned n)
{
	if (strcmp(word[0], "layout") == 0 && n == 2) {
		start(word[1]);
	} else if (strcmp(word[0], "constant") == 0 && n == 3) {
		device.constants[device.in.n_constants++] = (struct tally_constant){
			copy(word[1]), strtod(word[2], NULL)
		};
	} else if (strcmp(word[0], "counter") == 0 && n == 2) {
		struct tally_counter *c = &device.extra[device.n_extra++];
		*c = (struct tally_counter){ .key = copy(word[1]), .name = "n", .unit = "1" };
		device.counters[device.in.n_counters++] = c;
	} else if (strcmp(word[0], "absent") == 0 && n == 2) {
		leave_out(word[1]);
	} else if (strcmp(word[0], "wanted") == 0 && n == 2) {
		device.wanted = copy(word[1]);
	} else if (strcmp(word[0], "own") == 0 && n == 4) {
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
	} else if (strcmp(word[0], "bind") == 0) {
		bind();
	} else if (strcmp(word[0], "value") == 0 && n == 3) {
		/* Under a copy of its key, as a log that is read back would have it. */
		struct tally_keyed_value *v = &device.values[device.pass.n_counters++];
		v->key = copy(word[1]);
		v->value = (struct tally_value){ .storage = TALLY_STORAGE_U64,
						 .u64 = strtoull(word[2], NULL, 10) };
	} else if (strcmp(word[0], "gpu_ns") == 0 && n == 2) {
		device.pass.has_gpu = true;
		device.pass.gpu_ns = strtoull(word[1], NULL, 10);
	} else if (strcmp(word[0], "pass") == 0) {
		end_pass();
	} else {
		fprintf(stderr, "metric_values: cannot do '%s'\n", word[0]);
		exit(1);
	}
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

/* SPDX-License-Identifier: MIT */
/* What metrics cost: expressions parsed per second, the binding of a set, and each value of a
 * pass.
 *
 *     bench_metrics [PASSES]
 *
 * A Mali-G715 that counts all it can, with all its metrics and with the overview's. Measured is
 * CPU time, the best of five runs each. Prints a table and a line of JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/metric/bind.h"
#include "query/metric/metric.h"
#include "query/metric/set.h"
#include "tests/bench/bench.h"

#define RUNS 5
#define MAX_COUNTERS 512

static struct {
	const struct tally_counter *counters[MAX_COUNTERS];
	struct tally_keyed_value values[MAX_COUNTERS];
	struct tally_metric_inputs in;
	struct tally_metric_values pass;
} device;

static const struct tally_constant constants[] = {
	{ "MaliConstantsShaderCoreCount", 10 },
	{ "MaliConstantsL2SliceCount", 4 },
	{ "MaliConstantsBusWidthBits", 128 },
};

static uint64_t
now(void)
{
	return bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void
make_device(void)
{
	const struct tally_mali_layout *layout = tally_mali_find_name("Mali-G715")->layout;
	for (uint32_t i = 0; i < layout->n_counters; i++) {
		device.counters[i] = &layout->counters[i].counter;
		device.values[i] = (struct tally_keyed_value){
			.key = device.counters[i]->key,
			.value = { .storage = TALLY_STORAGE_U64, .u64 = 1000 + 7919 * i },
		};
	}
	device.in = (struct tally_metric_inputs){
		.counters = device.counters,
		.n_counters = layout->n_counters,
		.layout = layout,
		.constants = constants,
		.n_constants = sizeof(constants) / sizeof(constants[0]),
	};
	device.pass = (struct tally_metric_values){
		.counters = device.values,
		.n_counters = layout->n_counters,
		.has_gpu = true,
		.gpu_ns = 1000000,
		.pixels = 1920 * 1080,
	};
}

/* ns for each built-in expression. */
static double
parse_all(void)
{
	uint64_t begin = now();
	for (uint32_t i = 0; i < tally_n_metrics; i++) {
		struct tally_metric m = tally_metric_at(i);
		struct tally_expr_error error;
		struct tally_expr *e = tally_expr_parse(m.expression,
							strlen(m.expression), &error);
		if (!e)
			exit(1);
		tally_expr_destroy(e);
	}
	return (double)(now() - begin) / tally_n_metrics;
}

struct figures {
	uint32_t metrics;
	double bind_ns, pass_ns;
};

static void
keep_least(double *least, double value)
{
	if (*least == 0 || value < *least)
		*least = value;
}

static struct figures
measure(const char *wanted, unsigned passes)
{
	struct figures f = { 0 };
	for (unsigned run = 0; run < RUNS; run++) {
		uint64_t begin = now();
		struct tally_metric_set *set = tally_metric_set_create(&device.in, NULL,
								       0, wanted);
		keep_least(&f.bind_ns, (double)(now() - begin));
		struct tally_keyed_value *out = set ? calloc(tally_metric_set_size(set) + 1,
							     sizeof(*out))
						    : NULL;
		if (!out)
			exit(1);
		begin = now();
		for (unsigned i = 0; i < passes; i++)
			f.metrics = tally_metric_set_evaluate(set, &device.pass, out);
		keep_least(&f.pass_ns, (double)(now() - begin) / passes);
		free(out);
		tally_metric_set_destroy(set);
	}
	return f;
}

int
main(int argc, char **argv)
{
	unsigned passes = 10000;
	if (argc > 1)
		passes = bench_number("bench_metrics", "PASSES", argv[1], 1, 10000000);
	make_device();
	double parse_ns = 0;
	for (unsigned run = 0; run < RUNS; run++)
		keep_least(&parse_ns, parse_all());
	struct figures all = measure("all", passes), few = measure("overview", passes);
	printf("an expression parsed     %9.0f ns (%.0f a second)\n", parse_ns, 1e9 / parse_ns);
	printf("all bound                %9.0f ns, %u metrics\n", all.bind_ns, all.metrics);
	printf("  a pass                 %9.0f ns, %u counters\n", all.pass_ns,
	       device.pass.n_counters);
	printf("  a metric               %9.1f ns (%.0f a second)\n", all.pass_ns / all.metrics,
	       1e9 * all.metrics / all.pass_ns);
	printf("the overview bound       %9.0f ns, %u metrics\n", few.bind_ns, few.metrics);
	printf("  a pass                 %9.0f ns\n", few.pass_ns);
	printf("{\"metrics.parse_ns\": %.0f, \"metrics.bind_ns\": %.0f, \"metrics.value_ns\": "
	       "%.1f, "
	       "\"metrics.all_pass_ns\": %.0f, \"metrics.overview_pass_ns\": %.0f}\n",
	       parse_ns, all.bind_ns, all.pass_ns / all.metrics, all.pass_ns, few.pass_ns);
	return 0;
}

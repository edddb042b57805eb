/* SPDX-License-Identifier: MIT */
/* Prints everything that the product knows about Mali GPUs, and every metric's value on made-up
 * counts, as JSON lines. tests/live/mali_cross.py compares the output of this machine with that
 * of others.
 */
#include "query/metric/bind.h"
#include "query/metric/metric.h"
#include "query/metric/set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COUNTERS 1024

/* Made up from the key alone: too large for 32 bits. */
static uint64_t
made_up(const char *key)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (; *key; key++)
		hash = (hash ^ (unsigned char)*key) * UINT64_C(0x100000001b3);
	return hash >> 24;
}

static void
print_counters(const struct tally_mali_layout *layout)
{
	for (uint32_t i = 0; i < layout->n_counters; i++) {
		const struct tally_mali_counter *c = &layout->counters[i];
		printf("[\"%s\", \"%s\", \"%s\", %d, %u, %u, [", layout->name, c->counter.key,
		       c->counter.unit, (int)c->block, c->index, c->shift);
		for (uint32_t a = 0; c->aliases && c->aliases[a]; a++)
			printf("%s\"%s\"", a ? ", " : "", c->aliases[a]);
		printf("]]\n");
	}
}

static int
print_metrics(const struct tally_mali_layout *layout)
{
	static const struct tally_constant constants[] = {
		{ "MaliConstantsShaderCoreCount", 7 },
		{ "MALI_CONFIG_SHADER_CORE_COUNT", 7 },
		{ "MaliConstantsL2SliceCount", 3 },
		{ "MALI_CONFIG_L2_CACHE_COUNT", 3 },
		{ "MaliConstantsBusWidthBits", 128 },
		{ "MaliConstantsBusWidthBytes", 16 },
		{ "MALI_CONFIG_EXT_BUS_BYTE_SIZE", 16 },
	};
	const struct tally_counter *counters[MAX_COUNTERS];
	struct tally_keyed_value given[MAX_COUNTERS], *out;
	uint32_t n = layout->n_counters < MAX_COUNTERS ? layout->n_counters : MAX_COUNTERS;
	for (uint32_t i = 0; i < n; i++) {
		counters[i] = &layout->counters[i].counter;
		given[i] = (struct tally_keyed_value){
			.key = counters[i]->key,
			.value = { .storage = TALLY_STORAGE_U64,
				   .u64 = made_up(counters[i]->key) },
		};
	}
	struct tally_metric_inputs inputs = {
		.counters = counters,
		.n_counters = n,
		.layout = layout,
		.constants = constants,
		.n_constants = sizeof(constants) / sizeof(constants[0]),
	};
	struct tally_metric_values values = {
		.counters = given, .n_counters = n, .has_gpu = true, .gpu_ns = 1234567,
	};
	struct tally_metric_set *set = tally_metric_set_create(&inputs, NULL, 0, "all");
	out = set ? calloc(tally_metric_set_size(set) + 1, sizeof(*out)) : NULL;
	if (!out)
		return 1;
	uint32_t n_out = tally_metric_set_evaluate(set, &values, out);
	for (uint32_t i = 0; i < n_out; i++)
		printf("[\"%s\", \"%s\", %.17g]\n", layout->name, out[i].key, out[i].value.f64);
	free(out);
	tally_metric_set_destroy(set);
	return n_out == 0;
}

int
main(void)
{
	int failed = 0;
	for (uint32_t i = 0; i < tally_mali_n_layouts; i++) {
		print_counters(tally_mali_layout(i));
		failed |= print_metrics(tally_mali_layout(i));
	}
	return failed;
}

/* SPDX-License-Identifier: MIT */
/* Reads totals by one snapshot source of the product and prints what it got, a JSON line a step:
 *
 *   snapshot_main SOURCE [--counters LIST] [--samples N] [--advance US] [--sleep US] [--metrics]
 *   snapshot_main SOURCE --bench N
 *
 * Before each sample the script's clock of the simulated kernel (drive.h) advances by US
 * microseconds. tests/live/mali_kernel.py compares. Exit status 0 when it could print anything.
 */
#include "query/mali/catalogue.h"
#include "query/mali/mali.h"
#include "tests/fake_kernel/drive.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_COUNTERS 4096

static const struct {
	const char *name;
	struct tally_snapshot_source *(*create)(void);
} sources[] = {
	{ "mali-kbase", tally_mali_kbase_create },
	{ "mali-panfrost", tally_mali_panfrost_create },
};

struct run {
	const char *source, *counters;
	unsigned n_samples, sleep_us, bench;
	uint64_t advance_us;
	bool metrics;
};

static struct tally_totals totals = {
	.totals = (uint64_t[MAX_COUNTERS]){ 0 },
	.unknown = (uint64_t[MAX_COUNTERS / 64]){ 0 },
};

static const char *
word(enum tally_status status)
{
	static const char *const words[] = {
		[TALLY_OK] = "ok",
		[TALLY_UNSUPPORTED] = "unsupported",
		[TALLY_DENIED] = "denied",
		[TALLY_NO_MEMORY] = "no memory",
		[TALLY_NOT_READY] = "not ready",
		[TALLY_LOST] = "lost",
	};
	return words[status];
}

static uint64_t
now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void
print_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('"');
}

static void
print_step(const char *step, enum tally_status status, const struct tally_snapshot_source *src)
{
	printf("{\"step\": \"%s\", \"status\": \"%s\", \"reason\": ", step, word(status));
	print_string(src->reason);
}

/* The position of a key in the catalogue: block, index, shift; the clock after all blocks. */
static void
print_place(const struct tally_mali_layout *layout, const char *key)
{
	if (strcmp(key, tally_mali_clock.key) == 0) {
		printf("[%d, 0, 0]", TALLY_N_MALI_BLOCKS);
		return;
	}
	for (uint32_t i = 0; layout && i < layout->n_counters; i++) {
		const struct tally_mali_counter *c = &layout->counters[i];
		if (strcmp(c->counter.key, key) == 0) {
			printf("[%d, %u, %u]", (int)c->block, c->index, c->shift);
			return;
		}
	}
	printf("null");
}

static void
print_open(const struct tally_snapshot_source *src)
{
	const struct tally_mali_product *product = NULL;
	if (src->layout)
		product = tally_mali_find_name(src->layout);
	printf(", \"least_period_ns\": %" PRIu64 ", \"most_period_ns\": %" PRIu64
	       ", \"layout\": ",
	       src->least_period_ns, src->most_period_ns);
	print_string(src->layout ? src->layout : "");
	printf(", \"constants\": {");
	for (uint32_t i = 0; i < src->n_constants; i++) {
		printf(i ? ", " : "");
		print_string(src->constants[i].name);
		printf(": %.17g", src->constants[i].value);
	}
	printf("}, \"counters\": [");
	for (uint32_t i = 0; i < src->n_counters; i++) {
		printf(i ? ", [" : "[");
		print_string(src->counters[i]->key);
		printf(", ");
		print_place(product ? product->layout : NULL, src->counters[i]->key);
		printf(", %s]", src->logged[i / 64] >> i % 64 & 1 ? "true" : "false");
	}
	printf("]}\n");
}

static void
print_totals(const struct tally_snapshot_source *src)
{
	printf(", \"begin_ns\": %" PRIu64 ", \"end_ns\": %" PRIu64 ", \"flags\": %" PRIu64
	       ", \"totals\": [",
	       totals.begin_ns, totals.end_ns, totals.flags);
	for (uint32_t i = 0; i < src->n_counters; i++)
		printf("%s%" PRIu64, i ? ", " : "", totals.totals[i]);
	printf("], \"unknown\": [");
	bool first = true;
	for (uint32_t i = 0; i < src->n_counters; i++) {
		if (!(totals.unknown[i / 64] >> i % 64 & 1))
			continue;
		printf("%s%u", first ? "" : ", ", i);
		first = false;
	}
	printf("]}\n");
}

static enum tally_status
take(struct tally_snapshot_source *src)
{
	memset(totals.unknown, 0, MAX_COUNTERS / 8);
	totals.flags = 0;
	return src->ops->sample(src, &totals);
}

static void
sample(struct tally_snapshot_source *src, const struct run *run)
{
	for (unsigned i = 0; i < run->n_samples; i++) {
		fake_kernel_advance(run->advance_us * 1000);
		if (run->sleep_us)
			usleep(run->sleep_us);
		uint64_t called = now_ns();
		enum tally_status status = take(src);
		uint64_t returned = now_ns();
		print_step("sample", status, src);
		printf(", \"called_ns\": %" PRIu64 ", \"returned_ns\": %" PRIu64, called,
		       returned);
		if (status == TALLY_OK)
			print_totals(src);
		else
			printf("}\n");
		if (status == TALLY_LOST)
			return;
	}
}

static void
bench(struct tally_snapshot_source *src, unsigned n)
{
	struct fake_kernel_state *state = fake_kernel_find();
	uint64_t kernel = state ? state->kernel_ns : 0, begin = now_ns();
	for (unsigned i = 0; i < n; i++) {
		if (take(src) == TALLY_LOST)
			break;
	}
	uint64_t all = now_ns() - begin;
	kernel = state ? state->kernel_ns - kernel : 0;
	printf("{\"step\": \"bench\", \"counters\": %u, \"samples\": %u, \"ns\": %" PRIu64
	       ", \"kernel_ns\": %" PRIu64 "}\n",
	       src->n_counters, n, all / n, kernel / n);
}

/* Steps between open and close. */
static void
count(struct tally_snapshot_source *src, const struct run *run)
{
	uint64_t called = now_ns();
	enum tally_status status = src->ops->start(src);
	uint64_t returned = now_ns();
	print_step("start", status, src);
	printf(", \"called_ns\": %" PRIu64 ", \"returned_ns\": %" PRIu64 "}\n", called,
	       returned);
	if (status != TALLY_OK)
		return;
	if (run->bench)
		bench(src, run->bench);
	else
		sample(src, run);
	src->ops->stop(src);
}

static int
go(struct tally_snapshot_source *src, const struct run *run)
{
	enum tally_status status = src->ops->probe(src);
	print_step("probe", status, src);
	printf("}\n");
	if (status != TALLY_OK)
		return 0;
	src->wanted = run->counters;
	src->metrics_wanted = run->metrics;
	status = src->ops->open(src);
	print_step("open", status, src);
	if (status != TALLY_OK) {
		printf("}\n");
		return 0;
	}
	print_open(src);
	if (src->n_counters > MAX_COUNTERS)
		return 1;
	count(src, run);
	src->ops->close(src);
	print_step("close", TALLY_OK, src);
	printf("}\n");
	return 0;
}

static bool
parse(struct run *run, int n, char **args)
{
	for (int i = 2; i < n; i++) {
		const char *value = i + 1 < n ? args[i + 1] : "";
		if (strcmp(args[i], "--metrics") == 0)
			run->metrics = true;
		else if (strcmp(args[i - 1], "--counters") == 0)
			run->counters = args[i];
		else if (strcmp(args[i], "--samples") == 0)
			run->n_samples = (unsigned)atoi(value);
		else if (strcmp(args[i], "--sleep") == 0)
			run->sleep_us = (unsigned)atoi(value);
		else if (strcmp(args[i], "--bench") == 0)
			run->bench = (unsigned)atoi(value);
		else if (strcmp(args[i], "--advance") == 0)
			run->advance_us = strtoull(value, NULL, 10);
		else if (args[i][0] == '-' && strcmp(args[i], "--counters") != 0)
			return false;
	}
	return true;
}

int
main(int n, char **args)
{
	struct run run = { .n_samples = 3, .advance_us = 1000, .counters = "all" };
	if (n < 2 || !parse(&run, n, args)) {
		fprintf(stderr, "snapshot_main: SOURCE [--counters LIST] [--samples N] ...\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		if (strcmp(args[1], sources[i].name) != 0)
			continue;
		struct tally_snapshot_source *src = sources[i].create();
		int status = src ? go(src, &run) : 1;
		if (src)
			src->ops->destroy(src);
		return status;
	}
	fprintf(stderr, "snapshot_main: no source %s\n", args[1]);
	return 2;
}

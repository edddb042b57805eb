/* SPDX-License-Identifier: MIT */
/* tests/bench/bench.h - what the benchmark programs share: clocks, sorting, numbers from the
 * command line. Any thread; bench_number() ends the program when it is given no number in
 * range.
 */
#ifndef PASSTALLY_TESTS_BENCH_BENCH_H
#define PASSTALLY_TESTS_BENCH_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t
bench_clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* For qsort(). */
static inline int
bench_compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* The largest resident size so far; -1 when /proc does not say. */
static inline long
bench_peak_kib(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "VmHWM: %ld", &kib) == 1)
			break;
	}
	if (file)
		fclose(file);
	return kib;
}

static inline unsigned
bench_number(const char *program, const char *option, const char *text, unsigned min,
	     unsigned max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	if (!*text || *end || n < min || n > max) {
		fprintf(stderr, "%s: %s takes a number from %u to %u, not '%s'\n",
			program, option, min, max, text);
		exit(2);
	}
	return (unsigned)n;
}

#endif

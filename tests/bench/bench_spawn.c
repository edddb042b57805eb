/* SPDX-License-Identifier: MIT */
/* The cost of starting a process: bench_spawn N PROGRAM [ARGUMENT...] runs the program N times
 * and prints the median and the smallest wall time in ns as JSON. LD_PRELOAD is passed on like
 * the rest of the environment.
 */
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t
now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int
compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

int
main(int argc, char **argv)
{
	long n = argc < 3 ? 0 : strtol(argv[1], NULL, 10);
	if (n < 1 || n > 100000) {
		fprintf(stderr, "usage: bench_spawn N PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	uint64_t *took_ns = calloc((size_t)n, sizeof(*took_ns));
	if (!took_ns)
		return 1;
	for (long i = 0; i < n; i++) {
		pid_t child;
		int status;
		uint64_t begin_ns = now_ns();
		if (posix_spawn(&child, argv[2], NULL, NULL, argv + 2, environ) != 0 ||
		    waitpid(child, &status, 0) != child || status != 0) {
			fprintf(stderr, "bench_spawn: %s did not run or failed\n", argv[2]);
			return 1;
		}
		took_ns[i] = now_ns() - begin_ns;
	}
	qsort(took_ns, (size_t)n, sizeof(*took_ns), compare_u64);
	printf("{\"spawn_ns\": %" PRIu64 ", \"spawn_ns_low\": %" PRIu64 "}\n", took_ns[n / 2],
	       took_ns[0]);
	free(took_ns);
	return 0;
}

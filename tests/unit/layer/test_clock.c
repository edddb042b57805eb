/* SPDX-License-Identifier: MIT */
#include "layer/base/clock.h"

#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <sys/random.h>
#include <unistd.h>

static const struct {
	const char *what;
	uint64_t begin, end;
	unsigned valid_bits;
	uint64_t want;
} elapsed_cases[] = {
	{ "plain interval", 100, 250, 64, 150 },
	{ "empty pass", 100, 100, 64, 0 },
	{ "36-bit counter wraps", 0xffffffff0, 0x10, 36, 0x20 },
	{ "32-bit counter wraps", 0xfffffffe, 1, 32, 3 },
	{ "64-bit counter wraps", UINT64_MAX, 4, 64, 5 },
	{ "bits above the valid ones are noise", 0xf00000001, 0x4, 32, 3 },
	{ "one bit", 1, 0, 1, 1 },
	{ "no valid bits", 5, 100, 0, 0 },
	{ "more bits than there are", 1, 3, 80, 2 },
};

static void
test_elapsed_ticks(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(elapsed_cases); i++) {
		g_test_message("%s", elapsed_cases[i].what);
		g_assert_cmpuint(tally_ticks_elapsed(elapsed_cases[i].begin,
						     elapsed_cases[i].end,
						     elapsed_cases[i].valid_bits),
				 ==, elapsed_cases[i].want);
	}
}

static void
test_now(void)
{
	uint64_t before = tally_clock_now_ns();
	uint64_t after = tally_clock_now_ns();
	g_assert_cmpuint(before, >, 0);
	g_assert_cmpuint(after, >=, before);
	g_assert_cmpuint(after - before, <, UINT64_C(10000000000));
	/* 2020 to 2100. */
	g_assert_cmpuint(tally_clock_unix_ns(), >, UINT64_C(1577836800000000000));
	g_assert_cmpuint(tally_clock_unix_ns(), <, UINT64_C(4102444800000000000));
}

/* A wait within a wait counts once, and one that never began does not count. */
static void
test_waits(void)
{
	uint64_t from = tally_clock_thread().wait_ns, begin_ns = tally_clock_now_ns();
	struct tally_clock_wait outer = tally_clock_wait_begin();
	g_usleep(2000);
	struct tally_clock_wait inner = tally_clock_wait_begin(), none = { 0 };
	g_usleep(2000);
	g_assert_cmpuint(tally_clock_wait_end(&inner), >=, inner.begin_ns + 2000000);
	g_assert_cmpuint(tally_clock_wait_end(&none), ==, 0);
	uint64_t after_inner = tally_clock_thread().wait_ns - from;
	g_assert_cmpuint(after_inner, >=, 2000000);
	tally_clock_wait_end(&outer);
	uint64_t all = tally_clock_thread().wait_ns - from;
	g_assert_cmpuint(all, >=, after_inner + 2000000);
	g_assert_cmpuint(all, <=, tally_clock_now_ns() - begin_ns);
}

enum { WORK_NS = 100000000, BLOCK = 1 << 20 };

/* Of so much work that the thread does, how much is the kernel's. */
static uint64_t
work(bool in_kernel)
{
	g_autofree char *data = g_malloc(BLOCK);
	struct tally_thread_time from = tally_clock_thread(), to = from;
	while (to.ns - from.ns < WORK_NS) {
		if (in_kernel)
			g_assert_cmpint(getrandom(data, BLOCK, 0), >, 0);
		for (int i = 0; i < BLOCK && !in_kernel; i++)
			((volatile char *)data)[i]++;
		to = tally_clock_thread();
	}
	return to.kernel_ns - from.kernel_ns;
}

static void
test_kernel(void)
{
	g_assert_cmpuint(work(true), >=, WORK_NS / 2);
	g_assert_cmpuint(work(false), <=, WORK_NS / 2);
}

/* What a disk read for the thread; where files are in memory there is no disk. */
static void
test_disk(void)
{
	enum { N = 1 << 20 };
	g_autofree char *data = g_malloc0(N);
	char path[] = "test_clock-XXXXXX";
	int fd = g_mkstemp(path);
	g_assert_cmpint(write(fd, data, N), ==, N);
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	uint64_t before = tally_clock_thread().disk_bytes;
	g_assert_cmpint(pread(fd, data, N, 0), ==, N);
	uint64_t read = tally_clock_thread().disk_bytes - before;
	g_assert_cmpint(pread(fd, data, N, 0), ==, N);
	g_assert_cmpuint(tally_clock_thread().disk_bytes - before, ==, read);
	close(fd);
	unlink(path);
	if (!read)
		g_test_skip("nothing is read from a disk here");
}

static void
test_uncalibrated(void)
{
	struct tally_clock_map map = { 0 };
	g_assert_cmpuint(tally_clock_map_apply(&map, 12345), ==, 12345);
}

static const struct {
	const char *what;
	struct {
		uint64_t before, gpu, after;
	} feeds[3];
	uint64_t gpu, want, error;
} map_cases[] = {
	{ "middle of the bracket", { { 1000, 500, 1100 } }, 600, 1150, 50 },
	{ "odd bracket rounds the error up", { { 1000, 500, 1001 } }, 500, 1000, 1 },
	{ "GPU clock ahead of the CPU's", { { 1000, 5000, 1000 } }, 5010, 1010, 0 },
	{ "a tighter bracket wins",
	  { { 1000, 500, 1100 }, { 2000, 1490, 2020 } },
	  1490,
	  2010,
	  10 },
	{ "a wider one does not",
	  { { 1000, 500, 1100 }, { 2000, 1000, 2400 } },
	  500,
	  1050,
	  50 },
	{ "unless it is a second newer",
	  { { 1000, 500, 1100 }, { 2000000000, 1000, 2000000400 } },
	  1000,
	  2000000200,
	  200 },
	{ "a clock that ran backwards is ignored",
	  { { 1000, 500, 1100 }, { 3000, 1, 2000 } },
	  500,
	  1050,
	  50 },
	{ "before the CPU clock's zero", { { 1000, 50000, 1000 } }, 10, 0, 0 },
};

static void
test_map(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(map_cases); i++) {
		struct tally_clock_map map = { 0 };
		g_test_message("%s", map_cases[i].what);
		for (size_t j = 0; j < 3 && map_cases[i].feeds[j].before; j++)
			tally_clock_map_feed(&map, map_cases[i].feeds[j].before,
					     map_cases[i].feeds[j].gpu,
					     map_cases[i].feeds[j].after);
		g_assert_true(map.calibrated);
		g_assert_cmpuint(map.error_ns, ==, map_cases[i].error);
		g_assert_cmpuint(tally_clock_map_apply(&map, map_cases[i].gpu), ==,
				 map_cases[i].want);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/clock/elapsed", test_elapsed_ticks);
	g_test_add_func("/clock/now", test_now);
	g_test_add_func("/clock/waits", test_waits);
	g_test_add_func("/clock/kernel", test_kernel);
	g_test_add_func("/clock/disk", test_disk);
	g_test_add_func("/clock/map/uncalibrated", test_uncalibrated);
	g_test_add_func("/clock/map", test_map);
	return g_test_run();
}

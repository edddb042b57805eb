/* SPDX-License-Identifier: MIT */
#include "cli/log/warmup.h"

#include <string.h>

#define MS UINT64_C(1000000)

/* A row of frame times: `n` of `ms` milliseconds each. */
struct run_of_frames {
	unsigned n;
	double ms;
};

static const struct {
	const char *what;
	struct run_of_frames runs[8];
	size_t want;
} cases[] = {
	{ "no frame", { { 0, 0 } }, 0 },
	{ "one frame", { { 1, 900 } }, 0 },
	{ "three frames: a quarter of them is none", { { 1, 900 }, { 2, 14 } }, 0 },
	{ "four frames", { { 1, 900 }, { 3, 14 } }, 1 },
	{ "a first frame that compiles", { { 1, 900 }, { 200, 14 } }, 1 },
	{ "constant", { { 500, 20 } }, 0 },
	{ "a fast menu before a slow level", { { 100, 2 }, { 300, 30 } }, 0 },
	{ "a slow level after a short menu", { { 40, 3 }, { 1, 2000 }, { 300, 14 } }, 0 },
	{ "load screens between slow frames",
	  { { 3, 400 }, { 10, 12 }, { 4, 1000 }, { 12, 14 }, { 2, 300 }, { 145, 14 } },
	  31 },
	{ "noise after it",
	  { { 1, 300 }, { 12, 10 }, { 1, 60 }, { 4, 10 }, { 1, 60 }, { 200, 10 } },
	  1 },
	{ "as long as the time is mostly long frames",
	  { { 1, 200 }, { 12, 10 }, { 1, 120 }, { 14, 10 }, { 1, 60 }, { 200, 10 } },
	  14 },
	{ "noise at the start alone: half of the time, but not of the frames, is slow",
	  { { 1, 60 }, { 4, 10 }, { 1, 90 }, { 4, 10 }, { 1, 90 },
	    { 4, 10 }, { 1, 95 }, { 200, 10 } },
	  1 },
	{ "slow frames of no great length without a break", { { 12, 60 }, { 200, 10 } }, 12 },
	{ "with few quick ones between them",
	  { { 5, 60 }, { 3, 10 }, { 5, 70 }, { 2, 10 }, { 5, 60 }, { 200, 10 } },
	  20 },
	{ "no longer than one in 20 of the frames that follow is how the program runs",
	  { { 3, 80 }, { 97, 10 }, { 10, 80 }, { 90, 10 } },
	  0 },
	{ "longer than those", { { 3, 90 }, { 97, 10 }, { 10, 80 }, { 90, 10 } }, 3 },
	{ "few later hitches do not hide it",
	  { { 3, 80 }, { 97, 10 }, { 4, 500 }, { 96, 10 } }, 3 },
	{ "mostly noise",
	  { { 1, 60 }, { 12, 10 }, { 1, 51 }, { 14, 10 }, { 1, 51 }, { 200, 10 } },
	  1 },
	{ "longer than a quarter of the log", { { 30, 100 }, { 60, 10 } }, 0 },
	{ "exactly a quarter of the log", { { 30, 100 }, { 90, 10 } }, 30 },
	{ "four times as long is slow", { { 1, 40 }, { 99, 10 } }, 1 },
	{ "less than that is not", { { 1, 39 }, { 99, 10 } }, 0 },
	{ "as the quickest quarter, of a program that becomes slower",
	  { { 1, 100 }, { 120, 25 }, { 120, 60 } },
	  1 },
	{ "a long one after quick ones, where few frames take a fifth of it",
	  { { 2, 8 }, { 1, 150 }, { 180, 20 }, { 20, 32 } },
	  3 },
	{ "less than 10 ms longer is not", { { 2, 10 }, { 99, 0.5 } }, 0 },
	{ "10 ms longer is", { { 2, 10.5 }, { 99, 0.5 } }, 2 },
	{ "a hitch within 16 frames belongs to it",
	  { { 1, 900 }, { 16, 14 }, { 1, 100 }, { 100, 14 } },
	  18 },
	{ "if it is a long one", { { 1, 900 }, { 16, 14 }, { 1, 90 }, { 100, 14 } }, 1 },
	{ "a later hitch does not", { { 1, 900 }, { 17, 14 }, { 1, 90 }, { 100, 14 } }, 1 },
	{ "a hitch 17 frames in is no loading", { { 17, 14 }, { 1, 90 }, { 100, 14 } }, 0 },
	{ "it stays slow: all of it is how the program runs", { { 500, 100 } }, 0 },
	{ "frames of no length", { { 50, 0 } }, 0 },
};

static void
test_rule(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_test_message("%s", cases[i].what);
		GArray *frames = g_array_new(FALSE, FALSE, sizeof(uint64_t));
		for (size_t k = 0; k < G_N_ELEMENTS(cases[i].runs); k++) {
			uint64_t ns = (uint64_t)(cases[i].runs[k].ms * 1e6);
			for (unsigned n = 0; n < cases[i].runs[k].n; n++)
				g_array_append_val(frames, ns);
		}
		g_assert_cmpuint(
			tally_warmup_count((const uint64_t *)(void *)frames->data, frames->len,
					   SIZE_MAX),
			==, cases[i].want);
		g_array_unref(frames);
	}
}

/* A hitch every 8 frames is normal for the program; a longer time at the start is not. */
static void
test_never_settles(void)
{
	uint64_t frames[400];
	for (size_t i = 0; i < G_N_ELEMENTS(frames); i++)
		frames[i] = (i % 8 == 0 ? 200 : 14) * MS;
	g_assert_cmpuint(tally_warmup_count(frames, G_N_ELEMENTS(frames), SIZE_MAX), ==, 0);
	frames[0] = frames[1] = 900 * MS;
	g_assert_cmpuint(tally_warmup_count(frames, G_N_ELEMENTS(frames), SIZE_MAX), ==, 2);
}

/* A machine that is busy all the time delays frames at random, some of them a lot. */
static void
test_noise(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(69);
	uint64_t frames[600];
	for (unsigned round = 0; round < 500; round++) {
		double share = g_rand_double_range(rand, 0.01, 0.4);
		for (size_t i = 0; i < G_N_ELEMENTS(frames); i++) {
			bool late = g_rand_double(rand) < share;
			double ms = 6 + (late ? 8 / (0.08 + g_rand_double(rand)) : 0);
			frames[i] = (uint64_t)(ms * 1e6);
		}
		g_assert_cmpuint(tally_warmup_count(frames, G_N_ELEMENTS(frames), SIZE_MAX), <=, 9);
		/* And a load before that is still found. */
		for (size_t i = 0; i < 10; i++)
			frames[i] = 250 * MS;
		size_t count = tally_warmup_count(frames, G_N_ELEMENTS(frames), SIZE_MAX);
		g_assert_cmpuint(count, >=, 10);
		g_assert_cmpuint(count, <=, 50);
	}
}

/* At most a quarter of the frames, whatever they are like. */
static void
test_bound(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(15);
	uint64_t frames[200];
	for (unsigned round = 0; round < 2000; round++) {
		size_t n = (size_t)g_rand_int_range(rand, 0, G_N_ELEMENTS(frames));
		for (size_t i = 0; i < n; i++)
			frames[i] = (uint64_t)g_rand_int_range(rand, 0, 3) * 50 * MS;
		size_t count = tally_warmup_count(frames, n, SIZE_MAX);
		g_assert_cmpuint(count, <=, n / 4);
		if (count)
			g_assert_cmpuint(frames[count - 1], >=, 10 * MS);
	}
}

static bool
add_frame(struct tally_warmup *w, uint32_t device, uint64_t ns, uint32_t passes, uint64_t flags)
{
	const struct tally_log_line line = {
		.type = TALLY_LINE_FRAME,
		.frame = { .device = device, .cpu_ns = ns, .n_passes = passes, .flags = flags },
	};
	return tally_warmup_add(w, &line);
}

static size_t
frames_of(struct tally_warmup *w, uint32_t device)
{
	return tally_warmup_frames(w, &(struct tally_frame_record){ .device = device });
}

/* A device that comes after the frames that are examined. */
static void
test_late_devices(void)
{
	static const struct {
		const char *what;
		uint64_t frame, ms;
		enum tally_event_kind made;
		size_t want;
	} rows[] = {
		{ "its first frame compiles", 0, 300, TALLY_EVENT_SHADER, 1 },
		{ "quickly", 0, 99, TALLY_EVENT_SHADER, 0 },
		{ "its first frame waits", 0, 300, TALLY_EVENT_FENCE, 0 },
		{ "the capture began later", 5, 300, TALLY_EVENT_SHADER, 0 },
	};
	struct tally_warmup *w = tally_warmup_create();
	while (add_frame(w, 0, 14 * MS, 1, 0))
		;
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_test_message("%s", rows[i].what);
		struct tally_event_record event = { .kind = rows[i].made, .n = 1 };
		const struct tally_frame_record f = {
			.device = 1, .frame = rows[i].frame, .cpu_ns = rows[i].ms * MS,
			.events = &event, .n_events = 1,
		};
		g_assert_cmpuint(tally_warmup_frames(w, &f), ==, rows[i].want);
	}
	tally_warmup_destroy(w);
}

static void
test_devices(void)
{
	struct tally_warmup *w = tally_warmup_create();
	g_assert_true(tally_warmup_add(w, &(struct tally_log_line){ .type = TALLY_LINE_NOTE }));
	/* Device 0 runs ten times as often as device 1. */
	for (unsigned i = 0; i < 400; i++) {
		g_assert_true(add_frame(w, 0, (i < 3 ? 500 : 14) * MS, 5, 0));
		if (i % 10 == 0)
			g_assert_true(add_frame(w, 1, (i == 0 ? 800 : 140) * MS, 1, 0));
	}
	g_assert_true(add_frame(w, 2, 900 * MS, 1, 0));
	g_assert_cmpuint(frames_of(w, 0), ==, 3);
	g_assert_cmpuint(frames_of(w, 1), ==, 1);
	g_assert_cmpuint(frames_of(w, 2), ==, 0);
	g_assert_cmpuint(frames_of(w, 7), ==, 0);
	tally_warmup_destroy(w);
	tally_warmup_destroy(NULL);
}

/* A busy machine's frame, long after the last that made something. */
static void
test_made(void)
{
	struct tally_warmup *w = tally_warmup_create();
	const struct tally_event_record made = { .kind = TALLY_EVENT_SHADER, .n = 1 };
	for (unsigned i = 0; i < 400; i++) {
		const struct tally_log_line line = {
			.type = TALLY_LINE_FRAME,
			.frame = { .cpu_ns = (i == 15 ? 800 : 35) * MS,
				   .events = &made,
				   .n_events = i == 0 },
		};
		tally_warmup_add(w, &line);
	}
	g_assert_cmpuint(frames_of(w, 0), ==, 0);
	tally_warmup_destroy(w);
}

/* Only the start is examined. */
static void
test_limits(void)
{
	static const struct {
		const char *what;
		unsigned devices, passes, want;
	} limits[] = {
		{ "enough frames", 1, 10, TALLY_WARMUP_FRAMES },
		{ "of each device", 2, 10, 2 * TALLY_WARMUP_FRAMES },
		{ "of many devices not all", 8, 10, 4 * TALLY_WARMUP_FRAMES },
		{ "frames of 100 000 passes", 1, 100000, 4 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(limits); i++) {
		g_test_message("%s", limits[i].what);
		struct tally_warmup *w = tally_warmup_create();
		unsigned n = 1;
		while (add_frame(w, n % limits[i].devices, 14 * MS, limits[i].passes, 0))
			n++;
		g_assert_cmpuint(n, ==, limits[i].want);
		tally_warmup_destroy(w);
	}
	struct tally_warmup *w = tally_warmup_create();
	for (unsigned i = 0; i < 4; i++)
		add_frame(w, 0, (i ? 14 : 900) * MS, 1, i == 3 ? TALLY_FLAG(PARTIAL) : 0);
	g_assert_cmpuint(frames_of(w, 0), ==, 0); /* three whole frames */
	add_frame(w, 0, 14 * MS, 1, 0);
	g_assert_cmpuint(frames_of(w, 0), ==, 1);
	tally_warmup_destroy(w);
}

static void
test_option(void)
{
	static const struct {
		const char *text;
		uint64_t want;
		bool bad;
	} options[] = {
		{ "auto", TALLY_WARMUP_AUTO, false },
		{ "0", 0, false },
		{ "20", 20, false },
		{ "x", 0, true },
		{ "-1", 0, true },
		{ "", 0, true },
		{ "18446744073709551615", 0, true },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
		uint64_t v = 77;
		g_assert_cmpint(tally_warmup_take("report", NULL, &v, options[i].text), ==,
				!options[i].bad);
		g_assert_cmpuint(v, ==, options[i].bad ? 77 : options[i].want);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/warmup/noise", test_noise);
	g_test_add_func("/warmup/rule", test_rule);
	g_test_add_func("/warmup/never-settles", test_never_settles);
	g_test_add_func("/warmup/bound", test_bound);
	g_test_add_func("/warmup/devices", test_devices);
	g_test_add_func("/warmup/late-devices", test_late_devices);
	g_test_add_func("/warmup/made", test_made);
	g_test_add_func("/warmup/limits", test_limits);
	g_test_add_func("/warmup/option", test_option);
	return g_test_run();
}

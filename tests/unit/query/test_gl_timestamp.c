/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "layer/base/clock.h"
#include "tests/fake_gl/fake_gl_api.h"

#define WRAP_NS (UINT64_C(1) << 28) /* of a clock of 28 bits */
#define NEAR_NS 1000000000 /* the fake's clock is real: a loaded machine may be late */

static struct tally_source *
open_source(struct fake_gl *f, uint32_t slots)
{
	struct tally_source *src = tally_gl_timestamp_create(&f->api);

	g_assert_cmpint(src->ops->open(src, slots), ==, TALLY_OK);
	return src;
}

/* Over OpenGL 4.6 without extensions. */
static struct tally_source *
open_usual(struct fake_gl *f, uint32_t slots)
{
	fake_gl_init(f, false, 46, " ");
	return open_source(f, slots);
}

/* One after another. */
static void
make_passes(struct tally_source *src, uint32_t first, uint32_t n)
{
	for (uint32_t slot = first; slot < first + n; slot++) {
		src->ops->begin(src, slot);
		src->ops->end(src, slot);
	}
}

static void
close_source(struct fake_gl *f, struct tally_source *src)
{
	src->ops->close(src);
	tally_source_destroy(src);
	g_assert_cmpuint(f->n_names, ==, 0);
	g_assert_cmpstr(f->last_misuse, ==, "");
	g_assert_cmpuint(f->misuse, ==, 0);
	g_assert_cmpuint(f->stalls, ==, 0);
	fake_gl_finish(f);
}

static enum tally_status
read_slot(struct tally_source *src, uint32_t slot, struct tally_sample *out)
{
	*out = (struct tally_sample){ .n = 0 };
	return src->ops->read(src, slot, out);
}

static void
assert_near(uint64_t got, uint64_t want, uint64_t within)
{
	g_assert_cmpuint(got + within, >=, want);
	g_assert_cmpuint(got, <=, want + within);
}

static const struct {
	const char *what;
	bool es;
	int version;
	const char *extensions;
	unsigned bits;
	bool blind, lacks; /* hides its clock, has no function for results */
	enum tally_status want;
	const char *reason; /* a word of it */
} open_cases[] = {
	{ "GL 3.3", false, 33, " ", 64, false, false, TALLY_OK, "" },
	{ "GL 2.1 with the extension", false, 21, " GL_ARB_timer_query ", 64, false, false,
	  TALLY_OK, "" },
	{ "GL 2.1", false, 21, " GL_ARB_timer_queryX ", 64, false, false, TALLY_UNSUPPORTED,
	  "3.3" },
	{ "no bits", false, 46, " ", 0, false, false, TALLY_UNSUPPORTED, "0 bits" },
	{ "GLES 3.2", true, 32, " ", 64, false, false, TALLY_UNSUPPORTED,
	  "EXT_disjoint_timer_query" },
	{ "GLES 2.0 with it", true, 20, " GL_EXT_disjoint_timer_query ", 36, false, false, TALLY_OK,
	  "" },
	{ "a blind clock", false, 46, " ", 64, true, false, TALLY_OK, "does not show its clock" },
	{ "no results", false, 46, " ", 64, false, true, TALLY_UNSUPPORTED, " " },
};

static void
test_open(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(open_cases); i++) {
		struct fake_gl f;
		g_test_message("%s", open_cases[i].what);
		fake_gl_init(&f, open_cases[i].es, open_cases[i].version, open_cases[i].extensions);
		f.timestamp_bits = open_cases[i].bits;
		f.blind_clock = open_cases[i].blind;
		if (open_cases[i].lacks)
			f.api.GetQueryObjectui64v = NULL;
		struct tally_source *src = tally_gl_timestamp_create(&f.api);
		g_assert_cmpint(src->ops->open(src, 4), ==, open_cases[i].want);
		g_assert_nonnull(strstr(src->reason, open_cases[i].reason));
		g_assert_cmpint(src->reason[0] == '\0', ==, open_cases[i].reason[0] == '\0');
		g_assert_cmpuint(f.misuse, ==, 0);
		if (open_cases[i].want == TALLY_OK)
			src->ops->close(src);
		tally_source_destroy(src);
		fake_gl_finish(&f);
	}
}

static void
test_shares_boundaries(void)
{
	struct fake_gl f;
	struct tally_sample out;
	uint64_t stamps[6];

	struct tally_source *src = open_usual(&f, 8);
	for (uint32_t slot = 0; slot < 3; slot++) {
		src->ops->begin(src, slot);
		if (slot == 0)
			stamps[0] = f.last_ticks;
		src->ops->end(src, slot);
		stamps[slot + 1] = f.last_ticks;
	}
	g_assert_cmpuint(f.n_stamps, ==, 4);
	src->ops->gap(src);
	src->ops->begin(src, 3);
	stamps[4] = f.last_ticks;
	src->ops->end(src, 3);
	stamps[5] = f.last_ticks;
	g_assert_cmpuint(f.n_stamps, ==, 6);

	g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_NOT_READY);
	g_assert_false(out.has_time);
	fake_gl_complete(&f, 100);
	uint64_t last_end = 0;
	for (uint32_t slot = 0; slot < 3; slot++) {
		g_assert_cmpint(read_slot(src, slot, &out), ==, TALLY_OK);
		g_assert_true(out.has_time);
		g_assert_cmpuint(out.flags, ==, 0);
		g_assert_cmpuint(out.end_ns - out.begin_ns, ==, stamps[slot + 1] - stamps[slot]);
		assert_near(out.begin_ns, stamps[slot] - f.offset_ns, NEAR_NS);
		if (slot > 0)
			g_assert_cmpuint(out.begin_ns, ==, last_end);
		last_end = out.end_ns;
	}
	g_assert_cmpint(read_slot(src, 3, &out), ==, TALLY_OK);
	g_assert_cmpuint(out.end_ns - out.begin_ns, ==, stamps[5] - stamps[4]);
	close_source(&f, src);
}

/* A pass that is open at a gap ended there, unless work went on. */
static void
test_gap_in_a_pass(void)
{
	for (int goes_on = 0; goes_on < 2; goes_on++) {
		struct fake_gl f;
		struct tally_sample out;

		struct tally_source *src = open_usual(&f, 4);
		src->ops->begin(src, 0);
		uint64_t begin = f.last_ticks;
		src->ops->gap(src);
		uint64_t at_gap = f.last_ticks;
		g_assert_cmpuint(f.n_stamps, ==, 2);
		if (goes_on)
			src->ops->resume(src);
		src->ops->end(src, 0);
		g_assert_cmpuint(f.n_stamps, ==, goes_on ? 3u : 2u);
		uint64_t end = goes_on ? f.last_ticks : at_gap;
		/* Not shared across the gap; shared where the pass continued to its end. */
		src->ops->begin(src, 1);
		g_assert_cmpuint(f.n_stamps, ==, 3);
		src->ops->end(src, 1);
		fake_gl_complete(&f, 100);
		g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_OK);
		g_assert_true(out.has_time);
		g_assert_cmpuint(out.end_ns - out.begin_ns, ==, end - begin);
		g_assert_cmpint(read_slot(src, 1, &out), ==, TALLY_OK);
		close_source(&f, src);
	}
}

/* Ended by its provisional end: once it is read both timestamps are free again. */
static void
test_gap_then_read(void)
{
	struct fake_gl f;
	struct tally_sample out;

	struct tally_source *src = open_usual(&f, 1);
	for (int i = 0; i < 100; i++) {
		src->ops->begin(src, 0);
		src->ops->gap(src);
		src->ops->gap(src);
		src->ops->end(src, 0);
		fake_gl_complete(&f, 100);
		g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_OK);
	}
	g_assert_cmpuint(f.n_names, <=, 64);
	close_source(&f, src);
}

static void
test_stamps_in_tiles(void)
{
	struct fake_gl f;
	struct tally_sample out;

	fake_gl_init(&f, false, 46, " ");
	f.offset_ns = 0;
	f.api.timestamps_in_tiles = true;
	struct tally_source *src = open_source(&f, 4);
	uint64_t before = tally_clock_now_ns();
	src->ops->begin(src, 0);
	uint64_t after = tally_clock_now_ns();
	g_assert_cmpuint(f.n_stamps, ==, 0);
	src->ops->end(src, 0);
	uint64_t first_end = f.last_ticks;
	make_passes(src, 1, 1);
	g_assert_cmpuint(f.n_stamps, ==, 2);
	fake_gl_complete(&f, 100);
	g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_OK);
	g_assert_true(out.has_time);
	g_assert_cmpuint(out.begin_ns, >=, before);
	g_assert_cmpuint(out.begin_ns, <=, after);
	/* The map's offset is 0, within the accuracy of the clock reading. */
	assert_near(out.end_ns, first_end, NEAR_NS);
	g_assert_cmpint(read_slot(src, 1, &out), ==, TALLY_OK);
	g_assert_cmpuint(out.end_ns - out.begin_ns, ==, f.last_ticks - first_end);

	/* The GPU is 5 ms behind the program: what begins after a gap begins when the GPU has
	 * done what came before, not at the time of the program's call. */
	f.query_offset_ns = UINT64_C(5000000);
	for (uint32_t slot = 2; slot < 4; slot++) {
		src->ops->gap(src);
		make_passes(src, slot, 1);
	}
	fake_gl_complete(&f, 100);
	g_assert_cmpint(read_slot(src, 2, &out), ==, TALLY_OK);
	uint64_t done = out.end_ns;
	g_assert_cmpint(read_slot(src, 3, &out), ==, TALLY_OK);
	g_assert_cmpuint(out.begin_ns, ==, done);
	g_assert_cmpuint(out.end_ns, >=, done);
	close_source(&f, src);
}

/* Clocks that are not the CPU's own 64 bits. */
static const struct {
	unsigned bits;
	bool blind;
	unsigned timed; /* bit a pass; a gap is before each even one */
} tile_clocks[] = {
	{ 64, false, 15 },
	{ 36, false, 15 },
	{ 64, true, 2 | 8 },
};

static void
test_clocks_of_tiles(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(tile_clocks); i++) {
		struct fake_gl f;
		struct tally_sample out;
		uint64_t last = 0;

		fake_gl_init(&f, false, 46, " ");
		f.timestamp_bits = tile_clocks[i].bits;
		f.blind_clock = tile_clocks[i].blind;
		f.api.timestamps_in_tiles = true;
		/* The GPU is behind by more than the clocks' comparison may be wrong, otherwise
		 * a pass that takes no time would end before it began. */
		f.query_offset_ns = UINT64_C(5000000);
		struct tally_source *src = open_source(&f, 4);
		for (uint32_t slot = 0; slot < 4; slot++) {
			if (slot % 2 == 0)
				src->ops->gap(src);
			make_passes(src, slot, 1);
		}
		fake_gl_complete(&f, 100);
		for (uint32_t slot = 0; slot < 4; slot++) {
			bool timed = tile_clocks[i].timed >> slot & 1;
			g_assert_cmpint(read_slot(src, slot, &out), ==, TALLY_OK);
			g_assert_cmpint(out.has_time, ==, timed);
			g_assert_cmpint(!(out.flags & TALLY_FLAG(NO_TIMESTAMPS)), ==, timed);
			g_assert_true(!timed ||
				      (out.begin_ns >= last && out.end_ns >= out.begin_ns));
			last = timed ? out.end_ns : last;
		}
		/* A gap inside a pass: what comes after it has no timestamp of its
		 * beginning. */
		src->ops->gap(src);
		src->ops->begin(src, 0);
		src->ops->gap(src);
		src->ops->end(src, 0);
		make_passes(src, 1, 1);
		fake_gl_complete(&f, 100);
		for (uint32_t slot = 0; slot < 2; slot++) {
			g_assert_cmpint(read_slot(src, slot, &out), ==, TALLY_OK);
			g_assert_cmpint(out.has_time, ==, !tile_clocks[i].blind);
		}
		close_source(&f, src);
	}
}

/* Each timestamp is read separately, never again once it is available, and in one call where
 * the context has QUERY_RESULT_NO_WAIT. */
static void
test_polls_little(void)
{
	static const struct {
		int version;
		unsigned calls; /* a timestamp */
	} cases[] = { { 33, 2 }, { 46, 1 } };

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct fake_gl f;
		struct tally_sample out;

		fake_gl_init(&f, false, cases[i].version, " ");
		struct tally_source *src = open_source(&f, 8);
		make_passes(src, 0, 4);
		fake_gl_complete(&f, 100);
		unsigned calls = f.n_calls;
		for (uint32_t slot = 0; slot < 4; slot++)
			g_assert_cmpint(read_slot(src, slot, &out), ==, TALLY_OK);
		g_assert_cmpuint(f.n_polls, ==, 5);
		g_assert_cmpuint(f.n_calls - calls, ==, 5 * cases[i].calls);
		close_source(&f, src);
	}
}

/* The timestamps of a batch that the kernel lost are lost, newer ones are available: an
 * interval with a lost one is never ready, the others are, and nothing waits. Pass 2 comes
 * after a gap. */
static const struct {
	const char *what;
	uint64_t from, to; /* timestamps lost, from 1 */
	unsigned never; /* bit a pass */
} lost_cases[] = {
	{ "the first begin", 1, 1, 1 }, { "an end that is a begin", 2, 2, 1 | 2 },
	{ "an end", 3, 3, 2 },          { "a begin after a gap", 4, 4, 4 },
	{ "the last", 6, 6, 8 },        { "all but the last", 1, 5, 15 },
};

static void
test_lost(void)
{
	static const int versions[] = { 33, 46 };

	for (size_t i = 0; i < 2 * G_N_ELEMENTS(lost_cases); i++) {
		struct fake_gl f;
		struct tally_sample out;

		g_test_message("GL %d, %s", versions[i % 2], lost_cases[i / 2].what);
		fake_gl_init(&f, false, versions[i % 2], " ");
		f.lost_from = lost_cases[i / 2].from;
		f.lost_to = lost_cases[i / 2].to;
		struct tally_source *src = open_source(&f, 4);
		for (uint32_t slot = 0; slot < 4; slot++) {
			if (slot == 2)
				src->ops->gap(src);
			make_passes(src, slot, 1);
		}
		g_assert_cmpuint(f.n_stamps, ==, 6);
		fake_gl_complete(&f, 100);
		for (uint32_t slot = 4; slot-- > 0;) {
			bool never = lost_cases[i / 2].never >> slot & 1;
			g_assert_cmpint(read_slot(src, slot, &out), ==,
					never ? TALLY_NOT_READY : TALLY_OK);
			g_assert_cmpint(out.has_time, ==, !never);
		}
		close_source(&f, src);
	}
}

static void
test_narrow_clock(void)
{
	static const struct {
		unsigned bits;
		bool blind;
	} cases[] = { { 36, false }, { 31, false }, { 30, true }, { 36, true } };

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct fake_gl f;
		struct tally_sample out;
		uint64_t range = UINT64_C(1) << cases[i].bits, last_end = 0, first = 0;

		g_test_message("%u bits%s", cases[i].bits, cases[i].blind ? ", blind" : "");
		fake_gl_init(&f, false, 46, " ");
		f.timestamp_bits = cases[i].bits;
		f.blind_clock = cases[i].blind;
		f.noise = UINT64_C(0xabc) << 52;
		/* Wraps 30 ms from now. */
		f.offset_ns = 8 * range - 30000000 - tally_clock_now_ns() % range;
		struct tally_source *src = open_source(&f, 4);
		for (int k = 0; k < 60; k++) {
			src->ops->begin(src, 0);
			uint64_t begin = f.last_ticks, begin_cpu = f.last_cpu_ns;
			first = first ? first : begin;
			g_usleep(1000);
			src->ops->end(src, 0);
			uint64_t end = f.last_ticks;
			src->ops->gap(src);
			fake_gl_complete(&f, 100);
			g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_OK);
			g_assert_true(out.has_time);
			g_assert_cmpuint(out.end_ns - out.begin_ns, ==, end - begin);
			g_assert_cmpuint(out.begin_ns, >=, last_end);
			last_end = out.end_ns;
			if (!cases[i].blind)
				assert_near(out.begin_ns, begin_cpu, NEAR_NS);
			g_assert_cmpuint(out.flags, ==,
					 cases[i].blind ? TALLY_FLAG(UNCALIBRATED) : 0);
		}
		g_assert_cmpuint(first / range, <, f.last_ticks / range);
		close_source(&f, src);
	}
}

static void
test_bad_times(void)
{
	static const struct {
		const char *what;
		int64_t jump_ns;
	} cases[] = {
		{ "negative", -5000000000 },
		{ "an hour", 3600000000000 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct fake_gl f;
		struct tally_sample out;

		g_test_message("%s", cases[i].what);
		struct tally_source *src = open_usual(&f, 4);
		src->ops->begin(src, 0);
		f.query_offset_ns = (uint64_t)cases[i].jump_ns;
		src->ops->end(src, 0);
		f.query_offset_ns = 0;
		src->ops->gap(src);
		make_passes(src, 1, 1);
		fake_gl_complete(&f, 100);
		g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_OK);
		g_assert_false(out.has_time);
		g_assert_cmpuint(out.flags, ==, TALLY_FLAG(BAD_TIME));
		g_assert_cmpint(read_slot(src, 1, &out), ==, TALLY_OK);
		g_assert_true(out.has_time);
		g_assert_cmpuint(out.flags, ==, 0);
		close_source(&f, src);
	}
}

static void
measure(struct fake_gl *f, struct tally_source *src, struct tally_sample *out)
{
	make_passes(src, 0, 1);
	src->ops->gap(src);
	fake_gl_complete(f, 100);
	g_assert_cmpint(read_slot(src, 0, out), ==, TALLY_OK);
}

/* The clock wraps several times while nothing is measured. */
static void
test_long_pause(void)
{
	for (int blind = 0; blind < 2; blind++) {
		struct fake_gl f;
		struct tally_sample first, second;

		fake_gl_init(&f, false, 46, " ");
		f.timestamp_bits = 28; /* WRAP_NS */
		f.blind_clock = blind;
		struct tally_source *src = open_source(&f, 4);
		measure(&f, src, &first);
		uint64_t ticks = f.last_ticks;
		g_usleep(700000);
		measure(&f, src, &second);
		g_assert_true(first.has_time && second.has_time);
		/* With a calibration, the map between the clocks may have been renewed. */
		if (blind)
			g_assert_cmpuint(second.end_ns - first.end_ns, ==, f.last_ticks - ticks);
		else
			assert_near(second.end_ns, f.last_cpu_ns, WRAP_NS / 2);
		close_source(&f, src);
	}
}

/* A timestamp of 0 is a failed one; timestamps of another clock than the one shown keep their
 * length and lose their position; a clock that was set later is calibrated again. */
static void
test_odd_clocks(void)
{
	struct fake_gl f;
	struct tally_sample out;

	struct tally_source *src = open_usual(&f, 4);
	make_passes(src, 0, 1);
	f.objects[1].result = f.objects[2].result = 0;
	fake_gl_complete(&f, 100);
	g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_OK);
	g_assert_false(out.has_time);
	g_assert_cmpuint(out.flags, ==, TALLY_FLAG(BAD_TIME));

	src->ops->gap(src);
	measure(&f, src, &out);
	g_assert_true(out.has_time);
	f.offset_ns += UINT64_C(60000000000);
	measure(&f, src, &out);
	g_assert_false(out.has_time);
	g_assert_cmpuint(out.flags, ==, TALLY_FLAG(BAD_TIME));
	measure(&f, src, &out);
	g_assert_cmpuint(out.flags, ==, 0);
	assert_near(out.end_ns, f.last_cpu_ns, NEAR_NS);
	close_source(&f, src);

	fake_gl_init(&f, false, 46, " ");
	f.query_offset_ns = UINT64_C(77000000000000);
	src = open_source(&f, 4);
	for (int i = 0; i < 3; i++) {
		measure(&f, src, &out);
		g_assert_true(out.has_time);
		g_assert_cmpuint(out.flags, ==, TALLY_FLAG(UNCALIBRATED));
		g_assert_cmpuint(out.end_ns, ==, f.last_ticks);
	}
	close_source(&f, src);
}

static void
test_disjoint(void)
{
	struct fake_gl f;
	struct tally_sample out;

	fake_gl_init(&f, true, 31, " GL_EXT_disjoint_timer_query ");
	struct tally_source *src = open_source(&f, 8);
	make_passes(src, 0, 3);
	/* 0 is done and read before the disturbance, 1 and 2 are in progress. */
	fake_gl_complete(&f, 2);
	g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_OK);
	g_assert_true(out.has_time);
	fake_gl_disturb(&f, 1000000000000);
	fake_gl_complete(&f, 100);
	for (uint32_t slot = 1; slot < 3; slot++) {
		g_assert_cmpint(read_slot(src, slot, &out), ==, TALLY_OK);
		g_assert_false(out.has_time);
		g_assert_cmpuint(out.flags, ==, TALLY_FLAG(DISJOINT));
	}
	/* Afterwards as before, on the new clock, from its own timestamp on. */
	unsigned stamps = f.n_stamps;
	src->ops->begin(src, 3);
	g_assert_cmpuint(f.n_stamps, ==, stamps + 1);
	src->ops->end(src, 3);
	fake_gl_complete(&f, 100);
	g_assert_cmpint(read_slot(src, 3, &out), ==, TALLY_OK);
	g_assert_true(out.has_time);
	g_assert_cmpuint(out.flags, ==, 0);
	assert_near(out.end_ns, f.last_cpu_ns, NEAR_NS);

	/* The game read the flag, the shim passes it on. */
	make_passes(src, 4, 1);
	f.api.disjoint_seen = true;
	fake_gl_complete(&f, 100);
	g_assert_cmpint(read_slot(src, 4, &out), ==, TALLY_OK);
	g_assert_cmpuint(out.flags, ==, TALLY_FLAG(DISJOINT));
	g_assert_false(f.api.disjoint_seen);

	/* One check of the flag serves all results that were available before it. */
	make_passes(src, 0, 3);
	fake_gl_complete(&f, 100);
	g_assert_cmpint(read_slot(src, 2, &out), ==, TALLY_OK);
	unsigned looks = f.n_disjoint_reads;
	g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_OK);
	g_assert_cmpint(read_slot(src, 1, &out), ==, TALLY_OK);
	g_assert_true(out.has_time);
	g_assert_cmpuint(f.n_disjoint_reads, ==, looks);
	close_source(&f, src);
}

static void
test_calibrates_rarely(void)
{
	struct fake_gl f;
	struct tally_sample out;

	fake_gl_init(&f, false, 46, " ");
	gint64 begin = g_get_monotonic_time();
	struct tally_source *src = open_source(&f, 4);
	unsigned reads = f.n_clock_reads;
	g_assert_cmpuint(reads, >=, 1);
	g_assert_cmpuint(reads, <=, 3);
	for (int i = 0; i < 2000; i++)
		measure(&f, src, &out);
	/* At most three a second; none was seen yet on a machine that is not busy. */
	gint64 seconds = (g_get_monotonic_time() - begin) / G_USEC_PER_SEC;
	g_assert_cmpuint(f.n_clock_reads, <=, reads + 3 * (unsigned)seconds);
	g_usleep(1100000);
	f.offset_ns += 500000; /* drift */
	measure(&f, src, &out);
	g_assert_cmpuint(f.n_clock_reads, >, reads);
	close_source(&f, src);

	fake_gl_init(&f, true, 20, " GL_EXT_disjoint_timer_query ");
	f.api.GetInteger64v = NULL;
	src = open_source(&f, 4);
	measure(&f, src, &out);
	g_assert_true(out.has_time);
	g_assert_cmpuint(out.flags, ==, TALLY_FLAG(UNCALIBRATED));
	g_assert_cmpuint(out.end_ns, ==, f.last_ticks);
	close_source(&f, src);
}

static void
test_no_names(void)
{
	struct fake_gl f;
	struct tally_sample out;

	fake_gl_init(&f, false, 46, " ");
	f.no_names = true;
	struct tally_source *src = open_source(&f, 4);
	for (int i = 0; i < 3; i++) {
		make_passes(src, 1, 1);
		g_assert_cmpint(read_slot(src, 1, &out), ==, TALLY_LOST);
		g_assert_false(out.has_time);
	}
	g_assert_cmpuint(f.n_stamps, ==, 0);
	g_assert_cmpuint(f.n_gens, ==, 1);
	close_source(&f, src);
}

static void
test_grow_and_abandon(void)
{
	struct fake_gl f;
	struct tally_sample out;

	struct tally_source *src = open_usual(&f, 1);
	src->ops->begin(src, 0);
	uint64_t begin = f.last_ticks;
	src->ops->end(src, 0);
	uint64_t end = f.last_ticks;
	g_assert_cmpint(src->ops->grow(src, 200), ==, TALLY_OK);
	for (uint32_t slot = 1; slot < 200; slot++) {
		make_passes(src, slot, 1);
		src->ops->gap(src);
	}
	fake_gl_complete(&f, 1000);
	g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_OK);
	g_assert_cmpuint(out.end_ns - out.begin_ns, ==, end - begin);
	for (uint32_t slot = 1; slot < 199; slot++)
		g_assert_cmpint(read_slot(src, slot, &out), ==, TALLY_OK);
	src->ops->begin(src, 7);
	f.gone = true;
	src->ops->abandon(src);
	g_assert_cmpuint(f.misuse, ==, 0);
	f.gone = false;

	/* It can be opened again, on a new context. */
	g_assert_cmpint(src->ops->open(src, 2), ==, TALLY_OK);
	measure(&f, src, &out);
	g_assert_true(out.has_time);
	src->ops->close(src);
	g_assert_cmpuint(f.misuse, ==, 0);
	tally_source_destroy(src);
	fake_gl_finish(&f);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/gl-timestamp/open", test_open);
	g_test_add_func("/gl-timestamp/shares-boundaries", test_shares_boundaries);
	g_test_add_func("/gl-timestamp/gap-in-a-pass", test_gap_in_a_pass);
	g_test_add_func("/gl-timestamp/gap-then-read", test_gap_then_read);
	g_test_add_func("/gl-timestamp/stamps-in-tiles", test_stamps_in_tiles);
	g_test_add_func("/gl-timestamp/clocks-of-tiles", test_clocks_of_tiles);
	g_test_add_func("/gl-timestamp/polls-little", test_polls_little);
	g_test_add_func("/gl-timestamp/lost", test_lost);
	g_test_add_func("/gl-timestamp/narrow-clock", test_narrow_clock);
	g_test_add_func("/gl-timestamp/bad-times", test_bad_times);
	g_test_add_func("/gl-timestamp/long-pause", test_long_pause);
	g_test_add_func("/gl-timestamp/odd-clocks", test_odd_clocks);
	g_test_add_func("/gl-timestamp/disjoint", test_disjoint);
	g_test_add_func("/gl-timestamp/calibrates-rarely", test_calibrates_rarely);
	g_test_add_func("/gl-timestamp/no-names", test_no_names);
	g_test_add_func("/gl-timestamp/grow-and-abandon", test_grow_and_abandon);
	return g_test_run();
}

/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "query/gl/intel_dialect.h"
#include "query/source/harvest.h"
#include "tests/fake_gl/perf.h"
#include "tests/unit/query/harvest_reading.h"

static struct tally_gl_api api;
static struct reading reading;

static struct tally_source *
create(const char *config, const char *wanted, const char *pinned)
{
	g_assert_true(fake_perf_configure(config));
	fake_perf_fill_api(&api);
	struct tally_source *src = tally_gl_intel_create(&api);
	g_assert_nonnull(src);
	src->wanted = wanted;
	src->pinned = pinned;
	return src;
}

static struct tally_source *
open_source(const char *config, const char *wanted, const char *pinned)
{
	struct tally_source *src = create(config, wanted, pinned);
	enum tally_status status = src->ops->open(src, 8);
	g_test_message("%u sets, reason: %s", src->n_sets, src->reason);
	g_assert_cmpint(status, ==, TALLY_OK);
	return src;
}

static void
frame(struct tally_source *src)
{
	fake_perf_tick();
	src->ops->gap(src);
	src->frame++;
}

static void
count(struct tally_source *src, uint32_t slot, unsigned draws)
{
	src->ops->begin(src, slot);
	fake_perf_work(draws, draws * 3);
	src->ops->end(src, slot);
}

static enum tally_status
read_slot(struct tally_source *src, uint32_t slot)
{
	clear(&reading);
	return src->ops->read(src, slot, &reading.sample);
}

static void
finish(struct tally_source *src, unsigned errors)
{
	for (int i = 0; i < 8; i++)
		frame(src);
	src->ops->close(src);
	g_assert_null(src->counters);
	tally_source_destroy(src);
	fake_perf_report(NULL);
	g_assert_cmpstr(fake_perf.tally.last_misuse, ==, "");
	g_assert_cmpuint(fake_perf.tally.waits, ==, 0);
	g_assert_cmpuint(fake_perf.tally.nested, ==, 0);
	g_assert_cmpuint(fake_perf.tally.flushes, ==, 0);
	g_assert_cmpuint(fake_perf.tally.leaks, ==, 0);
	g_assert_cmpuint(fake_perf.tally.errors, ==, errors);
	g_assert_cmpuint(fake_perf.error, ==, 0);
}

static uint32_t
set_named(const struct tally_source *src, const char *part)
{
	for (uint32_t i = 0; i < src->n_sets; i++) {
		if (strstr(src->sets[i]->layout.set, part))
			return i;
	}
	g_error("no set %s", part);
	return 0;
}

/* The value of a key of a set in the reading. */
static struct tally_value
value_of(const struct tally_source *src, uint32_t set, const char *key)
{
	const struct tally_layout *layout = &src->sets[set]->layout;
	for (uint32_t i = 0; i < layout->n_counters; i++) {
		if (strcmp(layout->counters[i]->key, key) == 0) {
			g_assert_true(is_valid(&reading, i));
			return reading.values[i];
		}
	}
	g_error("no %s in %s", key, layout->set);
	return (struct tally_value){ .u64 = 0 };
}

static enum tally_status
read_later(struct tally_source *src, uint32_t slot)
{
	for (int i = 0; i < 40; i++) {
		frame(src);
		enum tally_status status = read_slot(src, slot);
		if (status != TALLY_NOT_READY)
			return status;
	}
	return TALLY_NOT_READY;
}

/* If asked too early, Mesa may wait inside the call: what matters is frames, not how often the
 * game waits in one. */
static void
test_many_gaps(void)
{
	struct tally_source *src = open_source("ext=intel,late=1", "hardware*", NULL);
	count(src, 0, 5);
	unsigned reads = fake_perf.tally.reads;
	for (int i = 0; i < 20; i++) {
		src->ops->gap(src);
		g_assert_cmpint(read_slot(src, 0), ==, TALLY_NOT_READY);
	}
	g_assert_cmpuint(fake_perf.tally.reads, ==, reads);
	g_assert_cmpint(read_later(src, 0), ==, TALLY_OK);
	g_assert_cmpuint(value_of(src, 0, "hardware_draws").u64, ==, 5);
	finish(src, 0);
}

static void
test_types(void)
{
	struct tally_source *src = open_source("ext=intel,short_write=1,late=2",
					       "typed*+hardware*", NULL);
	uint32_t set = set_named(src, "");
	g_assert_cmpuint(src->n_sets, ==, 1);
	frame(src);
	uint64_t tick = fake_perf.now.tick;
	count(src, 3, 7);
	g_assert_cmpint(read_slot(src, 3), ==, TALLY_NOT_READY);
	g_assert_cmpint(read_later(src, 3), ==, TALLY_OK);
	g_assert_cmpuint(value_of(src, set, "typed_uint32").u64, ==, fake_perf_script(1, tick));
	g_assert_cmpuint(value_of(src, set, "typed_uint64").u64 & 0xffffffff, ==,
			 fake_perf_script(2, tick));
	g_assert_cmpfloat(value_of(src, set, "typed_float").f64, ==,
			  (double)((float)fake_perf_script(3, tick) / 8));
	g_assert_cmpfloat(value_of(src, set, "typed_double").f64, ==,
			  (double)fake_perf_script(4, tick) / 16);
	g_assert_cmpuint(value_of(src, set, "typed_bool").u64, ==,
			 fake_perf_script(5, tick) & 1);
	g_assert_cmpuint(value_of(src, set, "hardware_draws").u64, ==, 7);
	g_assert_cmpuint(value_of(src, set, "hardware_vertices").u64, ==, 21);
	finish(src, 0);
}

/* Both queries of the document, whole. */
static void
test_old_dialect(void)
{
	struct tally_source *src = open_source("ext=old", "all", NULL);
	uint32_t hardware = set_named(src, "Intel_GT_Hardware_Counters");
	uint32_t pipeline = set_named(src, "Intel_Pipeline_Query");
	g_assert_cmpuint(src->n_sets, ==, 2);
	g_assert_cmpuint(src->sets[hardware]->layout.n_counters, ==, 38);
	g_assert_cmpuint(src->sets[pipeline]->layout.n_counters, ==, 6);
	g_assert_null(src->ops->serialized_by(src));
	for (uint32_t set = 0; set < 2; set++) {
		src->set = set;
		frame(src);
		count(src, set, 2);
		g_assert_cmpint(read_later(src, set), ==, TALLY_OK);
		for (uint32_t i = 0; i < src->sets[set]->layout.n_counters; i++)
			g_assert_true(is_valid(&reading, i));
	}
	finish(src, 0);
}

/* The standard one takes precedence, and its values are requested with its own enums alone. */
static void
test_both_dialects(void)
{
	struct tally_source *src = open_source("ext=intel+old", "all", NULL);
	g_assert_nonnull(src->ops->serialized_by(src));
	finish(src, 0);
	src = create("ext=amd", "all", NULL);
	g_assert_cmpint(src->ops->open(src, 4), ==, TALLY_UNSUPPORTED);
	g_assert_cmpstr(src->reason, ==, "needs GL_INTEL_performance_query");
	tally_source_destroy(src);
}

static void
test_sets(void)
{
	struct tally_source *src = open_source("ext=intel,sets=5", "all", NULL);
	for (uint32_t i = 0; i < src->n_sets; i++)
		g_assert_null(strstr(src->sets[i]->layout.set, "Raw"));
	g_assert_cmpuint(src->n_sets, >=, 5);
	finish(src, 0);
	src = open_source("ext=intel,sets=5", "overview", NULL);
	g_assert_cmpuint(src->n_sets, <=, 2);
	finish(src, 0);
	src = open_source("ext=intel", "overview", "Pipeline Statistics Registers");
	g_assert_cmpuint(src->n_sets, ==, 1);
	finish(src, 0);
	src = create("ext=intel", "nothing", NULL);
	g_assert_cmpint(src->ops->open(src, 4), ==, TALLY_UNSUPPORTED);
	tally_source_destroy(src);
}

/* Results come late and out of order; a slot is read once a frame. */
static void
test_late(void)
{
	struct tally_source *src = open_source("ext=intel,late=5,shuffle=4", "hardware*", NULL);
	for (uint32_t slot = 0; slot < 8; slot++)
		count(src, slot, slot + 1);
	unsigned got = 0, frames = 0;
	while (got != 0xff && frames++ < 30) {
		frame(src);
		for (uint32_t slot = 0; slot < 8; slot++) {
			if (got & 1u << slot || read_slot(src, slot) == TALLY_NOT_READY)
				continue;
			g_assert_cmpuint(value_of(src, 0, "hardware_draws").u64, ==, slot + 1);
			got |= 1u << slot;
		}
		unsigned reads = fake_perf.tally.reads;
		g_assert_true(got & 1 || read_slot(src, 0) == TALLY_NOT_READY);
		g_assert_cmpuint(fake_perf.tally.reads, ==, reads);
	}
	g_assert_cmpuint(got, ==, 0xff);
	finish(src, 0);
}

/* Another program uses the counters: the first passes show it. Nothing is begun before these:
 * no program counts before it draws, and drivers have crashed and hung at that. */
static void
test_held_by_others(void)
{
	struct tally_source *src = open_source("ext=intel,exclusive=1", "hardware*+n_*", NULL);
	g_assert_cmpuint(fake_perf.tally.begun + fake_perf.tally.created, ==, 0);
	src->set = set_named(src, "Basic");
	for (int i = 0; i < 8; i++) {
		g_assert_false(src->sets_off[src->set]);
		count(src, 0, 1);
		g_assert_cmpint(read_later(src, 0), ==, TALLY_LOST);
	}
	g_assert_true(src->sets_off[set_named(src, "Basic")]);
	g_assert_false(src->sets_off[set_named(src, "Pipeline")]);
	g_assert_false(src->off);
	g_assert_nonnull(strstr(src->reason, "another may ("));
	src->set = set_named(src, "Pipeline");
	count(src, 0, 4);
	g_assert_cmpint(read_later(src, 0), ==, TALLY_OK);
	g_assert_cmpuint(value_of(src, src->set, "n_draw_calls").u64, ==, 4);
	finish(src, 16); /* reported each time it is asked, and asked twice */
}

/* Occasional failures lose only their own slot; a series of failures turns the source off. */
static void
test_failures(void)
{
	struct tally_source *src = open_source("ext=intel,defer_every=3", "hardware*", NULL);
	unsigned lost = 0;
	for (int i = 0; i < 30; i++) {
		count(src, 0, 1);
		lost += read_later(src, 0) == TALLY_LOST;
	}
	g_assert_cmpuint(lost, ==, 10);
	g_assert_false(src->off);
	finish(src, 20);
	src = open_source("ext=intel,error_every=2", "hardware*", NULL);
	for (int i = 0; i < 10; i++) {
		count(src, 0, 1);
		g_assert_cmpint(read_later(src, 0), ==, i % 2 ? TALLY_LOST : TALLY_OK);
	}
	finish(src, 5);
}

/* Mesa: no begin while results of another set are unread. The source learns this from the first
 * failure; from then on it makes no begin that would fail, and each set counts in its turn. */
static void
test_one_set(void)
{
	struct tally_source *sources[1] = { create("ext=intel,sets=4,one_set=1,late=2", "turn*",
						   NULL) };
	struct tally_source *src = sources[0];
	struct tally_harvest *h = tally_harvest_create(sources, 1, 8, 64);
	uint32_t n, slots[8] = { 0 };
	unsigned counted[8] = { 0 }, errors_at_half = 0;
	tally_harvest_sets(h, &n);
	g_assert_cmpuint(n, >=, 3);
	for (uint64_t turn = 0; turn < 400; turn++) {
		const char *name = tally_harvest_frame(h, turn)->set;
		slots[turn % 8] = tally_harvest_begin(h);
		g_assert_true(tally_harvest_layout(h, slots[turn % 8])->layout.set == name);
		tally_harvest_end(h, slots[turn % 8]);
		tally_harvest_gap(h);
		tally_harvest_frame_end(h);
		fake_perf_tick();
		if (turn == 200)
			errors_at_half = fake_perf.tally.errors;
		if (turn < 7)
			continue;
		uint32_t slot = slots[(turn + 1) % 8];
		const struct tally_counter_set *set = tally_harvest_layout(h, slot);
		clear(&reading);
		if (tally_harvest_read(h, slot, &reading.sample) != TALLY_OK ||
		    !is_valid(&reading, 0))
			continue;
		for (uint32_t i = 0; i < src->n_sets; i++)
			counted[i] += strcmp(src->sets[i]->layout.set, set->layout.set) == 0;
	}
	for (uint32_t i = 0; i < src->n_sets; i++)
		g_assert_cmpuint(counted[i], >, 40);
	g_assert_cmpuint(fake_perf.tally.errors, ==, errors_at_half);
	g_assert_cmpuint(fake_perf.tally.waits, ==, 0);
	g_assert_false(src->off);
	tally_harvest_destroy(h, true);
}

/* Five sets and nothing that prevents a begin: each is counted in every fifth frame. */
static void
test_rotation(void)
{
	struct tally_source *src = create("ext=intel,sets=6,late=2", "turn*", NULL);
	struct tally_harvest *h = tally_harvest_create(&src, 1, 8, 64);
	unsigned counted[8] = { 0 };
	uint32_t slots[8], n;
	tally_harvest_sets(h, &n);
	g_assert_cmpuint(n, ==, src->n_sets);
	for (uint64_t turn = 0; turn < 100 * n + 8; turn++) {
		uint32_t *slot = &slots[turn % 8];
		if (turn >= 8) {
			const struct tally_counter_set *set = tally_harvest_layout(h, *slot);
			clear(&reading);
			g_assert_cmpint(tally_harvest_read(h, *slot, &reading.sample), ==,
					TALLY_OK);
			for (uint32_t i = 0; i < set->layout.n_counters; i++)
				g_assert_true(is_valid(&reading, i));
			counted[(turn - 8) % n]++;
			g_assert_cmpstr(set->layout.set, ==,
					src->sets[(turn - 8) % n]->layout.set);
		}
		tally_harvest_frame(h, turn);
		*slot = tally_harvest_begin(h);
		tally_harvest_end(h, *slot);
		fake_perf_tick();
		tally_harvest_gap(h);
		tally_harvest_frame_end(h);
	}
	for (uint32_t i = 0; i < n; i++)
		g_assert_cmpuint(counted[i], ==, 100);
	tally_harvest_destroy(h, true);
	g_assert_cmpuint(fake_perf.tally.errors, ==, 0);
}

static void
test_yield(void)
{
	struct tally_source *src = open_source("ext=intel,late=4", "hardware*", NULL);
	count(src, 0, 5);
	src->ops->begin(src, 1);
	g_assert_true(src->ops->yield(src, TALLY_GL_USE_COUNTERS));
	g_assert_false(src->ops->yield(src, TALLY_GL_USE_COUNTERS));
	src->ops->end(src, 1);
	g_assert_cmpint(read_slot(src, 1), ==, TALLY_OK);
	g_assert_cmpuint(reading.sample.flags, ==, TALLY_FLAG(YIELDED));
	g_assert_false(is_valid(&reading, 0));
	count(src, 2, 1);
	g_assert_cmpint(read_slot(src, 2), ==, TALLY_OK);
	g_assert_cmpuint(reading.sample.flags, ==, TALLY_FLAG(YIELDED));
	/* Outstanding queries are given up: none of the source's queries may keep the game's
	 * set from beginning. */
	g_assert_cmpint(read_slot(src, 0), ==, TALLY_OK);
	g_assert_cmpuint(reading.sample.flags, ==, TALLY_FLAG(YIELDED));
	g_assert_false(is_valid(&reading, 0));
	for (int i = 0; i < 8; i++) {
		fake_perf_tick();
		/* Asks again, in any frame. */
		g_assert_false(src->ops->yield(src, TALLY_GL_USE_COUNTERS));
	}
	fake_perf_report(NULL);
	g_assert_cmpuint(fake_perf.tally.leaks, ==, 0); /* all are deleted, none by waiting */
	finish(src, 0);
}

static bool landed;

static void
make_stamps(int n, unsigned *ids)
{
	for (int i = 0; i < n; i++)
		ids[i] = 7;
}

static void
delete_stamps(int n, const unsigned *ids)
{
	g_assert_cmpint(n, ==, 1);
	g_assert_cmpuint(ids[0], ==, 7);
}

static void
stamp(unsigned id, unsigned target)
{
	g_assert_cmpuint(id, ==, 7);
	g_assert_cmphex(target, ==, 0x8E28);
	landed = false;
}

static void
ask_stamp(unsigned id, unsigned pname, unsigned *out)
{
	(void)pname;
	g_assert_cmpuint(id, ==, 7);
	*out = landed;
}

/* The GPU is lost: Mesa would wait for ever in any call for a result, so none is made before there
 * is a sign that the work before it was done. */
static void
test_yield_when_lost(void)
{
	struct tally_source *src = create("ext=intel,late=1", "hardware*", NULL);
	api.GenQueries = make_stamps;
	api.DeleteQueries = delete_stamps;
	api.QueryCounter = stamp;
	api.GetQueryObjectuiv = ask_stamp;
	g_assert_cmpint(src->ops->open(src, 8), ==, TALLY_OK);
	count(src, 0, 5);
	g_assert_true(src->ops->yield(src, TALLY_GL_USE_COUNTERS));
	for (int i = 0; i < 8; i++) {
		frame(src);
		src->ops->yield(src, i % 2 ? TALLY_GL_USE_BEGINS : TALLY_GL_USE_COUNTERS);
	}
	g_assert_cmpuint(fake_perf.tally.reads, ==, 0);
	landed = true;
	src->ops->yield(src, TALLY_GL_USE_COUNTERS);
	g_assert_cmpuint(fake_perf.tally.reads, ==, 1);
	finish(src, 0);
}

/* Frames of four intervals of `draws` each, for which the sets take turns; each gives true
 * values or none. Returns how many gave values. */
static unsigned
run_frames(struct tally_source *src, unsigned n)
{
	unsigned values = 0;
	for (unsigned i = 0; i < n; i++) {
		uint32_t set = i % src->n_sets;
		src->set = set;
		for (uint32_t slot = 0; slot < 4; slot++)
			count(src, slot, slot + 1);
		for (uint32_t slot = 0; slot < 4; slot++) {
			enum tally_status status = read_later(src, slot);
			g_assert_cmpint(status, !=, TALLY_NOT_READY);
			if (status != TALLY_OK || reading.valid[0] == 0)
				continue;
			const struct tally_layout *layout = &src->sets[set]->layout;
			for (uint32_t k = 0; k < layout->n_counters; k++) {
				bool draws = strstr(layout->counters[k]->key, "draw");
				if (draws)
					g_assert_cmpuint(reading.values[k].u64, ==, slot + 1);
			}
			values++;
		}
	}
	return values;
}

/* If any single call fails once, only its interval is lost: nothing waits, nothing is begun
 * inside another, and nothing is left over. The calls after these delete. */
static void
test_error_at_each_call(void)
{
	for (unsigned at = 1; at <= 200; at++) {
		char config[64];
		snprintf(config, sizeof(config), "ext=intel,sets=2,late=5,error_at=%u", at);
		struct tally_source *src = create(config, "all", NULL);
		if (src->ops->open(src, 8) != TALLY_OK) {
			tally_source_destroy(src);
			continue;
		}
		g_test_message("call %u fails, %u sets", at, src->n_sets);
		unsigned values = run_frames(src, 12);
		g_test_message("%u values, %s", values, src->reason);
		g_assert_true(values >= 40 || src->reason[0] || src->n_sets < 3);
		finish(src, fake_perf.tally.errors);
	}
}

static void
test_describe(void)
{
	static const struct {
		const char *ext, *name, *text, *unit;
		unsigned size, kind, type;
		uint64_t raw_max;
		enum tally_counter_kind want_kind;
		uint32_t bits; /* 0: refused */
	} rows[] = {
		{ "intel", "GPU Time Elapsed", "Time elapsed.", "ns", 8, 0x94f4, 0x94f9,
		  0, TALLY_KIND_DURATION, 64 },
		{ "intel", "GPU Busy", "The percentage of time in which ...", "percent",
		  4, 0x94f0, 0x94fa, 100, TALLY_KIND_RATIO, 32 },
		{ "intel", "Reads", "The number of bytes read.", "bytes", 8, 0x94f3,
		  0x94f9, (UINT64_C(1) << 40) - 1, TALLY_KIND_THROUGHPUT, 40 },
		{ "intel", "old value", "", "1", 8, 0x9407, 0x9403, 0, 0, 0 },
		{ "intel", "narrow", "", "1", 4, 0x94f0, 0x94f9, 0, TALLY_KIND_EVENT,
		  64 },
		{ "intel", "wide float", "", "1", 8, 0x94f0, 0x94fa, 0, 0, 0 },
		{ "intel", "CS AVG Active per Thread",
		  "The average number of cycles per hardware thread run in which ... "
		  "Unit: cycles.",
		  "cycles/thread", 8, 0x94f0, 0x94f9, 0, TALLY_KIND_RATIO, 64 },
		{ "intel", "CS Duration", "Total Compute Shader GPU duration. Unit: us.",
		  "us", 8, 0x94f4, 0x94f9, 0, TALLY_KIND_DURATION, 64 },
		{ "intel", "Clocks", "The total number of ... elapsed. Unit: cycles.",
		  "cycles", 8, 0x94f0, 0x94f9, 0, TALLY_KIND_EVENT, 64 },
		{ "intel", "Threads",
		  "The total number of ... dispatched. Unit: threads.", "1", 8, 0x94f0,
		  0x94f9, 0, TALLY_KIND_EVENT, 64 },
		{ "old", "TotalTime", "Total query time in microseconds.", "us", 8,
		  0x9409, 0x9403, 0, TALLY_KIND_DURATION, 64 },
		{ "old", "GPUBusyTime",
		  "The fraction of time. Usage: to assess the percentage of time", "1", 4,
		  0x9408, 0x9404, 1, TALLY_KIND_RATIO, 32 },
		{ "old", "X",
		  "The average (per thread invocation) number of render clock cycles",
		  "cycles/thread", 4, 0x9409, 0x9402, 0, TALLY_KIND_DURATION, 32 },
		{ "old", "CoreFrequency", "The GFX Cores frequency in Hz", "hertz", 8,
		  0x940b, 0x9403, 0, TALLY_KIND_RAW, 64 },
		{ "old", "SplitOccured", "BOOL flag", "1", 4, 0x9407, 0x9406, 0,
		  TALLY_KIND_EVENT, 1 },
		{ "old", "gap", "", "1", 8, 0x9407, 0x9405, 0, 0, 0 },
		{ "old", "new value", "", "1", 8, 0x94f0, 0x94f9, 0, 0, 0 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		char config[16];
		struct tally_intel_said said = { .size = rows[i].size,
						 .kind = rows[i].kind,
						 .type = rows[i].type,
						 .raw_max = rows[i].raw_max };
		struct tally_intel_field field;
		struct tally_counter c;
		g_test_message("%s", rows[i].name);
		g_snprintf(config, sizeof(config), "ext=%s", rows[i].ext);
		g_assert_true(fake_perf_configure(config));
		fake_perf_fill_api(&api);
		g_strlcpy(said.name, rows[i].name, sizeof(said.name));
		g_strlcpy(said.text, rows[i].text, sizeof(said.text));
		bool fine = tally_intel_describe(tally_intel_dialect_of(&api), &said,
						 &field, &c);
		g_assert_cmpint(fine, ==, rows[i].bits != 0);
		if (!fine)
			continue;
		g_assert_cmpstr(c.unit, ==, rows[i].unit);
		g_assert_cmpint(c.kind, ==, rows[i].want_kind);
		g_assert_cmpuint(c.width_bits, ==, rows[i].bits);
	}
}

static void
test_decode(void)
{
	static const unsigned char data[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0xc0, 0x7f, 9 };
	struct tally_value value;
	struct tally_intel_field field = { 4, 4, TALLY_INTEL_UINT64 };
	g_assert_true(tally_intel_decode(&field, data, 8, &value));
	g_assert_cmphex(value.u64, ==, GUINT32_FROM_LE(0x08070605u));
	g_assert_false(tally_intel_decode(&field, data, 7, &value)); /* it ends outside */
	field.offset = 4000000000u;
	g_assert_false(tally_intel_decode(&field, data, 16, &value));
	field = (struct tally_intel_field){ 8, 4, TALLY_INTEL_FLOAT };
	g_assert_false(tally_intel_decode(&field, data, 16, &value)); /* not a number */
	field.type = TALLY_INTEL_BOOL32;
	g_assert_true(tally_intel_decode(&field, data, 16, &value));
	g_assert_cmpuint(value.u64, ==, 1);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/gl_intel/many-gaps", test_many_gaps);
	g_test_add_func("/gl_intel/types", test_types);
	g_test_add_func("/gl_intel/old_dialect", test_old_dialect);
	g_test_add_func("/gl_intel/both_dialects", test_both_dialects);
	g_test_add_func("/gl_intel/sets", test_sets);
	g_test_add_func("/gl_intel/late", test_late);
	g_test_add_func("/gl_intel/held_by_others", test_held_by_others);
	g_test_add_func("/gl_intel/failures", test_failures);
	g_test_add_func("/gl_intel/one_set", test_one_set);
	g_test_add_func("/gl_intel/rotation", test_rotation);
	g_test_add_func("/gl_intel/yield", test_yield);
	g_test_add_func("/gl_intel/yield_when_lost", test_yield_when_lost);
	g_test_add_func("/gl_intel/error_at_each_call", test_error_at_each_call);
	g_test_add_func("/gl_intel/describe", test_describe);
	g_test_add_func("/gl_intel/decode", test_decode);
	return g_test_run();
}

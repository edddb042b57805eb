/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <math.h>
#include <string.h>

#include "query/gl/amd_catalogue.h"
#include "query/gl/amd_result.h"
#include "query/source/harvest.h"
#include "tests/fake_gl/perf.h"
#include "tests/unit/query/harvest_reading.h"

#define MAX_VALUES 64

static struct tally_value values[MAX_VALUES];
static uint64_t valid;
static struct tally_gl_api api;

static struct tally_source *
create(const char *config, const char *wanted)
{
	g_assert_true(fake_perf_configure(config));
	fake_perf_fill_api(&api);
	struct tally_source *src = tally_gl_amd_create(&api);
	g_assert_nonnull(src);
	src->wanted = wanted;
	return src;
}

static struct tally_source *
open_source(const char *config, const char *wanted)
{
	struct tally_source *src = create(config, wanted);
	enum tally_status status = src->ops->open(src, 4);
	g_test_message("reason: %s", src->reason);
	g_assert_cmpint(status, ==, TALLY_OK);
	src->wanted = NULL;
	return src;
}

static enum tally_status
read_slot(struct tally_source *src, uint32_t slot, struct tally_sample *out)
{
	valid = 0;
	memset(values, 0x55, sizeof(values));
	*out = (struct tally_sample){ .values = values, .valid = &valid, .n = src->n_counters };
	return src->ops->read(src, slot, out);
}

static void
finish(struct tally_source *src, unsigned errors)
{
	src->ops->close(src);
	g_assert_null(src->counters);
	tally_source_destroy(src);
	fake_perf_report(NULL);
	g_assert_cmpstr(fake_perf.tally.last_misuse, ==, "");
	g_assert_cmpuint(fake_perf.tally.misuse, ==, 0);
	g_assert_cmpuint(fake_perf.tally.waits, ==, 0);
	g_assert_cmpuint(fake_perf.tally.nested, ==, 0);
	g_assert_cmpuint(fake_perf.tally.leaks, ==, 0);
	g_assert_cmpuint(fake_perf.tally.errors, ==, errors);
	g_assert_cmpuint(fake_perf.error, ==, 0);
}

static void
count(struct tally_source *src, uint32_t slot, unsigned draws)
{
	src->ops->begin(src, slot);
	fake_perf_work(draws, draws * 3);
	src->ops->end(src, slot);
}

/* The index of a key in a set; fails the test where the set does not have it. */
static uint32_t
place_of(const struct tally_source *src, uint32_t set, const char *key)
{
	const struct tally_layout *layout = &src->sets[set]->layout;
	for (uint32_t i = 0; i < layout->n_counters; i++) {
		if (strcmp(layout->counters[i]->key, key) == 0)
			return i;
	}
	g_error("no %s in set %u", key, set);
	return 0;
}

static const struct tally_counter *
counter_of(const struct tally_source *src, const char *key)
{
	for (uint32_t i = 0; i < src->n_counters; i++) {
		if (strcmp(src->counters[i]->key, key) == 0)
			return src->counters[i];
	}
	return NULL;
}

static const struct {
	const char *what, *config, *wanted, *sources;
	uint32_t sets, counters; /* 0 = off */
	const char *reason;      /* a part of it */
} open_cases[] = {
	{ "no extension", "ext=intel", NULL, NULL, 0, 0, "does not offer GL_AMD" },
	{ "a few of each group", "ext=amd", NULL, NULL, 1, 8, "" },
	/* The fifth of its group is the input of a metric. */
	{ "a few of each group, and what metrics need", "ext=amd,adreno", NULL, NULL, 1, 13, "" },
	{ "all", "ext=amd", "all", NULL, 1, 9, "" },
	{ "three turns", "ext=amd,sets=3", "all", NULL, 3, 11, "" },
	/* What the driver refuses is found out by the program's own passes: see test_parts. */
	{ "groups that exclude each other", "ext=amd,sets=3,conflict", "all", NULL, 3, 11, "" },
	{ "text without an end", "ext=amd,no_nul", "all", NULL, 1, 9, "" },
	{ "a group by its name", "ext=amd", "Typed", NULL, 1, 5, "" },
	{ "a key", "ext=amd", "work_draws", NULL, 1, 1, "" },
	{ "a glob", "ext=amd,sets=5", "turns_turn_*", NULL, 5, 5, "" },
	{ "a name", "ext=amd", "typed FLOAT", NULL, 1, 1, "" },
	{ "none", "ext=amd", "gpu_cycles", NULL, 0, 0, "--counters gpu_cycles" },
	{ "Intel", "ext=amd,vendor=Intel", NULL, NULL, 0, 0, "name gl-amd in --sources" },
	/* One group per set: the driver would read the others out of the first one's report. */
	{ "Intel, asked for", "ext=amd,vendor=Intel", NULL, "gl-amd", 4, 8, "" },
	{ "Intel, all", "ext=amd,vendor=Intel", "all", "gl-amd", 4, 9, "" },
	{ "nothing begins", "ext=amd,error_every=1", "all", NULL, 1, 9, "" },
	/* Mesa 25.0's zink crashes at the flush after a monitor without work. */
	{ "zink", "ext=amd,vendor=Mesa zink Vulkan 1.3", "all", "gl-amd", 0, 0, "software" },
};

static void
test_open(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(open_cases); i++) {
		g_test_message("%s", open_cases[i].what);
		struct tally_source *src = create(open_cases[i].config, open_cases[i].wanted);
		api.sources = open_cases[i].sources;
		enum tally_status status = src->ops->open(src, 2);
		g_test_message("reason: %s", src->reason);
		g_assert_cmpint(status, ==,
				open_cases[i].sets ? TALLY_OK : TALLY_UNSUPPORTED);
		g_assert_cmpuint(src->n_sets, ==, open_cases[i].sets);
		g_assert_cmpuint(src->n_counters, ==, open_cases[i].counters);
		g_assert_nonnull(strstr(src->reason, open_cases[i].reason));
		g_assert_cmpint(src->reason[0] == '\0', ==, open_cases[i].reason[0] == '\0');
		uint32_t in_sets = 0;
		for (uint32_t k = 0; k < src->n_sets; k++)
			in_sets += src->sets[k]->layout.n_counters;
		g_assert_cmpuint(in_sets, ==, src->n_counters);
		if (status == TALLY_OK)
			src->ops->close(src);
		tally_source_destroy(src);
		fake_perf_report(NULL);
		/* No program counts before it draws, and drivers have crashed at it. */
		g_assert_cmpuint(fake_perf.tally.begun + fake_perf.tally.created, ==, 0);
		g_assert_cmpuint(fake_perf.error, ==, 0);
		g_assert_cmpuint(fake_perf.tally.leaks + fake_perf.tally.waits, ==, 0);
		g_assert_cmpstr(fake_perf.tally.last_misuse, ==, "");
	}
}

/* Names, units and types as the log contains them, and the same pointers for each context. */
static void
test_description(void)
{
	struct tally_source *src = open_source("ext=amd", "all");
	const struct tally_counter *share = counter_of(src, "typed_percentage");
	const struct tally_counter *draws = counter_of(src, "work_draws");
	const struct tally_counter *wide = counter_of(src, "work_vertices");

	g_assert_nonnull(share);
	g_assert_cmpstr(share->name, ==, "Typed percentage");
	g_assert_cmpstr(share->unit, ==, "percent");
	g_assert_cmpint(share->kind, ==, TALLY_KIND_RATIO);
	g_assert_cmpint(share->storage, ==, TALLY_STORAGE_F64);
	g_assert_nonnull(strstr(share->description, "group Typed"));
	g_assert_cmpstr(draws->unit, ==, "1");
	g_assert_cmpstr(draws->source, ==, "gl-amd");
	g_assert_cmpuint(draws->width_bits, ==, 32);
	g_assert_cmpuint(wide->width_bits, ==, 64);
	g_assert_cmpstr(src->sets[0]->layout.set, ==, "gl-amd-1");
	finish(src, 0);
	src = open_source("ext=amd", "all");
	g_assert_true(counter_of(src, "work_draws") == draws);
	finish(src, 0);
}

static void
check_typed(struct tally_source *src, uint64_t tick, unsigned draws)
{
	const struct {
		const char *key;
		enum tally_storage storage;
		uint64_t integer;
		double real;
	} want[] = {
		{ "work_draws", TALLY_STORAGE_U64, draws, 0 },
		{ "work_vertices", TALLY_STORAGE_U64, 3 * (uint64_t)draws, 0 },
		{ "typed_uint", TALLY_STORAGE_U64, fake_perf_script(21, tick), 0 },
		{ "typed_uint64", TALLY_STORAGE_U64,
		  fake_perf_script(22, tick) | UINT64_C(22) << 40, 0 },
		{ "typed_float", TALLY_STORAGE_F64, 0, (double)fake_perf_script(23, tick) / 8 },
		{ "typed_percentage", TALLY_STORAGE_F64, 0,
		  (double)(fake_perf_script(24, tick) % 801) / 8 },
		{ "typed_wrap", TALLY_STORAGE_U64, fake_perf_script(25, tick), 0 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(want); i++) {
		uint32_t at = place_of(src, 0, want[i].key);
		g_test_message("%s", want[i].key);
		g_assert_true(valid & UINT64_C(1) << at);
		g_assert_cmpint(values[at].storage, ==, want[i].storage);
		if (want[i].storage == TALLY_STORAGE_U64)
			g_assert_cmpuint(values[at].u64, ==, want[i].integer);
		else
			g_assert_cmpfloat(values[at].f64, ==, want[i].real);
	}
}

/* Each type, in each order of records, whatever size the driver is given. */
static void
test_values(void)
{
	static const char *const configs[] = {
		"ext=amd", "ext=amd,backwards", "ext=amd,ignore_size=0", "ext=amd,late=3",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(configs); i++) {
		struct tally_source *src = open_source(configs[i], "all");
		struct tally_sample out;
		g_test_message("%s", configs[i]);
		for (uint64_t tick = 0; tick < 40; tick++) {
			count(src, 1, 5 + (unsigned)tick);
			uint64_t begun = fake_perf.now.tick;
			while (read_slot(src, 1, &out) == TALLY_NOT_READY)
				fake_perf_tick();
			g_assert_cmpuint(fake_perf.now.tick - begun, ==,
					 fake_perf.config.late);
			g_assert_cmpuint(out.flags, ==, 0);
			check_typed(src, begun, 5 + (unsigned)tick);
		}
		g_assert_cmpuint(fake_perf.tally.begun, ==, 40);
		finish(src, 0);
	}
}

/* Results come in a different order than requested, and slots keep the set with which they
 * began. */
static void
test_late_and_shuffled(void)
{
	struct tally_source *src = open_source("ext=amd,sets=3,late=2,shuffle=2", "all");
	struct tally_sample out;
	uint64_t begun[4];

	g_assert_cmpint(src->ops->grow(src, 8), ==, TALLY_OK);
	for (uint32_t slot = 0; slot < 4; slot++) {
		src->set = slot % 3;
		begun[slot] = fake_perf.now.tick;
		count(src, slot, slot);
	}
	src->set = TALLY_NO_SET;
	count(src, 4, 9);
	g_assert_cmpint(read_slot(src, 4, &out), ==, TALLY_OK);
	g_assert_cmpuint(valid, ==, 0);
	g_assert_cmpuint(out.flags, ==, 0);
	fake_perf_tick();
	fake_perf_tick();
	static const char *const keys[] = { "turns_turn_0", "turns_turn_1", "turns_turn_2" };
	unsigned ready = 0;
	for (uint32_t slot = 0; slot < 4; slot++) {
		enum tally_status status = read_slot(src, slot, &out);
		ready += status == TALLY_OK;
		g_assert_cmpint(status == TALLY_NOT_READY || status == TALLY_OK, !=, 0);
		if (status == TALLY_NOT_READY) {
			fake_perf_tick();
			fake_perf_tick();
			g_assert_cmpint(read_slot(src, slot, &out), ==, TALLY_OK);
		}
		uint32_t at = place_of(src, slot % 3, keys[slot % 3]);
		g_assert_true(valid & UINT64_C(1) << at);
		uint64_t script = fake_perf_script(31 + slot % 3, begun[slot]);
		if (slot % 3 == 2)
			g_assert_cmpfloat(values[at].f64, ==, (double)script / 8);
		else
			g_assert_cmpuint(values[at].u64 & 0x7fffffff, ==, script);
	}
	g_assert_cmpuint(ready, >=, 1);
	finish(src, 0);
}

/* The outer interval has the counters, the inner one none. */
static void
test_nested(void)
{
	struct tally_source *src = open_source("ext=amd", "all");
	struct tally_sample out;

	src->ops->begin(src, 0);
	fake_perf_work(1, 3);
	count(src, 1, 2);
	src->ops->end(src, 0);
	fake_perf_tick();
	g_assert_cmpint(read_slot(src, 1, &out), ==, TALLY_OK);
	g_assert_cmpuint(valid, ==, 0);
	g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_OK);
	g_assert_cmpuint(values[place_of(src, 0, "work_draws")].u64, ==, 3);
	finish(src, 0);
}

/* A begin that fails loses its values; when all fail, the source gives up and reports it. */
static void
test_refused(void)
{
	struct tally_source *src = open_source("ext=amd", "all");
	struct tally_sample out;
	unsigned lost = 0;

	fake_perf.config.error_every = 3;
	for (unsigned i = 0; i < 60; i++) {
		count(src, 0, i);
		fake_perf_tick();
		enum tally_status status = read_slot(src, 0, &out);
		lost += status == TALLY_LOST;
		g_assert_cmpint(status == TALLY_LOST, ==, (out.flags & TALLY_FLAG(LOST)) != 0);
		if (status == TALLY_OK)
			g_assert_cmpuint(values[place_of(src, 0, "work_draws")].u64, ==, i);
	}
	g_assert_cmpuint(lost, >, 10);
	g_assert_false(src->off);
	fake_perf.config.error_every = 1;
	for (unsigned i = 0; i < 40 && !src->off; i++) {
		count(src, 0, i);
		g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_LOST);
	}
	g_assert_true(src->off);
	g_assert_nonnull(strstr(src->reason, "0x0502"));
	unsigned calls = fake_perf.tally.calls;
	count(src, 0, 1); /* still under the set's name */
	g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_LOST);
	g_assert_cmpuint(valid, ==, 0);
	src->set = TALLY_NO_SET;
	count(src, 0, 1);
	g_assert_cmpint(read_slot(src, 0, &out), ==, TALLY_OK);
	g_assert_cmpuint(valid, ==, 0);
	g_assert_cmpuint(fake_perf.tally.calls, ==, calls);
	unsigned errors = fake_perf.tally.errors;
	finish(src, errors);
}

/* A driver that begins less than its groups allow: the set is counted in parts, each in its
 * frames, and every pass without all values is flagged. */
static void
test_parts(void)
{
	struct tally_source *src = open_source("ext=amd,sets=3,conflict", "all");
	struct tally_sample out;
	uint64_t seen = 0;
	unsigned lost = 0;

	for (unsigned i = 0; i < 40; i++) {
		count(src, 0, i);
		fake_perf_tick();
		enum tally_status status = read_slot(src, 0, &out);
		lost += status == TALLY_LOST;
		g_assert_cmpuint(out.flags, ==, status == TALLY_LOST ? TALLY_FLAG(LOST)
								     : TALLY_FLAG(DROPPED));
		g_assert_cmpint(valid == 0, ==, status == TALLY_LOST);
		seen |= valid;
		src->frame++;
	}
	g_assert_cmphex(seen, ==, (1u << src->sets[0]->layout.n_counters) - 1);
	g_assert_cmpuint(lost, <=, 4);
	g_assert_nonnull(strstr(src->reason, "in parts"));
	g_assert_false(src->off);
	finish(src, fake_perf.tally.errors);
}

/* Mesa's Intel drivers: no begin while results of another set are unread. The source learns this
 * from the first refusal; from then on none is refused, and each set counts in its turn. */
static void
test_one_set(void)
{
	struct tally_source *src = create("ext=amd,vendor=Intel,one_set=1,late=2", "all");
	api.sources = "gl-amd";
	struct tally_harvest *h = tally_harvest_create(&src, 1, 8, 64);
	static struct reading reading;
	unsigned counted[8] = { 0 }, dropped = 0, errors_at_half = 0;
	uint32_t n, slots[8] = { 0 };

	tally_harvest_sets(h, &n);
	g_assert_cmpuint(n, ==, 4);
	for (uint64_t turn = 0; turn < 400; turn++) {
		tally_harvest_frame(h, turn);
		slots[turn % 8] = tally_harvest_begin(h);
		fake_perf_work(1, 3);
		tally_harvest_end(h, slots[turn % 8]);
		tally_harvest_gap(h);
		tally_harvest_frame_end(h);
		fake_perf_tick();
		if (turn == 200)
			errors_at_half = fake_perf.tally.errors;
		uint32_t slot = slots[(turn + 1) % 8];
		if (turn < 7)
			continue;
		const struct tally_counter_set *set = tally_harvest_layout(h, slot);
		clear(&reading);
		tally_harvest_read(h, slot, &reading.sample);
		dropped += (reading.sample.flags & TALLY_FLAG(DROPPED)) != 0;
		for (uint32_t i = 0; i < n && is_valid(&reading, 0); i++)
			counted[i] += set->layout.set == src->sets[i]->layout.set;
	}
	for (uint32_t i = 0; i < n; i++)
		g_assert_cmpuint(counted[i], >, 40);
	g_assert_cmpuint(dropped, >, 0);
	g_assert_cmpuint(fake_perf.tally.errors, ==, errors_at_half);
	g_assert_cmpuint(fake_perf.tally.waits, ==, 0);
	tally_harvest_destroy(h, true);
}

/* The game uses monitors: it gets the first name, and none of the source's remain. */
static void
test_yield(void)
{
	struct tally_source *src = open_source("ext=amd,late=2", "all");
	struct tally_sample out;
	unsigned name = 0;

	count(src, 0, 1);
	src->ops->begin(src, 1);
	g_assert_true(src->ops->yield(src, TALLY_GL_USE_MONITORS));
	g_assert_false(src->ops->yield(src, TALLY_GL_USE_MONITORS));
	api.GenPerfMonitorsAMD(1, &name);
	g_assert_cmpuint(name, ==, 1);
	unsigned calls = fake_perf.tally.calls;
	src->ops->end(src, 1);
	count(src, 2, 1);
	for (uint32_t slot = 0; slot < 3; slot++) {
		g_assert_cmpint(read_slot(src, slot, &out), ==, TALLY_OK);
		g_assert_cmpuint(valid, ==, 0);
		g_assert_cmpuint(out.flags, ==, TALLY_FLAG(YIELDED));
	}
	g_assert_cmpuint(fake_perf.tally.calls, ==, calls);
	api.DeletePerfMonitorsAMD(1, &name);
	finish(src, 0);
}

/* The context is gone: no more calls are made. */
static void
test_abandon(void)
{
	struct tally_source *src = open_source("ext=amd", "all");

	count(src, 0, 1);
	src->ops->begin(src, 1);
	unsigned calls = fake_perf.tally.calls;
	src->ops->abandon(src);
	g_assert_cmpuint(fake_perf.tally.calls, ==, calls);
	tally_source_destroy(src);
}

/* Whichever call fails, nothing breaks and nothing is waited for. */
static void
test_any_call_fails(void)
{
	for (unsigned at = 1; at < 160; at++) {
		char config[64];
		g_snprintf(config, sizeof(config), "ext=amd,sets=2,error_at=%u", at);
		struct tally_source *src = create(config, "all");
		struct tally_sample out;
		if (src->ops->open(src, 4) == TALLY_OK) {
			for (uint32_t i = 0; i < 8; i++) {
				src->set = i % src->n_sets;
				count(src, i % 4, 1);
				fake_perf_tick();
				for (int late = 0; late < 4; late++) {
					if (read_slot(src, i % 4, &out) != TALLY_NOT_READY)
						break;
					fake_perf_tick();
				}
				src->ops->gap(src);
			}
			src->ops->close(src);
		}
		tally_source_destroy(src);
		g_assert_cmpuint(fake_perf.tally.waits, ==, 0);
	}
}

static void
test_serialized_by(void)
{
	static const struct {
		const char *driver;
		bool told;
	} rows[] = {
		{ "AMD AMD Radeon RX 6800 (radeonsi, navi21, LLVM 15.0.7, DRM 3.54)", true },
		{ "AMD AMD Radeon RX 580 Series (polaris10, LLVM 15.0.6, DRM 3.49)", true },
		{ "freedreno FD640", false },
		{ NULL, false },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct tally_source *src = create("ext=amd", NULL);
		api.driver = rows[i].driver;
		g_assert_cmpint(src->ops->serialized_by(src) != NULL, ==, rows[i].told);
		tally_source_destroy(src);
	}
}

/* ---- a driver that begins anything: groups of 150 counters ---- */

#define WIDE_COUNTERS 150u

static unsigned n_wide_groups;

static void
wide_groups(int *n, int size, unsigned *ids)
{
	if (n)
		*n = (int)n_wide_groups;
	for (unsigned i = 0; ids && i < (unsigned)size; i++)
		ids[i] = i;
}

static void
wide_counters(unsigned group, int *n, int *most, int size, unsigned *ids)
{
	(void)group;
	*n = *most = WIDE_COUNTERS;
	for (unsigned i = 0; ids && i < (unsigned)size; i++)
		ids[i] = i;
}

static void
wide_group_name(unsigned group, int size, int *length, char *text)
{
	*length = g_snprintf(text, (gulong)size, "G%u", group);
}

static void
wide_counter_name(unsigned group, unsigned counter, int size, int *length, char *text)
{
	*length = g_snprintf(text, (gulong)size, "wide %u %u", group, counter);
}

static void
wide_info(unsigned group, unsigned counter, unsigned pname, void *data)
{
	static const uint32_t range[2] = { 0, UINT32_MAX };
	const unsigned type = 0x1405; /* GL_UNSIGNED_INT */

	(void)group;
	(void)counter;
	if (pname == 0x8BC0) /* GL_COUNTER_TYPE_AMD */
		memcpy(data, &type, sizeof(type));
	else
		memcpy(data, range, sizeof(range));
}

static void
wide_select(unsigned monitor, unsigned char enable, unsigned group, int n, unsigned *counters)
{
	(void)monitor;
	(void)enable;
	(void)group;
	(void)n;
	(void)counters;
}

/* A driver may begin a set and then write past its own buffers (Mesa's freedreno); radeonsi has
 * more counters than are listed, and what is left out for that is reported as that. */
static void
test_ceiling(void)
{
	const struct {
		const char *driver;
		unsigned groups;
		uint32_t counters, sets, most;
		const char *reason;
	} rows[] = {
		{ "freedreno FD660", 2, 300, 4, 96, "" },
		{ "Intel Mesa Intel(R) UHD Graphics", 2, 300, 2, 150, "" },
		{ "AMD Radeon (radeonsi, raven)", 60, 4096, 43, 96,
		  "4904 counters past the ceiling of 4096, or of 1024 sets, are left out" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct tally_source *src = create("ext=amd", "all");
		api.driver = rows[i].driver;
		n_wide_groups = rows[i].groups;
		api.sources = "gl-amd";
		api.GetPerfMonitorGroupsAMD = wide_groups;
		api.GetPerfMonitorCountersAMD = wide_counters;
		api.GetPerfMonitorGroupStringAMD = wide_group_name;
		api.GetPerfMonitorCounterStringAMD = wide_counter_name;
		api.GetPerfMonitorCounterInfoAMD = wide_info;
		api.SelectPerfMonitorCountersAMD = wide_select;
		g_assert_cmpint(src->ops->open(src, 2), ==, TALLY_OK);
		g_assert_cmpuint(src->n_counters, ==, rows[i].counters);
		g_assert_cmpstr(src->reason, ==, rows[i].reason);
		g_assert_cmpuint(src->n_sets, ==, rows[i].sets);
		for (uint32_t k = 0; k < src->n_sets; k++)
			g_assert_cmpuint(src->sets[k]->layout.n_counters, <=, rows[i].most);
		src->ops->close(src);
		tally_source_destroy(src);
	}
}

/* ---- numbers that no driver can mean ---- */

#define F_OVER TALLY_FLAG(OVERFLOW)
#define F_LOST TALLY_FLAG(LOST)

static const struct {
	const char *what;
	enum tally_amd_type type;
	float number;
	bool ranged; /* 0 to 100, by the driver */
	bool valid;
	uint64_t flag;
} float_cases[] = {
	{ "half", TALLY_AMD_PERCENTAGE, 50.0f, true, true, 0 },
	{ "none", TALLY_AMD_PERCENTAGE, 0.0f, true, true, 0 },
	{ "all, rounded up", TALLY_AMD_PERCENTAGE, 100.05f, true, true, 0 },
	{ "past the driver's range", TALLY_AMD_PERCENTAGE, 101.0f, true, false, F_OVER },
	{ "a count for a percentage", TALLY_AMD_PERCENTAGE, 1e9f, false, false, F_OVER },
	{ "below nothing", TALLY_AMD_PERCENTAGE, -3.0f, false, false, F_OVER },
	{ "an integer's bits", TALLY_AMD_PERCENTAGE, 2.96e-42f, false, false, F_LOST },
	{ "an integer's bits in a number", TALLY_AMD_FLOAT, 2.96e-42f, false, false, F_LOST },
	{ "infinite", TALLY_AMD_FLOAT, (float)INFINITY, false, false, F_LOST },
	{ "large", TALLY_AMD_FLOAT, 1e9f, false, true, 0 },
};

static void
test_impossible(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(float_cases); i++) {
		const struct tally_amd_counter counter = {
			.group = 7,
			.id = 9,
			.type = float_cases[i].type,
			.ranged = float_cases[i].ranged,
			.max = 100.0,
		};
		const struct tally_amd_counter *counters[] = { &counter };
		const struct tally_amd_set set = { .counters = counters, .n = 1 };
		uint32_t record[3] = { 7, 9, 0 };
		memcpy(&record[2], &float_cases[i].number, sizeof(record[2]));
		struct tally_sample out = { .values = values, .valid = &valid, .n = 1 };
		valid = 0;
		tally_amd_decode(&set, record, sizeof(record), &out);
		g_test_message("%s", float_cases[i].what);
		g_assert_cmpint(valid & 1, ==, float_cases[i].valid);
		g_assert_cmpuint(out.flags, ==, float_cases[i].flag);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/gl_amd/open", test_open);
	g_test_add_func("/gl_amd/description", test_description);
	g_test_add_func("/gl_amd/values", test_values);
	g_test_add_func("/gl_amd/late_and_shuffled", test_late_and_shuffled);
	g_test_add_func("/gl_amd/nested", test_nested);
	g_test_add_func("/gl_amd/refused", test_refused);
	g_test_add_func("/gl_amd/parts", test_parts);
	g_test_add_func("/gl_amd/one_set", test_one_set);
	g_test_add_func("/gl_amd/yield", test_yield);
	g_test_add_func("/gl_amd/abandon", test_abandon);
	g_test_add_func("/gl_amd/any_call_fails", test_any_call_fails);
	g_test_add_func("/gl_amd/serialized_by", test_serialized_by);
	g_test_add_func("/gl_amd/ceiling", test_ceiling);
	g_test_add_func("/gl_amd/impossible", test_impossible);
	return g_test_run();
}

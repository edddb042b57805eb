/* SPDX-License-Identifier: MIT */
/* Each allocation of query/ fails once, and afterwards at most a measurement is missing.
 *
 * Linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc. */
#include <glib.h>
#include <string.h>

#include "query/source/harvest.h"
#include "query/source/statistics_catalogue.h"
#include "tests/sources/test_sources.h"
#include "tests/fake_gl/fake_gl_api.h"

#define N_SOURCES 4
#define N_PASSES 12

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

static unsigned fail_at; /* 0 = never */
static unsigned count;

static bool
fails(void)
{
	return fail_at && ++count == fail_at;
}

void *
__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *
__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

struct outcome {
	bool harvest;      /* there was one */
	unsigned measured; /* passes that got a slot */
	unsigned sources_on;
};

static void
measure(struct fake_gl *f, struct tally_harvest *h, struct outcome *outcome)
{
	uint32_t slots[N_PASSES], n;
	struct tally_value values[TALLY_N_STATISTICS + 2];
	const struct tally_source_info *infos = tally_harvest_sources(h, &n);

	for (uint32_t i = 0; i < n; i++) {
		outcome->sources_on += infos[i].on;
		g_assert_true(infos[i].on || infos[i].reason);
	}
	for (int i = 0; i < N_PASSES; i++) {
		slots[i] = tally_harvest_begin(h);
		if (slots[i] == TALLY_NO_SLOT)
			continue;
		outcome->measured++;
		fake_gl_work(f, 7);
		tally_harvest_end(h, slots[i]);
	}
	fake_gl_complete(f, UINT64_MAX);
	for (int i = 0; i < N_PASSES; i++) {
		uint64_t valid[1] = { 0 };
		struct tally_sample out = { .values = values, .valid = valid };
		if (slots[i] == TALLY_NO_SLOT)
			continue;
		g_assert_cmpint(tally_harvest_read(h, slots[i], &out), ==, TALLY_OK);
		tally_harvest_counters(h, &n);
		g_assert_cmphex(valid[0], ==, (UINT64_C(1) << n) - 1);
	}
}

static struct outcome
run(unsigned failing)
{
	struct outcome outcome = { .harvest = false };
	struct fake_gl f;

	fake_gl_init(&f, false, 46, " ");
	count = 0;
	fail_at = failing;
	struct tally_source *sources[N_SOURCES] = {
		tally_gl_timestamp_create(&f.api),
		tally_gl_statistics_create(&f.api),
		tally_fake_create(&(struct tally_fake_script){ .a_step = 1 }),
		tally_null_create(),
	};
	if (sources[1])
		sources[1]->wanted = "all";
	struct tally_harvest *h = tally_harvest_create(sources, N_SOURCES, 2, 64);
	if (h) {
		outcome.harvest = true;
		measure(&f, h, &outcome);
	}
	tally_harvest_destroy(h, true);
	fail_at = 0;
	g_assert_cmpstr(f.last_misuse, ==, "");
	g_assert_cmpuint(f.stalls, ==, 0);
	g_assert_cmpuint(f.n_names, ==, 0);
	fake_gl_finish(&f);
	return outcome;
}

static void
test_each_allocation_fails(void)
{
	unsigned failing = 1, none = 0, fewer_sources = 0, fewer_passes = 0;

	for (;; failing++) {
		struct outcome o = run(failing);
		if (count < failing)
			break;
		none += !o.harvest;
		fewer_sources += o.harvest && o.sources_on < N_SOURCES;
		fewer_passes += o.harvest && o.measured < N_PASSES;
	}
	g_test_message("%u allocations: without one %u times no harvest, %u times fewer "
		       "sources, "
		       "%u times fewer passes",
		       failing - 1, none, fewer_sources, fewer_passes);
	g_assert_cmpuint(failing, >, 20);
	g_assert_cmpuint(none, >, 0);
	g_assert_cmpuint(fewer_sources, >, 0);
	g_assert_cmpuint(fewer_passes, >, 0);
	struct outcome all = run(0);
	g_assert_true(all.harvest);
	g_assert_cmpuint(all.sources_on, ==, N_SOURCES);
	g_assert_cmpuint(all.measured, ==, N_PASSES);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/torture/query/each-allocation-fails", test_each_allocation_fails);
	return g_test_run();
}

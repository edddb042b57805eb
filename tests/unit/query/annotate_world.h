/* SPDX-License-Identifier: MIT */
/* tests/unit/query/annotate_world.h - a sampler that returns what a test specifies, in place of
 * query/sampler/, and frames with passes to annotate.
 *
 * One thread; include it in one file of a program: it defines the sampler's functions.
 */
#ifndef PASSTALLY_TESTS_UNIT_ANNOTATE_WORLD_H
#define PASSTALLY_TESTS_UNIT_ANNOTATE_WORLD_H

#include "query/attribute/annotate.h"

#include "layer/base/clock.h"
#include "layer/log.h"
#include "query/attribute/annotate_internal.h"

#include <glib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define N_TOTALS 3

/* ---- a sampler that returns what the test specifies ---- */

static const struct tally_counter counter_a = {
	.key = "snap_a", .name = "A", .unit = "1", .source = "snap", .scope = TALLY_SCOPE_DEVICE
};
static const struct tally_counter counter_b = {
	.key = "snap_b", .name = "B", .unit = "1", .source = "snap", .scope = TALLY_SCOPE_DEVICE
};
static const struct tally_counter counter_hidden = {
	.key = "snap_hidden",
	.name = "H",
	.unit = "1",
	.source = "snap",
	.scope = TALLY_SCOPE_DEVICE,
};
static const struct tally_counter *const snap_counters[N_TOTALS] = {
	&counter_a,
	&counter_b,
	&counter_hidden,
};
static uint64_t logged = 3;
static const struct tally_snapshot_ops snap_ops = { .name = "snap" };

struct tally_sampler {
	struct tally_snapshot_source source;
	struct tally_history *history;
	uint64_t number, last_ns, gpu, totals[N_TOTALS];
	bool locked, lost, abandoned;
	unsigned n_covers;
};
static struct tally_sampler snap;
static bool no_sampler, of_state, opening;

/* The next reading: each counter has increased by the given amount. */
static inline void
read_snap(uint64_t time_ns, uint64_t a, uint64_t b, uint64_t unknown, uint64_t flags)
{
	snap.totals[0] += a;
	snap.totals[1] += b;
	snap.totals[2] += a + b;
	struct tally_reading reading = {
		.first = snap.number + 1,
		.number = ++snap.number,
		.time_ns = time_ns,
		.totals = snap.totals,
		.unknown = &unknown,
		.flags = flags,
	};
	snap.last_ns = time_ns;
	g_assert_true(tally_history_add(snap.history, &reading));
}

/* a increases by one each ns, b by one every other ns. */
static inline void
read_steadily(uint64_t time_ns)
{
	uint64_t ns = snap.number ? time_ns - snap.last_ns : 0;
	read_snap(time_ns, ns, time_ns / 2 - (time_ns - ns) / 2, 0, 0);
}

struct tally_sampler *
tally_sampler_create(const struct tally_config *config)
{
	g_assert_cmpint(config->snapshot, !=, TALLY_SNAPSHOT_OFF);
	if (no_sampler)
		return NULL;
	snap = (struct tally_sampler){
		.source = {
			.ops = &snap_ops,
			.counters = snap_counters,
			.n_counters = N_TOTALS,
			.logged = &logged,
			.of_state = of_state,
		},
		.history = tally_history_create(N_TOTALS, 1 << 20),
	};
	return &snap;
}

void
tally_sampler_use_gpu(struct tally_sampler *s, uint64_t pci_number)
{
	s->gpu = pci_number;
}

bool
tally_sampler_is_ready(struct tally_sampler *s)
{
	(void)s;
	return !opening;
}

void
tally_sampler_ready(struct tally_sampler *s)
{
	(void)s;
	opening = false;
}

const struct tally_snapshot_level *
tally_sampler_levels(const struct tally_sampler *s, uint32_t i)
{
	(void)i;
	return s->source.levels;
}

void
tally_sampler_frame_begins(bool captured)
{
	(void)captured;
}

void
tally_sampler_stop(struct tally_sampler *s)
{
	g_assert_false(s->locked);
}

void
tally_sampler_destroy(struct tally_sampler *s)
{
	if (s)
		tally_history_destroy(s->history);
}

void
tally_sampler_abandon(struct tally_sampler *s)
{
	s->abandoned = true;
}

uint32_t
tally_sampler_n_rows(const struct tally_sampler *s)
{
	(void)s;
	return opening ? 0 : 2;
}

struct tally_source_info
tally_sampler_row(const struct tally_sampler *s, uint32_t i)
{
	return i ? (struct tally_source_info){ "other", false, "not here" }
		 : (struct tally_source_info){ "snap", !s->lost, s->lost ? "gone" : NULL };
}

uint32_t
tally_sampler_n_sources(const struct tally_sampler *s)
{
	(void)s;
	return opening ? 0 : 1;
}

const struct tally_snapshot_source *
tally_sampler_source(const struct tally_sampler *s, uint32_t i)
{
	g_assert_cmpuint(i, ==, 0);
	return &s->source;
}

struct tally_history *
tally_sampler_history(struct tally_sampler *s, uint32_t i)
{
	g_assert_cmpuint(i, ==, 0);
	return s->history;
}

void
tally_sampler_lock(struct tally_sampler *s)
{
	g_assert_false(s->locked);
	s->locked = true;
}

void
tally_sampler_unlock(struct tally_sampler *s)
{
	g_assert_true(s->locked);
	s->locked = false;
}

void
tally_sampler_cover(struct tally_sampler *s, uint64_t time_ns)
{
	g_assert_false(s->locked);
	s->n_covers++;
	/* The tests have their own clock: at the end there is nothing more to read. */
	if (!s->lost && s->last_ns < time_ns && time_ns < 1000 * MS)
		read_steadily(time_ns);
}

bool
tally_snapshot_exact(void)
{
	return false;
}

uint64_t
tally_snapshot_take(void)
{
	return TALLY_NO_SNAPSHOT;
}

/* ---- frames ---- */

struct world {
	struct tally_config config;
	struct tally_annotator *annotator;
	struct tally_frame_record frame;
	struct tally_pass_record passes[64];
	struct tally_keyed_value own[64], own_unattributed;
	/* Sums over all frames that were written, by counter. */
	uint64_t passed[2][2], unattributed[2][2];
};

static const struct tally_counter own_counter = {
	.key = "own", .name = "Own", .unit = "1", .source = "gl-x", .storage = TALLY_STORAGE_U64
};
static const struct tally_counter clashing_counter = {
	.key = "snap_b", .name = "B", .unit = "1", .source = "gl-x", .storage = TALLY_STORAGE_U64
};

static inline const struct tally_device_record *
describe_beneath(struct world *w, uint32_t number, const struct tally_counter *counter,
		 int64_t beneath)
{
	const struct tally_counter *counters[] = { counter };
	const struct tally_source_info source = { "gl-x", true, NULL };
	struct tally_device_record info = {
		.device = number,
		.name = "GPU",
		.beneath = beneath,
		.sources = &source,
		.n_sources = 1,
		.counters = counters,
		.n_counters = 1,
	};
	return tally_annotator.device(w->annotator, &info);
}

static inline const struct tally_device_record *
describe(struct world *w, uint32_t number, const struct tally_counter *counter)
{
	return describe_beneath(w, number, counter, -1);
}

static inline struct world *
world_new(enum tally_snapshot snapshot)
{
	struct world *w = g_new0(struct world, 1);
	tally_config_init(&w->config);
	w->config.snapshot = snapshot;
	w->annotator = tally_annotator.create(&w->config);
	g_assert_nonnull(w->annotator);
	describe(w, 0, &own_counter);
	return w;
}

static inline void
world_free(struct world *w)
{
	tally_annotator.destroy(w->annotator);
	tally_config_finish(&w->config);
	g_free(w);
}

static inline void
begin_frame(struct world *w, uint32_t device, uint64_t number, uint64_t start_ns,
	    uint64_t end_ns)
{
	w->own_unattributed = (struct tally_keyed_value){ .key = "own", .value.u64 = 7 };
	w->frame = (struct tally_frame_record){
		.frame = number,
		.device = device,
		.start_ns = start_ns,
		.cpu_ns = end_ns - start_ns,
		.passes = w->passes,
		.unattributed = &w->own_unattributed,
		.n_unattributed = 1,
	};
}

static inline struct tally_pass_record *
add_pass(struct world *w, uint64_t begin_ns, uint64_t end_ns)
{
	uint32_t i = w->frame.n_passes++;
	w->own[i] = (struct tally_keyed_value){ .key = "own", .value.u64 = 100 + i };
	w->passes[i] = (struct tally_pass_record){
		.index = i,
		.has_gpu_start = end_ns > 0,
		.has_gpu = end_ns > 0,
		.gpu_start_ns = begin_ns,
		.gpu_ns = end_ns - begin_ns,
		.counters = &w->own[i],
		.n_counters = 1,
	};
	return &w->passes[i];
}

static inline const struct tally_keyed_value *
find_value(const struct tally_keyed_value *values, uint32_t n, const char *key)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(values[i].key, key) == 0)
			return &values[i];
	return NULL;
}

static inline void
annotate(struct world *w)
{
	static const char *const keys[] = { "snap_a", "snap_b" };
	struct tally_frame_record *f = &w->frame;
	tally_annotator.frame(w->annotator, f, w->passes);
	for (unsigned k = 0; k < 2; k++) {
		for (uint32_t i = 0; i < f->n_passes; i++) {
			const struct tally_keyed_value *v = find_value(
				f->passes[i].counters, f->passes[i].n_counters, keys[k]);
			w->passed[f->device][k] += v ? v->value.u64 : 0;
		}
		const struct tally_keyed_value *v = find_value(
			f->unattributed, f->n_unattributed, keys[k]);
		w->unattributed[f->device][k] += v ? v->value.u64 : 0;
	}
}

static inline void
assert_value(const struct tally_keyed_value *values, uint32_t n, const char *key, uint64_t want,
	     bool estimated)
{
	const struct tally_keyed_value *v = find_value(values, n, key);
	g_assert_nonnull(v);
	g_assert_cmpint(v->value.storage, ==, TALLY_STORAGE_U64);
	g_assert_cmpuint(v->value.u64, ==, want);
	g_assert_cmpint(v->estimated, ==, estimated);
}

static inline void
assert_pass(const struct world *w, uint32_t pass, const char *key, uint64_t want, bool estimated)
{
	const struct tally_pass_record *p = &w->passes[pass];
	assert_value(p->counters, p->n_counters, key, want, estimated);
}

static inline void
assert_unattributed(const struct world *w, const char *key, uint64_t want, bool estimated)
{
	assert_value(w->frame.unattributed, w->frame.n_unattributed, key, want, estimated);
}

static inline bool
has(const struct world *w, uint32_t pass, const char *key)
{
	return find_value(w->passes[pass].counters, w->passes[pass].n_counters, key);
}

/* Drops the devices; returns what the end line reports about a counter. */
static inline struct tally_growth_record
end_run(struct world *w, uint32_t n_devices, uint32_t device, const char *key)
{
	struct tally_end_record end = { 0 };
	for (uint32_t i = 0; i < n_devices; i++)
		tally_annotator.drop_device(w->annotator, i);
	tally_annotator.end(w->annotator, &end);
	for (uint32_t i = 0; i < end.n_growth; i++) {
		const struct tally_growth_record *g = &end.growth[i];
		unsigned k = strcmp(g->key, "snap_a") != 0;
		g_assert_cmpstr(g->source, ==, "snap");
		g_assert_cmpuint(g->growth, ==,
				 w->passed[g->device][k] + w->unattributed[g->device][k] +
					 g->unlogged);
		if (g->device == device && strcmp(g->key, key) == 0)
			return *g;
	}
	return (struct tally_growth_record){ 0 };
}

#endif

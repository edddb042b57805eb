/* SPDX-License-Identifier: MIT */
/* Random sequences of everything that may happen to a harvest, against a model of the expected
 * result: values, times, flags, and not one breach of the GL's rules. */
#include <glib.h>
#include <string.h>

#include "query/source/harvest.h"
#include "query/source/statistics_catalogue.h"
#include "tests/fake_gl/fake_gl_api.h"
#include "tests/unit/query/harvest_reading.h"

#define STEPS 10000
#define MODEL_SLOTS 48
#define DEPTH 3
#define LATE_NS UINT64_C(100000000) /* a loaded machine */

struct model_slot {
	enum { FREE, RUNNING, ENDED, GIVEN_UP } state;
	uint64_t begin_ticks, end_ticks, begin_cpu_ns;
	bool disturbed;             /* the clock was, while a timestamp was in progress */
	uint64_t done_at;           /* command number of its last command */
	uint64_t stamped_at;        /* command number of its last timestamp */
	bool counted[TALLY_N_STATISTICS];
	uint64_t totals[TALLY_N_STATISTICS];
	bool yielded;
	struct reading *reading;
};

struct model {
	struct fake_gl gl;
	uint64_t provisional; /* command number of the timestamp that a gap took; 0 = none */
	uint64_t provisional_ticks;
	bool disturbed_since; /* the clock was disturbed after that timestamp */
	struct tally_harvest *harvest;
	struct tally_source *statistics;
	unsigned which[TALLY_N_STATISTICS]; /* per counter of the harvest */
	uint32_t n_counters;
	struct model_slot slots[MODEL_SLOTS];
	uint32_t open[DEPTH]; /* nested */
	uint32_t depth;
	int holder[TALLY_N_STATISTICS]; /* slot, -1 = none of the harvest's */
	uint64_t last_end_ticks, last_end_cpu_ns;
	bool last_end_disturbed;
	unsigned delivered, timed, valued;
};

static void
check_driver(const struct model *m)
{
	g_assert_cmpstr(m->gl.last_misuse, ==, "");
	g_assert_cmpuint(m->gl.misuse, ==, 0);
	g_assert_cmpuint(m->gl.stalls, ==, 0);
}

/* The innermost running slot did not end at the gap. */
static void
goes_on(struct model *m)
{
	if (m->depth && m->disturbed_since)
		m->slots[m->open[m->depth - 1]].disturbed = true;
	m->provisional = 0;
	m->disturbed_since = false;
}

static void
step_begin(struct model *m)
{
	if (m->depth == DEPTH)
		return;
	unsigned stamps = m->gl.n_stamps;
	uint32_t slot = tally_harvest_begin(m->harvest);
	if (slot == TALLY_NO_SLOT) {
		for (uint32_t i = 0; i < MODEL_SLOTS; i++)
			g_assert_cmpint(m->slots[i].state, !=, FREE);
		return;
	}
	g_assert_cmpuint(slot, <, MODEL_SLOTS);
	struct model_slot *s = &m->slots[slot];
	if (s->state == GIVEN_UP)
		g_assert_cmpuint(s->done_at, <=, m->gl.completed);
	else
		g_assert_cmpint(s->state, ==, FREE);
	bool shared = m->gl.n_stamps == stamps;
	*s = (struct model_slot){
		.state = RUNNING,
		.begin_ticks = shared ? m->last_end_ticks : m->gl.last_ticks,
		.begin_cpu_ns = shared ? m->last_end_cpu_ns : m->gl.last_cpu_ns,
		.disturbed = shared && m->last_end_disturbed,
		.reading = g_new0(struct reading, 1),
	};
	clear(s->reading);
	for (uint32_t i = 0; i < m->n_counters; i++) {
		unsigned which = m->which[i];
		if (m->gl.api.app_active & 1u << which) {
			s->yielded = true;
		} else if (m->holder[which] < 0) {
			m->holder[which] = (int)slot;
			s->counted[i] = true;
			s->totals[i] = m->gl.totals[which];
		}
	}
	goes_on(m);
	m->open[m->depth++] = slot;
}

/* The running slot ends here, if nothing else comes before its end. */
static void
step_gap(struct model *m)
{
	unsigned stamps = m->gl.n_stamps;
	tally_harvest_gap(m->harvest);
	m->last_end_disturbed = false;
	if (m->gl.n_stamps == stamps)
		return;
	goes_on(m); /* a gap before did not end it */
	m->provisional = m->gl.issued;
	m->provisional_ticks = m->gl.last_ticks;
}

static void
step_resume(struct model *m)
{
	tally_harvest_resume(m->harvest);
	goes_on(m);
}

static void
step_end(struct model *m)
{
	if (!m->depth)
		return;
	uint32_t slot = m->open[--m->depth];
	struct model_slot *s = &m->slots[slot];
	tally_harvest_end(m->harvest, slot);
	s->state = ENDED;
	/* One more timestamp follows what others end after the gap. */
	s->end_ticks = m->provisional ? m->provisional_ticks : m->gl.last_ticks;
	m->last_end_ticks = s->end_ticks;
	m->last_end_cpu_ns = m->gl.last_cpu_ns;
	m->last_end_disturbed = false;
	s->done_at = m->gl.issued;
	s->stamped_at = m->provisional ? m->provisional : m->gl.issued;
	m->provisional = 0;
	m->disturbed_since = false;
	for (uint32_t i = 0; i < m->n_counters; i++) {
		if (!s->counted[i])
			continue;
		s->done_at = m->gl.issued; /* its query ended now */
		s->totals[i] = m->gl.totals[m->which[i]] - s->totals[i];
		m->holder[m->which[i]] = -1;
	}
}

static void
step_game(struct model *m, unsigned which)
{
	if (m->gl.api.app_active & 1u << which) {
		fake_gl_game_end(&m->gl, which);
		return;
	}
	fake_gl_game_begin(&m->gl, m->statistics, which);
	if (m->holder[which] < 0)
		return;
	struct model_slot *s = &m->slots[m->holder[which]];
	for (uint32_t i = 0; i < m->n_counters; i++) {
		if (m->which[i] == which)
			s->counted[i] = false;
	}
	s->yielded = true;
	m->holder[which] = -1;
}

static void
step_disturb(struct model *m)
{
	fake_gl_disturb(&m->gl, g_test_rand_int_range(-1000000, 1000000) * INT64_C(1000000));
	for (uint32_t i = 0; i < MODEL_SLOTS; i++) {
		struct model_slot *s = &m->slots[i];
		bool ended_at_gap = m->depth && m->open[m->depth - 1] == i && m->provisional &&
				    m->provisional <= m->gl.completed;
		if (s->state == RUNNING && ended_at_gap)
			m->disturbed_since = true;
		else if (s->state == RUNNING ||
			 (s->state == ENDED && s->stamped_at > m->gl.completed))
			s->disturbed = true;
	}
	m->last_end_disturbed = true;
}

static void
check_sample(struct model *m, const struct model_slot *s)
{
	const struct tally_sample *out = &s->reading->sample;

	m->delivered++;
	g_assert_cmpint((out->flags & TALLY_FLAG(YIELDED)) != 0, ==, s->yielded);
	g_assert_cmpuint(out->flags & TALLY_FLAG(BAD_TIME), ==, 0);
	for (uint32_t i = 0; i < m->n_counters; i++) {
		g_assert_cmpint(is_valid(s->reading, i), ==, s->counted[i]);
		if (!s->counted[i])
			continue;
		g_assert_cmpuint(s->reading->values[i].u64, ==, s->totals[i]);
		m->valued++;
	}
	if (!out->has_time) {
		g_assert_true(m->gl.api.es);
		g_assert_cmpuint(out->flags & TALLY_FLAG(DISJOINT), !=, 0);
		return;
	}
	m->timed++;
	g_assert_false(s->disturbed);
	g_assert_cmpuint(out->end_ns - out->begin_ns, ==, s->end_ticks - s->begin_ticks);
	if (!(out->flags & TALLY_FLAG(UNCALIBRATED))) {
		g_assert_cmpuint(out->begin_ns + LATE_NS, >=, s->begin_cpu_ns);
		g_assert_cmpuint(out->begin_ns, <=, s->begin_cpu_ns + LATE_NS);
	} else if (m->gl.timestamp_bits == 64) {
		g_assert_cmpuint(out->begin_ns, ==, s->begin_ticks);
	}
}

static void
step_read(struct model *m, uint32_t slot)
{
	struct model_slot *s = &m->slots[slot];

	if (s->state != ENDED)
		return;
	enum tally_status status = tally_harvest_read(m->harvest, slot, &s->reading->sample);
	bool done = s->done_at <= m->gl.completed;
	g_assert_cmpint(status, ==, done ? TALLY_OK : TALLY_NOT_READY);
	if (!done)
		return;
	check_sample(m, s);
	g_clear_pointer(&s->reading, g_free);
	s->state = FREE;
}

static void
step_give_up(struct model *m, uint32_t slot)
{
	struct model_slot *s = &m->slots[slot];

	if (s->state != ENDED)
		return;
	tally_harvest_give_up(m->harvest, slot, &s->reading->sample);
	g_assert_false(s->reading->sample.has_time);
	for (uint32_t i = 0; i < m->n_counters; i++)
		g_assert_false(is_valid(s->reading, i));
	g_clear_pointer(&s->reading, g_free);
	s->state = GIVEN_UP;
}

static void
step(struct model *m)
{
	uint32_t slot = (uint32_t)g_test_rand_int_range(0, MODEL_SLOTS);
	int dice = g_test_rand_int_range(0, 100);

	if (dice < 22) {
		step_begin(m);
	} else if (dice < 44) {
		step_end(m);
	} else if (dice < 48) {
		step_gap(m);
	} else if (dice < 50) {
		step_resume(m);
	} else if (dice < 56) {
		step_game(m, (unsigned)g_test_rand_int_range(0, TALLY_N_STATISTICS));
	} else if (dice < 62) {
		fake_gl_work(&m->gl, (uint64_t)g_test_rand_int_range(0, 100000));
	} else if (dice < 72) {
		fake_gl_complete(&m->gl, (uint64_t)g_test_rand_int_range(0, 40));
	} else if (dice < 98) {
		step_read(m, slot);
	} else if (dice < 99) {
		step_give_up(m, slot);
		tally_harvest_retry(m->harvest);
	} else if (m->gl.api.es && g_test_rand_int_range(0, 8) == 0) {
		step_disturb(m);
	}
	check_driver(m);
}

static void
start(struct model *m, const char *wanted)
{
	m->statistics = tally_gl_statistics_create(&m->gl.api);
	m->statistics->wanted = wanted;
	struct tally_source *sources[] = { m->statistics,
					   tally_gl_timestamp_create(&m->gl.api) };
	m->harvest = tally_harvest_create(sources, 2, 2, MODEL_SLOTS);
	const struct tally_counter *const *counters =
		tally_harvest_counters(m->harvest, &m->n_counters);
	for (unsigned which = 0; which < TALLY_N_STATISTICS; which++) {
		m->holder[which] = -1;
		for (uint32_t i = 0; i < m->n_counters; i++) {
			if (strcmp(counters[i]->key, tally_statistics[which].key) == 0)
				m->which[i] = which;
		}
	}
	g_assert_true(tally_harvest_has_time(m->harvest));
	g_assert_cmpuint(m->n_counters, >, 0);
}

static const struct {
	const char *name;
	bool es;
	int version;
	const char *extensions, *wanted;
	unsigned bits;
	bool no_clock, only_32;
} random_cases[] = {
	{ "desktop", false, 46, " ", "all", 64, false, false },
	{ "overview", false, 45, " GL_ARB_pipeline_statistics_query ", NULL, 64, false, false },
	{ "36-bits", false, 46, " ", "overview", 36, false, false },
	{ "36-bits-blind", false, 46, " ", "overview", 36, true, false },
	{ "blind", false, 46, " ", "overview", 64, true, false },
	{ "gles", true, 32, " GL_EXT_disjoint_timer_query ", "all", 64, false, false },
	{ "gles-36-bits", true, 32, " GL_EXT_disjoint_timer_query ", "all", 36, true, false },
};

static void
test_random(gconstpointer data)
{
	size_t i = GPOINTER_TO_SIZE(data);
	struct model *m = g_new0(struct model, 1);

	fake_gl_init(&m->gl, random_cases[i].es, random_cases[i].version,
		     random_cases[i].extensions);
	m->gl.timestamp_bits = random_cases[i].bits;
	m->gl.noise = random_cases[i].bits < 64 ? UINT64_C(5) << 60 : 0;
	if (random_cases[i].bits < 64) { /* a wrap soon */
		uint64_t range = UINT64_C(1) << random_cases[i].bits;
		m->gl.offset_ns = 9 * range - 2000000 -
				  (uint64_t)g_get_monotonic_time() * 1000 % range;
	}
	if (random_cases[i].no_clock)
		m->gl.api.GetInteger64v = NULL;
	start(m, random_cases[i].wanted);
	for (int k = 0; k < STEPS; k++)
		step(m);

	/* What is still in progress ends properly too. */
	while (m->depth)
		step_end(m);
	fake_gl_complete(&m->gl, UINT64_MAX);
	for (uint32_t slot = 0; slot < MODEL_SLOTS; slot++)
		step_read(m, slot);
	tally_harvest_destroy(m->harvest, true);
	check_driver(m);
	g_assert_cmpuint(m->gl.n_names, ==, 0);
	g_test_message("%u delivered, %u with a time, %u values", m->delivered, m->timed,
		       m->valued);
	g_assert_cmpuint(m->delivered, >, STEPS / 20);
	g_assert_cmpuint(m->timed, >, m->delivered / 2);
	g_assert_cmpuint(m->valued, >, m->delivered / 8);
	fake_gl_finish(&m->gl);
	g_free(m);
}

/* 32-bit results, with totals that stay below. */
static void
test_narrow_results(void)
{
	struct model *m = g_new0(struct model, 1);

	fake_gl_init(&m->gl, false, 46, " GL_ARB_timer_query ");
	m->gl.api.GetQueryObjectui64v = NULL; /* then there are no timestamps either */
	m->statistics = tally_gl_statistics_create(&m->gl.api);
	struct tally_source *sources[] = { tally_gl_timestamp_create(&m->gl.api),
					   m->statistics };
	m->harvest = tally_harvest_create(sources, 2, 2, 2);
	g_assert_false(tally_harvest_has_time(m->harvest));
	uint32_t slot = tally_harvest_begin(m->harvest);
	fake_gl_work(&m->gl, 10);
	tally_harvest_end(m->harvest, slot);
	fake_gl_complete(&m->gl, 4);
	struct reading r;
	clear(&r);
	g_assert_cmpint(tally_harvest_read(m->harvest, slot, &r.sample), ==, TALLY_OK);
	g_assert_cmphex(r.valid[0], ==, 15);
	g_assert_cmpuint(r.values[0].u64, ==, 10 * 2 + 1);
	g_assert_false(r.sample.has_time);
	tally_harvest_destroy(m->harvest, true);
	check_driver(m);
	fake_gl_finish(&m->gl);
	g_free(m);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/harvest/narrow-results", test_narrow_results);
	for (size_t i = 0; i < G_N_ELEMENTS(random_cases); i++) {
		g_autofree char *path = g_strdup_printf("/harvest/random/%s",
							random_cases[i].name);
		g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_random);
	}
	return g_test_run();
}

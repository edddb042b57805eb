#include <glib.h>
#include <string.h>

#include "query/harvest.h"
#include "query/source_noop.h"
#include "query/statistics_catalogue.h"
#include "query/test_sources.h"
#include "tests/fake_gl/fake_gl_api.h"

/* --- a source that writes down what is asked of it ------------------------------------------- */

#define MANY 70

struct diary {
	struct tally_source base;
	struct tally_source_ops ops;
	struct tally_counter counters[MANY];
	const struct tally_counter *table[MANY];
	uint32_t n;
	char letter;
	enum tally_status answer;
	uint32_t answers; /* reads answered with other than NOT_READY */
	bool gone;
};

static GString *diary_text;

static void
note(struct tally_source *src, char what)
{
	g_string_append_printf(diary_text, "%c%c ", ((struct diary *)src)->letter, what);
}

static enum tally_status
diary_open(struct tally_source *src, uint32_t slots)
{
	struct diary *d = (struct diary *)src;

	(void)slots;
	for (uint32_t i = 0; i < d->n; i++) {
		d->counters[i] = (struct tally_counter){ .key = "diary", .width_bits = i };
		d->table[i] = &d->counters[i];
	}
	src->counters = d->table;
	src->n_counters = d->n;
	return TALLY_OK;
}

static void
diary_close(struct tally_source *src)
{
	note(src, 'c');
}

static void
diary_abandon(struct tally_source *src)
{
	note(src, 'a');
}

static void
diary_begin(struct tally_source *src, uint32_t slot)
{
	(void)slot;
	note(src, 'b');
}

static void
diary_end(struct tally_source *src, uint32_t slot)
{
	(void)slot;
	note(src, 'e');
}

static void
diary_gap(struct tally_source *src)
{
	note(src, 'g');
}

static void
diary_resume(struct tally_source *src)
{
	note(src, 'r');
}

static void
diary_discard(struct tally_source *src, uint32_t slot)
{
	(void)slot;
	note(src, 'd');
}

/* Every third value is there. */
static enum tally_status
diary_read(struct tally_source *src, uint32_t slot, struct tally_sample *out)
{
	struct diary *d = (struct diary *)src;

	g_assert_cmpuint(out->n, ==, d->n);
	if (d->answer == TALLY_NOT_READY)
		return TALLY_NOT_READY;
	d->answers++;
	for (uint32_t i = 0; i < d->n; i += 3) {
		out->values[i] = (struct tally_value){ .storage = TALLY_STORAGE_U64,
						       .u64 = 1000 * slot + i };
		out->valid[i / 64] |= UINT64_C(1) << i % 64;
	}
	out->flags |= TALLY_FLAG(OVERFLOW);
	return d->answer;
}

static struct diary *
diary_create(char letter, uint32_t n, bool delivers_time)
{
	struct diary *d = calloc(1, sizeof(*d));

	g_assert_nonnull(d);
	d->ops = (struct tally_source_ops){
		.name = "diary",
		.delivers_time = delivers_time,
		.open = diary_open,
		.grow = tally_source_noop_slots,
		.close = diary_close,
		.abandon = diary_abandon,
		.begin = diary_begin,
		.end = diary_end,
		.gap = diary_gap,
		.resume = diary_resume,
		.read = diary_read,
		.discard = diary_discard,
	};
	d->base.ops = &d->ops;
	d->letter = letter;
	d->n = n;
	return d;
}

struct reading {
	struct tally_value values[256];
	uint64_t valid[4];
	struct tally_sample sample;
};

static void
clear(struct reading *r)
{
	memset(r, 0, sizeof(*r));
	r->sample = (struct tally_sample){ .values = r->values, .valid = r->valid, .n = 256 };
}

static bool
is_valid(const struct reading *r, uint32_t i)
{
	return r->valid[i / 64] >> i % 64 & 1;
}

/* Time outermost, values in log order, valid bits in their place. */
static void
test_order_and_places(void)
{
	struct diary *a = diary_create('A', 5, false);
	struct diary *t = diary_create('T', 70, true);
	struct diary *b = diary_create('B', 61, false);
	struct tally_source *sources[] = { &a->base, NULL, &t->base, tally_null_create(),
					   &b->base };
	const struct tally_counter *const *counters;
	struct reading r;
	uint32_t n;

	diary_text = g_string_new(NULL);
	struct tally_harvest *h = tally_harvest_create(sources, 5, 4, 4);
	g_assert_true(tally_harvest_has_time(h));
	counters = tally_harvest_counters(h, &n);
	g_assert_cmpuint(n, ==, 136);
	g_assert_true(counters[4] == &a->counters[4]);
	g_assert_true(counters[5] == &t->counters[0]);
	g_assert_true(counters[75] == &b->counters[0]);

	uint32_t slot = tally_harvest_begin(h);
	tally_harvest_end(h, slot);
	tally_harvest_gap(h);
	g_assert_cmpstr(diary_text->str, ==, "Tb Ab Bb Be Ae Te Tg Ag Bg ");

	/* Each answers once, in its own time. */
	clear(&r);
	a->answer = b->answer = TALLY_NOT_READY;
	g_assert_cmpint(tally_harvest_read(h, slot, &r.sample), ==, TALLY_NOT_READY);
	g_assert_true(is_valid(&r, 5));
	g_assert_false(is_valid(&r, 0));
	b->answer = TALLY_OK;
	g_assert_cmpint(tally_harvest_read(h, slot, &r.sample), ==, TALLY_NOT_READY);
	a->answer = TALLY_OK;
	g_assert_cmpint(tally_harvest_read(h, slot, &r.sample), ==, TALLY_OK);
	g_assert_cmpuint(a->answers + t->answers + b->answers, ==, 3);
	g_assert_cmpuint(r.sample.flags, ==, TALLY_FLAG(OVERFLOW));
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t own = i < 5 ? i : i < 75 ? i - 5 : i - 75;
		g_assert_cmpint(is_valid(&r, i), ==, i < 136 && own % 3 == 0);
		if (is_valid(&r, i))
			g_assert_cmpuint(r.values[i].u64, ==, 1000 * slot + own);
	}

	/* One is lost: the others' values stand. */
	clear(&r);
	a->answer = TALLY_LOST;
	slot = tally_harvest_begin(h);
	g_assert_cmpint(tally_harvest_read(h, slot, &r.sample), ==, TALLY_NOT_READY); /* runs */
	tally_harvest_end(h, slot);
	g_assert_cmpint(tally_harvest_read(h, slot, &r.sample), ==, TALLY_LOST);
	g_assert_cmpuint(r.sample.flags, ==, TALLY_FLAG(OVERFLOW) | TALLY_FLAG(LOST));
	g_assert_false(is_valid(&r, 0));
	g_assert_true(is_valid(&r, 5));

	/* Only who has not answered is told of a discard. */
	slot = tally_harvest_begin(h);
	tally_harvest_end(h, slot);
	clear(&r);
	t->answer = TALLY_NOT_READY;
	g_assert_cmpint(tally_harvest_read(h, slot, &r.sample), ==, TALLY_NOT_READY);
	g_string_truncate(diary_text, 0);
	tally_harvest_discard(h, slot);
	g_assert_cmpstr(diary_text->str, ==, "Td ");
	g_string_truncate(diary_text, 0);
	tally_harvest_destroy(h, true);
	g_assert_cmpstr(diary_text->str, ==, "Ac Tc Bc ");

	a = diary_create('A', 1, false);
	sources[0] = &a->base;
	h = tally_harvest_create(sources, 1, 1, 1);
	g_assert_false(tally_harvest_has_time(h));
	g_string_truncate(diary_text, 0);
	tally_harvest_destroy(h, false);
	g_assert_cmpstr(diary_text->str, ==, "Aa ");
	tally_harvest_destroy(NULL, true);
	g_string_free(diary_text, TRUE);
}

static void
test_lists_sources(void)
{
	struct tally_source *sources[] = {
		tally_fake_create(&(struct tally_fake_script){ .tick_ns = 1 }),
		tally_fake_create(&(struct tally_fake_script){ .open_status = TALLY_DENIED }),
		tally_null_create(),
	};
	uint32_t n;
	struct tally_harvest *h = tally_harvest_create(sources, 3, 2, 2);
	const struct tally_source_info *infos = tally_harvest_sources(h, &n);

	g_assert_cmpuint(n, ==, 3);
	g_assert_cmpstr(infos[0].name, ==, "fake");
	g_assert_true(infos[0].on);
	g_assert_null(infos[0].reason);
	g_assert_false(infos[1].on);
	g_assert_nonnull(infos[1].reason);
	g_assert_cmpstr(infos[2].name, ==, "null");
	g_assert_true(infos[2].on);
	tally_harvest_counters(h, &n);
	g_assert_cmpuint(n, ==, 2);
	tally_harvest_destroy(h, true);
}

static const struct {
	const char *what;
	uint32_t slots, max_slots;
	uint32_t source_limit; /* the fake's grow() fails past it */
	uint32_t want;         /* slots that can be had at once */
} pool_cases[] = {
	{ "no growth", 4, 4, 0, 4 },
	{ "doubling", 2, 16, 0, 16 },
	{ "a ceiling that is no power of two", 2, 11, 0, 11 },
	{ "more than the ceiling at once", 64, 5, 0, 5 },
	{ "none asked for", 0, 3, 0, 3 },
	{ "none allowed is one", 0, 0, 0, 1 },
	{ "the source cannot grow", 2, 16, 7, 4 },
};

static void
test_pool(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(pool_cases); i++) {
		struct tally_source *sources[] = {
			tally_null_create(),
			tally_fake_create(&(struct tally_fake_script){
				.a_step = 1,
				.tick_ns = 1,
				.max_slots = pool_cases[i].source_limit,
			}),
		};
		bool used[32] = { false };
		struct reading r;
		uint32_t slot;

		g_test_message("%s", pool_cases[i].what);
		struct tally_harvest *h = tally_harvest_create(sources, 2, pool_cases[i].slots,
							       pool_cases[i].max_slots);
		for (uint32_t k = 0; k < pool_cases[i].want; k++) {
			slot = tally_harvest_begin(h);
			g_assert_cmpuint(slot, <, pool_cases[i].want);
			g_assert_false(used[slot]);
			used[slot] = true;
			tally_harvest_end(h, slot);
		}
		g_assert_cmpuint(tally_harvest_begin(h), ==, TALLY_NO_SLOT);
		g_assert_cmpuint(tally_harvest_begin(h), ==, TALLY_NO_SLOT);
		/* A slot that is read is free, and so is one that is discarded. */
		clear(&r);
		g_assert_cmpint(tally_harvest_read(h, 0, &r.sample), ==, TALLY_OK);
		g_assert_cmpuint(r.values[0].u64, ==, 1);
		g_assert_cmpuint(tally_harvest_begin(h), ==, 0);
		tally_harvest_discard(h, 0);
		g_assert_cmpuint(tally_harvest_begin(h), ==, 0);
		g_assert_cmpuint(tally_harvest_begin(h), ==, TALLY_NO_SLOT);
		tally_harvest_destroy(h, true);
	}
}

static void
test_no_sources(void)
{
	struct reading r;
	struct tally_harvest *h = tally_harvest_create(NULL, 0, 2, 2);

	clear(&r);
	g_assert_false(tally_harvest_has_time(h));
	uint32_t slot = tally_harvest_begin(h);
	tally_harvest_end(h, slot);
	g_assert_cmpint(tally_harvest_read(h, slot, &r.sample), ==, TALLY_OK);
	g_assert_false(r.sample.has_time);
	tally_harvest_destroy(h, true);
}

/* --- random sequences against a model ------------------------------------------------------- */

#define STEPS 10000
#define MODEL_SLOTS 48
#define DEPTH 3
#define LATE_NS UINT64_C(100000000) /* a loaded machine */

struct model_slot {
	enum { FREE, RUNNING, ENDED } state;
	uint64_t begin_ticks, end_ticks, begin_cpu_ns;
	bool disturbed;             /* the clock was, while a stamp was under way */
	uint64_t done_at;           /* command number of the last of it */
	uint64_t stamped_at;        /* of its last stamp */
	bool counted[TALLY_N_STATISTICS];
	uint64_t totals[TALLY_N_STATISTICS];
	bool yielded;
	struct reading *reading;
};

struct model {
	struct fake_gl gl;
	uint64_t provisional; /* command number of the stamp that a gap took; 0 = none */
	bool disturbed_since; /* the clock was, after that stamp was done */
	struct tally_harvest *harvest;
	struct tally_source *statistics;
	unsigned which[TALLY_N_STATISTICS]; /* per counter of the harvest */
	uint32_t n_counters;
	struct model_slot slots[MODEL_SLOTS];
	uint32_t open[DEPTH]; /* nested */
	uint32_t depth;
	int holder[TALLY_N_STATISTICS]; /* slot, -1 = nobody of ours */
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

/* The innermost that runs did not end at the gap. */
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

/* What runs ends here, if nothing else comes before its end. */
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
	s->end_ticks = m->last_end_ticks = m->gl.last_ticks;
	m->last_end_cpu_ns = m->gl.last_cpu_ns;
	m->last_end_disturbed = false;
	s->done_at = s->stamped_at = m->provisional ? m->provisional : m->gl.issued;
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

/* Give up an ended slot, or the innermost that runs. */
static void
step_discard(struct model *m, uint32_t slot)
{
	struct model_slot *s = &m->slots[slot];

	if (s->state == FREE || (s->state == RUNNING && m->open[m->depth - 1] != slot))
		return;
	if (s->state == RUNNING) {
		m->depth--;
		m->provisional = 0;
		m->disturbed_since = false;
	}
	tally_harvest_discard(m->harvest, slot);
	for (unsigned which = 0; which < TALLY_N_STATISTICS; which++) {
		if (m->holder[which] == (int)slot)
			m->holder[which] = -1;
	}
	g_clear_pointer(&s->reading, g_free);
	s->state = FREE;
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
		step_discard(m, slot);
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
	struct tally_source *sources[] = { m->statistics, tally_gl_timestamp_create(&m->gl.api) };
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

	/* What is still under way ends well too. */
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
	struct tally_source *sources[] = { tally_gl_timestamp_create(&m->gl.api), m->statistics };
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
	g_test_add_func("/harvest/order-and-places", test_order_and_places);
	g_test_add_func("/harvest/lists-sources", test_lists_sources);
	g_test_add_func("/harvest/pool", test_pool);
	g_test_add_func("/harvest/no-sources", test_no_sources);
	g_test_add_func("/harvest/narrow-results", test_narrow_results);
	for (size_t i = 0; i < G_N_ELEMENTS(random_cases); i++) {
		g_autofree char *path = g_strdup_printf("/harvest/random/%s", random_cases[i].name);
		g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_random);
	}
	return g_test_run();
}

/* SPDX-License-Identifier: MIT */
#include <glib.h>
#include <string.h>

#include "query/source/harvest.h"
#include "query/source/noop.h"
#include "query/source/statistics_catalogue.h"
#include "tests/sources/test_sources.h"
#include "tests/fake_gl/fake_gl_api.h"
#include "tests/unit/query/harvest_reading.h"

/* --- a source that logs what it is asked
 * ---------------------------------------------------------- */

#define MANY 70

struct diary {
	struct tally_source base;
	struct tally_source_ops ops;
	struct tally_counter counters[MANY];
	const struct tally_counter *table[MANY];
	uint32_t n;
	char letter;
	enum tally_status answer;
	uint32_t answers; /* number of reads with an answer other than NOT_READY */
	bool gone, undone;
	bool letters_reads; /* 'R' for each */
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

/* Every third value is valid. */
static enum tally_status
diary_read(struct tally_source *src, uint32_t slot, struct tally_sample *out)
{
	struct diary *d = (struct diary *)src;

	g_assert_cmpuint(out->n, ==, d->n);
	if (d->letters_reads)
		note(src, 'R');
	if (d->answer == TALLY_NOT_READY)
		return TALLY_NOT_READY;
	out->undone = d->undone;
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
	};
	d->base.ops = &d->ops;
	d->letter = letter;
	d->n = n;
	return d;
}

/* Time outermost, values in log order, valid bits in their places. */
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

	/* Each source answers once, at its own time. */
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

	/* One is lost: the others' values stay valid. */
	clear(&r);
	a->answer = TALLY_LOST;
	slot = tally_harvest_begin(h);
	g_assert_cmpint(tally_harvest_read(h, slot, &r.sample), ==, TALLY_NOT_READY); /* runs */
	tally_harvest_end(h, slot);
	g_assert_cmpint(tally_harvest_read(h, slot, &r.sample), ==, TALLY_LOST);
	g_assert_cmpuint(r.sample.flags, ==, TALLY_FLAG(OVERFLOW) | TALLY_FLAG(LOST));
	g_assert_false(is_valid(&r, 0));
	g_assert_true(is_valid(&r, 5));

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

/* A lost batch: no source except that of time is read while its timestamp is missing. When the
 * slot is given up none of its values are used, and it is not reused until the driver has
 * answered. */
static void
test_submitted(void)
{
	struct diary *a = diary_create('A', 5, false);
	struct tally_source *sources[] = { &a->base };
	struct tally_harvest *h = tally_harvest_create(sources, 1, 2, 2);
	struct reading r;

	diary_text = g_string_new(NULL);
	tally_harvest_submitted(h);
	uint32_t slot = tally_harvest_begin(h);
	tally_harvest_end(h, slot);
	g_string_truncate(diary_text, 0);
	a->letters_reads = true;
	clear(&r);
	g_assert_cmpint(tally_harvest_read(h, slot, &r.sample), ==, TALLY_NOT_READY);
	g_assert_cmpstr(diary_text->str, ==, ""); /* not asked */
	tally_harvest_submitted(h);
	g_assert_cmpint(tally_harvest_read(h, slot, &r.sample), ==, TALLY_OK);
	tally_harvest_destroy(h, true);
	g_string_free(diary_text, TRUE);
}

static void
test_given_up(void)
{
	struct diary *a = diary_create('A', 5, false), *t = diary_create('T', 1, true);
	struct tally_source *sources[] = { &a->base, &t->base };
	struct tally_harvest *h = tally_harvest_create(sources, 2, 2, 2);
	struct reading r;

	diary_text = g_string_new(NULL);
	uint32_t slot = tally_harvest_begin(h);
	tally_harvest_end(h, slot);
	g_string_truncate(diary_text, 0);
	a->letters_reads = t->letters_reads = true;
	t->answer = TALLY_NOT_READY;
	clear(&r);
	g_assert_cmpint(tally_harvest_read(h, slot, &r.sample), ==, TALLY_NOT_READY);
	g_assert_cmpstr(diary_text->str, ==, "TR ");
	/* The time arrived, the counters did not. */
	t->answer = TALLY_OK;
	a->answer = TALLY_NOT_READY;
	g_assert_cmpint(tally_harvest_read(h, slot, &r.sample), ==, TALLY_NOT_READY);
	g_assert_true(is_valid(&r, 5));
	r.sample.has_time = true;
	tally_harvest_give_up(h, slot, &r.sample);
	g_assert_false(is_valid(&r, 5));
	g_assert_false(r.sample.has_time);
	g_assert_cmpuint(r.sample.flags & TALLY_FLAG(LOST), !=, 0);
	g_string_truncate(diary_text, 0);
	g_assert_cmpuint(tally_harvest_begin(h), ==, 1 - slot);
	g_assert_cmpuint(tally_harvest_begin(h), ==, TALLY_NO_SLOT);
	tally_harvest_end(h, 1 - slot);
	g_string_truncate(diary_text, 0);
	/* Frames ask nothing: they may end in a call in which no result may be asked for. */
	tally_harvest_frame(h, 1);
	tally_harvest_frame(h, 2);
	tally_harvest_frame_end(h);
	g_assert_cmpstr(diary_text->str, ==, "");
	g_assert_true(tally_harvest_retry(h));
	g_assert_cmpuint(tally_harvest_begin(h), ==, TALLY_NO_SLOT);
	a->answer = TALLY_OK;
	g_assert_false(tally_harvest_retry(h));
	g_assert_cmpuint(tally_harvest_begin(h), ==, slot);
	g_assert_nonnull(strstr(diary_text->str, "AR "));
	tally_harvest_end(h, slot);

	/* A source detects that the work was not done: the others' values are dropped too. */
	a->undone = true;
	a->answer = TALLY_LOST;
	clear(&r);
	g_assert_cmpint(tally_harvest_read(h, slot, &r.sample), ==, TALLY_LOST);
	for (uint32_t i = 0; i < 6; i++)
		g_assert_false(is_valid(&r, i));
	a->undone = false;
	a->answer = TALLY_OK;
	clear(&r);
	g_assert_cmpint(tally_harvest_read(h, 1 - slot, &r.sample), ==, TALLY_OK);
	g_assert_true(is_valid(&r, 0));
	tally_harvest_destroy(h, true);
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
	uint32_t want;         /* slots that are available at the same time */
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
		/* A slot that is read is free; one that was given up is free once it was
		 * answered. */
		clear(&r);
		g_assert_cmpint(tally_harvest_read(h, 0, &r.sample), ==, TALLY_OK);
		g_assert_cmpuint(r.values[0].u64, ==, 1);
		g_assert_cmpuint(tally_harvest_begin(h), ==, 0);
		clear(&r);
		tally_harvest_give_up(h, 0, &r.sample);
		g_assert_cmpuint(tally_harvest_begin(h), ==, TALLY_NO_SLOT);
		g_assert_false(tally_harvest_retry(h));
		g_assert_cmpuint(tally_harvest_begin(h), ==, 0);
		g_assert_cmpuint(tally_harvest_begin(h), ==, TALLY_NO_SLOT);
		tally_harvest_destroy(h, true);
	}
}

/* A context that draws and ends no frame itself takes part in those of others. */
static void
test_frames(void)
{
	static const struct {
		uint64_t frame;
		bool ends;
		uint64_t counted;
	} rows[] = { { 7, false, 0 }, { 7, false, 0 }, { 8, false, 1 }, { 10, false, 2 },
		     { 11, true, 4 }, { 12, true, 5 }, { 13, false, 5 } };
	struct diary *a = diary_create('A', 1, false);
	struct tally_source *sources[] = { &a->base };
	struct tally_harvest *h = tally_harvest_create(sources, 1, 2, 2);

	diary_text = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		tally_harvest_frame(h, rows[i].frame);
		if (rows[i].ends)
			tally_harvest_frame_end(h);
		g_assert_cmpuint(a->base.frame, ==, rows[i].counted);
	}
	tally_harvest_destroy(h, true);
	g_string_free(diary_text, TRUE);
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

/* Sets of two sources take turns in addition to what is always counted; each slot keeps its own
 * sets. */
static void
test_sets(void)
{
	const struct tally_fake_script script = { .a_step = 1, .b_step = 10, .delay = 1 };
	struct tally_fake_script with_sets = script;
	with_sets.n_sets = 3;
	struct tally_source *sources[] = { tally_fake_create(&with_sets),
					   tally_fake_create(&script),
					   tally_fake_create(&with_sets) };
	struct tally_source *last = sources[2];
	struct tally_harvest *h = tally_harvest_create(sources, 3, 4, 8);
	struct reading r;
	uint32_t n, slots[6];
	const struct tally_counter_set *const *sets = tally_harvest_sets(h, &n);
	g_assert_cmpuint(n, ==, 6);
	g_assert_cmpuint(tally_harvest_max_values(h), ==, 4);
	g_assert_cmpstr(sets[0]->layout.counters[0]->key, ==, "fake_a");
	g_assert_cmpstr(sets[0]->layout.counters[1]->key, ==, "fake_b");
	g_assert_cmpstr(sets[4]->layout.counters[3]->key, ==, "fake_set_2");
	for (uint32_t i = 0; i < 6; i++) {
		g_assert_true(tally_harvest_frame(h, i + 6) == &sets[i]->layout);
		slots[i] = tally_harvest_begin(h);
		g_assert_true(tally_harvest_layout(h, slots[i]) == sets[i]);
		tally_harvest_end(h, slots[i]);
	}
	for (uint32_t i = 6; i-- > 0;) {
		clear(&r);
		g_assert_cmpint(tally_harvest_read(h, slots[i], &r.sample), ==, TALLY_NOT_READY);
		g_assert_cmpint(tally_harvest_read(h, slots[i], &r.sample), ==, TALLY_OK);
		g_assert_cmphex(r.valid[0], ==, 0xf);
		g_assert_cmpuint(r.values[3].u64, ==, 10);
	}
	static const struct {
		const char *pinned;
		uint64_t first, every, frame;
		int set; /* -1: none */
	} turns[] = {
		{ "fake set 2", 0, 1, 5, 1 }, { "nothing", 0, 1, 5, -1 }, { NULL, 3, 2, 1, 0 },
		{ NULL, 3, 2, 4, 0 },         { NULL, 3, 2, 5, 1 },       { NULL, 3, 2, 15, 0 },
		{ NULL, UINT64_MAX, 1, 9, 0 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(turns); i++) {
		tally_harvest_rotate(h, turns[i].pinned, turns[i].first, turns[i].every);
		const struct tally_layout *layout = tally_harvest_frame(h, turns[i].frame);
		if (turns[i].set < 0)
			g_assert_null(layout->set);
		else
			g_assert_true(layout == &sets[turns[i].set]->layout);
	}
	tally_harvest_select(h, TALLY_NO_SET);
	uint32_t slot = tally_harvest_begin(h);
	g_assert_null(tally_harvest_layout(h, slot)->layout.set);
	g_assert_cmpuint(tally_harvest_layout(h, slot)->layout.n_counters, ==, 2);
	tally_harvest_end(h, slot);
	clear(&r);
	tally_harvest_read(h, slot, &r.sample);
	g_assert_cmpint(tally_harvest_read(h, slot, &r.sample), ==, TALLY_OK);
	g_assert_cmphex(r.valid[0], ==, 3);
	/* One gives up in the middle of its turn: the slot still gets an answer. */
	tally_harvest_select(h, 5);
	slot = tally_harvest_begin(h);
	last->off = true;
	tally_harvest_end(h, slot);
	g_assert_cmpuint(tally_harvest_n_off(h), ==, 1);
	const struct tally_counter_set *kept = sets[1];
	tally_harvest_select(h, 1);
	g_assert_true(tally_harvest_layout(h, tally_harvest_begin(h)) == kept);
	tally_harvest_sets(h, &n);
	g_assert_cmpuint(n, ==, 3);
	clear(&r);
	tally_harvest_read(h, slot, &r.sample);
	g_assert_cmpint(tally_harvest_read(h, slot, &r.sample), ==, TALLY_OK);
	g_assert_cmphex(r.valid[0], ==, 0xf);
	tally_harvest_destroy(h, true);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/harvest/submitted", test_submitted);
	g_test_add_func("/harvest/given-up", test_given_up);
	g_test_add_func("/harvest/order-and-places", test_order_and_places);
	g_test_add_func("/harvest/lists-sources", test_lists_sources);
	g_test_add_func("/harvest/pool", test_pool);
	g_test_add_func("/harvest/frames", test_frames);
	g_test_add_func("/harvest/no-sources", test_no_sources);
	g_test_add_func("/harvest/sets", test_sets);
	return g_test_run();
}

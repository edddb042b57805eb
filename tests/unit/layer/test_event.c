/* SPDX-License-Identifier: MIT */
#include "layer/event/event.h"

#include <glib.h>
#include <pthread.h>
#include <string.h>

#define MS UINT64_C(1000000)

/* Calls, by what they leave: sums of their kind, and whether they are kept by themselves. */
static const struct {
	const char *what;
	struct tally_event event;
	uint64_t end_ns, ns;
	bool kept;
} cases[] = {
	{ "short",
	  { TALLY_EVENT_UPLOAD, "glBufferData", 1000, 1, 64, 0, 0, 0 },
	  3000,
	  2000,
	  false },
	{ "long",
	  { TALLY_EVENT_SHADER, "glCompileShader", 1000, 1, 0, 0, 7, 0 },
	  1000 + MS,
	  MS,
	  true },
	{ "several at once, of which a cache had two",
	  { TALLY_EVENT_PIPELINE, "vkCreateGraphicsPipelines", 1, 3, 0, 2, 0, 1 },
	  1 + MS,
	  MS,
	  true },
	{ "a long wait is a sum alone",
	  { TALLY_EVENT_FENCE, "glClientWaitSync", 1, 1, 0, 0, 0, 0 },
	  1 + 9 * MS,
	  9 * MS,
	  false },
	{ "a clock that went back",
	  { TALLY_EVENT_MAP, "glMapBuffer", 9 * MS, 1, 0, 0, 0, 0 },
	  MS,
	  0,
	  false },
};

static void
test_sums(void)
{
	struct tally_events got;
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const struct tally_event *e = &cases[i].event;
		g_test_message("%s", cases[i].what);
		tally_event_end_at(e, cases[i].end_ns);
		tally_events_take(&got);
		g_assert_true(got.any);
		for (unsigned kind = 0; kind < TALLY_N_EVENTS; kind++) {
			const struct tally_event_record *s = &got.sums[kind];
			bool is = kind == e->kind;
			g_assert_cmpuint(s->n, ==, is ? e->n : 0);
			g_assert_cmpuint(s->ns, ==, is ? cases[i].ns : 0);
			g_assert_cmpuint(s->bytes, ==, is ? e->bytes : 0);
			g_assert_cmpuint(s->cached, ==, is ? e->cached : 0);
			g_assert_cmpuint(s->uncached, ==, is ? e->uncached : 0);
		}
		g_assert_cmpuint(got.n_calls, ==, cases[i].kept);
		if (!got.n_calls)
			continue;
		g_assert_cmpstr(got.calls[0].call, ==, e->call);
		g_assert_cmpuint(got.calls[0].start_ns, ==, e->begin_ns);
		g_assert_cmpuint(got.calls[0].object, ==, e->object);
		g_assert_cmpuint(got.calls[0].ns, ==, cases[i].ns);
		g_assert_false(got.calls[0].cached);
		g_assert_cmpstr(got.calls[0].thread, ==, "test_event");
	}
	tally_events_take(&got);
	g_assert_false(got.any);
	g_assert_cmpuint(got.n_calls, ==, 0);
}

static void
test_not_surrounded(void)
{
	struct tally_events got;
	const struct tally_event e = { .kind = TALLY_EVENT_SHADER, .n = 1, .bytes = 7 };
	tally_event_end(&e);
	tally_events_take(&got);
	g_assert_false(got.any);
}

/* Of more than 16 the longest stay; what nobody captures is forgotten. */
static void
test_longest(void)
{
	struct tally_events got;
	for (uint64_t i = 1; i <= 40; i++) {
		const struct tally_event e = { TALLY_EVENT_SHADER, "c", 1, 1, 0, 0, 0, 0 };
		tally_event_end_at(&e, 1 + (i * 7 % 41) * MS);
	}
	tally_events_take(&got);
	g_assert_cmpuint(got.sums[TALLY_EVENT_SHADER].n, ==, 40);
	g_assert_cmpuint(got.n_calls, ==, TALLY_EVENT_CALLS);
	uint64_t least = UINT64_MAX;
	for (unsigned i = 0; i < got.n_calls; i++)
		least = MIN(least, got.calls[i].ns);
	g_assert_cmpuint(least, ==, 25 * MS);
	tally_event_end_at(&(struct tally_event){ TALLY_EVENT_MAP, "m", 1, 1, 0, 0, 0, 0 }, MS);
	tally_events_take(NULL);
	tally_events_take(&got);
	g_assert_false(got.any);
}

static void *
compile(void *data)
{
	(void)data;
	for (unsigned i = 0; i < 12500; i++) {
		const struct tally_event e = { TALLY_EVENT_PIPELINE, "p", 1, 1, 2, 1, 0, 0 };
		tally_event_end_at(&e, i % 100 ? 11 : 1 + MS);
	}
	return NULL;
}

/* 100 000 pipelines on eight threads, while frames end: none is lost, none counts twice. */
static void
test_threads(void)
{
	pthread_t threads[8];
	struct tally_events got;
	uint64_t n = 0, bytes = 0, cached = 0;
	for (unsigned i = 0; i < 8; i++)
		g_assert_cmpint(pthread_create(&threads[i], NULL, compile, NULL), ==, 0);
	for (unsigned i = 0; i < 8 + 1; i++) {
		if (i < 8)
			g_assert_cmpint(pthread_join(threads[i], NULL), ==, 0);
		tally_events_take(&got);
		g_assert_cmpuint(got.n_calls, <=, TALLY_EVENT_CALLS);
		n += got.any ? got.sums[TALLY_EVENT_PIPELINE].n : 0;
		bytes += got.any ? got.sums[TALLY_EVENT_PIPELINE].bytes : 0;
		cached += got.any ? got.sums[TALLY_EVENT_PIPELINE].cached : 0;
	}
	g_assert_cmpuint(n, ==, 100000);
	g_assert_cmpuint(bytes, ==, 200000);
	g_assert_cmpuint(cached, ==, 100000);
}

static void *
compile_once(void *data)
{
	const struct tally_event e = { TALLY_EVENT_PIPELINE, "p", 1, 1, 0, 0, 0, 0 };
	tally_event_end_at(&e, 1 + *(uint64_t *)data);
	return NULL;
}

/* What the thread that ends frames did itself is known, but of waits. */
static void
test_own(void)
{
	pthread_t thread;
	uint64_t ns = 3 * MS;
	struct tally_events got;
	tally_events_take(&got);
	g_assert_cmpint(pthread_create(&thread, NULL, compile_once, &ns), ==, 0);
	g_assert_cmpint(pthread_join(thread, NULL), ==, 0);
	ns = MS;
	compile_once(&ns);
	tally_event_end_at(&(struct tally_event){ TALLY_EVENT_FENCE, "f", 1, 1, 0, 0, 0, 0 }, MS);
	tally_events_take(&got);
	g_assert_cmpuint(got.sums[TALLY_EVENT_PIPELINE].ns, ==, 4 * MS);
	g_assert_cmpuint(got.sums[TALLY_EVENT_PIPELINE].own_ns, ==, MS);
	g_assert_cmpuint(got.sums[TALLY_EVENT_FENCE].own_ns, ==, 0);
}

/* Of two devices, or of a device's heaps: the fullest of the frame, in either order. */
static void
test_budget(void)
{
	static const uint64_t heaps[][2] = { { 0, 0 }, { 3000, 4000 }, { 900, 800 }, { 1, 90000 } };
	struct tally_events events;
	for (unsigned backward = 0; backward < 2; backward++) {
		for (unsigned i = 0; i < G_N_ELEMENTS(heaps); i++) {
			const uint64_t *heap = heaps[backward ? G_N_ELEMENTS(heaps) - 1 - i : i];
			tally_event_budget(heap[0], heap[1]);
		}
		tally_events_take(&events);
		g_assert_cmpuint(events.sums[TALLY_EVENT_MEMORY].used, ==, 900);
		g_assert_cmpuint(events.sums[TALLY_EVENT_MEMORY].budget, ==, 800);
	}
	tally_event_budget(1, 90000);
	tally_events_take(&events);
	g_assert_cmpuint(events.sums[TALLY_EVENT_MEMORY].budget, ==, 90000);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/event/sums", test_sums);
	g_test_add_func("/event/not-surrounded", test_not_surrounded);
	g_test_add_func("/event/longest", test_longest);
	g_test_add_func("/event/threads", test_threads);
	g_test_add_func("/event/own", test_own);
	g_test_add_func("/event/budget", test_budget);
	return g_test_run();
}

/* SPDX-License-Identifier: MIT */
#include "layer/frame/frame_part.h"
#include "layer/frame/intern.h"

#include <glib.h>
#include <string.h>

#define N_THREADS 4
#define N_SHAPES 1000

static const struct tally_target window = {
	.width = 64,
	.height = 48,
	.layers = 1,
	.samples = 1,
	.n_color = 2,
	.color = { { "RGBA8", 1, 1 }, { "RG16F", 4, 2 } },
	.depth = { "DEPTH24", 1, 1 },
	.presented = true,
};

struct change {
	const char *what;
	void (*make)(struct tally_target *t);
	bool same; /* as the window */
};

#define CHANGE(name, statement) \
	static void name(struct tally_target *t) \
	{ \
		statement; \
	}
CHANGE(keep_all, (void)t)
CHANGE(set_width, t->width++)
CHANGE(set_height, t->height++)
CHANGE(swap_sizes, (t->width = 48, t->height = 64))
CHANGE(set_layers, t->layers = 2)
CHANGE(set_samples, t->samples = 4)
CHANGE(set_presented, t->presented = false)
CHANGE(drop_color, t->n_color = 1)
CHANGE(set_format, t->color[1].format = "RG16")
CHANGE(set_color_samples, t->color[1].samples = 1)
CHANGE(set_color_layers, t->color[1].layers = 1)
CHANGE(drop_depth, t->depth = (struct tally_attachment){ 0 })
CHANGE(move_depth, (t->stencil = t->depth, t->depth = (struct tally_attachment){ 0 }))
CHANGE(set_unused, t->color[2] = ((struct tally_attachment){ "RGBA8", 1, 1 }))
CHANGE(set_without_format, t->stencil.samples = 9)
CHANGE(set_name, t->name = "SSAO")
CHANGE(copy_format, t->color[0].format = g_intern_string("RGBA8"))

static const struct change changes[] = {
	{ "nothing", keep_all, true },
	{ "the width", set_width, false },
	{ "the height", set_height, false },
	{ "width and height change places", swap_sizes, false },
	{ "layers", set_layers, false },
	{ "samples", set_samples, false },
	{ "presented", set_presented, false },
	{ "one attachment less", drop_color, false },
	{ "a format", set_format, false },
	{ "an attachment's samples", set_color_samples, false },
	{ "an attachment's layers", set_color_layers, false },
	{ "no depth", drop_depth, false },
	{ "a stencil of the depth's format", move_depth, false },
	{ "a name", set_name, false },
	{ "an attachment past n_color", set_unused, true },
	{ "samples of what is not attached", set_without_format, true },
	{ "the format's text at another address", copy_format, true },
};

static void
test_targets(void)
{
	struct tally_intern_cache *cache = tally_intern_cache_create();
	const struct tally_target *first = tally_intern_target(cache, &window);
	g_assert_nonnull(first);
	g_assert_true(first != &window);
	for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
		struct tally_target t = window;
		changes[i].make(&t);
		g_test_message("%s", changes[i].what);
		/* With the cache, without one, and with the cache once it has the text. */
		const struct tally_target *got = tally_intern_target(cache, &t);
		g_assert_true((got == first) == changes[i].same);
		g_assert_true(tally_intern_target(NULL, &t) == got);
		g_assert_true(tally_intern_target(cache, &t) == got);
	}
	tally_intern_cache_destroy(cache);
	tally_intern_cache_destroy(NULL);
}

/* `n` bytes of 'x' and then `tail`. */
static const struct {
	const char *what;
	size_t n;
	const char *tail;
	size_t len; /* of the text that is kept */
} labels[] = {
	{ "empty", 0, "", 0 },
	{ "as long as may be", 512, "", 512 },
	{ "one byte more", 513, "", 512 },
	{ "two bytes end at the ceiling", 510, "\xc3\xa4", 512 },
	{ "two bytes across it", 511, "\xc3\xa4", 511 },
	{ "three bytes, two inside", 510, "\xe2\x82\xac", 510 },
	{ "three bytes, one inside", 511, "\xe2\x82\xac", 511 },
	{ "four bytes, three inside", 509, "\xf0\x9f\x98\x80", 509 },
	{ "four bytes, one inside", 511, "\xf0\x9f\x98\x80", 511 },
	{ "bytes that are no character are cut anywhere", 508, "\x80\x80\x80\x80\x80", 512 },
};

static void
test_labels(void)
{
	struct tally_intern_cache *cache = tally_intern_cache_create();
	for (size_t i = 0; i < G_N_ELEMENTS(labels); i++) {
		char *text = g_strdup_printf("%*s%s", (int)labels[i].n, "", labels[i].tail);
		size_t len = strlen(text);
		g_test_message("%s", labels[i].what);
		const char *got = tally_intern_label(cache, text, len);
		g_assert_cmpuint(strlen(got), ==, labels[i].len);
		g_assert_cmpint(memcmp(got, text, labels[i].len), ==, 0);
		g_assert_true(tally_intern_label(NULL, text, len) == got);
		g_assert_true(tally_intern_label(cache, text, len) == got);
		/* A text whose given length is too long ends at its NUL. */
		g_assert_true(tally_intern_label(cache, text, len + 1) == got);
		g_free(text);
	}
	tally_intern_cache_destroy(cache);
}

struct worker {
	const struct tally_target *targets[N_SHAPES];
	const char *labels[N_SHAPES];
	GThread *thread;
};

static gpointer
intern_all(gpointer data)
{
	struct worker *w = data;
	struct tally_intern_cache *cache = tally_intern_cache_create();
	for (unsigned i = 0; i < N_SHAPES; i++) {
		struct tally_target t = window;
		char text[32];
		t.width = 1000 + i;
		g_snprintf(text, sizeof(text), "pass %u", i);
		w->targets[i] = tally_intern_target(cache, &t);
		w->labels[i] = tally_intern_label(cache, text, strlen(text));
	}
	tally_intern_cache_destroy(cache);
	return NULL;
}

static void
test_threads(void)
{
	static struct worker workers[N_THREADS];
	for (unsigned n = 0; n < N_THREADS; n++)
		workers[n].thread = g_thread_new("worker", intern_all, &workers[n]);
	for (unsigned n = 0; n < N_THREADS; n++)
		g_thread_join(workers[n].thread);
	for (unsigned i = 0; i < N_SHAPES; i++) {
		for (unsigned n = 0; n < N_THREADS; n++) {
			g_assert_nonnull(workers[n].targets[i]);
			g_assert_true(workers[n].targets[i] == workers[0].targets[i]);
			g_assert_true(workers[n].labels[i] == workers[0].labels[i]);
		}
		g_assert_cmpuint(workers[0].targets[i]->width, ==, 1000 + i);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/intern/targets", test_targets);
	g_test_add_func("/intern/labels", test_labels);
	g_test_add_func("/intern/threads", test_threads);
	return g_test_run();
}

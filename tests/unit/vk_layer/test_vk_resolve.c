/* SPDX-License-Identifier: MIT */
/* Which waits end without further action of the game. A script is a line of words: queue
 * letters with what is submitted to them, and questions in between. */
#include "vk_layer/exact/resolve.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_QUEUES = 3 };

struct world {
	struct vk_resolve *r;
	struct vk_line *lines[N_QUEUES];
	uint64_t serials[N_QUEUES];
};

static void
start(struct world *w)
{
	*w = (struct world){ .r = vk_resolve_create() };
	g_assert_nonnull(w->r);
	for (int i = 0; i < N_QUEUES; i++)
		w->lines[i] = vk_line_create(w->r);
	for (uint64_t t = 't'; t <= 'w'; t++)
		vk_resolve_learn(w->r, t, VK_SEMAPHORE_TIMELINE, 0);
	for (uint64_t b = 'a'; b <= 'd'; b++)
		vk_resolve_learn(w->r, b, VK_SEMAPHORE_BINARY, 0);
	vk_resolve_learn(w->r, 'x', VK_SEMAPHORE_EXTERNAL, 0);
}

/* "t2,a": semaphores with values; "-": none. */
static uint32_t
count(const char *text)
{
	uint32_t n = *text != '-';
	for (const char *c = text; *c; c++)
		n += *c == ',';
	return n;
}

static struct vk_op *
op_of(const char *waits, const char *signals)
{
	struct vk_op *op = vk_op_create(count(waits), count(signals));
	g_assert_nonnull(op);
	const char *at = waits;
	for (uint32_t i = 0; i < count(waits);
	     i++, at = strchr(at, ',') ? strchr(at, ',') + 1 : at)
		vk_op_set(op, i, (uint64_t)*at, strtoull(at + 1, NULL, 10));
	at = signals;
	for (uint32_t i = 0; i < count(signals);
	     i++, at = strchr(at, ',') ? strchr(at, ',') + 1 : at)
		vk_op_set(op, count(waits) + i, (uint64_t)*at, strtoull(at + 1, NULL, 10));
	return op;
}

static const char *const words[VK_N_VERDICTS] = {
	[VK_RESOLVED] = "ends",           [VK_WAITS_HOST] = "host",
	[VK_WAITS_EXTERNAL] = "external", [VK_WAITS_BEHIND] = "behind",
	[VK_WAITS_UNKNOWN] = "unknown",
};

/* One step: "0:WAITS>SIGNALS" submits to queue 0; "0?WAITS=WORD" asks; "!t3" is the host's signal
 * or an acquire; "~t" destroys; "@t" shares; "0^N" all up to the N-th operation have ended. */
static void
step(struct world *w, const char *s)
{
	char waits[32] = "", rest[32] = "";
	int q = s[0] - '0';
	if (s[0] == '!') {
		vk_resolve_signal(w->r, (uint64_t)s[1], strtoull(s + 2, NULL, 10));
	} else if (s[0] == '~') {
		vk_resolve_forget(w->r, (uint64_t)s[1]);
	} else if (s[0] == '@') {
		vk_resolve_share(w->r, (uint64_t)s[1]);
	} else if (s[1] == '^') {
		vk_resolve_completed(w->r, w->lines[q], strtoull(s + 2, NULL, 10));
	} else if (sscanf(s + 1, "?%31[^=]=%31s", waits, rest) == 2) {
		struct vk_op *op = op_of(waits, "-");
		g_assert_cmpstr(words[vk_resolve_ask(w->r, w->lines[q], op)], ==, rest);
		vk_op_destroy(op);
	} else {
		g_assert_cmpint(sscanf(s + 1, ":%31[^>]>%31s", waits, rest), ==, 2);
		vk_resolve_submitted(w->r, w->lines[q], op_of(waits, rest), ++w->serials[q]);
	}
}

static const struct {
	const char *what, *script;
} cases[] = {
	{ "nothing to wait for", "0?-=ends" },
	{ "a binary semaphore that a submission signals", "1:->a 0?a=ends" },
	{ "a timeline below its first value", "0?t0=ends" },
	{ "wait before signal", "0?t1=host 1:->t1 0?t1=ends 0?t2=host" },
	{ "the host signals", "0?t3=host !t2 0?t3=host !t3 0?t3=ends" },
	{ "what signals waits itself", "1:t1>u1 0?u1=host !t1 0?u1=ends" },
	{ "a chain over three queues", "2:u1>v1 1:t1>u1 0?v1=host !t1 0?v1=ends" },
	{ "behind one that waits", "0:t1>- 0?-=behind 1:->t1 0?-=ends" },
	{ "behind one that waits: its signals do not count",
	  "0:t1>- 0:->u1 1?u1=host !t1 1?u1=ends" },
	{ "two queues that wait for each other",
	  "0:t1>u1 0?-=behind 1?u1=host 1:->t1 1?u1=ends 0?-=ends" },
	{ "two queues that wait for ever", "0:t1>u1 1:u1>t1 0?-=behind 1?-=behind 2?t1=host" },
	{ "a binary semaphore of a submission that waits", "0:t1>a 1?a=host !t1 1?a=ends" },
	{ "a binary semaphore again", "0:->a 1:a>- 0:t1>a 1?a=host !t1 1?a=ends" },
	{ "an acquired image", "!a 0?a=ends 0:a>b 0?b=ends" },
	{ "a shared semaphore", "0?x=external 0:x>- 0?-=behind 1?-=ends 0^1 0?-=ends" },
	{ "one that becomes shared", "1:->a @a 0?a=external" },
	{ "a shared semaphore's successors", "0:x>t1 1?t1=host 0^1 1?t1=ends" },
	{ "an unknown semaphore", "0?z=external" },
	{ "one that is destroyed has ended", "0:t1>u1 1?u1=host ~t 1?u1=ends 0?-=ends" },
	{ "destroyed and made again", "1:->a ~a 0?a=external" },
	{ "several waits, one of them open", "1:->a 0?a,t1=host !t1 0?a,t1=ends" },
	{ "the reason named is that of the first", "0?x,t1=external 0?t1,x=host" },
	{ "values only go up", "!t5 1:->t3 0?t5=ends" },
	{ "ended up to a serial", "0:t1>a 0:t2>b 0^1 1?a=ends 1?b=host 0^2 1?b=ends" },
};

static void
test_script(gconstpointer data)
{
	struct world w;
	start(&w);
	char **steps = g_strsplit(cases[GPOINTER_TO_SIZE(data)].script, " ", -1);
	for (char **s = steps; *s; s++) {
		g_test_message("%s", *s);
		step(&w, *s);
	}
	g_strfreev(steps);
	vk_resolve_destroy(w.r);
}

/* Operations beyond the limit: the answer is unknown until the queue is idle. */
static void
test_ceiling(void)
{
	struct world w;
	start(&w);
	for (int i = 0; i < 4096; i++)
		step(&w, "0:t1>-");
	step(&w, "0:t1>a"); /* there is no room for it */
	step(&w, "!t1");
	step(&w, "0?-=unknown");
	step(&w, "1?a=host");
	step(&w, "0^4096");
	step(&w, "0?-=unknown");
	step(&w, "0^4097");
	step(&w, "0?-=ends");
	step(&w, "0:->a");
	step(&w, "1?a=ends");
	vk_resolve_destroy(w.r);
}

/* Without memory nothing is resolvable, and nothing crashes. */
static void
test_no_memory(void)
{
	struct world w;
	start(&w);
	struct vk_op *op = op_of("-", "-");
	g_assert_cmpint(vk_resolve_ask(NULL, NULL, op), ==, VK_WAITS_UNKNOWN);
	g_assert_cmpint(vk_resolve_ask(w.r, NULL, op), ==, VK_WAITS_UNKNOWN);
	g_assert_cmpint(vk_resolve_ask(w.r, w.lines[0], NULL), ==, VK_WAITS_UNKNOWN);
	g_assert_cmpint(vk_resolve_ask(w.r, w.lines[0], op), ==, VK_RESOLVED);
	vk_resolve_submitted(w.r, w.lines[1], NULL, 1);
	g_assert_cmpint(vk_resolve_ask(w.r, w.lines[0], op), ==, VK_WAITS_UNKNOWN);
	vk_op_destroy(op);
	vk_resolve_submitted(NULL, NULL, op_of("a", "b"), 1);
	vk_resolve_learn(NULL, 1, VK_SEMAPHORE_BINARY, 0);
	vk_resolve_share(NULL, 1);
	vk_resolve_forget(NULL, 1);
	vk_resolve_signal(NULL, 1, 1);
	vk_resolve_completed(NULL, NULL, 1);
	vk_op_set(NULL, 0, 1, 1);
	g_assert_null(vk_line_create(NULL));
	vk_resolve_destroy(NULL);
	vk_resolve_destroy(w.r);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *name = g_strdelimit(
			g_strdup_printf("/vk_resolve/%s", cases[i].what), " ", '-');
		g_test_add_data_func(name, GSIZE_TO_POINTER(i), test_script);
	}
	g_test_add_func("/vk_resolve/ceiling", test_ceiling);
	g_test_add_func("/vk_resolve/no-memory", test_no_memory);
	return g_test_run();
}

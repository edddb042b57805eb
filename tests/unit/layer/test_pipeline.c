/* SPDX-License-Identifier: MIT */
#include "layer/frame/pipeline.h"

#include <glib.h>
#include <string.h>

/* The vectors of docs/identity.md. */
static const struct {
	const char *what;
	struct tally_stage_record stages[3];
	uint32_t n;
	uint64_t id;
	enum tally_pass_kind kind;
} vectors[] = {
	{ "two stages",
	  { { TALLY_STAGE_VERTEX, "main", 0x0123456789abcdef, 4 },
	    { TALLY_STAGE_FRAGMENT, "main", 0xfedcba9876543210, 4 } },
	  2,
	  0xcdfb829e0a4dc5ce,
	  TALLY_PASS_RENDER },
	{ "the order in which they are given does not matter",
	  { { TALLY_STAGE_FRAGMENT, "main", 0xfedcba9876543210, 4 },
	    { TALLY_STAGE_VERTEX, "main", 0x0123456789abcdef, 4 } },
	  2,
	  0xcdfb829e0a4dc5ce,
	  TALLY_PASS_RENDER },
	{ "no entry point: OpenGL",
	  { { TALLY_STAGE_COMPUTE, NULL, 1, 4 } },
	  1,
	  0xdd84118b8c59fb14,
	  TALLY_PASS_COMPUTE },
	{ "rays",
	  { { TALLY_STAGE_MISS, "m", 2, 4 },
	    { TALLY_STAGE_RAYGEN, "r", 1, 4 },
	    { TALLY_STAGE_MISS, "a", 2, 4 } },
	  3,
	  0x74618231a561e155,
	  TALLY_PASS_RAYTRACING },
};

static void
test_identity(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(vectors); i++) {
		g_test_message("%s", vectors[i].what);
		struct tally_stage_record stages[3];
		memcpy(stages, vectors[i].stages, sizeof(stages));
		struct tally_pipeline *p = tally_pipeline_intern(stages, vectors[i].n);
		g_assert_nonnull(p);
		g_assert_cmphex(p->id, ==, vectors[i].id);
		g_assert_cmpuint(p->n_stages, ==, vectors[i].n);
		g_assert_cmpint(tally_pipeline_kind(p->stages, p->n_stages), ==, vectors[i].kind);
		memcpy(stages, vectors[i].stages, sizeof(stages));
		g_assert_true(tally_pipeline_intern(stages, vectors[i].n) == p);
	}
}

static void
test_names(void)
{
	struct tally_stage_record stage = { TALLY_STAGE_COMPUTE, "blur", 7, 4 };
	struct tally_pipeline *p = tally_pipeline_intern(&stage, 1);
	tally_pipeline_set_name(p, NULL, "", 0);
	tally_pipeline_set_name(p, NULL, NULL, 3);
	tally_pipeline_set_name(NULL, NULL, "x", 1);
	g_assert_null(atomic_load(&p->name));
	tally_pipeline_set_name(p, NULL, "first", 5);
	tally_pipeline_set_name(p, NULL, "second", 6);
	tally_pipeline_set_name(p, NULL, "first", 5);
	tally_pipeline_set_name(p, NULL, "sec", 3);
	tally_pipeline_set_name(p, NULL, "sec", 3);
	g_assert_cmpstr(atomic_load(&p->name), ==, "first, second, sec");
	/* Named anew: the name of this object alone is replaced, those of several are left. */
	tally_pipeline_set_name(p, "second", "other", 5);
	g_assert_cmpstr(atomic_load(&p->name), ==, "first, second, sec");
	stage.code++;
	struct tally_pipeline *own = tally_pipeline_intern(&stage, 1);
	tally_pipeline_set_name(own, NULL, "loading", 7);
	tally_pipeline_set_name(own, "loading", "Final", 5);
	g_assert_cmpstr(atomic_load(&own->name), ==, "Final");
	char text[200];
	for (unsigned i = 0; i < 500; i++)
		tally_pipeline_set_name(p, NULL, text,
					(size_t)g_snprintf(text, sizeof(text), "no %u", i));
	g_assert_cmpuint(strlen(atomic_load(&p->name)), <, 512);
	g_assert_null(tally_pipeline_intern(&stage, 0));
}

/* 65536 are kept, no more; those that are known are still found. */
static void
test_limit(void)
{
	unsigned n = 0;
	struct tally_pipeline *first = NULL;
	for (uint64_t i = 0; i < 70000; i++) {
		struct tally_stage_record stage = { TALLY_STAGE_FRAGMENT, "main", 1000 + i, 4 };
		struct tally_pipeline *p = tally_pipeline_intern(&stage, 1);
		n += p != NULL;
		first = first ? first : p;
	}
	g_assert_cmpuint(n, >, 65000);
	g_assert_cmpuint(n, <=, 65536);
	struct tally_stage_record stage = { TALLY_STAGE_FRAGMENT, "main", 1000, 4 };
	g_assert_true(tally_pipeline_intern(&stage, 1) == first);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/pipeline/identity", test_identity);
	g_test_add_func("/pipeline/names", test_names);
	g_test_add_func("/pipeline/limit", test_limit);
	return g_test_run();
}

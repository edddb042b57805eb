/* SPDX-License-Identifier: MIT */
/* tests/apps/hygiene_queries.c - the game's own queries: names, results, nesting. */
#include "tests/apps/hygiene.h"

#include <inttypes.h>
#include <stdio.h>

/* Passes on both targets and the screen, and a swap: these make passtally issue and read
 * queries. */
static void
some_frames(struct hygiene *h, int n)
{
	for (int i = 0; i < n; i++) {
		hygiene_pass(h, 0, 30);
		hygiene_pass(h, 1, 60);
		hygiene_pass(h, -1, 90);
		hygiene_swap(h);
	}
	glFinish();
}

static uint64_t
result(GLuint id)
{
	GLuint value = 0;
	glGetQueryObjectuiv(id, GL_QUERY_RESULT, &value);
	return value;
}

static void
names(struct hygiene *h)
{
	for (int round = 0; round < 4; round++) {
		GLuint ids[5] = { 0 };
		glGenQueries(5, ids);
		printf("  queries %u %u %u %u %u\n", ids[0], ids[1], ids[2], ids[3], ids[4]);
		some_frames(h, 2);
		if (round == 2) {
			glDeleteQueries(2, ids + 1);
			some_frames(h, 1);
		}
	}
	GLuint one;
	glGenQueries(1, &one);
	printf("  query %u\n", one);
	glGenTextures(1, &one);
	printf("  texture %u\n", one);
	glGenFramebuffers(1, &one);
	printf("  framebuffer %u\n", one);
	glGenBuffers(1, &one);
	printf("  buffer %u\n", one);
	hygiene_errors("after the names");
}

static void
print_query_names(const char *when)
{
	printf("  %s:", when);
	for (GLuint id = 0; id <= 600; id++) {
		if (glIsQuery(id))
			printf(" %u", id);
	}
	printf("\n");
}

static void
is_query(struct hygiene *h)
{
	print_query_names("before");
	some_frames(h, 3);
	print_query_names("after passes");
	hygiene_pass(h, 0, 30); /* a pass is open now */
	print_query_names("inside a pass");
	GLuint ids[3];
	glGenQueries(3, ids);
	print_query_names("generated");
	GLenum target = h->s->options.api == STAGE_GLES ? GL_ANY_SAMPLES_PASSED
							: GL_SAMPLES_PASSED;
	glBeginQuery(target, ids[1]);
	hygiene_pass(h, 0, 30);
	glEndQuery(target);
	print_query_names("one used");
	some_frames(h, 2);
	glDeleteQueries(3, ids);
	print_query_names("deleted");
	hygiene_errors("after IsQuery");
}

static const GLenum desktop_targets[] = {
	GL_TIME_ELAPSED, GL_TIMESTAMP, GL_SAMPLES_PASSED, GL_ANY_SAMPLES_PASSED,
	GL_ANY_SAMPLES_PASSED_CONSERVATIVE, GL_PRIMITIVES_GENERATED,
	GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, 0x82EE, 0x82EF, 0x82F0, 0x82F1, 0x82F2, 0x887F,
	0x82F3, 0x82F4, 0x82F5, 0x82F6, 0x82F7,
};
static const GLenum gles_targets[] = { GL_ANY_SAMPLES_PASSED, GL_ANY_SAMPLES_PASSED_CONSERVATIVE,
				       GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN };

static const GLenum *
targets(struct hygiene *h, size_t *n)
{
	if (h->s->options.api == STAGE_GLES) {
		*n = sizeof(gles_targets) / sizeof(gles_targets[0]);
		return gles_targets;
	}
	*n = sizeof(desktop_targets) / sizeof(desktop_targets[0]);
	return desktop_targets;
}

static void
print_current(struct hygiene *h, const char *when)
{
	size_t n;
	const GLenum *list = targets(h, &n);
	printf("  %s:", when);
	for (size_t i = 0; i < n; i++) {
		GLint current = -1, bits = -1;
		glGetQueryiv(list[i], GL_CURRENT_QUERY, &current);
		if (h->s->options.api != STAGE_GLES)
			glGetQueryiv(list[i], GL_QUERY_COUNTER_BITS, &bits);
		printf(" %x=%d/%d", list[i], current, bits);
	}
	printf("\n");
	hygiene_errors(when);
}

static void
current_query(struct hygiene *h)
{
	print_current(h, "before");
	hygiene_pass(h, 0, 30);
	print_current(h, "inside a pass");
	GLuint ids[2];
	glGenQueries(2, ids);
	GLenum target = h->s->options.api == STAGE_GLES ? GL_ANY_SAMPLES_PASSED
							: GL_SAMPLES_PASSED;
	glBeginQuery(target, ids[0]);
	print_current(h, "one active");
	hygiene_pass(h, 1, 30);
	print_current(h, "one active, another pass");
	glEndQuery(target);
	print_current(h, "ended");
	if (h->s->options.api != STAGE_GLES) {
		GLint indexed = -1;
		glGetQueryIndexediv(GL_PRIMITIVES_GENERATED, 0, GL_CURRENT_QUERY, &indexed);
		printf("  indexed %d\n", indexed);
	}
	hygiene_errors("after CURRENT_QUERY");
}

/* Compatibility contexts let a game use names that it never generated. */
static void
ungenerated(struct hygiene *h)
{
	static const GLuint ids[] = { 1, 2, 3, 77, 4, 600 };
	some_frames(h, 2);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		glBeginQuery(GL_SAMPLES_PASSED, ids[i]);
		hygiene_errors("at an ungenerated name");
		hygiene_pass(h, 0, 30);
		hygiene_pass(h, 1, 30);
		glEndQuery(GL_SAMPLES_PASSED);
		printf("  name %u: %" PRIu64 " samples\n", ids[i], result(ids[i]));
		some_frames(h, 1);
	}
	GLuint next[4] = { 0 };
	glGenQueries(4, next);
	printf("  then %u %u %u %u\n", next[0], next[1], next[2], next[3]);
	glQueryCounter(5, GL_TIMESTAMP);
	hygiene_errors("at QueryCounter of an ungenerated name");
	print_query_names("in the end");
}

/* One query over several passes: the sum of all of them, whatever passtally counts. */
static void
held_target(struct hygiene *h, GLenum target, const char *name)
{
	GLuint id;
	glGenQueries(1, &id);
	hygiene_pass(h, 0, 30);
	glBeginQuery(target, id);
	hygiene_pass(h, 0, 30);
	hygiene_pass(h, 1, 60);
	hygiene_pass(h, -1, 90);
	hygiene_swap(h);
	hygiene_pass(h, 0, 120);
	glEndQuery(target);
	hygiene_pass(h, 0, 30);
	hygiene_errors(name);
	uint64_t value = result(id);
	if (target == GL_TIME_ELAPSED) /* a time: only its existence is compared */
		printf("  %s answered\n", name);
	else
		printf("  %s %" PRIu64 "\n", name, value);
	hygiene_errors("at its result");
	/* The same name once more, inside one pass. */
	glBeginQuery(target, id);
	hygiene_pass(h, 0, 45);
	glEndQuery(target);
	value = result(id);
	if (target != GL_TIME_ELAPSED)
		printf("  %s again %" PRIu64 "\n", name, value);
	hygiene_errors("the second time");
	glDeleteQueries(1, &id);
}

static void
held(struct hygiene *h)
{
	static const struct {
		GLenum target;
		const char *name;
	} list[] = {
		{ GL_TIME_ELAPSED, "time elapsed" },
		{ GL_SAMPLES_PASSED, "samples passed" },
		{ GL_ANY_SAMPLES_PASSED, "any samples" },
		{ GL_ANY_SAMPLES_PASSED_CONSERVATIVE, "any samples, conservative" },
		{ GL_PRIMITIVES_GENERATED, "primitives generated" },
		{ GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, "primitives written" },
		{ 0x82EE, "vertices submitted" },
		{ 0x82EF, "primitives submitted" },
		{ 0x82F0, "vertex shader invocations" },
		{ 0x82F1, "tess control patches" },
		{ 0x82F2, "tess evaluation invocations" },
		{ 0x887F, "geometry shader invocations" },
		{ 0x82F3, "geometry primitives emitted" },
		{ 0x82F4, "fragment shader invocations" },
		{ 0x82F5, "compute shader invocations" },
		{ 0x82F6, "clipping input" },
		{ 0x82F7, "clipping output" },
	};
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		held_target(h, list[i].target, list[i].name);
}

/* What the API forbids stays forbidden. */
static void
misuse(struct hygiene *h)
{
	GLuint ids[3];
	glGenQueries(3, ids);
	hygiene_pass(h, 0, 30);
	glEndQuery(GL_SAMPLES_PASSED);
	hygiene_errors("at an end without a begin");
	glBeginQuery(GL_SAMPLES_PASSED, ids[0]);
	glBeginQuery(GL_SAMPLES_PASSED, ids[1]);
	hygiene_errors("at a second begin");
	glBeginQuery(GL_ANY_SAMPLES_PASSED, ids[1]);
	hygiene_errors("at a begin of an excluded target");
	GLuint available = 7;
	glGetQueryObjectuiv(ids[0], GL_QUERY_RESULT_AVAILABLE, &available);
	hygiene_errors("at a question to an active query");
	hygiene_pass(h, 1, 30);
	glEndQuery(GL_SAMPLES_PASSED);
	printf("  samples %" PRIu64 "\n", result(ids[0]));
	glBeginQuery(GL_PRIMITIVES_GENERATED, ids[0]);
	hygiene_errors("at a name of another target");
	glBeginQuery(GL_TIMESTAMP, ids[2]);
	hygiene_errors("at a begin of TIMESTAMP");
	glBeginQuery(0x1234, ids[2]);
	hygiene_errors("at an unknown target");
	glQueryCounter(ids[2], GL_TIME_ELAPSED);
	hygiene_errors("at a counter of TIME_ELAPSED");
	glBeginQuery(GL_SAMPLES_PASSED, 0);
	hygiene_errors("at name 0");
	glGetQueryObjectuiv(9999, GL_QUERY_RESULT, &available);
	hygiene_errors("at a name that is none");
	glBeginQueryIndexed(GL_PRIMITIVES_GENERATED, 99, ids[1]);
	hygiene_errors("at a stream that is none");
	glDeleteQueries(-1, ids);
	hygiene_errors("at a negative count");
	some_frames(h, 2);
}

/* Deleting a query that is active ends it. */
static void
deleted_active(struct hygiene *h)
{
	GLuint ids[2];
	glGenQueries(2, ids);
	glBeginQuery(0x82EF, ids[0]);
	hygiene_pass(h, 0, 30);
	glDeleteQueries(1, ids);
	hygiene_errors("at deleting an active query");
	hygiene_pass(h, 1, 60);
	glBeginQuery(0x82EF, ids[1]);
	hygiene_errors("at the next begin");
	hygiene_pass(h, 0, 90);
	glEndQuery(0x82EF);
	printf("  primitives %" PRIu64 "\n", result(ids[1]));
	print_current(h, "after");
	some_frames(h, 2);
}

static void
timestamps(struct hygiene *h)
{
	GLuint ids[3];
	GLuint64 stamps[3] = { 0 };
	glGenQueries(3, ids);
	for (int i = 0; i < 3; i++) {
		glQueryCounter(ids[i], GL_TIMESTAMP);
		hygiene_pass(h, i % 2, 300);
		hygiene_swap(h);
	}
	for (int i = 0; i < 3; i++)
		glGetQueryObjectui64v(ids[i], GL_QUERY_RESULT, &stamps[i]);
	printf("  in order %d %d\n", stamps[0] <= stamps[1], stamps[1] <= stamps[2]);
	GLint64 now = 0;
	glGetInteger64v(GL_TIMESTAMP, &now);
	printf("  now is later %d\n", (GLuint64)now >= stamps[2]);
	hygiene_errors("at timestamps");
}

static void
elapsed_over_frames(struct hygiene *h)
{
	GLuint id;
	glGenQueries(1, &id);
	for (int i = 0; i < 4; i++) {
		glBeginQuery(GL_TIME_ELAPSED, id);
		hygiene_errors("at TIME_ELAPSED");
		some_frames(h, 1);
		glEndQuery(GL_TIME_ELAPSED);
		GLuint available = 0;
		glFinish();
		glGetQueryObjectuiv(id, GL_QUERY_RESULT_AVAILABLE, &available);
		printf("  available %u\n", available);
	}
	hygiene_errors("after TIME_ELAPSED");
}

/* A query stays active while its context is not current. */
static void
switched_away(struct hygiene *h)
{
	bool es = h->s->options.api == STAGE_GLES;
	GLenum target = es ? GL_ANY_SAMPLES_PASSED : 0x82EF;
	struct stage_peer *peer = stage_peer_create(h->s, true);
	GLuint id;
	glGenQueries(1, &id);
	glBeginQuery(target, id);
	hygiene_pass(h, 0, 30);
	stage_peer_make_current(h->s, peer);
	stage_peer_use_vertices(h->s);
	GLuint elsewhere = 0;
	glGenQueries(1, &elsewhere);
	printf("  in the other context query %u\n", elsewhere);
	stage_draw(h->s, 0, 300, 1);
	print_current(h, "in the other context");
	stage_peer_make_current(h->s, NULL);
	print_current(h, "back");
	hygiene_pass(h, 1, 60);
	stage_release(h->s);
	stage_peer_make_current(h->s, NULL);
	hygiene_pass(h, 0, 90);
	glEndQuery(target);
	printf("  result %" PRIu64 "\n", result(id));
	hygiene_errors("after switching");
	stage_peer_destroy(h->s, peer);
}

const struct hygiene_part query_parts[] = {
	{ "names", HYGIENE_ALL, names },
	{ "is_query", HYGIENE_ALL, is_query },
	{ "current_query", HYGIENE_ALL, current_query },
	{ "ungenerated", 1u << STAGE_COMPAT, ungenerated },
	{ "held", HYGIENE_DESKTOP, held },
	{ "misuse", HYGIENE_DESKTOP, misuse },
	{ "deleted_active", HYGIENE_DESKTOP, deleted_active },
	{ "timestamps", HYGIENE_DESKTOP, timestamps },
	{ "elapsed_over_frames", HYGIENE_DESKTOP, elapsed_over_frames },
	{ "switched_away", HYGIENE_ALL, switched_away },
	{ 0 },
};

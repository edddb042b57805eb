/* SPDX-License-Identifier: MIT */
/* The game's names of queries are those of a driver without passtally, whichever of the two rules
 * the driver has: the same calls go to a bare driver and, with passtally's own queries in between,
 * to the shim. */
#include "gl_shim/game/query_names.h"

#include <glib.h>
#include <string.h>

#include "gl_shim/context/state.h"

#define N_NAMES 200

/* A driver's names. */
struct driver {
	bool reuses; /* the lowest that is free, else one more than ever */
	GLuint highest;
	bool used[N_NAMES];
};

static struct driver *current;

static void
generate(GLsizei n, GLuint *ids)
{
	for (GLsizei i = 0; i < n; i++) {
		GLuint name = current->reuses ? 1 : current->highest + 1;
		while (current->used[name])
			name++;
		g_assert_cmpuint(name, <, N_NAMES);
		current->used[name] = true;
		current->highest = MAX(current->highest, name);
		ids[i] = name;
	}
}

static void
destroy(GLsizei n, const GLuint *ids)
{
	for (GLsizei i = 0; i < n; i++)
		current->used[ids[i]] = false;
}

/* What is done, in turn: N generates N names, -N deletes the game's name N, 0: passtally makes
 * four. */
static const int cases[][12] = {
	{ 2, 0, 3, -1, -4, 0, 4, -2, 1 },
	{ 0, 5, -2, -3, 5, 0, 0, -1, 2 },
	{ 3, -2, 0, 2, -1, -2, -3, 6 },
	{ 1, -1, 1, 0, 1, -1, -2, 2 },
};

static void
test_names(gconstpointer data)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct driver bare = { .reuses = data }, beneath = { .reuses = data };
		struct gl_context_state *s = g_new0(struct gl_context_state, 1);
		s->pub.state = gl_worker = s;
		s->queries.generate = generate;
		s->queries.destroy = destroy;
		for (size_t k = 0; k < G_N_ELEMENTS(cases[i]); k++) {
			int n = cases[i][k];
			GLuint wanted[8] = { 0 }, got[8] = { 0 }, ours[4];
			GLuint name = (GLuint)-n;
			current = &bare;
			if (n > 0)
				generate(n, wanted);
			else if (n < 0)
				destroy(1, &name);
			current = &beneath;
			if (n > 0)
				gl_gen_queries(&s->pub, generate, n, got);
			else if (n < 0)
				gl_delete_queries(&s->pub, destroy, 1, &name);
			else
				gl_own_gen_queries(4, ours);
			g_assert_cmpmem(got, sizeof(got), wanted, sizeof(wanted));
		}
		gl_queries_finish(&s->queries);
		g_free(s);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_data_func("/query_names/rising", NULL, test_names);
	g_test_add_data_func("/query_names/reused", "", test_names);
	return g_test_run();
}

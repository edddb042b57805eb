/* SPDX-License-Identifier: MIT */
#include "gl_shim/game/query_names.h"

#include <stdlib.h>
#include <uthash.h>

#include "gl_shim/context/state.h"

/* A name and the name it maps to. by_game and by_driver have the same pairs,
 * in opposite directions. */
struct gl_query_name {
	GLuint name, other;
	UT_hash_handle hh;
};

/* A name that neither the driver nor a game uses: using it raises the same error as using a
 * name that was never generated. */
#define NOBODYS_NAME 0xfffffff1u
#define FAR_NAME 0x40000000u

static struct gl_query_name *
find(struct gl_query_name *table, GLuint name)
{
	struct gl_query_name *entry = NULL;
	HASH_FIND(hh, table, &name, sizeof(name), entry);
	return entry;
}

static bool
add(struct gl_query_name **table, GLuint name, GLuint other)
{
	struct gl_query_name *entry = find(*table, name);
	if (entry) {
		entry->other = other;
		return true;
	}
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return false;
	entry->name = name;
	entry->other = other;
	HASH_ADD(hh, *table, name, sizeof(name), entry);
	if (!entry->hh.tbl) { /* uthash could not grow: HASH_NONFATAL_OOM leaves it out */
		free(entry);
		return false;
	}
	return true;
}

static void
drop(struct gl_query_name **table, GLuint name)
{
	struct gl_query_name *entry = find(*table, name);
	if (!entry)
		return;
	HASH_DEL(*table, entry);
	free(entry);
}

static void
clear(struct gl_query_name **table)
{
	struct gl_query_name *entry, *tmp;
	HASH_ITER (hh, *table, entry, tmp) {
		HASH_DEL(*table, entry);
		free(entry);
	}
}

void
gl_queries_finish(struct gl_queries *q)
{
	clear(&q->by_game);
	clear(&q->by_driver);
	clear(&q->ours);
}

/* ---- passtally's own names ---- */

static void
try_names(struct gl_queries *q)
{
	GLuint first = 0, second = 0;
	q->generate(1, &first);
	q->destroy(1, &first);
	q->generate(1, &second);
	q->destroy(1, &second);
	q->reuses_names = first && first == second;
	q->tried_names = true;
}

void
gl_own_gen_queries(int n, unsigned *ids)
{
	struct gl_context_state *s = gl_worker;
	if (!s->queries.tried_names)
		try_names(&s->queries);
	s->queries.generate(n, ids);
	for (int i = 0; i < n; i++) {
		/* A name that could not be recorded might be taken for the game's, so it is
		 * deleted. */
		if (ids[i] && !add(&s->queries.ours, ids[i], 0)) {
			s->queries.destroy(1, &ids[i]);
			ids[i] = 0;
		}
	}
}

void
gl_own_delete_queries(int n, const unsigned *ids)
{
	struct gl_context_state *s = gl_worker;
	s->queries.destroy(n, ids);
	for (int i = 0; i < n; i++)
		drop(&s->queries.ours, ids[i]);
}

/* ---- the game's names ---- */

/* The driver's name for a game's name, or 0 when the game's name exists in the driver only by
 * coincidence: there it is one of passtally's, or represents another of the game's names. */
static GLuint
translate(const struct gl_queries *q, GLuint id)
{
	const struct gl_query_name *pair = find(q->by_game, id);
	if (pair)
		return pair->other;
	if (find(q->ours, id) || find(q->by_driver, id))
		return 0;
	return id;
}

GLuint
gl_query_to_driver(struct gl_context *c, GLuint id)
{
	if (!id)
		return 0;
	GLuint real = translate(&c->state->queries, id);
	return real ? real : NOBODYS_NAME;
}

static GLuint
to_game(const struct gl_queries *q, GLuint real)
{
	if (!real || find(q->ours, real))
		return 0;
	const struct gl_query_name *pair = find(q->by_driver, real);
	return pair ? pair->other : real;
}

/* False: there was no memory, and nothing changed. */
static bool
add_pair(struct gl_queries *q, GLuint shown, GLuint real)
{
	if (!add(&q->by_game, shown, real))
		return false;
	if (add(&q->by_driver, real, shown))
		return true;
	drop(&q->by_game, shown);
	return false;
}

GLuint
gl_query_used(struct gl_context *c, GLuint id)
{
	struct gl_queries *q = &c->state->queries;
	if (!id)
		return 0;
	/* The invented names continue from the highest, so a name far above the others is not
	 * counted. */
	if (id > q->highest && id < FAR_NAME)
		q->highest = id;
	GLuint real = translate(q, id);
	if (real) {
		if (!c->state->caps.core_profile)
			add_pair(q, id, real);
		return real;
	}
	/* If names must be generated first, this stays the error it would have been. */
	if (c->state->caps.core_profile)
		return NOBODYS_NAME;
	c->next->GenQueries(1, &real);
	return real && add_pair(q, id, real) ? real : NOBODYS_NAME;
}

/* The name that the driver would return next without passtally. */
static GLuint
next_name(struct gl_queries *q)
{
	if (!q->reuses_names)
		return q->highest + 1;
	while (find(q->by_game, q->below + 1))
		q->below++;
	return q->below + 1;
}

/* The driver returned `ids`; replaces them with those that the game would have seen without
 * passtally. */
static void
show_names(struct gl_context *c, GLsizei n, GLuint *ids)
{
	struct gl_queries *q = &c->state->queries;
	if (!ids)
		return;
	for (GLsizei i = 0; i < n; i++) {
		GLuint real = ids[i];
		if (!real)
			continue;
		GLuint shown = q->tried_names ? next_name(q) : real;
		if (!add_pair(q, shown, real))
			shown = real;
		if (shown > q->highest)
			q->highest = shown;
		ids[i] = shown;
	}
}

void
gl_gen_queries(struct gl_context *c, void (*next)(GLsizei, GLuint *), GLsizei n, GLuint *ids)
{
	next(n, ids);
	if (n > 0)
		show_names(c, n, ids);
}

void
gl_create_queries(struct gl_context *c, void (*next)(GLenum, GLsizei, GLuint *), GLenum target,
		  GLsizei n, GLuint *ids)
{
	if (n <= 0 || !ids) {
		next(target, n, ids);
		return;
	}
	/* A bad target leaves ids unchanged; 0 is no valid name, so a 0
	 * that stays shows the error. */
	GLuint first = ids[0];
	ids[0] = 0;
	next(target, n, ids);
	if (ids[0])
		show_names(c, n, ids);
	else
		ids[0] = first;
}

void
gl_delete_queries(struct gl_context *c, void (*next)(GLsizei, const GLuint *), GLsizei n,
		  const GLuint *ids)
{
	struct gl_queries *q = &c->state->queries;
	if (n <= 0 || !ids || (!q->ours && !q->by_game)) {
		next(n, ids);
		return;
	}
	for (GLsizei i = 0; i < n; i++) {
		GLuint real = translate(q, ids[i]);
		if (!real || !ids[i])
			continue; /* deleting a name without an object does nothing */
		next(1, &real);
		if (find(q->by_game, ids[i])) {
			drop(&q->by_game, ids[i]);
			drop(&q->by_driver, real);
			if (q->below >= ids[i])
				q->below = ids[i] - 1;
		}
	}
}

void
gl_hide_current_query(struct gl_context *c, GLenum pname, GLint *params)
{
	if (pname == GL_CURRENT_QUERY && params)
		*params = (GLint)to_game(&c->state->queries, (GLuint)*params);
}

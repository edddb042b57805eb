/* SPDX-License-Identifier: MIT */
/* gl_shim/game/queries.h - the game's own queries: their names, and the targets they use.
 *
 * passtally's query objects are in the game's name space. So that the game never encounters
 * one, it sees different names: those that the driver would have returned without passtally,
 * either one more than the highest so far or the lowest that is free (Mesa from 24 on, seen in
 * 25.0.7). A target is yielded as soon as the game uses it.
 */
#ifndef PASSTALLY_GL_SHIM_QUERIES_H
#define PASSTALLY_GL_SHIM_QUERIES_H

#include "gl_shim/context/context.h"

struct gl_query_name;
struct tally_gl_api;

struct gl_queries {
	struct gl_query_name *by_game; /* each name of the game's -> driver's name */
	struct gl_query_name *by_driver; /* the inverse */
	struct gl_query_name *ours; /* the driver's names of passtally's queries */
	GLuint highest; /* the game's highest name so far */
	GLuint below; /* the game has all names up to this one */
	bool tried_names; /* passtally has generated names: those that the game sees are chosen */
	bool reuses_names; /* the driver's next name is the lowest that is free */
	void (*generate)(GLsizei n, GLuint *ids); /* the driver's function for this context */
	void (*destroy)(GLsizei n, const GLuint *ids);
};

/* The two sets of calls that the sources use for their own queries (query/gl/api.h). */
void gl_own_gen_queries(int n, unsigned *ids);
void gl_own_delete_queries(int n, const unsigned *ids);

/* These separate the sources' errors from the game's. */
void gl_own_guard_begin(struct tally_gl_api *api);
unsigned gl_own_guard_end(struct tally_gl_api *api);

/* The driver's name for the game's name; a name that the game never
 * created gets an unused one. */
GLuint gl_query_to_driver(struct gl_context *c, GLuint id);

/* Ends all of passtally's active queries until the next pass. */
void gl_queries_yield_all(struct gl_context *c);

void gl_gen_queries(struct gl_context *c, void (*next)(GLsizei, GLuint *), GLsizei n,
		    GLuint *ids);
void gl_create_queries(struct gl_context *c, void (*next)(GLenum, GLsizei, GLuint *),
		       GLenum target, GLsizei n, GLuint *ids);
void gl_delete_queries(struct gl_context *c, void (*next)(GLsizei, const GLuint *), GLsizei n,
		       const GLuint *ids);
/* The same for a name that the call creates if it is new (compatibility profile, GL 2.1 spec
 * 4.1.7). */
GLuint gl_query_used(struct gl_context *c, GLuint id);
/* Called before the game's query begins, and before and after it ends, on a target's stream. */
void gl_query_begins(struct gl_context *c, GLenum target, GLuint index);
void gl_query_ends(struct gl_context *c, GLenum target, GLuint index);
void gl_query_ended(struct gl_context *c, GLenum target, GLuint index);
/* GL_CURRENT_QUERY names passtally's query while it is active: the game must see none. */
void gl_hide_current_query(struct gl_context *c, GLenum pname, GLint *params);
/* Called before the game queries, creates or begins performance queries, or queries
 * monitors. */
void gl_game_counts(struct gl_context *c);
/* Called before the game creates or begins a monitor. */
void gl_game_monitors(struct gl_context *c);
/* The game begins one of them, after one of the two calls above. May wait once,
 * see TALLY_GL_USE_BEGINS. */
void gl_game_begins_counting(struct gl_context *c);
/* The same if the game did so in another context; called between passes. */
void gl_mind_game_queries(struct gl_context *c);
/* Yields every target to the game from here on, if any context of the share group compiled a list
 * with a query, which begins whenever the list is called. Called between passes too. */
void gl_queries_mind_lists(struct gl_context *c);
void gl_queries_finish(struct gl_queries *q);

#endif

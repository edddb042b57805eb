/* SPDX-License-Identifier: MIT */
/* gl_shim/game/query_names.h - the names of query objects, the game's and passtally's.
 *
 * passtally's query objects are in the game's name space. So that the game never encounters
 * one, it sees different names: those that the driver would have returned without passtally,
 * either one more than the highest so far or the lowest that is free (Mesa from 24 on, seen in
 * 25.0.7). Owner thread of the context only.
 */
#ifndef PASSTALLY_GL_SHIM_QUERY_NAMES_H
#define PASSTALLY_GL_SHIM_QUERY_NAMES_H

#include "gl_shim/context/context.h"

struct gl_query_name;

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

/* What the sources use for their own queries (query/gl/api.h). */
void gl_own_gen_queries(int n, unsigned *ids);
void gl_own_delete_queries(int n, const unsigned *ids);

/* The driver's name for the game's name; a name that the game never
 * created gets an unused one. */
GLuint gl_query_to_driver(struct gl_context *c, GLuint id);

void gl_gen_queries(struct gl_context *c, void (*next)(GLsizei, GLuint *), GLsizei n,
		    GLuint *ids);
void gl_create_queries(struct gl_context *c, void (*next)(GLenum, GLsizei, GLuint *),
		       GLenum target, GLsizei n, GLuint *ids);
void gl_delete_queries(struct gl_context *c, void (*next)(GLsizei, const GLuint *), GLsizei n,
		       const GLuint *ids);
/* The same for a name that the call creates if it is new (compatibility profile, GL 2.1 spec
 * 4.1.7). */
GLuint gl_query_used(struct gl_context *c, GLuint id);
/* GL_CURRENT_QUERY names passtally's query while it is active: the game must see none. */
void gl_hide_current_query(struct gl_context *c, GLenum pname, GLint *params);
void gl_queries_finish(struct gl_queries *q);

#endif

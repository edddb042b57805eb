/* gl_shim/queries.h - the game's own queries: its names, and what it holds.
 *
 * Our query objects live in the game's name space. So that the game never meets one, it sees names
 * of its own: those the driver would have given without us. The map between the two is empty
 * until we make our first query. A target that the game wants is given up at once.
 */
#ifndef PASSTALLY_GL_SHIM_QUERIES_H
#define PASSTALLY_GL_SHIM_QUERIES_H

#include "gl_shim/context.h"

struct gl_query_name;
struct tally_gl_api;

struct gl_queries {
	struct gl_query_name *by_game; /* game's name -> driver's name, where they differ */
	struct gl_query_name *by_driver; /* the inverse */
	struct gl_query_name *ours; /* driver names that are ours */
	GLuint highest; /* the game's highest name so far */
	void (*generate)(GLsizei n, GLuint *ids); /* the driver's, under this context's names */
	void (*destroy)(GLsizei n, const GLuint *ids);
};

/* The two sets of own calls that the sources use (query/gl/api.h). */
void gl_own_gen_queries(int n, unsigned *ids);
void gl_own_delete_queries(int n, const unsigned *ids);

/* Keep our errors apart from the game's, for the sources. */
void gl_own_guard_begin(struct tally_gl_api *api);
unsigned gl_own_guard_end(struct tally_gl_api *api);

/* The driver's name for the game's; a name that the game never made gets one that is not in use. */
GLuint gl_query_to_driver(struct gl_context *c, GLuint id);

/* A list holds a query that begins whenever the list is called: leave every target to the game from
 * here on. */
void gl_queries_take_all(struct gl_context *c);
/* Do so if any context of the share group compiled such a list: lists are shared. */
void gl_queries_mind_lists(struct gl_context *c);
/* End all our queries that run, until the next pass. */
void gl_queries_yield_all(struct gl_context *c);

void gl_gen_queries(struct gl_context *c, void (*next)(GLsizei, GLuint *), GLsizei n, GLuint *ids);
void gl_create_queries(struct gl_context *c, void (*next)(GLenum, GLsizei, GLuint *), GLenum target,
		       GLsizei n, GLuint *ids);
void gl_delete_queries(struct gl_context *c, void (*next)(GLsizei, const GLuint *), GLsizei n,
		       const GLuint *ids);
GLboolean gl_is_query(struct gl_context *c, GLboolean (*next)(GLuint), GLuint id);
void gl_begin_query(struct gl_context *c, void (*next)(GLenum, GLuint), GLenum target, GLuint id);
void gl_begin_query_indexed(struct gl_context *c, void (*next)(GLenum, GLuint, GLuint),
			    GLenum target, GLuint index, GLuint id);
void gl_begin_occlusion(struct gl_context *c, void (*next)(GLuint), GLuint id);
void gl_end_query(struct gl_context *c, void (*next)(GLenum), GLenum target);
void gl_end_query_indexed(struct gl_context *c, void (*next)(GLenum, GLuint), GLenum target,
			  GLuint index);
void gl_end_occlusion(struct gl_context *c, void (*next)(void));
void gl_query_counter(struct gl_context *c, void (*next)(GLuint, GLenum), GLuint id, GLenum target);
void gl_get_query(struct gl_context *c, void (*next)(GLenum, GLenum, GLint *), GLenum target,
		  GLenum pname, GLint *params);
void gl_get_query_indexed(struct gl_context *c, void (*next)(GLenum, GLuint, GLenum, GLint *),
			  GLenum target, GLuint index, GLenum pname, GLint *params);
/* Before the game asks about, makes or begins performance queries of its own, or asks about
 * monitors. */
void gl_game_counts(struct gl_context *c);
/* Before it makes or begins a monitor. */
void gl_game_monitors(struct gl_context *c);
/* It begins one, after one of the two above: may wait once, see TALLY_GL_USE_BEGINS. */
void gl_game_begins_counting(struct gl_context *c);
/* The same where it did so in another context; between passes. */
void gl_mind_game_queries(struct gl_context *c);
void gl_queries_finish(struct gl_queries *q);

#endif

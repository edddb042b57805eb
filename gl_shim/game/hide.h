/* SPDX-License-Identifier: MIT */
/* gl_shim/game/hide.h - hides passtally's other traces from the game: the error flag,
 * GL_QUERY_BUFFER, the clear-on-read disjoint flag, a lost context.
 *
 * Owner thread only.
 */
#ifndef PASSTALLY_GL_SHIM_HIDE_H
#define PASSTALLY_GL_SHIM_HIDE_H

#include "gl_shim/context/context.h"

#define GL_STASHED_ERRORS 8

struct gl_hidden {
	GLenum errors[GL_STASHED_ERRORS]; /* the game's, not yet fetched, oldest first */
	unsigned n_errors;
	bool many_flags; /* the driver has kept errors of several kinds */
	unsigned guards; /* open ones */
	bool has_callback, hushed; /* the game's debug callback, and that it is not called now */
	GLuint query_buffer; /* what the game has bound to GL_QUERY_BUFFER */
	bool disjoint_for_game; /* the shim read the flag, and the game must still see it */
};

/* Called around passtally's calls that may fail or ask for a query's result: the game's pending
 * errors are kept for it, passtally's are dropped, and no buffer is bound to GL_QUERY_BUFFER, also
 * where one is within another. The end returns the first error of passtally's calls. Not to be
 * called inside glBegin/glEnd. */
void gl_guard_begin(struct gl_context *c);
GLenum gl_guard_end(struct gl_context *c);
/* The same around calls that are expected to fail, or that a driver remarks on: the game's debug
 * callback does not hear of them. They may contain others. */
void gl_hush_begin(struct gl_context *c);
GLenum gl_hush_end(struct gl_context *c);

void gl_debug_callback(struct gl_context *c, bool there);

GLenum gl_get_error(struct gl_context *c, GLenum (*next)(void));
void
gl_get_integerv(struct gl_context *c, void (*next)(GLenum, GLint *), GLenum pname, GLint *data);
void gl_get_integer64v(struct gl_context *c, void (*next)(GLenum, GLint64 *), GLenum pname,
		       GLint64 *data);
void gl_get_floatv(struct gl_context *c, void (*next)(GLenum, GLfloat *), GLenum pname,
		   GLfloat *data);
void gl_get_booleanv(struct gl_context *c, void (*next)(GLenum, GLboolean *), GLenum pname,
		     GLboolean *data);
void gl_bind_buffer(struct gl_context *c, GLenum target, GLuint buffer);
/* After client state was restored or reset: asks the driver which pack buffer is bound. */
void gl_pack_buffer_look(struct gl_context *c);
void gl_delete_buffers(struct gl_context *c, GLsizei n, const GLuint *buffers);

struct tally_gl_api;
bool gl_read_disjoint(struct tally_gl_api *api);

#endif

/* SPDX-License-Identifier: MIT */
/* gl_shim/game/queries.h - what the game counts itself: passtally yields it.
 *
 * A target is yielded as soon as the game uses it, performance queries and monitors as soon as it
 * asks for them. Owner thread of the context only.
 */
#ifndef PASSTALLY_GL_SHIM_QUERIES_H
#define PASSTALLY_GL_SHIM_QUERIES_H

#include "gl_shim/context/context.h"

struct tally_gl_api;

/* These separate the sources' errors from the game's. */
void gl_own_guard_begin(struct tally_gl_api *api);
unsigned gl_own_guard_end(struct tally_gl_api *api);

/* Ends all of passtally's active queries until the next pass. */
void gl_queries_yield_all(struct gl_context *c);

/* Called before the game's query begins, and before and after it ends, on a target's stream. */
void gl_query_begins(struct gl_context *c, GLenum target, GLuint index);
void gl_query_ends(struct gl_context *c, GLenum target, GLuint index);
void gl_query_ended(struct gl_context *c, GLenum target, GLuint index);
/* Called before the game queries, creates or begins performance queries, or queries
 * monitors. */
void gl_game_counts(struct gl_context *c);
/* Called before the game creates or begins a monitor. */
void gl_game_monitors(struct gl_context *c);
/* The game begins one of them, after one of the two calls above. May wait once,
 * see TALLY_GL_USE_BEGINS. */
void gl_game_begins_counting(struct gl_context *c);
/* Changes where the game begins to count in some context, or has a query compiled into a list. */
extern _Atomic unsigned gl_game_uses;
/* Called where it has changed: yields what the game began to use in any context, and every target
 * once any context of the share group compiled a list with a query, which begins whenever the list
 * is called. */
void gl_yield_as_elsewhere(struct gl_context *c);

#endif

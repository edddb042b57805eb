/* SPDX-License-Identifier: MIT */
/* gl_shim/pass/events.h - calls that cost microseconds by themselves (layer/event/event.h):
 * compiling and linking, the first draw of a program, uploads, read-backs, maps.
 *
 * The wrappers of the form `timed` surround the driver's call with gl_event() and
 * tally_event_end(). Owner thread of the context; nothing here calls the driver, and a draw is
 * surrounded only where its program has never drawn before.
 */
#ifndef PASSTALLY_GL_SHIM_EVENTS_H
#define PASSTALLY_GL_SHIM_EVENTS_H

#include "gl_shim/context/state.h"
#include "layer/event/event.h"

/* An event that begins now; one that takes no time in a context that is not tracked. */
static inline struct tally_event
gl_event(const struct gl_context *c, enum tally_event_kind kind, const char *call, uint64_t bytes)
{
	return (struct tally_event){
		.kind = kind,
		.call = call,
		.begin_ns = c->live ? tally_clock_now_ns() : 0,
		.n = 1,
		.bytes = bytes,
	};
}

/* Bytes that an upload from the program's memory has; 0: `data` is NULL, or an offset into a
 * buffer. */
uint64_t gl_upload_bytes(const struct gl_context *c, const void *data, GLsizei width,
			 GLsizei height, GLsizei depth, GLenum format, GLenum type);
uint64_t gl_upload_size(const struct gl_context *c, const void *data, GLsizeiptr size);
static inline uint64_t
gl_data_bytes(const void *data, GLsizeiptr size)
{
	return data && size > 0 ? (uint64_t)size : 0;
}

/* After a program was linked or loaded, and where it is bound: the next draw with it may be its
 * first. */
void gl_program_linked(struct gl_context *c, GLuint program);
void gl_program_used(struct gl_context *c, GLuint program);
void gl_program_deleted(struct gl_context *c, GLuint program);

/* Around a draw that does not take the fast path. */
struct tally_event gl_first_draw_begin(struct gl_context *c, const char *call);
void gl_first_draw_end(struct gl_context *c, const struct tally_event *event);

#endif

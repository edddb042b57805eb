/* SPDX-License-Identifier: MIT */
/* gl_shim/pass/frames.h - where frames end and the program waits, and the reading of results
 * that are ready then.
 *
 * For any tracked context; owner thread only.
 */
#ifndef PASSTALLY_GL_SHIM_FRAMES_H
#define PASSTALLY_GL_SHIM_FRAMES_H

#include "gl_shim/context/state.h"

void gl_flush(struct gl_context *c, void (*next)(void));
void gl_finish(struct gl_context *c, void (*next)(void));
/* Called before a flush or a fence: the program may leave the GPU without work after it, so the
 * open pass ends here unless more work follows. False: no query may be issued now. */
bool gl_pass_may_end(struct gl_context *c);
/* The same where the program, if it `reads`, waits for a buffer's content. Returns `bytes`. */
static inline uint64_t
gl_buffer_read(struct gl_context *c, bool reads, uint64_t bytes)
{
	if (reads)
		gl_pass_may_end(c);
	return bytes;
}
/* The same where the program waits: by then the driver must have drawn all issued work. */
void gl_wait(struct gl_context *c);
/* Reads what `pname` asks of one of the program's queries: for a result the driver may wait. */
#define GL_QUERY_READ(pname, read)                                                     \
	do {                                                                           \
		struct tally_clock_wait wait_ = { 0 };                                 \
		if ((pname) == GL_QUERY_RESULT)                                        \
			wait_ = tally_clock_wait_begin();                              \
		read;                                                                  \
		tally_event_wait_end(TALLY_EVENT_FENCE, "glGetQueryObject", &wait_);   \
	} while (0)
GLenum gl_client_wait(struct gl_context *c, GLenum (*next)(GLsync, GLbitfield, GLuint64),
		      GLsync sync, GLbitfield flags, GLuint64 timeout);
void gl_terminator(struct gl_context *c);
/* A label begins here, as in labels.h. It may end the frame, or start or stop the capture. */
void gl_marker(struct gl_context *c, const GLchar *text, GLsizei len);
void gl_debug_message(struct gl_context *c, GLenum type, const GLchar *text, GLsizei len);
GLenum gl_reset_status(struct gl_context *c, GLenum (*next)(void));

/* Called after the real swap: puts the thread back to what gl_current_park() returned, ends the
 * frame when `ends_frame`, and reads results. The size is the drawable's, 0 x 0 when unknown. */
void gl_swap_end(struct gl_context *c, bool ends_frame, struct tally_presented presented);

/* The frame ends here: closes the pass, ends the frame, reads the results that are
 * ready and hands them over. */
void gl_frame_end(struct gl_context *c, struct tally_presented presented);
void gl_frame_presented_elsewhere(struct gl_context *c, uint64_t n);
/* Called before work of the pass that `c` may open: where the process presents by Vulkan what is
 * drawn here (GTK's GL area in a Vulkan window), the frame ended with that present. */
static inline void
gl_frame_follow(struct gl_context *c)
{
	struct gl_context_state *s = c->state;
	uint64_t n = atomic_load_explicit(&tally_n_presented_by_vulkan, memory_order_relaxed);
	if (s->presented != n)
		gl_frame_presented_elsewhere(c, n);
}
/* The driver has handed to the GPU what was issued so far: asking for its results makes it submit
 * nothing. */
void gl_submitted(struct gl_context *c);
/* Reads the results that are ready and hands them over. With `lost`, a flag, all are given up and
 * have that, without a GL call. */
void gl_collect(struct gl_context *c, uint64_t lost);

#endif

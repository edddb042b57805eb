/* SPDX-License-Identifier: MIT */
/* gl_shim/context/describe.h - the log's `device` line for a share group, from what its
 * contexts count.
 *
 * Owner thread of the context, which is current. The group's lock is held while the line is
 * handed over; the only GL calls before that are glGetString and the query of the UUID where
 * its extension exists: neither can fail. Nothing blocks.
 */
#ifndef PASSTALLY_GL_SHIM_DESCRIBE_H
#define PASSTALLY_GL_SHIM_DESCRIBE_H

#include "gl_shim/context/state.h"
#include "query/sources.h"

/* The reason, a static string, why a source is not even created in this context; NULL if it is
 * created. "" is a reason that is not reported. */
const char *gl_source_left_out(const struct gl_context_state *s,
			       const struct tally_gl_source_row *source);

/* Writes the device line if this context adds to what was reported for its share group, or if
 * `again`. False: out of memory, and there is no device. */
bool gl_describe_device(struct gl_context_state *s, bool again);

/* The device line has another swap interval from here on; of windows that alternate it names the
 * first few. */
void gl_describe_interval(struct gl_context_state *s, int interval);

/* A source failed or yielded: reports it in a note, and writes the device line again. */
void gl_describe_again(struct gl_context_state *s);

#endif

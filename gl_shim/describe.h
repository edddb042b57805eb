/* gl_shim/describe.h - the log's `device` line for a share group, from what its contexts count.
 *
 * Owner thread of the context, which is current. The group's lock is held while the line is handed
 * over; the GL calls made before are glGetString alone, which cannot fail. Nothing blocks.
 */
#ifndef PASSTALLY_GL_SHIM_DESCRIBE_H
#define PASSTALLY_GL_SHIM_DESCRIBE_H

#include "gl_shim/state.h"
#include "query/sources.h"

/* Why a source is not even created in this context, static; NULL: it is. "" needs no word. */
const char *gl_source_left_out(const struct gl_context_state *s,
			       const struct tally_gl_source_row *source);

/* The device line, if this context adds to what was said of its group, or `again`. False: out of
 * memory, and there is no device. */
bool gl_describe_device(struct gl_context_state *s, bool again);

/* A source gave up, or yielded: say it in a note, and the device line again. */
void gl_describe_again(struct gl_context_state *s);

#endif

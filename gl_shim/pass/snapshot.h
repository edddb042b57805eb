/* SPDX-License-Identifier: MIT */
/* gl_shim/pass/snapshot.h - `--snapshot exact`: reads totals where a pass begins and ends.
 *
 * At a boundary the shim waits for a fence, for 2 s at most (or calls glFinish if the context
 * has no fences); then it takes a sample, whose number goes into the pass. A pass that begins
 * exactly where another ended uses that one's sample. A pass whose wait failed is flagged
 * UNSAMPLED; after three timeouts in a row the context takes no more samples. Owner thread of
 * the context only, where queries may be issued; raises no error that the game could see.
 */
#ifndef PASSTALLY_GL_SHIM_SNAPSHOT_H
#define PASSTALLY_GL_SHIM_SNAPSHOT_H

#include "gl_shim/context/context.h"

enum gl_snapshot_way {
	GL_SNAPSHOT_UNKNOWN = 0, /* the context has not been asked yet */
	GL_SNAPSHOT_FENCE,
	GL_SNAPSHOT_FENCE_APPLE,
	GL_SNAPSHOT_FINISH,
	GL_SNAPSHOT_NONE,
};

struct gl_snapshots {
	enum gl_snapshot_way way;
	unsigned n_failed; /* failed waits in a row */
	uint64_t here;	   /* number of the sample taken at this point, or 0 */
};

extern const struct gl_around gl_around_snapshot;

#endif

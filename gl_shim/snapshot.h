/* gl_shim/snapshot.h - `--snapshot exact`: totals read where a pass begins and ends.
 *
 * A boundary is made a real one by a fence and a wait of 2 s at most (glFinish where the
 * context has no fences); then a sample is taken, whose number goes into the pass. A pass that
 * begins right where another ended has its sample. What could not be waited for is flagged
 * UNSAMPLED; after three waits in a row that ran out the context goes on without. Owner thread of
 * the context only, where queries may be issued; makes no error that the game could see.
 */
#ifndef PASSTALLY_GL_SHIM_SNAPSHOT_H
#define PASSTALLY_GL_SHIM_SNAPSHOT_H

#include "gl_shim/context.h"

enum gl_snapshot_way {
	GL_SNAPSHOT_UNKNOWN = 0, /* nothing was asked of the context yet */
	GL_SNAPSHOT_FENCE,
	GL_SNAPSHOT_FENCE_APPLE,
	GL_SNAPSHOT_FINISH,
	GL_SNAPSHOT_NONE,
};

struct gl_snapshots {
	enum gl_snapshot_way way;
	unsigned n_failed; /* waits in a row */
	uint64_t here;	   /* number of the sample taken at this very place, or 0 */
};

/* The pass begins here, or ends; before its queries begin, after they ended. */
void gl_snapshot_begin(struct gl_context *c, struct tally_pass *pass);
void gl_snapshot_end(struct gl_context *c, struct tally_pass *pass);
/* It ends where no GL call may be made. */
void gl_snapshot_abandon(struct tally_pass *pass);

#endif

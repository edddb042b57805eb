/* SPDX-License-Identifier: MIT */
#include "gl_shim/pass/snapshot.h"

#include "gl_shim/context/state.h"
#include "gl_shim/game/hide.h"
#include "layer/log.h"
#include "query/sampler/sampler.h"

#define WAIT_NS UINT64_C(2000000000)
#define MAX_FAILED 3

/* ---- waiting ---- */

static enum gl_snapshot_way
choose_way(const struct gl_context_state *s)
{
	const struct tally_gl_api *api = &s->api;
	if (api->version >= (api->es ? 30 : 32) ||
	    (!api->es && api->has_extension(api, "GL_ARB_sync")))
		return GL_SNAPSHOT_FENCE;
	if (api->es && api->has_extension(api, "GL_APPLE_sync"))
		return GL_SNAPSHOT_FENCE_APPLE;
	/* With EGL's fences this context might wait for work that another context has yet to
	 * issue, and then glFinish would wait forever too. */
	if (!api->has_extension(api, "GL_OES_EGL_sync"))
		return GL_SNAPSHOT_FINISH;
	tally_log_say(TALLY_LEVEL_WARNING, "opengl",
		      "a context has no fences to wait for: --snapshot exact does not "
		      "sample its passes");
	return GL_SNAPSHOT_NONE;
}

static GLenum
wait_for_fence(GLsync (*create)(GLenum, GLbitfield),
	       GLenum (*wait)(GLsync, GLbitfield, GLuint64), void (*destroy)(GLsync))
{
	GLsync sync = create(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
	if (!sync)
		return GL_TIMEOUT_EXPIRED;
	GLenum status = wait(sync, GL_SYNC_FLUSH_COMMANDS_BIT, WAIT_NS);
	destroy(sync);
	return status;
}

/* Waits until everything that this context issued has ended. Returns whether it has. */
static bool
drain(struct gl_context *c)
{
	struct gl_snapshots *n = &c->state->snapshots;
	const struct gl_next *gl = c->next;
	GLenum status = GL_TIMEOUT_EXPIRED;
	if (n->way == GL_SNAPSHOT_UNKNOWN)
		n->way = choose_way(c->state);
	if (n->way == GL_SNAPSHOT_NONE)
		return false;
	gl_guard_begin(c);
	if (n->way == GL_SNAPSHOT_FENCE) {
		status = wait_for_fence(gl->FenceSync, gl->ClientWaitSync, gl->DeleteSync);
	} else if (n->way == GL_SNAPSHOT_FENCE_APPLE) {
		status = wait_for_fence(gl->FenceSyncAPPLE, gl->ClientWaitSyncAPPLE,
					gl->DeleteSyncAPPLE);
	} else {
		gl->Finish();
		status = GL_CONDITION_SATISFIED;
	}
	gl_guard_end(c);
	/* The GPU was idle: the timestamp of one pass's end is not that
	 * of the next one's begin. */
	gl_worker = c->state;
	gl_gap(c->state);
	if (status == GL_ALREADY_SIGNALED || status == GL_CONDITION_SATISFIED) {
		n->n_failed = 0;
		return true;
	}
	tally_log_say(TALLY_LEVEL_WARNING, "opengl",
		      "a pass was not sampled: work of the GPU took more than 2 s, or "
		      "could not be waited for");
	if (++n->n_failed == MAX_FAILED) {
		n->way = GL_SNAPSHOT_NONE;
		tally_log_say(TALLY_LEVEL_WARNING, "opengl",
			      "--snapshot exact ends in a context: three waits in a row "
			      "ran out");
	}
	return false;
}

/* ---- boundaries ---- */

static void
begin_snapshot(struct gl_context *c, struct tally_pass *pass)
{
	if (!tally_snapshot_exact())
		return;
	struct gl_snapshots *n = &c->state->snapshots;
	pass->snapshot_from = n->here;
	if (!pass->snapshot_from && drain(c))
		pass->snapshot_from = tally_snapshot_take();
	if (!pass->snapshot_from)
		pass->flags |= TALLY_FLAG(UNSAMPLED);
}

static void
end_snapshot(struct gl_context *c, struct tally_pass *pass, bool usable)
{
	struct gl_snapshots *n = &c->state->snapshots;
	n->here = TALLY_NO_SNAPSHOT;
	if (!pass || !pass->snapshot_from)
		return;
	if (usable && drain(c))
		pass->snapshot_to = n->here = tally_snapshot_take();
	if (pass->snapshot_to)
		return;
	pass->snapshot_from = TALLY_NO_SNAPSHOT;
	pass->flags |= TALLY_FLAG(UNSAMPLED);
}
const struct gl_around gl_around_snapshot = {
	.pass_begins = begin_snapshot,
	.pass_ends = end_snapshot,
};

/* SPDX-License-Identifier: MIT */
/* gl_shim/pass/workloads.h - granularity draw: measures each command of a pass by itself.
 *
 * A workload begins at a work command and ends where the next one begins, where the pass ends,
 * or where the game begins one of its own queries or waits. The harvest then measures
 * workloads, and the pass is computed from them: its time is from the first's begin to the
 * last's end, and its counters are the sums of theirs. A sum with a missing term is absent.
 * Owner thread of the context only.
 */
#ifndef PASSTALLY_GL_SHIM_WORKLOADS_H
#define PASSTALLY_GL_SHIM_WORKLOADS_H

#include "gl_shim/context/state.h"

/* The next command in the open pass, which is captured, begins a workload. Where no query
 * may be issued it counts with the open workload, or is listed without values. `flags`
 * are those known for it. NULL: there is no command yet, the next one that is issued where no query
 * may be is meant. */
void gl_workload_begin(struct gl_context *c, const char *command, uint64_t flags);
/* Ends the open workload. Does nothing if there is none, or if it cannot be ended now. */
void gl_workload_end(struct gl_context *c);
/* Closes the open workload: with queries (GL calls), or without if the context is no longer
 * usable. */
void gl_workload_close(struct gl_context *c, bool with_queries);

/* Queries the results of a pass's workloads and computes the pass from them. False: not all are
 * available, and the pass is unchanged. `give_up`: results that are not available by now are
 * given up. With `lost`, a flag, missing results have that, and no GL call is made. */
bool gl_workloads_read(struct gl_context_state *s, struct tally_pass *pass, bool give_up,
		       uint64_t lost);

#endif

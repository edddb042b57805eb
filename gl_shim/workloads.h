/* gl_shim/workloads.h - granularity draw: each command of a pass by itself.
 *
 * A workload begins at a work command and ends where the next begins, where the pass ends, where
 * the game begins a query of its own or waits. Then it is what the harvest brackets, and the pass
 * is put together from its workloads: from the first's begin to the last's end, and the sums of
 * their counters. A sum of which a term is missing is absent. Owner thread of the context only.
 */
#ifndef PASSTALLY_GL_SHIM_WORKLOADS_H
#define PASSTALLY_GL_SHIM_WORKLOADS_H

#include "gl_shim/state.h"

/* The command that comes next, in the open pass, which is captured. Where no query may be issued it
 * counts with the open workload, or is listed without numbers. `flags` say what is known of it. */
void gl_workload_begin(struct gl_context *c, const char *command, uint64_t flags);
/* Nothing more of the open workload comes. Does nothing where there is none, or where it can not
 * be ended now. */
void gl_workload_end(struct gl_context *c);
/* The same without a GL call: the context is beyond use. */
void gl_workload_end_silent(struct gl_context *c);

/* Ask for the results of a pass's workloads and put it together. False: not all are there, and
 * nothing is done to the pass. `give_up`: what is not there by now is given up. */
bool gl_workloads_read(struct gl_context_state *s, struct tally_pass *pass, bool give_up);
/* The same without a GL call: what is not there is flagged with `flag`, and slots are lost. */
void gl_workloads_give_up(struct gl_context_state *s, struct tally_pass *pass, uint64_t flag);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/shared/workers.h - work in independent pieces, on two threads.
 *
 * Nothing but time depends on the second thread: if none can be made, the caller's does it all.
 */
#ifndef PASSTALLY_CLI_SHARED_WORKERS_H
#define PASSTALLY_CLI_SHARED_WORKERS_H

/* The threads that work() is called on, the caller's among them. */
enum { TALLY_WORKERS = 2 };

/* Calls work() for each piece below `n`, beginning with the first, and returns when all are done.
 * Which thread takes which is not determined: `worker` is that thread's number, below
 * TALLY_WORKERS. */
void tally_workers_run(unsigned n, void (*work)(void *user, unsigned worker, unsigned piece),
		       void *user);

#endif

/* SPDX-License-Identifier: MIT */
/* layer/session/fork.h - holds passtally's locks across fork(), and makes a child forget its
 * parent's capture.
 *
 * A child has none of passtally's threads and shares the parent's log file: it closes what it
 * inherited and writes nothing. The handlers run in whatever thread of the game forks; they
 * wait only for passtally's locks, none of which is held over a call into the driver.
 */
#ifndef PASSTALLY_LAYER_SESSION_FORK_H
#define PASSTALLY_LAYER_SESSION_FORK_H

#include <pthread.h>
#include <stdbool.h>

/* From now on holds `outermost` and all locks inside it across fork. Calls
 * `in_child` in a child at the end, when it has one thread and its locks are free.
 * Called once. False: out of memory. */
bool tally_fork_watch(pthread_mutex_t *outermost, void (*in_child)(void));

/* Whether this process is the child of one that was watched. */
bool tally_fork_is_child(void);

#endif

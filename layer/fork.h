/* layer/fork.h - our locks across fork(), and what a child forgets of its parent's capture.
 *
 * A child has none of our threads and shares the parent's log file: it closes what it inherited
 * and writes nothing. The handlers run in whatever thread of the game forks; they wait only for our
 * own locks, none of which is held over a call into the driver.
 */
#ifndef PASSTALLY_LAYER_FORK_H
#define PASSTALLY_LAYER_FORK_H

#include <pthread.h>
#include <stdbool.h>

/* From now on: hold `outermost` and all locks below it across fork, and in a child call `in_child`
 * at the end, when it has one thread and its locks are free. Once. False: out of memory. */
bool tally_fork_watch(pthread_mutex_t *outermost, void (*in_child)(void));

/* Is this process the child of one that was watched? */
bool tally_fork_is_child(void);

#endif

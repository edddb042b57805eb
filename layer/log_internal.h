/* SPDX-License-Identifier: MIT */
/* layer/log_internal.h - the functions of log.c that only the session and the collector use.
 *
 * fork_begin() and fork_end() hold the message lock across fork(2), so that the child does not
 * inherit it locked by a thread it does not have. None of these can fail.
 */
#ifndef PASSTALLY_LAYER_LOG_INTERNAL_H
#define PASSTALLY_LAYER_LOG_INTERNAL_H

/* Sets a function that is called after each queued note, in the thread that reported it; it
 * must not block. NULL: none. */
void tally_log_on_queued(void (*notify)(void));
void tally_log_fork_begin(void);
void tally_log_fork_end(void);

#endif

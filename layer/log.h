/* SPDX-License-Identifier: MIT */
/* layer/log.h - passtally's messages to the user.
 *
 * A message becomes a note in the log, a line in the status file that `passtally run` owns
 * (PASSTALLY_STATUS names it), and, with PASSTALLY_VERBOSE=1, a line on stderr; under secure
 * execution (AT_SECURE) only the note. Otherwise nothing is printed. Any thread; takes one
 * short lock, never waits for the GPU or the disk, never allocates (bounded queue of 64 notes
 * of 480 bytes; messages that do not fit are counted and the count is reported). The same
 * message from the same source is reported once; after 4096 different ones no more are
 * reported. Not for draw calls, only for boundaries and rarer events.
 */
#ifndef PASSTALLY_LAYER_LOG_H
#define PASSTALLY_LAYER_LOG_H

#include "layer/record.h"

#if defined(__GNUC__)
#define TALLY_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define TALLY_PRINTF(a, b)
#endif

/* `source` is a static word: "gl-statistics", "session", ... */
void tally_log_say(enum tally_level level, const char *source, const char *format, ...)
	TALLY_PRINTF(3, 4);

/* Warns about the configuration: a tally_config_complain, which needs no data. */
void tally_log_complain(void *data, const char *message);

/* A mark of the user, or the beginning or end of a window of captured frames: a note with its
 * time, only for the log, written each time. False: the queue is full (counted). Same rules. */
bool tally_log_mark(const char *source, uint64_t time_ns, const char *message);

/* For the collector: takes the oldest queued note. The strings are
 * valid until the next call. */
bool tally_log_take(struct tally_note_record *note);

/* In a forked child: drops the queued notes. */
void tally_log_reset(void);
/* Holds the message lock across fork(2), so that the child does not inherit it locked by a thread
 * that it does not have. */
void tally_log_around_fork(bool begins);

/* Sets a function that is called after each queued note, in the thread that reported it; it must
 * not block. NULL: none. For the session and the collector. */
void tally_log_on_queued(void (*notify)(void));

#endif

/* layer/log.h - our own messages to people.
 *
 * A message becomes a note in the log, a line in the status file that `passtally run` owns
 * (PASSTALLY_STATUS names it), and, with PASSTALLY_VERBOSE=1, a line on stderr; under secure
 * execution (AT_SECURE) only the note. Otherwise we are silent. Any thread; takes one short lock,
 * never waits for the GPU or the disk, never allocates (bounded queue of 64 notes of 480 bytes;
 * what does not fit is counted and the count reported). The same message from the same source is
 * reported once; after 4096 different ones no more are.
 * Not for draw calls: boundaries and rarer.
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

/* A mark of the user's, or where a window of captured frames begins or ends: a note with its time,
 * for the log alone, as often as it is said. False: the queue is full (counted). Same rules. */
bool tally_log_mark(const char *source, uint64_t time_ns, const char *message);

/* Collector's side: take the oldest queued note. The strings are valid until the next call. */
bool tally_log_take(struct tally_note_record *note);

/* In a forked child: forget what is queued. */
void tally_log_reset(void);

#endif

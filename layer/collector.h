/* layer/collector.h - the one thread that takes finished passes from all streams to the recorder.
 *
 * The mailbox (post, notify, generation) is static and works in every state of the process; the
 * thread exists between start() and the end of the capture. Producers never block here: posting is
 * a compare-and-swap, notifying an increment and, only when the thread sleeps, one futex wake.
 */
#ifndef PASSTALLY_LAYER_COLLECTOR_H
#define PASSTALLY_LAYER_COLLECTOR_H

#include "layer/annotator.h"
#include "layer/part.h"
#include "layer/recorder.h"

/* Frames of a device that may wait for a slow stream, and for how long. Fewer than a stream has
 * parts: else the one that is not slow would run out of them first. */
#define TALLY_MAX_WAITING 48
#define TALLY_MAX_WAIT_NS UINT64_C(2000000000)

enum tally_letter_kind {
	TALLY_LETTER_DEVICE = 0, /* with its first description */
	TALLY_LETTER_DESCRIBE,
	TALLY_LETTER_STREAM,
};

/* News that is too rare for a ring. The collector frees it, and what it holds. */
struct tally_letter {
	struct tally_letter *next;
	enum tally_letter_kind kind;
	struct tally_device *device; /* with a reference in LETTER_DEVICE */
	struct tally_stream *stream; /* with a reference */
	struct tally_device_record *info;
};

/* Not 0 while a capture runs, and another number for each capture of a process and its forks:
 * streams and devices of an earlier one are dead. */
uint64_t tally_collector_generation(void);

/* Takes the letter. False: no capture runs, the letter stays the caller's. */
bool tally_collector_post(struct tally_letter *letter);

/* Something was pushed, posted or noted. `urgent`: wake the thread even from its short rest. */
void tally_collector_notify(bool urgent);

/* A number for a new device. */
uint32_t tally_collector_number_device(void);

/* Takes the open recorder, whose header is written, and who adds to frames (NULL: nobody). False:
 * no thread could be made, both stay the caller's. */
bool tally_collector_start(const struct tally_recorder_ops *ops, struct tally_recorder *recorder,
			   const struct tally_annotator_ops *annotate,
			   struct tally_annotator *annotator);

/* Write what is there, the `end` line, and close: waits at most `timeout_ns` for it. */
void tally_collector_stop(const char *reason, uint64_t timeout_ns);

/* In a forked child: forget the parent's capture, the file included. */
void tally_collector_forget(void);

#endif

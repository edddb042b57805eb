/* SPDX-License-Identifier: MIT */
/* layer/frame/queue.h - messages to the collector thread, and its sleep until there is work.
 *
 * The queue is static and usable in every state of the process: it is closed until a capture
 * opens it. Any thread may post and notify; nobody blocks: posting is a compare-and-swap,
 * notifying an increment and, only when the collector sleeps, one futex wake. open(), take()
 * and sleep() are for the collector.
 */
#ifndef PASSTALLY_LAYER_FRAME_QUEUE_H
#define PASSTALLY_LAYER_FRAME_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "layer/record.h"

struct tally_device;
struct tally_stream;

enum tally_message_kind {
	TALLY_MESSAGE_DEVICE = 0, /* with its first description */
	TALLY_MESSAGE_DESCRIBE,
	TALLY_MESSAGE_STREAM,
};

/* A message that is too rare for a ring. The collector frees it and its contents. */
struct tally_message {
	struct tally_message *next;
	enum tally_message_kind kind;
	struct tally_device *device; /* with a reference in MESSAGE_DEVICE */
	struct tally_stream *stream; /* with a reference */
	struct tally_device_record *info;
};

/* Takes the message. False: no capture is running and the message stays the caller's. */
bool tally_queue_post(struct tally_message *message);

/* Reports that something was pushed, posted or noted. `urgent`: wakes the
 * collector even from a nap. */
void tally_queue_notify(bool urgent);

/* A capture begins: the queue is empty and accepts messages. */
void tally_queue_open(void);
/* No capture is running anymore. A message left in the queue is never freed: after a fork its
 * memory is the parent's. */
void tally_queue_forget(void);

/* Takes all messages, oldest first. `close`: the queue accepts no more. */
struct tally_message *tally_queue_take(bool close);

/* Whether something was posted that is not taken. */
bool tally_queue_has_messages(void);

enum tally_queue_rest {
	TALLY_QUEUE_AWAKE = 0,
	TALLY_QUEUE_NAPPING, /* for the whole time unless an urgent notify wakes it */
	TALLY_QUEUE_ASLEEP,  /* until anything is notified */
};
/* Increases with every notify. Read it before checking for work. */
uint32_t tally_queue_count(void);
/* Sleeps for at most `timeout_ns`. Does not sleep if ASLEEP and the count is no longer `seen`,
 * or once *stop is not NULL. Meanwhile it looks at late frames (layer/event/late.h), for which it
 * may sleep a quarter longer. */
void tally_queue_sleep(enum tally_queue_rest rest, uint32_t seen, _Atomic(const char *) *stop,
		       uint64_t timeout_ns);

#endif

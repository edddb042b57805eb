/* layer/queue.h - messages to the collector thread, and how it sleeps until there is work.
 *
 * Static, and good in every state of the process: closed until a capture opens it. Any thread may
 * post and notify; nobody blocks: posting is a compare-and-swap, notifying an increment and, only
 * when the collector sleeps, one futex wake. open(), take() and sleep() are the collector's.
 */
#ifndef PASSTALLY_LAYER_QUEUE_H
#define PASSTALLY_LAYER_QUEUE_H

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

/* News that is too rare for a ring. The collector frees it, and what it holds. */
struct tally_message {
	struct tally_message *next;
	enum tally_message_kind kind;
	struct tally_device *device; /* with a reference in MESSAGE_DEVICE */
	struct tally_stream *stream; /* with a reference */
	struct tally_device_record *info;
};

/* Takes the message. False: no capture runs, the message stays the caller's. */
bool tally_queue_post(struct tally_message *message);

/* Something was pushed, posted or noted. `urgent`: wake the collector even from a nap. */
void tally_queue_notify(bool urgent);

/* A capture begins: the queue is empty and takes messages. */
void tally_queue_open(void);
/* No capture runs any more. A message that is in the queue is never freed: after a fork its memory
 * is the parent's. */
void tally_queue_forget(void);

/* All messages, oldest first. `close`: the queue takes no more. */
struct tally_message *tally_queue_take(bool close);

enum tally_queue_rest {
	TALLY_QUEUE_AWAKE = 0,
	TALLY_QUEUE_NAPPING, /* for all of the time, unless an urgent notify wakes it */
	TALLY_QUEUE_ASLEEP,  /* until anything is notified */
};
/* Grows with every notify. Read it before the look for work that finds none. */
uint32_t tally_queue_count(void);
/* Sleep, at most `timeout_ns`; not at all when ASLEEP and the count is not `seen` any more, or once
 * *stop is not NULL. */
void tally_queue_sleep(enum tally_queue_rest rest, uint32_t seen, _Atomic(const char *) *stop,
		       uint64_t timeout_ns);

#endif

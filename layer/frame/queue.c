/* SPDX-License-Identifier: MIT */
#include "layer/frame/queue.h"

#include "layer/base/clock.h"
#include "layer/base/futex.h"
#include "layer/capture/capture.h"
#include "layer/event/late.h"

#include <stdatomic.h>

static _Atomic(struct tally_message *) newest_message; /* &closed: none is taken */
static struct tally_message closed;
static _Atomic uint32_t notified;
static _Atomic uint32_t resting; /* enum tally_queue_rest; the collector sleeps on it */

__attribute__((hot)) void
tally_queue_notify(bool urgent)
{
	atomic_fetch_add(&notified, 1);
	uint32_t rest = atomic_load(&resting);
	if (rest == TALLY_QUEUE_ASLEEP || (rest == TALLY_QUEUE_NAPPING && urgent)) {
		if (atomic_exchange(&resting, TALLY_QUEUE_AWAKE) != TALLY_QUEUE_AWAKE)
			tally_futex_wake_all(&resting);
	}
}

bool
tally_queue_post(struct tally_message *message)
{
	struct tally_message *newest = atomic_load(&newest_message);
	do {
		if (newest == &closed || tally_capture_generation() == 0)
			return false;
		message->next = newest;
	} while (!atomic_compare_exchange_weak(&newest_message, &newest, message));
	tally_queue_notify(false);
	return true;
}

void
tally_queue_open(void)
{
	atomic_store(&newest_message, NULL);
	atomic_store(&resting, TALLY_QUEUE_AWAKE);
}

void
tally_queue_forget(void)
{
	atomic_store(&newest_message, &closed);
	atomic_store(&resting, TALLY_QUEUE_AWAKE);
}

struct tally_message *
tally_queue_take(bool close)
{
	struct tally_message *newest = atomic_exchange(&newest_message, close ? &closed : NULL);
	struct tally_message *oldest = NULL;
	while (newest && newest != &closed) {
		struct tally_message *next = newest->next;
		newest->next = oldest;
		oldest = newest;
		newest = next;
	}
	return oldest;
}

bool
tally_queue_has_messages(void)
{
	struct tally_message *newest = atomic_load(&newest_message);
	return newest && newest != &closed;
}

uint32_t
tally_queue_count(void)
{
	return atomic_load(&notified);
}

void
tally_queue_sleep(enum tally_queue_rest rest, uint32_t seen, _Atomic(const char *) *stop,
		  uint64_t timeout_ns)
{
	uint64_t now_ns = tally_clock_now_ns();
	uint64_t end_ns = timeout_ns < UINT64_MAX - now_ns ? now_ns + timeout_ns : UINT64_MAX;
	/* The store comes before the check, as the producer's increment comes before its check
	 * of `resting`: one of the two sees the other. A nap is taken unconditionally. */
	atomic_store(&resting, rest);
	if ((rest == TALLY_QUEUE_NAPPING || atomic_load(&notified) == seen) && !atomic_load(stop)) {
		for (;;) {
			uint64_t look_ns = tally_late_look(now_ns);
			if (now_ns >= end_ns || atomic_load(&resting) != rest)
				break;
			/* A look that is due soon after takes no wake-up of its own. */
			bool soon = look_ns < end_ns || look_ns - end_ns < timeout_ns / 4;
			uint64_t until_ns = soon ? look_ns : end_ns;
			tally_futex_wait(&resting, rest,
					 until_ns < UINT64_MAX ? until_ns - now_ns : TALLY_FOREVER);
			now_ns = tally_clock_now_ns();
		}
	}
	atomic_store(&resting, TALLY_QUEUE_AWAKE);
}

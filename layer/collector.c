#include "layer/collector.h"

#include "layer/assembly.h"
#include "layer/clock.h"
#include "layer/futex.h"
#include "layer/log.h"
#include "layer/log_internal.h"
#include "layer/own_threads.h"
#include "layer/session_internal.h"
#include "layer/thread.h"
#include "layer/trigger.h"

#include <stdlib.h>

#define NS_PER_MS UINT64_C(1000000)
#define NAP_NS (5 * NS_PER_MS) /* frames flow: let a few gather */
#define FLUSH_NS (20 * NS_PER_MS) /* a killed game loses no more than this */
#define LOOK_NS (50 * NS_PER_MS) /* while a frame waits for a slow stream */
#define OVER_WAIT_NS (30000 * NS_PER_MS)

enum rest { AWAKE = 0, NAPPING, ASLEEP };

/* What producers and the thread share, in every state of the process. */
static struct {
	_Atomic(struct tally_letter *) letters; /* newest first; &closed: no capture takes them */
	_Atomic uint64_t generation;
	uint64_t last_generation; /* start()'s alone */
	_Atomic uint32_t posted; /* grows with each push, letter and note */
	_Atomic uint32_t rest; /* enum rest; the thread sleeps on it */
	_Atomic uint32_t running; /* 1 until the thread is through; stop() sleeps on it */
	_Atomic uint32_t devices;
	_Atomic(const char *) stop_reason;
	_Atomic(struct tally_assembly *) current; /* for forget() */
} box;
static struct tally_letter closed;

uint64_t
tally_collector_generation(void)
{
	return atomic_load_explicit(&box.generation, memory_order_relaxed);
}

uint32_t
tally_collector_number_device(void)
{
	return atomic_fetch_add(&box.devices, 1);
}

void
tally_collector_notify(bool urgent)
{
	atomic_fetch_add(&box.posted, 1);
	uint32_t rest = atomic_load(&box.rest);
	if (rest == ASLEEP || (rest == NAPPING && urgent)) {
		if (atomic_exchange(&box.rest, AWAKE) != AWAKE)
			tally_futex_wake_all(&box.rest);
	}
}

bool
tally_collector_post(struct tally_letter *letter)
{
	struct tally_letter *newest = atomic_load(&box.letters);
	do {
		if (newest == &closed || tally_collector_generation() == 0)
			return false;
		letter->next = newest;
	} while (!atomic_compare_exchange_weak(&box.letters, &newest, letter));
	tally_collector_notify(false);
	return true;
}

static void
notify_of_note(void)
{
	tally_collector_notify(false);
}

/* All letters, oldest first; `replacement` is left in their place. */
static struct tally_letter *
take_letters(struct tally_letter *replacement)
{
	struct tally_letter *newest = atomic_exchange(&box.letters, replacement);
	struct tally_letter *oldest = NULL;
	while (newest && newest != &closed) {
		struct tally_letter *next = newest->next;
		newest->next = oldest;
		oldest = newest;
		newest = next;
	}
	return oldest;
}

static void
sleep_until_posted(enum rest depth, uint32_t seen, uint64_t timeout_ns)
{
	/* The store comes before the look, as the producer's increment comes before its look at
	 * `rest`: one of the two sees the other. A nap is taken in any case. */
	atomic_store(&box.rest, depth);
	if ((depth == NAPPING || atomic_load(&box.posted) == seen) &&
	    !atomic_load(&box.stop_reason))
		tally_futex_wait(&box.rest, depth, timeout_ns);
	atomic_store(&box.rest, AWAKE);
}

/* How long the thread may sleep when nothing is posted. */
static uint64_t
idle_ns(const struct tally_assembly *a, uint64_t now_ns)
{
	if (tally_assembly_waits(a))
		return LOOK_NS;
	if (!a->dirty)
		return TALLY_FOREVER;
	uint64_t since = now_ns - a->flushed_ns;
	return since < FLUSH_NS ? FLUSH_NS - since : 0;
}

/* Is the capture over by --frames, --seconds or --stop-on, and all written? A device that has not
 * come so far gets 2 s more; results that are still with the GPU 30 s. */
static const char *
over_reason(struct tally_assembly *a, uint64_t now_ns)
{
	enum tally_over over = tally_assembly_over(a);
	if (over == TALLY_OVER_NOT)
		return NULL;
	if (a->over_since_ns == 0)
		a->over_since_ns = now_ns;
	uint64_t wait_ns = over == TALLY_OVER_ALL      ? 0
			   : over == TALLY_OVER_UNREAD ? OVER_WAIT_NS
						       : TALLY_MAX_WAIT_NS;
	return now_ns - a->over_since_ns >= wait_ns ? a->over_reason : NULL;
}

/* Work until the capture ends; says why it did. */
static const char *
collect_frames(struct tally_assembly *a)
{
	for (;;) {
		uint32_t seen = atomic_load(&box.posted);
		bool worked = tally_assembly_begin_round(a);
		worked |= tally_assembly_take_letters(a, take_letters(NULL));
		worked |= tally_assembly_end_round(a, tally_clock_now_ns());
		worked |= tally_assembly_write_notes(a);

		uint64_t now_ns = tally_clock_now_ns();
		const char *reason = atomic_load(&box.stop_reason);
		if (!reason)
			reason = tally_assembly_failure(a);
		if (!reason)
			reason = over_reason(a, now_ns);
		if (reason)
			return reason;
		if (a->dirty && now_ns - a->flushed_ns >= FLUSH_NS)
			tally_assembly_flush(a, now_ns);
		if (worked)
			sleep_until_posted(NAPPING, seen, NAP_NS);
		else
			sleep_until_posted(ASLEEP, seen, idle_ns(a, now_ns));
	}
}

static void *
run_collector(void *data)
{
	struct tally_assembly *a = data;
	tally_own_threads_enter();
	const char *reason = collect_frames(a);

	tally_trigger_tell_end();
	tally_session_ended();
	atomic_store(&box.generation, 0);
	tally_log_on_queued(NULL);
	tally_assembly_begin_round(a);
	tally_assembly_take_letters(a, take_letters(&closed));
	tally_assembly_finish(a, reason, tally_clock_now_ns());
	atomic_store(&box.current, NULL);
	tally_assembly_destroy(a);

	tally_own_threads_leave();
	atomic_store(&box.running, 0);
	tally_futex_wake_all(&box.running);
	return NULL;
}

bool
tally_collector_start(const struct tally_recorder_ops *ops, struct tally_recorder *recorder,
		      const struct tally_annotator_ops *annotate, struct tally_annotator *annotator)
{
	struct tally_assembly *a = tally_assembly_create(ops, recorder);
	if (!a)
		return false;
	a->annotate = annotate;
	atomic_store(&a->annotator, annotator);
	atomic_store(&box.letters, NULL);
	atomic_store(&box.devices, 0);
	atomic_store(&box.rest, AWAKE);
	atomic_store(&box.stop_reason, NULL);
	atomic_store(&box.running, 1);
	atomic_store(&box.current, a);
	atomic_store(&box.generation, ++box.last_generation);
	tally_log_on_queued(notify_of_note);
	if (tally_thread_start(run_collector, a))
		return true;
	tally_log_on_queued(NULL);
	atomic_store(&box.generation, 0);
	atomic_store(&box.letters, &closed);
	atomic_store(&box.current, NULL);
	atomic_store(&box.running, 0);
	tally_assembly_destroy(a);
	return false;
}

void
tally_collector_stop(const char *reason, uint64_t timeout_ns)
{
	const char *none = NULL;
	if (!atomic_load(&box.running))
		return;
	atomic_compare_exchange_strong(&box.stop_reason, &none, reason);
	tally_collector_notify(true);
	uint64_t begin = tally_clock_now_ns();
	while (atomic_load(&box.running)) {
		uint64_t since = tally_clock_now_ns() - begin;
		if (since >= timeout_ns)
			return;
		tally_futex_wait(&box.running, 1, timeout_ns - since);
	}
}

void
tally_collector_forget(void)
{
	tally_log_on_queued(NULL);
	struct tally_assembly *a = atomic_exchange(&box.current, NULL);
	atomic_store(&box.generation, 0);
	atomic_store(&box.letters, &closed);
	atomic_store(&box.rest, AWAKE);
	atomic_store(&box.running, 0);
	atomic_store(&box.stop_reason, NULL);
	/* The rest of the parent's state stays as it is: its thread may have been anywhere. */
	if (!a)
		return;
	a->ops->abandon(a->recorder);
	struct tally_annotator *annotator = atomic_load(&a->annotator);
	if (annotator)
		a->annotate->abandon(annotator);
}

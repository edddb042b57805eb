/* SPDX-License-Identifier: MIT */
#include "layer/session/collector.h"

#include "layer/base/clock.h"
#include "layer/base/futex.h"
#include "layer/base/own_threads.h"
#include "layer/base/thread.h"
#include "layer/capture/capture.h"
#include "layer/capture/trigger.h"
#include "layer/event/late.h"
#include "layer/frame/assembly.h"
#include "layer/frame/black_box.h"
#include "layer/frame/queue.h"
#include "layer/log.h"
#include "layer/picture/pictures.h"
#include "layer/session/process.h"

#include <string.h>

#define NS_PER_MS UINT64_C(1000000)
/* Frames that arrive within this time are written together. A killed game loses no more than
 * that, and a quarter of it (tally_queue_sleep()). */
#define GATHER_NS (100 * NS_PER_MS)
/* Until so many frames are written they are not gathered for so long: a program that dies early
 * is the one whose frames are wanted. */
#define EARLY_FRAMES 64
#define EARLY_GATHER_NS (5 * NS_PER_MS)
#define LOOK_NS (50 * NS_PER_MS) /* while a frame waits for a slow stream */
#define OVER_WAIT_NS (30000 * NS_PER_MS)

static _Atomic uint32_t running; /* 1 until the thread has finished; stop() sleeps on it */
static _Atomic(const char *) stop_reason;
static _Atomic(struct tally_assembly *) current; /* for forget() */

static void
notify_of_note(void)
{
	tally_queue_notify(false);
}

static uint64_t
gather_ns(const struct tally_assembly *a)
{
	return a->frames < EARLY_FRAMES ? EARLY_GATHER_NS : GATHER_NS;
}

static uint64_t
until_flush_ns(const struct tally_assembly *a, uint64_t now_ns)
{
	uint64_t since = now_ns - a->flushed_ns;
	return since < gather_ns(a) ? gather_ns(a) - since : 0;
}

/* How long the thread may sleep after a round. */
static uint64_t
rest_ns(const struct tally_assembly *a, bool worked, uint64_t now_ns)
{
	if (!worked && tally_assembly_waits(a))
		return LOOK_NS;
	if (a->dirty)
		return until_flush_ns(a, now_ns);
	return worked ? gather_ns(a) : tally_assembly_quiet_ns(a, now_ns);
}

/* The reason if the capture is over by --frames, --seconds or --stop-on and all is
 * written, else NULL. A device that has not reached its end gets 2 s more; results that
 * are still on the GPU get 30 s. */
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

static bool
end_round(struct tally_assembly *a)
{
	bool frames = tally_assembly_end_round(a, tally_clock_now_ns());
	uint64_t now_ns = tally_clock_now_ns();
	if (frames || !tally_assembly_quiet_ns(a, now_ns))
		tally_assembly_write_load(a, now_ns, frames);
	return frames;
}

/* Works until the capture ends; returns the reason. */
static const char *
collect_frames(struct tally_assembly *a)
{
	for (;;) {
		uint32_t seen = tally_queue_count();
		bool worked = tally_assembly_begin_round(a);
		worked |= tally_assembly_take_messages(a, tally_queue_take(false));
		worked |= tally_assembly_write_notes(a); /* marks before their frames */
		worked |= end_round(a);
		worked |= tally_pictures_write();
		tally_black_box_keep();

		uint64_t now_ns = tally_clock_now_ns();
		const char *reason = atomic_load(&stop_reason);
		if (!reason)
			reason = tally_assembly_failure(a);
		if (!reason)
			reason = over_reason(a, now_ns);
		if (reason)
			return reason;
		if (a->dirty && !until_flush_ns(a, now_ns))
			tally_assembly_flush(a, now_ns);
		tally_queue_sleep(worked ? TALLY_QUEUE_NAPPING : TALLY_QUEUE_ASLEEP, seen,
				  &stop_reason, rest_ns(a, worked, now_ns));
	}
}

static void
create_annotator(struct tally_assembly *a)
{
	atomic_store(&a->annotator, a->annotate->create(a->config));
}

/* The game's first boundary must have its sample. */
static bool
is_created_first(const struct tally_assembly *a)
{
	return a->config->snapshot == TALLY_SNAPSHOT_EXACT;
}

static void *
run_collector(void *data)
{
	struct tally_assembly *a = data;
	tally_own_threads_enter();
	a->process_start_ns = tally_process_start_ns();
	if (a->annotate && !is_created_first(a))
		create_annotator(a);
	const char *reason = collect_frames(a);

	tally_trigger_report_end(strcmp(reason, "exit") == 0);
	tally_pictures_report_end(tally_assembly_ended(a));
	tally_capture_set_state(TALLY_STATE_OVER);
	tally_capture_end();
	tally_log_on_queued(NULL);
	tally_pictures_write();
	tally_assembly_begin_round(a);
	tally_assembly_take_messages(a, tally_queue_take(true));
	tally_assembly_finish(a, reason, tally_clock_now_ns());
	atomic_store(&current, NULL);
	tally_assembly_destroy(a);

	tally_own_threads_leave();
	atomic_store(&running, 0);
	tally_futex_wake_all(&running);
	return NULL;
}

bool
tally_collector_start(const struct tally_recorder_ops *ops,
		      struct tally_recorder *recorder,
		      const struct tally_annotator_ops *annotate,
		      const struct tally_config *config)
{
	struct tally_assembly *a = tally_assembly_create(ops, recorder);
	if (!a)
		return false;
	a->annotate = annotate;
	a->config = config;
	if (annotate && is_created_first(a))
		create_annotator(a);
	tally_queue_open();
	tally_late_forget();
	atomic_store(&stop_reason, NULL);
	atomic_store(&running, 1);
	atomic_store(&current, a);
	tally_capture_begin();
	/* Before the thread, which may end it at once. */
	tally_capture_set_state(TALLY_STATE_RUNNING);
	tally_log_on_queued(notify_of_note);
	if (tally_thread_start(run_collector, a))
		return true;
	tally_log_on_queued(NULL);
	tally_capture_end();
	tally_queue_forget();
	atomic_store(&current, NULL);
	atomic_store(&running, 0);
	if (annotate)
		annotate->destroy(atomic_load(&a->annotator));
	tally_assembly_destroy(a);
	return false;
}

void
tally_collector_stop(const char *reason, uint64_t timeout_ns)
{
	const char *none = NULL;
	if (!atomic_load(&running))
		return;
	atomic_compare_exchange_strong(&stop_reason, &none, reason);
	tally_queue_notify(true);
	uint64_t begin = tally_clock_now_ns();
	while (atomic_load(&running)) {
		uint64_t since = tally_clock_now_ns() - begin;
		if (since >= timeout_ns)
			return;
		tally_futex_wait(&running, 1, timeout_ns - since);
	}
}

void
tally_collector_forget(void)
{
	tally_log_on_queued(NULL);
	struct tally_assembly *a = atomic_exchange(&current, NULL);
	tally_capture_end();
	tally_queue_forget();
	atomic_store(&running, 0);
	atomic_store(&stop_reason, NULL);
	/* The rest of the parent's state stays unchanged: its thread may
	 * have been anywhere in it. */
	if (!a)
		return;
	tally_black_box_forget();
	a->ops->abandon(a->recorder);
	struct tally_annotator *annotator = atomic_load(&a->annotator);
	if (annotator)
		a->annotate->abandon(annotator);
}

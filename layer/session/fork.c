/* SPDX-License-Identifier: MIT */
#include "layer/session/fork.h"

#include "layer/frame/intern.h"
#include "layer/session/collector.h"
#include "layer/base/clock.h"
#include "layer/capture/control.h"
#include "layer/event/event.h"
#include "layer/log.h"
#include "layer/frame/pipeline.h"
#include "layer/capture/trigger.h"

static pthread_mutex_t *outer_lock;
static void (*call_in_child)(void);
static bool is_child; /* set in the child before it has threads */

static void
hold_locks(bool begins)
{
	if (begins)
		pthread_mutex_lock(outer_lock);
	tally_pipeline_around_fork(begins);
	tally_events_around_fork(begins);
	tally_intern_around_fork(begins);
	tally_log_around_fork(begins);
	if (!begins)
		pthread_mutex_unlock(outer_lock);
}

static void
before_fork(void)
{
	hold_locks(true);
}

static void
after_fork(void)
{
	hold_locks(false);
}

static void
after_fork_in_child(void)
{
	after_fork();
	is_child = true;
	tally_clock_forked();
	tally_collector_forget();
	tally_log_reset();
	tally_control_forget();
	tally_trigger_release_signals();
	call_in_child();
}

bool
tally_fork_watch(pthread_mutex_t *outermost, void (*in_child)(void))
{
	outer_lock = outermost;
	call_in_child = in_child;
	return pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0;
}

bool
tally_fork_is_child(void)
{
	return is_child;
}

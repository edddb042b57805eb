/* SPDX-License-Identifier: MIT */
#include "layer/session/session.h"

#include "layer/annotator.h"
#include "layer/base/clock.h"
#include "layer/capture/capture.h"
#include "layer/capture/control.h"
#include "layer/capture/trigger.h"
#include "layer/config/base.h"
#include "layer/config/load.h"
#include "layer/frame/black_box.h"
#include "layer/log.h"
#include "layer/picture/pictures.h"
#include "layer/session/block.h"
#include "layer/session/collector.h"
#include "layer/session/fork.h"
#include "layer/session/header.h"
#include "layer/session/log_file.h"
#include "layer/session/process.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STOP_WAIT_NS UINT64_C(2000000000)
#define MAX_LAST 8

/* Guards start; held across fork. The outermost of our locks, never taken by stop, because a
 * signal handler of the game may call exit() at any point. */
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic long session_pid;
static bool exit_registered; /* under start_lock */
static _Atomic(const struct tally_annotator_ops *) annotator_ops;

/* Functions called when the capture stops. Entries fill from the front
 * and are never removed. */
static _Atomic(void (*)(void)) last_calls[MAX_LAST];
static atomic_bool last_called;

static pthread_once_t config_once = PTHREAD_ONCE_INIT;
static struct tally_config config;
static bool config_read;
static _Atomic(const char *) offered; /* of callers that wait for config_once, or did */
static char *taken; /* a copy of the offered settings: the caller's text does not stay */
static char program[PATH_MAX], called[PATH_MAX];
static char log_path[PATH_MAX]; /* under start_lock */

/* Runs in a forked child, which has no session until it renders. */
static void
start_over_in_child(void)
{
	atomic_store(&last_called, false);
	tally_capture_set_state(TALLY_STATE_IDLE);
	tally_trigger_reset(&config);
}

/* ---- configuration ---- */

/* A handler of the program that leaves by siglongjmp() would leave what is locked here locked, and
 * the next thread waits for ever: its signals wait, but those of faults, of a sandbox, and of our
 * own writing, which log.c sorts out. */
static void
hold_signals(sigset_t *before)
{
	static const int free[] = { SIGSEGV, SIGBUS,  SIGFPE, SIGILL, SIGTRAP,
				    SIGABRT, SIGSYS, SIGPIPE, SIGXFSZ };
	sigset_t held;
	sigfillset(&held);
	for (size_t i = 0; i < sizeof(free) / sizeof(free[0]); i++)
		sigdelset(&held, free[i]);
	pthread_sigmask(SIG_BLOCK, &held, before);
}

static void
read_options(void)
{
	tally_config_init(&config);
	tally_process_program(program, sizeof(program));
	tally_process_called(called, sizeof(called));
	tally_config_load(&config, called, tally_log_complain, NULL);
	struct tally_config_place place = { tally_log_complain, NULL,
					    "the program's own settings" };
	const char *own = atomic_load(&offered);
	taken = own ? strdup(own) : NULL;
	if (own && !tally_config_secure())
		tally_config_parse_options(&config, own, TALLY_FROM_PROGRAM, tally_config_report_at,
					   &place);
	if (tally_block_leaves_alone(&config, called))
		return;
	tally_trigger_reset(&config);
	config_read = tally_fork_watch(&start_lock, start_over_in_child);
	if (config_read)
		tally_capture_use(&config);
	else
		tally_log_say(TALLY_LEVEL_ERROR, "session",
			      "out of memory: nothing is captured");
}

static void
read_config(void)
{
	sigset_t before;
	hold_signals(&before);
	read_options();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

const struct tally_config *
tally_session_config(void)
{
	return tally_session_config_of(NULL);
}

const struct tally_config *
tally_session_config_of(const char *own)
{
	if (tally_config_disabled())
		return NULL;
	int saved_errno = errno;
	if (own)
		atomic_store(&offered, own);
	pthread_once(&config_once, read_config);
	if (own && (!taken || strcmp(own, taken) != 0))
		tally_log_complain(NULL, "the program's own settings came after the first "
					 "instance or context, and do not count");
	errno = saved_errno;
	return config_read ? &config : NULL;
}

/* ---- start and stop ---- */

static void
stop_at_exit(void)
{
	tally_session_stop("exit");
}

void
tally_session_use_annotator(const struct tally_annotator_ops *ops)
{
	const struct tally_annotator_ops *none = NULL;
	atomic_compare_exchange_strong(&annotator_ops, &none, ops);
}

/* Opens everything that can start and stop the capture. A failure here does not end the
 * capture. */
static void
open_triggers(const struct tally_naming *naming)
{
	tally_trigger_catch_signals();
	if (!config.control || strcmp(config.control, "off") == 0 || tally_config_secure())
		return;
	char *path = tally_naming_expand(naming, config.control);
	if (path)
		tally_control_start(path, program, log_path);
	free(path);
}

/* Starts the session. Called once, with the lock held; other threads see it when it is complete:
 * until then they wait for the lock. */
static void
start(const struct tally_recorder_ops *ops)
{
	const struct tally_naming naming = {
		.config = &config,
		.program = called,
		.started_unix_ns = tally_clock_unix_ns(),
		.pid = (long)getpid(),
		.forked = tally_fork_is_child(),
	};
	struct tally_recorder *recorder =
		tally_log_file_open(&naming, ops, log_path, sizeof(log_path));
	if (recorder && (!tally_header_write(&naming, program, ops, recorder) ||
			 !tally_black_box_begin(&config, ops, log_path))) {
		ops->close(recorder);
		recorder = NULL;
	}
	if (!recorder) {
		tally_capture_set_state(TALLY_STATE_OVER);
		return;
	}
	if (!exit_registered)
		exit_registered = atexit(stop_at_exit) == 0;
	atomic_store(&session_pid, naming.pid);
	const struct tally_annotator_ops *annotate = atomic_load(&annotator_ops);
	tally_capture_follow(annotate ? annotate->frame_begins : NULL);
	tally_pictures_begin(&config, log_path);
	if (tally_collector_start(ops, recorder, annotate, &config)) {
		open_triggers(&naming);
		return;
	}
	tally_capture_set_state(TALLY_STATE_OVER);
	tally_log_say(TALLY_LEVEL_ERROR, "session",
		      "nothing is captured, the game goes on: no thread could be made "
		      "for writing");
	struct tally_end_record end = { .reason = "no-thread" };
	ops->end(recorder, &end);
	ops->close(recorder);
}

bool
tally_session_start(const struct tally_recorder_ops *ops)
{
	enum tally_state now = tally_capture_state();
	if (now != TALLY_STATE_IDLE)
		return now == TALLY_STATE_RUNNING;
	if (!tally_session_config())
		return false;
	int saved_errno = errno;
	sigset_t before;
	hold_signals(&before);
	pthread_mutex_lock(&start_lock);
	if (tally_capture_state() == TALLY_STATE_IDLE)
		start(ops);
	pthread_mutex_unlock(&start_lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = saved_errno;
	return tally_session_running();
}

bool
tally_session_running(void)
{
	return tally_capture_state() == TALLY_STATE_RUNNING;
}

bool
tally_session_on_stop(void (*last)(void))
{
	for (size_t i = 0; i < MAX_LAST; i++) {
		void (*there)(void) = NULL;
		if (atomic_compare_exchange_strong(&last_calls[i], &there, last) ||
		    there == last)
			return true;
	}
	return false;
}

static void
call_last(void)
{
	if (!tally_session_running() || atomic_exchange(&last_called, true))
		return;
	for (size_t i = 0; i < MAX_LAST; i++) {
		void (*last)(void) = atomic_load(&last_calls[i]);
		if (last)
			last();
	}
}

void
tally_session_stop(const char *reason)
{
	/* A vfork child shares the memory but must not touch the capture. */
	if (tally_capture_state() == TALLY_STATE_IDLE ||
	    atomic_load(&session_pid) != (long)getpid())
		return;
	int saved_errno = errno;
	tally_control_stop();
	call_last();
	tally_collector_stop(reason, STOP_WAIT_NS);
	errno = saved_errno;
}

/* ---- for the front ends ---- */

uint64_t
tally_session_first_frame(void)
{
	return tally_session_config() ? tally_trigger_first_frame() : 0;
}

__attribute__((hot)) uint64_t
tally_session_rotation(uint64_t frame)
{
	return tally_session_config() ? tally_trigger_rotation(frame) : 0;
}

void
tally_session_saw_label(const char *name, size_t len)
{
	if (tally_session_config())
		tally_trigger_saw_label(name, len);
}

#include "layer/session.h"

#include "layer/annotator.h"
#include "layer/block.h"
#include "layer/clock.h"
#include "layer/collector.h"
#include "layer/config/internal.h"
#include "layer/control.h"
#include "layer/log.h"
#include "layer/log_internal.h"
#include "layer/process.h"
#include "layer/session_internal.h"
#include "layer/trigger.h"
#include "passtally_version.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STOP_WAIT_NS UINT64_C(2000000000)
#define MAX_LAST 8

enum state { IDLE = 0, RUNNING, OVER };

/* Guards start; held across fork. The outermost of our locks, never taken by stop: a signal
 * handler of the game may call exit() at any place. */
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int state;
static _Atomic long session_pid;
static bool exit_registered; /* under start_lock */
static _Atomic(const struct tally_annotator_ops *) annotator_ops;
static bool forked; /* set in the child before it has threads */

/* Called when the capture stops. Slots fill from the front and are never emptied. */
static _Atomic(void (*)(void)) last_calls[MAX_LAST];
static atomic_bool last_called;

static pthread_once_t config_once = PTHREAD_ONCE_INIT;
static struct tally_config config;
static bool config_read;
static char program[PATH_MAX], called[PATH_MAX];
static char log_path[PATH_MAX]; /* under start_lock */

/* ---- fork ---- */

static void
before_fork(void)
{
	pthread_mutex_lock(&start_lock);
	tally_intern_fork_begin();
	tally_log_fork_begin();
}

static void
after_fork(void)
{
	tally_log_fork_end();
	tally_intern_fork_end();
	pthread_mutex_unlock(&start_lock);
}

static void
after_fork_in_child(void)
{
	after_fork();
	tally_collector_forget();
	tally_log_reset();
	forked = true;
	atomic_store(&last_called, false);
	atomic_store(&state, IDLE);
	tally_control_forget();
	tally_trigger_release_signals();
	tally_trigger_reset(&config);
}

/* ---- configuration ---- */

static void
complain(void *data, const char *message)
{
	(void)data;
	tally_log_say(TALLY_LEVEL_WARNING, "config", "%s", message);
}

/* Is this a launcher or a helper, and no game? */
static bool
is_left_alone(void)
{
	struct tally_process process;
	tally_process_read(&process);
	struct tally_block_verdict v =
		tally_block_decide(&config, called, process.argv, process.n_argv);
	if (v.blocked)
		tally_log_say(TALLY_LEVEL_INFO, "config",
			      "%s is left alone: %s; to capture it, say allow=%s",
			      tally_config_base_name(called),
			      v.entry ? v.entry->reason : "the option block names it",
			      tally_config_base_name(called));
	tally_process_finish(&process);
	return v.blocked;
}

static void
read_config(void)
{
	tally_config_init(&config);
	tally_process_program(program, sizeof(program));
	tally_process_called(called, sizeof(called));
	tally_config_load(&config, called, complain, NULL);
	if (is_left_alone())
		return;
	tally_trigger_reset(&config);
	config_read = pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0;
	if (!config_read)
		tally_log_say(TALLY_LEVEL_ERROR, "session", "out of memory: nothing is captured");
}

const struct tally_config *
tally_session_config(void)
{
	if (tally_config_disabled())
		return NULL;
	int saved_errno = errno;
	pthread_once(&config_once, read_config);
	errno = saved_errno;
	return config_read ? &config : NULL;
}

/* ---- the log's name ---- */

/* Images that one process executes one after the other, each with a log of its own. */
#define MAX_IMAGES 100

static bool
has_pid(const char *pattern)
{
	for (const char *p = strchr(pattern, '%'); p && p[1]; p = strchr(p + 2, '%')) {
		if (p[1] == 'p')
			return true;
	}
	return false;
}

static bool
named_for_this_run(void)
{
	const struct tally_option *row = tally_option_find("log", 3);
	return config.origin && config.origin[row - tally_options] >= TALLY_FROM_ENVIRONMENT;
}

/* Something that is no file: nothing is to be made beside it. */
static bool
is_special(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* `path` with ".NUMBER" behind it; takes `path`, which may be NULL. */
static char *
with_number(char *path, long number)
{
	if (!path)
		return NULL;
	size_t size = strlen(path) + 24;
	char *unique = malloc(size);
	if (unique)
		snprintf(unique, size, "%s.%ld", path, number);
	free(path);
	return unique;
}

static struct tally_recorder *
open_at(const struct tally_recorder_ops *ops, const char *path, enum tally_record_status *status,
	char *why, size_t size)
{
	struct tally_recorder_options options = {
		.path = path,
		.max_bytes = config.max_log,
		.force = config.force,
		.make_folders = !config.log,
	};
	snprintf(log_path, sizeof(log_path), "%s", path);
	return ops->open(&options, status, why, size);
}

/* Open the first of path (as number 1), path.2, path.3 ... that is not there yet: a program that
 * executes another keeps its process id. `path` may be NULL. */
static struct tally_recorder *
open_beside(const struct tally_recorder_ops *ops, const char *path, long first,
	    enum tally_record_status *status, char *why, size_t size)
{
	struct tally_recorder *recorder = NULL;
	*status = TALLY_RECORD_EXISTS;
	for (long n = first; path && n <= MAX_IMAGES && *status == TALLY_RECORD_EXISTS; n++) {
		char *name = n > 1 ? with_number(strdup(path), n) : strdup(path);
		if (!name)
			return NULL;
		recorder = open_at(ops, name, status, why, size);
		if (recorder) {
			tally_log_say(TALLY_LEVEL_INFO, "session",
				      "the log is %s, as a file without the number was there",
				      name);
			*status = TALLY_RECORD_OK;
		}
		free(name);
	}
	return recorder;
}

static struct tally_recorder *
open_log(const struct tally_recorder_ops *ops, uint64_t started_unix_ns, long pid)
{
	char *path = tally_config_log_path(config.log, called, started_unix_ns, pid);
	/* What this process and its parent would both write to, each needs for itself. */
	bool fixed = config.log && !has_pid(config.log);
	if (path && forked && fixed)
		path = with_number(path, pid);
	if (!path) {
		tally_log_say(
			TALLY_LEVEL_ERROR, "session",
			"nothing is captured: there is no place for the log, as neither "
			"XDG_STATE_HOME nor HOME is an absolute path; name a file with log=PATH");
		return NULL;
	}
	enum tally_record_status status = TALLY_RECORD_IO;
	char why[512] = "";
	struct tally_recorder *recorder = open_at(ops, path, &status, why, sizeof(why));
	/* A launcher may start several programs that render, all told the same name. */
	bool shared = fixed && !forked;
	if (!recorder && status == TALLY_RECORD_EXISTS && !config.force &&
	    (!fixed || named_for_this_run()) && !is_special(path)) {
		path = shared ? with_number(path, pid) : path;
		recorder = open_beside(ops, path, shared ? 1 : 2, &status, why, sizeof(why));
	}
	free(path);
	if (!recorder)
		tally_log_say(TALLY_LEVEL_ERROR, "session",
			      "nothing is captured, the game goes on: %s", why);
	return recorder;
}

/* ---- the header ---- */

/* Values in force, one after the other in a single block. NULL on OOM. */
static struct tally_option_record *
list_options(uint32_t *n)
{
	size_t bytes = tally_n_options * sizeof(struct tally_option_record);
	for (size_t i = 0; i < tally_n_options; i++)
		bytes += tally_options[i].get(&config, NULL, 0) + 1;
	struct tally_option_record *records = malloc(bytes);
	*n = 0;
	if (!records)
		return NULL;
	char *text = (char *)(records + tally_n_options);
	for (size_t i = 0; i < tally_n_options; i++) {
		size_t len = tally_options[i].get(&config, text,
						  bytes - (size_t)(text - (char *)records));
		if (len == 0)
			continue;
		records[(*n)++] = (struct tally_option_record){ tally_options[i].key, text };
		text += len + 1;
	}
	return records;
}

static bool
write_header(const struct tally_recorder_ops *ops, struct tally_recorder *recorder,
	     uint64_t started_unix_ns, long pid)
{
	struct tally_process process = { 0 };
	if (!config.no_argv)
		tally_process_read(&process);
	uint32_t n_options;
	struct tally_option_record *options = list_options(&n_options);
	struct tally_header_record header = {
		.version = PASSTALLY_VERSION,
		.program = program,
		.argv = process.argv,
		.n_argv = process.n_argv,
		.has_argv = process.argv != NULL,
		.pid = pid,
		.started_unix_ns = started_unix_ns,
		.options = options,
		.n_options = n_options,
	};
	enum tally_record_status status = ops->header(recorder, &header);
	if (status == TALLY_RECORD_OK)
		status = ops->flush(recorder);
	free(options);
	tally_process_finish(&process);
	if (status == TALLY_RECORD_OK)
		return true;
	tally_log_say(TALLY_LEVEL_ERROR, "session", "nothing is captured, the game goes on: %s",
		      ops->why(recorder));
	return false;
}

/* ---- life ---- */

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

/* Who may say when to capture. None of it is worth more than the capture. */
static void
open_triggers(uint64_t started_unix_ns, long pid)
{
	tally_trigger_catch_signals();
	if (!config.control || strcmp(config.control, "off") == 0 || tally_config_secure())
		return;
	char *path = tally_config_log_path(config.control, called, started_unix_ns, pid);
	/* As with the log: what the parent has is the parent's. */
	if (path && forked && !has_pid(config.control))
		path = with_number(path, pid);
	if (path)
		tally_control_start(path, program, log_path);
	free(path);
}

/* Called once, with the lock held; sets the state that others then see. */
static void
start(const struct tally_recorder_ops *ops)
{
	long pid = (long)getpid();
	uint64_t started_unix_ns = tally_clock_unix_ns();
	struct tally_recorder *recorder = open_log(ops, started_unix_ns, pid);
	if (!recorder) {
		atomic_store(&state, OVER);
		return;
	}
	if (!write_header(ops, recorder, started_unix_ns, pid)) {
		atomic_store(&state, OVER);
		ops->close(recorder);
		return;
	}
	if (!exit_registered)
		exit_registered = atexit(stop_at_exit) == 0;
	atomic_store(&session_pid, pid);
	const struct tally_annotator_ops *annotate = atomic_load(&annotator_ops);
	struct tally_annotator *annotator = annotate ? annotate->create(&config) : NULL;
	atomic_store(&state, RUNNING); /* the thread may end the capture at once */
	if (tally_collector_start(ops, recorder, annotate, annotator)) {
		open_triggers(started_unix_ns, pid);
		return;
	}
	atomic_store(&state, OVER);
	if (annotator)
		annotate->destroy(annotator);
	tally_log_say(TALLY_LEVEL_ERROR, "session",
		      "nothing is captured, the game goes on: no thread could be made for writing");
	struct tally_end_record end = { .reason = "no-thread" };
	ops->end(recorder, &end);
	ops->close(recorder);
}

bool
tally_session_start(const struct tally_recorder_ops *ops)
{
	int now = atomic_load(&state);
	if (now != IDLE)
		return now == RUNNING;
	if (!tally_session_config())
		return false;
	int saved_errno = errno;
	pthread_mutex_lock(&start_lock);
	if (atomic_load(&state) == IDLE)
		start(ops);
	pthread_mutex_unlock(&start_lock);
	errno = saved_errno;
	return atomic_load(&state) == RUNNING;
}

bool
tally_session_running(void)
{
	return atomic_load_explicit(&state, memory_order_relaxed) == RUNNING;
}

void
tally_session_ended(void)
{
	atomic_store(&state, OVER);
}

bool
tally_session_on_stop(void (*last)(void))
{
	for (size_t i = 0; i < MAX_LAST; i++) {
		void (*there)(void) = NULL;
		if (atomic_compare_exchange_strong(&last_calls[i], &there, last) || there == last)
			return true;
	}
	return false;
}

static void
call_last(void)
{
	if (atomic_load(&state) != RUNNING || atomic_exchange(&last_called, true))
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
	/* A vfork child shares our memory but has no business with the capture. */
	if (atomic_load(&state) == IDLE || atomic_load(&session_pid) != (long)getpid())
		return;
	int saved_errno = errno;
	tally_control_stop();
	call_last();
	tally_collector_stop(reason, STOP_WAIT_NS);
	errno = saved_errno;
}

/* ---- which frames ---- */

const char *
tally_session_over(uint64_t frame, uint64_t count)
{
	return tally_session_config() ? tally_trigger_over(frame, count) : NULL;
}

bool
tally_session_wants_frame(uint64_t frame, _Atomic uint64_t *count)
{
	return tally_session_config() && tally_trigger_wants_frame(frame, count);
}

uint64_t
tally_session_turn(uint64_t frame)
{
	return tally_session_config() ? tally_trigger_turn(frame) : 0;
}

void
tally_session_saw_label(const char *name, size_t len)
{
	if (tally_session_config())
		tally_trigger_saw_label(name, len);
}

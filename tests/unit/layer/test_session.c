/* SPDX-License-Identifier: MIT */
#include "layer/capture/capture.h"
#include "layer/frame/stream.h"
#include "layer/session/session.h"

#include "layer/base/clock.h"
#include "layer/log.h"
#include "tests/unit/layer/recorder_stub.h"

#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* One of the tests is about a forked child that starts threads. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);

const char *
__tsan_default_options(void)
{
	return "die_after_fork=0";
}

/* `wants`: one character a frame from 0, '1' = captured. '!' before a frame: the label is seen. */
static const struct {
	const char *options, *wants;
} frame_cases[] = {
	{ "", "1111" },
	{ "skip=2", "00111" },
	{ "frames=3", "111000" },
	{ "every=3", "1001001" },
	{ "skip=1,every=2,frames=2", "0101000" },
	{ "every=2,frames=1", "100000" },
	{ "start-on=frame:2", "00111" },
	{ "start-on=frame:2,skip=1,frames=1", "000100" },
	{ "stop-on=frame:2", "11000" },
	{ "stop-on=frame:0", "000" },
	{ "start-on=frame:1,stop-on=frame:3", "011000" },
	{ "start-on=label:L", "000!111" },
	{ "start-on=label:L,skip=1,frames=2", "0!0110" },
	{ "stop-on=label:L", "11!000" },
	{ "start-on=label:L,stop-on=label:L", "00!11!00" },
	{ "start-on=label:other", "0!0" },
	{ "frames=18446744073709551615,every=18446744073709551615", "100" },
};

static void
test_wants_frame(gconstpointer data)
{
	const char *wants = frame_cases[GPOINTER_TO_UINT(data)].wants;
	if (!stub_in_child(frame_cases[GPOINTER_TO_UINT(data)].options))
		return;
	g_assert_nonnull(tally_session_config());
	_Atomic uint64_t first = TALLY_NO_FRAME;
	uint64_t frame = 0, turn = UINT64_MAX;
	for (const char *p = wants; *p; p++) {
		if (*p == '!') {
			tally_session_saw_label("LL", 2);
			tally_session_saw_label("Lx", 1);
			continue;
		}
		g_test_message("frame %u", (unsigned)frame);
		if (*p == '1') { /* taking turns leaves none out */
			g_assert_true(turn == UINT64_MAX ||
				      tally_session_rotation(frame) == turn + 1);
			turn = tally_session_rotation(frame);
		}
		g_assert_true(tally_capture_wants_frame(frame, &first) == (*p == '1'));
		g_assert_true(tally_capture_wants_frame(frame, &first) == (*p == '1'));
		frame++;
	}
}

static void
test_life(void)
{
	if (!stub_in_child("log=/tmp/%e-x.jsonl,max-log=1M,no-argv"))
		return;
	tally_session_stop("too early"); /* nothing to stop */
	g_assert_false(tally_session_running());
	errno = 55;
	g_assert_true(tally_session_start(&stub_recorder));
	g_assert_cmpint(errno, ==, 55);
	g_assert_true(tally_session_start(&stub_recorder));
	g_assert_true(tally_session_running());
	tally_log_say(TALLY_LEVEL_INFO, "test", "hello");
	tally_session_stop("because");
	tally_session_stop("again");
	g_assert_false(tally_session_running());
	g_assert_false(tally_session_start(&stub_recorder));
	g_assert_cmpuint(stub.n_ends, ==, 1);
	g_assert_cmpuint(stub.n_closed, ==, 1);
	g_assert_cmpuint(stub.paths->len, ==, 1);
	g_assert_true(g_str_has_prefix(g_ptr_array_index(stub.paths, 0), "/tmp/"));
	g_assert_nonnull(strstr(stub_line(0), " max-log=1M"));
	g_assert_nonnull(strstr(stub_line(0), " counters=overview"));
	g_assert_nonnull(strstr(stub_line(0), " no-argv=on"));
	g_assert_nonnull(strstr(stub_line(0), " argv=0"));
	g_assert_null(strstr(stub_line(0), " set="));
	g_assert_cmpuint(stub_count("note hello"), ==, 1);
	g_assert_cmpstr(stub.end.reason, ==, "because");
}

static unsigned n_last, n_other;

static void
count_last(void)
{
	g_assert_cmpuint(stub.n_ends, ==, 0); /* there is still a log to write to */
	g_assert_true(tally_session_running());
	n_last++;
}

static void
count_other(void)
{
	n_other++;
}

static void
last_2(void)
{
	n_other += 10;
}

static void
last_3(void)
{
	n_other += 20;
}

static void
last_4(void)
{
	n_other += 30;
}

static void
last_5(void)
{
	n_other += 40;
}

static void
last_6(void)
{
	n_other += 50;
}

static void
last_7(void)
{
	n_other += 60;
}

static void
last_8(void)
{
	n_other += 70;
}

static void
test_on_stop(void)
{
	if (!stub_in_child(NULL))
		return;
	g_assert_true(tally_session_on_stop(count_last));
	g_assert_true(tally_session_on_stop(count_other));
	tally_session_stop("too early");
	g_assert_cmpuint(n_last, ==, 0);
	g_assert_true(tally_session_start(&stub_recorder));
	g_assert_true(tally_session_on_stop(count_last));
	static void (*const more[])(void) = { last_2, last_3, last_4, last_5, last_6, last_7 };
	for (unsigned i = 0; i < G_N_ELEMENTS(more); i++)
		g_assert_true(tally_session_on_stop(more[i]));
	g_assert_false(tally_session_on_stop(last_8));
	g_assert_true(tally_session_on_stop(last_7));
	pid_t child = fork();
	if (child == 0) {
		/* The child's own capture calls them too. */
		n_last = n_other = 0;
		tally_session_stop("nothing of its own");
		bool ok = n_last == 0 && tally_session_start(&stub_recorder);
		tally_session_stop("child");
		_exit(ok && n_last == 1 && n_other == 211 ? 0 : 1);
	}
	int status = -1;
	g_assert_cmpint(waitpid(child, &status, 0), ==, child);
	g_assert_cmpint(status, ==, 0);
	tally_session_stop("exit");
	tally_session_stop("again");
	g_assert_cmpuint(n_last, ==, 1);
	g_assert_cmpuint(n_other, ==, 211);
}

static void
test_argv(void)
{
	if (!stub_in_child(NULL))
		return;
	g_assert_true(tally_session_start(&stub_recorder));
	tally_session_stop("exit");
	g_assert_null(strstr(stub_line(0), " argv=0"));
	/* The default place, with the process's number. */
	char *pid = g_strdup_printf("-%ld.jsonl", (long)getpid());
	const char *path = g_ptr_array_index(stub.paths, 0);
	g_assert_true(g_str_has_prefix(path, "/nonexistent/passtally/"));
	g_assert_true(g_str_has_suffix(path, pid));
	g_free(pid);
}

static void
assert_told(const char *part)
{
	struct tally_note_record note;
	g_assert_true(tally_log_take(&note));
	g_test_message("%s", note.message);
	g_assert_nonnull(strstr(note.message, part));
	g_assert_false(tally_log_take(&note));
}

static void
test_open_fails(void)
{
	if (!stub_in_child("log=/tmp/taken"))
		return;
	stub_open_status = TALLY_RECORD_DENIED;
	g_assert_false(tally_session_start(&stub_recorder));
	g_assert_false(tally_session_start(&stub_recorder));
	g_assert_false(tally_session_running());
	assert_told("nothing is captured, the game goes on: /tmp/taken: refused by the stub");
	struct tally_device_record info = { .name = "x" };
	g_assert_null(tally_device_create(&info));
	g_assert_null(tally_stream_create(NULL, NULL));
	tally_session_stop("exit");
	g_assert_cmpuint(stub.lines->len, ==, 0);
}

static void
test_header_fails(void)
{
	if (!stub_in_child("log=/tmp/x"))
		return;
	stub_fail = 0;
	g_assert_false(tally_session_start(&stub_recorder));
	assert_told("the stub is full");
	g_assert_cmpuint(stub.n_closed, ==, 1);
}

static void
test_no_place(void)
{
	if (!stub_in_child(NULL))
		return;
	g_unsetenv("XDG_STATE_HOME");
	g_unsetenv("HOME");
	g_assert_false(tally_session_start(&stub_recorder));
	assert_told("no place for the log");
}

static void
test_disabled(void)
{
	if (!stub_in_child(NULL))
		return;
	g_setenv("PASSTALLY_DISABLE", "1", TRUE);
	g_assert_null(tally_session_config());
	g_assert_false(tally_session_start(&stub_recorder));
	_Atomic uint64_t first = TALLY_NO_FRAME;
	g_assert_false(tally_capture_wants_frame(0, &first));
	tally_session_saw_label("x", 1);
	g_assert_cmpuint(stub.paths->len, ==, 0);
}

static void
test_bad_option(void)
{
	if (!stub_in_child("skip=x,frames=2"))
		return;
	const struct tally_config *config = tally_session_config();
	g_assert_nonnull(config);
	g_assert_true(tally_session_config() == config);
	g_assert_cmpuint(config->skip, ==, 0);
	g_assert_cmpuint(config->frames, ==, 2);
	assert_told("PASSTALLY_OPTIONS: option skip");
}

/* A program that makes two instances reports its settings twice, and often from the same place
 * of its stack: their text decides. */
static void
test_own_settings(void)
{
	if (!stub_in_child(NULL))
		return;
	char first[] = "frames=2", again[] = "frames=2";
	const struct tally_config *config = tally_session_config_of(first);
	g_assert_nonnull(config);
	g_assert_cmpuint(config->frames, ==, 2);
	g_assert_true(tally_session_config_of(again) == config);
	struct tally_note_record note;
	g_assert_false(tally_log_take(&note));
	memcpy(first, "frames=3", sizeof(first));
	g_assert_true(tally_session_config_of(first) == config);
	g_assert_cmpuint(config->frames, ==, 2);
	assert_told("came after the first instance");
}

/* A name that another process has taken. */
static void
test_taken(void)
{
	static const struct {
		const char *log, *before, *after;
	} rows[] = {
		{ "/tmp/taken", "/tmp/taken", "" },
		{ "/tmp/taken.jsonl", "/tmp/taken", ".jsonl" },
		{ "/tmp/.jsonl", "/tmp/.jsonl", "" },
	};
	/* A separate child for each row, which finds the row again by its option. */
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *option = g_strconcat("log=", rows[i].log, NULL);
		const char *given = g_getenv("PASSTALLY_OPTIONS");
		if ((g_test_subprocess() && g_strcmp0(given, option) != 0) ||
		    !stub_in_child(option))
			continue;
		g_hash_table_add(stub.taken, g_strdup(rows[i].log));
		g_assert_true(tally_session_start(&stub_recorder));
		tally_session_stop("exit");
		g_autofree char *path = g_strdup_printf("%s.%ld%s", rows[i].before, (long)getpid(),
							rows[i].after);
		g_assert_cmpstr(g_ptr_array_index(stub.paths, 0), ==, path);
		g_assert_cmpuint(stub_count("note the log is /tmp/"), ==, 1);
	}
}

static void
test_taken_with_pid(void)
{
	if (!stub_in_child("log=/tmp/taken-%p"))
		return;
	char *first = g_strdup_printf("/tmp/taken-%ld", (long)getpid());
	char *second = g_strconcat(first, ".2", NULL);
	char *third = g_strconcat(first, ".3", NULL);
	/* This process ran other programs before: two of them rendered. */
	g_hash_table_add(stub.taken, first);
	g_hash_table_add(stub.taken, second);
	g_assert_true(tally_session_start(&stub_recorder));
	tally_session_stop("exit");
	g_assert_cmpstr(g_ptr_array_index(stub.paths, 0), ==, third);
	g_free(third);
}

static void
test_taken_by_device(void)
{
	if (!stub_in_child("log=/dev/full"))
		return;
	g_hash_table_add(stub.taken, g_strdup("/dev/full"));
	g_assert_false(tally_session_start(&stub_recorder));
	g_assert_cmpuint(stub.paths->len, ==, 0);
	assert_told("refused by the stub");
}

static struct tally_stream *
stream_with_frames(struct tally_device **device, unsigned n)
{
	struct tally_device_record info = { .name = "Fake", .beneath = -1 };
	struct tally_stream_info stream_info = { .context = 1,
						 .queue_family = -1,
						 .queue_index = -1 };
	*device = tally_device_create(&info);
	g_assert_nonnull(*device);
	struct tally_stream *s = tally_stream_create(*device, &stream_info);
	g_assert_nonnull(s);
	for (unsigned i = 0; i < n; i++) {
		struct tally_pass *pass = tally_stream_open_pass(s, 1);
		if (pass)
			pass->done = true;
		struct tally_frame_end end = { .now_ns = tally_clock_now_ns() };
		tally_stream_end_frame(s, &end);
		tally_stream_publish(s);
	}
	return s;
}

/* The log fills up: one message, an end, and the game continues. */
static void
test_write_fails(gconstpointer data)
{
	enum tally_record_status failure = (enum tally_record_status)GPOINTER_TO_UINT(data);
	if (!stub_in_child("log=/tmp/x"))
		return;
	stub_fail = 5;
	stub_failure = failure;
	g_assert_true(tally_session_start(&stub_recorder));
	struct tally_device *device;
	struct tally_stream *s = stream_with_frames(&device, 20);
	for (int i = 0; i < 5000 && tally_session_running(); i++)
		g_usleep(1000);
	g_assert_false(tally_session_running());
	tally_session_stop("exit");
	g_assert_null(tally_stream_open_pass(s, 1));
	tally_stream_destroy(s);
	tally_device_destroy(device);
	g_assert_cmpuint(stub.lines->len, ==, 5);
	g_assert_cmpuint(stub.n_ends, ==, 1);
	g_assert_cmpuint(stub.n_closed, ==, 1);
	g_assert_cmpstr(stub.end.reason, ==,
			failure == TALLY_RECORD_LIMIT  ? "max-log"
			: failure == TALLY_RECORD_FULL ? "disk-full"
						       : "write-error");
	/* stub.lines: header, device, pass_info and two frames. */
	g_assert_cmpuint(stub.end.frames, ==, 2);
}

static int
status_of(pid_t pid)
{
	int status;
	g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The child has no capture until it starts its own, with its own name. */
static void
test_fork(void)
{
	if (!stub_in_child("log=/tmp/shared"))
		return;
	g_assert_true(tally_session_start(&stub_recorder));
	struct tally_device *device;
	struct tally_stream *s = stream_with_frames(&device, 3);
	/* Until the collector sleeps: gcc 12's AddressSanitizer can not fork while another thread
	 * is in its malloc. */
	for (int i = 0; i < 1000 && atomic_load(&stub.n_frames) < 3; i++)
		g_usleep(10000);
	g_usleep(100000);
	pid_t pid = fork();
	g_assert_cmpint(pid, >=, 0);
	if (pid == 0) {
		g_assert_false(tally_session_running());
		g_assert_cmpuint(stub.n_abandoned, ==, 1);
		g_assert_false(tally_stream_captures(s));
		g_assert_null(tally_stream_open_pass(s, 1));
		tally_stream_publish(s);
		unsigned before = stub.paths->len;
		g_ptr_array_set_size(stub.lines, 0);
		g_assert_true(tally_session_start(&stub_recorder));
		struct tally_device *own;
		struct tally_stream *t = stream_with_frames(&own, 2);
		tally_stream_destroy(t);
		tally_device_destroy(own);
		/* Objects inherited from the parent are dead, and can be released safely. */
		tally_stream_destroy(s);
		tally_device_destroy(device);
		tally_session_stop("exit");
		char *path = g_strdup_printf("/tmp/shared.%ld", (long)getpid());
		g_assert_cmpstr(g_ptr_array_index(stub.paths, before), ==, path);
		g_assert_cmpuint(stub_count("device 0 "), ==, 1);
		g_assert_cmpuint(stub_count("frame 0 "), ==, 2);
		_exit(0);
	}
	g_assert_cmpint(status_of(pid), ==, 0);
	g_assert_true(tally_session_running());
	g_assert_true(tally_stream_captures(s));
	tally_stream_destroy(s);
	tally_device_destroy(device);
	tally_session_stop("exit");
	g_assert_cmpuint(stub_count("frame 0 "), ==, 3);
	g_assert_cmpuint(stub.n_abandoned, ==, 0);
}

/* A child that does not render and exits leaves the parent's capture alone. */
static void
test_fork_and_exit(void)
{
	if (!stub_in_child(NULL))
		return;
	g_assert_true(tally_session_start(&stub_recorder));
	pid_t pid = fork();
	if (pid == 0) {
		tally_session_stop("exit");
		_exit(stub.n_ends == 0 && stub.n_closed == 0 ? 0 : 1);
	}
	g_assert_cmpint(status_of(pid), ==, 0);
	g_assert_true(tally_session_running());
	pid = vfork();
	if (pid == 0) {
		tally_session_stop("exit"); /* as the shim's hook of _exit does */
		_exit(0);
	}
	g_assert_cmpint(status_of(pid), ==, 0);
	g_assert_true(tally_session_running());
	tally_session_stop("exit");
	g_assert_cmpuint(stub.n_ends, ==, 1);
}

static void
say_closed(void)
{
	if (stub.n_ends != 1 || stub.n_closed != 1 || strcmp(stub.end.reason, "exit") != 0)
		_exit(1);
}

/* An object that nobody destroys; referenced here so that it is not a leak. */
static struct tally_stream *volatile left_behind;

/* exit() without teardown writes the end. */
static void
test_exit(void)
{
	if (!stub_in_child(NULL))
		return;
	atexit(say_closed); /* before passtally's, so it runs after */
	g_assert_true(tally_session_start(&stub_recorder));
	struct tally_device *device;
	left_behind = stream_with_frames(&device, 3);
	exit(0);
}

static gpointer
start_too(gpointer data)
{
	*(bool *)data = tally_session_start(&stub_recorder);
	return NULL;
}

static void
test_start_from_threads(void)
{
	if (!stub_in_child(NULL))
		return;
	GThread *threads[8];
	bool started[8];
	for (int i = 0; i < 8; i++)
		threads[i] = g_thread_new("starter", start_too, &started[i]);
	for (int i = 0; i < 8; i++) {
		g_thread_join(threads[i]);
		g_assert_true(started[i]);
	}
	tally_session_stop("exit");
	g_assert_cmpuint(stub.paths->len, ==, 1);
	g_assert_cmpuint(stub_count("header"), ==, 1);
}

static sigjmp_buf before_start;

static void
leave(int number)
{
	(void)number;
	siglongjmp(before_start, 1);
}

static struct tally_recorder *
open_amid_signal(const struct tally_recorder_options *options, enum tally_record_status *status,
		 char *why, size_t size)
{
	raise(SIGUSR1);
	return stub_recorder.open(options, status, why, size);
}

/* The game leaves its handler, and the start with it, for elsewhere: nothing stays locked. */
static void
test_start_is_left(void)
{
	if (!stub_in_child(NULL))
		return;
	struct tally_recorder_ops recorder = stub_recorder;
	recorder.open = open_amid_signal;
	signal(SIGUSR1, leave);
	alarm(10);
	if (sigsetjmp(before_start, 1) == 0)
		tally_session_start(&recorder);
	g_assert_true(tally_session_start(&stub_recorder));
	tally_session_stop("exit");
	g_assert_cmpuint(stub_count("header"), ==, 1);
}

/* The writer thread takes none of the game's signals: when the game's thread blocks one, it
 * stays pending. */
static void
test_signals(void)
{
	if (!stub_in_child(NULL))
		return;
	g_assert_true(tally_session_start(&stub_recorder));
	sigset_t mine, pending;
	sigemptyset(&mine);
	sigaddset(&mine, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &mine, NULL);
	kill(getpid(), SIGUSR1); /* would end the process in a thread that takes it */
	g_usleep(20000);
	sigpending(&pending);
	g_assert_true(sigismember(&pending, SIGUSR1));
	tally_session_stop("exit");
}

/* Once everything is quiet the thread sleeps: it uses next to no processor time. */
static void
test_idle(void)
{
	if (!stub_in_child(NULL))
		return;
	g_assert_true(tally_session_start(&stub_recorder));
	struct tally_device *device;
	struct tally_stream *s = stream_with_frames(&device, 3);
	g_usleep(300000);
	unsigned flushes = atomic_load(&stub.n_flushes);
	clock_t before = clock();
	g_usleep(500000);
	g_assert_cmpint(clock() - before, <, CLOCKS_PER_SEC / 50);
	g_assert_cmpuint(atomic_load(&stub.n_flushes), ==, flushes);
	g_assert_cmpuint(atomic_load(&stub.n_frames), ==, 3); /* all written and flushed by now */
	g_assert_cmpuint(flushes, >=, 2);
	tally_stream_destroy(s);
	tally_device_destroy(device);
	tally_session_stop("exit");
}

/* ---- a second thread comes while the first starts the session ---- */

static struct {
	_Atomic pid_t thread; /* the second, once it is about to start */
	atomic_bool returned;
	bool started;
	struct tally_device *device;
	GThread *handle;
} second;

static gpointer
start_second(gpointer data)
{
	(void)data;
	static const struct tally_device_record info = { .name = "second" };
	atomic_store(&second.thread, gettid());
	second.started = tally_session_start(&stub_recorder);
	second.device = tally_device_create(&info);
	atomic_store(&second.returned, true);
	return NULL;
}

/* Lets the second thread run until it has a device, or sleeps: it waits for the first. */
static void
let_second_come(void)
{
	if (!second.handle)
		second.handle = g_thread_new("second", start_second, NULL);
	while (!atomic_load(&second.returned)) {
		char path[64], *stat = NULL;
		snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)second.thread);
		if (second.thread && g_file_get_contents(path, &stat, NULL, NULL) &&
		    strstr(stat, ") S "))
			break;
		g_free(stat);
	}
}

static struct tally_recorder *
open_slowly(const struct tally_recorder_options *options, enum tally_record_status *status,
	    char *why, size_t size)
{
	let_second_come();
	return stub_recorder.open(options, status, why, size);
}

static struct tally_annotator *
create_slowly(const struct tally_config *config)
{
	(void)config;
	let_second_come();
	return NULL;
}

static const struct {
	const char *what, *options;
	bool in_open;
} start_cases[] = {
	{ "while-the-log-opens", "", true },
	{ "while-sources-open", "snapshot=exact", false },
};

static void
test_second_thread(gconstpointer data)
{
	unsigned i = GPOINTER_TO_UINT(data);
	static const struct tally_annotator_ops annotator = { .create = create_slowly };
	if (!stub_in_child(start_cases[i].options))
		return;
	struct tally_recorder_ops slow = stub_recorder;
	if (start_cases[i].in_open)
		slow.open = open_slowly;
	else
		tally_session_use_annotator(&annotator);
	g_assert_true(tally_session_start(&slow));
	g_thread_join(second.handle);
	g_assert_true(second.started);
	g_assert_nonnull(second.device);
	_exit(0); /* the annotator has no other functions */
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (unsigned i = 0; i < G_N_ELEMENTS(frame_cases); i++) {
		char *path = g_strdup_printf("/session/wants-frame/%u", i);
		g_test_add_data_func(path, GUINT_TO_POINTER(i), test_wants_frame);
		g_free(path);
	}
	g_test_add_func("/session/life", test_life);
	g_test_add_func("/session/on-stop", test_on_stop);
	g_test_add_func("/session/argv", test_argv);
	g_test_add_func("/session/open-fails", test_open_fails);
	g_test_add_func("/session/header-fails", test_header_fails);
	g_test_add_func("/session/no-place", test_no_place);
	g_test_add_func("/session/disabled", test_disabled);
	g_test_add_func("/session/bad-option", test_bad_option);
	g_test_add_func("/session/own-settings", test_own_settings);
	g_test_add_func("/session/taken", test_taken);
	g_test_add_func("/session/taken-by-device", test_taken_by_device);
	g_test_add_func("/session/taken-with-pid", test_taken_with_pid);
	g_test_add_data_func("/session/write-fails/full", GUINT_TO_POINTER(TALLY_RECORD_FULL),
			     test_write_fails);
	g_test_add_data_func("/session/write-fails/limit", GUINT_TO_POINTER(TALLY_RECORD_LIMIT),
			     test_write_fails);
	g_test_add_data_func("/session/write-fails/io", GUINT_TO_POINTER(TALLY_RECORD_IO),
			     test_write_fails);
	g_test_add_func("/session/fork", test_fork);
	g_test_add_func("/session/fork-and-exit", test_fork_and_exit);
	g_test_add_func("/session/exit", test_exit);
	g_test_add_func("/session/signals", test_signals);
	g_test_add_func("/session/idle", test_idle);
	g_test_add_func("/session/start-from-threads", test_start_from_threads);
	g_test_add_func("/session/start-is-left", test_start_is_left);
	for (unsigned i = 0; i < G_N_ELEMENTS(start_cases); i++) {
		char *path = g_strdup_printf("/session/second-thread/%s", start_cases[i].what);
		g_test_add_data_func(path, GUINT_TO_POINTER(i), test_second_thread);
		g_free(path);
	}
	return g_test_run();
}

/* SPDX-License-Identifier: MIT */
#include "layer/capture/control.h"

#include "layer/base/clock.h"
#include "layer/base/own_threads.h"
#include "layer/base/sandbox.h"
#include "layer/base/thread.h"
#include "layer/capture/capture.h"
#include "layer/capture/control_socket.h"
#include "layer/capture/renderdoc.h"
#include "layer/capture/trigger.h"
#include "layer/config/base.h"
#include "layer/log.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Written before the thread starts and after fork; otherwise constant. */
static struct {
	struct tally_control_socket socket;
	char program[PATH_MAX], log[PATH_MAX];
	long pid;
} control;
static atomic_bool listening;
/* The client that is being served, for a forked child to close. */
static atomic_int client = -1;

/* ---- requests ---- */

static const char *
capture_word(void)
{
	/* In the order of enum tally_capture. */
	static const char *const words[] = { "waiting", "capturing", "paused" };
	return tally_capture_state() == TALLY_STATE_RUNNING ? words[tally_trigger_capture()]
							    : "over";
}

static void
answer_status(char *reply, size_t size)
{
	snprintf(reply, size, "ok\nstate %s\npid %ld\nprogram %s\nlog %s\n", capture_word(),
		 control.pid, control.program, control.log);
}

static void
answer_change(char *reply, size_t size, bool start, enum tally_trigger_cause cause)
{
	bool runs = tally_trigger_capture() == TALLY_CAPTURE_RUNS;
	if (start == runs)
		snprintf(reply, size, "ok\nit was %s already\n",
			 runs ? "capturing" : "not capturing");
	else
		snprintf(reply, size, "ok\nthe capture %s with the next frame\n",
			 start ? "starts" : "pauses");
	if (start)
		tally_trigger_start(cause);
	else
		tally_trigger_stop(cause);
}

static void
answer_mark(char *reply, size_t size, const char *name)
{
	if (!tally_config_is_clean(name, strlen(name), TALLY_CONTROL_MAX_MARK))
		snprintf(reply, size,
			 "error\na mark's name is 1 to %d bytes without control characters\n",
			 TALLY_CONTROL_MAX_MARK);
	else if (!tally_log_mark("mark", tally_clock_now_ns(), name))
		snprintf(reply, size, "error\ntoo many marks at once: this one was not taken\n");
	else
		snprintf(reply, size, "ok\nmark %s\n", name);
}

static void
answer_renderdoc(char *reply, size_t size)
{
	const char *why = tally_renderdoc_capture();
	snprintf(reply, size, why ? "error\n%s\n" : "ok\nRenderDoc captures the next frame%s\n",
		 why ? why : "");
	if (!why)
		tally_log_mark("mark", tally_clock_now_ns(), "RenderDoc captures the next frame");
}

static void
answer_keep(char *reply, size_t size)
{
	bool kept = tally_capture_ask_keep("asked for");
	snprintf(reply, size, kept ? "ok\nthe black box is kept\n"
				   : "error\nthe run has no --black-box\n");
	if (kept)
		tally_log_mark("mark", tally_clock_now_ns(), "the black box is kept");
}

/* `request` ends in NUL. */
static void
answer(const char *request, char *reply, size_t size, enum tally_trigger_cause cause)
{
	static const char mark[] = "mark ";
	bool starts = strcmp(request, "start") == 0, stops = strcmp(request, "stop") == 0;
	bool toggles = strcmp(request, "toggle") == 0;
	bool marks = strncmp(request, mark, sizeof(mark) - 1) == 0;
	if (strcmp(request, "status") == 0)
		answer_status(reply, size);
	else if (strcmp(request, "renderdoc") == 0)
		answer_renderdoc(reply, size);
	else if (strcmp(request, "picture") == 0)
		snprintf(reply, size,
			 tally_trigger_ask_picture() ? "ok\nthe next frame is pictured\n"
					      : "error\nthe run has no --pictures\n");
	else if (strcmp(request, "keep") == 0)
		answer_keep(reply, size);
	else if (!starts && !stops && !toggles && !marks)
		snprintf(reply, size,
			 "error\nthis is no request: there are start, stop, toggle, "
			 "mark NAME, picture, keep, renderdoc, status\n");
	else if (tally_capture_state() != TALLY_STATE_RUNNING)
		snprintf(reply, size, "error\nthe capture is over: its log is complete\n");
	else if (marks)
		answer_mark(reply, size, request + sizeof(mark) - 1);
	else if (toggles)
		answer_change(reply, size, tally_trigger_capture() != TALLY_CAPTURE_RUNS,
			      cause);
	else
		answer_change(reply, size, starts, cause);
}

int
passtally_take_request(const char *request)
{
	char reply[640];
	/* Its answer is for people, and the program asks for nothing that it knows itself. */
	if (!request || strcmp(request, "status") == 0)
		return 0;
	answer(request, reply, sizeof(reply), TALLY_CAUSE_PROGRAM);
	return strncmp(reply, "ok", 2) == 0;
}

static void
serve_client(int fd)
{
	static char reply[TALLY_CONTROL_MAX_REPLY]; /* used only by this thread */
	char request[TALLY_CONTROL_MAX_REQUEST];
	size_t len;
	/* Receives before it checks the user: closing with an unread request
	 * would discard the answer. In a sandbox, which may end the program for the check, the
	 * mode of the file alone keeps others out. */
	if (!tally_control_socket_receive(&control.socket, fd, request, sizeof(request), &len))
		return;
	if (!tally_is_filtered() && !tally_control_socket_is_user(fd))
		snprintf(reply, sizeof(reply), "error\nthis game belongs to another user\n");
	else if (strlen(request) != len)
		snprintf(reply, sizeof(reply), "error\nthe request is cut or holds a NUL\n");
	else
		answer(request, reply, sizeof(reply), TALLY_CAUSE_CONTROL);
	tally_control_socket_send(fd, reply, strlen(reply));
}

static void *
run_control(void *data)
{
	(void)data;
	tally_own_threads_enter();
	int fd;
	while ((fd = tally_control_socket_accept(&control.socket)) >= 0) {
		atomic_store(&client, fd);
		serve_client(fd);
		if (atomic_exchange(&client, -1) == fd)
			close(fd);
	}
	tally_own_threads_leave();
	return NULL;
}

/* ---- start and stop ---- */

static void
make_absolute(const char *path, char *out, size_t size)
{
	size_t used = 0;
	if (path[0] != '/' && getcwd(out, size - 1)) {
		used = strlen(out);
		out[used++] = '/';
	}
	size_t len = strnlen(path, size - used - 1);
	memcpy(out + used, path, len);
	out[used + len] = '\0';
}

bool
tally_control_start(const char *path, const char *program, const char *log)
{
	char why[512] = "";
	if (!tally_control_socket_open(&control.socket, path, why, sizeof(why))) {
		tally_log_say(TALLY_LEVEL_WARNING, "control",
			      "there is no control socket, so passtally trigger cannot "
			      "reach this process: %s",
			      why);
		return false;
	}
	control.pid = (long)getpid();
	snprintf(control.program, sizeof(control.program), "%s", program);
	make_absolute(log, control.log, sizeof(control.log));
	atomic_store(&listening, true);
	if (tally_thread_start(run_control, NULL))
		return true;
	tally_control_stop();
	tally_control_socket_close(&control.socket);
	tally_log_say(TALLY_LEVEL_WARNING, "control",
		      "there is no control socket: no thread could be made for it");
	return false;
}

void
tally_control_stop(void)
{
	int saved_errno = errno;
	if (atomic_exchange(&listening, false))
		tally_control_socket_remove(&control.socket);
	errno = saved_errno;
}

void
tally_control_forget(void)
{
	if (!atomic_exchange(&listening, false))
		return;
	tally_control_socket_close(&control.socket);
	int fd = atomic_exchange(&client, -1);
	if (fd >= 0)
		close(fd);
}

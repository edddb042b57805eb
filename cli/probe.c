#include "cli/probe.h"

#include "cli/probe_gl.h"
#include "passtally_version.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_SECONDS 30

struct child {
	struct tally_recorder *recorder;
	bool ok;
};

static void
record(struct child *c, enum tally_level level, const char *message)
{
	struct tally_note_record note = { .level = level, .message = message, .source = "probe" };
	c->ok &= tally_json_recorder.note(c->recorder, &note) == TALLY_RECORD_OK;
}

static void
found(void *data, const struct tally_device_record *device, const char *display)
{
	struct child *c = data;
	record(c, TALLY_LEVEL_INFO, display);
	c->ok &= tally_json_recorder.device(c->recorder, device) == TALLY_RECORD_OK;
}

/* Drivers print what they please; that is no part of our output. */
static void
silence(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
}

static _Noreturn void
run_child(const char *path, enum tally_api api, const char *counters)
{
	signal(SIGALRM, SIG_DFL);
	alarm(LIMIT_SECONDS);
	silence();
	struct tally_recorder_options options = { .path = path };
	enum tally_record_status status;
	char why[512] = "";
	struct child c = { .ok = true };
	c.recorder = tally_json_recorder.open(&options, &status, why, sizeof(why));
	if (!c.recorder)
		_exit(1);
	struct tally_header_record header = {
		.version = PASSTALLY_VERSION,
		.program = "passtally",
		.pid = getpid(),
		.started_unix_ns = (uint64_t)g_get_real_time() * 1000,
	};
	c.ok = tally_json_recorder.header(c.recorder, &header) == TALLY_RECORD_OK;
	/* To the file before the driver is touched: what is there survives its crash. */
	tally_json_recorder.flush(c.recorder);
	if (!tally_probe_gl(api, 0, counters, found, &c, why, sizeof(why)))
		record(&c, TALLY_LEVEL_ERROR, why);
	struct tally_end_record end = { .reason = "exit" };
	c.ok &= tally_json_recorder.end(c.recorder, &end) == TALLY_RECORD_OK;
	tally_json_recorder.close(c.recorder);
	_exit(c.ok ? 0 : 1);
}

struct answer {
	tally_probe_device *device;
	void *data;
	char *display;
	bool any;
};

/* False with `why` when the log holds no device. */
static bool
read_answer(const char *path, struct answer *answer, char *why, size_t size)
{
	struct tally_read_error error = { 0 };
	enum tally_read_status status;
	struct tally_log_reader *reader = tally_log_reader_open(path, &status, &error);
	struct tally_log_line line;
	while (reader && tally_log_reader_next(reader, &line, &error) == TALLY_READ_OK) {
		if (line.type == TALLY_LINE_DEVICE) {
			answer->any = true;
			answer->device(answer->data, &line.device,
				       answer->display ? answer->display : "");
		} else if (line.type == TALLY_LINE_NOTE && line.note.level == TALLY_LEVEL_ERROR) {
			g_snprintf(why, (gulong)size, "%s", line.note.message);
		} else if (line.type == TALLY_LINE_NOTE) {
			g_free(answer->display);
			answer->display = g_strdup(line.note.message);
		}
	}
	tally_log_reader_close(reader);
	g_free(answer->display);
	return answer->any;
}

bool
tally_probe(enum tally_api api, const char *counters, tally_probe_device *device, void *data,
	    char *why, size_t size)
{
	char *folder = g_dir_make_tmp("passtally-XXXXXX", NULL);
	if (!folder) {
		g_snprintf(why, (gulong)size, "no temporary folder could be made in %s",
			   g_get_tmp_dir());
		return false;
	}
	char *path = g_build_filename(folder, "probe.jsonl", NULL);
	fflush(NULL);
	signal(SIGCHLD, SIG_DFL);
	pid_t pid = fork();
	if (pid == 0)
		run_child(path, api, counters);
	int status = 0;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0)
		g_snprintf(why, (gulong)size, "no process could be started: %s", g_strerror(errno));
	else if (WIFSIGNALED(status))
		g_snprintf(why, (gulong)size,
			   WTERMSIG(status) == SIGALRM ? "the driver did not answer within 30 s%s"
						       : "the driver ended the probe by signal: %s",
			   WTERMSIG(status) == SIGALRM ? "" : g_strsignal(WTERMSIG(status)));
	else
		g_snprintf(why, (gulong)size, "the probe could not write %s", path);
	struct answer answer = { .device = device, .data = data };
	bool ok = pid > 0 && read_answer(path, &answer, why, size);
	g_unlink(path);
	g_rmdir(folder);
	g_free(path);
	g_free(folder);
	return ok;
}

#include "cli/probe.h"

#include "cli/probe_gl.h"
#include "cli/probe_vk.h"
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
found_vk(void *data, const struct tally_device_record *device, const char *const *facts)
{
	struct child *c = data;
	for (; *facts; facts++)
		record(c, TALLY_LEVEL_INFO, *facts);
	c->ok &= tally_json_recorder.device(c->recorder, device) == TALLY_RECORD_OK;
	/* The next device's driver may crash. */
	tally_json_recorder.flush(c->recorder);
}

static void
found_gl(void *data, const struct tally_device_record *device, const char *display)
{
	char *seen = g_strconcat("seen on ", display, NULL);
	const char *facts[] = { seen, NULL };
	found_vk(data, device, facts);
	g_free(seen);
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
	/* Our own layer has no business in here. */
	g_setenv("PASSTALLY_DISABLE", "1", TRUE);
	bool any = api == TALLY_API_VULKAN
			   ? tally_probe_vk(counters, found_vk, &c, why, sizeof(why))
			   : tally_probe_gl(api, 0, counters, found_gl, &c, why, sizeof(why));
	if (!any)
		record(&c, TALLY_LEVEL_ERROR, why);
	struct tally_end_record end = { .reason = "exit" };
	c.ok &= tally_json_recorder.end(c.recorder, &end) == TALLY_RECORD_OK;
	tally_json_recorder.close(c.recorder);
	_exit(c.ok ? 0 : 1);
}

struct answer {
	tally_probe_device *device;
	void *data;
	GPtrArray *facts; /* of char *, about the next device */
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
			g_ptr_array_add(answer->facts, NULL);
			answer->device(answer->data, &line.device,
				       (const char *const *)answer->facts->pdata);
			g_ptr_array_set_size(answer->facts, 0);
		} else if (line.type == TALLY_LINE_NOTE && line.note.level == TALLY_LEVEL_ERROR) {
			g_snprintf(why, (gulong)size, "%s", line.note.message);
		} else if (line.type == TALLY_LINE_NOTE) {
			g_ptr_array_add(answer->facts, g_strdup(line.note.message));
		}
	}
	tally_log_reader_close(reader);
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
	struct answer answer = {
		.device = device,
		.data = data,
		.facts = g_ptr_array_new_with_free_func(g_free),
	};
	bool ok = pid > 0 && read_answer(path, &answer, why, size);
	g_ptr_array_unref(answer.facts);
	g_unlink(path);
	g_rmdir(folder);
	g_free(path);
	g_free(folder);
	return ok;
}

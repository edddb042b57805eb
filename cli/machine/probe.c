/* SPDX-License-Identifier: MIT */
#include "cli/machine/probe.h"

#include "cli/log/input.h"
#include "cli/shared/cli.h"
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
#define QUIET_MS 2000 /* a shorter wait needs no explanation */
/* The source name of the child's notes about a device. */
#define FACT_NOTE "probe"
#define SET_NOTE "set"

struct child {
	struct tally_recorder *recorder;
	bool ok;
};

static void
record(struct child *c, enum tally_level level, const char *source, const char *message)
{
	struct tally_note_record note = { .level = level, .message = message, .source = source };
	c->ok &= tally_json_recorder.note(c->recorder, &note) == TALLY_RECORD_OK;
}

const char *
tally_probe_set_source(const struct tally_counter_set *set)
{
	return set->layout.counters[set->layout.n_counters - 1]->source;
}

/* A log has no record for sets, so they are written as notes of a separate source: "bytes,
 * category, keys, name", separated by tabs. The name may contain any character, so it comes
 * last. */
static void
record_set(struct child *c, const struct tally_counter_set *set)
{
	const struct tally_layout *layout = &set->layout;
	if (!layout->n_counters)
		return;
	const char *source = tally_probe_set_source(set);
	g_autofree char *category = g_strdup(set->category ? set->category : "");
	g_strdelimit(category, "\t", ' ');
	g_autoptr(GString) text = g_string_new(NULL);
	g_string_printf(text, "%u\t%s\t", set->bytes, category);
	for (uint32_t i = 0; i < layout->n_counters; i++)
		if (strcmp(layout->counters[i]->source, source) == 0)
			g_string_append_printf(text, "%s ", layout->counters[i]->key);
	g_string_append_printf(text, "\t%s", layout->set ? layout->set : "");
	record(c, TALLY_LEVEL_INFO, SET_NOTE, text->str);
}

static void
report(void *data, const struct tally_probe_found *found)
{
	struct child *c = data;
	for (const char *const *fact = found->facts; *fact; fact++)
		record(c, TALLY_LEVEL_INFO, FACT_NOTE, *fact);
	for (uint32_t i = 0; i < found->n_sets; i++)
		record_set(c, found->sets[i]);
	c->ok &= tally_json_recorder.device(c->recorder, found->device) == TALLY_RECORD_OK;
	/* Flushed now because the next device's driver may crash. */
	tally_json_recorder.flush(c->recorder);
}

void
tally_probe_silence(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
}

static _Noreturn void
run_child(const char *path, enum tally_api api, const struct tally_probe_wish *wish)
{
	signal(SIGALRM, SIG_DFL);
	alarm(LIMIT_SECONDS);
	tally_probe_silence();
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
	/* Flushed to the file before the driver is called, so that it survives a crash of
	 * the driver. */
	tally_json_recorder.flush(c.recorder);
	/* Our own layer must not be loaded in this process. */
	g_setenv("PASSTALLY_DISABLE", "1", TRUE);
	bool any = api == TALLY_API_VULKAN
			   ? tally_probe_vk(wish->counters, report, &c, why, sizeof(why))
			   : tally_probe_gl(api, wish, report, &c, why, sizeof(why));
	if (!any)
		record(&c, TALLY_LEVEL_ERROR, FACT_NOTE, why);
	struct tally_end_record end = { .reason = "exit" };
	c.ok &= tally_json_recorder.end(c.recorder, &end) == TALLY_RECORD_OK;
	tally_json_recorder.close(c.recorder);
	_exit(c.ok ? 0 : 1);
}

struct answer {
	tally_probe_report *report;
	void *data;
	GPtrArray *facts; /* elements: char *, about the next device */
	/* elements: char *, about the next device: the text that record_set() wrote */
	GPtrArray *sets;
	bool any;
};

static const struct tally_counter *
find_counter(const struct tally_device_record *device, const char *key)
{
	for (uint32_t i = 0; i < device->n_counters; i++)
		if (strcmp(device->counters[i]->key, key) == 0)
			return device->counters[i];
	return NULL;
}

/* Parses the text that record_set() wrote; NULL if it contains no counter. The caller frees
 * it; its texts live as long as `parts`. */
static struct tally_counter_set *
read_set(const struct tally_device_record *device, char **parts)
{
	if (g_strv_length(parts) != 4)
		return NULL;
	g_auto(GStrv) keys = g_strsplit(g_strchomp(parts[2]), " ", -1);
	g_autofree const struct tally_counter **counters =
		g_new(const struct tally_counter *, g_strv_length(keys) + 1);
	uint32_t n = 0;
	for (char **key = keys; *key; key++) {
		const struct tally_counter *counter = find_counter(device, *key);
		if (counter)
			counters[n++] = counter;
	}
	if (!n)
		return NULL;
	struct tally_counter_set *set = g_new(struct tally_counter_set, 1);
	*set = (struct tally_counter_set){
		.layout = { parts[3], g_steal_pointer(&counters), n },
		.category = *parts[1] ? parts[1] : NULL,
		.bytes = (uint32_t)g_ascii_strtoull(parts[0], NULL, 10),
	};
	return set;
}

static void
free_set(gpointer p)
{
	struct tally_counter_set *set = p;
	g_free((void *)set->layout.counters);
	g_free(set);
}

static void
pass_on(struct answer *answer, const struct tally_device_record *device)
{
	g_autoptr(GPtrArray) parts =
		g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
	g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func(free_set);
	for (guint i = 0; i < answer->sets->len; i++) {
		char **words = g_strsplit(g_ptr_array_index(answer->sets, i), "\t", 4);
		g_ptr_array_add(parts, words);
		struct tally_counter_set *set = read_set(device, words);
		if (set)
			g_ptr_array_add(sets, set);
	}
	g_ptr_array_add(answer->facts, NULL);
	const struct tally_probe_found found = {
		.device = device,
		.facts = (const char *const *)answer->facts->pdata,
		.sets = (const struct tally_counter_set *const *)sets->pdata,
		.n_sets = sets->len,
	};
	answer->any = true;
	answer->report(answer->data, &found);
	g_ptr_array_set_size(answer->facts, 0);
	g_ptr_array_set_size(answer->sets, 0);
}

/* Returns false, with `why`, if the log contains no device. */
static bool
read_answer(const char *path, struct answer *answer, char *why, size_t size)
{
	struct tally_read_error error = { 0 };
	enum tally_read_status status;
	struct tally_log_reader *reader = tally_log_input_open(path, &status, &error);
	struct tally_log_line line;
	while (reader && tally_log_reader_next(reader, &line, &error) == TALLY_READ_OK) {
		if (line.type == TALLY_LINE_DEVICE) {
			pass_on(answer, &line.device);
		} else if (line.type == TALLY_LINE_NOTE &&
			   line.note.level == TALLY_LEVEL_ERROR) {
			g_snprintf(why, (gulong)size, "%s", line.note.message);
		} else if (line.type == TALLY_LINE_NOTE) {
			bool set = line.note.source && strcmp(line.note.source, SET_NOTE) == 0;
			g_ptr_array_add(set ? answer->sets : answer->facts,
					g_strdup(line.note.message));
		}
	}
	tally_log_reader_close(reader);
	return answer->any;
}

/* Explains why a child left no answer. */
static void
say_why(pid_t pid, int status, const char *path, char *why, size_t size)
{
	if (pid < 0)
		g_snprintf(why, (gulong)size, "no process could be started: %s",
			   g_strerror(errno));
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		g_snprintf(why, (gulong)size, "the driver did not answer within 30 s");
	else if (WIFSIGNALED(status))
		g_snprintf(why, (gulong)size, "the driver ended the probe by signal: %s",
			   g_strsignal(WTERMSIG(status)));
	else
		g_snprintf(why, (gulong)size, "the probe could not write %s", path);
}

/* On a terminal, reports what it waits for, until the child ends. */
static void
wait_for(pid_t pid, enum tally_api api, int *status)
{
	struct tally_progress progress;
	tally_progress_begin(&progress, QUIET_MS);
	pid_t done;
	while ((done = waitpid(pid, status, progress.on ? WNOHANG : 0)) == 0 ||
	       (done < 0 && errno == EINTR)) {
		if (tally_progress_due(&progress))
			tally_progress_show(&progress,
					    "waiting for the %s driver, at most %d s: %d s",
					    tally_api_name(api), LIMIT_SECONDS,
					    (int)((g_get_monotonic_time() - progress.began_us) /
						  G_USEC_PER_SEC));
		if (done == 0)
			g_usleep(5000);
	}
	tally_progress_end(&progress);
}

bool
tally_probe(enum tally_api api, const struct tally_probe_wish *wish,
	    tally_probe_report *report_to, void *data, char *why, size_t size)
{
	g_autofree char *folder = g_dir_make_tmp("passtally-XXXXXX", NULL);
	if (!folder) {
		g_snprintf(why, (gulong)size, "no temporary folder could be created in %s",
			   g_get_tmp_dir());
		return false;
	}
	g_autofree char *path = g_build_filename(folder, "probe.jsonl", NULL);
	fflush(NULL);
	/* As in cli/shared/child.c. */
	struct sigaction plain = { .sa_handler = SIG_DFL }, before;
	sigaction(SIGCHLD, &plain, &before);
	pid_t pid = fork();
	if (pid == 0)
		run_child(path, api, wish);
	int status = 0;
	if (pid > 0)
		wait_for(pid, api, &status);
	sigaction(SIGCHLD, &before, NULL);
	say_why(pid, status, path, why, size);
	struct answer answer = {
		.report = report_to,
		.data = data,
		.facts = g_ptr_array_new_with_free_func(g_free),
		.sets = g_ptr_array_new_with_free_func(g_free),
	};
	bool ok = pid > 0 && read_answer(path, &answer, why, size);
	g_ptr_array_unref(answer.facts);
	g_ptr_array_unref(answer.sets);
	g_unlink(path);
	g_rmdir(folder);
	return ok;
}

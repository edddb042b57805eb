/* SPDX-License-Identifier: MIT */
/* `passtally logs`: lists the logs of the default folder, and removes them. */
#include "cli/log/folder.h"
#include "cli/log/input.h"
#include "cli/shared/cli.h"
#include "cli/shared/each.h"
#include "cli/shared/out.h"
#include "cli/shared/sort.h"
#include "cli/shared/text.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LISTED 20

struct request {
	const char *program;
	int64_t older_ns; /* age; 0 = any */
	bool all, remove, yes, json;
	GPtrArray *named; /* LOG, as given */
};

/* Reads "7d" as an age. */
static bool
take_age(const char *command, const struct tally_arg *arg, void *to, const char *text)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = { { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 7 * 86400 } };
	struct request *r = to;
	char *end;
	errno = 0;
	gint64 n = g_ascii_strtoll(text, &end, 10);
	for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
		if (!errno && end != text && n > 0 && n <= 100000 && end[0] == units[i].unit &&
		    !end[1]) {
			r->older_ns = n * units[i].seconds * 1000000000;
			return true;
		}
	return TALLY_FAIL(false, command, "--%s %s: must be a number with m, h, d or w, as in 7d",
			  arg->name, text);
}

static const struct tally_arg options[] = {
	TALLY_ARG_TEXT("program", 0, "NAME", struct request, program,
		       "Only the logs of this program."),
	TALLY_ARG_TAKE("older-than", 0, "AGE", take_age,
		       "Only logs last written to longer ago than this: 30m, 12h, 7d, 4w."),
	TALLY_ARG_FLAG("all", 0, struct request, all,
		       "List all, not only the 20 that were last written. With --remove, "
		       "say that every log is meant."),
	TALLY_ARG_FLAG("remove", 0, struct request, remove,
		       "Remove the logs that --program, --older-than, --all or a LOG select. A log "
		       "that is still written to stays. On a terminal it asks first."),
	TALLY_ARG_FLAG("yes", 'y', struct request, yes,
		       "Do not ask."),
	TALLY_ARG_FLAG("json", 0, struct request, json,
		       "Print one JSON object."),
	TALLY_ARG_HELP,
};

static const struct tally_arg operands =
	TALLY_ARG_LIST(NULL, 0, "LOG", struct request, named, NULL);

static const char help[] =
	"Usage: passtally logs [options]\n"
	"       passtally logs --remove [options] [LOG...]\n\n"
	"Lists the logs in the folder where they go by default, the one that was\n"
	"last written first: how long ago that was (`live`: it is still written\n"
	"to), the frames, their median frame time in ms, the size and the file,\n"
	"with its program where the name does not begin with it. Other commands\n"
	"that get no LOG take the first of this list.\n" TALLY_HELP_OPTIONS
	"\nOnly files that begin with a log's header line are listed or removed,\n"
	"whatever they are named. `passtally run` keeps the folder below\n"
	"--log-quota by itself.\n\n"
	"Exit status: 0; 1 a log could not be removed, or the answer was no; 2\n"
	"usage; 125 other errors.";

static int
parse(struct request *r, int argc, char **argv)
{
	int status = tally_args_read(&tally_command_logs, argc, argv, r);
	if (status != TALLY_EXIT_OK)
		return status;
	bool selects = r->program || r->older_ns || r->all;
	const char *wrong = NULL;
	if (r->named->len && !r->remove)
		wrong = "LOG is for --remove; `passtally report LOG` shows one";
	else if (r->named->len && selects)
		wrong = "LOG names what to remove: --program, --older-than and --all do "
			"not go with it";
	else if (r->remove && !r->named->len && !selects)
		wrong = "--remove needs to know which: --program NAME, --older-than AGE, "
			"--all, or LOG";
	else if (r->remove && r->json)
		wrong = "--json only lists";
	if (wrong)
		tally_cli_complain("logs", "%s", wrong);
	return wrong ? TALLY_EXIT_USAGE : TALLY_EXIT_OK;
}

/* ---- the contents of a log ---- */

struct content {
	bool whole; /* read to its end without an error */
	bool has_median;
	uint64_t frames; /* of the device with the most */
	double median_ms; /* their frame time */
};

static GArray *
times_of(GPtrArray *devices, uint32_t device)
{
	enum { MOST_DEVICES = 1024 };
	if (device >= MOST_DEVICES)
		return NULL;
	while (devices->len <= device)
		g_ptr_array_add(devices, g_array_new(FALSE, FALSE, sizeof(uint64_t)));
	return g_ptr_array_index(devices, device);
}

static struct content
read_content(const char *path)
{
	struct content c = { 0 };
	struct tally_read_error error;
	enum tally_read_status status;
	struct tally_log_reader *reader = tally_log_input_open(path, &status, &error);
	if (!reader)
		return c;
	g_autoptr(GPtrArray)
		devices = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	struct tally_log_line line;
	while ((status = tally_log_reader_next(reader, &line, &error)) == TALLY_READ_OK) {
		GArray *times = line.type == TALLY_LINE_FRAME
					? times_of(devices, line.frame.device)
					: NULL;
		if (times)
			g_array_append_val(times, line.frame.cpu_ns);
	}
	tally_log_reader_close(reader);
	c.whole = status == TALLY_READ_END || status == TALLY_READ_TRUNCATED;
	TALLY_EACH (GArray, times, devices) {
		if (times->len <= c.frames)
			continue;
		g_array_sort(times, tally_order_u64);
		c.frames = times->len;
		c.has_median = true;
		c.median_ms = (double)g_array_index(times, uint64_t, (times->len - 1) / 2) / 1e6;
	}
	return c;
}

/* ---- the list ---- */

/* In the shortest form: 40.2k. */
static char *
size_text(uint64_t bytes)
{
	double size = (double)bytes / 1000;
	const char *unit = "kMG";
	for (; unit[1] && size >= 999.95; unit++)
		size /= 1000;
	return g_strdup_printf("%.1f%c", size, *unit);
}

/* How long ago, in the units of --older-than. */
static char *
age_text(int64_t changed_ns)
{
	static const struct {
		char letter;
		int64_t seconds;
	} units[] = { { 'w', 7 * 86400 }, { 'd', 86400 }, { 'h', 3600 } };
	int64_t s = MAX(g_get_real_time() / G_USEC_PER_SEC - changed_ns / 1000000000, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
		if (s >= 2 * units[i].seconds)
			return g_strdup_printf("%" G_GINT64_FORMAT "%c", s / units[i].seconds,
					       units[i].letter);
	return g_strdup_printf("%" G_GINT64_FORMAT "m", s / 60);
}

#define ROW "%4s  %6s  %7s  %6s  %s"

static void
print_row(const struct tally_folder_log *log)
{
	struct content c = read_content(log->path);
	g_autofree char *age = tally_folder_log_is_written(log) ? g_strdup("live")
								 : age_text(log->changed_ns);
	g_autofree char *name = g_path_get_basename(log->path);
	char frames[32] = "?", median[32] = "-";
	if (c.whole)
		g_snprintf(frames, sizeof(frames), "%" G_GUINT64_FORMAT, c.frames);
	if (c.has_median)
		g_snprintf(median, sizeof(median), "%.2f", c.median_ms);
	g_autofree char *shown = tally_text_escape(name);
	g_autofree char *program = tally_text_fit(log->program, 18);
	g_autofree char *size = size_text(log->bytes);
	bool named = g_str_has_prefix(name, log->program);
	tally_text_print(stdout, ROW "%s%s%s\n", age, frames, median, size, shown,
			 named ? "" : " (", named ? "" : program, named ? "" : ")");
}

static void
put_log(struct tally_out *o, const struct tally_folder_log *log)
{
	struct content c = read_content(log->path);
	tally_out_object(o, NULL);
	tally_out_text(o, "path", log->path);
	tally_out_text(o, "program", log->program);
	tally_out_u64(o, "started_unix_ns", log->started_unix_ns);
	tally_out_u64(o, "bytes", log->bytes);
	tally_out_bool(o, "readable", c.whole);
	tally_out_bool(o, "written_to", tally_folder_log_is_written(log));
	tally_out_u64(o, "frames", c.frames);
	if (c.has_median)
		tally_out_f64(o, "median_frame_ms", c.median_ms);
	tally_out_end_object(o);
}

static void
list_json(const GPtrArray *logs, const char *folder)
{
	struct tally_out o;
	tally_out_init(&o, stdout);
	tally_out_object(&o, NULL);
	tally_out_text(&o, "schema", "passtally-logs/1");
	tally_out_text_or_null(&o, "folder", folder);
	tally_out_array(&o, "logs");
	TALLY_EACH (const struct tally_folder_log, log, logs)
		put_log(&o, log);
	tally_out_end_array(&o);
	tally_out_end_object(&o);
	tally_out_char(&o, '\n');
	tally_out_flush(&o);
}

static void
list(const struct request *r, const GPtrArray *logs, const char *folder)
{
	g_autofree char *shown = tally_text_escape(folder);
	g_autofree char *size = size_text(tally_folder_bytes(logs));
	if (logs->len == 0) {
		tally_text_print_line(stdout, "%s: no log%s", shown,
				      r->program || r->older_ns ? " of that kind" : "");
		return;
	}
	guint n = r->all ? logs->len : MIN(logs->len, LISTED);
	tally_text_print(stdout, "%s: %u log%s, %sB\n\n" ROW "\n", shown, logs->len,
			 TALLY_S(logs->len), size, "AGE", "FRAMES", "MS", "SIZE", "LOG");
	for (guint i = 0; i < n; i++)
		print_row(g_ptr_array_index(logs, i));
	if (n < logs->len)
		tally_text_print(stdout, "%u more: --all lists them\n", logs->len - n);
}

/* ---- removal ---- */

/* The logs named on the command line; false after printing which of them is not a passtally
 * log. */
static bool
read_named(const struct request *r, GPtrArray *logs)
{
	TALLY_EACH (const char, path, r->named) {
		struct tally_folder_log log;
		if (!tally_folder_log_read(&log, path))
			return TALLY_FAIL(false, "logs",
					  "%s is not a log of passtally, or cannot be "
					  "read: nothing is removed",
					  path);
		g_ptr_array_add(logs, g_memdup2(&log, sizeof(log)));
	}
	return true;
}

static bool
agrees(const struct request *r, const GPtrArray *logs)
{
	if (r->yes || !isatty(STDIN_FILENO))
		return true;
	g_autofree char *size = size_text(tally_folder_bytes(logs));
	tally_text_print(stderr, "remove %u log%s, %sB? [y/N] ", logs->len, TALLY_S(logs->len),
			 size);
	char answer[16] = "";
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static int
remove_logs(const struct request *r, const GPtrArray *logs)
{
	if (logs->len && !agrees(r, logs))
		return TALLY_EXIT_NOTHING;
	int status = TALLY_EXIT_OK;
	unsigned removed = 0;
	uint64_t bytes = 0;
	TALLY_EACH (const struct tally_folder_log, log, logs) {
		if (tally_folder_log_is_written(log)) {
			tally_cli_complain("logs", "%s is still written to: it stays", log->path);
			status = TALLY_EXIT_NOTHING;
		} else if (g_unlink(log->path) < 0) {
			tally_cli_complain("logs", "%s: %s", log->path, g_strerror(errno));
			status = TALLY_EXIT_NOTHING;
		} else {
			removed++;
			bytes += log->bytes;
		}
	}
	g_autofree char *size = size_text(bytes);
	tally_text_print(stdout, "%u log%s removed, %sB\n", removed, TALLY_S(removed), size);
	return status;
}

/* ---- the command ---- */

static void
select_logs(const struct request *r, GPtrArray *logs)
{
	int64_t now_ns = g_get_real_time() * 1000;
	for (guint i = logs->len; i-- > 0;) {
		const struct tally_folder_log *log = g_ptr_array_index(logs, i);
		if ((r->program && !tally_folder_log_is_of(log, r->program)) ||
		    (r->older_ns && now_ns - log->changed_ns < r->older_ns))
			g_ptr_array_remove_index(logs, i);
	}
}

static int
logs_of(const struct request *r)
{
	if (r->named->len) {
		g_autoptr(GPtrArray) named = g_ptr_array_new_with_free_func(tally_folder_log_free);
		return read_named(r, named) ? remove_logs(r, named) : TALLY_EXIT_USAGE;
	}
	g_autofree char *folder = tally_folder_path();
	if (!folder)
		return TALLY_FAIL(TALLY_EXIT_FAILED, "logs",
				  "there is no default folder: neither "
				  "XDG_STATE_HOME nor HOME is an absolute path");
	g_autoptr(GPtrArray) logs = tally_folder_list(folder);
	select_logs(r, logs);
	if (r->remove)
		return remove_logs(r, logs);
	if (r->json)
		list_json(logs, folder);
	else
		list(r, logs, folder);
	return TALLY_EXIT_OK;
}

static int
run(int argc, char **argv)
{
	g_autoptr(GPtrArray) named = g_ptr_array_new();
	struct request r = { .named = named };
	int status = parse(&r, argc, argv);
	return status == TALLY_EXIT_OK ? logs_of(&r) : status;
}

const struct tally_command tally_command_logs = TALLY_COMMAND(
	"logs", "List the logs on this machine, and remove them",
	run, help, options, &operands);

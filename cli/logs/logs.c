/* SPDX-License-Identifier: MIT */
/* `passtally logs`: lists the logs of the default folder. */
#include "cli/log/folder.h"
#include "cli/log/input.h"
#include "cli/shared/cli.h"
#include "cli/shared/each.h"
#include "cli/shared/out.h"
#include "cli/shared/sort.h"
#include "cli/shared/text.h"
#include "json/record_read.h"

#include <stdio.h>
#include <string.h>

#define LISTED 20

struct request {
	const char *program;
	bool all, json;
};

static const struct tally_arg options[] = {
	TALLY_ARG("program", tally_arg_text, struct request, program),
	TALLY_ARG("all", tally_arg_flag, struct request, all),
	TALLY_ARG("json", tally_arg_flag, struct request, json),
};

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

/* How long ago. */
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
				      r->program ? " of that program" : "");
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

/* ---- the command ---- */

static int
run(int argc, char **argv)
{
	struct request r = { 0 };
	int status = tally_args_read(&tally_command_logs, argc, argv, &r);
	if (status != TALLY_EXIT_OK)
		return status;
	g_autofree char *folder = tally_folder_path();
	if (!folder)
		return TALLY_FAIL(TALLY_EXIT_FAILED, "logs",
				  "there is no default folder: neither "
				  "XDG_STATE_HOME nor HOME is an absolute path");
	g_autoptr(GPtrArray) logs = tally_folder_list(folder);
	for (guint i = logs->len; r.program && i-- > 0;)
		if (!tally_folder_log_is_of(g_ptr_array_index(logs, i), r.program))
			g_ptr_array_remove_index(logs, i);
	if (r.json)
		list_json(logs, folder);
	else
		list(&r, logs, folder);
	return TALLY_EXIT_OK;
}

const struct tally_command tally_command_logs =
	TALLY_COMMAND(logs, run, options, NULL);

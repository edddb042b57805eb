/* SPDX-License-Identifier: MIT */
#include "cli/run/log.h"

#include "cli/log/folder.h"
#include "cli/log/input.h"
#include "cli/shared/cli.h"
#include "json/record_read.h"
#include "layer/config/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define END ".jsonl"

/* Whether this is ".DIGITS" or ".DIGITS.DIGITS", and then `end`. */
static bool
is_number(const char *text, const char *end)
{
	size_t parts = 0;
	while (*text == '.' && strspn(text + 1, "0123456789")) {
		text += 1 + strspn(text + 1, "0123456789");
		parts++;
	}
	return parts > 0 && parts < 3 && strcmp(text, end) == 0;
}

/* Files named NAME.DIGITS.jsonl where the path is NAME.jsonl, else PATH.DIGITS; full paths
 * (char *), freed by the caller. */
static GPtrArray *
siblings(const char *path)
{
	GPtrArray *found = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *folder = g_path_get_dirname(path);
	g_autofree char *base = g_path_get_basename(path);
	bool ends = g_str_has_suffix(base, END) && strlen(base) > strlen(END);
	size_t len = strlen(base) - (ends ? strlen(END) : 0);
	g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
	const char *name;
	while (dir && (name = g_dir_read_name(dir))) {
		if (strncmp(name, base, len) == 0 && is_number(name + len, ends ? END : ""))
			g_ptr_array_add(found, g_build_filename(folder, name, NULL));
	}
	return found;
}

bool
tally_run_log_choose(struct tally_run_log *log, const struct tally_config *config,
		     const char *program, uint64_t started_unix_ns, long pid)
{
	*log = (struct tally_run_log){ .by_default = !config->log };
	char *path = tally_config_log_path(config->log, program, started_unix_ns, pid);
	if (!path)
		return TALLY_FAIL(false, "run",
				  "no place for the log: neither XDG_STATE_HOME nor HOME "
				  "is set; name one with --log PATH");
	log->path = g_canonicalize_filename(path, NULL);
	free(path);
	log->before = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GPtrArray) there = siblings(log->path);
	for (guint i = 0; i < there->len; i++)
		g_hash_table_add(log->before, g_strdup(g_ptr_array_index(there, i)));
	return true;
}

/* Whether the log can be created in its folder; prints the reason if not. */
static bool
check_folder(const struct tally_run_log *log)
{
	g_autofree char *folder = g_path_get_dirname(log->path);
	if (log->by_default)
		g_mkdir_with_parents(folder, 0700);
	errno = 0;
	if (access(folder, W_OK | X_OK) == 0 && g_file_test(folder, G_FILE_TEST_IS_DIR))
		return true;
	return TALLY_FAIL(false, "run",
			  "the log %s cannot be written: its folder %s: %s; make it, or "
			  "name another place with --log PATH",
			  log->path, folder, g_strerror(errno ? errno : ENOTDIR));
}

int
tally_run_log_prepare(struct tally_run_log *log, bool force)
{
	if (!check_folder(log))
		return TALLY_EXIT_USAGE;
	struct stat st;
	if (lstat(log->path, &st) < 0)
		return TALLY_EXIT_OK;
	if (g_file_test(log->path, G_FILE_TEST_IS_DIR))
		return TALLY_FAIL(TALLY_EXIT_USAGE, "run",
				  "the log %s is a folder: name a file in it", log->path);
	if (!force)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "run",
				  "the log %s exists: --force replaces it, --log PATH "
				  "names another "
				  "(%%t and %%p in it stand for time and process)",
				  log->path);
	if (!S_ISREG(st.st_mode))
		return TALLY_FAIL(TALLY_EXIT_USAGE, "run",
				  "the log %s exists and is no regular file, so --force "
				  "does not replace it: name another with --log PATH",
				  log->path);
	/* Removed before the start, not replaced later: if several processes render, each
	 * would replace the log of the previous one. */
	if (unlink(log->path) < 0)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "run", "the log %s cannot be replaced: %s",
				  log->path, g_strerror(errno));
	return TALLY_EXIT_OK;
}

char *
tally_run_log_variable(const struct tally_run_log *log)
{
	GString *pattern = g_string_new(log->path);
	g_string_replace(pattern, "%", "%%", 0);
	return g_string_free(pattern, FALSE);
}

GPtrArray *
tally_run_log_find(const struct tally_run_log *log)
{
	GPtrArray *logs = siblings(log->path);
	for (guint i = logs->len; i-- > 0;)
		if (g_hash_table_contains(log->before, g_ptr_array_index(logs, i)))
			g_ptr_array_remove_index(logs, i);
	struct stat st;
	if (lstat(log->path, &st) == 0)
		g_ptr_array_insert(logs, 0, g_strdup(log->path));
	return logs;
}

struct tally_run_content
tally_run_log_content(const char *path)
{
	struct tally_run_content c = { 0 };
	struct tally_read_error error;
	enum tally_read_status status;
	struct tally_log_reader *reader = tally_log_input_open(path, &status, &error);
	struct tally_log_line line;
	while (reader && !c.frame &&
	       (status = tally_log_reader_next(reader, &line, &error)) == TALLY_READ_OK) {
		c.device |= line.type == TALLY_LINE_DEVICE;
		c.digest |= line.type == TALLY_LINE_HEADER && line.header.digest;
		c.frame |= line.type == TALLY_LINE_FRAME ||
			   (line.type == TALLY_LINE_END && line.end.frames);
	}
	/* A log that cannot be read is not empty. */
	c.device |= status == TALLY_READ_BAD || status == TALLY_READ_IO;
	tally_log_reader_close(reader);
	return c;
}

/* One that a process has just begun is not empty for long. */
static bool
is_written(const char *path)
{
	struct tally_folder_log log;
	bool written = tally_folder_log_read(&log, path) && tally_folder_log_is_written(&log);
	tally_folder_log_finish(&log);
	return written;
}

unsigned
tally_run_log_remove_empty(GPtrArray *logs)
{
	unsigned n = 0;
	for (guint i = logs->len; i-- > 0;) {
		const char *path = g_ptr_array_index(logs, i);
		struct tally_run_content c = tally_run_log_content(path);
		if (c.device || c.frame || is_written(path) || unlink(path) < 0)
			continue;
		g_ptr_array_remove_index(logs, i);
		n++;
	}
	return n;
}

void
tally_run_log_finish(struct tally_run_log *log)
{
	g_free(log->path);
	if (log->before)
		g_hash_table_destroy(log->before);
	*log = (struct tally_run_log){ 0 };
}

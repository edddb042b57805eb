/* SPDX-License-Identifier: MIT */
#include "cli/log/folder.h"

#include "cli/log/input.h"
#include "cli/shared/cli.h"
#include "cli/shared/text.h"
#include "json/record_read.h"
#include "layer/config/config.h"
#include "layer/config/path.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *
tally_folder_path(void)
{
	char *sample = tally_config_log_path(NULL, "game", 0, 1);
	char *folder = sample ? g_path_get_dirname(sample) : NULL;
	free(sample);
	return folder;
}

bool
tally_folder_holds(const char *path)
{
	g_autofree char *folder = tally_folder_path(), *of = g_path_get_dirname(path);
	return g_strcmp0(folder, of) == 0;
}

/* Wine's programs have the slashes of Windows in their paths. */
static char *
base_name(const char *program)
{
	char *base = g_path_get_basename(program ? program : "program");
	char *back = g_str_has_suffix(base, ".exe") ? strrchr(base, '\\') : NULL;
	if (back)
		memmove(base, back + 1, strlen(back));
	return base;
}

/* Debian's multiarch packages start glxgears.x86_64-linux-gnu through a link: cuts off the
 * triplet, so that the program is known by the name of the link. */
static char *
cut_triplet(char *name)
{
	char *dot = strrchr(name, '.');
	if (dot && dot > name && strstr(dot, "-linux-"))
		*dot = '\0';
	return name;
}

/* Fills in what the first line contains. */
static bool
read_header(struct tally_folder_log *log)
{
	struct tally_read_error error;
	enum tally_read_status status;
	struct tally_log_reader *reader = tally_log_input_open(log->path, &status, &error);
	if (!reader)
		return false;
	struct tally_log_line line;
	g_free(log->program);
	g_free(log->started_as);
	log->program = log->started_as = NULL;
	bool ours = tally_log_reader_next(reader, &line, &error) == TALLY_READ_OK &&
		    line.type == TALLY_LINE_HEADER;
	if (ours) {
		log->pid = (long)line.header.pid;
		log->started_unix_ns = line.header.started_unix_ns;
		log->program = cut_triplet(base_name(line.header.program));
		if (line.header.n_argv)
			log->started_as = cut_triplet(base_name(line.header.argv[0]));
	}
	tally_log_reader_close(reader);
	return ours;
}

bool
tally_folder_log_is_of(const struct tally_folder_log *log, const char *program)
{
	g_autofree char *name = cut_triplet(g_strdup(program));
	return strcmp(log->program, name) == 0 || g_strcmp0(log->started_as, name) == 0;
}

static bool
look_at(struct tally_folder_log *log, const char *path)
{
	struct stat st;
	*log = (struct tally_folder_log){ 0 };
	if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	log->path = g_strdup(path);
	log->bytes = (uint64_t)st.st_size;
	log->changed_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	return true;
}

char *
tally_folder_stem(const char *log)
{
	size_t len = strlen(log);
	static const char *const ends[] = { ".zst", ".jsonl" };
	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
		size_t n = strlen(ends[i]);
		if (len > n && strncmp(log + len - n, ends[i], n) == 0 && log[len - n - 1] != '/')
			len -= n;
	}
	return g_strndup(log, len);
}

bool
tally_folder_log_read(struct tally_folder_log *log, const char *path)
{
	if (!look_at(log, path))
		return false;
	if (read_header(log))
		return true;
	tally_folder_log_finish(log);
	return false;
}

void
tally_folder_log_finish(struct tally_folder_log *log)
{
	g_free(log->path);
	g_free(log->program);
	g_free(log->started_as);
	*log = (struct tally_folder_log){ 0 };
}

static void
free_log(gpointer log)
{
	tally_folder_log_finish(log);
	g_free(log);
}

/* By name where the times are equal, so that the order never depends on the folder's. */
static int
last_written_first(const void *a, const void *b)
{
	const struct tally_folder_log *x = *(void *const *)a, *y = *(void *const *)b;
	if (x->changed_ns != y->changed_ns)
		return x->changed_ns < y->changed_ns ? 1 : -1;
	return strcmp(y->path, x->path);
}

/* The files that could be logs by their names, last written first; their headers are not read
 * yet. */
static GPtrArray *
look_into(const char *folder)
{
	GPtrArray *logs = g_ptr_array_new_with_free_func(free_log);
	GDir *dir = folder ? g_dir_open(folder, 0, NULL) : NULL;
	const char *name;
	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(folder, name, NULL);
		struct tally_folder_log log;
		if (strstr(name, ".jsonl") && look_at(&log, path))
			g_ptr_array_add(logs, g_memdup2(&log, sizeof(log)));
	}
	if (dir)
		g_dir_close(dir);
	g_ptr_array_sort(logs, last_written_first);
	return logs;
}

/* Keeps the first `n` that are logs, by their first lines, and reads no more headers than that
 * takes. `of_one`: only those of `program`, or of the one that wrote the first if that is NULL. */
static void
read_headers(GPtrArray *logs, bool of_one, const char *program, guint n)
{
	guint kept = 0;
	for (guint i = 0; i < logs->len && kept < n; i++) {
		struct tally_folder_log *log = g_ptr_array_index(logs, i);
		if (!read_header(log) || (program && !tally_folder_log_is_of(log, program)))
			continue;
		logs->pdata[i] = logs->pdata[kept];
		logs->pdata[kept++] = log;
		program = of_one && !program ? log->program : program;
	}
	g_ptr_array_set_size(logs, (gint)kept);
}

GPtrArray *
tally_folder_list(const char *folder)
{
	GPtrArray *logs = look_into(folder);
	read_headers(logs, false, NULL, UINT_MAX);
	return logs;
}

/* The kernel grants a read lease only where no process writes. It is returned at once; if another
 * process opens the file in that moment, the signal has no effect. */
int
tally_file_is_written(int fd)
{
	fcntl(fd, F_SETSIG, SIGURG);
	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		return errno == EAGAIN ? 1 : -1;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return 0;
}

bool
tally_process_lives(int64_t pid)
{
	return pid > 0 && pid <= INT32_MAX && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

bool
tally_folder_log_is_written(const struct tally_folder_log *log)
{
	int fd = open(log->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	int written = tally_file_is_written(fd);
	close(fd);
	return written < 0 ? tally_process_lives(log->pid) : written > 0;
}

uint64_t
tally_folder_bytes(const GPtrArray *logs)
{
	uint64_t bytes = 0;
	for (guint i = 0; i < logs->len; i++)
		bytes += ((const struct tally_folder_log *)g_ptr_array_index(logs, i))->bytes;
	return bytes;
}

void
tally_folder_trim(const char *folder, uint64_t quota, unsigned *n, uint64_t *bytes)
{
	*n = 0;
	*bytes = 0;
	g_autoptr(GPtrArray) logs = look_into(folder);
	if (tally_folder_bytes(logs) <= quota)
		return; /* without a look at headers */
	read_headers(logs, false, NULL, UINT_MAX);
	uint64_t left = tally_folder_bytes(logs);
	for (guint i = logs->len; i-- > 0 && left > quota;) {
		const struct tally_folder_log *log = g_ptr_array_index(logs, i);
		if (tally_folder_log_is_written(log) || unlink(log->path) < 0)
			continue;
		left -= log->bytes;
		*bytes += log->bytes;
		++*n;
	}
}

/* ---- which log is used ---- */

static void
say_chosen(const char *command, const char *what, const char *path)
{
	g_autofree char *shown = tally_text_escape(path);
	tally_cli_complain(command, "%s is %s", what, shown);
}

/* The newest logs of one program in the default folder, at most `n`. */
static GPtrArray *
find_newest(const char *program, guint n)
{
	g_autofree char *folder = tally_folder_path();
	GPtrArray *logs = look_into(folder);
	read_headers(logs, true, program, n);
	return logs;
}

static void
complain_none(const char *command, const char *program)
{
	g_autofree char *folder = tally_folder_path();
	tally_cli_complain(command,
			   "no log is named, and there is none%s%s in %s: record one "
			   "with passtally run -- GAME",
			   program ? " of " : "", program ? program : "",
			   folder ? folder : "the default folder, as no home is known");
}

char *
tally_folder_choose(const char *command, const char *word)
{
	bool is_path = word && (strchr(word, '/') || g_str_has_suffix(word, ".jsonl") ||
				g_str_has_suffix(word, ".zst"));
	if (word && (is_path || strcmp(word, "-") == 0 || g_file_test(word, G_FILE_TEST_EXISTS)))
		return g_strdup(word);
	g_autoptr(GPtrArray) logs = find_newest(word, 1);
	const struct tally_folder_log *log = logs->len ? logs->pdata[0] : NULL;
	if (log)
		say_chosen(command,
			   word ? "that program's newest log" : "no log is named; the newest",
			   log->path);
	else if (word)
		tally_cli_complain(command,
				   "%s is no file here, and there is no log of a program of that "
				   "name: passtally logs lists those that are there",
				   word);
	else
		complain_none(command, NULL);
	return log ? g_strdup(log->path) : NULL;
}

bool
tally_folder_choose_two(const char *command, const char *program, char **base, char **fresh)
{
	g_autoptr(GPtrArray) logs = find_newest(program, 2);
	const struct tally_folder_log *log = logs->len ? logs->pdata[0] : NULL, *older;
	if (!log) {
		complain_none(command, program);
		return false;
	}
	if (logs->len < 2)
		return TALLY_FAIL(false, command,
				  "two logs are needed, and %s in the default folder is "
				  "the only one of %s",
				  log->path, log->program);
	older = logs->pdata[1];
	say_chosen(command, "no logs are named; base", older->path);
	say_chosen(command, "new", log->path);
	*base = g_strdup(older->path);
	*fresh = g_strdup(log->path);
	return true;
}

bool
tally_folder_choose_all(const char *command, GPtrArray *words, GPtrArray *owned)
{
	bool none = words->len == 0;
	for (guint i = 0; i < words->len || none; i++) {
		char *path = tally_folder_choose(command, none ? NULL : words->pdata[i]);
		if (!path)
			return false;
		g_ptr_array_add(owned, path);
		if (none)
			g_ptr_array_add(words, path);
		else
			words->pdata[i] = path;
		none = false;
	}
	return true;
}

/* SPDX-License-Identifier: MIT */
#include "cli/top/find.h"

#include "cli/shared/cli.h"
#include "cli/control/client.h"
#include "cli/shared/text.h"
#include "json/record_json.h"
#include "layer/config/config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct found {
	char *path;
	int64_t changed_ns;
};

static void
clear_found(gpointer p)
{
	g_free(((struct found *)p)->path);
}

/* Takes ownership of `path`. */
static void
add(GArray *all, char *path)
{
	struct stat st;
	struct found f = { .path = path };
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
		f.changed_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
		g_array_append_val(all, f);
	} else {
		g_free(path);
	}
}

static int
newest_first(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	return (x->changed_ns < y->changed_ns) - (x->changed_ns > y->changed_ns);
}

/* The logs of games with a listening control socket. */
static void
ask_games(GArray *all, long pid)
{
	GPtrArray *games = tally_control_list();
	for (guint i = 0; i < games->len; i++) {
		const struct tally_control_game *game = g_ptr_array_index(games, i);
		char why[512];
		bool refused;
		if (pid && game->pid != pid)
			continue;
		char *answer = tally_control_ask(game->path, "status", &refused, NULL, why,
						 sizeof(why));
		char **lines = answer && !refused ? g_strsplit(answer, "\n", -1) : NULL;
		for (char **line = lines; line && *line; line++)
			if (g_str_has_prefix(*line, "log "))
				add(all, g_strdup(*line + strlen("log ")));
		g_strfreev(lines);
		g_free(answer);
	}
	g_ptr_array_unref(games);
}

/* The process ID in a log's header; 0: not a log. */
static long
writer_of(const char *path)
{
	struct tally_read_error error;
	enum tally_read_status status;
	struct tally_log_reader *reader = tally_log_reader_open(path, &status, &error);
	if (!reader)
		return 0;
	struct tally_log_line line;
	long pid = 0;
	if (tally_log_reader_next(reader, &line, &error) == TALLY_READ_OK &&
	    line.type == TALLY_LINE_HEADER)
		pid = (long)line.header.pid;
	tally_log_reader_close(reader);
	return pid;
}

static bool
lives(long pid)
{
	return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

/* The default folder; the caller frees it; NULL if there is none. */
static char *
default_folder(void)
{
	char *sample = tally_config_log_path(NULL, "game", 0, 1);
	char *folder = sample ? g_path_get_dirname(sample) : NULL;
	free(sample);
	return folder;
}

/* Whether the name is NAME.jsonl, or NAME.jsonl.PID, as further processes were named once; a
 * compressed log is finished and therefore excluded. */
static bool
is_log_name(const char *name)
{
	const char *end = g_strrstr(name, ".jsonl");
	if (!end)
		return false;
	end += strlen(".jsonl");
	return !*end || (*end == '.' && end[1] && !end[1 + strspn(end + 1, "0123456789")]);
}

static void
look_in_default_place(GArray *all)
{
	g_autofree char *folder = default_folder();
	GDir *dir = folder ? g_dir_open(folder, 0, NULL) : NULL;
	const char *name;
	while (dir && (name = g_dir_read_name(dir)))
		if (is_log_name(name))
			add(all, g_build_filename(folder, name, NULL));
	if (dir)
		g_dir_close(dir);
}

/* Among the logs in the default folder, newest first, the first one whose process matches
 * and is alive. */
static char *
choose_living(GArray *all, long pid)
{
	enum { MOST_LOOKED_AT = 200 };
	for (guint i = 0; i < all->len && i < MOST_LOOKED_AT; i++) {
		const char *path = g_array_index(all, struct found, i).path;
		long writer = writer_of(path);
		if (pid ? writer == pid : lives(writer))
			return g_strdup(path);
	}
	return NULL;
}

static void
tell_none(const GArray *all, long pid)
{
	if (pid)
		tally_cli_complain("top",
				   "process %ld has no control socket, and no log in the default "
				   "folder is its own: has it rendered yet? A log is named by "
				   "passtally top LOG",
				   pid);
	else if (all->len) {
		char *path = tally_text_escape(g_array_index(all, struct found, 0).path);
		tally_cli_complain(
			"top",
			"no game that runs has a log; the newest log is %s: passtally top "
			"LOG shows one",
			path);
		g_free(path);
	} else
		tally_cli_complain("top",
				   "no game that runs has a log, and there is none in the default "
				   "folder: start one with passtally run -- GAME, or name a log: "
				   "passtally top LOG");
}

char *
tally_top_find_log(long pid)
{
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct found));
	g_array_set_clear_func(all, clear_found);
	ask_games(all, pid);
	char *path = NULL;
	g_array_sort(all, newest_first);
	if (all->len) {
		path = g_strdup(g_array_index(all, struct found, 0).path);
	} else {
		look_in_default_place(all);
		g_array_sort(all, newest_first);
		path = choose_living(all, pid);
		if (!path)
			tell_none(all, pid);
	}
	return path;
}

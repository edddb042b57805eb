/* SPDX-License-Identifier: MIT */
#include "cli/top/top.h"

#include "cli/shared/cli.h"
#include "cli/control/client.h"
#include "cli/log/folder.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

/* The log that was written to last. */
struct newest {
	char *path;
	int64_t changed_ns;
};

static void
offer(struct newest *newest, const char *path)
{
	struct stat st;
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	int64_t changed_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	if (newest->path && changed_ns <= newest->changed_ns)
		return;
	g_free(newest->path);
	*newest = (struct newest){ g_strdup(path), changed_ns };
}

/* The logs of games with a listening control socket. */
static void
ask_games(struct newest *newest, long pid)
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
				offer(newest, *line + strlen("log "));
		g_strfreev(lines);
		g_free(answer);
	}
	g_ptr_array_unref(games);
}

static bool
lives(long pid)
{
	return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
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
tell_none(const char *newest, long pid)
{
	if (pid)
		tally_cli_complain("top",
				   "process %ld has no control socket, and no log in the "
				   "default folder is its own: has it rendered yet? A "
				   "log is named by passtally top LOG",
				   pid);
	else if (newest)
		tally_cli_complain(
			"top",
			"no game that runs has a log; the newest log is %s: passtally "
			"top LOG shows one",
			newest);
	else
		tally_cli_complain("top",
				   "no game that runs has a log, and there is none in "
				   "the default folder: start one with passtally run -- "
				   "GAME, or name a log: passtally top LOG");
}

/* Of the logs in the default folder, the first whose process matches and is alive; NULL after
 * printing an error. */
static char *
find_living(long pid)
{
	enum { MOST_LOOKED_AT = 200 };
	const char *newest = NULL;
	g_autofree char *folder = tally_folder_path();
	g_autoptr(GPtrArray) logs = tally_folder_list(folder);
	for (guint i = 0; i < logs->len && i < MOST_LOOKED_AT; i++) {
		const struct tally_folder_log *log = g_ptr_array_index(logs, i);
		if (!is_log_name(log->path))
			continue;
		newest = newest ? newest : log->path;
		if (pid ? log->pid == pid : lives(log->pid))
			return g_strdup(log->path);
	}
	tell_none(newest, pid);
	return NULL;
}

char *
tally_top_find_log(long pid)
{
	struct newest newest = { 0 };
	ask_games(&newest, pid);
	return newest.path ? newest.path : find_living(pid);
}

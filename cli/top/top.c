/* SPDX-License-Identifier: MIT */
#include "cli/top/top.h"

#include "cli/control/client.h"
#include "cli/log/folder.h"
#include "cli/log/given_names.h"
#include "cli/shared/cli.h"
#include "cli/shared/each.h"

#include <string.h>

struct request {
	struct tally_top_options top;
	int64_t pid; /* 0: not given */
};

static bool
take_window(const char *command, const struct tally_arg *arg, void *to, const char *value)
{
	struct request *r = to;
	char *end;
	r->top.seconds = g_ascii_strtod(value, &end);
	if (end != value && !*end && r->top.seconds >= 0.5 && r->top.seconds <= 3600)
		return true;
	return TALLY_FAIL(false, command, "--%s needs a number from 0.5 to 3600, not \"%s\"",
			  arg->name, value);
}

static const struct tally_arg options[] = {
	TALLY_ARG_WHOLE("pid", struct request, pid, 1, INT32_MAX),
	TALLY_ARG_TAKE("window", take_window),
	TALLY_ARG("sort", tally_arg_text, struct request, top.sort),
	TALLY_ARG_WHOLE("device", struct request, top.device, 0, UINT32_MAX),
	TALLY_ARG("once", tally_arg_flag, struct request, top.once),
	TALLY_ARG("prometheus", tally_arg_text, struct request, top.prometheus),
	TALLY_ARG_TAKE("names", tally_given_names_take),
};
static const struct tally_arg operands =
	TALLY_ARG("log", tally_arg_one, struct request, top.path);

static void
complain_none(const char *newest, long pid)
{
	if (pid)
		tally_cli_complain("top",
				   "no log of process %ld was found: has it rendered "
				   "yet? A log is named by passtally top LOG",
				   pid);
	else if (newest)
		tally_cli_complain("top",
				   "no game that runs has a log; the newest log is %s: "
				   "passtally %s shows it",
				   newest,
				   g_str_has_suffix(newest, ".zst") ? "report" : "top LOG");
	else
		tally_cli_complain("top", "no game that runs has a log, and there is none in "
					  "the default folder: start one with passtally run -- "
					  "GAME, or name a log: passtally top LOG");
}

/* Adds the logs of games that answer at their control sockets, wherever the logs are. */
static void
add_of_games(GPtrArray *logs, long pid)
{
	g_autoptr(GPtrArray) games = tally_control_list(pid);
	TALLY_EACH (const struct tally_control_game, game, games) {
		g_autofree char *path = tally_control_log(game->path);
		struct tally_folder_log log;
		if (!path || !tally_folder_log_read(&log, path))
			continue;
		/* In a container it has another number. */
		log.pid = pid ? pid : game->pid;
		g_ptr_array_add(logs, g_memdup2(&log, sizeof(log)));
	}
}

/* The log last written to whose process matches and is running; NULL after printing an error. */
static char *
find_living(long pid)
{
	const struct tally_folder_log *found = NULL;
	g_autofree char *folder = tally_folder_path(), *newest = NULL;
	g_autoptr(GPtrArray) logs = tally_folder_list(folder);
	if (logs->len)
		newest = g_strdup(((const struct tally_folder_log *)logs->pdata[0])->path);
	for (guint i = logs->len; i-- > 0;) {
		const struct tally_folder_log *log = g_ptr_array_index(logs, i);
		/* A compressed log is complete. */
		if (!g_str_has_suffix(log->path, ".jsonl"))
			g_ptr_array_remove_index(logs, i);
	}
	add_of_games(logs, pid);
	TALLY_EACH (const struct tally_folder_log, log, logs) {
		if ((pid ? log->pid == pid : tally_process_lives(log->pid)) &&
		    (!found || log->changed_ns > found->changed_ns))
			found = log;
	}
	if (!found)
		complain_none(newest, pid);
	return found ? g_strdup(found->path) : NULL;
}

static bool
is_sensible(const struct request *r)
{
	if (r->top.path && strcmp(r->top.path, "-") == 0)
		return TALLY_FAIL(false, "top",
				  "standard input cannot be followed: name a file; "
				  "`passtally report -` reads a log that is complete");
	if (r->top.path && g_str_has_suffix(r->top.path, ".zst"))
		return TALLY_FAIL(false, "top",
				  "%s is compressed, so it is complete and cannot be "
				  "followed: passtally report reads it",
				  r->top.path);
	if (r->top.path && r->pid)
		return TALLY_FAIL(false, "top", "LOG and --pid both name a log: use one");
	return true;
}

static int
run(int argc, char **argv)
{
	struct request r = { .top = { .seconds = TALLY_TOP_SECONDS, .device = -1 } };
	int status = tally_args_read(&tally_command_top, argc, argv, &r);
	if (status != TALLY_EXIT_OK)
		return status;
	if (!is_sensible(&r))
		return TALLY_EXIT_USAGE;
	g_autofree char *found = r.top.path ? NULL : find_living((long)r.pid);
	if (!r.top.path && !found)
		return TALLY_EXIT_NOTHING;
	if (found)
		r.top.path = found;
	return tally_top_watch(&r.top);
}

const struct tally_command tally_command_top =
	TALLY_COMMAND(top, run, options, &operands);

/* SPDX-License-Identifier: MIT */
#include "cli/top/top.h"

#include "cli/shared/cli.h"

#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	tally_cli_complain(command, "--%s needs a number from 0.5 to 3600, not \"%s\"", arg->name,
			   value);
	return false;
}

static const struct tally_arg options[] = {
	TALLY_ARG_WHOLE("pid", 0, "N", struct request, pid, 1, INT32_MAX,
			"Follow the log of process N."),
	TALLY_ARG_TAKE("window", 'w', "SECONDS", take_window,
		       "Show what the last SECONDS of frames come to (default 10)."),
	TALLY_ARG_TEXT("sort", 's', "COLUMN", struct request, top.sort,
		       "Sort by share (the default), mean, max, n, name, or a tally, "
		       "counter or metric by its key in the log."),
	TALLY_ARG_FLAG("reverse", 'r', struct request, top.reverse, "Cheapest first."),
	TALLY_ARG_WHOLE("device", 'd', "N", struct request, top.device, 0, UINT32_MAX,
			"Show this device; without it the one that drew last."),
	TALLY_ARG_FLAG("once", '1', struct request, top.once,
		       "Print one table of what the log holds, and exit."),
	TALLY_ARG_WHOLE("rows", 'n', "N", struct request, top.rows, 1, 100000,
			"At most N passes in a table that is printed."),
	TALLY_ARG_FLAG("no-color", 0, struct request, top.no_colour,
		       "No colors, as with NO_COLOR set."),
	TALLY_ARG_FLAG("ascii", 0, struct request, top.ascii, "Charts and letters of ASCII only."),
	TALLY_ARG_HELP,
};
static const struct tally_arg operands = TALLY_ARG_ONE("log", struct request, top.path);

static const char help[] =
	"Usage: passtally top [options] [LOG | --pid N]\n\n"
	"Shows live what each pass costs: of a game that runs, or of a log that\n"
	"grows. Without LOG it is the newest log of a game that runs under\n"
	"passtally. ? shows the keys.\n" TALLY_HELP_OPTIONS
	"\nFigures are of the newest frames, as many as began within --window;\n"
	"share is the pass's part of the GPU time measured on its device. Where\n"
	"standard output is no terminal, or one that cannot be drawn on\n"
	"(TERM=dumb), a table is printed each second until the log ends.\n"
	"`passtally run --live -- GAME` starts a game and shows this.\n\n"
	"Exit status: 0; 1 no game that runs has a log, or LOG no line yet; 2\n"
	"usage; 3 LOG is no log; 125 passtally failed.";

static bool
is_sensible(const struct request *r)
{
	if (r->top.path && strcmp(r->top.path, "-") == 0) {
		tally_cli_complain("top", "standard input cannot be followed: name a file; "
					  "`passtally report -` reads a log that is complete");
		return false;
	}
	if (r->top.path && g_str_has_suffix(r->top.path, ".zst")) {
		tally_cli_complain("top",
				   "%s is compressed, so it is complete and cannot be "
				   "followed: passtally report reads it",
				   r->top.path);
		return false;
	}
	if (r->top.path && r->pid) {
		tally_cli_complain("top", "LOG and --pid both name a log: use one");
		return false;
	}
	return true;
}

/* A wrong name should be an error, not an empty screen. */
static bool
is_there(const char *path)
{
	if (access(path, R_OK) == 0)
		return true;
	tally_cli_complain("top", "%s: cannot be opened: %s", path, g_strerror(errno));
	return false;
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
	char *found = r.top.path ? NULL : tally_top_find_log((long)r.pid);
	if (!r.top.path && !found)
		return TALLY_EXIT_NOTHING;
	if (found)
		r.top.path = found;
	status = is_there(r.top.path) ? tally_top_watch(&r.top) : TALLY_EXIT_FAILED;
	g_free(found);
	return status;
}

const struct tally_command tally_command_top = {
	.name = "top",
	.summary = "Show live what the passes of a running game cost",
	.run = run,
	.help = help,
	.options = options,
	.n_options = G_N_ELEMENTS(options),
	.operands = &operands,
};

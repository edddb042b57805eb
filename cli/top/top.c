/* SPDX-License-Identifier: MIT */
#include "cli/top/top.h"

#include "cli/shared/cli.h"
#include "cli/top/find.h"

#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct tally_arg options[] = {
	{ "pid", 0, "N", "Follow the log of process N." },
	{ "window", 'w', "SECONDS",
	  "Show what the last SECONDS of frames come to (default 10)." },
	{ "sort", 's', "COLUMN",
	  "Sort by share (the default), mean, max, n, name, or a tally, counter or "
	  "metric by its "
	  "key "
	  "in the log." },
	{ "reverse", 'r', NULL, "Cheapest first." },
	{ "device", 'd', "N", "Show this device; without it the one that drew last." },
	{ "once", '1', NULL, "Print one table of what the log holds, and be done." },
	{ "rows", 'n', "N", "At most N passes in a table that is printed." },
	{ "no-color", 0, NULL, "No colors, as with NO_COLOR set." },
	{ "ascii", 0, NULL, "Charts and letters of ASCII only." },
	{ "help", 'h', NULL, "Show this." },
};
enum {
	OPTION_PID,
	OPTION_WINDOW,
	OPTION_SORT,
	OPTION_REVERSE,
	OPTION_DEVICE,
	OPTION_ONCE,
	OPTION_ROWS,
	OPTION_NO_COLOR,
	OPTION_ASCII,
	OPTION_HELP
};

struct request {
	struct tally_top_options top;
	long pid; /* 0: not given */
	bool help;
};

static void
help(void)
{
	puts("Usage: passtally top [options] [LOG | --pid N]\n\n"
	     "Shows live what each pass costs: of a game that runs, or of a log that "
	     "grows. "
	     "Without\n"
	     "LOG it is the newest log of a game that runs under passtally. ? shows the "
	     "keys.\n");
	tally_args_help(options, G_N_ELEMENTS(options));
	puts("\nFigures are of the newest frames, as many as began within --window; "
	     "share is the\n"
	     "pass' part of the GPU time measured on its device. Where standard output "
	     "is no\n"
	     "terminal, or one that cannot be drawn on (TERM=dumb), a table is printed "
	     "each "
	     "second\n"
	     "until the log ends. `passtally run --live -- GAME` starts a game and shows "
	     "this.\n\n"
	     "Exit status: 0; 1 no game that runs has a log; 2 usage; 3 LOG is no log; "
	     "125\n"
	     "passtally failed.");
}

static bool
parse_number(const char *option, const char *value, double least, double most, double *out)
{
	char *end;
	*out = g_ascii_strtod(value, &end);
	if (end != value && !*end && *out >= least && *out <= most)
		return true;
	tally_cli_complain("top", "--%s needs a number from %g to %g, not \"%s\"", option, least,
			   most, value);
	return false;
}

static bool
parse_whole(const char *option, const char *value, uint64_t least, uint64_t most, uint64_t *out)
{
	guint64 number;
	if (g_ascii_string_to_unsigned(value, 10, least, most, &number, NULL)) {
		*out = number;
		return true;
	}
	tally_cli_complain("top",
			   "--%s needs a whole number from %" G_GUINT64_FORMAT
			   " to %" G_GUINT64_FORMAT ", not \"%s\"",
			   option, least, most, value);
	return false;
}

static bool
take(struct request *r, int option, const char *value)
{
	uint64_t number = 0;
	bool ok = true;
	switch (option) {
	case OPTION_PID:
		ok = parse_whole("pid", value, 1, INT32_MAX, &number);
		r->pid = (long)number;
		break;
	case OPTION_WINDOW:
		ok = parse_number("window", value, 0.5, 3600, &r->top.seconds);
		break;
	case OPTION_SORT:
		r->top.sort = value;
		break;
	case OPTION_REVERSE:
		r->top.reverse = true;
		break;
	case OPTION_DEVICE:
		ok = parse_whole("device", value, 0, UINT32_MAX, &number);
		r->top.device = (int64_t)number;
		break;
	case OPTION_ONCE:
		r->top.once = true;
		break;
	case OPTION_ROWS:
		ok = parse_whole("rows", value, 1, 100000, &number);
		r->top.rows = (unsigned)number;
		break;
	case OPTION_NO_COLOR:
		r->top.no_colour = true;
		break;
	case OPTION_ASCII:
		r->top.ascii = true;
		break;
	default:
		r->help = true;
	}
	return ok;
}

static bool
parse(struct request *r, int argc, char **argv)
{
	struct tally_args args;
	tally_args_init(&args, argc, argv, options, G_N_ELEMENTS(options));
	const char *value;
	int option;
	while ((option = tally_args_next(&args, &value)) != TALLY_ARG_END) {
		if (option == TALLY_ARG_ERROR)
			return false;
		if (option != TALLY_ARG_POSITIONAL) {
			if (!take(r, option, value))
				return false;
			continue;
		}
		if (r->top.path) {
			tally_cli_complain("top", "one log at a time: %s and %s were named",
					   r->top.path, value);
			return false;
		}
		r->top.path = value;
	}
	if (r->top.path && strcmp(r->top.path, "-") == 0) {
		tally_cli_complain("top", "standard input cannot be followed: name a file; "
					  "`passtally report -` reads a log that is complete");
		return false;
	}
	if (r->top.path && g_str_has_suffix(r->top.path, ".zst")) {
		tally_cli_complain("top",
				   "%s is compressed, so it is complete and cannot be followed: "
				   "passtally report reads it",
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
	if (!parse(&r, argc, argv))
		return TALLY_EXIT_USAGE;
	if (r.help) {
		help();
		return TALLY_EXIT_OK;
	}
	char *found = r.top.path ? NULL : tally_top_find_log(r.pid);
	if (!r.top.path && !found)
		return TALLY_EXIT_NOTHING;
	if (found)
		r.top.path = found;
	int status = is_there(r.top.path) ? tally_top_watch(&r.top) : TALLY_EXIT_FAILED;
	g_free(found);
	return status;
}

const struct tally_command tally_command_top = {
	.name = "top",
	.summary = "Show live what the passes of a running game cost",
	.run = run,
	.help = help,
};

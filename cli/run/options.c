/* SPDX-License-Identifier: MIT */
#include "cli/run/options.h"

#include "cli/shared/cli.h"
#include "layer/config/options.h"

#include <stdio.h>
#include <string.h>

static bool
take_compress(const char *command, const struct tally_arg *arg, void *to,
	      const char *value)
{
	struct tally_run_request *r = to;
	(void)command, (void)value;
	r->compress = arg->name[0] == 'c';
	return true;
}

static bool
take_config(const char *command, const struct tally_arg *arg, void *to, const char *value)
{
	struct tally_run_request *r = to;
	return tally_config_set(&r->config, arg->name, value, TALLY_FROM_COMMAND_LINE,
				tally_cli_report, (void *)command);
}

/* Options of this command; those of tally_options[] come before them in the table. */
static const struct tally_arg own_options[] = {
	TALLY_ARG_FLAG("quiet", 'q', struct tally_run_request, quiet,
	  "Print no summary after the program (errors are still reported)."),
	TALLY_ARG_FLAG("live", 0, struct tally_run_request, live,
	  "Show while the program runs what its passes cost, as passtally top does. What "
	  "the program would write to the terminal goes to LOG.out."),
	TALLY_ARG_FLAG("labels", 0, struct tally_run_request, labels,
	  "Direct3D programs: have DXVK and vkd3d-proton pass the program's debug markers on "
	  "as labels, by DXVK_DEBUG and VKD3D_CONFIG. This can cost CPU time."),
	TALLY_ARG_TAKE("compress", 0, NULL, take_compress,
	  "When the program has ended, however it did, compress each log with zstd to "
	  "PATH.zst and remove the plain one. Every command but top reads both. This "
	  "is so by default unless a path was named for the log. With --force an old "
	  "PATH.zst goes."),
	TALLY_ARG_TAKE("no-compress", 0, NULL, take_compress, "Leave the log as plain text."),
	TALLY_ARG_HELP,
};
static const struct tally_arg program = {
	.at = offsetof(struct tally_run_request, argv),
};

static GArray *
all_options(void)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct tally_arg));
	for (size_t i = 0; i < tally_n_options; i++) {
		struct tally_arg arg = {
			.name = tally_options[i].key,
			.letter = tally_options[i].letter,
			.values = tally_options[i].values,
			.help = tally_options[i].help,
			.take = take_config,
		};
		g_array_append_val(all, arg);
	}
	g_array_append_vals(all, own_options, G_N_ELEMENTS(own_options));
	return all;
}

/* The groups of options in --help, in order: each option is in one. */
static const struct {
	const char *title;
	const char *keys;
} groups[] = {
	{ "Every day",
	  "log live quiet frames seconds skip every start-on stop-on compress "
	  "no-compress digest force tag host no-argv help" },
	{ "What to count", "counters set sources cpu granularity snapshot period" },
	{ "What a pass is, and a frame",
	  "frame split group-work labels pipelines pipeline-statistics pictures max-passes" },
	{ "Which processes, and limits", "block allow control renderdoc-over black-box "
					 "black-box-over max-log log-quota describe" },
	{ "Special hardware", "mali-delay microblaze" },
};

void
tally_run_print_options(void)
{
	g_autoptr(GArray) all = all_options();
	const struct tally_arg *options = (const struct tally_arg *)(void *)all->data;
	for (size_t i = 0; i < G_N_ELEMENTS(groups); i++) {
		g_auto(GStrv) keys = g_strsplit(groups[i].keys, " ", -1);
		printf("\n%s:\n", groups[i].title);
		for (char **key = keys; *key; key++)
			for (guint k = 0; k < all->len; k++)
				if (strcmp(options[k].name, *key) == 0)
					tally_args_help(&options[k], 1);
	}
}

const char tally_run_help[] =
	"Usage: passtally run [options] [--] PROGRAM [ARGUMENTS]\n\n"
	"Runs PROGRAM and writes what its render passes cost into a log. The\n"
	"program's own input, output and exit status are left as they are (but\n"
	"for --live). In Steam: passtally run -- %command%" TALLY_HELP_OPTIONS
	"\nThe same options can be set in PASSTALLY_OPTIONS\n"
	"(counters=X,frame=submit:1), in\n"
	"$XDG_CONFIG_HOME/passtally/passtally.conf and in programs/PROGRAM.conf\n"
	"beside it, section [passtally]. The command line wins over the\n"
	"environment, that over the files; `passtally config` shows what is in\n"
	"force. Launchers, shells and helpers are left alone, what they start is\n"
	"not: `passtally config --blocklist`. The log goes to\n"
	"$XDG_STATE_HOME/passtally/%e-%t-%p.jsonl.zst (by default ~/.local/state;\n"
	"passtally logs), or plain to the path of --log. A program that starts\n"
	"others that render leaves a log for each: NAME.jsonl, NAME.PID.jsonl. In\n"
	"the default folder a log without a device and a frame is removed.\n\n"
	"Exit status: the program's (a signal that ended it is raised again); 2\n"
	"usage, the program was not started; 125 passtally failed; 126 PROGRAM\n"
	"cannot be run; 127 it was not found.";

int
tally_run_options_parse(struct tally_run_request *r, int argc, char **argv)
{
	g_autoptr(GArray) all = all_options();
	struct tally_command command = tally_command_run;
	command.options = (const struct tally_arg *)(void *)all->data;
	command.n_options = all->len;
	command.operands = &program;
	r->compress = -1;
	int status = tally_args_read(&command, argc, argv, r);
	if (status == TALLY_EXIT_OK && !r->argv)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "run",
				  "no program named: passtally run [options] -- PROGRAM");
	return status;
}

/* SPDX-License-Identifier: MIT */
#include "cli/shared/cli.h"
#include "cli/shared/near.h"
#include "cli/shared/text.h"
#include "passtally_version.h"

#include <glib.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* In the order of --help; `group` heads the commands from this one on. */
static const struct {
	const struct tally_command *command;
	const char *group;
} commands[] = {
	{ &tally_command_run, "Every day" },
	{ &tally_command_top, NULL },
	{ &tally_command_report, NULL },
	{ &tally_command_compare, NULL },
	{ &tally_command_bench, NULL },
	{ &tally_command_bisect, NULL },
	{ &tally_command_fleet, NULL },
	{ &tally_command_logs, NULL },
	{ &tally_command_trigger, "While a game runs" },
	{ &tally_command_export, "More from a log" },
	{ &tally_command_name, NULL },
	{ &tally_command_check, NULL },
	{ &tally_command_digest, NULL },
	{ &tally_command_schema, NULL },
	{ &tally_command_doctor, "This machine" },
	{ &tally_command_counters, NULL },
	{ &tally_command_config, NULL },
	{ &tally_command_selftest, NULL },
	{ &tally_command_install, NULL },
	{ &tally_command_uninstall, NULL },
};

static void
print_commands(FILE *out)
{
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
		if (commands[i].group)
			tally_text_print(out, "%s%s:\n", i ? "\n" : "", commands[i].group);
		const struct tally_command *command = commands[i].command;
		tally_text_print(out, "  %-10s %.*s\n", command->name,
				 (int)strcspn(command->help, "\n"), command->help);
	}
}

static void
help(void)
{
	puts("Usage: passtally COMMAND [options]\n\n"
	     "Measures what each render pass of a game costs, without touching the\n"
	     "game.\n");
	print_commands(stdout);
	puts("\n"
	     "  help CMD   Show a command's options (as CMD --help does)\n"
	     "  --version  Print the version\n"
	     "  --help     Show this\n\n"
	     "First steps:  passtally run -- GAME\n"
	     "              passtally report");
}

/* For a user who types only the name: an error, but one that explains how to continue. */
static int
short_help(void)
{
	fputs("Usage: passtally COMMAND [options]\n\n", stderr);
	print_commands(stderr);
	fputs("\nFirst steps:  passtally run -- GAME\n"
	      "              passtally report\n"
	      "              passtally --help\n",
	      stderr);
	return TALLY_EXIT_USAGE;
}

/* "passtally run -- ..." where the word is a program; the caller frees it. NULL: it is not. */
static char *
as_program(char **argv)
{
	g_autofree char *path = argv[0][0] == '-' ? NULL : g_find_program_in_path(argv[0]);
	g_autofree char *line = path ? g_strjoinv(" ", argv) : NULL;
	return line ? g_strconcat("passtally run -- ", line, NULL) : NULL;
}

static void
unknown_word(char **argv)
{
	const char *name = argv[0];
	struct tally_near near;
	tally_near_begin(&near, name, strlen(name));
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		tally_near_offer(&near, commands[i].command->name);
	tally_near_offer(&near, "--version");
	const char *kind = name[0] == '-' ? "option" : "command";
	g_autofree char *program = as_program(argv);
	if (program) {
		tally_cli_complain(NULL, "unknown command %s; did you mean: %s%s%s%s", name,
				   program, near.best ? " (or: passtally " : "",
				   near.best ? near.best : "", near.best ? ")" : "");
		return;
	}
	if (near.best) {
		tally_cli_complain(NULL, "unknown %s %s; did you mean: passtally %s", kind, name,
				   near.best);
		return;
	}
	g_autoptr(GString) valid = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		g_string_append_printf(valid, "%s, ", commands[i].command->name);
	tally_cli_complain(NULL, "unknown %s %s; the commands are %shelp", kind, name,
			   valid->str);
}

/* `argv` begins with the command's name. NULL after printing an error. */
static const struct tally_command *
find_command(char **argv)
{
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		if (strcmp(commands[i].command->name, argv[0]) == 0)
			return commands[i].command;
	unknown_word(argv);
	return NULL;
}

static int
help_on(char **argv)
{
	if (!argv || !argv[0]) {
		help();
		return TALLY_EXIT_OK;
	}
	const struct tally_command *command = find_command(argv);
	if (!command)
		return TALLY_EXIT_USAGE;
	tally_command_help(command);
	return TALLY_EXIT_OK;
}

int
main(int argc, char **argv)
{
	/* Only the character type comes from the locale: numbers keep their decimal point. */
	setlocale(LC_CTYPE, "");
	if (argc < 2)
		return short_help();
	const char *word = argv[1];
	if (strcmp(word, "run") != 0) /* the program must inherit SIGPIPE unchanged */
		signal(SIGPIPE, SIG_IGN);
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return tally_cli_finish(NULL, help_on(NULL));
	if (strcmp(word, "help") == 0)
		return tally_cli_finish(NULL, help_on(argv + 2));
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
		puts("passtally " PASSTALLY_VERSION);
		return tally_cli_finish(NULL, TALLY_EXIT_OK);
	}
	const struct tally_command *command = find_command(argv + 1);
	if (!command)
		return TALLY_EXIT_USAGE;
	int status = command->run(argc - 1, argv + 1);
	return tally_cli_finish(word, status == TALLY_ARG_HELPED ? TALLY_EXIT_OK : status);
}

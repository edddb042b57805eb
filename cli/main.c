#include "cli/shared/cli.h"
#include "passtally_version.h"

#include <glib.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct tally_command *const commands[] = {
	&tally_command_run,      &tally_command_report, &tally_command_compare,
	&tally_command_export,   &tally_command_check,
	&tally_command_counters, &tally_command_doctor, &tally_command_schema,
	&tally_command_trigger,  &tally_command_config, &tally_command_top,
};

static void
help(void)
{
	puts("Usage: passtally COMMAND [options]\n\n"
	     "Measures what each render pass of a game costs, without touching the game.\n");
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	puts("  help CMD   Show a command's options (as CMD --help does)\n\n"
	     "  --version  Print the version\n"
	     "  --help     Show this\n\n"
	     "First steps:  passtally run -- GAME\n"
	     "              passtally report LOG");
}

static const struct tally_command *
find_command(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	GString *valid = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		g_string_append_printf(valid, "%s, ", commands[i]->name);
	tally_cli_complain(NULL, "unknown %s %s; the commands are %shelp",
			   name[0] == '-' ? "option" : "command", name, valid->str);
	g_string_free(valid, TRUE);
	return NULL;
}

static int
help_on(const char *name)
{
	if (!name) {
		help();
		return TALLY_EXIT_OK;
	}
	const struct tally_command *command = find_command(name);
	if (!command)
		return TALLY_EXIT_USAGE;
	command->help();
	return TALLY_EXIT_OK;
}

int
main(int argc, char **argv)
{
	/* Only the character type comes from the locale: numbers keep their decimal point. */
	setlocale(LC_CTYPE, "");
	if (argc < 2) {
		tally_cli_complain(NULL, "no command given; `passtally --help` lists them");
		return TALLY_EXIT_USAGE;
	}
	const char *word = argv[1];
	if (strcmp(word, "run") == 0) /* the program must inherit SIGPIPE unchanged */
		return tally_cli_finish("run", tally_command_run.run(argc - 1, argv + 1));
	signal(SIGPIPE, SIG_IGN);
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return tally_cli_finish(NULL, help_on(NULL));
	if (strcmp(word, "help") == 0)
		return tally_cli_finish(NULL, help_on(argv[2]));
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
		puts("passtally " PASSTALLY_VERSION);
		return tally_cli_finish(NULL, TALLY_EXIT_OK);
	}
	const struct tally_command *command = find_command(word);
	if (!command)
		return TALLY_EXIT_USAGE;
	return tally_cli_finish(word, command->run(argc - 1, argv + 1));
}

/* SPDX-License-Identifier: MIT */
#include "cli/shared/cli.h"
#include "cli/shared/out.h"
#include "cli/check/schema_text.h"

#include <glib.h>
#include <stdio.h>

static const struct tally_arg options[] = {
	{ "help", 'h', NULL, "Show this." },
};

static void
help(void)
{
	puts("Usage: passtally schema\n\n"
	     "Prints the JSON Schema of a log's lines, version passtally/1: every field, its\n"
	     "unit and what it means.\n");
	tally_args_help(options, G_N_ELEMENTS(options));
	puts("\nExit status: 0; 2 usage; 125 the output could not be written.");
}

static void
print_schema(void)
{
	struct tally_out o;
	tally_out_init(&o, stdout);
	tally_out_bytes(&o, tally_schema_text, tally_schema_text_len);
	tally_out_flush(&o);
}

static int
run(int argc, char **argv)
{
	struct tally_args args;
	tally_args_init(&args, argc, argv, options, G_N_ELEMENTS(options));
	const char *value;
	switch (tally_args_next(&args, &value)) {
	case TALLY_ARG_END:
		print_schema();
		return TALLY_EXIT_OK;
	case 0:
		help();
		return TALLY_EXIT_OK;
	case TALLY_ARG_POSITIONAL:
		tally_cli_complain("schema", "unexpected argument %s", value);
		return TALLY_EXIT_USAGE;
	default:
		return TALLY_EXIT_USAGE;
	}
}

const struct tally_command tally_command_schema = {
	.name = "schema",
	.summary = "Print the JSON Schema of the log",
	.run = run,
	.help = help,
};

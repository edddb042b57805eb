/* SPDX-License-Identifier: MIT */
#include "cli/shared/cli.h"
#include "cli/shared/out.h"
#include "cli/check/schema_text.h"

#include <glib.h>
#include <stdio.h>

static const struct tally_arg options[] = {
	TALLY_ARG_HELP,
};

static const char help[] =
	"Usage: passtally schema\n\n"
	"Prints the JSON Schema of a log's lines, version passtally/1: every\n"
	"field, its unit and what it means.\n" TALLY_HELP_OPTIONS
	"\nExit status: 0; 2 usage; 125 the output could not be written.";

static int
run(int argc, char **argv)
{
	struct tally_out o;
	int status = tally_args_read(&tally_command_schema, argc, argv, NULL);
	if (status != TALLY_EXIT_OK)
		return status;
	tally_out_init(&o, stdout);
	tally_out_bytes(&o, tally_schema_text, tally_schema_text_len);
	tally_out_flush(&o);
	return TALLY_EXIT_OK;
}

const struct tally_command tally_command_schema = {
	.name = "schema",
	.summary = "Print the JSON Schema of the log",
	.run = run,
	.help = help,
	.options = options,
	.n_options = G_N_ELEMENTS(options),
};

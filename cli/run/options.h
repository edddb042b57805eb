/* SPDX-License-Identifier: MIT */
/* cli/run/options.h - the command line of `passtally run`: the options of a capture, those of the
 * command, and the program with its arguments.
 */
#ifndef PASSTALLY_CLI_RUN_OPTIONS_H
#define PASSTALLY_CLI_RUN_OPTIONS_H

#include "layer/config/config.h"

#include <stdbool.h>

struct tally_run_request {
	struct tally_config config; /* of the caller, who initialized it */
	bool quiet, live, labels;
	int compress; /* 1 = yes, 0 = no, -1 = not stated */
	char **argv; /* arguments of the program */
};

/* As tally_args_read(). */
int tally_run_options_parse(struct tally_run_request *r, int argc, char **argv);
extern const char tally_run_help[];
void tally_run_print_options(void); /* of --help, to standard output */

#endif

/* SPDX-License-Identifier: MIT */
/* cli/run/options.h - the command line of `passtally run`: the options of a capture, those of
 * the command, and the program with its arguments.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_RUN_OPTIONS_H
#define PASSTALLY_CLI_RUN_OPTIONS_H

#include "layer/config/config.h"

struct tally_run_request {
	struct tally_config config; /* of the caller, who initialized it */
	bool quiet, progress, live, help;
	int compress; /* compression level; 0 = do not compress, -1 = not stated */
	bool compress_by_default; /* set by run: the user did not request it */
	char **argv; /* arguments of the program */
};

/* Returns TALLY_EXIT_OK, or TALLY_EXIT_USAGE after printing an error. */
int tally_run_options_parse(struct tally_run_request *r, int argc, char **argv);
extern const char tally_run_help[];
void tally_run_print_options(void); /* of --help, to standard output */

#endif

/* SPDX-License-Identifier: MIT */
/* cli/run/messages.h - the messages of `passtally run` on standard error, during and after the
 * program.
 *
 * No function fails: files that cannot be read are reported as such.
 */
#ifndef PASSTALLY_CLI_RUN_MESSAGES_H
#define PASSTALLY_CLI_RUN_MESSAGES_H

#include "cli/install/injected.h"
#include "layer/config/config.h"

#include <glib.h>
#include <stdbool.h>

/* Lines of the status file, without duplicates: "level: source: message" (char *); the
 * caller frees them. */
GPtrArray *tally_run_status_read(const char *path);
/* Whether one of the lines is an error. */
bool tally_run_status_has_error(const GPtrArray *lines);

/* Prints the summary of the logs that a run left, and the messages of its status file. */
void tally_run_print_summary(const GPtrArray *logs, const GPtrArray *status);
/* Whether a process runs that inherited this status file: the program ended before what it started,
 * as launchers do. */
bool tally_run_goes_on(const char *status);
/* Prints possible reasons why nothing was captured. `program` is the name that the user
 * gave. */
void tally_run_explain_nothing(const char *program, const struct tally_injected *in);
/* Reports, if it is so, that the program that was started is one that the capture leaves
 * alone. */
void tally_run_explain_blocked(const struct tally_config *config, const char *program,
			       char *const *argv, const GPtrArray *status);

struct tally_run_ended {
	char *const *argv; /* of the program */
	int status; /* as waitpid(2) sets it */
	bool captured; /* false: the capture was switched off, so it is out of the question */
	bool frame; /* a log of the run has a frame, or may lack existing ones */
};

/* Prints a line if the program was ended by a signal or has an exit status other than 0, and,
 * where the capture could be the reason (after a fault, or an end before the first frame), how
 * to find out which is at fault. */
void tally_run_print_ended(const struct tally_run_ended *e);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/run/ended.h - how the program of a run ended, for people.
 *
 * One thread; prints on standard error.
 */
#ifndef PASSTALLY_CLI_RUN_ENDED_H
#define PASSTALLY_CLI_RUN_ENDED_H

#include <stdbool.h>

struct tally_run_ended {
	char *const *argv; /* of the program */
	int status; /* as waitpid(2) sets it */
	bool captured; /* false: the capture was switched off, so it is out of the question */
	bool frame; /* a log of the run has a frame, or may lack those that there were */
};

/* Prints a line if the program was ended by a signal or has an exit status other than 0, and
 * how to find out whose fault it is where the capture could be the reason: after a fault, or
 * an end before the first frame. */
void tally_run_print_ended(const struct tally_run_ended *e);

#endif

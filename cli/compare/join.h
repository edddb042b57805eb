/* SPDX-License-Identifier: MIT */
/* cli/compare/join.h - joins the logs of both sides into subjects and rows.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_COMPARE_JOIN_H
#define PASSTALLY_CLI_COMPARE_JOIN_H

#include "cli/compare/compare.h"

void tally_compare_init(struct tally_compare *c);
void tally_compare_finish(struct tally_compare *c);
/* Joins the logs into subjects and rows. Where the program loaded in the first frames of some logs
 * only, the others are read again without theirs. Returns TALLY_EXIT_OK, or another status after an
 * error on standard error. */
int tally_compare_join(struct tally_compare *c);
#endif

/* SPDX-License-Identifier: MIT */
/* cli/report/why.h - what was counted in a pass, in words: the rules are rows, each with its
 * source (docs/verdicts.md). A rule whose values were not counted has no sentence.
 */
#ifndef PASSTALLY_CLI_REPORT_WHY_H
#define PASSTALLY_CLI_REPORT_WHY_H

#include "cli/answer/answer.h"

#include <stdio.h>

/* What was counted in a pass, in words; and the changes of speed and the hitches in which
 * the answer names it. The caller frees it. NULL: there is nothing to say. */
char *tally_why_text(const struct tally_aggregate *a, const struct tally_group *g);
char *tally_why_over_run_text(const struct tally_answer *answer,
			      const struct tally_group *g);
/* Both, of the first passes among `rows`. */
void tally_why_print(FILE *out, const struct tally_aggregate *a,
		     const struct tally_answer *answer, const GPtrArray *rows);

#endif

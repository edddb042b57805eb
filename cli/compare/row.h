/* SPDX-License-Identifier: MIT */
/* cli/compare/row.h - what a row of a comparison says, in numbers.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_COMPARE_ROW_H
#define PASSTALLY_CLI_COMPARE_ROW_H

#include "cli/compare/compare.h"

/* The part of the frames that have the pass, of those that could. */
double tally_subject_share(const struct tally_compare_subject *s, unsigned side);
/* The least change that matters, as a part of the base. */
double tally_compare_limit(const struct tally_compare *c);
/* The GPU time of a frame of the base where the value is of it; 0: not known. */
double tally_compare_frame_time(const struct tally_compare_row *row);

bool tally_row_changed(const struct tally_compare_row *row);
/* The new mean less the base's. */
double tally_row_seen(const struct tally_compare_row *row);
/* The change divided by the base's mean; false where that mean is 0. */
bool tally_compare_relative(const struct tally_compare_row *row, double value, double *out);
extern const char *const tally_verdict_names[TALLY_N_VERDICTS];

#endif

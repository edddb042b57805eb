/* SPDX-License-Identifier: MIT */
/* cli/compare/outliers.h - which of many changes stand out, given how their values move together?
 *
 * Passes that use the machine alike become slower and faster together, from frame to frame and
 * hence from run to run. Each change is judged against what the others predict for it
 * (generalized least squares with a shrunken correlation matrix), and all of them against how
 * far they scatter anyway. The one that stands out most is taken away before the rest is judged
 * once more, so that it misleads no prediction. Pure; any thread.
 */
#ifndef PASSTALLY_CLI_OUTLIERS_H
#define PASSTALLY_CLI_OUTLIERS_H

#include <stdint.h>

struct tally_outlier {
	/* in: the change, its standard error (> 0) and the degrees of freedom of that;
	 * out: what of the change the others do not predict */
	double shift, se, df;
	double p; /* out: two-sided, of this change alone */
	/* How the value deviates within the sides, in the same number of parts as the others. */
	const double *deviations;
};

/* Averages each error's square with what all of them together show: how it follows from the size of
 * the deviations, as a line through the logarithms. For errors known from few values. */
void tally_outliers_moderate(struct tally_outlier *items, uint32_t n, uint32_t n_parts);

/* `level`: of all alarms together, from which on a change is taken away. n > 0. */
void tally_outliers_judge(struct tally_outlier *items, uint32_t n, uint32_t n_parts, double level);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/log/series.h - the distributions of a row's values, one for each key.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_LOG_SERIES_H
#define PASSTALLY_CLI_LOG_SERIES_H

#include "cli/log/aggregate.h"

/* GPU time of a group divided by that of the device: 0 to 1; negative = not known. */
double tally_group_share(const struct tally_aggregate *a, const struct tally_group *g);
/* Number of frames of its device that count in the values of groups: complete and partial. */
uint64_t tally_group_n_frames(const struct tally_aggregate *a, const struct tally_group *g);
/* GPU time of a group in nanoseconds, as the mean over all frames of its device: a frame
 * without the group counts as 0, one in which its time is not known is left out. Negative =
 * not known. */
double tally_group_frame_ns(const struct tally_aggregate *a, const struct tally_group *g);
uint32_t tally_n_series(const struct tally_aggregate *a);
/* Whether any group has a value other than 0 in it. */
bool tally_series_in_use(const struct tally_aggregate *a, uint32_t series);
/* The roll-up that it belongs to; NULL = none. */
struct tally_group *tally_row_parent(const struct tally_group *g);
const char *tally_name_of_pass(const struct tally_group *g);

#endif

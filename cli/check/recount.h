/* SPDX-License-Identifier: MIT */
/* cli/check/recount.h - recomputes the end line's statistics from the frames.
 *
 * `passtally check` uses it. The statistics of the frames must match the end line: N, sums
 * and extremes exactly, mean and deviations to a few digits of a double. One thread.
 */
#ifndef PASSTALLY_CLI_RECOUNT_H
#define PASSTALLY_CLI_RECOUNT_H

#include "layer/record.h"

struct tally_recount;
struct tally_recount *tally_recount_create(void);
void tally_recount_destroy(struct tally_recount *r);
/* Keys of frames must live as long as `r`; no other pointer is kept. */
void tally_recount_add_device(struct tally_recount *r, const struct tally_device_record *device);
void tally_recount_add_frame(struct tally_recount *r, const struct tally_frame_record *frame);
/* Called for each statistic, by its index in the line, that differs from the frames. */
typedef void tally_recount_wrong(void *data, uint32_t i, const char *message);
void tally_recount_check(struct tally_recount *r, const struct tally_end_record *end,
			 tally_recount_wrong *wrong, void *data);

#endif

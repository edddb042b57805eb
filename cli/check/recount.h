/* cli/check/recount.h - the end line's statistics, counted again from the frames.
 *
 * Used by `passtally check`. What the frames come to must be what the end line tells: N, sums,
 * extremes exactly, mean and deviations to a few places of a double. One thread.
 */
#ifndef PASSTALLY_CLI_RECOUNT_H
#define PASSTALLY_CLI_RECOUNT_H

#include "layer/record.h"

struct tally_recount;
struct tally_recount *tally_recount_create(void);
void tally_recount_destroy(struct tally_recount *r);
/* Keys of frames live as long as `r`; nothing else is kept. */
void tally_recount_add_device(struct tally_recount *r, const struct tally_device_record *device);
void tally_recount_add_frame(struct tally_recount *r, const struct tally_frame_record *frame);
/* Told of each statistic, by its place in the line, that is not what the frames say. */
typedef void tally_recount_wrong(void *data, uint32_t i, const char *message);
void tally_recount_check(struct tally_recount *r, const struct tally_end_record *end,
			 tally_recount_wrong *wrong, void *data);

#endif

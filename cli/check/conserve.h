/* SPDX-License-Identifier: MIT */
/* cli/check/conserve.h - checks that the snapshot counters in a log add up.
 *
 * The values of passes, the unattributed remainder and the unlogged remainder, summed over the
 * frames of a device, must equal the growth that the end line states, to the integer. Where
 * frames of two devices overlap, each is given the whole growth of a source, and the later line
 * is flagged shared_totals: this is checked, too, for the first 64 devices. The caller feeds
 * every record of a log in order. Memory grows with the number of counters.
 */
#ifndef PASSTALLY_CLI_CHECK_CONSERVE_H
#define PASSTALLY_CLI_CHECK_CONSERVE_H

#include "json/record_json.h"

struct tally_conserve;
struct tally_conserve *tally_conserve_create(void);
void tally_conserve_destroy(struct tally_conserve *c);

void tally_conserve_add_device(struct tally_conserve *c,
			       const struct tally_device_record *device);
/* The keys in `frame` live as long as the reader: see tally_log_reader_next(). */
void tally_conserve_add_frame(struct tally_conserve *c, const struct tally_frame_record *frame);

/* Called for each index i for which end->growth[i] does not add up. */
typedef void tally_conserve_complain(void *data, uint32_t i, const char *message);
void tally_conserve_check(struct tally_conserve *c, const struct tally_end_record *end,
			  tally_conserve_complain *complain, void *data);

#endif

/* cli/check/conserve.h - does what a log says of counter snapshots add up?
 *
 * Values of passes, what is unattributed and what is unlogged are, over the frames of a device, the
 * growth that the end line tells, to the integer. Fed with every record of a log in order; memory
 * grows with the number of counters. One thread.
 */
#ifndef PASSTALLY_CLI_CONSERVE_H
#define PASSTALLY_CLI_CONSERVE_H

#include "json/record_json.h"

struct tally_conserve;
struct tally_conserve *tally_conserve_create(void);
void tally_conserve_destroy(struct tally_conserve *c); /* accepts NULL */

/* The keys in it live as long as the reader: tally_log_reader_next(). */
void tally_conserve_add_frame(struct tally_conserve *c, const struct tally_frame_record *frame);

/* Called for the i-th entry of end->growth where that does not add up. */
typedef void tally_conserve_complain(void *data, uint32_t i, const char *message);
void tally_conserve_check(struct tally_conserve *c, const struct tally_end_record *end,
			  tally_conserve_complain *complain, void *data);

#endif

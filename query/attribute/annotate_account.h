/* SPDX-License-Identifier: MIT */
/* query/attribute/annotate_account.h - what the frames of a device were given of a source's
 * growth, and what is left.
 *
 * Collector thread only; all but the first two need the sampler's lock.
 */
#ifndef PASSTALLY_QUERY_ATTRIBUTE_ANNOTATE_ACCOUNT_H
#define PASSTALLY_QUERY_ATTRIBUTE_ANNOTATE_ACCOUNT_H

#include "query/attribute/annotate_internal.h"

/* False on OOM; call finish() in any case. */
bool tally_account_init(struct tally_account *account, const struct tally_snapshot_source *src,
			struct tally_history *history);
void tally_account_finish(struct tally_account *account); /* accepts a zeroed one */
/* Begins an account that has not begun: at the start of the history, or (`late`) at that time.
 * False: there is no reading yet. */
bool tally_account_begin(struct tally_account *account, bool late, uint64_t time_ns);
/* Assigns the deltas up to that time, as far as there are readings, to no frame: they are
 * outside. */
void tally_account_pass_over(struct tally_account *account, uint64_t time_ns);
/* Assigns the deltas up to that time to a frame: account->window has the details. False:
 * nothing is assigned, on OOM (the next window then begins where this one would have) or
 * because no time passed. */
bool tally_account_attribute(struct tally_account *account, uint64_t end_ns, bool exact,
			     const struct tally_work *work, struct tally_share *shares,
			     uint32_t n);
/* Moves the deltas of the last attribute() to `outside`: its frame is not written. */
void tally_account_take_back(struct tally_account *account);

#endif

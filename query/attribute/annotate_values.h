/* SPDX-License-Identifier: MIT */
/* query/attribute/annotate_values.h - the shares and metrics that are added to a frame.
 *
 * Collector thread only; memory is kept from frame to frame.
 */
#ifndef PASSTALLY_QUERY_ATTRIBUTE_ANNOTATE_VALUES_H
#define PASSTALLY_QUERY_ATTRIBUTE_ANNOTATE_VALUES_H

#include "query/attribute/annotate_internal.h"

/* Makes room for everything that is added to the frame, and lays out the shares. False on
 * OOM. */
bool tally_scratch_reserve(struct tally_scratch *scratch, const struct tally_annotated *d,
			   const struct tally_frame_record *frame);
void tally_scratch_finish(struct tally_scratch *scratch);
/* Adds the shares of the accounts to the passes and the frame, then the metrics of
 * everything. */
void tally_scratch_add_values(struct tally_scratch *scratch, struct tally_annotated *d,
			      struct tally_frame_record *frame, struct tally_pass_record *passes,
			      bool exact);

#endif

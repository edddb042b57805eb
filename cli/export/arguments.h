/* SPDX-License-Identifier: MIT */
/* cli/export/arguments.h - what an event of a trace says of a frame, a pass, a workload.
 *
 * Each function adds arguments to the event that is open (trace.h). One thread; nothing fails
 * that does not fail there.
 */
#ifndef PASSTALLY_CLI_ARGUMENTS_H
#define PASSTALLY_CLI_ARGUMENTS_H

#include "cli/export/trace.h"

void tally_argument_put_number(struct tally_trace *t, const char *key, uint64_t v);
void tally_argument_put_text(struct tally_trace *t, const char *key, const char *text);
/* Nothing where there are none. */
void tally_argument_put_flags(struct tally_trace *t, uint64_t flags);

/* For tally_argument_put_listed(): `prefix` is of the names of its numbers. */
struct tally_argument_list {
	struct tally_trace *t;
	const char *prefix;
};
/* Takes the numbers of json/log_numbers.h; `to`: a struct tally_argument_list. */
void tally_argument_put_listed(void *to, const char *name, const char *unit, bool known,
			       struct tally_value value);
/* Counters and metrics, followed by the list of those that are estimates. */
void tally_arguments_put_lists(struct tally_trace *t, const char *prefix,
			       const struct tally_keyed_value *values, uint32_t n,
			       const struct tally_keyed_value *metrics,
			       uint32_t n_metrics);
/* By what a pass is known, of the frame of that number; and all that it is. */
void tally_arguments_put_identity(struct tally_trace *t, uint64_t frame,
				  const struct tally_pass_record *p);
void tally_arguments_put_pass(struct tally_trace *t, uint64_t frame,
			      const struct tally_pass_record *p);

#endif

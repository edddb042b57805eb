/* SPDX-License-Identifier: MIT */
/* json/log_numbers.h - the plain numbers of a log's objects, by their names in the log.
 *
 * json/log.fields lists them (attribute csv); the code is generated from it. Any thread;
 * nothing here allocates or fails.
 */
#ifndef PASSTALLY_JSON_LOG_NUMBERS_H
#define PASSTALLY_JSON_LOG_NUMBERS_H

#include "layer/record.h"

/* Called for a number. `name` and `unit` are static. `known` false: the number would have a
 * meaning here but is absent; then `value` has no meaning. */
typedef void tally_put_number(void *to, const char *name, const char *unit, bool known,
			      struct tally_value value);

/* The numbers of a frame, in that order; the last has no name. */
struct tally_number_name {
	const char *name, *unit;
};
const struct tally_number_name *tally_frame_number_names(void);

/* Calls `put` with `to` for each number of the object itself, not of the objects inside it. */
void tally_frame_numbers(const struct tally_frame_record *r, tally_put_number *put, void *to);
void tally_unattributed_numbers(const struct tally_frame_record *r, tally_put_number *put,
				void *to);
void tally_pass_numbers(const struct tally_pass_record *r, tally_put_number *put, void *to);
void tally_workload_numbers(const struct tally_workload_record *r, tally_put_number *put,
			    void *to);

#endif

/* SPDX-License-Identifier: MIT */
/* json/log_numbers.h - the plain numbers of a log's objects, by the names the log has for them.
 *
 * Which they are, json/log.fields says (attribute csv); the code is made from it. Any thread;
 * nothing here allocates or fails.
 */
#ifndef PASSTALLY_JSON_LOG_NUMBERS_H
#define PASSTALLY_JSON_LOG_NUMBERS_H

#include "layer/record.h"

/* Called for a number. `name` and `unit` are static. `known` false: the number would say something
 * if it were there, and is absent; `value` has no meaning then. */
typedef void tally_put_number(void *to, const char *name, const char *unit, bool known,
			      struct tally_value value);

/* Calls `put` with `to` for each number of the object itself, not of what is inside it. */
void tally_frame_numbers(const struct tally_frame_record *r, tally_put_number *put, void *to);
void tally_unattributed_numbers(const struct tally_frame_record *r, tally_put_number *put,
				void *to);
void tally_pass_numbers(const struct tally_pass_record *r, tally_put_number *put, void *to);
void tally_workload_numbers(const struct tally_workload_record *r, tally_put_number *put,
			    void *to);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/report/json.h - a report as JSON.
 *
 * One thread.
 */
#ifndef PASSTALLY_CLI_REPORT_JSON_H
#define PASSTALLY_CLI_REPORT_JSON_H

#include "cli/answer/answer.h"
#include "cli/shared/out.h"

/* One object without a newline: the output of `report --json` for one log. */
void tally_json_print_report(struct tally_out *o, const struct tally_aggregate *a,
			     const struct tally_answer *answer, const GPtrArray *rows);
/* The members of one of its devices, and of one of its rows. */
void tally_json_put_device(struct tally_out *o, const struct tally_aggregate *a,
			   struct tally_device_summary *d);
void tally_json_put_row(struct tally_out *o, const struct tally_aggregate *a,
			const struct tally_group *g);
/* The rows, or the roll-ups among them, as an array. */
void tally_json_put_rows(struct tally_out *o, const struct tally_aggregate *a,
			 const GPtrArray *rows, const char *key, bool rollups);

#endif

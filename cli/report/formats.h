/* SPDX-License-Identifier: MIT */
/* cli/report/formats.h - a report as a table and as JSON, and one run in a few lines.
 *
 * All functions print an aggregate that was read completely. Text is safe for terminals
 * (labels are escaped), JSON follows RFC 8259; a missing value is "-" in a table and an omitted
 * member in JSON.
 */
#ifndef PASSTALLY_CLI_FORMATS_H
#define PASSTALLY_CLI_FORMATS_H

#include "cli/answer/answer.h"
#include "cli/report/columns.h"
#include "cli/shared/out.h"
#include "cli/shared/table.h"

#include <stdio.h>

/* The rows that --pass names: by a name as in the table, a label or an id; if nothing has
 * exactly that name, by a part of names, in any case. */

/* Keeps only the rows of the pass; everything below a matching label is kept with it. `pass`
 * NULL keeps all. Returns false after printing an error if there are none; `path` is the
 * log's. */
bool tally_rows_choose_pass(GPtrArray *rows, const char *pass, const char *path);

struct tally_table_style {
	size_t width; /* 0 = no limit */
	bool cut; /* columns that do not fit are left out; otherwise rows continue below */
	bool color;
	bool all; /* every row gets its line */
};
/* Prints the columns marked in_table of `rows` in their order (cli/shared/table.h). Without `all`,
 * rows that cost almost nothing share one line, which has their number and their sum, and of frames
 * there are the first TALLY_MOST_FRAMES. Roll-ups of labels make a tree, in which the lines of a
 * node follow it, indented. */
#define TALLY_MOST_FRAMES 10
void tally_report_print_table(FILE *out, const struct tally_aggregate *a, const GArray *columns,
			      const GPtrArray *rows, const struct tally_table_style *style);

/* The same as cells, in which every row has its line. */
void tally_report_fill_table(struct tally_table *t, const struct tally_aggregate *a,
			     const GArray *columns, const GPtrArray *rows);

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

/* Prints the answer (cli/answer/answer.h), and additional facts: devices below others, what was
 * left out, how the capture ended if the program did not end it. */
void tally_summary_print(FILE *out, const struct tally_aggregate *a,
			 const struct tally_answer *answer, int64_t device);
/* The worst hitches of each device, one a line with its cause. */
void tally_summary_print_hitches(FILE *out, const struct tally_aggregate *a,
				 const struct tally_answer *answer);
/* The run's tags and its machine, one line each, if the log has them. */
void tally_summary_print_identity(FILE *out, const struct tally_aggregate *a);
/* Prints the log's notes, including its marks, except those in `printed` (which may be NULL). */
void tally_summary_print_notes(FILE *out, const struct tally_aggregate *a, GHashTable *printed);

/* Work outside passes of which only estimates are known, and no GPU time: no row shows it. */
bool tally_table_is_nothing(const struct tally_group *g);

/* In why.c: what was counted in a pass, in words; the caller frees it. NULL: there is nothing to
 * say. And those of the first passes among `rows`. */
char *tally_why_text(const struct tally_aggregate *a, const struct tally_group *g);
void tally_why_print(FILE *out, const struct tally_aggregate *a, const GPtrArray *rows);

/* In queues.c: how long each queue worked, and which passes ran beside others; nothing where no
 * frame had passes on several queues. */
void tally_queues_print(FILE *out, const struct tally_aggregate *a,
			const struct tally_device_summary *d);

#endif

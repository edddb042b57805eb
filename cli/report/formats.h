/* cli/report/formats.h - a report as a table, as CSV and as JSON, and one run in a few
 * lines.
 *
 * All print an aggregate that was read whole. Text is fit for terminals (labels are
 * escaped), CSV follows RFC 4180 and JSON RFC 8259; absent values are "-", an empty field, a
 * missing member.
 */
#ifndef PASSTALLY_CLI_FORMATS_H
#define PASSTALLY_CLI_FORMATS_H

#include "cli/report/columns.h"
#include "cli/shared/out.h"

#include <stdio.h>

/* The columns marked in_table, in blocks no wider than `width` (0 = no limit), each block
 * starting with the first column. */
void tally_table_print(FILE *out, const struct tally_aggregate *a, const GArray *columns,
		       const GPtrArray *rows, size_t width);

/* The head line with its end; the caller frees it. */
char *tally_csv_head(const GArray *columns);
void tally_csv_print_rows(struct tally_out *o, const struct tally_aggregate *a,
			  const GArray *columns, const GPtrArray *rows);

/* One object, no newline: what `report --json` says of one log. */
void tally_json_print_report(struct tally_out *o, const struct tally_aggregate *a,
			     const GPtrArray *rows);

/* What the run was: program, frames, what was left out; frame and GPU time, coverage,
 * overhead. */
void tally_summary_print(FILE *out, const struct tally_aggregate *a, int64_t device);
/* The `most` most expensive passes with their share of GPU time. */
void tally_summary_print_most_expensive(FILE *out, const struct tally_aggregate *a, unsigned most);
/* Sources that were off, and why; what the log's notes say, less what is in `told`. */
void tally_summary_print_hints(FILE *out, const struct tally_aggregate *a, GHashTable *told);
/* What the log's notes say, its marks among them, less what is in `told` (which may be
 * NULL). */
void tally_summary_print_notes(FILE *out, const struct tally_aggregate *a, GHashTable *told);
/* "1.23 ms", "45.6 us". The caller frees it. */
char *tally_duration_text(double ns);

#endif

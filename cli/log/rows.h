/* SPDX-License-Identifier: MIT */
/* cli/log/rows.h - the rows of a log's summary, and the values of the frame that is being read;
 * private to cli/log.
 *
 * A grouping (grouping.h) makes rows and adds values to them by these functions. One thread.
 */
#ifndef PASSTALLY_CLI_LOG_ROWS_H
#define PASSTALLY_CLI_LOG_ROWS_H

#include "cli/log/aggregate_parts.h"

void tally_groups_init(struct tally_aggregate *a);
void tally_groups_finish(struct tally_aggregate *a);

/* A new row of the summary, without values. `p`, NULL for none: its id and kind are the row's. */
struct tally_group *
tally_group_create(struct tally_aggregate *a, uint32_t device, const struct tally_pass_record *p);
/* The row of a pass; where it is new, one of the summary (by pass) or one that has only a name. */
struct tally_pass_row *
tally_pass_row(struct tally_aggregate *a, uint32_t device, const struct tally_pass_record *p);
/* A text that lives as long as the summary; NULL for NULL. */
const char *tally_row_text(struct tally_aggregate *a, const char *text);
void tally_group_make_series(struct tally_group *g, uint32_t series);

static inline struct tally_series *
tally_group_series(struct tally_group *g, uint32_t series)
{
	if (G_UNLIKELY(series >= g->n_series))
		tally_group_make_series(g, series);
	return &g->series[series];
}

/* Keeps what a pipeline is called: cli/log/by_pipeline.c. */
void tally_pipeline_names_add(struct tally_aggregate *a, const struct tally_pipeline_record *p);
/* That name, which pipelines may share; the start of its id where no line describes it. */
const char *tally_pipeline_name(struct tally_aggregate *a, uint64_t id);

/* ---- values of the frame being read ---- */

/* The row occurs in the frame; `index` is where. */
void tally_group_touch(struct tally_aggregate *a, struct tally_group *g, double index);
void tally_group_add_gpu(struct tally_group *g, uint64_t gpu_ns);
void tally_group_add_call_counts(struct tally_group *g, const struct tally_call_counts *t,
				 uint32_t unknown);
void tally_group_add_keyed(struct tally_aggregate *a, struct tally_group *g,
			   const struct tally_keyed_value *values, uint32_t n, bool metrics);
/* All values of a pass. */
void tally_group_add_pass(struct tally_aggregate *a, struct tally_group *g,
			  const struct tally_pass_record *p, uint32_t index);
/* Measured work that belongs to no pass gets a separate row, so that the shares add up. */
void tally_aggregate_add_outside(struct tally_aggregate *a, const struct tally_frame_record *f);

#endif

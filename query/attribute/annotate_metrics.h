/* SPDX-License-Identifier: MIT */
/* query/attribute/annotate_metrics.h - the metrics of a frame, over the sums of its passes, and
 * of a pass.
 *
 * Collector thread only.
 */
#ifndef PASSTALLY_QUERY_ATTRIBUTE_ANNOTATE_METRICS_H
#define PASSTALLY_QUERY_ATTRIBUTE_ANNOTATE_METRICS_H

#include "query/attribute/annotate_internal.h"

/* One allocation, which free() frees; NULL on OOM. */
struct tally_metric_frame *tally_metric_frame_create(const struct tally_device_record *line);
/* Evaluates the metrics of a frame. The inputs are sums over the passes (the first `n_own[i]`
 * counters of pass i are the device's own) and over what is unattributed (the first
 * n_unattributed are the device's own). `more` has totals of the frame from other sources.
 * Returns how many values were written to `out`. */
uint32_t
tally_metric_frame_evaluate(struct tally_metric_frame *f, struct tally_metric_set *set,
			    const struct tally_frame_record *frame, const uint32_t *n_own,
			    uint32_t n_unattributed, const struct tally_keyed_value *more,
			    uint32_t n_more, struct tally_keyed_value *out);
uint32_t
tally_metric_pass_evaluate(struct tally_metric_set *set, const struct tally_pass_record *pass,
			   const struct tally_keyed_value *more, uint32_t n_more,
			   struct tally_keyed_value *out);

#endif

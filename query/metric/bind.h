/* SPDX-License-Identifier: MIT */
/* query/metric/bind.h - chooses metrics, and finds the counters that their expressions name.
 *
 * Any thread; nothing waits.
 */
#ifndef PASSTALLY_QUERY_METRIC_BIND_H
#define PASSTALLY_QUERY_METRIC_BIND_H

#include "query/metric/metric.h"

/* The metrics, built-in or in `own`, that `wanted` (--counters; NULL: overview) requests by
 * key, name, glob or word, and whose inputs are all available. Metrics may name metrics by key
 * (no circles). A note is logged for one that lacks an input and is of `own` or named by its key.
 * NULL on OOM. Strings of `own` must outlive the set. */
struct tally_metric_set *tally_metric_set_create(const struct tally_metric_inputs *inputs,
						 const struct tally_metric *own, uint32_t n_own,
						 const char *wanted);

#endif

/* SPDX-License-Identifier: MIT */
/* query/metric/set.h - the metrics that are evaluated for a device, and tables of names.
 *
 * A set belongs to one thread at a time.
 */
#ifndef PASSTALLY_QUERY_METRIC_SET_H
#define PASSTALLY_QUERY_METRIC_SET_H

#include "query/metric/internal.h"
#include "query/metric/metric.h"

bool tally_name_table_init(struct tally_name_table *t, uint32_t n, bool by_address);
void tally_name_table_finish(struct tally_name_table *t);
/* Keeps an existing entry of the key; false: there was one. */
bool tally_name_table_put(struct tally_name_table *t, const char *key, uint32_t value);
uint32_t tally_name_table_find(const struct tally_name_table *t, const char *key);
void tally_metric_set_destroy(struct tally_metric_set *set); /* accepts NULL */
uint32_t tally_metric_set_size(const struct tally_metric_set *set);
/* The entry of metric i in the device line. */
struct tally_metric_info tally_metric_set_info(const struct tally_metric_set *set, uint32_t i);
/* out: room for tally_metric_set_size(); gets the metrics that have a value, in order. A metric
 * with any estimated input is estimated. Returns how many there are. */
uint32_t tally_metric_set_evaluate(struct tally_metric_set *set,
				   const struct tally_metric_values *in,
				   struct tally_keyed_value *out);

#endif

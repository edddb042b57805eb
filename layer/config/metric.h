/* SPDX-License-Identifier: MIT */
/* layer/config/metric.h - the metrics of --metric.
 *
 * Only while options are read, on one thread.
 */
#ifndef PASSTALLY_LAYER_CONFIG_METRIC_H
#define PASSTALLY_LAYER_CONFIG_METRIC_H

#include "layer/config/base.h"

/* Begins a metric of that name, which replaces one from another file. Complains and
 * returns NULL for a bad name, for one that this file already has, and when out of memory.
 * Valid until the next call. */
struct tally_config_metric *
tally_config_metric_begin(struct tally_config *config, const char *key, const char *file,
			  uint32_t line, const struct tally_config_place *to);
/* Sets one line of the metric. False after a complaint. `column` is that of the
 * value, in characters from 1. */
bool tally_config_metric_set(struct tally_config_metric *m, const char *field, const char *value,
			     uint32_t line, uint32_t column, const struct tally_config_place *to);
/* Ends the metric's section: drops the last one begun, with a complaint at its heading,
 * if it has no expression. */
bool tally_config_metric_end(struct tally_config *config, struct tally_config_metric *m,
			     const struct tally_config_place *to);
void tally_config_metrics_finish(struct tally_config *config);

#endif

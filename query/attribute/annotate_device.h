/* SPDX-License-Identifier: MIT */
/* query/attribute/annotate_device.h - what the annotator keeps of a device: its accounts, its
 * line, its metrics.
 *
 * Collector thread only.
 */
#ifndef PASSTALLY_QUERY_ATTRIBUTE_ANNOTATE_DEVICE_H
#define PASSTALLY_QUERY_ATTRIBUTE_ANNOTATE_DEVICE_H

#include "query/attribute/annotate_internal.h"

struct tally_annotated *tally_annotated_create(uint32_t number); /* NULL on OOM */
void tally_annotated_destroy(struct tally_annotated *d); /* accepts NULL */
/* Rebuilds d->line and d->metrics, with accounts of all sources that the sampler has by now. False
 * on OOM. */
bool tally_annotated_describe(struct tally_annotated *d, const struct tally_device_record *info,
			      const struct tally_annotate_by *by);

#endif

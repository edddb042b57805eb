/* SPDX-License-Identifier: MIT */
/* query/attribute/annotate.h - adds values to each frame before it is written, in one place and
 * in this order: shares of snapshots (query/attribute/attribute.h), then metrics of everything
 * (query/metric/metric.h).
 *
 * See layer/annotator.h for threads. Front ends pass the table to the session:
 * tally_session_use_annotator().
 */
#ifndef PASSTALLY_QUERY_ANNOTATE_H
#define PASSTALLY_QUERY_ANNOTATE_H

#include "layer/annotator.h"

extern const struct tally_annotator_ops tally_annotator;

#endif

/* SPDX-License-Identifier: MIT */
/* query/mali/kinstr_parse.h - parses what the kernel answers on a counter file of Mali's newer
 * interface.
 *
 * Nothing in it is believed before it was checked. Any thread.
 */
#ifndef PASSTALLY_QUERY_MALI_KINSTR_PARSE_H
#define PASSTALLY_QUERY_MALI_KINSTR_PARSE_H

#include "query/mali/reader.h"

/* Parses the enumeration list; `why` is set to a few words on what is wrong with it. */
bool tally_kinstr_parse_offer(const uint8_t *list, size_t item_size, size_t n_items,
			      struct tally_kinstr_offer *offer, const char **why);
/* Parses the sample whose metadata begins at `offset` of the mapping, which is aligned to 8.
 * Deltas are added to `sums`, which the caller has begun; NULL: the sample is only checked. */
bool tally_kinstr_parse_sample(const struct tally_kinstr_format *format,
			       const uint8_t *map, size_t map_size, uint64_t offset,
			       struct tally_kinstr_sample *sample,
			       struct tally_mali_sums *sums, const char **why);

#endif

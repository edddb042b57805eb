/* SPDX-License-Identifier: MIT */
/* query/gl/amd_result.h - results of GL_AMD_performance_monitor: records of group, counter and
 * value without padding, so values of eight bytes are aligned to four only. What follows a record
 * of unknown size cannot be parsed and stays absent.
 */
#ifndef PASSTALLY_QUERY_GL_AMD_RESULT_H
#define PASSTALLY_QUERY_GL_AMD_RESULT_H

#include "query/gl/amd_catalogue.h"

/* Decodes one result of `len` bytes into values in the order of the set's layout, with
 * their flags. */
void tally_amd_decode(const struct tally_amd_set *set, const void *result, size_t len,
		      struct tally_sample *out);

#endif

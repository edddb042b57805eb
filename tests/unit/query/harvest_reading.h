/* SPDX-License-Identifier: MIT */
/* tests/unit/query/harvest_reading.h - room for the values of a harvest's slot, for tests of it.
 *
 * Large enough for every counter that a test invents; cleared before a slot is read. One
 * thread.
 */
#ifndef PASSTALLY_TESTS_UNIT_HARVEST_READING_H
#define PASSTALLY_TESTS_UNIT_HARVEST_READING_H

#include <string.h>

#include "query/source/harvest.h"

struct reading {
	struct tally_value values[256];
	uint64_t valid[4];
	struct tally_sample sample;
};

static inline void
clear(struct reading *r)
{
	memset(r, 0, sizeof(*r));
	r->sample = (struct tally_sample){ .values = r->values, .valid = r->valid, .n = 256 };
}

static inline bool
is_valid(const struct reading *r, uint32_t i)
{
	return r->valid[i / 64] >> i % 64 & 1;
}

#endif

/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "query/source/noop.h"
#include "tests/sources/test_sources.h"

/* TALLY_OK, with no value. */
static enum tally_status
read_nothing(struct tally_source *src, uint32_t slot, struct tally_sample *out)
{
	(void)src;
	(void)slot;
	(void)out;
	return TALLY_OK;
}

static const struct tally_source_ops null_ops = {
	.name = "null",
	.delivers_time = false,
	.open = tally_source_noop_slots,
	.grow = tally_source_noop_slots,
	.close = tally_source_noop,
	.abandon = tally_source_noop,
	.begin = tally_source_noop_slot,
	.end = tally_source_noop_slot,
	.gap = tally_source_noop,
	.resume = tally_source_noop,
	.read = read_nothing,
	.yield = tally_source_noop_yield,
	.serialized_by = tally_source_noop_serialized_by,
};

struct tally_source *
tally_null_create(void)
{
	struct tally_source *src = calloc(1, sizeof(*src));
	if (src)
		src->ops = &null_ops;
	return src;
}

struct tally_source *
tally_null_of_gl_create(struct tally_gl_api *api)
{
	(void)api;
	return tally_null_create();
}

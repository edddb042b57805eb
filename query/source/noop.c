/* SPDX-License-Identifier: MIT */
#include "query/source/noop.h"

#include <stdlib.h>

enum tally_status
tally_source_noop_slots(struct tally_source *src, uint32_t slots)
{
	(void)src;
	(void)slots;
	return TALLY_OK;
}

void
tally_source_noop(struct tally_source *src)
{
	(void)src;
}

void
tally_source_noop_slot(struct tally_source *src, uint32_t slot)
{
	(void)src;
	(void)slot;
}

void
tally_source_noop_select(struct tally_source *src, uint32_t set)
{
	(void)src;
	(void)set;
}

bool
tally_source_noop_yield(struct tally_source *src, unsigned what)
{
	(void)src;
	(void)what;
	return false;
}

const char *
tally_source_noop_serialized_by(const struct tally_source *src)
{
	(void)src;
	return NULL;
}

enum tally_status
tally_source_noop_read(struct tally_source *src, uint32_t slot, struct tally_sample *out)
{
	(void)src;
	(void)slot;
	(void)out;
	return TALLY_OK;
}

/* Every concrete source is one allocation that begins with its struct tally_source. */
void
tally_source_destroy(struct tally_source *src)
{
	free(src);
}

void
tally_snapshot_noop(struct tally_snapshot_source *src)
{
	(void)src;
}

void
tally_snapshot_free(struct tally_snapshot_source *src)
{
	free(src);
}

/* Until query/sampler.c is there: no capture takes samples. Goes away with it. */
#include "query/sampler.h"

__attribute__((weak)) bool
tally_snapshot_exact(void)
{
	return false;
}

__attribute__((weak)) uint64_t
tally_snapshot_take(void)
{
	return TALLY_NO_SNAPSHOT;
}

/* SPDX-License-Identifier: MIT */
#include "query/microblaze/mmio.h"

uint32_t
tally_mmio_read(const void *map, uint32_t offset)
{
	return *(const volatile uint32_t *)((const char *)map + offset);
}

void
tally_mmio_write(void *map, uint32_t offset, uint32_t value)
{
	*(volatile uint32_t *)((char *)map + offset) = value;
}

/* SPDX-License-Identifier: MIT */
/* query/microblaze/mmio.h - registers of a device, mapped into our memory.
 *
 * These are the only two functions that access them: reading some registers changes the
 * device's state, so each call is one access of 32 bits, never repeated, split or left out.
 * Tests link a model of the device instead. The device's bus may make a call wait; a bus error
 * is a SIGBUS. One thread at a time per device.
 */
#ifndef PASSTALLY_QUERY_MMIO_H
#define PASSTALLY_QUERY_MMIO_H

#include <stdint.h>

/* `offset` is in bytes, is a multiple of 4, and is inside the mapping. */
uint32_t tally_mmio_read(const void *map, uint32_t offset);
void tally_mmio_write(void *map, uint32_t offset, uint32_t value);

#endif

/* query/microblaze/mmio.h - registers of a device, mapped into our memory.
 *
 * The only two functions that touch them: reading some registers moves the device on, so each call
 * is one access of 32 bits, never repeated, split or left out. Tests link a model of the device in
 * their place. The device's bus may make them wait; a bus error is a SIGBUS. One thread at a time
 * a device.
 */
#ifndef PASSTALLY_QUERY_MMIO_H
#define PASSTALLY_QUERY_MMIO_H

#include <stdint.h>

/* `offset` is in bytes, a multiple of 4, and inside the mapping. */
uint32_t tally_mmio_read(const void *map, uint32_t offset);
void tally_mmio_write(void *map, uint32_t offset, uint32_t value);

#endif

/* SPDX-License-Identifier: MIT */
/* query/microblaze/counters.h - the procedures of a MicroBlaze's performance counters.
 *
 * Each is a fixed order of register accesses, and reads are never repeated: after an error in
 * between, the procedure starts over from Reset. One thread at a time; as many bus accesses as
 * there are items, and no other wait.
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_COUNTERS_H
#define PASSTALLY_QUERY_MICROBLAZE_COUNTERS_H

#include "query/microblaze/decode.h"
#include "query/microblaze/registers.h"
#include "query/source/source.h"

/* Configures what each counter counts: an event number for each of the ne + nl counters. */
void tally_mb_configure(const struct tally_mdm *mdm, const struct tally_mb_shape *shape,
			const uint8_t *events);
/* Writes any combination of TALLY_MDM_SAMPLE, STOP, START and CLEAR. */
void tally_mb_command(const struct tally_mdm *mdm, uint32_t command);
/* Presets event counter k to `value`, and those before it to 0. Call it after Clear, and then
 * start without Clear. */
void tally_mb_preset(const struct tally_mdm *mdm, const struct tally_mb_shape *shape, uint32_t k,
		     uint64_t value);
/* Reads the last sample: states, then items. */
void tally_mb_read(const struct tally_mdm *mdm, const struct tally_mb_shape *shape,
		   struct tally_mb_sample *out);

/* Whether the counters behave as that number of that width would. Stops and clears them, and
 * takes about 50 us. If not: TALLY_UNSUPPORTED, and `reason` says what is wrong. */
enum tally_status tally_mb_try(const struct tally_mdm *mdm,
			       const struct tally_mb_shape *shape, char *reason);

#endif

/* query/microblaze/counters.h - the procedures of a MicroBlaze's performance counters.
 *
 * Each is a fixed order of register accesses, of which reads are never repeated: an error in
 * between starts over from Reset. One thread at a time; as many bus accesses as there are items,
 * no other wait.
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_COUNTERS_H
#define PASSTALLY_QUERY_MICROBLAZE_COUNTERS_H

#include "query/microblaze/decode.h"
#include "query/microblaze/registers.h"

/* Say what each counter counts: an event number for all ne + nl. */
void tally_mb_configure(const struct tally_mdm *mdm, const struct tally_mb_shape *shape,
			const uint8_t *events);
/* Any of TALLY_MDM_SAMPLE, STOP, START and CLEAR. */
void tally_mb_command(const struct tally_mdm *mdm, uint32_t command);
/* Preset event counter k to `value`, those before it to 0. Clear first; start without Clear. */
void tally_mb_preset(const struct tally_mdm *mdm, const struct tally_mb_shape *shape, uint32_t k,
		     uint64_t value);
/* What the last sample holds: states, then items. */
void tally_mb_read(const struct tally_mdm *mdm, const struct tally_mb_shape *shape,
		   struct tally_mb_sample *out);

/* Do the counters behave as that many of that width would? Stops and clears them, and takes
 * about 50 us. False: `why` says what is wrong. */
bool tally_mb_try(const struct tally_mdm *mdm, const struct tally_mb_shape *shape, char *why,
		  size_t size);

#endif

/* query/microblaze/contact.h - a debug module that is found, answers, and is ours.
 *
 * First contact goes through query/microblaze/guard.h, as nobody may be there to answer. What the
 * user said wins over the device tree. Start of a capture only; waits at most 100 ms for a
 * debugger to let go.
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_CONTACT_H
#define PASSTALLY_QUERY_MICROBLAZE_CONTACT_H

#include "query/microblaze/decode.h"
#include "query/microblaze/place.h"
#include "query/microblaze/registers.h"

struct tally_mb_device {
	struct tally_mb_place place;
	struct tally_mdm mdm;
	struct tally_mb_shape shape;
	bool check;
	char note[200]; /* where it is and what it has, for people */
};

/* Unlocked and, with several cores, selected. `options` may be NULL or not on: then nothing is
 * touched, and reason says how to ask for it. On error nothing is left. */
enum tally_status
tally_mb_device_open(struct tally_mb_device *device, const struct tally_microblaze_options *options,
		     char *reason, size_t size);
/* Locks it again. */
void tally_mb_device_close(struct tally_mb_device *device);

#endif

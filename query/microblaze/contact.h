/* SPDX-License-Identifier: MIT */
/* query/microblaze/contact.h - opens a debug module: finds it, checks that it answers, and
 * locks it.
 *
 * The first access goes through query/microblaze/child_access.h, as there may be no device at
 * that address. The user's settings take precedence over the device tree. Only at the start of
 * a capture; waits at most 100 ms for a debugger to release the module.
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_CONTACT_H
#define PASSTALLY_QUERY_MICROBLAZE_CONTACT_H

#include "query/microblaze/decode.h"
#include "query/microblaze/mapping.h"
#include "query/microblaze/registers.h"

struct tally_mb_device {
	struct tally_mb_mapping mapping;
	struct tally_mdm mdm;
	struct tally_mb_shape shape;
	bool check;
	char note[200]; /* where the module is and what it has, for people to read */
};

/* The module is unlocked and, where it has several cores, one is selected. Where
 * `options` are not on, the device is not touched, and reason says how to enable it. On error
 * nothing is left open. */
enum tally_status
tally_mb_device_open(struct tally_mb_device *device,
		     const struct tally_mb_options *options, char *reason);
/* Locks the module again and closes the device. */
void tally_mb_device_close(struct tally_mb_device *device);

#endif

/* SPDX-License-Identifier: MIT */
/* query/mali/kbase_device.h - a Mali GPU that Arm's kernel driver, kbase, drives.
 *
 * It knows the handshakes of all versions of the driver, from before r21 to now, and the
 * properties that they report. It opens its own file descriptor; the game's is never touched.
 * One thread at a time; nothing waits for the GPU.
 */
#ifndef PASSTALLY_QUERY_MALI_KBASE_DEVICE_H
#define PASSTALLY_QUERY_MALI_KBASE_DEVICE_H

#include "query/mali/layout.h"

struct tally_kbase {
	int fd;
	char node[16]; /* "/dev/mali0" */
	bool old; /* before r21 */
	bool csf; /* the GPU has a command stream front end; false: a job manager */
	uint16_t major, minor; /* version of the interface */
	struct tally_mali_props props;
	const struct tally_mali_product *product; /* a product that has a layout */
};

/* Opens the first of /dev/mali0 ... that is usable and described in the catalogue. On failure
 * no device is left open and `reason` says why. */
enum tally_status tally_kbase_open(struct tally_kbase *dev, char *reason);
void tally_kbase_close(struct tally_kbase *dev); /* makes no ioctl; accepts a closed device */

/* Whether the interface has at least this version; each front end has its own numbering. */
bool tally_kbase_at_least(const struct tally_kbase *dev, unsigned jm_major, unsigned jm_minor,
			  unsigned csf_major, unsigned csf_minor);

/* Parses the packed pairs of GET_GPUPROPS; false: a pair extends past the end. */
bool tally_kbase_parse_props(const uint8_t *data, size_t size, struct tally_mali_props *props);
struct kbase_old_props;
void tally_kbase_read_old_props(const struct kbase_old_props *old,
				struct tally_mali_props *props);

/* Repeats ioctl() while a signal interrupts it (a bounded number of times); errno has the
 * error. */
int tally_mali_ioctl(int fd, unsigned long number, void *argument);

#endif

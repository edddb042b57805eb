/* query/mali/kbase_device.h - a Mali GPU behind Arm's kernel driver, kbase.
 *
 * Knows the hand-shakes of all versions of the driver, from before r21 to now, and the properties
 * that they tell. A file of our own: the game's is never touched. One thread at a time; nothing
 * waits for the GPU.
 */
#ifndef PASSTALLY_QUERY_MALI_KBASE_DEVICE_H
#define PASSTALLY_QUERY_MALI_KBASE_DEVICE_H

#include "query/mali/layout.h"

struct tally_kbase {
	int fd;
	char node[16]; /* "/dev/mali0" */
	bool old; /* before r21 */
	bool csf; /* the interface of GPUs with a command stream front end, else with job manager */
	uint16_t major, minor; /* of the interface */
	struct tally_mali_props props;
	const struct tally_mali_product *product; /* with a layout */
};

/* The first of /dev/mali0 ... that can be used and is described. On failure nothing is left open
 * and `reason` says why. */
enum tally_status tally_kbase_open(struct tally_kbase *dev, char *reason, size_t size);
void tally_kbase_close(struct tally_kbase *dev); /* no ioctl; also when not open */

/* Is the interface at least this, each front end with its own count? */
bool tally_kbase_at_least(const struct tally_kbase *dev, unsigned jm_major, unsigned jm_minor,
			  unsigned csf_major, unsigned csf_minor);

/* GET_GPUPROPS' packed pairs; false: a pair runs past the end. */
bool tally_kbase_parse_props(const uint8_t *data, size_t size, struct tally_mali_props *props);
struct kbase_old_props;
void tally_kbase_read_old_props(const struct kbase_old_props *old, struct tally_mali_props *props);

/* ioctl() again while a signal interrupts it (a bounded number of times); errno tells. */
int tally_mali_ioctl(int fd, unsigned long number, void *argument);
/* Likewise, with a number for an argument. */
int tally_mali_ioctl_value(int fd, unsigned long number, unsigned long value);

#endif

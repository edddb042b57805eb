/* SPDX-License-Identifier: MIT */
/* query/microblaze/mapping.h - where a MicroBlaze's debug module is, and the mapping of its
 * registers.
 *
 * The module is reached by a UIO device (/dev/uioN, map 0) or by /dev/mem at a physical
 * address; settings that the user did not give are looked up in the device tree and in sysfs.
 * One program at a time: the device is locked (flock) while it is open. Only at the start of a
 * capture: it reads files, and allocates nothing lasting.
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_MAPPING_H
#define PASSTALLY_QUERY_MICROBLAZE_MAPPING_H

#include "query/microblaze/options.h"
#include "query/source/source.h"

/* The contents of the device tree; a number that it does not have is 0. */
struct tally_mb_device_tree {
	bool has_mdm;
	uint64_t base, bytes;
	char node[64];
	uint32_t ports, interface;
	bool has_interface, has_access; /* access: C_DBG_REG_ACCESS, where the tree has it */
	bool access;
	bool has_ne, has_nl;
	uint32_t ne, nl, width;
};

/* Finds the UIO device of a debug module: a path of at most `size` bytes. False: there is
 * none. */
bool tally_mb_find_uio(const struct tally_mb_device_tree *tree, char *path, size_t size);

struct tally_mb_mapping {
	int fd; /* -1: none */
	bool uio;
	void *map, *registers; /* start of the mapping, and of the module in it */
	size_t map_bytes;
};
/* Opens and maps at least `bytes` of the module. On error nothing is left open, and reason says
 * why. */
enum tally_status tally_mb_mapping_open(struct tally_mb_mapping *mapping,
					const struct tally_mb_options *options,
					const struct tally_mb_device_tree *tree,
					uint32_t bytes, char *reason);
void tally_mb_mapping_close(struct tally_mb_mapping *mapping); /* accepts one that is not open */

#endif

/* SPDX-License-Identifier: MIT */
/* query/microblaze/device_tree.h - what the device tree says about a MicroBlaze and its debug
 * module.
 *
 * Any thread; small files are read.
 */
#ifndef PASSTALLY_QUERY_MICROBLAZE_DEVICE_TREE_H
#define PASSTALLY_QUERY_MICROBLAZE_DEVICE_TREE_H

#include "query/microblaze/mapping.h"

/* Searches "/sys/firmware/devicetree/base", then "/proc/device-tree"; everything is zero where
 * there is none. */
void tally_mb_device_tree_find(struct tally_mb_device_tree *out);
/* The same in that folder, for tests. */
void tally_mb_device_tree_find_in(const char *root, struct tally_mb_device_tree *out);

#endif

/* SPDX-License-Identifier: MIT */
/* layer/base/keep_loaded.h - keeps libraries from being unloaded.
 *
 * For front ends that keep pointers into a driver, or whose driver has threads that keep
 * running. Any thread; takes the dynamic loader's lock. Never loads anything.
 */
#ifndef PASSTALLY_LAYER_BASE_KEEP_LOADED_H
#define PASSTALLY_LAYER_BASE_KEEP_LOADED_H

/* Keeps the library that contains `address` loaded permanently. Does nothing if there is none,
 * or if it is the program. */
void tally_keep_loaded(const void *address);

#endif

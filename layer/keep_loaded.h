/* layer/keep_loaded.h - libraries that must not be unloaded any more.
 *
 * For front ends that keep pointers into a driver, or whose driver has threads that run on. Any
 * thread; takes the dynamic loader's lock. Never loads anything.
 */
#ifndef PASSTALLY_LAYER_KEEP_LOADED_H
#define PASSTALLY_LAYER_KEEP_LOADED_H

/* The library that holds `address` stays for good. Nothing where that is none, or the program. */
void tally_keep_loaded(const void *address);

#endif

/* vk_layer/devices.h - the devices there are: found by handle, visited, added and removed.
 *
 * The ground that the other files stand on: nothing here calls down the chain but the look-ups of
 * vk_devices_load_next(). Any thread; a lock is held for additions and removals only, and across no
 * call. What every file needs of this (vk_device_find(), vk_devices_each(), vk_device_stop()) is
 * declared in state.h.
 */
#ifndef PASSTALLY_VK_LAYER_DEVICES_H
#define PASSTALLY_VK_LAYER_DEVICES_H

#include "vk_layer/state.h"

/* Fills `next` from the device's instance and its own look-up. */
void vk_devices_load_next(struct vk_device *d, PFN_vkGetDeviceProcAddr get);

/* From then on vk_device_find() finds it. False: out of memory. */
bool vk_devices_add(struct vk_device *d);
/* In place of a device that there is no memory for: one of four that calls are only passed on to.
 * False: they are all in use. */
bool vk_devices_reserve(const struct vk_device *made, PFN_vkGetDeviceProcAddr get);
/* It is found no more. True: the memory is the caller's; false: it was one of the four. */
bool vk_devices_remove(struct vk_device *d);
/* Takes one that belongs to the instance out of the table; NULL: there is none left. */
struct vk_device *vk_devices_take_of(const struct vk_instance *instance);

#endif

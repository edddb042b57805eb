/* SPDX-License-Identifier: MIT */
/* vk_layer/devices.h - the table of devices: finding by handle, visiting, adding and removing.
 *
 * The other files build on it: nothing here calls the next layer except the look-ups
 * of vk_devices_load_next(). Any thread; a lock is held for additions and removals only, and
 * never across a call. The functions that every file needs (vk_device_find(),
 * vk_devices_each(), vk_device_stop()) are declared in state.h.
 */
#ifndef PASSTALLY_VK_LAYER_DEVICES_H
#define PASSTALLY_VK_LAYER_DEVICES_H

#include "vk_layer/state.h"

/* Fills `next` from the device's instance and from the device's own look-up function. */
void vk_devices_load_next(struct vk_device *d, PFN_vkGetDeviceProcAddr get);

/* After this vk_device_find() finds the device. False: out of memory. */
bool vk_devices_add(struct vk_device *d);
/* Replaces a device for which there is no memory: one of four reserved entries whose calls are
 * only forwarded. False: all four are in use. */
bool vk_devices_reserve(const struct vk_device *made, PFN_vkGetDeviceProcAddr get);
/* The device is no longer found. True: the caller owns the memory; false: it was
 * one of the four. */
bool vk_devices_remove(struct vk_device *d);
/* A device that belongs to the instance; NULL: none does. */
struct vk_device *vk_devices_of(const struct vk_instance *instance);

#endif

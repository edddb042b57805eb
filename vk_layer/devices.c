/* SPDX-License-Identifier: MIT */
#include "vk_layer/devices.h"

#include <string.h>

#include "layer/capture/capture.h"
#include "layer/frame/black_box.h"
#include "layer/log.h"
#include "vk_layer/chain.h"
#include "vk_layer/record/handles.h"

static struct vk_handles devices;
/* Guards additions and removals against vk_devices_each(). No call goes down the chain
 * while it is held. */
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;

/* For devices that are only forwarded because memory ran out. */
static struct {
	_Atomic uint64_t key; /* 0: free */
	struct vk_device device;
} reserve[4];
#define N_RESERVE (sizeof(reserve) / sizeof(reserve[0]))

struct vk_device *
vk_device_find(const void *handle)
{
	uint64_t key = vk_dispatch_key(handle);
	struct vk_device *d = vk_handles_find(&devices, key);
	for (size_t i = 0; !d && i < N_RESERVE; i++)
		if (atomic_load_explicit(&reserve[i].key, memory_order_acquire) == key)
			d = &reserve[i].device;
	return d;
}

void
vk_device_stop(struct vk_device *d, const char *why)
{
	if (atomic_exchange(&d->stopped, true))
		return;
	tally_capture_ask_keep("a device that stopped");
	/* A program that ends now leaves no time for the note. */
	tally_black_box_stopped(why);
	tally_log_say(TALLY_LEVEL_WARNING, "vulkan", "%s: nothing more is measured: %s",
		      d->properties.deviceName, why);
}

void
vk_devices_each(void (*visit)(void *device, void *data), void *data)
{
	if (pthread_mutex_trylock(&devices_lock) != 0)
		return; /* this very thread may hold it, if a signal made it call exit() */
	vk_handles_each(&devices, visit, data);
	pthread_mutex_unlock(&devices_lock);
}

struct search {
	const struct vk_instance *instance;
	struct vk_device *found;
};

static void
look_for_instance(void *value, void *data)
{
	struct vk_device *d = value;
	struct search *search = data;
	if (d->instance == search->instance)
		search->found = d;
}

struct vk_device *
vk_devices_of(const struct vk_instance *instance)
{
	struct search search = { .instance = instance };
	pthread_mutex_lock(&devices_lock);
	vk_handles_each(&devices, look_for_instance, &search);
	pthread_mutex_unlock(&devices_lock);
	return search.found;
}

/* ---- adding and removing ---- */

void
vk_devices_load_next(struct vk_device *d, PFN_vkGetDeviceProcAddr get)
{
	const struct vk_instance *instance = d->instance;
	vk_device_next_load(&d->next, d->handle, get, instance->handle,
			    instance->next.GetInstanceProcAddr);
}

bool
vk_devices_add(struct vk_device *d)
{
	pthread_mutex_lock(&devices_lock);
	bool done = vk_handles_put(&devices, vk_dispatch_key(d->handle), d);
	pthread_mutex_unlock(&devices_lock);
	return done;
}

bool
vk_devices_reserve(const struct vk_device *made, PFN_vkGetDeviceProcAddr get)
{
	for (size_t i = 0; i < N_RESERVE; i++) {
		uint64_t none = 0;
		/* Reserved with a key that no handle has, until the entry is filled. */
		if (!atomic_compare_exchange_strong(&reserve[i].key, &none, UINT64_MAX))
			continue;
		struct vk_device *d = &reserve[i].device;
		memset(d, 0, sizeof(*d));
		d->instance = made->instance;
		d->handle = made->handle;
		d->physical = made->physical;
		d->enabled = made->enabled;
		vk_devices_load_next(d, get);
		atomic_store_explicit(&reserve[i].key, vk_dispatch_key(d->handle),
				      memory_order_release);
		return true;
	}
	return false;
}

bool
vk_devices_remove(struct vk_device *d)
{
	for (size_t i = 0; i < N_RESERVE; i++) {
		if (d == &reserve[i].device) {
			atomic_store(&reserve[i].key, 0);
			return false;
		}
	}
	pthread_mutex_lock(&devices_lock);
	vk_handles_remove(&devices, vk_dispatch_key(d->handle));
	pthread_mutex_unlock(&devices_lock);
	return true;
}

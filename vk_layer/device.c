/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/slots_sources.h"
#include "vk_layer/submit/batch_intervals.h"
#include "vk_layer/chain.h"
#include "vk_layer/record/command.h"
#include "vk_layer/device_features.h"
#include "vk_layer/picture/picture.h"
#include "vk_layer/devices.h"
#include "vk_layer/exact/exact.h"
#include "vk_layer/submit/describe.h"
#include "vk_layer/submit/submission.h"
#include "vk_layer/record/targets.h"

#include "layer/frame/identity.h"
#include "layer/log.h"
#include "layer/session/session.h"
#include "query/quirks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_MEASURED "out of memory: a Vulkan device is not measured"

/* ---- properties of a device ---- */

static void
read_families(struct vk_device *d)
{
	VkQueueFamilyProperties rows[VK_MAX_FAMILIES] = { 0 };
	uint32_t n = 0;
	/* The count is queried first because validation layers require it. */
	d->instance->next.GetPhysicalDeviceQueueFamilyProperties(d->physical, &n, NULL);
	n = n < VK_MAX_FAMILIES ? n : VK_MAX_FAMILIES;
	d->instance->next.GetPhysicalDeviceQueueFamilyProperties(d->physical, &n, rows);
	n = n < VK_MAX_FAMILIES ? n : VK_MAX_FAMILIES; /* whatever the driver returns now */
	d->n_families = n;
	for (uint32_t i = 0; i < n; i++) {
		d->families[i].flags = rows[i].queueFlags;
		d->families[i].timestamp_bits = rows[i].timestampValidBits;
	}
}

static PFN_vkGetPhysicalDeviceMemoryProperties2
reads_memory(const struct vk_instance *instance, uint32_t version)
{
	return version >= VK_API_VERSION_1_1
		       ? instance->next.GetPhysicalDeviceMemoryProperties2
		       : instance->next.GetPhysicalDeviceMemoryProperties2KHR;
}

static void
read_driver(struct vk_device *d, const struct vk_extensions *extensions)
{
	const struct vk_instance *instance = d->instance;
	PFN_vkGetPhysicalDeviceProperties2 ask = vk_reads_properties2(instance, &d->properties);
	uint32_t version = instance->api_version < d->properties.apiVersion
				   ? instance->api_version
				   : d->properties.apiVersion;
	VkPhysicalDeviceDriverProperties driver = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
	};
	VkPhysicalDeviceIDProperties id = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
	};
	VkPhysicalDevicePCIBusInfoPropertiesEXT bus = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT,
	};
	VkPhysicalDeviceProperties2 all = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
	};
	if (!ask)
		return;
	if (version >= VK_API_VERSION_1_2 ||
	    vk_extensions_have(extensions, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME))
		all.pNext = &driver;
	if (version >= VK_API_VERSION_1_1) {
		id.pNext = all.pNext;
		all.pNext = &id;
	}
	bool has_bus = vk_extensions_have(extensions, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME);
	if (has_bus) {
		bus.pNext = all.pNext;
		all.pNext = &bus;
	}
	if (vk_extensions_have(extensions, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME))
		d->read_memory = reads_memory(instance, version);
	ask(d->physical, &all);
	tally_uuid_print(id.deviceUUID, d->uuid);
	if (has_bus)
		snprintf(d->pci, sizeof(d->pci), "%04x:%02x:%02x.%x", bus.pciDomain & 0xffff,
			 bus.pciBus & 0xff, bus.pciDevice & 0xff, bus.pciFunction & 0xf);
	d->driver_id = driver.driverID;
	memcpy(d->driver_name, driver.driverName, sizeof(d->driver_name));
	memcpy(d->driver_info, driver.driverInfo, sizeof(d->driver_info));
	d->driver_name[sizeof(d->driver_name) - 1] = '\0';
	d->driver_info[sizeof(d->driver_info) - 1] = '\0';
}

/* ---- creation ---- */

/* Tries with the layer's features, then without performance queries, then exactly as the game
 * requested. */
static VkResult
create_below(struct vk_device *made, const struct vk_extensions *extensions,
	     const VkDeviceCreateInfo *info, PFN_vkCreateDevice create,
	     const VkAllocationCallbacks *allocator)
{
	VkLayerDeviceCreateInfo *link = vk_device_node(info, VK_LAYER_LINK_INFO);
	VkLayerDeviceLink *next = link->u.pLayerInfo->pNext;
	VkDevice passed = made->handle;
	bool performance = true;
	struct vk_patched patched;
	while (made->tracked && vk_features_patch(made->instance, made->physical, extensions,
						  info, performance, &patched)) {
		patched.link->u.pLayerInfo = next; /* layers below have advanced it */
		made->handle = passed;
		VkResult result = create(made->physical, &patched.info, allocator,
					 &made->handle);
		made->enabled = patched.enabled;
		free(patched.memory);
		if (result == VK_SUCCESS || !patched.adds)
			return result;
		if (!patched.enabled.performance)
			break;
		performance = false;
	}
	bool offered = made->enabled.performance_offered;
	vk_features_of_game(info, &made->enabled);
	made->enabled.performance_offered = offered;
	link->u.pLayerInfo = next;
	made->handle = passed;
	return create(made->physical, info, allocator, &made->handle);
}

/* Creates everything that measuring needs. After a failure
 * (false) nothing remains allocated. */
static bool
start_measuring(struct vk_device *d)
{
	d->config = tally_session_config();
	d->beneath = -1;
	read_families(d);
	if (pthread_mutex_init(&d->lock, NULL) != 0)
		return false;
	if (!vk_targets_create(d))
		goto destroy_lock;
	if (!vk_slots_create(d))
		goto destroy_targets;
	if (vk_batch_intervals_create(d)) {
		vk_exact_create(d);
		return true;
	}
	vk_slots_destroy(d);
destroy_targets:
	vk_targets_destroy(d);
destroy_lock:
	pthread_mutex_destroy(&d->lock);
	return false;
}

static void
stop_measuring(struct vk_device *d)
{
	vk_device_finish(d);
	vk_commands_forget(d);
	pthread_mutex_lock(&d->lock);
	vk_pictures_unlock(d, true);
	vk_exact_destroy(d);
	vk_batch_intervals_destroy(d);
	vk_slots_destroy(d);
	vk_targets_destroy(d);
	pthread_mutex_destroy(&d->lock);
}

/* Adds the device to the table and measures it if possible. False: its calls
 * cannot even be forwarded. */
static bool
keep(const struct vk_device *made, PFN_vkGetDeviceProcAddr get)
{
	struct vk_device *d = malloc(sizeof(*d));
	if (d) {
		*d = *made;
		vk_devices_load_next(d, get);
		d->tracked = d->tracked && start_measuring(d);
		if (d->tracked && d->config->describe)
			vk_describe_early(d);
		if (vk_devices_add(d)) {
			if (made->tracked && !d->tracked)
				tally_log_say(TALLY_LEVEL_ERROR, "vulkan", NOT_MEASURED);
			return true;
		}
		if (d->tracked)
			stop_measuring(d);
		free(d);
	}
	if (made->tracked)
		tally_log_say(TALLY_LEVEL_ERROR, "vulkan", NOT_MEASURED);
	return vk_devices_reserve(made, get);
}

VKAPI_ATTR VkResult VKAPI_CALL
vk_device_create(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
		 const VkAllocationCallbacks *allocator, VkDevice *out)
{
	struct vk_instance *instance = vk_instance_find(physical);
	const VkLayerDeviceCreateInfo *link = vk_device_node(info, VK_LAYER_LINK_INFO);
	if (!instance || !link || !link->u.pLayerInfo)
		return VK_ERROR_INITIALIZATION_FAILED;
	PFN_vkGetDeviceProcAddr get = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
	PFN_vkGetInstanceProcAddr get_of_instance =
		link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
	PFN_vkCreateDevice create =
		(PFN_vkCreateDevice)get_of_instance(instance->handle, "vkCreateDevice");
	if (!create)
		return VK_ERROR_INITIALIZATION_FAILED;
	const VkLayerDeviceCreateInfo *data = vk_device_node(info, VK_LOADER_DATA_CALLBACK);

	struct vk_device made = {
		.instance = instance,
		.is_zink = instance->is_zink,
		.is_dxvk = instance->is_dxvk,
		.physical = physical,
		.handle = *out, /* the loader passes a value to its own terminator there */
		.tracked = instance->tracked,
		.set_loader_data = data ? data->u.pfnSetDeviceLoaderData : NULL,
	};
	struct vk_extensions extensions = { NULL, 0 };
	if (made.tracked) {
		instance->next.GetPhysicalDeviceProperties(physical, &made.properties);
		extensions = vk_extensions_read(instance, physical);
	}
	VkResult result = create_below(&made, &extensions, info, create, allocator);
	if (made.tracked && result == VK_SUCCESS) {
		read_driver(&made, &extensions);
		made.times_of_tiles = tally_vk_quirk(TALLY_QUIRK_TIMES_OF_TILES,
						     made.driver_id,
						     made.properties.vendorID);
		made.enabled.creation_feedback =
			vk_features_feedback(instance, &made.properties);
	}
	free(extensions.rows);
	if (result != VK_SUCCESS)
		return result;
	if (keep(&made, get)) {
		*out = made.handle;
		return VK_SUCCESS;
	}
	PFN_vkDestroyDevice destroy =
		(PFN_vkDestroyDevice)get(made.handle, "vkDestroyDevice");
	if (destroy)
		destroy(made.handle, allocator);
	return VK_ERROR_OUT_OF_HOST_MEMORY;
}

VKAPI_ATTR void VKAPI_CALL
vk_device_destroy(VkDevice handle, const VkAllocationCallbacks *allocator)
{
	struct vk_device *d = handle ? vk_device_find(handle) : NULL;
	if (!d)
		return;
	PFN_vkDestroyDevice destroy = d->next.use.DestroyDevice;
	/* Removed from the table first: the loader may reuse the pointer at once. */
	if (!vk_devices_remove(d)) {
		destroy(handle, allocator);
		return;
	}
	if (d->tracked)
		stop_measuring(d);
	destroy(handle, allocator);
	free(d);
}

/* SPDX-License-Identifier: MIT */
#include "vk_layer/chain.h"
#include "vk_layer/devices.h"
#include "vk_layer/record/handles.h"
#include "vk_layer/settings.h"
#include "vk_layer/submit/submission.h"

#include "layer/base/keep_loaded.h"
#include "layer/base/small_file.h"
#include "layer/capture/capture.h"
#include "layer/log.h"
#include "layer/session/session.h"
#include "query/sources.h"

#include <stdlib.h>
#include <string.h>

#define PROPERTIES2 VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME

static struct vk_handles instances;

/* For instances that are only forwarded because memory ran out. */
static struct {
	_Atomic uint64_t key; /* 0: free */
	struct vk_instance instance;
} reserve[4];
#define N_RESERVE (sizeof(reserve) / sizeof(reserve[0]))

struct vk_instance *
vk_instance_find(const void *handle)
{
	uint64_t key = vk_dispatch_key(handle);
	struct vk_instance *instance = vk_handles_find(&instances, key);
	for (size_t i = 0; !instance && i < N_RESERVE; i++)
		if (atomic_load_explicit(&reserve[i].key, memory_order_acquire) == key)
			instance = &reserve[i].instance;
	return instance;
}

/* ---- creation ---- */

static uint32_t
version_asked_for(const VkInstanceCreateInfo *info)
{
	uint32_t version = info->pApplicationInfo ? info->pApplicationInfo->apiVersion : 0;
	return version ? version : VK_API_VERSION_1_0; /* 0 means 1.0 */
}

/* Both front ends would measure the same frame, each at its full cost, and the passes of OpenGL
 * are the ones that the program knows. The Vulkan passes are measured only where the
 * configuration names a Vulkan source. */
static bool
is_left_to_shim(const struct vk_instance *instance, const struct tally_config *config)
{
	if (!instance->is_zink || !tally_capture_has_shim())
		return false;
	for (uint32_t i = 0; i < tally_n_vk_sources && config->sources; i++)
		if (tally_source_wanted(config->sources, &tally_vk_sources[i].row))
			return false;
	tally_log_say(
		TALLY_LEVEL_INFO, "vulkan",
		"OpenGL runs on Vulkan here (zink): its passes are measured in OpenGL "
		"alone; "
		"name vk-timestamp in --sources to measure those of Vulkan as well");
	return true;
}

struct attempt {
	PFN_vkCreateInstance create;
	VkLayerInstanceCreateInfo *link;
	VkLayerInstanceLink *next; /* what the link node has to point to for the layers below */
	const VkAllocationCallbacks *allocator;
};

static VkResult
try_create(const struct attempt *a, const VkInstanceCreateInfo *info, VkInstance *out)
{
	/* Layers below share the node and have already advanced it when we try again. */
	a->link->u.pLayerInfo = a->next;
	return a->create(info, a->allocator, out);
}

/* Adds the extension that allows features to be queried in detail; the
 * game's version is unchanged. */
static VkResult
try_extended(const struct attempt *a, const VkInstanceCreateInfo *info, VkInstance *out)
{
	uint32_t n = info->enabledExtensionCount;
	const char **names = malloc((n + 1) * sizeof(*names));
	if (!names)
		return VK_ERROR_OUT_OF_HOST_MEMORY;
	if (n)
		memcpy(names, info->ppEnabledExtensionNames, n * sizeof(*names));
	names[n] = PROPERTIES2;
	VkInstanceCreateInfo more = *info;
	more.enabledExtensionCount = n + 1;
	more.ppEnabledExtensionNames = names;
	VkResult result = try_create(a, &more, out);
	free(names);
	return result;
}

static bool
put_aside(VkInstance handle, PFN_vkGetInstanceProcAddr get)
{
	for (size_t i = 0; i < N_RESERVE; i++) {
		uint64_t none = 0;
		/* Reserved with a key that no handle has, until the entry is filled. */
		if (!atomic_compare_exchange_strong(&reserve[i].key, &none, UINT64_MAX))
			continue;
		memset(&reserve[i].instance, 0, sizeof(reserve[i].instance));
		reserve[i].instance.handle = handle;
		reserve[i].instance.api_version = VK_API_VERSION_1_0;
		vk_instance_next_load(&reserve[i].instance.next, handle, get);
		atomic_store_explicit(&reserve[i].key, vk_dispatch_key(handle),
				      memory_order_release);
		return true;
	}
	return false;
}

static bool
keep(const struct vk_instance *made, PFN_vkGetInstanceProcAddr get)
{
	struct vk_instance *instance = malloc(sizeof(*instance));
	if (instance) {
		*instance = *made;
		vk_instance_next_load(&instance->next, instance->handle, get);
		if (vk_handles_put(&instances, vk_dispatch_key(instance->handle), instance))
			return true;
		free(instance);
	}
	if (made->tracked)
		tally_log_say(TALLY_LEVEL_ERROR, "vulkan",
			      "out of memory: a Vulkan instance is not measured");
	return put_aside(made->handle, get);
}

VKAPI_ATTR VkResult VKAPI_CALL
vk_instance_create(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator,
		   VkInstance *out)
{
	VkLayerInstanceCreateInfo *link =
		vk_loader_node(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO,
			       VK_LAYER_LINK_INFO);
	if (!link || !link->u.pLayerInfo)
		return VK_ERROR_INITIALIZATION_FAILED;
	PFN_vkGetInstanceProcAddr get = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
	struct attempt attempt = {
		/* Nothing else may be queried without an instance: layers crash (R7). */
		.create = (PFN_vkCreateInstance)get(NULL, "vkCreateInstance"),
		.link = link,
		.next = link->u.pLayerInfo->pNext,
		.allocator = allocator,
	};
	if (!attempt.create)
		return VK_ERROR_INITIALIZATION_FAILED;
	const VkApplicationInfo *app = info->pApplicationInfo;
	const char *engine = app && app->pEngineName ? app->pEngineName : "";
	char own[VK_SETTINGS_SIZE];
	const struct tally_config *config =
		tally_session_config_of(vk_settings_read(info->pNext, own, sizeof(own)));
	struct vk_instance made = {
		.api_version = version_asked_for(info),
		.has_properties2 = vk_lists(info->enabledExtensionCount,
					    info->ppEnabledExtensionNames, PROPERTIES2),
		.is_zink = strcmp(engine, "mesa zink") == 0,
		.is_dxvk = strcmp(engine, "DXVK") == 0,
	};
	made.tracked = config && !is_left_to_shim(&made, config);
	if (made.tracked)
		tally_small_file_make_room();
	VkResult result = VK_ERROR_INITIALIZATION_FAILED;
	if (made.tracked && made.api_version < VK_API_VERSION_1_1 && !made.has_properties2) {
		result = try_extended(&attempt, info, out);
		made.has_properties2 = result == VK_SUCCESS;
	}
	if (result != VK_SUCCESS)
		result = try_create(&attempt, info, out);
	if (result != VK_SUCCESS)
		return result;
	made.handle = *out;
	if (keep(&made, get))
		return VK_SUCCESS;
	PFN_vkDestroyInstance destroy =
		(PFN_vkDestroyInstance)get(*out, "vkDestroyInstance");
	if (destroy)
		destroy(*out, allocator);
	*out = VK_NULL_HANDLE;
	return VK_ERROR_OUT_OF_HOST_MEMORY;
}

/* Of devices that the game has left undestroyed: results are read as far as they are ready, and
 * from then on their calls are only forwarded. */
static void
abandon_devices(struct vk_instance *instance)
{
	struct vk_device *d;
	while ((d = vk_devices_of(instance))) {
		/* The loader unloads a driver with its last instance. A driver whose device was
		 * never destroyed has threads that keep running, and these would crash while
		 * our exit handler writes the end of the log. Without the layer the process
		 * ends too quickly for that. */
		tally_keep_loaded((const void *)(uintptr_t)d->next.QueueSubmit);
		if (d->tracked)
			vk_device_finish(d);
		/* Stays in the table: the game may use it on, or a thread may be inside one of
		 * the hooks. */
		atomic_store(&d->stopped, true);
		d->instance = NULL;
	}
}

VKAPI_ATTR void VKAPI_CALL
vk_instance_destroy(VkInstance handle, const VkAllocationCallbacks *allocator)
{
	if (!handle)
		return;
	struct vk_instance *instance = vk_instance_find(handle);
	if (!instance)
		return;
	abandon_devices(instance);
	/* Removed from the table first: the loader may reuse the pointer at once. */
	PFN_vkDestroyInstance destroy = instance->next.DestroyInstance;
	bool reserved = false;
	for (size_t i = 0; i < N_RESERVE; i++) {
		if (instance == &reserve[i].instance) {
			reserved = true;
			atomic_store(&reserve[i].key, 0);
		}
	}
	if (!reserved)
		vk_handles_remove(&instances, vk_dispatch_key(handle));
	destroy(handle, allocator);
	if (!reserved)
		free(instance);
}

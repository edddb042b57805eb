/* SPDX-License-Identifier: MIT */
/* The instance: what is offered, and the device that is made with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake_vk_perf/perf.h"

struct perf_config perf_config;

static PFN_vkGetInstanceProcAddr next_gipa;
static PFN_vkGetDeviceProcAddr next_gdpa;
static VkInstance the_instance;

#define FORWARDED(_) \
	_(vkGetPhysicalDeviceFeatures2) \
	_(vkGetPhysicalDeviceProperties2) \
	_(vkEnumerateDeviceExtensionProperties) \
	_(vkCreateDevice)
#define MEMBER(name) PFN_##name name;
static struct {
	FORWARDED(MEMBER)
} next;

static void
read_config(void)
{
	const char *text = getenv("FAKE_VK_PERF");
	char **words = g_strsplit(text ? text : "", ",", -1);
	perf_config = (struct perf_config){ .room = 100, .lock = VK_SUCCESS };
	for (char **word = words; *word; word++) {
		const char *value = strchr(*word, '=') ? strchr(*word, '=') + 1 : "0";
		unsigned number = (unsigned)strtoul(value, NULL, 10);
		if (g_str_has_prefix(*word, "room="))
			perf_config.room = number;
		else if (g_str_has_prefix(*word, "late="))
			perf_config.late = number;
		else if (g_str_has_prefix(*word, "lost="))
			perf_config.lost = number;
		else if (g_str_has_prefix(*word, "shuffle="))
			perf_config.shuffle = number;
		else if (g_str_has_prefix(*word, "error_every="))
			perf_config.error_every = number;
		else if (g_str_has_prefix(*word, "lock="))
			perf_config.lock = (VkResult)strtol(value, NULL, 10);
		else if (g_str_has_prefix(*word, "share="))
			g_strlcpy(perf_config.share, value, sizeof(perf_config.share));
		else if (strcmp(*word, "single") == 0)
			perf_config.single = true;
		else if (strcmp(*word, "never") == 0)
			perf_config.never = true;
		else if (strcmp(*word, "refuse") == 0)
			perf_config.refuse = true;
		else if (strcmp(*word, "no_feature") == 0)
			perf_config.no_feature = true;
		else if (**word)
			fprintf(stderr, "FAKE_VK_PERF: unknown word %s\n", *word);
	}
	g_strfreev(words);
}

/* ---- what is offered ---- */

static VKAPI_ATTR void VKAPI_CALL
get_features2(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2 *features)
{
	next.vkGetPhysicalDeviceFeatures2(physical, features);
	for (VkBaseOutStructure *s = features->pNext; s; s = s->pNext) {
		if (s->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_QUERY_FEATURES_KHR)
			continue;
		VkPhysicalDevicePerformanceQueryFeaturesKHR *f = (void *)s;
		f->performanceCounterQueryPools = !perf_config.no_feature;
		f->performanceCounterMultipleQueryPools = !perf_config.no_feature &&
							  !perf_config.single;
	}
}

static VKAPI_ATTR void VKAPI_CALL
get_properties2(VkPhysicalDevice physical, VkPhysicalDeviceProperties2 *properties)
{
	next.vkGetPhysicalDeviceProperties2(physical, properties);
	for (VkBaseOutStructure *s = properties->pNext; s; s = s->pNext)
		if (s->sType ==
		    VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_QUERY_PROPERTIES_KHR)
			((VkPhysicalDevicePerformanceQueryPropertiesKHR *)(void *)s)
				->allowCommandBufferQueryCopies = VK_FALSE;
}

static VKAPI_ATTR VkResult VKAPI_CALL
device_extensions(VkPhysicalDevice physical, const char *layer, uint32_t *n,
		  VkExtensionProperties *out)
{
	if (layer)
		return next.vkEnumerateDeviceExtensionProperties(physical, layer, n, out);
	uint32_t room = *n, below = room ? room - 1 : 0;
	VkResult result = next.vkEnumerateDeviceExtensionProperties(physical, NULL,
								    out ? &below : n, out);
	if (result < 0)
		return result;
	if (!out) {
		++*n;
		return result;
	}
	*n = below;
	if (!room || result == VK_INCOMPLETE)
		return VK_INCOMPLETE;
	out[below] = (VkExtensionProperties){ .specVersion = 1 };
	strcpy(out[below].extensionName, VK_KHR_PERFORMANCE_QUERY_EXTENSION_NAME);
	*n = below + 1;
	return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
list_counters(VkPhysicalDevice physical, uint32_t family, uint32_t *n,
	      VkPerformanceCounterKHR *counters, VkPerformanceCounterDescriptionKHR *texts)
{
	(void)physical;
	(void)family;
	if (!counters && !texts) {
		*n = perf_n_counters;
		return VK_SUCCESS;
	}
	uint32_t room = *n < perf_n_counters ? *n : perf_n_counters;
	for (uint32_t i = 0; i < room; i++) {
		const struct perf_counter *from = &perf_counters[i];
		if (counters) {
			counters[i].unit = from->unit;
			counters[i].scope = from->scope;
			counters[i].storage = from->storage;
			memset(counters[i].uuid, 0, VK_UUID_SIZE);
			counters[i].uuid[0] = (uint8_t)(i + 1);
		}
		if (!texts)
			continue;
		texts[i].flags = from->flags;
		perf_name(from, texts[i].name, sizeof(texts[i].name));
		g_snprintf(texts[i].category, sizeof(texts[i].category), "group %u", i / 4);
		g_snprintf(texts[i].description, sizeof(texts[i].description),
			   "What is recorded: %s", texts[i].name);
	}
	*n = room;
	return room < perf_n_counters ? VK_INCOMPLETE : VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL
count_runs(VkPhysicalDevice physical, const VkQueryPoolPerformanceCreateInfoKHR *info,
	   uint32_t *runs)
{
	(void)physical;
	*runs = (info->counterIndexCount + perf_config.room - 1) / perf_config.room;
}

/* ---- making a device: what only this layer knows is not passed on ---- */

/* The feature structure, taken out of the chain; `*link` is where it was. */
static VkBaseOutStructure *
take_out(VkDeviceCreateInfo *info, VkBaseOutStructure **before)
{
	VkBaseOutStructure *s = (VkBaseOutStructure *)info->pNext;
	for (*before = NULL; s; *before = s, s = s->pNext) {
		if (s->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_QUERY_FEATURES_KHR)
			continue;
		if (*before)
			(*before)->pNext = s->pNext;
		else
			info->pNext = s->pNext;
		return s;
	}
	return NULL;
}

static VKAPI_ATTR VkResult VKAPI_CALL
create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *given,
	      const VkAllocationCallbacks *allocator, VkDevice *out)
{
	VkDeviceCreateInfo info = *given;
	VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)info.pNext;
	while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO &&
			 link->function == VK_LAYER_LINK_INFO))
		link = (VkLayerDeviceCreateInfo *)link->pNext;
	if (!link)
		return VK_ERROR_INITIALIZATION_FAILED;
	GPtrArray *names = g_ptr_array_new();
	for (uint32_t i = 0; i < info.enabledExtensionCount; i++)
		if (strcmp(info.ppEnabledExtensionNames[i],
			   VK_KHR_PERFORMANCE_QUERY_EXTENSION_NAME) != 0)
			g_ptr_array_add(names, (gpointer)info.ppEnabledExtensionNames[i]);
	bool listed = names->len < info.enabledExtensionCount;
	info.enabledExtensionCount = names->len;
	info.ppEnabledExtensionNames = (const char *const *)names->pdata;
	VkBaseOutStructure *before, *taken = take_out(&info, &before);
	const VkPhysicalDevicePerformanceQueryFeaturesKHR *feature = (const void *)taken;
	bool wants = feature && feature->performanceCounterQueryPools;
	bool refused = wants && (perf_config.no_feature || perf_config.refuse);
	refused |= feature && feature->performanceCounterMultipleQueryPools &&
		   perf_config.single;
	VkResult result = VK_ERROR_FEATURE_NOT_PRESENT;
	if (!refused) {
		next_gdpa = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
		link->u.pLayerInfo = link->u.pLayerInfo->pNext;
		result = next.vkCreateDevice(physical, &info, allocator, out);
	}
	if (taken && before)
		before->pNext = taken;
	g_ptr_array_free(names, TRUE);
	if (result == VK_SUCCESS)
		perf_device_created(*out, next_gdpa, listed && wants);
	return result;
}

static PFN_vkVoidFunction
load(const char *name)
{
	char khr[64];
	PFN_vkVoidFunction function = next_gipa(the_instance, name);
	if (function || snprintf(khr, sizeof(khr), "%sKHR", name) >= (int)sizeof(khr))
		return function;
	return next_gipa(the_instance, khr);
}

static VKAPI_ATTR VkResult VKAPI_CALL
create_instance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator,
		VkInstance *out)
{
	VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)info->pNext;
	while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO &&
			 link->function == VK_LAYER_LINK_INFO))
		link = (VkLayerInstanceCreateInfo *)link->pNext;
	if (!link)
		return VK_ERROR_INITIALIZATION_FAILED;
	read_config();
	next_gipa = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
	link->u.pLayerInfo = link->u.pLayerInfo->pNext;
	PFN_vkCreateInstance create = (PFN_vkCreateInstance)next_gipa(NULL, "vkCreateInstance");
	VkResult result = create(info, allocator, out);
	if (result != VK_SUCCESS)
		return result;
	the_instance = *out;
#define LOAD(name) next.name = (PFN_##name)load(#name);
	FORWARDED(LOAD)
	return VK_SUCCESS;
}

/* ---- names ---- */

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
get_device_proc(VkDevice device, const char *name)
{
	if (strcmp(name, "vkGetDeviceProcAddr") == 0)
		return (PFN_vkVoidFunction)get_device_proc;
	PFN_vkVoidFunction mine = perf_device_function(name), below = next_gdpa(device, name);
	/* The driver below does not know the extension's own functions. */
	return mine && (below || strstr(name, "ProfilingLock")) ? mine : below;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc(VkInstance instance,
								  const char *name);

#define OURS(name, function) \
	{ \
		name, (PFN_vkVoidFunction)(function) \
	}
static const struct {
	const char *name;
	PFN_vkVoidFunction function;
} ours[] = {
	OURS("vkGetInstanceProcAddr", get_instance_proc),
	OURS("vkGetDeviceProcAddr", get_device_proc),
	OURS("vkCreateInstance", create_instance),
	OURS("vkCreateDevice", create_device),
	OURS("vkEnumerateDeviceExtensionProperties", device_extensions),
	OURS("vkGetPhysicalDeviceFeatures2", get_features2),
	OURS("vkGetPhysicalDeviceFeatures2KHR", get_features2),
	OURS("vkGetPhysicalDeviceProperties2", get_properties2),
	OURS("vkGetPhysicalDeviceProperties2KHR", get_properties2),
	OURS("vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR", list_counters),
	OURS("vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR", count_runs),
};

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
get_instance_proc(VkInstance instance, const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(ours); i++)
		if (strcmp(name, ours[i].name) == 0)
			return ours[i].function;
	bool made = instance && instance == the_instance;
	return made ? next_gipa(instance, name) : NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
get_physical_proc(VkInstance instance, const char *name)
{
	(void)instance;
	return strstr(name, "PerformanceQuery") ? get_instance_proc(the_instance, name) : NULL;
}

__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *version)
{
	if (version->loaderLayerInterfaceVersion > 2)
		version->loaderLayerInterfaceVersion = 2;
	version->pfnGetInstanceProcAddr = get_instance_proc;
	version->pfnGetDeviceProcAddr = get_device_proc;
	version->pfnGetPhysicalDeviceProcAddr = get_physical_proc;
	return VK_SUCCESS;
}

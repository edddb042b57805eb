/* SPDX-License-Identifier: MIT */
/* tests/fake_vk_hide/hide.c - a Vulkan layer that makes the driver below it look less capable.
 *
 * FAKE_VK_HIDE is a list of words separated by commas:
 *   hostQueryReset, pipelineStatisticsQuery, inheritedQueries, calibrated   not offered
 *   api10          the device is Vulkan 1.0, without extensions: none of the later commands
 *   transferOnly   the queue families can only transfer
 *   noStamps       timestampValidBits is 0
 * Asking for something hidden fails as it does on a driver that lacks it. For test programs: one
 * instance and one device at a time.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

static PFN_vkGetInstanceProcAddr next_gipa;
static PFN_vkGetDeviceProcAddr next_gdpa;
static VkInstance the_instance;

static bool
hides(const char *word)
{
	const char *text = getenv("FAKE_VK_HIDE");
	size_t n = strlen(word);
	for (const char *at = text ? strstr(text, word) : NULL; at; at = strstr(at + 1, word)) {
		if ((at == text || at[-1] == ',') && (at[n] == '\0' || at[n] == ','))
			return true;
	}
	return false;
}

/* Looked up once, when the instance is made: later the loader's answers lead back to the
 * top. */
#define FORWARDED(_) \
	_(vkGetPhysicalDeviceFeatures) \
	_(vkGetPhysicalDeviceFeatures2) \
	_(vkGetPhysicalDeviceProperties) \
	_(vkGetPhysicalDeviceProperties2) \
	_(vkGetPhysicalDeviceQueueFamilyProperties) \
	_(vkGetPhysicalDeviceQueueFamilyProperties2) \
	_(vkEnumerateDeviceExtensionProperties) \
	_(vkCreateDevice)
#define MEMBER(name) PFN_##name name;
static struct {
	FORWARDED(MEMBER)
} next;

/* By the spelling that the instance has. */
static PFN_vkVoidFunction
load(const char *name)
{
	char khr[64];
	PFN_vkVoidFunction function = next_gipa(the_instance, name);
	if (function || snprintf(khr, sizeof(khr), "%sKHR", name) >= (int)sizeof(khr))
		return function;
	return next_gipa(the_instance, khr);
}

/* ---- what the device reports about itself ---- */

static void
hide_features(VkPhysicalDeviceFeatures *f)
{
	if (hides("pipelineStatisticsQuery"))
		f->pipelineStatisticsQuery = VK_FALSE;
	if (hides("inheritedQueries"))
		f->inheritedQueries = VK_FALSE;
}

/* The member of a structure of the chain that says hostQueryReset, or NULL. */
static VkBool32 *
host_reset_of(VkBaseOutStructure *s)
{
	if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)
		return &((VkPhysicalDeviceVulkan12Features *)(void *)s)->hostQueryReset;
	if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES)
		return &((VkPhysicalDeviceHostQueryResetFeatures *)(void *)s)->hostQueryReset;
	return NULL;
}

static VKAPI_ATTR void VKAPI_CALL
get_features(VkPhysicalDevice physical, VkPhysicalDeviceFeatures *features)
{
	next.vkGetPhysicalDeviceFeatures(physical, features);
	hide_features(features);
}

static VKAPI_ATTR void VKAPI_CALL
get_features2(VkPhysicalDevice physical, VkPhysicalDeviceFeatures2 *features)
{
	next.vkGetPhysicalDeviceFeatures2(physical, features);
	hide_features(&features->features);
	for (VkBaseOutStructure *s = features->pNext; s; s = s->pNext) {
		VkBool32 *reset = host_reset_of(s);
		if (reset && (hides("hostQueryReset") || hides("api10")))
			*reset = VK_FALSE;
	}
}

static void
hide_properties(VkPhysicalDeviceProperties *p)
{
	if (hides("api10"))
		p->apiVersion = VK_MAKE_API_VERSION(0, 1, 0, 68);
	if (hides("noStamps") || hides("transferOnly"))
		p->limits.timestampComputeAndGraphics = VK_FALSE;
}

static VKAPI_ATTR void VKAPI_CALL
get_properties(VkPhysicalDevice physical, VkPhysicalDeviceProperties *properties)
{
	next.vkGetPhysicalDeviceProperties(physical, properties);
	hide_properties(properties);
}

static VKAPI_ATTR void VKAPI_CALL
get_properties2(VkPhysicalDevice physical, VkPhysicalDeviceProperties2 *properties)
{
	next.vkGetPhysicalDeviceProperties2(physical, properties);
	hide_properties(&properties->properties);
}

static void
hide_family(VkQueueFamilyProperties *p)
{
	if (hides("transferOnly"))
		p->queueFlags = VK_QUEUE_TRANSFER_BIT;
	if (hides("noStamps"))
		p->timestampValidBits = 0;
}

static VKAPI_ATTR void VKAPI_CALL
get_families(VkPhysicalDevice physical, uint32_t *n, VkQueueFamilyProperties *out)
{
	next.vkGetPhysicalDeviceQueueFamilyProperties(physical, n, out);
	for (uint32_t i = 0; out && i < *n; i++)
		hide_family(&out[i]);
}

static VKAPI_ATTR void VKAPI_CALL
get_families2(VkPhysicalDevice physical, uint32_t *n, VkQueueFamilyProperties2 *out)
{
	next.vkGetPhysicalDeviceQueueFamilyProperties2(physical, n, out);
	for (uint32_t i = 0; out && i < *n; i++)
		hide_family(&out[i].queueFamilyProperties);
}

static bool
hidden_extension(const char *name)
{
	return hides("api10") ||
	       (hides("hostQueryReset") && strcmp(name, "VK_EXT_host_query_reset") == 0) ||
	       (hides("calibrated") && (strcmp(name, "VK_EXT_calibrated_timestamps") == 0 ||
					strcmp(name, "VK_KHR_calibrated_timestamps") == 0));
}

static VKAPI_ATTR VkResult VKAPI_CALL
device_extensions(VkPhysicalDevice physical, const char *layer, uint32_t *n,
		  VkExtensionProperties *out)
{
	static VkExtensionProperties all[512];
	uint32_t n_all = sizeof(all) / sizeof(all[0]), kept = 0;
	if (layer)
		return next.vkEnumerateDeviceExtensionProperties(physical, layer, n, out);
	VkResult result = next.vkEnumerateDeviceExtensionProperties(physical, NULL, &n_all, all);
	if (result != VK_SUCCESS)
		return result;
	for (uint32_t i = 0; i < n_all; i++) {
		if (hidden_extension(all[i].extensionName))
			continue;
		if (out && kept == *n)
			return VK_INCOMPLETE;
		if (out)
			out[kept] = all[i];
		kept++;
	}
	*n = kept;
	return VK_SUCCESS;
}

/* ---- making a device: what is hidden is refused ---- */

static bool
asks_for_hidden_features(const VkDeviceCreateInfo *info)
{
	const VkPhysicalDeviceFeatures *f = info->pEnabledFeatures;
	bool reset = false;
	for (VkBaseOutStructure *s = (VkBaseOutStructure *)info->pNext; s; s = s->pNext) {
		if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2)
			f = &((VkPhysicalDeviceFeatures2 *)(void *)s)->features;
		if (host_reset_of(s))
			reset = reset || *host_reset_of(s);
	}
	return (f && f->pipelineStatisticsQuery && hides("pipelineStatisticsQuery")) ||
	       (f && f->inheritedQueries && hides("inheritedQueries")) ||
	       (reset && (hides("hostQueryReset") || hides("api10")));
}

static VKAPI_ATTR VkResult VKAPI_CALL
create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
	      const VkAllocationCallbacks *allocator, VkDevice *out)
{
	VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)info->pNext;
	while (link && !(link->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO &&
			 link->function == VK_LAYER_LINK_INFO))
		link = (VkLayerDeviceCreateInfo *)link->pNext;
	if (!link)
		return VK_ERROR_INITIALIZATION_FAILED;
	for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
		if (hidden_extension(info->ppEnabledExtensionNames[i]))
			return VK_ERROR_EXTENSION_NOT_PRESENT;
	}
	if (asks_for_hidden_features(info))
		return VK_ERROR_FEATURE_NOT_PRESENT;
	next_gdpa = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
	link->u.pLayerInfo = link->u.pLayerInfo->pNext;
	return next.vkCreateDevice(physical, info, allocator, out);
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

/* Functions newer than 1.0, which a layer could be tempted to use. */
static const char *const later[] = {
	"vkResetQueryPool",       "vkGetSemaphoreCounterValue",
	"vkWaitSemaphores",       "vkSignalSemaphore",
	"vkQueueSubmit2",         "vkCmdWriteTimestamp2",
	"vkGetDeviceQueue2",      "vkCmdPipelineBarrier2",
	"vkCreateRenderPass2",    "vkCmdBeginRenderPass2",
	"vkCmdBeginRendering",    "vkCmdEndRendering",
	"vkCmdDrawIndirectCount", "vkGetCalibratedTimestampsEXT",
	"vkResetQueryPoolEXT",    "vkCmdCopyImage2",
	"vkTrimCommandPool",      "vkCmdDispatchBase",
};

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
get_device_proc(VkDevice device, const char *name)
{
	if (strcmp(name, "vkGetDeviceProcAddr") == 0)
		return (PFN_vkVoidFunction)get_device_proc;
	for (size_t i = 0; hides("api10") && i < sizeof(later) / sizeof(later[0]); i++) {
		if (strcmp(name, later[i]) == 0)
			return NULL;
	}
	return next_gdpa(device, name);
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
	OURS("vkGetPhysicalDeviceFeatures", get_features),
	OURS("vkGetPhysicalDeviceFeatures2", get_features2),
	OURS("vkGetPhysicalDeviceFeatures2KHR", get_features2),
	OURS("vkGetPhysicalDeviceProperties", get_properties),
	OURS("vkGetPhysicalDeviceProperties2", get_properties2),
	OURS("vkGetPhysicalDeviceProperties2KHR", get_properties2),
	OURS("vkGetPhysicalDeviceQueueFamilyProperties", get_families),
	OURS("vkGetPhysicalDeviceQueueFamilyProperties2", get_families2),
	OURS("vkGetPhysicalDeviceQueueFamilyProperties2KHR", get_families2),
};

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
get_instance_proc(VkInstance instance, const char *name)
{
	/* The loader asks for vkCreateInstance with an instance that does not exist yet. */
	bool made = instance && instance == the_instance;
	PFN_vkVoidFunction below = made ? next_gipa(instance, name) : NULL;
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		if (strcmp(name, ours[i].name) == 0)
			return below || !made ? ours[i].function : NULL;
	}
	return below;
}

__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *version)
{
	if (version->loaderLayerInterfaceVersion > 2)
		version->loaderLayerInterfaceVersion = 2;
	version->pfnGetInstanceProcAddr = get_instance_proc;
	version->pfnGetDeviceProcAddr = get_device_proc;
	version->pfnGetPhysicalDeviceProcAddr = NULL;
	return VK_SUCCESS;
}

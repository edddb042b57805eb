/* SPDX-License-Identifier: MIT */
#include "tests/fake_vk/fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct physical {
	VK_LOADER_DATA loader;
	uint32_t number;
};

char fake_instance_extensions[4096];
uint32_t fake_instance_version;
static struct physical gpus[FAKE_MAX_GPUS];

static const char *const instance_extensions[] = {
	"VK_KHR_surface",     "VK_EXT_headless_surface",
	"VK_EXT_debug_utils", "VK_KHR_get_physical_device_properties2",
	"VK_KHR_device_group_creation",
};
enum { N_INSTANCE_EXTENSIONS = sizeof(instance_extensions) / sizeof(instance_extensions[0]) };

/* The two-call idiom. */
static VkResult
give(uint32_t *n, uint32_t have, void *out, const void *in, size_t size)
{
	if (!out) {
		*n = have;
		return VK_SUCCESS;
	}
	VkResult result = *n < have ? VK_INCOMPLETE : VK_SUCCESS;
	if (*n > have)
		*n = have;
	memcpy(out, in, *n * size);
	return result;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkEnumerateInstanceVersion(uint32_t *pApiVersion)
{
	fake_config_read();
	*pApiVersion = VK_MAKE_API_VERSION(0, 1, fake_config.version % 10, 239);
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkEnumerateInstanceExtensionProperties(const char *pLayerName, uint32_t *pPropertyCount,
					    VkExtensionProperties *pProperties)
{
	(void)pLayerName;
	fake_config_read();
	VkExtensionProperties rows[N_INSTANCE_EXTENSIONS] = { 0 };
	uint32_t n = 0;
	for (uint32_t i = 0; i < N_INSTANCE_EXTENSIONS; i++) {
		if (fake_has_word(fake_config.no, instance_extensions[i]))
			continue;
		snprintf(rows[n].extensionName, sizeof(rows[n].extensionName), "%s",
			 instance_extensions[i]);
		rows[n++].specVersion = 1;
	}
	return give(pPropertyCount, n, pProperties, rows, sizeof(rows[0]));
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkCreateInstance(const VkInstanceCreateInfo *pCreateInfo,
		      const VkAllocationCallbacks *pAllocator, VkInstance *pInstance)
{
	(void)pAllocator;
	fake_config_read();
	uint32_t asked = pCreateInfo->pApplicationInfo
				 ? pCreateInfo->pApplicationInfo->apiVersion
				 : VK_API_VERSION_1_0;
	if (fake_config.version == 10 && asked > VK_MAKE_API_VERSION(0, 1, 0, UINT16_MAX))
		return VK_ERROR_INCOMPATIBLE_DRIVER;
	fake_instance_version = 10 + (asked ? VK_API_VERSION_MINOR(asked) : 0);
	fake_instance_extensions[0] = '\0';
	fake_line_begin("vkCreateInstance");
	for (uint32_t i = 0; i < pCreateInfo->enabledExtensionCount; i++) {
		const char *name = pCreateInfo->ppEnabledExtensionNames[i];
		size_t n = strlen(fake_instance_extensions);
		snprintf(fake_instance_extensions + n,
			 sizeof(fake_instance_extensions) - n, "+%s", name);
		fake_put_word(name);
	}
	fake_line_end();
	struct physical *instance = calloc(1, sizeof(*instance));
	if (!instance)
		return VK_ERROR_OUT_OF_HOST_MEMORY;
	set_loader_magic_value(instance);
	for (uint32_t i = 0; i < FAKE_MAX_GPUS; i++) {
		set_loader_magic_value(&gpus[i]);
		gpus[i].number = i;
	}
	*pInstance = (VkInstance)instance;
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL
fake_vkDestroyInstance(VkInstance instance, const VkAllocationCallbacks *pAllocator)
{
	(void)pAllocator;
	fake_line_begin("vkDestroyInstance");
	fake_line_end();
	fake_flush();
	free(instance);
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkEnumeratePhysicalDevices(VkInstance instance, uint32_t *pPhysicalDeviceCount,
				VkPhysicalDevice *pPhysicalDevices)
{
	(void)instance;
	VkPhysicalDevice handles[FAKE_MAX_GPUS];
	for (uint32_t i = 0; i < FAKE_MAX_GPUS; i++)
		handles[i] = (VkPhysicalDevice)&gpus[i];
	return give(pPhysicalDeviceCount, fake_config.n_gpus, pPhysicalDevices, handles,
		    sizeof(handles[0]));
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkEnumeratePhysicalDeviceGroups(VkInstance instance, uint32_t *pCount,
				     VkPhysicalDeviceGroupProperties *pGroups)
{
	(void)instance;
	uint32_t have = fake_config.group ? 1 : fake_config.n_gpus;
	if (!pGroups) {
		*pCount = have;
		return VK_SUCCESS;
	}
	if (*pCount > have)
		*pCount = have;
	for (uint32_t i = 0; i < *pCount; i++) {
		VkPhysicalDeviceGroupProperties *p = &pGroups[i];
		p->physicalDeviceCount = fake_config.group ? fake_config.n_gpus : 1;
		for (uint32_t k = 0; k < p->physicalDeviceCount; k++)
			p->physicalDevices[k] = (VkPhysicalDevice)&gpus[i + k];
		p->subsetAllocation = VK_FALSE;
	}
	return VK_SUCCESS;
}

/* All features of a structure, except those that FAKE_VK removes. */
static void
fill_features(uint32_t number, void *out)
{
	const struct fake_struct *s = &fake_structs[number];
	for (size_t i = 0; i < s->n_members; i++) {
		const struct fake_member *m = &s->members[i];
		if (m->kind != FAKE_INT)
			continue;
		VkBool32 on = !fake_has_word(fake_config.no, m->name) &&
			      strcmp(m->name, "robustBufferAccess2") != 0;
		memcpy((char *)out + m->offset, &on, sizeof(on));
	}
}

VKAPI_ATTR void VKAPI_CALL
fake_vkGetPhysicalDeviceFeatures(VkPhysicalDevice physicalDevice,
				 VkPhysicalDeviceFeatures *pFeatures)
{
	(void)physicalDevice;
	fill_features(FAKE_S_VkPhysicalDeviceFeatures, pFeatures);
}

VKAPI_ATTR void VKAPI_CALL
fake_vkGetPhysicalDeviceFeatures2(VkPhysicalDevice physicalDevice,
				  VkPhysicalDeviceFeatures2 *pFeatures)
{
	fake_vkGetPhysicalDeviceFeatures(physicalDevice, &pFeatures->features);
	for (VkBaseOutStructure *s = pFeatures->pNext; s; s = s->pNext)
		for (uint32_t i = 0; i < fake_n_structs; i++)
			if (fake_structs[i].features && fake_structs[i].stype &&
			    fake_structs[i].stype == s->sType &&
			    fake_home_is_there(fake_structs[i].homes, NULL))
				fill_features(i, s);
}

VKAPI_ATTR void VKAPI_CALL
fake_vkGetPhysicalDeviceProperties(VkPhysicalDevice physicalDevice,
				   VkPhysicalDeviceProperties *pProperties)
{
	memset(pProperties, 0, sizeof(*pProperties));
	pProperties->apiVersion = VK_MAKE_API_VERSION(0, 1, fake_config.version % 10, 239);
	pProperties->driverVersion = fake_config.driver_version;
	pProperties->vendorID = fake_config.vendor;
	pProperties->deviceID = 1 + ((struct physical *)physicalDevice)->number;
	pProperties->deviceType = VK_PHYSICAL_DEVICE_TYPE_OTHER;
	snprintf(pProperties->deviceName, sizeof(pProperties->deviceName), "fake_vk");
	VkPhysicalDeviceLimits *l = &pProperties->limits;
	l->timestampPeriod = fake_config.period;
	l->timestampComputeAndGraphics = VK_TRUE;
	l->maxImageDimension1D = l->maxImageDimension2D = l->maxImageDimension3D = 16384;
	l->maxImageDimensionCube = 16384;
	l->maxImageArrayLayers = 2048;
	l->maxFramebufferWidth = l->maxFramebufferHeight = 16384;
	l->maxFramebufferLayers = 2048;
	l->maxColorAttachments = 8;
	l->maxBoundDescriptorSets = 8;
	l->maxPushConstantsSize = 256;
	l->maxMemoryAllocationCount = 4096;
	l->maxSamplerAllocationCount = 4096;
	l->framebufferColorSampleCounts = l->framebufferDepthSampleCounts = 0x7f;
	l->maxViewports = 16;
	l->nonCoherentAtomSize = l->minMemoryMapAlignment = 64;
	l->maxUniformBufferRange = l->maxStorageBufferRange = 1u << 30;
	l->minUniformBufferOffsetAlignment = l->minStorageBufferOffsetAlignment = 16;
}

VKAPI_ATTR void VKAPI_CALL
fake_vkGetPhysicalDeviceProperties2(VkPhysicalDevice physicalDevice,
				    VkPhysicalDeviceProperties2 *pProperties)
{
	fake_vkGetPhysicalDeviceProperties(physicalDevice, &pProperties->properties);
	for (VkBaseOutStructure *s = pProperties->pNext; s; s = s->pNext) {
		if (s->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES)
			continue;
		VkPhysicalDeviceDriverProperties *p = (void *)s;
		p->driverID = VK_DRIVER_ID_GGP_PROPRIETARY;
		snprintf(p->driverName, sizeof(p->driverName), "fake_vk");
		snprintf(p->driverInfo, sizeof(p->driverInfo), "for tests");
	}
}

VKAPI_ATTR void VKAPI_CALL
fake_vkGetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice physicalDevice,
					      uint32_t *pQueueFamilyPropertyCount,
					      VkQueueFamilyProperties *pQueueFamilyProperties)
{
	(void)physicalDevice;
	VkQueueFamilyProperties rows[FAKE_MAX_FAMILIES] = { 0 };
	for (uint32_t i = 0; i < fake_config.n_families; i++) {
		rows[i].queueFlags = fake_config.families[i].flags;
		rows[i].queueCount = fake_config.families[i].n_queues;
		rows[i].timestampValidBits = fake_config.families[i].timestamp_bits;
		rows[i].minImageTransferGranularity = (VkExtent3D){ 1, 1, 1 };
	}
	give(pQueueFamilyPropertyCount, fake_config.n_families, pQueueFamilyProperties, rows,
	     sizeof(rows[0]));
}

VKAPI_ATTR void VKAPI_CALL
fake_vkGetPhysicalDeviceQueueFamilyProperties2(VkPhysicalDevice physicalDevice,
					       uint32_t *pQueueFamilyPropertyCount,
					       VkQueueFamilyProperties2 *pQueueFamilyProperties)
{
	VkQueueFamilyProperties rows[FAKE_MAX_FAMILIES];
	uint32_t n = FAKE_MAX_FAMILIES;
	fake_vkGetPhysicalDeviceQueueFamilyProperties(physicalDevice, &n, rows);
	if (!pQueueFamilyProperties) {
		*pQueueFamilyPropertyCount = n;
		return;
	}
	if (*pQueueFamilyPropertyCount > n)
		*pQueueFamilyPropertyCount = n;
	for (uint32_t i = 0; i < *pQueueFamilyPropertyCount; i++)
		pQueueFamilyProperties[i].queueFamilyProperties = rows[i];
}

VKAPI_ATTR void VKAPI_CALL
fake_vkGetPhysicalDeviceMemoryProperties(VkPhysicalDevice physicalDevice,
					 VkPhysicalDeviceMemoryProperties *pMemoryProperties)
{
	(void)physicalDevice;
	memset(pMemoryProperties, 0, sizeof(*pMemoryProperties));
	pMemoryProperties->memoryTypeCount = 1;
	pMemoryProperties->memoryTypes[0].propertyFlags =
		VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
		VK_MEMORY_PROPERTY_HOST_COHERENT_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
	pMemoryProperties->memoryHeapCount = 1;
	pMemoryProperties->memoryHeaps[0].size = UINT64_C(1) << 32;
	pMemoryProperties->memoryHeaps[0].flags = VK_MEMORY_HEAP_DEVICE_LOCAL_BIT;
}

VKAPI_ATTR void VKAPI_CALL
fake_vkGetPhysicalDeviceMemoryProperties2(VkPhysicalDevice physicalDevice,
					  VkPhysicalDeviceMemoryProperties2 *pMemoryProperties)
{
	fake_vkGetPhysicalDeviceMemoryProperties(physicalDevice,
						 &pMemoryProperties->memoryProperties);
	for (VkBaseOutStructure *s = pMemoryProperties->pNext; s; s = s->pNext) {
		if (s->sType !=
		    VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT)
			continue;
		VkPhysicalDeviceMemoryBudgetPropertiesEXT *p = (void *)s;
		p->heapUsage[0] = FAKE_HEAP_USAGE;
		p->heapBudget[0] = FAKE_HEAP_BUDGET;
	}
}

VKAPI_ATTR void VKAPI_CALL
fake_vkGetPhysicalDeviceFormatProperties(VkPhysicalDevice physicalDevice, VkFormat format,
					 VkFormatProperties *pFormatProperties)
{
	(void)physicalDevice;
	(void)format;
	memset(pFormatProperties, 0xff, sizeof(*pFormatProperties));
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkGetPhysicalDeviceImageFormatProperties(VkPhysicalDevice physicalDevice, VkFormat format,
					      VkImageType type, VkImageTiling tiling,
					      VkImageUsageFlags usage, VkImageCreateFlags flags,
					      VkImageFormatProperties *pImageFormatProperties)
{
	(void)physicalDevice;
	(void)format;
	(void)type;
	(void)tiling;
	(void)usage;
	(void)flags;
	*pImageFormatProperties = (VkImageFormatProperties){
		{ 16384, 16384, 2048 }, 15, 2048, 0x7f, UINT64_C(1) << 31,
	};
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkEnumerateDeviceExtensionProperties(VkPhysicalDevice physicalDevice,
					  const char *pLayerName,
					  uint32_t *pPropertyCount,
					  VkExtensionProperties *pProperties)
{
	(void)physicalDevice;
	(void)pLayerName;
	VkExtensionProperties rows[64] = { 0 };
	uint32_t n = 0;
	for (uint32_t i = 0; i < fake_n_extensions && n < 64; i++) {
		if (!fake_offers_extension(fake_extensions[i]))
			continue;
		snprintf(rows[n].extensionName, sizeof(rows[n].extensionName), "%s",
			 fake_extensions[i]);
		rows[n++].specVersion = 1;
	}
	return give(pPropertyCount, n, pProperties, rows, sizeof(rows[0]));
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(VkPhysicalDevice physicalDevice,
						    uint32_t *pTimeDomainCount,
						    VkTimeDomainEXT *pTimeDomains)
{
	(void)physicalDevice;
	static const VkTimeDomainEXT domains[] = { VK_TIME_DOMAIN_DEVICE_EXT,
						   VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT };
	return give(pTimeDomainCount, 2, pTimeDomains, domains, sizeof(domains[0]));
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkGetPhysicalDeviceSurfaceSupportKHR(VkPhysicalDevice physicalDevice,
					  uint32_t queueFamilyIndex, VkSurfaceKHR surface,
					  VkBool32 *pSupported)
{
	(void)physicalDevice;
	(void)surface;
	*pSupported = fake_config.families[queueFamilyIndex].flags != 0;
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkGetPhysicalDeviceSurfaceCapabilitiesKHR(VkPhysicalDevice physicalDevice,
					       VkSurfaceKHR surface,
					       VkSurfaceCapabilitiesKHR *pSurfaceCapabilities)
{
	(void)physicalDevice;
	(void)surface;
	*pSurfaceCapabilities = (VkSurfaceCapabilitiesKHR){
		.minImageCount = 2,
		.maxImageCount = 4,
		.currentExtent = { UINT32_MAX, UINT32_MAX },
		.minImageExtent = { 1, 1 },
		.maxImageExtent = { 16384, 16384 },
		.maxImageArrayLayers = 1,
		.supportedTransforms = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
		.currentTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
		.supportedCompositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
		.supportedUsageFlags = 0xff,
	};
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkGetPhysicalDeviceSurfaceFormatsKHR(VkPhysicalDevice physicalDevice, VkSurfaceKHR surface,
					  uint32_t *pSurfaceFormatCount,
					  VkSurfaceFormatKHR *pSurfaceFormats)
{
	(void)physicalDevice;
	(void)surface;
	static const VkSurfaceFormatKHR format = { VK_FORMAT_B8G8R8A8_UNORM,
						   VK_COLOR_SPACE_SRGB_NONLINEAR_KHR };
	return give(pSurfaceFormatCount, 1, pSurfaceFormats, &format, sizeof(format));
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkGetPhysicalDeviceSurfacePresentModesKHR(VkPhysicalDevice physicalDevice,
					       VkSurfaceKHR surface, uint32_t *pPresentModeCount,
					       VkPresentModeKHR *pPresentModes)
{
	(void)physicalDevice;
	(void)surface;
	static const VkPresentModeKHR mode = VK_PRESENT_MODE_FIFO_KHR;
	return give(pPresentModeCount, 1, pPresentModes, &mode, sizeof(mode));
}

/* ---- names ---- */

static void
nothing(void)
{
}

static const struct fake_command *
find(const char *name)
{
	uint32_t low = 0, high = fake_n_commands;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		int order = strcmp(name, fake_commands[middle].name);
		if (order == 0)
			return &fake_commands[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* Extensions of the instance bring device commands too (debug labels). */
static bool
instance_has(const char *extensions)
{
	char copy[1024];
	snprintf(copy, sizeof(copy), "%s", extensions);
	char *rest = copy;
	for (char *word; (word = strsep(&rest, "+"));)
		if (*word && fake_has_word(fake_instance_extensions, word))
			return true;
	return false;
}

static PFN_vkVoidFunction
function_of(const struct fake_command *c)
{
	return fake_config.bench && c->records ? nothing : c->function;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
fake_vkGetDeviceProcAddr(VkDevice device, const char *pName)
{
	struct fake_device *d = (struct fake_device *)device;
	const struct fake_command *c = find(pName);
	if (!c || c->level != 2)
		return NULL;
	bool there = (c->version && c->version <= d->version) ||
		     (*c->extensions && fake_home_is_there(c->extensions, d)) ||
		     instance_has(c->extensions);
	return there ? function_of(c) : NULL;
}

/* The loader makes surfaces, a newer one with the functions of the driver: they leave no trace. */
static VKAPI_ATTR VkResult VKAPI_CALL
create_surface(VkInstance instance, const VkHeadlessSurfaceCreateInfoEXT *pCreateInfo,
	       const VkAllocationCallbacks *pAllocator, VkSurfaceKHR *pSurface)
{
	(void)instance;
	(void)pCreateInfo;
	(void)pAllocator;
	*pSurface = (VkSurfaceKHR)(uintptr_t)gpus;
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL
destroy_surface(VkInstance instance, VkSurfaceKHR surface, const VkAllocationCallbacks *pAllocator)
{
	(void)instance;
	(void)surface;
	(void)pAllocator;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
fake_vkGetInstanceProcAddr(VkInstance instance, const char *pName)
{
	(void)instance;
	if (strcmp(pName, "vkCreateHeadlessSurfaceEXT") == 0)
		return (PFN_vkVoidFunction)create_surface;
	if (strcmp(pName, "vkDestroySurfaceKHR") == 0)
		return (PFN_vkVoidFunction)destroy_surface;
	fake_config_read();
	const struct fake_command *c = find(pName);
	if (!c || strstr(pName, "DebugUtilsMessenger") || strstr(pName, "DebugReport"))
		return NULL;
	bool there = (c->version && c->version <= fake_config.version) ||
		     (*c->extensions &&
		      (fake_home_is_there(c->extensions, NULL) || c->level < 2 ||
		       instance_has(c->extensions)));
	return there ? function_of(c) : NULL;
}

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
									  const char *pName);
EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *pName);
EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *pVersion);

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetInstanceProcAddr(VkInstance instance, const char *pName)
{
	return fake_vkGetInstanceProcAddr(instance, pName);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *pName)
{
	const struct fake_command *c = find(pName);
	return c && c->level == 1 ? fake_vkGetInstanceProcAddr(instance, pName) : NULL;
}

VKAPI_ATTR VkResult VKAPI_CALL
vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *pVersion)
{
	if (*pVersion > 5)
		*pVersion = 5;
	return VK_SUCCESS;
}

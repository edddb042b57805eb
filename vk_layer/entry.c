/* SPDX-License-Identifier: MIT */
#include "vk_layer/chain.h"
#include "vk_layer/settings.h"
#include "vk_names.h"
#include "passtally_version.h"

#include <string.h>

/* The only name that the library exports. */
__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *negotiate);

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance,
								       const char *name);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device,
								     const char *name);

/* ---- queries about the layer itself ---- */

static bool
is_ours(const char *layer)
{
	return layer && strcmp(layer, VK_LAYER_OF_OURS) == 0;
}

static VkResult
describe_layer(uint32_t *n, VkLayerProperties *out)
{
	static const VkLayerProperties ours = {
		.layerName = VK_LAYER_OF_OURS,
		.specVersion = VK_HEADER_VERSION_COMPLETE,
		.implementationVersion = 1,
		.description = "passtally: what each pass costs, in the GPU's own counters",
	};
	if (!out) {
		*n = 1;
		return VK_SUCCESS;
	}
	if (*n == 0)
		return VK_INCOMPLETE;
	*n = 1;
	out[0] = ours;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
enumerate_instance_layers(uint32_t *n, VkLayerProperties *out)
{
	return describe_layer(n, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL
enumerate_device_layers(VkPhysicalDevice physical, uint32_t *n, VkLayerProperties *out)
{
	(void)physical;
	return describe_layer(n, out);
}

/* Not in the manifest: the loader would list it to every program, and one older than the
 * extension refuses an instance that enables it. The extensions of the layers below cannot be
 * queried without an instance (R7), and the loader does not ask us for them. */
static VKAPI_ATTR VkResult VKAPI_CALL
enumerate_instance_extensions(const char *layer, uint32_t *n, VkExtensionProperties *out)
{
	if (!is_ours(layer))
		return VK_ERROR_LAYER_NOT_PRESENT;
	if (out && *n == 0)
		return VK_INCOMPLETE;
	*n = 1;
	if (out)
		out[0] = (VkExtensionProperties){ VK_SETTINGS_EXTENSION,
						  VK_SETTINGS_EXTENSION_VERSION };
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
enumerate_device_extensions(VkPhysicalDevice physical, const char *layer, uint32_t *n,
			    VkExtensionProperties *out)
{
	if (is_ours(layer)) {
		*n = 0;
		return VK_SUCCESS;
	}
	struct vk_instance *instance = vk_instance_find(physical);
	if (!instance || !instance->next.EnumerateDeviceExtensionProperties)
		return VK_ERROR_INITIALIZATION_FAILED;
	return instance->next.EnumerateDeviceExtensionProperties(physical, layer, n, out);
}

/* Profiling alone: programs look for purposes of debuggers to change what they do. */
static VkResult
tools(PFN_vkGetPhysicalDeviceToolProperties next, VkPhysicalDevice physical, uint32_t *n,
      VkPhysicalDeviceToolProperties *out)
{
	if (out && *n == 0)
		return VK_INCOMPLETE;
	uint32_t others = out ? *n - 1 : 0;
	VkResult result = next(physical, &others, out ? out + 1 : NULL);
	*n = others + 1;
	if (!out)
		return result;
	strcpy(out->name, "passtally");
	strcpy(out->version, PASSTALLY_VERSION);
	strcpy(out->description, "what each pass costs, in the GPU's own counters");
	strcpy(out->layer, VK_LAYER_OF_OURS);
	out->purposes = VK_TOOL_PURPOSE_PROFILING_BIT;
	return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
tool_properties(VkPhysicalDevice physical, uint32_t *n, VkPhysicalDeviceToolProperties *out)
{
	struct vk_instance *instance = vk_instance_find(physical);
	return tools(instance->next.GetPhysicalDeviceToolProperties, physical, n, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL
tool_properties_ext(VkPhysicalDevice physical, uint32_t *n, VkPhysicalDeviceToolProperties *out)
{
	struct vk_instance *instance = vk_instance_find(physical);
	return tools(instance->next.GetPhysicalDeviceToolPropertiesEXT, physical, n, out);
}

/* ---- look-up of names ---- */

/* Cases in which our own function is returned for a name, whether or not the next layer has
 * it. */
enum scope {
	GLOBAL,	  /* even without an instance */
	INSTANCE,
	DEVICE,   /* queried through an instance or a device */
	THERE,	  /* of an instance, where the next layer has it */
};

static const struct {
	const char *name;
	PFN_vkVoidFunction function;
	enum scope scope;
	bool when_off; /* a pure pass-through needs it too */
} own[] = {
	{ "vkGetInstanceProcAddr", (PFN_vkVoidFunction)get_instance_proc_addr, GLOBAL,
	  true },
	{ "vkCreateInstance", (PFN_vkVoidFunction)vk_instance_create, GLOBAL, true },
	{ "vkEnumerateInstanceLayerProperties",
	  (PFN_vkVoidFunction)enumerate_instance_layers, GLOBAL, true },
	{ "vkEnumerateInstanceExtensionProperties",
	  (PFN_vkVoidFunction)enumerate_instance_extensions, GLOBAL, true },
	{ "vkDestroyInstance", (PFN_vkVoidFunction)vk_instance_destroy, INSTANCE, true },
	{ "vkCreateDevice", (PFN_vkVoidFunction)vk_device_create, INSTANCE, true },
	{ "vkEnumerateDeviceLayerProperties", (PFN_vkVoidFunction)enumerate_device_layers,
	  INSTANCE, false },
	{ "vkEnumerateDeviceExtensionProperties",
	  (PFN_vkVoidFunction)enumerate_device_extensions, INSTANCE, false },
	{ "vkGetPhysicalDeviceToolProperties", (PFN_vkVoidFunction)tool_properties, THERE,
	  false },
	{ "vkGetPhysicalDeviceToolPropertiesEXT", (PFN_vkVoidFunction)tool_properties_ext, THERE,
	  false },
	{ "vkGetDeviceProcAddr", (PFN_vkVoidFunction)get_device_proc_addr, DEVICE, true },
	{ "vkDestroyDevice", (PFN_vkVoidFunction)vk_device_destroy, DEVICE, true },
};
#define N_OWN (sizeof(own) / sizeof(own[0]))

/* The index of the name, or N_OWN. */
static size_t
find_own(const char *name)
{
	size_t i = 0;
	while (i < N_OWN && strcmp(name, own[i].name) != 0)
		i++;
	return i;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
get_instance_proc_addr(VkInstance handle, const char *name)
{
	if (!name)
		return NULL;
	size_t i = find_own(name);
	/* Even with no instance, or with one that is still being created: that is how Mesa's
	 * overlay, MangoHud and RenderDoc above us query vkCreateDevice. */
	if (i < N_OWN && (own[i].scope == GLOBAL || (!handle && own[i].when_off)))
		return own[i].function;
	struct vk_instance *instance = handle ? vk_instance_find(handle) : NULL;
	if (!instance)
		return NULL;
	bool is_own = i < N_OWN && (own[i].when_off || instance->tracked);
	if (is_own && own[i].scope != THERE)
		return own[i].function;
	PFN_vkVoidFunction next = instance->next.GetInstanceProcAddr(handle, name);
	if (!next || !instance->tracked)
		return next;
	if (is_own)
		return own[i].function;
	const struct vk_hook *row = vk_hook_find(name);
	return row ? row->hook : next;
}

/* Commands of extensions that the game did not request: it would conclude
 * that they are enabled. */
static bool
is_hidden(const struct vk_enabled *enabled, const char *name)
{
	if (enabled->added_host_reset && strcmp(name, "vkResetQueryPoolEXT") == 0)
		return true;
	if (enabled->added_performance && (strcmp(name, "vkAcquireProfilingLockKHR") == 0 ||
					   strcmp(name, "vkReleaseProfilingLockKHR") == 0))
		return true;
	static const char begins[] = "vkGetPipelineExecutable";
	if (enabled->added_executables && strncmp(name, begins, sizeof(begins) - 1) == 0)
		return true;
	return enabled->added_calibrated && (strcmp(name, "vkGetCalibratedTimestampsEXT") == 0 ||
					     strcmp(name, "vkGetCalibratedTimestampsKHR") == 0);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
get_device_proc_addr(VkDevice handle, const char *name)
{
	struct vk_device *d = handle && name ? vk_device_find(handle) : NULL;
	if (!d)
		return NULL;
	size_t i = find_own(name);
	if (i < N_OWN && own[i].scope == DEVICE)
		return own[i].function;
	PFN_vkVoidFunction next = d->next.GetDeviceProcAddr(handle, name);
	if (is_hidden(&d->enabled, name))
		return NULL;
	if (!next || !d->tracked)
		return next;
	/* The only frequent one of those that are hooked for --pipelines. */
	if (!d->config->pipelines && strcmp(name, "vkCmdBindPipeline") == 0)
		return next;
	const struct vk_hook *row = vk_hook_find(name);
	return row ? row->hook : next;
}

VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *negotiate)
{
	if (!negotiate || negotiate->sType != LAYER_NEGOTIATE_INTERFACE_STRUCT)
		return VK_ERROR_INITIALIZATION_FAILED;
	if (negotiate->loaderLayerInterfaceVersion > 2)
		negotiate->loaderLayerInterfaceVersion = 2;
	if (negotiate->loaderLayerInterfaceVersion < 2)
		return VK_ERROR_INITIALIZATION_FAILED; /* would look for exported symbols */
	negotiate->pfnGetInstanceProcAddr = get_instance_proc_addr;
	negotiate->pfnGetDeviceProcAddr = get_device_proc_addr;
	negotiate->pfnGetPhysicalDeviceProcAddr = NULL; /* the layer adds no such functions */
	return VK_SUCCESS;
}

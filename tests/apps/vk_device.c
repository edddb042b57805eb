/* SPDX-License-Identifier: MIT */
/* Makes instances and devices in every shape of a request, and prints what it got: with and
 * without a layer, the output must be the same except for the lines that begin with "layer".
 *
 *   vk_device [option...]
 *     --api 1.0|1.1|1.2|1.3   what the instance asks for (default 1.3)
 *     --no-app                no VkApplicationInfo
 *     --request NAME          how features are asked for: none, plain, features2, vulkan12, reset,
 *                             statistics (default none)
 *     --two                   two devices at once
 *     --enable NAME           the program itself asks for this layer
 *     --leak                  leave the device behind when the instance goes
 *     --keep-buffers          never free a command buffer (RADV's null device cannot)
 *     --instance-only         no device
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan.h>

static struct {
	uint32_t api;
	bool no_app, two, leak, instance_only, keep_buffers;
	const char *request, *enable;
} options = { .api = VK_API_VERSION_1_3, .request = "none" };

static void
fail(const char *what, VkResult result)
{
	printf("failed: %s: %d\n", what, result);
	exit(1);
}

/* ---- what the layer may show of itself ---- */

/* Which library a function belongs to. */
static const char *
library_of(PFN_vkVoidFunction function)
{
	Dl_info info;
	void *address = (void *)(uintptr_t)function;
	if (!function || !dladdr(address, &info) || !info.dli_fname)
		return "none";
	const char *slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

static void
show_library(void)
{
	char line[4096];
	bool loaded = false;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof(line), maps))
		loaded |= strstr(line, "libVkLayer_passtally.so") != NULL;
	if (maps)
		fclose(maps);
	printf("layer loaded %s\n", loaded ? "yes" : "no");
}

/* ---- which commands there are ---- */

static const char *const commands[] = {
	"vkCmdDraw",
	"vkCmdDrawIndirectCount",
	"vkCmdDrawIndirectCountKHR",
	"vkCmdDrawIndirectCountAMD",
	"vkCmdDrawMultiEXT",
	"vkCmdDrawMeshTasksEXT",
	"vkCmdDrawMeshTasksNV",
	"vkCmdBeginRenderPass2",
	"vkCmdBeginRenderPass2KHR",
	"vkCmdBeginRendering",
	"vkCmdBeginRenderingKHR",
	"vkCmdEndRendering2KHR",
	"vkCmdEndRendering2EXT",
	"vkCmdTraceRaysKHR",
	"vkCmdCopyImage2",
	"vkCmdCopyImage2KHR",
	"vkQueueSubmit",
	"vkQueueSubmit2",
	"vkQueueSubmit2KHR",
	"vkQueuePresentKHR",
	"vkCreateSwapchainKHR",
	"vkCreateRenderPass2",
	"vkCreateRenderPass2KHR",
	"vkWaitSemaphores",
	"vkWaitSemaphoresKHR",
	"vkCmdBeginDebugUtilsLabelEXT",
	"vkCmdDebugMarkerBeginEXT",
	"vkQueueBeginDebugUtilsLabelEXT",
	"vkResetQueryPool",
	"vkResetQueryPoolEXT",
	"vkCmdBeginVideoCodingKHR",
	"vkCmdDispatchTileQCOM",
	"vkGetDeviceProcAddr",
	"vkDestroyDevice",
	"vkGetCalibratedTimestampsEXT",
	"vkNoSuchCommand",
};

static void
show_commands(VkDevice device)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		printf("command %s %s\n", commands[i],
		       vkGetDeviceProcAddr(device, commands[i]) ? "yes" : "no");
	printf("layer has vkQueueSubmit in %s\n",
	       library_of(vkGetDeviceProcAddr(device, "vkQueueSubmit")));
	printf("layer has vkCmdDraw in %s\n",
	       library_of(vkGetDeviceProcAddr(device, "vkCmdDraw")));
}

/* ---- requests ---- */

static VkInstance
make_instance(void)
{
	const VkApplicationInfo app = {
		.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
		.pApplicationName = "vk_device",
		.apiVersion = options.api,
	};
	const VkInstanceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
		.pApplicationInfo = options.no_app ? NULL : &app,
		.enabledLayerCount = options.enable ? 1 : 0,
		.ppEnabledLayerNames = &options.enable,
	};
	VkInstance instance;
	VkResult result = vkCreateInstance(&info, NULL, &instance);
	if (result != VK_SUCCESS)
		fail("vkCreateInstance", result);
	return instance;
}

/* The whole request is in memory that may not be written to. */
static const VkPhysicalDeviceFeatures plain = { .robustBufferAccess = VK_TRUE };
static const VkPhysicalDeviceFeatures statistics = { .pipelineStatisticsQuery = VK_TRUE };
static const VkPhysicalDeviceFeatures2 features2 = {
	.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
	.features = { .robustBufferAccess = VK_TRUE },
};
static const VkPhysicalDeviceVulkan12Features vulkan12 = {
	.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
	.pNext = (void *)&features2,
	.timelineSemaphore = VK_TRUE,
};
static const VkPhysicalDeviceHostQueryResetFeatures reset = {
	.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES,
	.pNext = (void *)&features2,
	.hostQueryReset = VK_TRUE,
};

static VkDevice
make_device(VkPhysicalDevice physical)
{
	static const float priority = 1.0f;
	static const VkDeviceQueueCreateInfo queue = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueCount = 1,
		.pQueuePriorities = &priority,
	};
	VkDeviceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.queueCreateInfoCount = 1,
		.pQueueCreateInfos = &queue,
	};
	if (strcmp(options.request, "plain") == 0)
		info.pEnabledFeatures = &plain;
	else if (strcmp(options.request, "statistics") == 0)
		info.pEnabledFeatures = &statistics;
	else if (strcmp(options.request, "features2") == 0)
		info.pNext = &features2;
	else if (strcmp(options.request, "vulkan12") == 0)
		info.pNext = &vulkan12;
	else if (strcmp(options.request, "reset") == 0)
		info.pNext = &reset;
	VkDevice device;
	VkResult result = vkCreateDevice(physical, &info, NULL, &device);
	if (result != VK_SUCCESS)
		fail("vkCreateDevice", result);
	return device;
}

/* Makes pools and buffers without recording: null devices cannot record. */
static void
use_device(VkDevice device)
{
	const VkCommandPoolCreateInfo pool_info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
	};
	const VkQueryPoolCreateInfo query_info = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.queryType = VK_QUERY_TYPE_TIMESTAMP,
		.queryCount = 16,
	};
	VkCommandPool pool;
	VkQueryPool queries;
	VkQueue queue;
	VkCommandBuffer buffers[3];
	VkResult result = vkCreateCommandPool(device, &pool_info, NULL, &pool);
	if (result != VK_SUCCESS)
		fail("vkCreateCommandPool", result);
	const VkCommandBufferAllocateInfo buffer_info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = pool,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = 3,
	};
	printf("vkAllocateCommandBuffers %d\n",
	       vkAllocateCommandBuffers(device, &buffer_info, buffers));
	printf("vkCreateQueryPool %d\n", vkCreateQueryPool(device, &query_info, NULL, &queries));
	vkGetDeviceQueue(device, 0, 0, &queue);
	printf("vkGetDeviceQueue %s\n", queue ? "yes" : "no");
	VkCommandBuffer none = NULL; /* legal to free */
	vkFreeCommandBuffers(device, pool, 1, &none);
	if (!options.keep_buffers) {
		buffers[1] = NULL;
		vkFreeCommandBuffers(device, pool, 2, buffers);
	}
	vkDestroyQueryPool(device, queries, NULL);
	if (!options.keep_buffers)
		vkDestroyCommandPool(device, pool, NULL);
}

/* All tools at once, and with room for one. */
static void
show_tools(VkInstance instance, VkPhysicalDevice physical)
{
	PFN_vkGetPhysicalDeviceToolProperties ask = (PFN_vkGetPhysicalDeviceToolProperties)
		vkGetInstanceProcAddr(instance, "vkGetPhysicalDeviceToolPropertiesEXT");
	VkPhysicalDeviceToolProperties tools[8] = { 0 };
	uint32_t n = 0, all = 8, one = 1;
	for (uint32_t i = 0; i < 8; i++)
		tools[i].sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TOOL_PROPERTIES;
	if (!ask || ask(physical, &n, NULL) != VK_SUCCESS ||
	    ask(physical, &all, tools) != VK_SUCCESS)
		return;
	printf("layer tools %s\n", n == all ? "counted" : "miscounted");
	for (uint32_t i = 0; i < all; i++)
		printf("layer tool %s of %s for %u\n", tools[i].name, tools[i].layer,
		       tools[i].purposes);
	VkResult result = ask(physical, &one, tools);
	printf("layer tools in one %d, %u\n", n > 1 ? result : VK_INCOMPLETE, n ? one : 1);
}

static void
show_physical(VkPhysicalDevice physical)
{
	VkPhysicalDeviceProperties properties;
	uint32_t n = 0, of_layer = 0;
	vkGetPhysicalDeviceProperties(physical, &properties);
	printf("device %s\n", properties.deviceName);
	vkEnumerateDeviceExtensionProperties(physical, NULL, &n, NULL);
	printf("extensions %u\n", n);
	if (vkEnumerateDeviceExtensionProperties(physical, "VK_LAYER_PASSTALLY_capture",
						 &of_layer, NULL) == VK_SUCCESS)
		printf("layer extensions %u\n", of_layer);
}

static void
run_device(VkPhysicalDevice physical)
{
	show_physical(physical);
	VkDevice device = make_device(physical);
	VkDevice other = options.two ? make_device(physical) : NULL;
	show_commands(device);
	use_device(device);
	if (other)
		use_device(other);
	if (options.leak)
		return;
	vkDestroyDevice(device, NULL);
	if (other)
		use_device(other);
	vkDestroyDevice(other, NULL);
	/* The loader may give the same pointer again. */
	device = make_device(physical);
	use_device(device);
	vkDestroyDevice(device, NULL);
}

static bool
read_option(int *i, char **argv)
{
	static const char *const versions[] = { "1.0", "1.1", "1.2", "1.3" };
	const char *word = argv[*i];
	if (strcmp(word, "--no-app") == 0)
		options.no_app = true;
	else if (strcmp(word, "--two") == 0)
		options.two = true;
	else if (strcmp(word, "--leak") == 0)
		options.leak = true;
	else if (strcmp(word, "--keep-buffers") == 0)
		options.keep_buffers = true;
	else if (strcmp(word, "--instance-only") == 0)
		options.instance_only = true;
	else if (!argv[*i + 1])
		return false;
	else if (strcmp(word, "--request") == 0)
		options.request = argv[++*i];
	else if (strcmp(word, "--enable") == 0)
		options.enable = argv[++*i];
	else if (strcmp(word, "--api") == 0) {
		++*i;
		for (uint32_t minor = 0; minor < 4; minor++)
			if (strcmp(argv[*i], versions[minor]) == 0)
				options.api = VK_MAKE_API_VERSION(0, 1, minor, 0);
	} else {
		return false;
	}
	return true;
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!read_option(&i, argv)) {
			fprintf(stderr, "vk_device: unknown option '%s'\n", argv[i]);
			return 2;
		}
	}
	VkInstance instance = make_instance();
	show_library();
	VkPhysicalDevice physical[8];
	uint32_t n = 8;
	VkResult result = vkEnumeratePhysicalDevices(instance, &n, physical);
	if (result < 0)
		fail("vkEnumeratePhysicalDevices", result);
	printf("devices %u\n", n);
	for (uint32_t i = 0; i < n && !options.instance_only; i++) {
		show_tools(instance, physical[i]);
		run_device(physical[i]);
	}
	vkDestroyInstance(instance, NULL);
	puts("done");
	return 0;
}

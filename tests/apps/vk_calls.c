/* SPDX-License-Identifier: MIT */
/* tests/apps/vk_calls.c - call every Vulkan command that any look-up hands out.
 *
 *   vk_calls VERSION INSTANCE-EXTENSION DEVICE-EXTENSION [--only] [--skip FILE]
 *
 * VERSION is 1.0 or 1.3; an extension is "none", "all" (that are offered) or a name. Each command
 * is looked up without an instance, by instance and by device, and through the look-ups that these
 * hand out; and with VK_CALLS_LAYER (a layer's library) in the layer alone. What is found by
 * instance, and the device's commands that are found by device or in the layer, are called; the
 * rest is listed. --only: only the commands of that device's or instance's extension are called.
 * `vk_calls --extensions` prints what is offered.
 */
#include "tests/apps/calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vulkan/vk_layer.h>

#include "vk_calls_table.h"

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))
#define MAX_EXTENSIONS 512

/* The order of the output. */
enum route {
	NOTHING,
	BY_INSTANCE,
	BY_DEVICE,
	AGAIN,
	DEVICE_AGAIN,
	LAYER,
	LAYER_DEVICE,
	N_ROUTES
};
static const char *const routes[N_ROUTES] = {
	"nothing", "instance", "device", "again", "device-again", "layer", "layer-device",
};

static struct {
	uint32_t version;
	const char *instance_extension, *device_extension;
	bool only;
} options;
static struct calls_world world;
static struct {
	PFN_vkGetInstanceProcAddr again, layer;
	PFN_vkGetDeviceProcAddr device_again, layer_device;
} lookups;
static struct {
	uint32_t n;
	VkExtensionProperties found[MAX_EXTENSIONS];
	const char *names[MAX_EXTENSIONS];
} offered;

static void
offer(uint32_t n, const char *wanted)
{
	offered.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		const char *name = offered.found[i].extensionName;
		if (strcmp(wanted, "all") == 0 || strcmp(wanted, name) == 0)
			offered.names[offered.n++] = name;
	}
}

static VkResult
make_instance(void)
{
	uint32_t n = MAX_EXTENSIONS;
	vkEnumerateInstanceExtensionProperties(NULL, &n, offered.found);
	offer(n, options.instance_extension);
	VkApplicationInfo app = {
		.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
		.apiVersion = options.version,
	};
	VkInstanceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
		.pApplicationInfo = &app,
		.enabledExtensionCount = offered.n,
		.ppEnabledExtensionNames = offered.names,
	};
	return vkCreateInstance(&info, NULL, &world.of_VkInstance);
}

static VkResult
make_device(void)
{
	uint32_t one = 1, n = MAX_EXTENSIONS;
	float priority = 1;
	vkEnumeratePhysicalDevices(world.of_VkInstance, &one, &world.of_VkPhysicalDevice);
	vkEnumerateDeviceExtensionProperties(world.of_VkPhysicalDevice, NULL, &n, offered.found);
	offer(n, options.device_extension);
	VkDeviceQueueCreateInfo queue = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueCount = 1,
		.pQueuePriorities = &priority,
	};
	VkDeviceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.queueCreateInfoCount = 1,
		.pQueueCreateInfos = &queue,
		.enabledExtensionCount = offered.n,
		.ppEnabledExtensionNames = offered.names,
	};
	return vkCreateDevice(world.of_VkPhysicalDevice, &info, NULL, &world.of_VkDevice);
}

static void
make_memory(VkDevice device)
{
	VkBufferCreateInfo buffer = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.size = 65536,
		.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
			 VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_INDEX_BUFFER_BIT,
	};
	VkImageCreateInfo image = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
		.imageType = VK_IMAGE_TYPE_2D,
		.format = VK_FORMAT_R8G8B8A8_UNORM,
		.extent = { 16, 16, 1 },
		.mipLevels = 1,
		.arrayLayers = 1,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
	};
	VkMemoryAllocateInfo memory = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
		.allocationSize = 262144,
	};
	vkCreateBuffer(device, &buffer, NULL, &world.of_VkBuffer);
	vkCreateImage(device, &image, NULL, &world.of_VkImage);
	vkAllocateMemory(device, &memory, NULL, &world.of_VkDeviceMemory);
	vkBindBufferMemory(device, world.of_VkBuffer, world.of_VkDeviceMemory, 0);
	vkBindImageMemory(device, world.of_VkImage, world.of_VkDeviceMemory, 131072);
	VkImageViewCreateInfo view = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
		.image = world.of_VkImage,
		.viewType = VK_IMAGE_VIEW_TYPE_2D,
		.format = VK_FORMAT_R8G8B8A8_UNORM,
		.subresourceRange = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 },
	};
	vkCreateImageView(device, &view, NULL, &world.of_VkImageView);
}

static void
make_render_pass(VkDevice device)
{
	VkAttachmentDescription attachment = {
		.format = VK_FORMAT_R8G8B8A8_UNORM,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.finalLayout = VK_IMAGE_LAYOUT_GENERAL,
	};
	VkAttachmentReference reference = { 0, VK_IMAGE_LAYOUT_GENERAL };
	VkSubpassDescription subpass = {
		.colorAttachmentCount = 1,
		.pColorAttachments = &reference,
	};
	VkRenderPassCreateInfo pass = {
		.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
		.attachmentCount = 1,
		.pAttachments = &attachment,
		.subpassCount = 1,
		.pSubpasses = &subpass,
	};
	vkCreateRenderPass(device, &pass, NULL, &world.of_VkRenderPass);
	VkFramebufferCreateInfo framebuffer = {
		.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
		.renderPass = world.of_VkRenderPass,
		.attachmentCount = 1,
		.pAttachments = &world.of_VkImageView,
		.width = 16,
		.height = 16,
		.layers = 1,
	};
	vkCreateFramebuffer(device, &framebuffer, NULL, &world.of_VkFramebuffer);
}

static void
make_commands(VkDevice device)
{
	VkCommandPoolCreateInfo pool = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
	};
	vkCreateCommandPool(device, &pool, NULL, &world.of_VkCommandPool);
	VkCommandBufferAllocateInfo buffer = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = world.of_VkCommandPool,
		.commandBufferCount = 1,
	};
	vkAllocateCommandBuffers(device, &buffer, &world.of_VkCommandBuffer);
	VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO
	};
	vkBeginCommandBuffer(world.of_VkCommandBuffer, &begin);
}

static void
make_objects(VkDevice device)
{
	VkFenceCreateInfo fence = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
	VkSemaphoreCreateInfo semaphore = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO };
	VkEventCreateInfo event = { .sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO };
	VkSamplerCreateInfo sampler = { .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO };
	VkPipelineCacheCreateInfo cache = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO
	};
	VkQueryPoolCreateInfo queries = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.queryType = VK_QUERY_TYPE_OCCLUSION,
		.queryCount = 4,
	};
	VkPipelineLayoutCreateInfo layout = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
	};
	VkDescriptorSetLayoutCreateInfo set = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
	};
	vkGetDeviceQueue(device, 0, 0, &world.of_VkQueue);
	vkCreateFence(device, &fence, NULL, &world.of_VkFence);
	vkCreateSemaphore(device, &semaphore, NULL, &world.of_VkSemaphore);
	vkCreateEvent(device, &event, NULL, &world.of_VkEvent);
	vkCreateSampler(device, &sampler, NULL, &world.of_VkSampler);
	vkCreatePipelineCache(device, &cache, NULL, &world.of_VkPipelineCache);
	vkCreateQueryPool(device, &queries, NULL, &world.of_VkQueryPool);
	vkCreatePipelineLayout(device, &layout, NULL, &world.of_VkPipelineLayout);
	vkCreateDescriptorSetLayout(device, &set, NULL, &world.of_VkDescriptorSetLayout);
	make_memory(device);
	make_render_pass(device);
	make_commands(device);
}

/* The layer's own look-ups, as the loader gets them. */
static void
ask_layer(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	PFN_vkNegotiateLoaderLayerInterfaceVersion negotiate = NULL;
	if (library)
		negotiate = (PFN_vkNegotiateLoaderLayerInterfaceVersion)dlsym(
			library, "vkNegotiateLoaderLayerInterfaceVersion");
	VkNegotiateLayerInterface interface = {
		.sType = LAYER_NEGOTIATE_INTERFACE_STRUCT,
		.loaderLayerInterfaceVersion = 2,
	};
	if (!negotiate || negotiate(&interface) != VK_SUCCESS)
		calls_no_world();
	lookups.layer = interface.pfnGetInstanceProcAddr;
	lookups.layer_device = interface.pfnGetDeviceProcAddr;
}

static void
start(void)
{
	if (make_instance() != VK_SUCCESS || make_device() != VK_SUCCESS)
		calls_no_world();
	make_objects(world.of_VkDevice);
	lookups.again = (PFN_vkGetInstanceProcAddr)vkGetInstanceProcAddr(
		world.of_VkInstance, "vkGetInstanceProcAddr");
	lookups.device_again = (PFN_vkGetDeviceProcAddr)vkGetInstanceProcAddr(
		world.of_VkInstance, "vkGetDeviceProcAddr");
	const char *layer = getenv("VK_CALLS_LAYER");
	if (layer)
		ask_layer(layer);
}

static PFN_vkVoidFunction
look_up(enum route route, const char *name)
{
	switch (route) {
	case NOTHING:
		return vkGetInstanceProcAddr(NULL, name);
	case BY_INSTANCE:
		return vkGetInstanceProcAddr(world.of_VkInstance, name);
	case BY_DEVICE:
		return vkGetDeviceProcAddr(world.of_VkDevice, name);
	case AGAIN:
		return lookups.again ? lookups.again(world.of_VkInstance, name) : NULL;
	case DEVICE_AGAIN:
		return lookups.device_again
			       ? lookups.device_again(world.of_VkDevice, name)
			       : NULL;
	case LAYER:
		return lookups.layer ? lookups.layer(world.of_VkInstance, name) : NULL;
	default:
		return lookups.layer_device
			       ? lookups.layer_device(world.of_VkDevice, name)
			       : NULL;
	}
}

/* Without passtally's layer its look-ups are left out. */
static size_t
n_routes(void)
{
	return getenv("VK_CALLS_LAYER") ? N_ROUTES : LAYER;
}

static bool
is_wanted(size_t command)
{
	const char *extension = commands[command].extension;
	return !options.only || strcmp(extension, options.device_extension) == 0 ||
	       strcmp(extension, options.instance_extension) == 0;
}

static enum calls_found
call(size_t item, uint64_t *result)
{
	enum route route = (enum route)(item / N_COMMANDS);
	size_t command = item % N_COMMANDS;
	PFN_vkVoidFunction function = look_up(route, commands[command].name);
	if (!function)
		return CALLS_NONE;
	/* The handle that the loader gave the program for a physical device means nothing to a
	 * layer. */
	bool of_device = commands[command].level == CALLS_DEVICE;
	bool called = route == BY_INSTANCE ||
		      (of_device && (route == BY_DEVICE || route >= LAYER));
	if (!called || !is_wanted(command))
		return CALLS_LISTED;
	*result = commands[command].call(function, &world);
	return CALLS_CALLED;
}

static void
name(size_t item, char *out, size_t size)
{
	snprintf(out, size, "%s %s", routes[item / N_COMMANDS],
		 commands[item % N_COMMANDS].name);
}

/* After it the object is gone, or in a state in which more calls mean nothing. */
static bool
is_last(size_t item)
{
	static const char *const words[] = { "vkDestroy", "vkFree", "vkEndCommandBuffer",
					     "vkResetCommand", "vkResetDescriptorPool" };
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strncmp(commands[item % N_COMMANDS].name, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

static void
list_extensions(void)
{
	uint32_t n = MAX_EXTENSIONS;
	vkEnumerateInstanceExtensionProperties(NULL, &n, offered.found);
	for (uint32_t i = 0; i < n; i++)
		printf("instance %s\n", offered.found[i].extensionName);
	options.instance_extension = "none";
	options.device_extension = "none";
	options.version = VK_API_VERSION_1_3;
	if (make_instance() != VK_SUCCESS || make_device() != VK_SUCCESS)
		exit(77);
	n = MAX_EXTENSIONS;
	vkEnumerateDeviceExtensionProperties(world.of_VkPhysicalDevice, NULL, &n, offered.found);
	for (uint32_t i = 0; i < n; i++)
		printf("device %s\n", offered.found[i].extensionName);
}

int
main(int argc, char **argv)
{
	const char *skip = NULL;
	if (argc == 2 && strcmp(argv[1], "--extensions") == 0) {
		list_extensions();
		return 0;
	}
	if (argc < 4)
		return 2;
	options.version = strcmp(argv[1], "1.0") == 0 ? VK_API_VERSION_1_0 : VK_API_VERSION_1_3;
	options.instance_extension = argv[2];
	options.device_extension = argv[3];
	for (int i = 4; i < argc; i++) {
		if (strcmp(argv[i], "--only") == 0)
			options.only = true;
		else if (strcmp(argv[i], "--skip") == 0 && i + 1 < argc)
			skip = argv[++i];
	}
	struct calls_plan plan = {
		.n = n_routes() * N_COMMANDS,
		.start = start,
		.call = call,
		.name = name,
		.is_last = is_last,
	};
	return calls_run(&plan, skip);
}

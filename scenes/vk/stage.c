/* SPDX-License-Identifier: MIT */
/* scenes/vk/stage.c - instance, device, memory and command buffers of a scene. */
#include "scenes/vk/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_ELEMENTS(a) (sizeof(a) / sizeof((a)[0]))

void
vk_skip(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(77);
}

void
vk_check(VkResult result, const char *what)
{
	if (result == VK_SUCCESS)
		return;
	fprintf(stderr, "%s: VkResult %d\n", what, (int)result);
	exit(99);
}

static uint32_t
count_names(const char *const *names, uint32_t room)
{
	uint32_t n = 0;
	while (n < room && names[n])
		n++;
	return n;
}

/* Every name must be offered, or the scene is skipped. */
static void
need_extensions(const char *const *names, uint32_t n, const VkExtensionProperties *offered,
		uint32_t n_offered)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = 0;
		while (k < n_offered && strcmp(names[i], offered[k].extensionName) != 0)
			k++;
		if (k == n_offered) {
			fprintf(stderr, "%s is not offered here\n", names[i]);
			exit(77);
		}
	}
}

void
vk_stage_open_instance(struct vk_stage *s, const struct vk_wish *wish)
{
	uint32_t n = count_names(wish->instance_extensions,
				 N_ELEMENTS(wish->instance_extensions));
	VkExtensionProperties offered[128];
	uint32_t n_offered = N_ELEMENTS(offered);
	if (vkEnumerateInstanceExtensionProperties(NULL, &n_offered, offered) < 0)
		vk_skip("no Vulkan here");
	need_extensions(wish->instance_extensions, n, offered, n_offered);
	VkApplicationInfo application = {
		.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
		.pApplicationName = "vk_scenes",
		.apiVersion = wish->api ? wish->api : VK_API_VERSION_1_3,
	};
	VkInstanceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
		.pApplicationInfo = wish->no_application_info ? NULL : &application,
		.enabledExtensionCount = n,
		.ppEnabledExtensionNames = n ? wish->instance_extensions : NULL,
	};
	if (vk_stage_setting)
		info.pNext = vk_stage_setting();
	VkResult result = vkCreateInstance(&info, NULL, &s->instance);
	if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
		vk_skip("no Vulkan driver here");
	vk_check(result, "vkCreateInstance");
	s->own_instance = true;
}

/* A 1.3 device's features as most scenes need them. */
struct usual_chain {
	VkPhysicalDeviceFeatures2 features;
	VkPhysicalDeviceVulkan11Features v11;
	VkPhysicalDeviceVulkan12Features v12;
	VkPhysicalDeviceVulkan13Features v13;
};

static const void *
fill_usual_chain(struct usual_chain *c, void *extra)
{
	*c = (struct usual_chain){
		.features = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2 },
		.v11 = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES },
		.v12 = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES },
		.v13 = { .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES },
	};
	c->features.pNext = &c->v11;
	c->v11.pNext = &c->v12;
	c->v12.pNext = &c->v13;
	c->v13.pNext = extra;
	c->features.features.multiDrawIndirect = VK_TRUE;
	c->v11.multiview = VK_TRUE;
	c->v12.drawIndirectCount = VK_TRUE;
	c->v12.imagelessFramebuffer = VK_TRUE;
	c->v12.timelineSemaphore = VK_TRUE;
	c->v13.dynamicRendering = VK_TRUE;
	c->v13.synchronization2 = VK_TRUE;
	return &c->features;
}

/* The parts that every stage has, in any scene. */
static void
make_basics(struct vk_stage *s)
{
	VkCommandPoolCreateInfo pool = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
	};
	VK_STAGE_MAKE(s, CommandPool, &pool, &s->pool);
	VkFenceCreateInfo fence = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO };
	VK_STAGE_MAKE(s, Fence, &fence, &s->fence);
	s->layout = vk_make_layout(s, VK_SHADER_STAGE_VERTEX_BIT, VK_NULL_HANDLE);
}

static uint32_t chosen;

void
vk_stage_choose_device(uint32_t number)
{
	chosen = number;
}

static VkPhysicalDevice
chosen_device(VkInstance instance)
{
	VkPhysicalDevice physical[64];
	uint32_t n = N_ELEMENTS(physical);
	if (vkEnumeratePhysicalDevices(instance, &n, physical) < 0 || !n)
		vk_skip("no Vulkan device here");
	if (chosen >= n) {
		fprintf(stderr, "no such device\n");
		exit(78);
	}
	return physical[chosen];
}

void
vk_stage_describe(void)
{
	struct vk_stage stage = { 0 };
	vk_stage_open_instance(&stage, &(struct vk_wish){ 0 });
	VkPhysicalDevice physical = chosen_device(stage.instance);
	VkPhysicalDeviceDriverProperties driver = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
	};
	VkPhysicalDeviceProperties2 properties = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
		.pNext = &driver,
	};
	vkGetPhysicalDeviceProperties(physical, &properties.properties);
	const VkPhysicalDeviceProperties *p = &properties.properties;
	uint32_t version = p->apiVersion;
	if (version >= VK_API_VERSION_1_2)
		vkGetPhysicalDeviceProperties2(physical, &properties);
	printf("%s\tVulkan %u.%u.%u%s%s\t%s\n", p->deviceName, VK_API_VERSION_MAJOR(version),
	       VK_API_VERSION_MINOR(version), VK_API_VERSION_PATCH(version),
	       driver.driverInfo[0] ? ", " : "", driver.driverInfo, driver.driverName);
	vkDestroyInstance(stage.instance, NULL);
}

int
vk_stage_make_each(void)
{
	/* Any version that the loader knows: the one of Vulkan 1.0 refuses another. */
	struct vk_wish any = { .api = VK_API_VERSION_1_0 };
	if (vkEnumerateInstanceVersion(&any.api) < 0)
		any.api = VK_API_VERSION_1_0;
	struct vk_stage stage = { 0 };
	vk_stage_open_instance(&stage, &any);
	VkPhysicalDevice physical[64];
	uint32_t n = N_ELEMENTS(physical), n_made = 0;
	VkResult result = vkEnumeratePhysicalDevices(stage.instance, &n, physical);
	if (result < 0 || !n) {
		fprintf(stderr, "Vulkan is installed, but has no device (VkResult %d)\n",
			(int)result);
		return 77;
	}
	for (uint32_t i = 0; i < n; i++) {
		float priority = 1;
		VkPhysicalDeviceFeatures offered, features = { 0 };
		VkPhysicalDeviceProperties properties;
		VkDeviceQueueCreateInfo queue = {
			.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
			.queueCount = 1,
			.pQueuePriorities = &priority,
		};
		VkDeviceCreateInfo info = {
			.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
			.queueCreateInfoCount = 1,
			.pQueueCreateInfos = &queue,
			.pEnabledFeatures = &features,
		};
		VkDevice device;
		vkGetPhysicalDeviceFeatures(physical[i], &offered);
		vkGetPhysicalDeviceProperties(physical[i], &properties);
		features.inheritedQueries = offered.inheritedQueries;
		if (vkCreateDevice(physical[i], &info, NULL, &device) == VK_SUCCESS) {
			vkDestroyDevice(device, NULL);
			n_made++;
		} else {
			fprintf(stderr, "%s: no device could be made on it\n",
				properties.deviceName);
		}
	}
	vkDestroyInstance(stage.instance, NULL);
	return n_made ? 0 : 77;
}

void
vk_stage_open_device(struct vk_stage *s, const struct vk_wish *wish)
{
	s->physical = chosen_device(s->instance);
	VkExtensionProperties offered[512];
	uint32_t n_offered = N_ELEMENTS(offered);
	vkEnumerateDeviceExtensionProperties(s->physical, NULL, &n_offered, offered);
	uint32_t n = count_names(wish->device_extensions, N_ELEMENTS(wish->device_extensions));
	need_extensions(wish->device_extensions, n, offered, n_offered);
	VkPhysicalDeviceProperties properties;
	vkGetPhysicalDeviceProperties(s->physical, &properties);
	bool plain = wish->features || wish->no_application_info;
	if (!plain && !wish->next && properties.apiVersion < VK_API_VERSION_1_3)
		vk_skip("the device is older than Vulkan 1.3");
	float priority = 1;
	VkDeviceQueueCreateInfo queue = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueCount = 1,
		.pQueuePriorities = &priority,
	};
	struct usual_chain usual;
	const void *chain = fill_usual_chain(&usual, wish->extra);
	VkDeviceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.pNext = plain        ? NULL
			 : wish->next ? wish->next
				      : chain,
		.queueCreateInfoCount = 1,
		.pQueueCreateInfos = &queue,
		.enabledExtensionCount = n,
		.ppEnabledExtensionNames = n ? wish->device_extensions : NULL,
		.pEnabledFeatures = wish->features,
	};
	vk_check(vkCreateDevice(s->physical, &info, NULL, &s->device), "vkCreateDevice");
	vkGetDeviceQueue(s->device, 0, 0, &s->queue);
	make_basics(s);
}

void
vk_stage_own(struct vk_stage *s, PFN_vkDestroyBuffer destroy, VkBuffer handle)
{
	if (s->n_owned == VK_STAGE_MAX_OWNED)
		vk_check(VK_ERROR_TOO_MANY_OBJECTS, "the stage");
	s->owned[s->n_owned++] = (struct vk_owned){ destroy, handle };
}

void
vk_stage_drop(struct vk_stage *s)
{
	const struct vk_owned *last = &s->owned[--s->n_owned];
	last->destroy(s->device, last->handle, NULL);
}

void
vk_stage_close(struct vk_stage *s)
{
	while (s->n_owned)
		vk_stage_drop(s);
	vkDestroyDevice(s->device, NULL);
	if (s->own_instance)
		vkDestroyInstance(s->instance, NULL);
}

VkSemaphore
vk_make_semaphore(struct vk_stage *s, VkSemaphoreType type)
{
	VkSemaphoreTypeCreateInfo kind = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
		.semaphoreType = type,
	};
	VkSemaphoreCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
		.pNext = &kind,
	};
	VkSemaphore semaphore;
	VK_STAGE_MAKE(s, Semaphore, &info, &semaphore);
	return semaphore;
}

VkPipelineLayout
vk_make_layout(struct vk_stage *s, VkShaderStageFlags stages, VkDescriptorSetLayout set_layout)
{
	VkPushConstantRange push = { .stageFlags = stages, .size = 16 };
	VkPipelineLayoutCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.setLayoutCount = set_layout ? 1 : 0,
		.pSetLayouts = &set_layout,
		.pushConstantRangeCount = 1,
		.pPushConstantRanges = &push,
	};
	VkPipelineLayout layout;
	VK_STAGE_MAKE(s, PipelineLayout, &info, &layout);
	return layout;
}

/* ---- memory ---- */

static VkDeviceMemory
take_memory(struct vk_stage *s, const VkMemoryRequirements *needs, VkMemoryPropertyFlags flags)
{
	VkPhysicalDeviceMemoryProperties memory;
	vkGetPhysicalDeviceMemoryProperties(s->physical, &memory);
	uint32_t type = 0;
	while (type < memory.memoryTypeCount &&
	       (!(needs->memoryTypeBits & 1u << type) ||
		(memory.memoryTypes[type].propertyFlags & flags) != flags))
		type++;
	if (type == memory.memoryTypeCount)
		vk_skip("no such memory here");
	VkMemoryAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
		.allocationSize = needs->size,
		.memoryTypeIndex = type,
	};
	VkDeviceMemory handle;
	vk_check(vkAllocateMemory(s->device, &info, NULL, &handle), "vkAllocateMemory");
	VK_STAGE_OWN(s, vkFreeMemory, handle);
	return handle;
}

struct vk_buffer
vk_make_buffer(struct vk_stage *s, VkDeviceSize size)
{
	return vk_make_buffer_for(s, size,
				  VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
					  VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
					  VK_BUFFER_USAGE_INDEX_BUFFER_BIT);
}

struct vk_buffer
vk_make_buffer_for(struct vk_stage *s, VkDeviceSize size, VkBufferUsageFlags usage)
{
	struct vk_buffer b = { .size = size };
	VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.size = size,
		.usage = usage | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
			 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
	};
	vk_check(vkCreateBuffer(s->device, &info, NULL, &b.handle), "vkCreateBuffer");
	VkMemoryRequirements needs;
	vkGetBufferMemoryRequirements(s->device, b.handle, &needs);
	VkDeviceMemory memory = take_memory(s, &needs,
					    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
						    VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
	VK_STAGE_OWN(s, vkDestroyBuffer, b.handle);
	vk_check(vkBindBufferMemory(s->device, b.handle, memory, 0), "vkBindBufferMemory");
	vk_check(vkMapMemory(s->device, memory, 0, size, 0, &b.map), "vkMapMemory");
	memset(b.map, 0, (size_t)size);
	return b;
}

void
vk_make_view(struct vk_stage *s, struct vk_picture *p)
{
	VkImageViewCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
		.image = p->image,
		.viewType = p->layers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D,
		.format = p->format,
		.subresourceRange = { p->aspect, 0, 1, 0, p->layers },
	};
	VK_STAGE_MAKE(s, ImageView, &info, &p->view);
}

struct vk_picture
vk_make_picture(struct vk_stage *s, VkFormat format, uint32_t width, uint32_t height,
		uint32_t layers, VkSampleCountFlagBits samples)
{
	bool depth = format == VK_FORMAT_D32_SFLOAT;
	struct vk_picture p = {
		.format = format,
		.aspect = depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT,
		.width = width,
		.height = height,
		.layers = layers,
		.samples = samples,
	};
	VkImageCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
		.imageType = VK_IMAGE_TYPE_2D,
		.format = format,
		.extent = { width, height, 1 },
		.mipLevels = 1,
		.arrayLayers = layers,
		.samples = samples,
		.tiling = VK_IMAGE_TILING_OPTIMAL,
		.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
	};
	info.usage |= depth ? VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT
			    : VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
	vk_check(vkCreateImage(s->device, &info, NULL, &p.image), "vkCreateImage");
	VkMemoryRequirements needs;
	vkGetImageMemoryRequirements(s->device, p.image, &needs);
	VkDeviceMemory memory = take_memory(s, &needs, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
	VK_STAGE_OWN(s, vkDestroyImage, p.image);
	vk_check(vkBindImageMemory(s->device, p.image, memory, 0), "vkBindImageMemory");
	vk_make_view(s, &p);
	return p;
}

struct vk_picture
vk_make_screen(struct vk_stage *s)
{
	return vk_make_picture(s, VK_FORMAT_R8G8B8A8_UNORM, VK_STAGE_WIDTH, VK_STAGE_HEIGHT, 1,
			       VK_SAMPLE_COUNT_1_BIT);
}

void
vk_read(struct vk_stage *s, const struct vk_buffer *buffer)
{
	const unsigned char *bytes = buffer->map;
	uint64_t hash = s->checksum ? s->checksum : UINT64_C(0xcbf29ce484222325);
	for (VkDeviceSize i = 0; i < buffer->size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	s->checksum = hash;
}

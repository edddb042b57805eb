/* SPDX-License-Identifier: MIT */
#include "tests/apps/vk_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *
take(void *data, size_t size, size_t alignment, VkSystemAllocationScope scope)
{
	(void)data;
	(void)scope;
	return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void *
take_again(void *data, void *old, size_t size, size_t alignment, VkSystemAllocationScope scope)
{
	(void)data;
	(void)alignment;
	(void)scope;
	return realloc(old, size);
}

static void
give(void *data, void *memory)
{
	(void)data;
	free(memory);
}

static const VkAllocationCallbacks callbacks = {
	.pfnAllocation = take,
	.pfnReallocation = take_again,
	.pfnFree = give,
};
const VkAllocationCallbacks *const allocator = &callbacks;

void
stream_skip(struct stream *s, const char *why)
{
	(void)s;
	printf("skipped: %s\n", why);
	exit(77);
}

void
stream_check(struct stream *s, VkResult result, const char *what)
{
	if (result == VK_SUCCESS)
		return;
	printf("%.*s: %d\n", (int)strcspn(what, "("), what, (int)result);
	longjmp(s->out, 3);
}

void
stream_keep(struct stream *s, enum kept_kind kind, uint64_t handle)
{
	if (s->n_kept < MAX_KEPT)
		s->kept[s->n_kept++] = (struct kept){ kind, handle };
}

void
stream_drop(struct stream *s, uint64_t handle)
{
	for (uint32_t i = 0; i < s->n_kept; i++)
		if (s->kept[i].handle == handle)
			s->kept[i].handle = 0;
}

PFN_vkVoidFunction
stream_find(struct stream *s, const char *name)
{
	PFN_vkVoidFunction f = vkGetDeviceProcAddr(s->device, name);
	if (!f)
		stream_skip(s, name);
	return f;
}

static struct stream *newest;

PFN_vkVoidFunction
stream_newer(const char *name)
{
	char other[64];
	PFN_vkVoidFunction f = vkGetDeviceProcAddr(newest->device, name);
	if (f)
		return f;
	snprintf(other, sizeof(other), "%sKHR", name);
	return stream_find(newest, other);
}

/* ---- instance and device ---- */

static bool
has_instance_extension(const char *name)
{
	static VkExtensionProperties rows[128];
	uint32_t n = COUNT(rows);
	vkEnumerateInstanceExtensionProperties(NULL, &n, rows);
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(rows[i].extensionName, name) == 0)
			return true;
	return false;
}

static void
open_instance(struct stream *s)
{
	const char *extensions[4];
	VkApplicationInfo app = {
		.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
		.pApplicationName = "vk_stream",
		.apiVersion = s->wishes & WISH_VULKAN10 ? VK_API_VERSION_1_0
							: VK_API_VERSION_1_3,
	};
	VkInstanceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
		.pApplicationInfo = s->wishes & WISH_NO_INFO ? NULL : &app,
		.ppEnabledExtensionNames = extensions,
	};
	if (s->wishes & WISH_SURFACE) {
		extensions[info.enabledExtensionCount++] = "VK_KHR_surface";
		extensions[info.enabledExtensionCount++] = "VK_EXT_headless_surface";
	}
	if (s->wishes & WISH_LABELS)
		extensions[info.enabledExtensionCount++] = "VK_EXT_debug_utils";
	for (uint32_t i = 0; i < info.enabledExtensionCount; i++)
		if (!has_instance_extension(extensions[i]))
			stream_skip(s, extensions[i]);
	VkResult result = vkCreateInstance(&info, NULL, &s->instance);
	if (result == VK_ERROR_INCOMPATIBLE_DRIVER) { /* 1.0 drivers accept no newer version */
		app.apiVersion = VK_API_VERSION_1_0;
		result = vkCreateInstance(&info, NULL, &s->instance);
	}
	stream_check(s, result, "vkCreateInstance");
	uint32_t n = 1;
	result = vkEnumeratePhysicalDevices(s->instance, &n, &s->physical);
	CHECK(result == VK_INCOMPLETE ? VK_SUCCESS : result);
	VkPhysicalDeviceProperties properties;
	vkGetPhysicalDeviceProperties(s->physical, &properties);
	bool old = s->wishes & (WISH_VULKAN10 | WISH_NO_INFO);
	s->version = old ? 10 : 10 + VK_API_VERSION_MINOR(properties.apiVersion);
	if (s->version == 10 && s->wishes & (WISH_PROTECTED | WISH_GROUP | WISH_MESH))
		stream_skip(s, "Vulkan 1.0");
}

static void
find_families(struct stream *s)
{
	VkPhysicalDeviceFeatures features;
	vkGetPhysicalDeviceFeatures(s->physical, &features);
	if ((s->wishes & WISH_INHERITED) && (!features.inheritedQueries || s->version == 10))
		stream_skip(s, "no inherited queries");
	s->n_families = COUNT(s->families);
	vkGetPhysicalDeviceQueueFamilyProperties(s->physical, &s->n_families, s->families);
	s->graphics = s->compute = s->transfer = s->video = UINT32_MAX;
	for (uint32_t i = s->n_families; i-- > 0;) {
		VkQueueFlags flags = s->families[i].queueFlags;
		if (flags & VK_QUEUE_GRAPHICS_BIT)
			s->graphics = i;
		else if (flags & VK_QUEUE_COMPUTE_BIT)
			s->compute = i;
		else if (flags & VK_QUEUE_VIDEO_DECODE_BIT_KHR)
			s->video = i;
		else if (flags & VK_QUEUE_TRANSFER_BIT)
			s->transfer = i;
	}
	if (s->graphics == UINT32_MAX)
		stream_skip(s, "no graphics queue");
}

static const struct {
	unsigned wish;
	const char *extension;
} extensions_of[] = {
	{ WISH_SURFACE, "VK_KHR_swapchain" },
	{ WISH_MESH, "VK_EXT_mesh_shader" },
	{ WISH_RAYS, "VK_KHR_acceleration_structure" },
	{ WISH_RAYS, "VK_KHR_ray_tracing_pipeline" },
	{ WISH_RAYS, "VK_KHR_deferred_host_operations" },
	{ WISH_NESTED, "VK_EXT_nested_command_buffer" },
	{ WISH_CONDITIONAL, "VK_EXT_conditional_rendering" },
	{ WISH_MARKERS, "VK_EXT_debug_marker" },
	{ WISH_BOUNDARY, "VK_EXT_frame_boundary" },
	{ WISH_VIDEO, "VK_KHR_video_queue" },
	{ WISH_VIDEO, "VK_KHR_video_decode_queue" },
	{ WISH_TWICE, "VK_KHR_create_renderpass2" },
	{ WISH_TWICE, "VK_KHR_create_renderpass2" },
	{ WISH_FEEDBACK, "VK_EXT_transform_feedback" },
};

/* Functions that were not core yet. */
static const struct {
	uint32_t core;
	const char *extension;
} extensions_before[] = {
	{ 13, "VK_KHR_dynamic_rendering" },  { 13, "VK_KHR_synchronization2" },
	{ 12, "VK_KHR_timeline_semaphore" }, { 12, "VK_KHR_create_renderpass2" },
	{ 12, "VK_KHR_draw_indirect_count" },
};

static uint32_t
take_extensions(const struct stream *s, const char **names)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < COUNT(extensions_of); i++)
		if (s->wishes & extensions_of[i].wish)
			names[n++] = extensions_of[i].extension;
	for (uint32_t i = 0; i < COUNT(extensions_before) && s->version > 10; i++)
		if (s->version < extensions_before[i].core)
			names[n++] = extensions_before[i].extension;
	return n;
}

struct request {
	VkPhysicalDeviceFeatures2 core;
	VkPhysicalDeviceVulkan11Features v11;
	VkPhysicalDeviceVulkan12Features v12;
	VkPhysicalDeviceVulkan13Features v13;
	VkPhysicalDeviceTimelineSemaphoreFeatures timeline;
	VkPhysicalDeviceDynamicRenderingFeatures rendering;
	VkPhysicalDeviceSynchronization2Features sync2;
	VkPhysicalDeviceMeshShaderFeaturesEXT mesh;
	VkPhysicalDeviceProtectedMemoryFeatures protect;
	VkDeviceGroupDeviceCreateInfo group;
	VkPhysicalDevice members[4];
};

static void
chain(VkBaseOutStructure ***tail, void *s, VkStructureType type)
{
	VkBaseOutStructure *node = s;
	node->sType = type;
	**tail = node;
	*tail = &node->pNext;
}

static void
ask_for_group(struct stream *s, struct request *r)
{
	VkPhysicalDeviceGroupProperties groups[1];
	uint32_t n = 1;
	groups[0].sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GROUP_PROPERTIES;
	groups[0].pNext = NULL;
	vkEnumeratePhysicalDeviceGroups(s->instance, &n, groups);
	if (groups[0].physicalDeviceCount < 2)
		stream_skip(s, "no device group");
	memcpy(r->members, groups[0].physicalDevices, sizeof(r->members));
	r->group.physicalDeviceCount = groups[0].physicalDeviceCount;
	r->group.pPhysicalDevices = r->members;
}

static void
fill_request(struct stream *s, struct request *r)
{
	VkBaseOutStructure *first = NULL, **tail = &first;
	VkBaseOutStructure ***t = &tail;
	r->core.features.pipelineStatisticsQuery = !!(s->wishes & WISH_STATISTICS);
	r->core.features.inheritedQueries = !!(s->wishes & WISH_INHERITED);
	r->core.features.sparseBinding = !!(s->wishes & WISH_SPARSE);
	bool separate = s->wishes & WISH_SEPARATE;
	if (separate || s->version < 12) {
		r->timeline.timelineSemaphore = VK_TRUE;
		chain(t, &r->timeline,
		      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES);
	} else {
		r->v11.multiview = VK_TRUE;
		r->v11.protectedMemory = !!(s->wishes & WISH_PROTECTED);
		r->v12.timelineSemaphore = VK_TRUE;
		chain(t, &r->v11, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
		chain(t, &r->v12, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
	}
	if (separate || s->version < 13) {
		r->rendering.dynamicRendering = r->sync2.synchronization2 = VK_TRUE;
		chain(t, &r->rendering,
		      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES);
		chain(t, &r->sync2,
		      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES);
	} else {
		r->v13.dynamicRendering = r->v13.synchronization2 = VK_TRUE;
		chain(t, &r->v13, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES);
	}
	if (s->wishes & WISH_MESH) {
		r->mesh.meshShader = r->mesh.taskShader = VK_TRUE;
		chain(t, &r->mesh, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT);
	}
	if (s->wishes & WISH_GROUP) {
		ask_for_group(s, r);
		chain(t, &r->group, VK_STRUCTURE_TYPE_DEVICE_GROUP_DEVICE_CREATE_INFO);
	}
	r->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
	r->core.pNext = first;
}

static void
open_device(struct stream *s)
{
	/* In read-only memory: a layer that writes to it ends the program. */
	static const VkPhysicalDeviceFeatures constant = { .fillModeNonSolid = VK_TRUE };
	static const float priorities[2] = { 1, 1 };
	VkDeviceQueueCreateInfo queues[8];
	const char *extensions[32];
	for (uint32_t i = 0; i < s->n_families; i++)
		queues[i] = (VkDeviceQueueCreateInfo){
			.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
			.flags = s->wishes & WISH_PROTECTED && i == s->graphics
					 ? VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT
					 : 0,
			.queueFamilyIndex = i,
			.queueCount = s->families[i].queueCount > 1 ? 2 : 1,
			.pQueuePriorities = priorities,
		};
	struct request r = { 0 };
	VkDeviceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.queueCreateInfoCount = s->n_families,
		.pQueueCreateInfos = queues,
		.ppEnabledExtensionNames = extensions,
		.enabledExtensionCount = take_extensions(s, extensions),
	};
	if (s->wishes & WISH_CORE) {
		info.pEnabledFeatures = &constant;
	} else if (s->wishes & WISH_FEATURES2) {
		r.core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
		r.core.features = constant;
		info.pNext = &r.core;
	} else if (s->version == 10) {
		r.core.features.pipelineStatisticsQuery = !!(s->wishes & WISH_STATISTICS);
		r.core.features.sparseBinding = !!(s->wishes & WISH_SPARSE);
		info.pEnabledFeatures = &r.core.features;
	} else {
		fill_request(s, &r);
		info.pNext = &r.core;
	}
	CHECK(vkCreateDevice(s->physical, &info, NULL, &s->device));
}

void
stream_open(struct stream *s)
{
	newest = s;
	open_instance(s);
	find_families(s);
	open_device(s);
	for (uint32_t f = 0; f < s->n_families; f++)
		for (uint32_t i = 0; i < s->families[f].queueCount && i < 2; i++) {
			bool protect = s->wishes & WISH_PROTECTED && f == s->graphics;
			VkDeviceQueueInfo2 info = {
				.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2,
				.flags = VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT,
				.queueFamilyIndex = f,
				.queueIndex = i,
			};
			if (protect)
				vkGetDeviceQueue2(s->device, &info, &s->queues[f][i]);
			else
				vkGetDeviceQueue(s->device, f, i, &s->queues[f][i]);
		}
	s->queue = s->queues[s->graphics][0];
	for (uint32_t f = 0; f < s->n_families; f++) {
		VkCommandPoolCreateInfo info = {
			.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
			.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
			.queueFamilyIndex = f,
		};
		CHECK(vkCreateCommandPool(s->device, &info, allocator, &s->pools[f]));
		KEEP(KEPT_POOL, s->pools[f]);
	}
	s->fence = stream_fence(s);
}

static void
destroy(struct stream *s, const struct kept *k)
{
	VkDevice d = s->device;
	uint64_t h = k->handle;
	switch (k->kind) {
	case KEPT_POOL:
		vkDestroyCommandPool(d, (VkCommandPool)h, allocator);
		break;
	case KEPT_QUERIES:
		vkDestroyQueryPool(d, (VkQueryPool)h, allocator);
		break;
	case KEPT_FENCE:
		vkDestroyFence(d, (VkFence)h, allocator);
		break;
	case KEPT_SEMAPHORE:
		vkDestroySemaphore(d, (VkSemaphore)h, allocator);
		break;
	case KEPT_PASS:
		vkDestroyRenderPass(d, (VkRenderPass)h, allocator);
		break;
	case KEPT_FRAMEBUFFER:
		vkDestroyFramebuffer(d, (VkFramebuffer)h, allocator);
		break;
	case KEPT_VIEW:
		vkDestroyImageView(d, (VkImageView)h, allocator);
		break;
	case KEPT_IMAGE:
		vkDestroyImage(d, (VkImage)h, allocator);
		break;
	case KEPT_BUFFER:
		vkDestroyBuffer(d, (VkBuffer)h, allocator);
		break;
	case KEPT_MEMORY:
		vkFreeMemory(d, (VkDeviceMemory)h, allocator);
		break;
	case KEPT_SWAPCHAIN:
		vkDestroySwapchainKHR(d, (VkSwapchainKHR)h, allocator);
		break;
	case KEPT_SURFACE:
		vkDestroySurfaceKHR(s->instance, (VkSurfaceKHR)h, NULL);
		break;
	case KEPT_SESSION: {
		FUNCTION(vkDestroyVideoSessionKHR);
		p_vkDestroyVideoSessionKHR(d, (VkVideoSessionKHR)h, allocator);
		break;
	}
	}
}

void
stream_close(struct stream *s)
{
	if (s->device) {
		VkResult result = vkDeviceWaitIdle(s->device);
		if (result != VK_SUCCESS)
			printf("vkDeviceWaitIdle at the end: %d\n", (int)result);
		while (s->n_kept > 0)
			if (s->kept[--s->n_kept].handle)
				destroy(s, &s->kept[s->n_kept]);
		vkDestroyDevice(s->device, NULL);
	}
	if (s->instance)
		vkDestroyInstance(s->instance, NULL);
	s->device = VK_NULL_HANDLE;
	s->instance = VK_NULL_HANDLE;
}

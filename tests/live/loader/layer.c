/* SPDX-License-Identifier: MIT */
/* The Vulkan layer without Vulkan's loader and without a driver: two frames over functions that
 * only count. It is for machines that have neither; objects have handles that only differ in
 * the upper half of their 64 bits.
 *
 *     layer LIBRARY [orphan]
 *
 * orphan: the instance is destroyed before its device, which is used on.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VK_NO_PROTOTYPES 1
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define HANDLE(type, n) ((type)(uintptr_t)(n))
#if VK_USE_64_BIT_PTR_DEFINES
#define OBJECT(type, n) ((type)(uintptr_t)(UINT64_C(0x100000007) * (n)))
#else
#define OBJECT(type, n) ((type)((uint64_t)(n) << 32 | 7))
#endif

static int failures;
#define CHECK(what) \
	((what) ? (void)0 : (void)(failures++, printf("%d: %s\n", __LINE__, #what)))

/* Dispatchable objects begin with the loader's pointer. */
struct object {
	const void *dispatch;
};
static const int of_instance, of_device;
static struct object instance = { &of_instance }, gpu = { &of_instance },
		     device = { &of_device }, queue = { &of_device },
		     buffers[2] = { { &of_device }, { &of_device } };
static uint32_t n_objects, n_stamps, n_draws, n_submits, n_reads, n_destroyed;

static VKAPI_ATTR VkResult VKAPI_CALL
create_instance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *a,
		VkInstance *out)
{
	(void)info, (void)a;
	*out = HANDLE(VkInstance, &instance);
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
	      const VkAllocationCallbacks *a, VkDevice *out)
{
	(void)physical, (void)info, (void)a;
	*out = HANDLE(VkDevice, &device);
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL
properties(VkPhysicalDevice physical, VkPhysicalDeviceProperties *out)
{
	(void)physical;
	*out = (VkPhysicalDeviceProperties){ .apiVersion = VK_API_VERSION_1_0,
					     .deviceName = "nothing",
					     .limits.timestampPeriod = 1 };
}

static VKAPI_ATTR void VKAPI_CALL
features(VkPhysicalDevice physical, VkPhysicalDeviceFeatures *out)
{
	(void)physical;
	*out = (VkPhysicalDeviceFeatures){ .pipelineStatisticsQuery = VK_TRUE };
}

static VKAPI_ATTR void VKAPI_CALL
families(VkPhysicalDevice physical, uint32_t *n, VkQueueFamilyProperties *out)
{
	(void)physical;
	*n = 1;
	if (out)
		*out = (VkQueueFamilyProperties){
			.queueFlags = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT,
			.queueCount = 1,
			.timestampValidBits = 64,
		};
}

static VKAPI_ATTR VkResult VKAPI_CALL
extensions(VkPhysicalDevice physical, const char *layer, uint32_t *n, VkExtensionProperties *out)
{
	(void)physical, (void)layer, (void)out;
	*n = 0;
	return VK_SUCCESS;
}

/* Functions of every kind: device, info, allocator, out. */
static VKAPI_ATTR VkResult VKAPI_CALL
create(VkDevice d, const void *info, const VkAllocationCallbacks *a, VkFence *out)
{
	(void)d, (void)info, (void)a;
	*out = OBJECT(VkFence, ++n_objects);
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL
destroy(VkDevice d, VkFence object, const VkAllocationCallbacks *a)
{
	(void)d, (void)a;
	CHECK(object);
}

static VKAPI_ATTR VkResult VKAPI_CALL
allocate(VkDevice d, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *out)
{
	(void)d;
	for (uint32_t i = 0; i < info->commandBufferCount && i < 2; i++)
		out[i] = HANDLE(VkCommandBuffer, &buffers[i]);
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
begin(VkCommandBuffer b, const VkCommandBufferBeginInfo *info)
{
	(void)b, (void)info;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
end(VkCommandBuffer b)
{
	(void)b;
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL
begin_pass(VkCommandBuffer b, const VkRenderPassBeginInfo *info, VkSubpassContents contents)
{
	(void)b, (void)info, (void)contents;
}

static VKAPI_ATTR void VKAPI_CALL
end_pass(VkCommandBuffer b)
{
	(void)b;
}

static VKAPI_ATTR void VKAPI_CALL
draw(VkCommandBuffer b, uint32_t n, uint32_t times, uint32_t first, uint32_t instance_)
{
	(void)b;
	n_draws += n == 3 && times == 2 && first == 4 && instance_ == 5;
}

static VKAPI_ATTR void VKAPI_CALL
reset_queries(VkCommandBuffer b, VkQueryPool pool, uint32_t first, uint32_t n)
{
	(void)b, (void)first;
	CHECK(pool && n);
}

static VKAPI_ATTR void VKAPI_CALL
stamp(VkCommandBuffer b, VkPipelineStageFlagBits stage, VkQueryPool pool, uint32_t query)
{
	(void)b, (void)stage, (void)query;
	CHECK(pool);
	n_stamps++;
}

static VKAPI_ATTR void VKAPI_CALL
begin_query(VkCommandBuffer b, VkQueryPool pool, uint32_t query, VkQueryControlFlags flags)
{
	(void)b, (void)query, (void)flags;
	CHECK(pool);
}

static VKAPI_ATTR void VKAPI_CALL
end_query(VkCommandBuffer b, VkQueryPool pool, uint32_t query)
{
	(void)b, (void)query;
	CHECK(pool);
}

static VKAPI_ATTR VkResult VKAPI_CALL
results(VkDevice d, VkQueryPool pool, uint32_t first, uint32_t n, size_t size, void *data,
	VkDeviceSize stride, VkQueryResultFlags flags)
{
	(void)d, (void)pool, (void)n, (void)stride, (void)flags;
	uint64_t *words = data;
	for (size_t i = 0; i < size / 8; i++)
		words[i] = 1000 + first;
	n_reads++;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
submit(VkQueue q, uint32_t n, const VkSubmitInfo *infos, VkFence fence)
{
	(void)q, (void)infos;
	CHECK(n || fence);
	n_submits += n;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
fence_status(VkDevice d, VkFence fence)
{
	(void)d;
	CHECK(fence);
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
fences(VkDevice d, uint32_t n, const VkFence *list)
{
	(void)d;
	CHECK(n && *list);
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
wait(VkDevice d, uint32_t n, const VkFence *list, VkBool32 all, uint64_t timeout)
{
	(void)d, (void)all;
	CHECK(n && *list && timeout <= UINT64_C(2000000000));
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL
get_queue(VkDevice d, uint32_t family, uint32_t index, VkQueue *out)
{
	(void)d, (void)family, (void)index;
	*out = HANDLE(VkQueue, &queue);
}

static VKAPI_ATTR void VKAPI_CALL
destroy_parent(void *object, const VkAllocationCallbacks *a)
{
	(void)a;
	CHECK(object == &instance || object == &device);
	n_destroyed++;
}

#define ROW(name, function) { "vk" name, (PFN_vkVoidFunction)(void (*)(void))(function) }
static PFN_vkVoidFunction
look_up(const char *name)
{
	static const struct {
		const char *name;
		PFN_vkVoidFunction function;
	} rows[] = {
		ROW("CreateInstance", create_instance),
		ROW("DestroyInstance", destroy_parent),
		ROW("GetPhysicalDeviceProperties", properties),
		ROW("GetPhysicalDeviceFeatures", features),
		ROW("GetPhysicalDeviceQueueFamilyProperties", families),
		ROW("EnumerateDeviceExtensionProperties", extensions),
		ROW("CreateDevice", create_device),
		ROW("DestroyDevice", destroy_parent),
		ROW("CreateQueryPool", create),
		ROW("DestroyQueryPool", destroy),
		ROW("CreateFence", create),
		ROW("DestroyFence", destroy),
		ROW("CreateCommandPool", create),
		ROW("DestroyCommandPool", destroy),
		ROW("CreateRenderPass", create),
		ROW("DestroyRenderPass", destroy),
		ROW("CreateFramebuffer", create),
		ROW("DestroyFramebuffer", destroy),
		ROW("AllocateCommandBuffers", allocate),
		ROW("BeginCommandBuffer", begin),
		ROW("EndCommandBuffer", end),
		ROW("CmdBeginRenderPass", begin_pass),
		ROW("CmdEndRenderPass", end_pass),
		ROW("CmdDraw", draw),
		ROW("CmdResetQueryPool", reset_queries),
		ROW("CmdWriteTimestamp", stamp),
		ROW("CmdBeginQuery", begin_query),
		ROW("CmdEndQuery", end_query),
		ROW("GetQueryPoolResults", results),
		ROW("QueueSubmit", submit),
		ROW("GetFenceStatus", fence_status),
		ROW("ResetFences", fences),
		ROW("WaitForFences", wait),
		ROW("GetDeviceQueue", get_queue),
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].function;
	return NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
next_of_instance(VkInstance i, const char *name)
{
	(void)i;
	return look_up(name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
next_of_device(VkDevice d, const char *name)
{
	(void)d;
	return look_up(name);
}

/* ---- the game ---- */

static VkNegotiateLayerInterface layer = { .sType = LAYER_NEGOTIATE_INTERFACE_STRUCT,
					   .loaderLayerInterfaceVersion = 2 };
static VkInstance game_instance;
static VkDevice game_device;
#define CALL(name) ((PFN_vk##name)layer.pfnGetDeviceProcAddr(game_device, "vk" #name))

static void
make_device(void)
{
	VkLayerInstanceLink next = { .pfnNextGetInstanceProcAddr = next_of_instance };
	VkLayerInstanceCreateInfo link = {
		.sType = VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO,
		.function = VK_LAYER_LINK_INFO,
		.u.pLayerInfo = &next,
	};
	VkInstanceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
				      .pNext = &link };
	PFN_vkCreateInstance make =
		(PFN_vkCreateInstance)layer.pfnGetInstanceProcAddr(NULL, "vkCreateInstance");
	CHECK(make && make(&info, NULL, &game_instance) == VK_SUCCESS);
	VkLayerDeviceLink next_device = { .pfnNextGetInstanceProcAddr = next_of_instance,
					  .pfnNextGetDeviceProcAddr = next_of_device };
	VkLayerDeviceCreateInfo device_link = {
		.sType = VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO,
		.function = VK_LAYER_LINK_INFO,
		.u.pLayerInfo = &next_device,
	};
	VkDeviceCreateInfo device_info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
					   .pNext = &device_link };
	PFN_vkCreateDevice make_device_ = (PFN_vkCreateDevice)layer.pfnGetInstanceProcAddr(
		game_instance, "vkCreateDevice");
	CHECK(make_device_ && make_device_(HANDLE(VkPhysicalDevice, &gpu), &device_info, NULL,
					   &game_device) == VK_SUCCESS);
	CHECK(!layer.pfnGetDeviceProcAddr(game_device, "vkQueueSubmit2"));
}

static void
destroy_instance(void)
{
	PFN_vkDestroyInstance last = (PFN_vkDestroyInstance)layer.pfnGetInstanceProcAddr(
		game_instance, "vkDestroyInstance");
	last(game_instance, NULL);
}

static void
play(bool orphan)
{
	VkCommandBuffer cb[2];
	VkCommandPool pool;
	VkRenderPass passes[2];
	VkFramebuffer framebuffers[2];
	VkQueue q;
	CALL(GetDeviceQueue)(game_device, 0, 0, &q);
	VkSubpassDescription subpass = { .colorAttachmentCount = 0 };
	VkRenderPassCreateInfo pass = { .subpassCount = 1, .pSubpasses = &subpass };
	VkCommandPoolCreateInfo pool_info = { .queueFamilyIndex = 0 };
	CALL(CreateCommandPool)(game_device, &pool_info, NULL, &pool);
	for (uint32_t i = 0; i < 2; i++) {
		VkFramebufferCreateInfo size = { .width = 64 << i, .height = 64, .layers = 1 };
		CALL(CreateRenderPass)(game_device, &pass, NULL, &passes[i]);
		CALL(CreateFramebuffer)(game_device, &size, NULL, &framebuffers[i]);
	}
	VkCommandBufferAllocateInfo two = { .commandPool = pool, .commandBufferCount = 2 };
	CALL(AllocateCommandBuffers)(game_device, &two, cb);
	VkCommandBufferBeginInfo plain = { .flags = 0 };
	for (uint32_t i = 0; i < 2; i++) {
		CALL(BeginCommandBuffer)(cb[i], &plain);
		VkRenderPassBeginInfo info = { .renderPass = passes[i],
					       .framebuffer = framebuffers[i] };
		CALL(CmdBeginRenderPass)(cb[i], &info, VK_SUBPASS_CONTENTS_INLINE);
		CALL(CmdDraw)(cb[i], 3, 2, 4, 5);
		CALL(CmdEndRenderPass)(cb[i]);
		CALL(EndCommandBuffer)(cb[i]);
	}
	VkSubmitInfo info = { .commandBufferCount = 2, .pCommandBuffers = cb };
	for (int i = 0; i < 2; i++)
		CHECK(CALL(QueueSubmit)(q, 1, &info, VK_NULL_HANDLE) == VK_SUCCESS);
	CHECK(n_draws == 2);
	CHECK(n_submits == 2);
	if (orphan) {
		destroy_instance();
		CHECK(CALL(QueueSubmit)(q, 1, &info, VK_NULL_HANDLE) == VK_SUCCESS);
	}
	CALL(DestroyCommandPool)(game_device, pool, NULL);
	for (uint32_t i = 0; i < 2; i++) {
		CALL(DestroyFramebuffer)(game_device, framebuffers[i], NULL);
		CALL(DestroyRenderPass)(game_device, passes[i], NULL);
	}
	CALL(DestroyDevice)(game_device, NULL);
	if (!orphan)
		destroy_instance();
	CHECK(n_destroyed == 2);
}

int
main(int argc, char **argv)
{
	void *library = argc >= 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!library) {
		printf("%s\n", argc >= 2 ? dlerror() : "usage: layer LIBRARY [orphan]");
		return 2;
	}
	PFN_vkNegotiateLoaderLayerInterfaceVersion negotiate =
		(PFN_vkNegotiateLoaderLayerInterfaceVersion)dlsym(
			library, "vkNegotiateLoaderLayerInterfaceVersion");
	CHECK(negotiate && negotiate(&layer) == VK_SUCCESS);
	if (failures)
		return 1;
	bool off = getenv("PASSTALLY_DISABLE") != NULL;
	make_device();
	play(argc > 2);
	CHECK(off ? !n_stamps : n_stamps >= 8);
	CHECK(off ? !n_reads : n_reads > 0);
	return failures ? 1 : 0;
}

/* SPDX-License-Identifier: MIT */
/* tests/fake_vk_lie/lie.c - a Vulkan driver that lies: lavapipe, with one wrong answer.
 *
 * FAKE_VK_LIE=key=value,... with the keys of `lies` below; FAKE_VK_DRIVER names lavapipe's library.
 * The loader finds it by a manifest that the test writes. One device; a draw or a result may
 * come on any thread, and calls are counted without a lock.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vulkan/vk_icd.h>
#include <vulkan/vulkan.h>

#define EXPORTED __attribute__((visibility("default")))
#define MAX_POOLS 4096
#define MAX_BUFFERS 4096
#define MAX_COPIES 65536

/* Each key; 0 = off. */
static struct {
	unsigned plus; /* added to each result that is not a timestamp */
	unsigned unequal; /* the same for half of them */
	unsigned backwards; /* timestamps decrease where they should increase */
	unsigned even; /* each timestamp is this many ticks after the one before */
	unsigned pixels, fails; /* with a query pool: different pixels, or no submission */
	unsigned twice; /* the N-th draw goes through the loader once more */
	unsigned scale; /* timestampPeriod is multiplied by this */
	unsigned never; /* no result is ever available */
	unsigned hang, crash; /* the N-th draw */
	unsigned lost; /* the N-th submission loses the device */
	unsigned dead, stuck; /* the driver crashes, or hangs, when it is loaded */
} lies;

static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;
static PFN_vkCreateQueryPool next_create;
static PFN_vkGetQueryPoolResults next_results;
static PFN_vkGetPhysicalDeviceProperties next_properties;
static PFN_vkGetPhysicalDeviceProperties2 next_properties2;
static PFN_vkCmdDraw next_draw;
static PFN_vkQueueSubmit next_submit;
static PFN_vkQueueWaitIdle next_idle;
static PFN_vkBeginCommandBuffer next_begin;
static PFN_vkCmdCopyQueryPoolResults next_copy;
static PFN_vkBindBufferMemory next_bind;
static PFN_vkMapMemory next_map;
/* What is copied to memory, and where the program finds it. */
static struct {
	VkBuffer buffer;
	VkDeviceMemory memory;
	char *at;
} buffers[MAX_BUFFERS];
static struct copy {
	VkCommandBuffer commands; /* NULL: recorded anew since */
	VkQueryPool pool;
	VkBuffer buffer;
	VkDeviceSize offset, stride;
	uint32_t n;
} copies[MAX_COPIES];
static unsigned n_buffers, n_copies;
static VkQueryPool stamps[MAX_POOLS];
static unsigned n_stamps, n_draws, n_submits, n_pools;

static void
configure(void)
{
	const struct {
		const char *key;
		unsigned *value;
	} keys[] = {
		{ "plus", &lies.plus },   { "unequal", &lies.unequal },
		{ "scale", &lies.scale }, { "backwards", &lies.backwards },
		{ "never", &lies.never }, { "hang", &lies.hang },
		{ "crash", &lies.crash }, { "lost", &lies.lost },
		{ "dead", &lies.dead },   { "stuck", &lies.stuck },
		{ "even", &lies.even },   { "pixels", &lies.pixels },
		{ "fails", &lies.fails }, { "twice", &lies.twice },
	};
	const char *text = getenv("FAKE_VK_LIE");
	for (size_t i = 0; text && i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *found = strstr(text, keys[i].key);
		size_t n = strlen(keys[i].key);
		if (found && found[n] == '=')
			*keys[i].value = (unsigned)strtoul(found + n + 1, NULL, 10);
	}
}

static VkResult
create_pool(VkDevice device, const VkQueryPoolCreateInfo *info,
	    const VkAllocationCallbacks *allocator, VkQueryPool *pool)
{
	VkResult result = next_create(device, info, allocator, pool);
	n_pools++;
	if (result == VK_SUCCESS && info->queryType == VK_QUERY_TYPE_TIMESTAMP &&
	    n_stamps < MAX_POOLS)
		stamps[n_stamps++] = *pool;
	return result;
}

static void
lie_in(uint64_t *values, size_t n, bool stamp)
{
	static uint64_t first;
	static unsigned serial;
	/* Half of them, in an order that no pass follows. */
	bool chosen = (uint32_t)(++serial * 2654435761u) >> 31;
	for (size_t i = 0; i < n; i++) {
		if (!stamp)
			values[i] += lies.plus + (chosen ? lies.unequal : 0);
		else if (lies.even)
			values[i] = (first = first ? first + lies.even : values[i]);
		else if (lies.backwards)
			values[i] = (first = first ? first : values[i]) * 2 - values[i];
	}
}

/* For readers of 64-bit results only, such as passtally. */
static VkResult
get_results(VkDevice device, VkQueryPool pool, uint32_t first, uint32_t count, size_t size,
	    void *data, VkDeviceSize stride, VkQueryResultFlags flags)
{
	bool available = flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT;
	if (lies.never) {
		for (uint32_t i = 0; i < count && available; i++)
			memset((char *)data + i * stride, 0, (size_t)stride);
		return VK_NOT_READY;
	}
	VkResult result = next_results(device, pool, first, count, size, data, stride, flags);
	bool stamp = false;
	for (unsigned i = 0; i < n_stamps; i++)
		stamp |= stamps[i] == pool;
	for (uint32_t i = 0; result >= 0 && flags & VK_QUERY_RESULT_64_BIT && i < count; i++) {
		uint64_t *values = (uint64_t *)(void *)((char *)data + i * stride);
		size_t n = (count == 1 ? size : (size_t)stride) / sizeof(uint64_t);
		lie_in(values, n - available, stamp);
	}
	return result;
}

static VkResult
bind(VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset)
{
	if (n_buffers < MAX_BUFFERS && offset == 0) {
		buffers[n_buffers].buffer = buffer;
		buffers[n_buffers++].memory = memory;
	}
	return next_bind(device, buffer, memory, offset);
}

static VkResult
map(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
    VkMemoryMapFlags flags, void **data)
{
	VkResult result = next_map(device, memory, offset, size, flags, data);
	for (unsigned i = 0; result == VK_SUCCESS && i < n_buffers; i++)
		if (buffers[i].memory == memory)
			buffers[i].at = (char *)*data - offset;
	return result;
}

static VkResult
begin(VkCommandBuffer commands, const VkCommandBufferBeginInfo *info)
{
	for (unsigned i = 0; i < n_copies; i++)
		if (copies[i].commands == commands)
			copies[i].commands = NULL;
	return next_begin(commands, info);
}

/* What is copied once more, after a wait, has its lie then. */
static void
copy(VkCommandBuffer commands, VkQueryPool pool, uint32_t first, uint32_t n, VkBuffer buffer,
     VkDeviceSize offset, VkDeviceSize stride, VkQueryResultFlags flags)
{
	unsigned at = 0;
	while (at < n_copies && copies[at].commands)
		at++;
	if (at < MAX_COPIES && !(flags & VK_QUERY_RESULT_WAIT_BIT)) {
		copies[at] = (struct copy){ commands, pool, buffer, offset, stride, n };
		n_copies += at == n_copies;
	}
	next_copy(commands, pool, first, n, buffer, offset, stride, flags);
}

/* For results of 64 bits with availability, as passtally copies them. */
static void
lie_in_copy(const struct copy *c)
{
	char *data = NULL;
	bool stamp = false;
	for (unsigned i = 0; i < n_buffers; i++)
		data = buffers[i].buffer == c->buffer ? buffers[i].at : data;
	for (unsigned i = 0; i < n_stamps; i++)
		stamp |= stamps[i] == c->pool;
	for (uint32_t i = 0; data && i < c->n; i++) {
		uint64_t *values = (uint64_t *)(void *)(data + c->offset + i * c->stride);
		size_t n = (size_t)c->stride / sizeof(uint64_t) - 1;
		if (lies.never)
			values[n] = 0;
		if (values[n])
			lie_in(values, n, stamp);
	}
}

static void
get_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties *properties)
{
	next_properties(device, properties);
	if (lies.scale)
		properties->limits.timestampPeriod *= (float)lies.scale;
}

static void
get_properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *properties)
{
	next_properties2(device, properties);
	if (lies.scale)
		properties->properties.limits.timestampPeriod *= (float)lies.scale;
}

static void
draw(VkCommandBuffer commands, uint32_t vertices, uint32_t instances, uint32_t first,
     uint32_t first_instance)
{
	n_draws++;
	if (lies.crash && n_draws == lies.crash)
		raise(SIGSEGV);
	while (lies.hang && n_draws >= lies.hang)
		pause();
	next_draw(commands, lies.pixels && n_pools ? vertices - 3 : vertices, instances, first,
		  first_instance);
	if (lies.twice && n_draws == lies.twice) {
		PFN_vkCmdDraw again;
		*(void **)&again = dlsym(RTLD_DEFAULT, "vkCmdDraw");
		if (again)
			again(commands, vertices, instances, first, first_instance);
	}
}

static VkResult
wait_idle(VkQueue queue)
{
	return next_idle(queue);
}

static VkResult
submit(VkQueue queue, uint32_t n, const VkSubmitInfo *infos, VkFence fence)
{
	if ((lies.lost && ++n_submits >= lies.lost) || (lies.fails && n_pools))
		return VK_ERROR_DEVICE_LOST;
	VkResult result = next_submit(queue, n, infos, VK_NULL_HANDLE);
	if (result == VK_SUCCESS)
		result = next_idle(queue);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < infos[i].commandBufferCount; k++)
			for (unsigned at = 0; at < n_copies; at++)
				if (copies[at].commands == infos[i].pCommandBuffers[k])
					lie_in_copy(&copies[at]);
	return result == VK_SUCCESS && fence ? next_submit(queue, 0, NULL, fence) : result;
}

static PFN_vkVoidFunction get_device(VkDevice device, const char *name);

static PFN_vkVoidFunction
ours(const char *name, PFN_vkVoidFunction found)
{
	const struct {
		const char *name;
		void *next;
		PFN_vkVoidFunction call;
	} wrapped[] = {
#define ROW(name, next, call) { "vk" #name, &(next), (PFN_vkVoidFunction)(call) }
		ROW(CreateQueryPool, next_create, create_pool),
		ROW(GetQueryPoolResults, next_results, get_results),
		ROW(GetPhysicalDeviceProperties, next_properties, get_properties),
		ROW(GetPhysicalDeviceProperties2, next_properties2, get_properties2),
		ROW(QueueWaitIdle, next_idle, wait_idle),
		ROW(BeginCommandBuffer, next_begin, begin),
		ROW(CmdCopyQueryPoolResults, next_copy, copy),
		ROW(BindBufferMemory, next_bind, bind),
		ROW(MapMemory, next_map, map),
		ROW(CmdDraw, next_draw, draw),
		ROW(QueueSubmit, next_submit, submit),
		ROW(GetDeviceProcAddr, next_device, get_device),
#undef ROW
	};
	for (size_t i = 0; found && i < sizeof(wrapped) / sizeof(wrapped[0]); i++) {
		if (strcmp(name, wrapped[i].name) != 0)
			continue;
		memcpy(wrapped[i].next, &found, sizeof(found));
		return wrapped[i].call;
	}
	return found;
}

static PFN_vkVoidFunction
get_device(VkDevice device, const char *name)
{
	return ours(name, next_device(device, name));
}

static void *
driver_function(const char *name)
{
	static void *driver;
	if (!driver) {
		const char *path = getenv("FAKE_VK_DRIVER");
		driver = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
		configure();
		if (lies.dead)
			raise(SIGSEGV);
		while (lies.stuck)
			pause();
	}
	return driver ? dlsym(driver, name) : NULL;
}

EXPORTED VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetInstanceProcAddr(VkInstance instance, const char *name)
{
	if (!next_instance)
		*(void **)&next_instance = driver_function("vk_icdGetInstanceProcAddr");
	return next_instance ? ours(name, next_instance(instance, name)) : NULL;
}

EXPORTED VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name)
{
	PFN_vkGetInstanceProcAddr next;
	*(void **)&next = driver_function("vk_icdGetPhysicalDeviceProcAddr");
	return next ? ours(name, next(instance, name)) : NULL;
}

EXPORTED VKAPI_ATTR VkResult VKAPI_CALL
vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
	PFN_vkNegotiateLoaderICDInterfaceVersion next;
	*(void **)&next = driver_function("vk_icdNegotiateLoaderICDInterfaceVersion");
	return next ? next(version) : VK_ERROR_INITIALIZATION_FAILED;
}

/* SPDX-License-Identifier: MIT */
#include "tests/fake_vk/fake.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct fake_device *fake_current;
struct fake_object *fake_queues;
static uint32_t n_devices;
static uint32_t calls[2];

uint64_t
fake_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Advances with the CPU's clock, and runs ahead of it while commands run. */
uint64_t
fake_clock(void)
{
	double period = fake_config.period;
	uint64_t now = fake_now_ns();
	if (period > 0 && period < 1e9)
		now = (uint64_t)((double)now / period);
	if (fake_current && fake_current->clock < now)
		fake_current->clock = now;
	return fake_current ? fake_current->clock : now;
}

VkResult
fake_enter(const char *name, bool ours)
{
	if (fake_config.bench)
		return VK_SUCCESS;
	fake_lock();
	uint32_t at = ++calls[ours];
	bool fails = at == (ours ? fake_config.oom_ours : fake_config.oom);
	if (fails) {
		fake_line_begin("FAULT");
		fake_put_word(name);
		fake_line_end();
	}
	fake_unlock();
	return fails ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}

/* ---- creating a device ---- */

static bool
is_offered(uint32_t number, const char *feature)
{
	const struct fake_struct *s = &fake_structs[number];
	return !fake_has_word(fake_config.no, feature) && fake_home_is_there(s->homes, NULL) &&
	       strcmp(feature, "robustBufferAccess2") != 0;
}

static void
notice(struct fake_device *d, const char *feature)
{
	d->host_reset |= strcmp(feature, "hostQueryReset") == 0;
	d->inherited |= strcmp(feature, "inheritedQueries") == 0;
	d->statistics |= strcmp(feature, "pipelineStatisticsQuery") == 0;
	d->timeline |= strcmp(feature, "timelineSemaphore") == 0;
	d->mesh |= strcmp(feature, "meshShader") == 0;
	d->protected_memory |= strcmp(feature, "protectedMemory") == 0;
}

/* Prints which features are enabled, and returns whether all of them may be. */
static bool
take_features(struct fake_device *d, uint32_t number, const void *at)
{
	const struct fake_struct *s = &fake_structs[number];
	bool fine = true;
	for (size_t i = 0; i < s->n_members; i++) {
		VkBool32 on = VK_FALSE;
		if (s->members[i].kind != FAKE_INT)
			continue;
		memcpy(&on, (const char *)at + s->members[i].offset, sizeof(on));
		if (!on)
			continue;
		fake_put_word(s->members[i].name);
		notice(d, s->members[i].name);
		fine &= is_offered(number, s->members[i].name) &&
			!fake_has_word(fake_config.refuse, s->members[i].name);
	}
	return fine;
}

static bool
is_part_of_12(VkStructureType type)
{
	return type == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES ||
	       type == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES;
}

static VkResult
take_request(struct fake_device *d, const VkDeviceCreateInfo *info)
{
	bool fine = true;
	bool v12 = false, separate = false, features2 = false;
	if (info->pEnabledFeatures)
		fine &= take_features(d, FAKE_S_VkPhysicalDeviceFeatures,
				      info->pEnabledFeatures);
	for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
		if (s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2) {
			const VkPhysicalDeviceFeatures2 *f = (const void *)s;
			fine &= take_features(d, FAKE_S_VkPhysicalDeviceFeatures, &f->features);
			features2 = true;
		}
		if (s->sType == VK_STRUCTURE_TYPE_DEVICE_GROUP_DEVICE_CREATE_INFO)
			d->group_size = ((const VkDeviceGroupDeviceCreateInfo *)s)
						->physicalDeviceCount;
		v12 |= s->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
		separate |= is_part_of_12(s->sType);
		for (uint32_t i = 0; i < fake_n_structs; i++)
			if (fake_structs[i].features && fake_structs[i].stype == s->sType &&
			    fake_structs[i].stype)
				fine &= take_features(d, i, s);
	}
	if (v12 && separate)
		fake_rule("VUID-VkDeviceCreateInfo-pNext-02830", "1.2 features twice");
	if (features2 && info->pEnabledFeatures)
		fake_rule("VUID-VkDeviceCreateInfo-pNext-00373", "features twice");
	return fine ? VK_SUCCESS : VK_ERROR_FEATURE_NOT_PRESENT;
}

static VkResult
take_extensions(struct fake_device *d, const VkDeviceCreateInfo *info)
{
	VkResult result = VK_SUCCESS;
	for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
		const char *name = info->ppEnabledExtensionNames[i];
		fake_put_word(name);
		if (!fake_offers_extension(name) || fake_has_word(fake_config.refuse, name))
			result = VK_ERROR_EXTENSION_NOT_PRESENT;
		if (fake_has_word(d->extensions, name))
			continue;
		size_t n = strlen(d->extensions);
		snprintf(d->extensions + n, sizeof(d->extensions) - n, "+%s", name);
	}
	return result;
}

static void
make_queues(struct fake_device *d, const VkDeviceCreateInfo *info)
{
	for (uint32_t i = 0; i < info->queueCreateInfoCount; i++)
		for (uint32_t k = 0; k < info->pQueueCreateInfos[i].queueCount; k++) {
			struct fake_object *q = FAKE_OBJECT(fake_new(FAKE_VkQueue, false));
			q->queue.device = d;
			q->queue.family = info->pQueueCreateInfos[i].queueFamilyIndex;
			q->queue.flags = info->pQueueCreateInfos[i].flags;
			q->queue.index = k;
			q->next = fake_queues;
			fake_queues = q;
		}
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkCreateDevice(VkPhysicalDevice physicalDevice, const VkDeviceCreateInfo *pCreateInfo,
		    const VkAllocationCallbacks *pAllocator, VkDevice *pDevice)
{
	(void)physicalDevice;
	(void)pAllocator;
	if (fake_config.oom_device)
		return VK_ERROR_OUT_OF_HOST_MEMORY;
	struct fake_device *d = calloc(1, sizeof(*d));
	if (!d)
		return VK_ERROR_OUT_OF_HOST_MEMORY;
	set_loader_magic_value(d);
	d->version = fake_config.version < fake_instance_version ? fake_config.version
								 : fake_instance_version;
	d->group_size = 1;
	fake_line_begin("vkCreateDevice");
	VkResult result = take_request(d, pCreateInfo);
	VkResult extensions = take_extensions(d, pCreateInfo);
	if (extensions != VK_SUCCESS)
		result = extensions;
	fake_put_int(result);
	fake_line_end();
	if (result != VK_SUCCESS) {
		free(d);
		return result;
	}
	d->number = ++n_devices;
	fake_lock();
	make_queues(d, pCreateInfo);
	fake_current = d;
	fake_unlock();
	*pDevice = (VkDevice)d;
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL
fake_vkDestroyDevice(VkDevice device, const VkAllocationCallbacks *pAllocator)
{
	(void)pAllocator;
	if (!device)
		return;
	fake_lock();
	fake_line_begin("vkDestroyDevice");
	fake_line_end();
	fake_pump();
	if (--n_devices == 0) {
		if (fake_n_alive(true))
			fake_rule("VUID-vkDestroyDevice-device-00378",
				  "%u objects of a layer left", fake_n_alive(true));
		if (fake_n_alive(false))
			fake_rule("VUID-vkDestroyDevice-device-00378", "%u objects left",
				  fake_n_alive(false));
		for (const struct fake_object *q = fake_queues; q; q = q->next)
			if (!fake_queue_idle(q) && !((struct fake_device *)device)->lost)
				fake_rule("VUID-vkDestroyDevice-device-00378",
					  "a queue is busy");
		fake_queues = NULL;
	}
	fake_flush();
	fake_unlock();
	/* Not freed: the last device may still be asked whether it was lost. */
}

VKAPI_ATTR void VKAPI_CALL
fake_vkGetDeviceQueue2(VkDevice device, const VkDeviceQueueInfo2 *pQueueInfo, VkQueue *pQueue)
{
	*pQueue = VK_NULL_HANDLE;
	for (struct fake_object *q = fake_queues; q && !*pQueue; q = q->next)
		if (q->queue.device == (struct fake_device *)device &&
		    q->queue.family == pQueueInfo->queueFamilyIndex &&
		    q->queue.index == pQueueInfo->queueIndex &&
		    q->queue.flags == pQueueInfo->flags)
			*pQueue = (VkQueue)q;
}

VKAPI_ATTR void VKAPI_CALL
fake_vkGetDeviceQueue(VkDevice device, uint32_t queueFamilyIndex, uint32_t queueIndex,
		      VkQueue *pQueue)
{
	VkDeviceQueueInfo2 info = { .queueFamilyIndex = queueFamilyIndex,
				    .queueIndex = queueIndex };
	fake_vkGetDeviceQueue2(device, &info, pQueue);
}

/* ---- memory ---- */

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkAllocateMemory(VkDevice device, const VkMemoryAllocateInfo *pAllocateInfo,
		      const VkAllocationCallbacks *pAllocator, VkDeviceMemory *pMemory)
{
	(void)device;
	VkResult result = fake_enter("vkAllocateMemory", !pAllocator);
	if (result != VK_SUCCESS)
		return result;
	fake_line_begin("vkAllocateMemory");
	fake_put_int((int64_t)pAllocateInfo->allocationSize);
	fake_put_word(pAllocator ? "allocator" : "-");
	fake_line_end();
	struct fake_object *o = FAKE_OBJECT(fake_new(FAKE_VkDeviceMemory, !pAllocator));
	o->memory.size = pAllocateInfo->allocationSize;
	o->memory.bytes = calloc(1, pAllocateInfo->allocationSize);
	*pMemory = (VkDeviceMemory)(uintptr_t)o;
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL
fake_vkFreeMemory(VkDevice device, VkDeviceMemory memory,
		  const VkAllocationCallbacks *pAllocator)
{
	(void)device;
	(void)pAllocator;
	fake_free((uint64_t)(uintptr_t)memory);
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkMapMemory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
		 VkMemoryMapFlags flags, void **ppData)
{
	(void)device;
	(void)size;
	(void)flags;
	*ppData = (char *)FAKE_OBJECT(memory)->memory.bytes + offset;
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkCreateBuffer(VkDevice device, const VkBufferCreateInfo *pCreateInfo,
		    const VkAllocationCallbacks *pAllocator, VkBuffer *pBuffer)
{
	(void)device;
	VkResult result = fake_enter("vkCreateBuffer", !pAllocator);
	if (result != VK_SUCCESS)
		return result;
	struct fake_object *o = FAKE_OBJECT(fake_new(FAKE_VkBuffer, !pAllocator));
	o->memory.size = pCreateInfo->size;
	*pBuffer = (VkBuffer)(uintptr_t)o;
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL
fake_vkGetBufferMemoryRequirements(VkDevice device, VkBuffer buffer,
				   VkMemoryRequirements *pMemoryRequirements)
{
	(void)device;
	*pMemoryRequirements = (VkMemoryRequirements){
		(FAKE_OBJECT(buffer)->memory.size + 255) & ~UINT64_C(255), 256, 1
	};
}

VKAPI_ATTR void VKAPI_CALL
fake_vkGetImageMemoryRequirements(VkDevice device, VkImage image,
				  VkMemoryRequirements *pMemoryRequirements)
{
	(void)device;
	(void)image;
	*pMemoryRequirements = (VkMemoryRequirements){ 4096, 256, 1 };
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkBindBufferMemory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
			VkDeviceSize memoryOffset)
{
	(void)device;
	FAKE_OBJECT(buffer)->memory.memory = FAKE_OBJECT(memory);
	FAKE_OBJECT(buffer)->memory.offset = memoryOffset;
	return VK_SUCCESS;
}

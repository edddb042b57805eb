/* SPDX-License-Identifier: MIT */
#include "tests/fake_vk/fake.h"

#include <string.h>

static uint64_t
end_of(uint64_t timeout)
{
	uint64_t now = fake_now_ns();
	return timeout > UINT64_MAX - now ? UINT64_MAX : now + timeout;
}

static bool
is_lost(void *device)
{
	return ((struct fake_device *)device)->lost;
}

/* ---- fences ---- */

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkCreateFence(VkDevice device, const VkFenceCreateInfo *pCreateInfo,
		   const VkAllocationCallbacks *pAllocator, VkFence *pFence)
{
	(void)device;
	VkResult result = fake_enter("vkCreateFence", !pAllocator);
	if (result != VK_SUCCESS)
		return result;
	fake_lock();
	struct fake_object *o = FAKE_OBJECT(fake_new(FAKE_VkFence, !pAllocator));
	o->fence.signalled = pCreateInfo->flags & VK_FENCE_CREATE_SIGNALED_BIT;
	*pFence = (VkFence)(uintptr_t)o;
	fake_line_begin("vkCreateFence");
	fake_put_handle(FAKE_VkFence, (uint64_t)(uintptr_t)o);
	fake_put_int(pCreateInfo->flags);
	fake_put_word(pAllocator ? "allocator" : "-");
	fake_line_end();
	fake_unlock();
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL
fake_vkDestroyFence(VkDevice device, VkFence fence, const VkAllocationCallbacks *pAllocator)
{
	(void)pAllocator;
	if (!fence)
		return;
	fake_lock();
	fake_pump();
	fake_line_begin("vkDestroyFence");
	fake_put_handle(FAKE_VkFence, (uint64_t)(uintptr_t)fence);
	fake_line_end();
	if (FAKE_OBJECT(fence)->fence.pending && !is_lost(device))
		fake_rule("VUID-vkDestroyFence-fence-01120", "in use");
	fake_free((uint64_t)(uintptr_t)fence);
	fake_unlock();
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkResetFences(VkDevice device, uint32_t fenceCount, const VkFence *pFences)
{
	VkResult result = fake_enter("vkResetFences",
				     fenceCount && FAKE_OBJECT(pFences[0])->ours);
	if (result != VK_SUCCESS)
		return result;
	if (fake_config.reset_fences && fenceCount && FAKE_OBJECT(pFences[0])->ours)
		return (VkResult)fake_config.reset_fences;
	fake_lock();
	fake_pump();
	fake_line_begin("vkResetFences");
	fake_put_array(FAKE_HANDLE, FAKE_VkFence, sizeof(VkFence), pFences, fenceCount);
	fake_line_end();
	for (uint32_t i = 0; i < fenceCount; i++) {
		if (FAKE_OBJECT(pFences[i])->fence.pending && !is_lost(device))
			fake_rule("VUID-vkResetFences-pFences-01123", "in use");
		FAKE_OBJECT(pFences[i])->fence.signalled = false;
	}
	fake_unlock();
	return VK_SUCCESS;
}

static bool
is_signalled(VkFence fence)
{
	const struct fake_object *f = FAKE_OBJECT(fence);
	return f->fence.signalled && (!f->fence.from_ns || f->fence.from_ns <= fake_now_ns());
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkGetFenceStatus(VkDevice device, VkFence fence)
{
	if (fake_config.bench)
		return FAKE_OBJECT(fence)->fence.signalled ? VK_SUCCESS : VK_NOT_READY;
	VkResult result = fake_enter("vkGetFenceStatus", FAKE_OBJECT(fence)->ours);
	if (result != VK_SUCCESS)
		return result;
	if (is_lost(device))
		return VK_ERROR_DEVICE_LOST;
	fake_lock();
	fake_pump();
	bool done = is_signalled(fence);
	fake_unlock();
	return done ? VK_SUCCESS : VK_NOT_READY;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkWaitForFences(VkDevice device, uint32_t fenceCount, const VkFence *pFences,
		     VkBool32 waitAll, uint64_t timeout)
{
	VkResult result =
		fake_enter("vkWaitForFences", fenceCount && FAKE_OBJECT(pFences[0])->ours);
	if (result != VK_SUCCESS || fake_config.bench)
		return result;
	fake_lock();
	fake_line_begin("vkWaitForFences");
	fake_put_array(FAKE_HANDLE, FAKE_VkFence, sizeof(VkFence), pFences, fenceCount);
	fake_put_int((int64_t)timeout);
	fake_line_end();
	fake_pump();
	uint64_t until = end_of(timeout);
	result = VK_TIMEOUT;
	do {
		uint32_t n = 0;
		for (uint32_t i = 0; i < fenceCount; i++)
			n += is_signalled(pFences[i]);
		if (n == fenceCount || (n && !waitAll))
			result = VK_SUCCESS;
	} while (result == VK_TIMEOUT && !is_lost(device) && fake_wait_until(until));
	fake_unlock();
	return is_lost(device) ? VK_ERROR_DEVICE_LOST : result;
}

/* ---- semaphores ---- */

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkCreateSemaphore(VkDevice device, const VkSemaphoreCreateInfo *pCreateInfo,
		       const VkAllocationCallbacks *pAllocator, VkSemaphore *pSemaphore)
{
	VkResult result = fake_enter("vkCreateSemaphore", !pAllocator);
	if (result != VK_SUCCESS)
		return result;
	fake_lock();
	struct fake_object *o = FAKE_OBJECT(fake_new(FAKE_VkSemaphore, !pAllocator));
	for (const VkBaseInStructure *s = pCreateInfo->pNext; s; s = s->pNext)
		if (s->sType == VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO) {
			const VkSemaphoreTypeCreateInfo *t = (const void *)s;
			o->semaphore.timeline = t->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
			o->semaphore.value = t->initialValue;
		}
	if (o->semaphore.timeline && !((struct fake_device *)device)->timeline)
		fake_rule("VUID-VkSemaphoreTypeCreateInfo-timelineSemaphore-03252",
			  "not enabled");
	*pSemaphore = (VkSemaphore)(uintptr_t)o;
	fake_line_begin("vkCreateSemaphore");
	fake_put_handle(FAKE_VkSemaphore, (uint64_t)(uintptr_t)o);
	fake_put_int(o->semaphore.timeline);
	fake_put_word(pAllocator ? "allocator" : "-");
	fake_line_end();
	fake_unlock();
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkGetSemaphoreCounterValue(VkDevice device, VkSemaphore semaphore, uint64_t *pValue)
{
	VkResult result = fake_enter("vkGetSemaphoreCounterValue", FAKE_OBJECT(semaphore)->ours);
	if (result != VK_SUCCESS)
		return result;
	if (is_lost(device))
		return VK_ERROR_DEVICE_LOST;
	fake_lock();
	fake_pump();
	*pValue = FAKE_OBJECT(semaphore)->semaphore.value;
	fake_unlock();
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkSignalSemaphore(VkDevice device, const VkSemaphoreSignalInfo *pSignalInfo)
{
	(void)device;
	VkResult result =
		fake_enter("vkSignalSemaphore", FAKE_OBJECT(pSignalInfo->semaphore)->ours);
	if (result != VK_SUCCESS)
		return result;
	fake_lock();
	fake_line_begin("vkSignalSemaphore");
	fake_put_handle(FAKE_VkSemaphore, (uint64_t)(uintptr_t)pSignalInfo->semaphore);
	fake_put_int((int64_t)pSignalInfo->value);
	fake_line_end();
	FAKE_OBJECT(pSignalInfo->semaphore)->semaphore.value = pSignalInfo->value;
	fake_pump();
	fake_unlock();
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkWaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo *pWaitInfo, uint64_t timeout)
{
	VkResult result = fake_enter("vkWaitSemaphores", false);
	if (result != VK_SUCCESS)
		return result;
	fake_lock();
	fake_line_begin("vkWaitSemaphores");
	fake_put_array(FAKE_HANDLE, FAKE_VkSemaphore, sizeof(VkSemaphore),
		       pWaitInfo->pSemaphores, pWaitInfo->semaphoreCount);
	fake_line_end();
	fake_pump();
	uint64_t until = end_of(timeout);
	result = VK_TIMEOUT;
	do {
		uint32_t n = 0;
		for (uint32_t i = 0; i < pWaitInfo->semaphoreCount; i++)
			n += FAKE_OBJECT(pWaitInfo->pSemaphores[i])->semaphore.value >=
			     pWaitInfo->pValues[i];
		if (n == pWaitInfo->semaphoreCount ||
		    (n && (pWaitInfo->flags & VK_SEMAPHORE_WAIT_ANY_BIT)))
			result = VK_SUCCESS;
	} while (result == VK_TIMEOUT && !is_lost(device) && fake_wait_until(until));
	fake_unlock();
	return is_lost(device) ? VK_ERROR_DEVICE_LOST : result;
}

/* ---- idle ---- */

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkQueueWaitIdle(VkQueue queue)
{
	struct fake_object *q = FAKE_OBJECT(queue);
	VkResult result = fake_enter("vkQueueWaitIdle", false);
	if (result != VK_SUCCESS || fake_config.bench)
		return result;
	fake_lock();
	fake_line_begin("vkQueueWaitIdle");
	fake_put_handle(FAKE_VkQueue, (uint64_t)(uintptr_t)queue);
	fake_line_end();
	fake_pump();
	while (!fake_queue_idle(q) && fake_wait_until(UINT64_MAX))
		;
	fake_unlock();
	return is_lost(q->queue.device) ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkDeviceWaitIdle(VkDevice device)
{
	VkResult result = fake_enter("vkDeviceWaitIdle", false);
	if (result != VK_SUCCESS || fake_config.bench)
		return result;
	fake_lock();
	fake_line_begin("vkDeviceWaitIdle");
	fake_line_end();
	fake_pump();
	for (const struct fake_object *q = fake_queues; q; q = q->next)
		while (q->queue.device == (struct fake_device *)device && !fake_queue_idle(q) &&
		       fake_wait_until(UINT64_MAX))
			;
	fake_unlock();
	return is_lost(device) ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
}

/* ---- presenting ---- */

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkCreateSwapchainKHR(VkDevice device, const VkSwapchainCreateInfoKHR *pCreateInfo,
			  const VkAllocationCallbacks *pAllocator, VkSwapchainKHR *pSwapchain)
{
	(void)device;
	VkResult result = fake_enter("vkCreateSwapchainKHR", !pAllocator);
	if (result != VK_SUCCESS)
		return result;
	fake_lock();
	struct fake_object *o = FAKE_OBJECT(fake_new(FAKE_VkSwapchainKHR, !pAllocator));
	o->swapchain.n = pCreateInfo->minImageCount < 2 ? 2 : pCreateInfo->minImageCount;
	if (o->swapchain.n > 4)
		o->swapchain.n = 4;
	for (uint32_t i = 0; i < o->swapchain.n; i++)
		o->swapchain.images[i] =
			(VkImage)(uintptr_t)FAKE_OBJECT(fake_new(FAKE_VkImage, false));
	*pSwapchain = (VkSwapchainKHR)(uintptr_t)o;
	fake_line_begin("vkCreateSwapchainKHR");
	fake_put_array(FAKE_STRUCT, FAKE_S_VkSwapchainCreateInfoKHR, sizeof(*pCreateInfo),
		       pCreateInfo, 1);
	fake_line_end();
	fake_unlock();
	return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL
fake_vkDestroySwapchainKHR(VkDevice device, VkSwapchainKHR swapchain,
			   const VkAllocationCallbacks *pAllocator)
{
	(void)device;
	(void)pAllocator;
	if (!swapchain)
		return;
	struct fake_object *o = FAKE_OBJECT(swapchain);
	for (uint32_t i = 0; i < o->swapchain.n; i++)
		fake_free((uint64_t)(uintptr_t)o->swapchain.images[i]);
	fake_line_begin("vkDestroySwapchainKHR");
	fake_put_handle(FAKE_VkSwapchainKHR, (uint64_t)(uintptr_t)swapchain);
	fake_line_end();
	fake_free((uint64_t)(uintptr_t)swapchain);
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkGetSwapchainImagesKHR(VkDevice device, VkSwapchainKHR swapchain,
			     uint32_t *pSwapchainImageCount, VkImage *pSwapchainImages)
{
	(void)device;
	struct fake_object *o = FAKE_OBJECT(swapchain);
	if (!pSwapchainImages) {
		*pSwapchainImageCount = o->swapchain.n;
		return VK_SUCCESS;
	}
	VkResult result = *pSwapchainImageCount < o->swapchain.n ? VK_INCOMPLETE : VK_SUCCESS;
	if (*pSwapchainImageCount > o->swapchain.n)
		*pSwapchainImageCount = o->swapchain.n;
	memcpy(pSwapchainImages, o->swapchain.images, *pSwapchainImageCount * sizeof(VkImage));
	return result;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkAcquireNextImageKHR(VkDevice device, VkSwapchainKHR swapchain, uint64_t timeout,
			   VkSemaphore semaphore, VkFence fence, uint32_t *pImageIndex)
{
	(void)timeout;
	VkResult result = fake_enter("vkAcquireNextImageKHR", false);
	if (result != VK_SUCCESS)
		return result;
	if (is_lost(device))
		return VK_ERROR_DEVICE_LOST;
	struct fake_object *o = FAKE_OBJECT(swapchain);
	fake_line_begin("vkAcquireNextImageKHR");
	fake_put_handle(FAKE_VkSwapchainKHR, (uint64_t)(uintptr_t)swapchain);
	*pImageIndex = o->swapchain.next++ % o->swapchain.n;
	if (semaphore)
		FAKE_OBJECT(semaphore)->semaphore.value = 1;
	if (fence)
		FAKE_OBJECT(fence)->fence.signalled = true;
	fake_line_end();
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkQueuePresentKHR(VkQueue queue, const VkPresentInfoKHR *pPresentInfo)
{
	if (fake_config.bench)
		return VK_SUCCESS;
	VkResult result = fake_enter("vkQueuePresentKHR", false);
	if (result != VK_SUCCESS)
		return result;
	fake_lock();
	fake_line_begin("vkQueuePresentKHR");
	fake_put_handle(FAKE_VkQueue, (uint64_t)(uintptr_t)queue);
	fake_put_array(FAKE_STRUCT, FAKE_S_VkPresentInfoKHR, sizeof(*pPresentInfo), pPresentInfo,
		       1);
	fake_line_end();
	fake_pump();
	for (uint32_t i = 0; i < pPresentInfo->waitSemaphoreCount; i++) {
		struct fake_object *s = FAKE_OBJECT(pPresentInfo->pWaitSemaphores[i]);
		while (!s->semaphore.value && fake_wait_until(UINT64_MAX))
			;
		s->semaphore.value = 0;
	}
	bool lost = is_lost(FAKE_OBJECT(queue)->queue.device);
	result = lost ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
	for (uint32_t i = 0; pPresentInfo->pResults && i < pPresentInfo->swapchainCount; i++)
		pPresentInfo->pResults[i] = result;
	fake_unlock();
	return result;
}

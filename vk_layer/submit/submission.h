/* SPDX-License-Identifier: MIT */
/* vk_layer/submit/submission.h - what was submitted to a queue, and reading its results.
 *
 * One call of vkQueueSubmit is one struct vk_submission: the passes of its command buffers in
 * order, each with the entry in the log's frame that it fills. That frame is the one open at
 * submit time (R36). Results are read when one of our fences shows that the submission has
 * completed, or when the game submits the same recording again (R27), which it may do only
 * after completion. Fences follow a frame's end and every 16th submission, on the queues that
 * have something new. All of it with the device's lock; nothing here waits, except
 * vk_device_finish().
 */
#ifndef PASSTALLY_VK_LAYER_SUBMISSION_H
#define PASSTALLY_VK_LAYER_SUBMISSION_H

#include "vk_layer/record/recording.h"

/* Called before a Vulkan call that destroys the device; waits at most 2 s for a
 * fence of our own. */
void vk_device_finish(struct vk_device *d);
/* Called at the end of the process: hands over everything, and reads only
 * results that are ready. */
void vk_submissions_exit(void);
/* The game's own wait shows that something has completed: reads what is
 * ready. Takes the lock. */
void vk_drain(struct vk_device *d);

/* Writes the device line, and writes it again when something has changed. The caller
 * holds the lock. */
bool vk_describe(struct vk_device *d);

/* The hooks forward the call themselves. */
VkResult vk_queue_submit(struct vk_device *d, PFN_vkQueueSubmit next, VkQueue queue, uint32_t n,
			 const VkSubmitInfo *submits, VkFence fence);
VkResult vk_queue_submit2(struct vk_device *d, PFN_vkQueueSubmit2 next, VkQueue queue,
			  uint32_t n, const VkSubmitInfo2 *submits, VkFence fence);
VkResult vk_queue_bind_sparse(struct vk_device *d, PFN_vkQueueBindSparse next, VkQueue queue,
			      uint32_t n, const VkBindSparseInfo *infos, VkFence fence);
VkResult vk_queue_present(struct vk_device *d, PFN_vkQueuePresentKHR next, VkQueue queue,
			  const VkPresentInfoKHR *info);
VkResult vk_queue_wait_idle(struct vk_device *d, PFN_vkQueueWaitIdle next, VkQueue queue);
VkResult vk_device_wait_idle(struct vk_device *d, PFN_vkDeviceWaitIdle next, VkDevice device);
VkResult vk_wait_for_fences(struct vk_device *d, PFN_vkWaitForFences next, VkDevice device,
			    uint32_t n, const VkFence *fences, VkBool32 all, uint64_t timeout);
VkResult vk_wait_semaphores(struct vk_device *d, PFN_vkWaitSemaphores next, VkDevice device,
			    const VkSemaphoreWaitInfo *info, uint64_t timeout);
VkResult vk_create_semaphore(struct vk_device *d, PFN_vkCreateSemaphore next, VkDevice device,
			     const VkSemaphoreCreateInfo *info,
			     const VkAllocationCallbacks *allocator, VkSemaphore *out);
void vk_destroy_semaphore(struct vk_device *d, PFN_vkDestroySemaphore next, VkDevice device,
			  VkSemaphore semaphore, const VkAllocationCallbacks *allocator);
VkResult vk_signal_semaphore(struct vk_device *d, PFN_vkSignalSemaphore next, VkDevice device,
			     const VkSemaphoreSignalInfo *info);
VkResult vk_import_semaphore_fd(struct vk_device *d, PFN_vkImportSemaphoreFdKHR next,
				VkDevice device, const VkImportSemaphoreFdInfoKHR *info);
VkResult vk_acquire_next_image(struct vk_device *d, PFN_vkAcquireNextImageKHR next,
			       VkDevice device, VkSwapchainKHR swapchain, uint64_t timeout,
			       VkSemaphore semaphore, VkFence fence, uint32_t *index);
VkResult vk_acquire_next_image2(struct vk_device *d, PFN_vkAcquireNextImage2KHR next,
				VkDevice device, const VkAcquireNextImageInfoKHR *info,
				uint32_t *index);
void vk_get_device_queue(struct vk_device *d, PFN_vkGetDeviceQueue next, VkDevice device,
			 uint32_t family, uint32_t index, VkQueue *out);
void vk_get_device_queue2(struct vk_device *d, PFN_vkGetDeviceQueue2 next, VkDevice device,
			  const VkDeviceQueueInfo2 *info, VkQueue *out);
void vk_queue_label_begin(struct vk_device *d, PFN_vkQueueBeginDebugUtilsLabelEXT next,
			  VkQueue queue, const VkDebugUtilsLabelEXT *label);
void vk_queue_label_end(struct vk_device *d, PFN_vkQueueEndDebugUtilsLabelEXT next,
			VkQueue queue);
void vk_queue_label_insert(struct vk_device *d, PFN_vkQueueInsertDebugUtilsLabelEXT next,
			   VkQueue queue, const VkDebugUtilsLabelEXT *label);

#endif

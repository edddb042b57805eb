/* SPDX-License-Identifier: MIT */
/* vk_layer/submit/present.c - vkQueuePresentKHR and vkQueueBindSparse: where frames end. */
#include "vk_layer/submit/frames.h"
#include "vk_layer/submit/sampling.h"
#include "vk_layer/submit/submission.h"
#include "vk_layer/record/targets.h"

/* The largest extent of those presented. */
static struct tally_extent
presented_extent(struct vk_device *d, const VkPresentInfoKHR *info)
{
	struct tally_extent largest = vk_nothing_presented;
	for (uint32_t i = 0; i < info->swapchainCount; i++) {
		int64_t number;
		struct tally_extent e = vk_target_of_swapchain(d, info->pSwapchains[i], &number);
		if ((uint64_t)e.width * e.height > (uint64_t)largest.width * largest.height)
			largest = e;
	}
	return largest;
}

/* Called after a call on `q`, without the lock: the frame ends. */
static void
end_frame(struct vk_queue *q, void (*end)(struct vk_device *, struct vk_queue *,
					  struct tally_extent),
	  struct tally_extent presented)
{
	struct vk_device *d = q->device;
	uint64_t t0 = vk_overhead_begin(d);
	pthread_mutex_lock(&d->lock);
	end(d, q, presented);
	vk_collect_poll(d);
	bool fences = vk_collect_wants_fence(q);
	pthread_mutex_unlock(&d->lock);
	if (fences)
		vk_collect_fence(q);
	if (!t0)
		return;
	pthread_mutex_lock(&d->lock);
	vk_frame_overhead(q, vk_overhead_since(t0));
	pthread_mutex_unlock(&d->lock);
}

static bool
still_runs(struct vk_device *d, struct tally_clock_wait *wait, VkResult result)
{
	bool runs = vk_wait_end(d, wait, result);
	if (!runs)
		vk_give_up(d);
	return runs;
}

VkResult
vk_queue_present(struct vk_device *d, PFN_vkQueuePresentKHR next, VkQueue queue,
		 const VkPresentInfoKHR *info)
{
	struct vk_queue *q = vk_device_runs(d) ? vk_queue_find(queue) : NULL;
	/* Queried before the call: another thread may destroy a swapchain after it. */
	struct tally_extent presented = q ? presented_extent(d, info) : vk_nothing_presented;
	bool marked = q && vk_ends_frame(info->pNext);
	struct tally_clock_wait wait = vk_wait_begin(d);
	VkResult result = next(queue, info);
	if (!still_runs(d, &wait, result) || !q)
		return result;
	/* A present that failed has waited too (VK_ERROR_OUT_OF_DATE_KHR). */
	if (d->exact)
		d->exact->presented(q, info);
	end_frame(q, marked ? vk_frame_marked : vk_frame_presented, presented);
	return result;
}

VkResult
vk_queue_bind_sparse(struct vk_device *d, PFN_vkQueueBindSparse next, VkQueue queue, uint32_t n,
		     const VkBindSparseInfo *infos, VkFence fence)
{
	struct vk_queue *q = vk_device_runs(d) ? vk_queue_find(queue) : NULL;
	bool marked = false;
	for (uint32_t i = 0; i < n; i++)
		marked |= vk_ends_frame(infos[i].pNext);
	struct tally_clock_wait none = { 0 };
	vk_calls_down++;
	VkResult result = next(queue, n, infos, fence);
	if (!still_runs(d, &none, result) || !q || result != VK_SUCCESS)
		return result;
	if (d->exact)
		d->exact->bound(q, n, infos);
	if (marked)
		end_frame(q, vk_frame_marked, vk_nothing_presented);
	return result;
}

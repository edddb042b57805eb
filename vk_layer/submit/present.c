/* SPDX-License-Identifier: MIT */
/* vk_layer/submit/present.c - vkQueuePresentKHR and vkQueueBindSparse: where frames end. */
#include "vk_layer/picture/picture.h"
#include "vk_layer/submit/collect.h"
#include "vk_layer/submit/describe.h"
#include "vk_layer/submit/frames.h"
#include "vk_layer/submit/sampling.h"
#include "vk_layer/submit/submission.h"
#include "vk_layer/record/targets.h"

struct presented {
	struct tally_presented what;
	struct vk_presents how;
};

/* VkSwapchainPresentModeInfoEXT, which the oldest headers that we build with lack: modes for this
 * present and those that follow. */
#define PRESENT_MODE_INFO 1000275003
struct present_mode_info {
	VkStructureType type;
	const void *next;
	uint32_t n;
	const VkPresentModeKHR *modes;
};

/* The largest of those presented. */
static struct presented
presented_by(struct vk_device *d, const VkPresentInfoKHR *info)
{
	const struct present_mode_info *now =
		vk_find_in_chain(info->pNext, PRESENT_MODE_INFO);
	struct presented largest = { .what = vk_nothing_presented };
	for (uint32_t i = 0; i < info->swapchainCount; i++) {
		struct presented p;
		p.what = vk_target_of_swapchain(d, info->pSwapchains[i], &p.how);
		if (now && i < now->n)
			p.how.mode = now->modes[i];
		const struct tally_extent most = largest.what.size, size = p.what.size;
		if ((uint64_t)size.width * size.height > (uint64_t)most.width * most.height)
			largest = p;
	}
	if (info->swapchainCount > 1)
		largest.what.window = 0;
	return largest;
}

/* Called after a call on `q`, without the lock: the frame ends. */
static void
end_frame(struct vk_queue *q, void (*end)(struct vk_device *, struct vk_queue *,
					  struct tally_presented),
	  const struct presented *presented)
{
	struct vk_device *d = q->device;
	uint64_t t0 = vk_overhead_begin(d);
	pthread_mutex_lock(&d->lock);
	if (presented->how.images)
		vk_describe_presents(d, presented->how);
	end(d, q, presented->what);
	vk_collect_poll(d);
	bool fences = vk_collect_wants_fence(q);
	vk_pictures_unlock(d, true);
	if (fences)
		vk_collect_fence(q);
	if (!t0)
		return;
	pthread_mutex_lock(&d->lock);
	vk_frame_overhead(q, vk_overhead_since(t0));
	pthread_mutex_unlock(&d->lock);
}

static bool
still_runs(struct vk_device *d, const struct tally_clock_wait *wait, VkResult result)
{
	bool runs = vk_wait_end(d, wait, result, TALLY_N_EVENTS, NULL);
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
	struct presented presented = { .what = vk_nothing_presented };
	if (q)
		presented = presented_by(d, info);
	bool marked = q && vk_ends_frame(info->pNext);
	struct tally_clock_wait wait = vk_wait_begin(d);
	VkResult result = next(queue, info);
	if (!still_runs(d, &wait, result) || !q)
		return result;
	if (!d->is_zink)
		tally_presented_by_vulkan();
	end_frame(q, marked ? vk_frame_marked : vk_frame_presented, &presented);
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
	const struct presented none_presented = { .what = vk_nothing_presented };
	vk_calls_down++;
	VkResult result = next(queue, n, infos, fence);
	if (!still_runs(d, &none, result) || !q || result != VK_SUCCESS)
		return result;
	if (d->exact)
		d->exact->bound(q, n, infos);
	if (marked)
		end_frame(q, vk_frame_marked, &none_presented);
	return result;
}

/* SPDX-License-Identifier: MIT */
#include "vk_layer/exact/slices.h"

bool
vk_batch_may_cut(const struct vk_batches *b, uint32_t i)
{
	const VkBaseInStructure *s = b->one ? b->one[i].pNext : b->two[i].pNext;
	return !s || (s->sType == VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO && !s->pNext);
}

static const void *
cut_timeline(const VkTimelineSemaphoreSubmitInfo *from, const struct vk_slice *slice,
	     struct vk_slice_info *out)
{
	VkTimelineSemaphoreSubmitInfo *t = &out->timeline;
	if (!from)
		return NULL;
	*t = *from;
	if (!slice->waits) {
		t->waitSemaphoreValueCount = 0;
		t->pWaitSemaphoreValues = NULL;
	}
	if (!slice->signals) {
		t->signalSemaphoreValueCount = 0;
		t->pSignalSemaphoreValues = NULL;
	}
	return t;
}

static void
build_one(const VkSubmitInfo *from, const struct vk_slice *slice,
	  struct vk_slice_info *out)
{
	VkSubmitInfo *to = &out->one;
	*to = *from;
	to->pNext = cut_timeline(from->pNext, slice, out);
	to->commandBufferCount = slice->n;
	to->pCommandBuffers = slice->n ? from->pCommandBuffers + slice->first : NULL;
	if (!slice->waits) {
		to->waitSemaphoreCount = 0;
		to->pWaitSemaphores = NULL;
		to->pWaitDstStageMask = NULL;
	}
	if (!slice->signals) {
		to->signalSemaphoreCount = 0;
		to->pSignalSemaphores = NULL;
	}
	out->batches = (struct vk_batches){ .n = 1, .one = to };
}

static void
build_two(const VkSubmitInfo2 *from, const struct vk_slice *slice,
	  struct vk_slice_info *out)
{
	VkSubmitInfo2 *to = &out->two;
	*to = *from;
	to->pNext = cut_timeline(from->pNext, slice, out);
	to->commandBufferInfoCount = slice->n;
	to->pCommandBufferInfos = slice->n ? from->pCommandBufferInfos + slice->first
					   : NULL;
	if (!slice->waits) {
		to->waitSemaphoreInfoCount = 0;
		to->pWaitSemaphoreInfos = NULL;
	}
	if (!slice->signals) {
		to->signalSemaphoreInfoCount = 0;
		to->pSignalSemaphoreInfos = NULL;
	}
	out->batches = (struct vk_batches){ .n = 1, .two = to };
}

void
vk_slice_build(const struct vk_batches *b, const struct vk_slice *slice,
	       struct vk_slice_info *out)
{
	if (b->one)
		build_one(&b->one[slice->batch], slice, out);
	else
		build_two(&b->two[slice->batch], slice, out);
}

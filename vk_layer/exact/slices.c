/* SPDX-License-Identifier: MIT */
#include "vk_layer/exact/slices.h"

#define STYPE_FRAME_BOUNDARY 1000375001
/* No structure may be repeated in a chain, but a driver may accept it. */
static bool
is_repeated(const VkBaseInStructure *s)
{
	for (const VkBaseInStructure *other = s->pNext; other; other = other->pNext)
		if (other->sType == s->sType)
			return true;
	return false;
}

bool
vk_batch_has_waits(const struct vk_batches *b, uint32_t i)
{
	return b->one ? b->one[i].waitSemaphoreCount : b->two[i].waitSemaphoreInfoCount;
}

bool
vk_batch_may_cut(const struct vk_batches *b, uint32_t i)
{
	const VkBaseInStructure *s = b->one ? b->one[i].pNext : b->two[i].pNext;
	for (; s; s = s->pNext) {
		bool is_known = s->sType == VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO ||
				(int)s->sType == STYPE_FRAME_BOUNDARY;
		if (!is_known || is_repeated(s))
			return false; /* a slice has room for one of each */
	}
	return true;
}

static void
cut_timeline(VkTimelineSemaphoreSubmitInfo *t, const struct vk_slice *slice)
{
	if (!slice->waits) {
		t->waitSemaphoreValueCount = 0;
		t->pWaitSemaphoreValues = NULL;
	}
	if (!slice->signals) {
		t->signalSemaphoreValueCount = 0;
		t->pSignalSemaphoreValues = NULL;
	}
}

/* A frame ends with the last slice. */
static const void *
copy_chain(const void *chain, const struct vk_slice *slice, struct vk_slice_info *out)
{
	const VkTimelineSemaphoreSubmitInfo *timeline = vk_find_in_chain(
		chain, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
	const struct vk_slice_frame *frame =
		vk_find_in_chain(chain, STYPE_FRAME_BOUNDARY);
	const void *head = NULL;
	if (frame && slice->last) {
		out->frame = *frame;
		out->frame.pNext = NULL;
		head = &out->frame;
	}
	if (timeline) {
		out->timeline = *timeline;
		out->timeline.pNext = head;
		cut_timeline(&out->timeline, slice);
		head = &out->timeline;
	}
	return head;
}

static void
build_one(const VkSubmitInfo *from, const struct vk_slice *slice,
	  struct vk_slice_info *out)
{
	VkSubmitInfo *to = &out->one;
	*to = *from;
	to->pNext = copy_chain(from->pNext, slice, out);
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
	to->pNext = copy_chain(from->pNext, slice, out);
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

/* SPDX-License-Identifier: MIT */
#include "vk_layer/exact/slices.h"

#define STYPE_FRAME_BOUNDARY 1000375001
#define STYPE_LATENCY_SUBMISSION 1000505005

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
vk_batch_may_cut(const struct vk_batches *b, uint32_t i)
{
	const VkBaseInStructure *s = b->one ? b->one[i].pNext : b->two[i].pNext;
	for (; s; s = s->pNext) {
		if (is_repeated(s))
			return false; /* a slice has room for one of each */
		switch ((int)s->sType) {
		case VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO:
		case VK_STRUCTURE_TYPE_DEVICE_GROUP_SUBMIT_INFO:
		case VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO:
		case VK_STRUCTURE_TYPE_PERFORMANCE_QUERY_SUBMIT_INFO_KHR:
		case STYPE_FRAME_BOUNDARY:
		case STYPE_LATENCY_SUBMISSION:
			break;
		default:
			/* This includes keyed mutexes: one structure acquires before the work
			 * and releases after it. */
			return false;
		}
	}
	return true;
}

bool
vk_batch_has_waits(const struct vk_batches *b, uint32_t i)
{
	return b->one ? b->one[i].waitSemaphoreCount : b->two[i].waitSemaphoreInfoCount;
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

static void
cut_group(VkDeviceGroupSubmitInfo *g, const struct vk_slice *slice)
{
	if (!slice->waits) {
		g->waitSemaphoreCount = 0;
		g->pWaitSemaphoreDeviceIndices = NULL;
	}
	if (!slice->signals) {
		g->signalSemaphoreCount = 0;
		g->pSignalSemaphoreDeviceIndices = NULL;
	}
	if (!g->commandBufferCount)
		return;
	g->commandBufferCount = slice->n;
	g->pCommandBufferDeviceMasks = slice->n ? g->pCommandBufferDeviceMasks +
							  slice->first
						: NULL;
}

/* The copy of a structure, in `out`; NULL: it is left out of this slice. */
static VkBaseInStructure *
copy_one(const VkBaseInStructure *from, const struct vk_slice *slice,
	 struct vk_slice_info *out)
{
	switch ((int)from->sType) {
	case VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO:
		out->timeline = *(const VkTimelineSemaphoreSubmitInfo *)from;
		cut_timeline(&out->timeline, slice);
		return (VkBaseInStructure *)&out->timeline;
	case VK_STRUCTURE_TYPE_DEVICE_GROUP_SUBMIT_INFO:
		out->group = *(const VkDeviceGroupSubmitInfo *)from;
		cut_group(&out->group, slice);
		return (VkBaseInStructure *)&out->group;
	case VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO:
		out->protection = *(const VkProtectedSubmitInfo *)from;
		return (VkBaseInStructure *)&out->protection;
	case VK_STRUCTURE_TYPE_PERFORMANCE_QUERY_SUBMIT_INFO_KHR:
		out->performance = *(const VkPerformanceQuerySubmitInfoKHR *)from;
		return (VkBaseInStructure *)&out->performance;
	case STYPE_LATENCY_SUBMISSION:
		out->latency = *(const struct vk_slice_latency *)from;
		return (VkBaseInStructure *)&out->latency;
	case STYPE_FRAME_BOUNDARY:
		if (!slice->last)
			return NULL;
		out->frame = *(const struct vk_slice_frame *)from;
		return (VkBaseInStructure *)&out->frame;
	default:
		return NULL;
	}
}

static const void *
copy_chain(const void *chain, const struct vk_slice *slice, struct vk_slice_info *out)
{
	const VkBaseInStructure *head = NULL;
	for (const VkBaseInStructure *s = chain; s; s = s->pNext) {
		VkBaseInStructure *copy = copy_one(s, slice, out);
		if (!copy)
			continue;
		copy->pNext = head;
		head = copy;
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

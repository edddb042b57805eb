/* SPDX-License-Identifier: MIT */
#include "vk_layer/exact/slices.h"

#include <stddef.h>
#include <string.h>

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
vk_batch_has_waits(const struct vk_batches *b, uint32_t i)
{
	return b->one ? b->one[i].waitSemaphoreCount : b->two[i].waitSemaphoreInfoCount;
}

static void
cut_timeline(void *copy, const struct vk_slice *slice)
{
	VkTimelineSemaphoreSubmitInfo *t = copy;
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
cut_group(void *copy, const struct vk_slice *slice)
{
	VkDeviceGroupSubmitInfo *g = copy;
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

/* The structures that can be cut. Keyed mutexes are not among them: one structure acquires
 * before the work and releases after it. */
static const struct kind {
	int type;
	size_t offset, size; /* of the copy in struct vk_slice_info */
	void (*cut)(void *copy, const struct vk_slice *slice); /* NULL: goes with each slice */
} kinds[] = {
#define KIND(type, member, cut) \
	{ type, offsetof(struct vk_slice_info, member), \
	  sizeof(((struct vk_slice_info *)NULL)->member), cut }
	KIND(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, timeline, cut_timeline),
	KIND(VK_STRUCTURE_TYPE_DEVICE_GROUP_SUBMIT_INFO, group, cut_group),
	KIND(VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO, protection, NULL),
	KIND(VK_STRUCTURE_TYPE_PERFORMANCE_QUERY_SUBMIT_INFO_KHR, performance, NULL),
	KIND(STYPE_LATENCY_SUBMISSION, latency, NULL),
	KIND(STYPE_FRAME_BOUNDARY, frame, NULL), /* only with the last slice */
#undef KIND
};

static const struct kind *
find_kind(const VkBaseInStructure *s)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].type == (int)s->sType)
			return &kinds[i];
	return NULL;
}

bool
vk_batch_may_cut(const struct vk_batches *b, uint32_t i)
{
	const VkBaseInStructure *s = b->one ? b->one[i].pNext : b->two[i].pNext;
	for (; s; s = s->pNext)
		if (is_repeated(s) || !find_kind(s))
			return false; /* a slice has room for one of each */
	return true;
}

/* The copy of a structure, in `out`; NULL: it is left out of this slice. */
static VkBaseInStructure *
copy_one(const VkBaseInStructure *from, const struct vk_slice *slice,
	 struct vk_slice_info *out)
{
	const struct kind *kind = find_kind(from);
	if (!kind || (kind->type == STYPE_FRAME_BOUNDARY && !slice->last))
		return NULL;
	void *copy = (char *)out + kind->offset;
	memcpy(copy, from, kind->size);
	if (kind->cut)
		kind->cut(copy, slice);
	return copy;
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

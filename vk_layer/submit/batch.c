/* SPDX-License-Identifier: MIT */
#include "vk_layer/submit/batch.h"

#include <stdlib.h>
#include <string.h>

/* Newer than Debian's headers: VK_EXT_frame_boundary. */
#define STYPE_FRAME_BOUNDARY 1000375001
#define FRAME_END 1u

struct frame_boundary {
	VkStructureType sType;
	const void *pNext;
	VkFlags flags;
	uint64_t frameID;
};

uint32_t
vk_batch_n_buffers(const struct vk_batches *b, uint32_t i)
{
	return b->one ? b->one[i].commandBufferCount : b->two[i].commandBufferInfoCount;
}

VkCommandBuffer
vk_batch_buffer(const struct vk_batches *b, uint32_t i, uint32_t n)
{
	return b->one ? b->one[i].pCommandBuffers[n] :
			b->two[i].pCommandBufferInfos[n].commandBuffer;
}

bool
vk_batch_waits(const struct vk_batches *b, uint32_t i)
{
	return b->one ? b->one[i].waitSemaphoreCount : b->two[i].waitSemaphoreInfoCount;
}

bool
vk_batch_is_plain(const struct vk_batches *b, uint32_t i)
{
	if (b->one) {
		const void *chain = b->one[i].pNext;
		const VkProtectedSubmitInfo *p =
			vk_find_in_chain(chain, VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO);
		return !(p && p->protectedSubmit) &&
		       !vk_find_in_chain(chain, VK_STRUCTURE_TYPE_DEVICE_GROUP_SUBMIT_INFO);
	}
	if (b->two[i].flags & VK_SUBMIT_PROTECTED_BIT)
		return false;
	for (uint32_t n = 0; n < b->two[i].commandBufferInfoCount; n++)
		if (b->two[i].pCommandBufferInfos[n].deviceMask)
			return false;
	return true;
}

bool
vk_ends_frame(const void *chain)
{
	const struct frame_boundary *f = vk_find_in_chain(chain, STYPE_FRAME_BOUNDARY);
	return f && (f->flags & FRAME_END);
}

bool
vk_batches_end_frame(const struct vk_batches *b)
{
	bool ends = false;
	for (uint32_t i = 0; i < b->n; i++)
		ends |= vk_ends_frame(b->one ? b->one[i].pNext : b->two[i].pNext);
	return ends;
}

/* ---- with intervals around ---- */

static void
bracket_one(const struct vk_batches *b, struct vk_batch_interval *const *pairs,
	    VkSubmitInfo *infos, VkCommandBuffer *buffers)
{
	for (uint32_t i = 0; i < b->n; i++) {
		infos[i] = b->one[i];
		if (!pairs[i])
			continue;
		uint32_t n = infos[i].commandBufferCount;
		buffers[0] = pairs[i]->first;
		memcpy(buffers + 1, infos[i].pCommandBuffers, n * sizeof(*buffers));
		buffers[n + 1] = pairs[i]->last;
		infos[i].pCommandBuffers = buffers;
		infos[i].commandBufferCount = n + 2;
		buffers += n + 2;
	}
}

static void
bracket_two(const struct vk_batches *b, struct vk_batch_interval *const *pairs,
	    VkSubmitInfo2 *infos, VkCommandBufferSubmitInfo *buffers)
{
	for (uint32_t i = 0; i < b->n; i++) {
		infos[i] = b->two[i];
		if (!pairs[i])
			continue;
		uint32_t n = infos[i].commandBufferInfoCount;
		buffers[0] = (VkCommandBufferSubmitInfo){
			.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
			.commandBuffer = pairs[i]->first,
		};
		memcpy(buffers + 1, infos[i].pCommandBufferInfos, n * sizeof(*buffers));
		buffers[n + 1] = buffers[0];
		buffers[n + 1].commandBuffer = pairs[i]->last;
		infos[i].pCommandBufferInfos = buffers;
		infos[i].commandBufferInfoCount = n + 2;
		buffers += n + 2;
	}
}

bool
vk_batches_surround(const struct vk_batches *b, struct vk_batch_interval *const *pairs,
		    struct vk_batches *out, void **memory)
{
	size_t n_buffers = 0;
	for (uint32_t i = 0; i < b->n; i++)
		n_buffers += pairs[i] ? (size_t)vk_batch_n_buffers(b, i) + 2 : 0;
	size_t info = b->one ? sizeof(VkSubmitInfo) : sizeof(VkSubmitInfo2);
	size_t buffer = b->one ? sizeof(VkCommandBuffer)
			       : sizeof(VkCommandBufferSubmitInfo);
	char *block = calloc(1, b->n * info + n_buffers * buffer);
	*out = *b;
	*memory = block;
	if (!block)
		return false;
	if (b->one) {
		bracket_one(b, pairs, (VkSubmitInfo *)block,
			    (VkCommandBuffer *)(block + b->n * info));
		out->one = (const VkSubmitInfo *)block;
	} else {
		bracket_two(b, pairs, (VkSubmitInfo2 *)block,
			    (VkCommandBufferSubmitInfo *)(block + b->n * info));
		out->two = (const VkSubmitInfo2 *)block;
	}
	return true;
}

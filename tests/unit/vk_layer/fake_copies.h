/* SPDX-License-Identifier: MIT */
/* tests/unit/vk_layer/fake_copies.h - memory that results are copied to, for the driver of
 * tests/unit/query/fake_queries.h: one buffer at a time is bound to one allocation.
 */
#ifndef PASSTALLY_TESTS_UNIT_FAKE_COPIES_H
#define PASSTALLY_TESTS_UNIT_FAKE_COPIES_H

#include "tests/unit/query/fake_queries.h"
#include "vk_layer/state.h"

static struct {
	unsigned n_live; /* buffers and allocations */
	unsigned fail;	 /* the n-th call that can fails; 0: none */
} copies;

struct copies_buffer {
	size_t bytes;
	char *memory;
};

static inline VkResult
copies_called(void)
{
	return copies.fail && !--copies.fail ? VK_ERROR_OUT_OF_DEVICE_MEMORY : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
copies_create(VkDevice device, const VkBufferCreateInfo *info, const VkAllocationCallbacks *a,
	      VkBuffer *out)
{
	(void)device;
	g_assert_null(a);
	g_assert_cmphex(info->usage, ==, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
	if (copies_called() != VK_SUCCESS)
		return VK_ERROR_OUT_OF_DEVICE_MEMORY;
	struct copies_buffer *buffer = g_new0(struct copies_buffer, 1);
	buffer->bytes = info->size;
	copies.n_live++;
	*out = (VkBuffer)(uintptr_t)buffer;
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL
copies_destroy(VkDevice device, VkBuffer buffer, const VkAllocationCallbacks *a)
{
	(void)device, (void)a;
	g_free((void *)(uintptr_t)buffer);
	copies.n_live--;
}

static VKAPI_ATTR void VKAPI_CALL
copies_needs(VkDevice device, VkBuffer buffer, VkMemoryRequirements *out)
{
	(void)device;
	*out = (VkMemoryRequirements){ ((struct copies_buffer *)(uintptr_t)buffer)->bytes, 8, 6 };
}

static VKAPI_ATTR void VKAPI_CALL
copies_types(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties *out)
{
	(void)device;
	*out = (VkPhysicalDeviceMemoryProperties){ .memoryTypeCount = 3 };
	out->memoryTypes[1].propertyFlags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
					    VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
	out->memoryTypes[2].propertyFlags = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
}

static VKAPI_ATTR VkResult VKAPI_CALL
copies_allocate(VkDevice device, const VkMemoryAllocateInfo *info, const VkAllocationCallbacks *a,
		VkDeviceMemory *out)
{
	(void)device, (void)a;
	g_assert_cmpuint(info->memoryTypeIndex, ==, 1);
	if (copies_called() != VK_SUCCESS)
		return VK_ERROR_OUT_OF_DEVICE_MEMORY;
	copies.n_live++;
	*out = (VkDeviceMemory)(uintptr_t)g_malloc0(info->allocationSize);
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL
copies_free(VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks *a)
{
	(void)device, (void)a;
	g_free((void *)(uintptr_t)memory);
	copies.n_live--;
}

static VKAPI_ATTR VkResult VKAPI_CALL
copies_bind(VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset)
{
	(void)device;
	g_assert_cmpuint(offset, ==, 0);
	((struct copies_buffer *)(uintptr_t)buffer)->memory = (void *)(uintptr_t)memory;
	return copies_called();
}

static VKAPI_ATTR VkResult VKAPI_CALL
copies_map(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
	   VkMemoryMapFlags flags, void **out)
{
	(void)device, (void)offset, (void)size, (void)flags;
	*out = (void *)(uintptr_t)memory;
	return copies_called();
}

static bool copies_again; /* what was waited for is to be copied once more, after a barrier */

/* Runs as it is recorded. What was never reset may not be copied. */
static VKAPI_ATTR void VKAPI_CALL
copies_copy(VkCommandBuffer cb, VkQueryPool handle, uint32_t first, uint32_t n, VkBuffer to,
	    VkDeviceSize offset, VkDeviceSize stride, VkQueryResultFlags flags)
{
	const struct copies_buffer *buffer = (const void *)(uintptr_t)to;
	g_assert_nonnull(cb);
	bool waits = flags & VK_QUERY_RESULT_WAIT_BIT;
	g_assert_false(copies_again);
	copies_again = waits;
	g_assert_cmphex(flags & ~VK_QUERY_RESULT_WAIT_BIT, ==,
			VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
	g_assert_cmpuint(offset + n * stride, <=, buffer->bytes);
	g_assert_cmpuint((offset | stride) % 8, ==, 0);
	for (uint32_t i = 0; i < n; i++) {
		const struct fq_query *query = fq_query(handle, first + i);
		fq.misuse += query->state == FQ_NEW || (waits && query->state != FQ_DONE);
		fq_write_row(fq_pool(handle), query, false,
			     (void *)(buffer->memory + offset + i * stride));
	}
}

static VKAPI_ATTR void VKAPI_CALL
copies_barrier(VkCommandBuffer cb, VkPipelineStageFlags before, VkPipelineStageFlags after,
	       VkDependencyFlags flags, uint32_t n, const VkMemoryBarrier *barriers,
	       uint32_t n_buffers, const VkBufferMemoryBarrier *of_buffers, uint32_t n_images,
	       const VkImageMemoryBarrier *of_images)
{
	(void)flags, (void)of_buffers, (void)of_images;
	g_assert_nonnull(cb);
	bool copied = before == VK_PIPELINE_STAGE_TRANSFER_BIT;
	g_assert_true(copied || before == VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
	bool last = copied && !copies_again;
	copies_again = false;
	g_assert_cmphex(after, ==,
			last ? VK_PIPELINE_STAGE_HOST_BIT : VK_PIPELINE_STAGE_TRANSFER_BIT);
	g_assert_cmpuint(n, ==, 1);
	g_assert_cmphex(barriers->dstAccessMask, ==,
			last ? VK_ACCESS_HOST_READ_BIT : VK_ACCESS_TRANSFER_WRITE_BIT);
	g_assert_cmpuint(n_buffers + n_images, ==, 0);
}

/* Its instance has the types of memory. */
static inline void
copies_fill(struct vk_device *d)
{
	d->instance->next.GetPhysicalDeviceMemoryProperties = copies_types;
	d->next.use.CreateBuffer = copies_create;
	d->next.use.DestroyBuffer = copies_destroy;
	d->next.use.GetBufferMemoryRequirements = copies_needs;
	d->next.use.AllocateMemory = copies_allocate;
	d->next.use.FreeMemory = copies_free;
	d->next.use.BindBufferMemory = copies_bind;
	d->next.use.MapMemory = copies_map;
	d->next.use.CmdCopyQueryPoolResults = copies_copy;
	d->next.use.CmdPipelineBarrier = copies_barrier;
}

#endif

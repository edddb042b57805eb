/* SPDX-License-Identifier: MIT */
#include "vk_layer/record/slots_copy.h"

#include "vk_layer/record/slots_internal.h"

bool
vk_page_map(struct vk_device *d, struct vk_page *page)
{
	const struct page_kind *kind = page->kind;
	size_t bytes = 0;
	for (uint32_t i = 0; i < d->slots->n; i++) {
		page->offsets[i] = (uint32_t)bytes;
		bytes += PAGE_SLOTS * kind->row_bytes[i];
	}
	if (!bytes) /* all its sources ask for each slot */
		return true;
	if (!vk_mapped_make(d, bytes, &page->mapped))
		return false;
	for (uint32_t i = 0; i < d->slots->n; i++)
		if (kind->row_bytes[i])
			page->rows[i] = (char *)page->mapped.map + page->offsets[i];
	return true;
}

struct copying {
	struct vk_device *d;
	VkCommandBuffer cb;
	bool any;
};

static void
record_barrier(const struct copying *c, VkPipelineStageFlags from, VkAccessFlags written,
	       VkPipelineStageFlags to, VkAccessFlags read)
{
	const VkMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = written,
		.dstAccessMask = read,
	};
	c->d->next.use.CmdPipelineBarrier(c->cb, from, to, 0, 1, &barrier, 0, NULL, 0,
					  NULL);
}

/* `n` queries of the i-th source from the `first` of the page on. */
static void
copy_queries(const struct copying *c, const struct vk_page *page, uint32_t i, uint32_t first,
	     uint32_t n, VkQueryResultFlags wait)
{
	uint32_t bytes = page->kind->row_bytes[i] / c->d->slots->sources[i]->ops->queries;
	c->d->next.use.CmdCopyQueryPoolResults(
		c->cb, page->pools[i], first, n, page->mapped.buffer,
		page->offsets[i] + first * bytes, bytes,
		VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT | wait);
}

static void
copy_source(const struct copying *c, const struct vk_slot_run *run, uint32_t n, uint32_t i)
{
	uint32_t queries = c->d->slots->sources[i]->ops->queries;
	if (run->page->kind->row_bytes[i])
		copy_queries(c, run->page, i, queries * run->first, queries * n, 0);
}

/* What was drawn is to be complete before it is copied: lavapipe (22.3.6) does that at a barrier,
 * and where the last timestamp is waited for. All that is copied cannot be: to wait for queries of
 * a run that nothing began is invalid. */
static void
complete(struct copying *c, const struct vk_slot *last)
{
	record_barrier(c, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0,
		       VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
	uint32_t times = last->sources & c->d->slots->with_time;
	c->any = true;
	if (!last->page || !times || !(last->halves & TALLY_VK_END))
		return;
	copy_queries(c, last->page, (uint32_t)__builtin_ctz(times), 2u * last->index + last->views,
		     1, VK_QUERY_RESULT_WAIT_BIT);
	/* Its run is copied as a whole, to the same place. */
	record_barrier(c, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
		       VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
}

static void
copy_runs(struct copying *c, const struct vk_slot_runs *runs, const struct vk_slot *last)
{
	for (uint32_t k = 0; k < runs->n; k++) {
		const struct vk_slot_run *run = &runs->runs[k];
		uint32_t n = k + 1 == runs->n ? runs->used : run->n;
		if (!n || !run->page->mapped.buffer)
			continue;
		if (!c->any)
			complete(c, last);
		for (uint32_t left = run->page->sources; left; left &= left - 1)
			copy_source(c, run, n, (uint32_t)__builtin_ctz(left));
	}
}

/* What was copied is to be seen by the CPU. */
static void
show(const struct copying *c)
{
	if (c->any)
		record_barrier(c, VK_PIPELINE_STAGE_TRANSFER_BIT,
			       VK_ACCESS_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_HOST_BIT,
			       VK_ACCESS_HOST_READ_BIT);
}

void
vk_slots_copy(struct vk_device *d, VkCommandBuffer cb, const struct vk_slot_runs *runs,
	      const struct vk_slot *last)
{
	struct copying c = { d, cb, false };
	copy_runs(&c, runs, last);
	show(&c);
}

static void
copy_all(struct copying *c, const struct vk_recording *r, unsigned depth)
{
	copy_runs(c, &r->runs, &r->whole);
	for (uint32_t i = 0; r->executes && depth < VK_MAX_DEPTH && i < r->n_items; i++)
		if (r->items[i].kind == VK_ITEM_EXECUTE)
			copy_all(c, r->items[i].secondary, depth + 1);
}

void
vk_recording_copy(struct vk_device *d, VkCommandBuffer cb, const struct vk_recording *r)
{
	struct copying c = { d, cb, false };
	copy_all(&c, r, 0);
	show(&c);
}

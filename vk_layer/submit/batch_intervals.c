/* SPDX-License-Identifier: MIT */
/* Pairs of the layer's command buffers with one timestamp each. A pair is recorded once and
 * used again after it was released; it has its own command pool, so that threads that submit to
 * different queues need no lock across the calls that record. */
#include "vk_layer/submit/batch_intervals.h"

#include <stdlib.h>

#include "layer/log.h"
#include "vk_layer/record/slots_copy.h"
#include "vk_layer/record/slots_sources.h"

/* Batches of one family with such command buffers whose results are still to be read. */
#define MAX_PAIRS 256u

struct own_pair {
	struct vk_batch_interval pair; /* first member: what callers see */
	struct own_pair *next;
	VkCommandPool pool;
};

struct vk_batch_intervals {
	struct {
		struct vk_batch_interval *free;
		uint32_t n;  /* including those being created */
		bool failed; /* the driver creates none: do not try again at every batch */
	} families[VK_MAX_FAMILIES];
	struct own_pair *all;
};

bool
vk_batch_intervals_create(struct vk_device *d)
{
	d->batch_intervals = calloc(1, sizeof(*d->batch_intervals));
	return d->batch_intervals != NULL;
}

static void
destroy_pair(struct vk_device *d, struct own_pair *own)
{
	if (own->pool)
		d->next.use.DestroyCommandPool(d->handle, own->pool, NULL);
	free(own);
}

void
vk_batch_intervals_destroy(struct vk_device *d)
{
	struct vk_batch_intervals *b = d->batch_intervals;

	if (!b)
		return;
	while (b->all) {
		struct own_pair *own = b->all;
		b->all = own->next;
		if (d->slots)
			vk_slots_release(d, &own->pair.runs);
		else
			free(own->pair.runs.runs);
		destroy_pair(d, own);
	}
	free(b);
	d->batch_intervals = NULL;
}

/* Makes handles that the driver gave us usable by the layers below (R38). */
static bool
introduce(struct vk_device *d, VkCommandBuffer cb)
{
	if (d->set_loader_data)
		return d->set_loader_data(d->handle, cb) == VK_SUCCESS;
	*(void **)cb = *(void **)d->handle;
	return true;
}

static const VkCommandBufferBeginInfo begin_info = {
	.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
};

bool
vk_batch_interval_begin_last(struct vk_device *d, struct vk_batch_interval *pair)
{
	if (d->next.use.BeginCommandBuffer(pair->last, &begin_info) != VK_SUCCESS)
		return false;
	vk_slot_end(d, pair->last, &pair->slot);
	return true;
}

bool
vk_batch_interval_end_last(struct vk_device *d, struct vk_batch_interval *pair)
{
	vk_slots_copy(d, pair->last, &pair->runs, &pair->slot);
	return d->next.use.EndCommandBuffer(pair->last) == VK_SUCCESS;
}

static bool
record(struct vk_device *d, struct vk_batch_interval *pair)
{
	if (d->next.use.BeginCommandBuffer(pair->first, &begin_info) != VK_SUCCESS)
		return false;
	vk_slot_begin(d, pair->first, &pair->slot, true);
	return d->next.use.EndCommandBuffer(pair->first) == VK_SUCCESS &&
	       vk_batch_interval_begin_last(d, pair) &&
	       vk_batch_interval_end_last(d, pair) && pair->slot.halves == TALLY_VK_BOTH;
}

/* Creates and records the command buffers of `own`, which has a slot. */
static bool
make_buffers(struct vk_device *d, uint32_t family, struct own_pair *own)
{
	VkCommandBuffer buffers[2] = { VK_NULL_HANDLE, VK_NULL_HANDLE };
	const VkCommandPoolCreateInfo pool_info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
		.queueFamilyIndex = family,
	};

	if (d->next.use.CreateCommandPool(d->handle, &pool_info, NULL, &own->pool) !=
	    VK_SUCCESS) {
		own->pool = VK_NULL_HANDLE;
		return false;
	}
	const VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = own->pool,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = 2,
	};
	if (d->next.use.AllocateCommandBuffers(d->handle, &info, buffers) != VK_SUCCESS)
		return false;
	own->pair.first = buffers[0];
	own->pair.last = buffers[1];
	return introduce(d, buffers[0]) && introduce(d, buffers[1]) &&
	       record(d, &own->pair);
}

static struct own_pair *
create_pair(struct vk_device *d, uint32_t family)
{
	struct own_pair *own = calloc(1, sizeof(*own));
	if (!own)
		return NULL;
	struct vk_batch_interval *pair = &own->pair;
	pair->runs.without_sets = true;
	pair->slot = vk_slots_take(d, &pair->runs, family, VK_MEASURE_TIME, 1, true);
	if (pair->slot.page && make_buffers(d, family, own))
		return own;
	pthread_mutex_lock(&d->lock);
	vk_slots_release(d, &pair->runs);
	pthread_mutex_unlock(&d->lock);
	destroy_pair(d, own);
	return NULL;
}

static void
warn(void)
{
	tally_log_say(TALLY_LEVEL_WARNING, "vulkan",
		      "no timestamps to be had around command buffers recorded for "
		      "simultaneous use, or while nothing was captured: the batches "
		      "that have none go untimed");
}

struct vk_batch_interval *
vk_batch_intervals_take(struct vk_device *d, uint32_t family)
{
	struct vk_batch_intervals *b = d->batch_intervals;

	if (!b || !vk_device_runs(d) || !vk_slots_cover(d, family, VK_MEASURE_TIME))
		return NULL;
	pthread_mutex_lock(&d->lock);
	struct vk_batch_interval *pair = b->families[family].free;
	bool may_make = !b->families[family].failed && b->families[family].n < MAX_PAIRS;
	if (pair) {
		b->families[family].free = pair->next;
		pair->next = NULL;
		vk_slots_reset(d, &pair->runs);
	} else if (may_make) {
		b->families[family].n++;
	} else {
		warn();
	}
	pthread_mutex_unlock(&d->lock);
	if (pair || !may_make)
		return pair;

	struct own_pair *own = create_pair(d, family);
	pthread_mutex_lock(&d->lock);
	if (own) {
		own->next = b->all;
		b->all = own;
	} else {
		b->families[family].n--;
		b->families[family].failed = true;
		warn();
	}
	pthread_mutex_unlock(&d->lock);
	return own ? &own->pair : NULL;
}

void
vk_batch_intervals_release(struct vk_device *d, uint32_t family,
			   struct vk_batch_interval *pair)
{
	pair->next = d->batch_intervals->families[family].free;
	d->batch_intervals->families[family].free = pair;
}

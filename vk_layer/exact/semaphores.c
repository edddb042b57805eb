/* SPDX-License-Identifier: MIT */
#include "vk_layer/exact/semaphores.h"

#include <stdlib.h>

#include "layer/log.h"

#define MAX_STUCK (sizeof(((struct vk_queue *)0)->stuck_at) / sizeof(struct vk_timeline_wait))

struct timeline {
	atomic_uint_fast64_t promised; /* the value that it will reach without the game */
};

/* ---- the hooks ---- */

void
vk_exact_created(struct vk_device *d, const VkSemaphoreCreateInfo *info, VkSemaphore semaphore)
{
	const VkSemaphoreTypeCreateInfo *type = vk_find_in_chain(
		info->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
	if (!d->exact || !type || type->semaphoreType != VK_SEMAPHORE_TYPE_TIMELINE)
		return;
	struct timeline *t = calloc(1, sizeof(*t));
	if (t && vk_handles_put(&d->timelines, VK_HANDLE_KEY(semaphore), t))
		return;
	free(t);
	if (!atomic_exchange(&d->exact_over, true))
		tally_log_say(TALLY_LEVEL_ERROR, "vulkan",
			      "out of memory: --snapshot exact is off for this device");
}

void
vk_exact_destroyed(struct vk_device *d, VkSemaphore semaphore)
{
	free(vk_handles_remove(&d->timelines, VK_HANDLE_KEY(semaphore)));
}

static void
free_timeline(void *value, void *data)
{
	(void)data;
	free(value);
}

void
vk_timelines_forget(struct vk_device *d)
{
	vk_handles_each(&d->timelines, free_timeline, NULL);
	vk_handles_finish(&d->timelines);
}

/* ---- batches ---- */

static uint64_t
value_at(const uint64_t *values, uint32_t n, uint32_t i)
{
	return values && i < n ? values[i] : 0;
}

/* The k-th wait or signal of a batch; false: it has fewer. */
static bool
point_at(const struct vk_batches *b, uint32_t i, bool signals, uint32_t k,
	 struct vk_timeline_wait *out)
{
	static const VkTimelineSemaphoreSubmitInfo none;
	if (!b->one) {
		const VkSubmitInfo2 *two = &b->two[i];
		uint32_t n = signals ? two->signalSemaphoreInfoCount : two->waitSemaphoreInfoCount;
		if (k >= n)
			return false;
		const VkSemaphoreSubmitInfo *info =
			(signals ? two->pSignalSemaphoreInfos : two->pWaitSemaphoreInfos) + k;
		*out = (struct vk_timeline_wait){ info->semaphore, info->value };
		return true;
	}
	const VkSubmitInfo *one = &b->one[i];
	const VkTimelineSemaphoreSubmitInfo *t = vk_find_in_chain(
		one->pNext, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
	t = t ? t : &none;
	if (k >= (signals ? one->signalSemaphoreCount : one->waitSemaphoreCount))
		return false;
	out->semaphore = (signals ? one->pSignalSemaphores : one->pWaitSemaphores)[k];
	out->value = signals ? value_at(t->pSignalSemaphoreValues, t->signalSemaphoreValueCount, k)
			     : value_at(t->pWaitSemaphoreValues, t->waitSemaphoreValueCount, k);
	return true;
}

static bool
will_reach(struct vk_device *d, const struct vk_timeline_wait *point)
{
	struct timeline *t =
		vk_handles_find(&d->timelines, VK_HANDLE_KEY(point->semaphore));
	uint64_t now = 0;
	if (!t || atomic_load(&t->promised) >= point->value)
		return true;
	return d->next.use.GetSemaphoreCounterValue &&
	       d->next.use.GetSemaphoreCounterValue(d->handle, point->semaphore, &now) ==
		       VK_SUCCESS &&
	       now >= point->value;
}

/* Whether all of the queue ends by itself. */
static bool
is_free(struct vk_queue *q)
{
	struct vk_device *d = q->device;
	uint32_t n = 0;
	pthread_mutex_lock(&d->lock);
	bool ended = q->stuck <= q->completed;
	pthread_mutex_unlock(&d->lock);
	while (!ended && n < q->n_stuck && n < MAX_STUCK && will_reach(d, &q->stuck_at[n]))
		n++;
	if (!ended && n < q->n_stuck)
		return false;
	q->stuck = q->n_stuck = 0;
	return true;
}

const char *
vk_batch_stuck(struct vk_queue *q, const struct vk_batches *b, uint32_t i)
{
	struct vk_timeline_wait point;
	for (uint32_t k = 0; point_at(b, i, false, k, &point); k++)
		if (!will_reach(q->device, &point))
			return "it waits for a timeline semaphore that nothing submitted so far "
			       "signals";
	return is_free(q) ? NULL
			  : "its queue has work before it that waits for what is yet to be "
			    "submitted";
}

static void
get_stuck(struct vk_queue *q, const struct vk_batches *b, uint32_t i, uint64_t serial)
{
	struct vk_timeline_wait point;
	q->stuck = serial;
	for (uint32_t k = 0; point_at(b, i, false, k, &point); k++) {
		if (will_reach(q->device, &point))
			continue;
		if (q->n_stuck < MAX_STUCK)
			q->stuck_at[q->n_stuck] = point;
		q->n_stuck++;
	}
}

void
vk_batch_submitted(struct vk_queue *q, const struct vk_batches *b, uint32_t i, uint64_t serial)
{
	struct vk_timeline_wait point;
	if (vk_batch_stuck(q, b, i)) {
		get_stuck(q, b, i, serial);
		return;
	}
	for (uint32_t k = 0; point_at(b, i, true, k, &point); k++) {
		struct timeline *t = vk_handles_find(&q->device->timelines,
						     VK_HANDLE_KEY(point.semaphore));
		uint_fast64_t before = t ? atomic_load(&t->promised) : UINT64_MAX;
		while (before < point.value &&
		       !atomic_compare_exchange_weak(&t->promised, &before, point.value))
			;
	}
}

void
vk_exact_bound(struct vk_queue *q, uint32_t n, const VkBindSparseInfo *infos)
{
	pthread_mutex_lock(&q->device->lock);
	uint64_t serial = q->serial + 1; /* the next submission's: a bind has none */
	pthread_mutex_unlock(&q->device->lock);
	for (uint32_t i = 0; i < n; i++) {
		const VkSubmitInfo info = {
			.pNext = infos[i].pNext,
			.waitSemaphoreCount = infos[i].waitSemaphoreCount,
			.pWaitSemaphores = infos[i].pWaitSemaphores,
			.signalSemaphoreCount = infos[i].signalSemaphoreCount,
			.pSignalSemaphores = infos[i].pSignalSemaphores,
		};
		const struct vk_batches bind = { .n = 1, .one = &info };
		vk_batch_submitted(q, &bind, 0, serial);
	}
}

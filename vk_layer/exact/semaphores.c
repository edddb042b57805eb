/* SPDX-License-Identifier: MIT */
/* vk_layer/exact/semaphores.c - reports what the game does with semaphores to resolve.c. */
#include "vk_layer/exact/exact.h"
#include "vk_layer/submit/frames.h"
#include "vk_layer/submit/submission.h"

/* ---- the hooks ---- */

void
vk_exact_created(struct vk_device *d, const VkSemaphoreCreateInfo *info, VkSemaphore semaphore)
{
	if (!d->resolve)
		return;
	const VkSemaphoreTypeCreateInfo *type = vk_find_in_chain(
		info->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
	const VkExportSemaphoreCreateInfo *shared = vk_find_in_chain(
		info->pNext, VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO);
	bool timeline = type && type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
	enum vk_semaphore_kind kind = timeline ? VK_SEMAPHORE_TIMELINE
					       : VK_SEMAPHORE_BINARY;
	if (shared && shared->handleTypes)
		kind = VK_SEMAPHORE_EXTERNAL;
	vk_resolve_learn(d->resolve, VK_HANDLE_KEY(semaphore), kind,
			 timeline ? type->initialValue : 0);
}

/* ---- operations ---- */

static uint64_t
value_at(const uint64_t *values, uint32_t n, uint32_t i)
{
	return values && i < n ? values[i] : 0;
}

/* For VkSubmitInfo and VkBindSparseInfo, whose semaphores are in plain arrays. */
static struct vk_op *
plain_op(const void *chain, uint32_t n_waits, const VkSemaphore *waits,
	 uint32_t n_signals, const VkSemaphore *signals)
{
	static const VkTimelineSemaphoreSubmitInfo none;
	const VkTimelineSemaphoreSubmitInfo *t = vk_find_in_chain(
		chain, VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
	t = t ? t : &none;
	struct vk_op *op = vk_op_create(n_waits, n_signals);
	for (uint32_t i = 0; i < n_waits; i++)
		vk_op_set(op, i, VK_HANDLE_KEY(waits[i]),
			  value_at(t->pWaitSemaphoreValues, t->waitSemaphoreValueCount, i));
	for (uint32_t i = 0; i < n_signals; i++)
		vk_op_set(op, n_waits + i, VK_HANDLE_KEY(signals[i]),
			  value_at(t->pSignalSemaphoreValues, t->signalSemaphoreValueCount, i));
	return op;
}

struct vk_op *
vk_batch_op(const struct vk_batches *b, uint32_t i)
{
	if (b->one)
		return plain_op(b->one[i].pNext, b->one[i].waitSemaphoreCount,
				b->one[i].pWaitSemaphores, b->one[i].signalSemaphoreCount,
				b->one[i].pSignalSemaphores);
	const VkSubmitInfo2 *two = &b->two[i];
	struct vk_op *op = vk_op_create(two->waitSemaphoreInfoCount,
					two->signalSemaphoreInfoCount);
	for (uint32_t k = 0; k < two->waitSemaphoreInfoCount; k++)
		vk_op_set(op, k, VK_HANDLE_KEY(two->pWaitSemaphoreInfos[k].semaphore),
			  two->pWaitSemaphoreInfos[k].value);
	for (uint32_t k = 0; k < two->signalSemaphoreInfoCount; k++)
		vk_op_set(op, two->waitSemaphoreInfoCount + k,
			  VK_HANDLE_KEY(two->pSignalSemaphoreInfos[k].semaphore),
			  two->pSignalSemaphoreInfos[k].value);
	return op;
}

/* They have no separate serial: the end of a later submission shows that they have ended. */
static void
note_op(struct vk_queue *q, struct vk_op *op)
{
	pthread_mutex_lock(&q->device->lock);
	uint64_t serial = q->serial + 1;
	pthread_mutex_unlock(&q->device->lock);
	vk_resolve_submitted(q->device->resolve, q->line, op, serial);
}

void
vk_exact_presented(struct vk_queue *q, const VkPresentInfoKHR *info)
{
	if (!info->waitSemaphoreCount)
		return;
	note_op(q,
		plain_op(NULL, info->waitSemaphoreCount, info->pWaitSemaphores, 0, NULL));
}

void
vk_exact_bound(struct vk_queue *q, uint32_t n, const VkBindSparseInfo *infos)
{
	for (uint32_t i = 0; i < n; i++)
		note_op(q,
			plain_op(infos[i].pNext, infos[i].waitSemaphoreCount,
				 infos[i].pWaitSemaphores, infos[i].signalSemaphoreCount,
				 infos[i].pSignalSemaphores));
}

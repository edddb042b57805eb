/* SPDX-License-Identifier: MIT */
#include "tests/fake_vk/fake.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- work in progress ---- */

static bool
may_run(const struct fake_submission *s)
{
	if (s->ready_ns > fake_now_ns())
		return false;
	for (uint32_t i = 0; i < s->n_waits; i++)
		if (s->waits[i].semaphore->semaphore.value < s->waits[i].value)
			return false;
	return true;
}

static void
mark(struct fake_object *cb, int change)
{
	cb->cb.pending += (uint32_t)change;
	for (uint32_t i = 0; i < cb->cb.n_ops; i++)
		if (cb->cb.ops[i].kind == FAKE_OP_EXECUTE && !cb->cb.ops[i].object->dead)
			mark(cb->cb.ops[i].object, change);
}

static void
finish(struct fake_object *queue, struct fake_submission *s)
{
	for (uint32_t i = 0; i < s->n_waits; i++)
		if (!s->waits[i].semaphore->semaphore.timeline)
			s->waits[i].semaphore->semaphore.value = 0;
	fake_run(queue, s);
	for (uint32_t i = 0; i < s->n_buffers; i++)
		mark(s->buffers[i], -1);
	for (uint32_t i = 0; i < s->n_signals; i++)
		s->signals[i].semaphore->semaphore.value = s->signals[i].value;
	if (s->fence) {
		s->fence->fence.pending = false;
		s->fence->fence.signalled = true;
		s->fence->fence.from_ns =
			fake_config.late_fence_ms
				? fake_now_ns() + fake_config.late_fence_ms * UINT64_C(1000000)
				: 0;
	}
	free(s->waits);
	free(s->signals);
	free(s->buffers);
	free(s);
}

void
fake_pump(void)
{
	if (fake_current && fake_current->lost)
		return;
	for (bool moved = true; moved;) {
		moved = false;
		for (struct fake_object *q = fake_queues; q; q = q->next) {
			struct fake_submission *s = q->queue.first;
			if (!s || !may_run(s))
				continue;
			q->queue.first = s->next;
			if (!s->next)
				q->queue.last = NULL;
			finish(q, s);
			moved = true;
		}
	}
}

bool
fake_queue_idle(const struct fake_object *queue)
{
	return !queue->queue.first;
}

bool
fake_wait_until(uint64_t until_ns)
{
	if (fake_now_ns() >= until_ns || (fake_current && fake_current->lost))
		return false;
	/* The lock is held only once: nothing sleeps inside a line. */
	fake_unlock();
	struct timespec pause = { 0, 200000 };
	nanosleep(&pause, NULL);
	fake_lock();
	fake_pump();
	return true;
}

static bool
uses(const struct fake_object *cb, const struct fake_object *pool, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < cb->cb.n_ops; i++) {
		const struct fake_op *op = &cb->cb.ops[i];
		if (op->kind == FAKE_OP_EXECUTE && uses(op->object, pool, first, n))
			return true;
		if (op->object == pool && op->first + op->n > first &&
		    (n == UINT32_MAX || op->first < first + n))
			return true;
	}
	return false;
}

bool
fake_pool_pending(const struct fake_object *pool, uint32_t first, uint32_t n)
{
	if (fake_current && fake_current->lost)
		return false;
	for (const struct fake_object *q = fake_queues; q; q = q->next)
		for (const struct fake_submission *s = q->queue.first; s; s = s->next)
			for (uint32_t i = 0; i < s->n_buffers; i++)
				if (uses(s->buffers[i], pool, first, n))
					return true;
	return false;
}

/* ---- submitting ---- */

struct batch {
	uint32_t n_waits, n_signals, n_buffers;
	struct fake_wait *waits, *signals;
	struct fake_object **buffers;
	bool is_protected;
};

static void
check_buffer(const struct fake_object *queue, struct fake_object *cb, bool is_protected)
{
	if (cb->cb.state != 2)
		fake_rule("VUID-vkQueueSubmit-pCommandBuffers-00070", "not executable");
	if (cb->cb.pending && !(cb->cb.flags & VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT))
		fake_rule("VUID-vkQueueSubmit-pCommandBuffers-00071", "pending");
	if (cb->cb.executions && (cb->cb.flags & VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT))
		fake_rule("VUID-vkQueueSubmit-pCommandBuffers-00072", "one-time, again");
	if (cb->cb.pool->pool.family != queue->queue.family)
		fake_rule("VUID-vkQueueSubmit-pCommandBuffers-00074", "another family's");
	bool pool = cb->cb.pool->pool.flags & VK_COMMAND_POOL_CREATE_PROTECTED_BIT;
	if (pool != is_protected)
		fake_rule("VUID-VkSubmitInfo-pNext-04148", "protected and not");
}

static void
enqueue(struct fake_object *queue, struct batch *b, VkFence fence)
{
	struct fake_submission *s = calloc(1, sizeof(*s));
	if (!s)
		abort();
	s->waits = b->waits;
	s->signals = b->signals;
	s->buffers = b->buffers;
	s->n_waits = b->n_waits;
	s->n_signals = b->n_signals;
	s->n_buffers = b->n_buffers;
	s->fence = FAKE_OBJECT(fence);
	if (fake_config.late_ms)
		s->ready_ns = fake_now_ns() + fake_config.late_ms * UINT64_C(1000000);
	for (uint32_t i = 0; i < s->n_buffers; i++) {
		check_buffer(queue, s->buffers[i], b->is_protected);
		mark(s->buffers[i], 1);
	}
	if (queue->queue.last)
		queue->queue.last->next = s;
	else
		queue->queue.first = s;
	queue->queue.last = s;
}

static void
check_fence(VkFence fence)
{
	if (!fence)
		return;
	struct fake_object *f = FAKE_OBJECT(fence);
	if (f->fence.signalled)
		fake_rule("VUID-vkQueueSubmit-fence-00063", "signalled");
	if (f->fence.pending)
		fake_rule("VUID-vkQueueSubmit-fence-00064", "in use");
	f->fence.pending = true;
}

/* Returns which of the faults applies to this call; counts submissions by layers separately. */
static VkResult
submit_fault(struct fake_object *queue, bool ours, const char *name)
{
	static uint32_t submits[2];
	struct fake_device *d = queue->queue.device;
	if (d->lost)
		return VK_ERROR_DEVICE_LOST;
	VkResult result = fake_enter(name, ours);
	uint32_t lost = ours ? fake_config.lost_ours : fake_config.lost;
	fake_lock();
	if (++submits[ours] == lost) {
		fake_line_begin("FAULT lost");
		fake_line_end();
		d->lost = true;
		result = VK_ERROR_DEVICE_LOST;
	}
	fake_unlock();
	return result;
}

static struct batch
batch_of(uint32_t n_waits, uint32_t n_buffers, uint32_t n_signals)
{
	struct batch b = { n_waits, n_signals, n_buffers, NULL, NULL, NULL, false };
	b.waits = calloc(n_waits + 1, sizeof(*b.waits));
	b.signals = calloc(n_signals + 1, sizeof(*b.signals));
	b.buffers = calloc(n_buffers + 1, sizeof(*b.buffers));
	if (!b.waits || !b.signals || !b.buffers)
		abort();
	return b;
}

static struct fake_wait
wait_for(VkSemaphore semaphore, const uint64_t *value)
{
	struct fake_object *o = FAKE_OBJECT(semaphore);
	return (struct fake_wait){ o, o->semaphore.timeline && value ? *value : 1 };
}

static struct batch
convert(const VkSubmitInfo *info)
{
	struct batch b = batch_of(info->waitSemaphoreCount, info->commandBufferCount,
				  info->signalSemaphoreCount);
	const VkTimelineSemaphoreSubmitInfo *t = NULL;
	for (const VkBaseInStructure *s = info->pNext; s; s = s->pNext) {
		if (s->sType == VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO)
			t = (const void *)s;
		if (s->sType == VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO)
			b.is_protected = ((const VkProtectedSubmitInfo *)s)->protectedSubmit;
	}
	for (uint32_t i = 0; i < b.n_waits; i++)
		b.waits[i] = wait_for(info->pWaitSemaphores[i],
				      t && i < t->waitSemaphoreValueCount
					      ? &t->pWaitSemaphoreValues[i]
					      : NULL);
	for (uint32_t i = 0; i < b.n_signals; i++)
		b.signals[i] = wait_for(info->pSignalSemaphores[i],
					t && i < t->signalSemaphoreValueCount
						? &t->pSignalSemaphoreValues[i]
						: NULL);
	for (uint32_t i = 0; i < b.n_buffers; i++)
		b.buffers[i] = FAKE_OBJECT(info->pCommandBuffers[i]);
	return b;
}

/* A sparse bind binds nothing, but keeps its place in the order. */
static struct batch
convert_bind(const VkBindSparseInfo *info)
{
	const VkSubmitInfo as_batch = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.pNext = info->pNext,
		.waitSemaphoreCount = info->waitSemaphoreCount,
		.pWaitSemaphores = info->pWaitSemaphores,
		.signalSemaphoreCount = info->signalSemaphoreCount,
		.pSignalSemaphores = info->pSignalSemaphores,
	};
	return convert(&as_batch);
}

static struct batch
convert2(const VkSubmitInfo2 *info)
{
	struct batch b = batch_of(info->waitSemaphoreInfoCount, info->commandBufferInfoCount,
				  info->signalSemaphoreInfoCount);
	b.is_protected = info->flags & VK_SUBMIT_PROTECTED_BIT;
	for (uint32_t i = 0; i < b.n_waits; i++)
		b.waits[i] = wait_for(info->pWaitSemaphoreInfos[i].semaphore,
				      &info->pWaitSemaphoreInfos[i].value);
	for (uint32_t i = 0; i < b.n_signals; i++)
		b.signals[i] = wait_for(info->pSignalSemaphoreInfos[i].semaphore,
					&info->pSignalSemaphoreInfos[i].value);
	for (uint32_t i = 0; i < b.n_buffers; i++)
		b.buffers[i] = FAKE_OBJECT(info->pCommandBufferInfos[i].commandBuffer);
	return b;
}

static VkResult
bench_submit(VkFence fence)
{
	if (fence)
		FAKE_OBJECT(fence)->fence.signalled = true;
	return VK_SUCCESS;
}

static void
run_batches(VkQueue queue, struct batch *batches, uint32_t n, VkFence fence)
{
	struct fake_object *q = FAKE_OBJECT(queue);
	check_fence(fence);
	struct batch empty = { 0 };
	for (uint32_t i = 0; i < n; i++)
		enqueue(q, &batches[i], i + 1 == n ? fence : VK_NULL_HANDLE);
	if (!n)
		enqueue(q, &empty, fence);
	fake_pump();
	fake_flush();
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkQueueSubmit(VkQueue queue, uint32_t submitCount, const VkSubmitInfo *pSubmits,
		   VkFence fence)
{
	if (fake_config.bench)
		return bench_submit(fence);
	bool ours = fence && FAKE_OBJECT(fence)->ours;
	VkResult result = submit_fault(FAKE_OBJECT(queue), ours, "vkQueueSubmit");
	if (result != VK_SUCCESS)
		return result;
	fake_lock();
	fake_line_begin("vkQueueSubmit");
	fake_put_handle(FAKE_VkQueue, (uint64_t)(uintptr_t)queue);
	fake_put_array(FAKE_STRUCT, FAKE_S_VkSubmitInfo, sizeof(VkSubmitInfo), pSubmits,
		       submitCount);
	fake_put_handle(FAKE_VkFence, (uint64_t)(uintptr_t)fence);
	fake_line_end();
	struct batch *batches = calloc(submitCount + 1, sizeof(*batches));
	for (uint32_t i = 0; batches && i < submitCount; i++)
		batches[i] = convert(&pSubmits[i]);
	run_batches(queue, batches, submitCount, fence);
	free(batches);
	fake_unlock();
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkQueueSubmit2(VkQueue queue, uint32_t submitCount, const VkSubmitInfo2 *pSubmits,
		    VkFence fence)
{
	if (fake_config.bench)
		return bench_submit(fence);
	bool ours = fence && FAKE_OBJECT(fence)->ours;
	VkResult result = submit_fault(FAKE_OBJECT(queue), ours, "vkQueueSubmit2");
	if (result != VK_SUCCESS)
		return result;
	fake_lock();
	fake_line_begin("vkQueueSubmit2");
	fake_put_handle(FAKE_VkQueue, (uint64_t)(uintptr_t)queue);
	fake_put_array(FAKE_STRUCT, FAKE_S_VkSubmitInfo2, sizeof(VkSubmitInfo2), pSubmits,
		       submitCount);
	fake_put_handle(FAKE_VkFence, (uint64_t)(uintptr_t)fence);
	fake_line_end();
	struct batch *batches = calloc(submitCount + 1, sizeof(*batches));
	for (uint32_t i = 0; batches && i < submitCount; i++)
		batches[i] = convert2(&pSubmits[i]);
	run_batches(queue, batches, submitCount, fence);
	free(batches);
	fake_unlock();
	return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
fake_vkQueueBindSparse(VkQueue queue, uint32_t bindInfoCount, const VkBindSparseInfo *pBindInfo,
		       VkFence fence)
{
	VkResult result = submit_fault(FAKE_OBJECT(queue), false, "vkQueueBindSparse");
	if (result != VK_SUCCESS)
		return result;
	fake_lock();
	fake_line_begin("vkQueueBindSparse");
	fake_put_handle(FAKE_VkQueue, (uint64_t)(uintptr_t)queue);
	fake_put_array(FAKE_STRUCT, FAKE_S_VkBindSparseInfo, sizeof(VkBindSparseInfo), pBindInfo,
		       bindInfoCount);
	fake_put_handle(FAKE_VkFence, (uint64_t)(uintptr_t)fence);
	fake_line_end();
	struct batch *batches = calloc(bindInfoCount + 1, sizeof(*batches));
	for (uint32_t i = 0; batches && i < bindInfoCount; i++)
		batches[i] = convert_bind(&pBindInfo[i]);
	run_batches(queue, batches, bindInfoCount, fence);
	free(batches);
	fake_unlock();
	return VK_SUCCESS;
}

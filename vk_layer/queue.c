/* SPDX-License-Identifier: MIT */
/* vk_layer/queue.c - queues of a device: look-up by handle, their labels, the
 * game's waits for them. */
#include <stdio.h>
#include <stdlib.h>

#include "layer/base/clock.h"
#include "layer/frame/black_box.h"
#include "layer/log.h"
#include "vk_layer/exact/exact.h"
#include "vk_layer/submit/collect.h"
#include "vk_layer/submit/frames.h"
#include "vk_layer/record/handles.h"
#include "vk_layer/record/labels.h"
#include "vk_layer/picture/picture.h"
#include "vk_layer/submit/submission.h"

/* VK_DEVICE_QUEUE_CREATE_INTERNALLY_SYNCHRONIZED_BIT_KHR, newer than our headers. */
#define INTERNALLY_SYNCHRONIZED 4u

static struct vk_handles queues;

__thread unsigned vk_calls_down __attribute__((tls_model("initial-exec")));

struct vk_queue *
vk_queue_find(VkQueue handle)
{
	return vk_handles_find(&queues, VK_HANDLE_KEY(handle));
}

static struct vk_queue *
make_queue(struct vk_device *d, VkQueue handle, uint32_t family, uint32_t index,
	   VkDeviceQueueCreateFlags flags)
{
	struct vk_queue *q = calloc(1, sizeof(*q));
	if (!q)
		return NULL;
	q->device = d;
	q->handle = handle;
	q->family = family;
	q->index = index;
	q->is_protected = flags & VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT;
	q->unordered = flags & INTERNALLY_SYNCHRONIZED;
	q->labels = vk_labels_create(d->is_dxvk);
	if (q->labels && vk_handles_put(&queues, VK_HANDLE_KEY(handle), q))
		return q;
	vk_labels_destroy(q->labels);
	free(q);
	return NULL;
}

void
vk_queue_learn(struct vk_device *d, VkQueue handle, uint32_t family, uint32_t index,
	       VkDeviceQueueCreateFlags flags)
{
	if (!handle || !vk_device_runs(d))
		return;
	pthread_mutex_lock(&d->lock);
	bool ok = vk_queue_find(handle) != NULL;
	if (!ok) {
		struct vk_queue *q = make_queue(d, handle, family, index, flags);
		struct vk_queue **end = &d->queues;
		while (*end)
			end = &(*end)->next;
		*end = q;
		ok = q != NULL;
	}
	pthread_mutex_unlock(&d->lock);
	if (!ok)
		vk_device_stop(d, "out of memory for a queue");
	if ((flags & INTERNALLY_SYNCHRONIZED) && d->exact && !atomic_exchange(&d->exact_over, true))
		tally_log_say(TALLY_LEVEL_WARNING, "vulkan",
			      "several threads may submit to one queue at once: --snapshot exact "
			      "is off on this device");
}

/* VkOutOfBandQueueTypeInfoNV, newer than our headers. */
struct out_of_band {
	VkStructureType type;
	const void *next;
	uint32_t queue; /* 0: it renders, 1: it presents */
};

void
vk_queue_out_of_band(struct vk_device *d, VkQueue queue, const void *info)
{
	struct vk_queue *q = vk_device_runs(d) ? vk_queue_find(queue) : NULL;
	if (!q || ((const struct out_of_band *)info)->queue != 1)
		return;
	pthread_mutex_lock(&d->lock);
	q->out_of_band = true;
	pthread_mutex_unlock(&d->lock);
}

void
vk_queues_destroy(struct vk_device *d, bool calls)
{
	while (d->queues) {
		struct vk_queue *q = d->queues;
		d->queues = q->next;
		vk_handles_remove(&queues, VK_HANDLE_KEY(q->handle));
		tally_stream_destroy(q->stream);
		vk_collect_finish(q, calls);
		vk_exact_finish(q, calls);
		vk_labels_destroy(q->labels);
		free(q);
	}
}

/* ---- labels ---- */

void
vk_queue_label(struct vk_device *d, VkQueue queue, const char *name, bool begins, bool ends)
{
	struct vk_queue *q = vk_device_runs(d) ? vk_queue_find(queue) : NULL;
	if (!q)
		return;
	pthread_mutex_lock(&d->lock);
	vk_frame_label(d, q, name);
	if (begins)
		vk_labels_push(q->labels, name);
	if (ends)
		vk_labels_pop(q->labels);
	pthread_mutex_unlock(&d->lock);
}

/* ---- waits by the game: submitted work has completed ---- */

static const struct tally_pass *
first_unread(struct vk_queue *q)
{
	for (struct vk_submission *s = q->oldest; s; s = s->next)
		for (uint32_t i = 0; i < s->n_slots; i++) {
			const struct vk_pending_slot *unread = &s->slots[i];
			if (unread->done)
				continue;
			if (unread->role == VK_ROLE_ROW)
				return &unread->row[__builtin_ctzll(unread->unread)];
			return vk_pending_pass_of(s, unread)->pass;
		}
	return NULL;
}

/* The GPU stopped in that pass or in a later one: a device that is lost is asked for nothing. */
static void
say_unread(struct vk_queue *q)
{
	const struct tally_pass *pass = first_unread(q);
	if (!pass)
		return;
	const struct tally_target *target = pass->target;
	if (q->device->config->black_box_ns)
		tally_black_box_pass(tally_stream_pass_frame(pass), pass->label, target, true);
	char size[32] = "a pass without a target";
	if (target)
		snprintf(size, sizeof(size), "a pass of %ux%u", target->width, target->height);
	tally_log_say(TALLY_LEVEL_WARNING, "vulkan",
		      "queue %u.%u: nothing that was submitted had a result from this pass of "
		      "frame %llu on: %s",
		      q->family, q->index, (unsigned long long)tally_stream_pass_frame(pass),
		      pass->label              ? pass->label
		      : target && target->name ? target->name
					       : size);
}

void
vk_give_up(struct vk_device *d)
{
	pthread_mutex_lock(&d->lock);
	if (!d->given_up) {
		d->given_up = true;
		for (struct vk_queue *q = d->queues; q; q = q->next)
			say_unread(q);
		vk_collect_give_up(d, TALLY_FLAG(LOST), false);
		for (struct vk_queue *q = d->queues; q; q = q->next)
			if (q->stream)
				tally_stream_publish(q->stream);
	}
	vk_pictures_unlock(d, true);
}

void
vk_drain(struct vk_device *d)
{
	/* Another thread has the lock: results are read at the next opportunity. */
	if (!vk_device_runs(d) || pthread_mutex_trylock(&d->lock) != 0)
		return;
	vk_collect_poll(d);
	vk_pictures_unlock(d, true);
}

static uint64_t
serial_of(struct vk_device *d, const struct vk_queue *q)
{
	pthread_mutex_lock(&d->lock);
	uint64_t serial = q->serial;
	pthread_mutex_unlock(&d->lock);
	return serial;
}

VkResult
vk_queue_wait_idle(struct vk_device *d, PFN_vkQueueWaitIdle next, VkQueue queue)
{
	struct vk_queue *q = vk_device_runs(d) ? vk_queue_find(queue) : NULL;
	uint64_t serial = q ? serial_of(d, q) : 0;
	struct tally_clock_wait wait = vk_wait_begin(d);
	VkResult result = next(queue);
	if (!vk_wait_end(d, &wait, result, TALLY_EVENT_IDLE, "vkQueueWaitIdle")) {
		vk_give_up(d);
		return result;
	}
	if (!q || result != VK_SUCCESS)
		return result;
	uint64_t t0 = vk_overhead_begin(d);
	pthread_mutex_lock(&d->lock);
	vk_collect_completed(q, serial);
	vk_frame_idle(d, q);
	vk_collect_poll(d);
	vk_frame_overhead(q, vk_overhead_since(t0));
	vk_pictures_unlock(d, true);
	return result;
}

VkResult
vk_device_wait_idle(struct vk_device *d, PFN_vkDeviceWaitIdle next, VkDevice device)
{
	/* During this call the game lets no other thread use a queue. */
	struct tally_clock_wait wait = vk_wait_begin(d);
	VkResult result = next(device);
	if (!vk_wait_end(d, &wait, result, TALLY_EVENT_IDLE, "vkDeviceWaitIdle")) {
		vk_give_up(d);
		return result;
	}
	if (result != VK_SUCCESS)
		return result;
	uint64_t t0 = vk_overhead_begin(d);
	pthread_mutex_lock(&d->lock);
	for (struct vk_queue *q = d->queues; q; q = q->next)
		vk_collect_completed(q, q->serial);
	vk_frame_idle(d, NULL);
	vk_collect_poll(d);
	if (d->queues)
		vk_frame_overhead(d->queues, vk_overhead_since(t0));
	vk_pictures_unlock(d, true);
	return result;
}

VkResult
vk_wait_for_fences(struct vk_device *d, PFN_vkWaitForFences next, VkDevice device, uint32_t n,
		   const VkFence *fences, VkBool32 all, uint64_t timeout)
{
	struct tally_clock_wait wait = vk_wait_begin(d);
	VkResult result = next(device, n, fences, all, timeout);
	if (!vk_wait_end(d, &wait, result, TALLY_EVENT_FENCE, "vkWaitForFences") ||
	    result != VK_SUCCESS || pthread_mutex_trylock(&d->lock) != 0)
		return result;
	for (uint32_t i = 0; i < n && (all || n == 1); i++)
		vk_collect_fence_signalled(d, fences[i]);
	vk_collect_poll(d);
	vk_pictures_unlock(d, true);
	return result;
}

/* SPDX-License-Identifier: MIT */
/* vk_layer/submit/frames.h - where a device's frames end, and which queue a handle is.
 *
 * Callers hold the device's lock unless stated otherwise.
 */
#ifndef PASSTALLY_VK_LAYER_FRAMES_H
#define PASSTALLY_VK_LAYER_FRAMES_H

#include "layer/event/event.h"
#include "vk_layer/state.h"

static const struct tally_presented vk_nothing_presented;

/* Without the lock; NULL when the game never queried the queue, or memory ran out. */
struct vk_queue *vk_queue_find(VkQueue handle);
/* The game got the handle of a queue. Takes the lock, as does the next one. */
void vk_queue_learn(struct vk_device *d, VkQueue handle, uint32_t family, uint32_t index,
		    VkDeviceQueueCreateFlags flags);
/* `name`: of a label that begins, or is inserted. */
void vk_queue_label(struct vk_device *d, VkQueue queue, const char *name, bool begins, bool ends);
/* vkQueueNotifyOutOfBandNV: what is presented on the queue may be generated. Takes the lock. */
void vk_queue_out_of_band(struct vk_device *d, VkQueue queue, const void *info);
/* Destroys all queues of the device with their contents. Without the lock, when it
 * is no longer used. */
void vk_queues_destroy(struct vk_device *d, bool calls);

/* No more work follows: the open frame ends with what it has. */
void vk_frame_end_partial(struct vk_device *d);
/* A label begins: it may start or stop the capture, or end the frame. */
void vk_frame_label(struct vk_device *d, struct vk_queue *q, const char *name);
/* A VkFrameBoundaryEXT ended the frame; `q` (here and below, or NULL) is the queue that did. */
void vk_frame_marked(struct vk_device *d, struct vk_queue *q, struct tally_presented presented);
/* --frame submit:N, after a submission. */
void vk_frame_submitted(struct vk_device *d, struct vk_queue *q);
/* --frame idle, after a wait. */
void vk_frame_idle(struct vk_device *d, struct vk_queue *q);
/* --frame present, after a present. */
void vk_frame_presented(struct vk_device *d, struct vk_queue *q, struct tally_presented presented);

/* The layer's own time in the game's thread. vk_overhead_begin() returns a moment, or 0 while
 * nothing is captured, when no clock is read; the other returns the time since then, 0 since 0,
 * without what vk_slots_fetch() waited. Any thread, without the lock. */
uint64_t vk_overhead_begin(const struct vk_device *d);
uint64_t vk_overhead_since(uint64_t begin_ns);
/* Around a call down in which the driver may wait: the time is added to the game's waits and is an
 * event of `kind` (TALLY_N_EVENTS: it is none), unless nothing is captured, and a lost device is
 * stopped. False: the device does not run. */
struct tally_clock_wait vk_wait_begin(const struct vk_device *d);
bool vk_wait_end(struct vk_device *d, const struct tally_clock_wait *wait, VkResult result,
		 enum tally_event_kind kind, const char *call);
/* Around another call that costs microseconds (layer/event/event.h), ended where it succeeded. */
static inline struct tally_event
vk_event_begin(const struct vk_device *d, enum tally_event_kind kind, const char *call)
{
	bool on = d->tracked && !vk_device_idles(d);
	return (struct tally_event){
		.kind = kind, .call = call, .begin_ns = on ? tally_clock_now_ns() : 0
	};
}
static inline void
vk_event_end(struct tally_event *event, uint64_t n, uint64_t bytes)
{
	event->n = n;
	event->bytes = bytes;
	tally_event_end(event);
}
void vk_frame_overhead(struct vk_queue *q, uint64_t ns);
/* Updates vk_device.idle, which the recording threads read, from the open frame. */
void vk_frame_update_idle(struct vk_device *d);

/* Stopped: unread results are given up, once. Takes the lock. */
void vk_give_up(struct vk_device *d);
/* Above 0 around calls down: a signal handler that runs in this thread and exits must not call
 * the driver, which may be in the middle of a call. */
extern __thread unsigned vk_calls_down __attribute__((tls_model("initial-exec")));

#endif

/* SPDX-License-Identifier: MIT */
/* vk_layer/exact/resolve.h - determines whether a wait ends without further action of the game.
 *
 * `--snapshot exact` waits in the game's own vkQueueSubmit. It must never wait for something
 * that the same thread, or one that waits for it, has yet to submit. A wait is resolvable when
 * its signal operation was submitted to the driver, and so was everything before that in its
 * queue, and everything that these wait for in turn. So every queue operation is reported here
 * in order; those that cannot end yet are kept in a line of their queue, with their signals,
 * until their waits are certain to end. A binary semaphore is treated as a timeline that counts
 * its signals. Makes no Vulkan call; any thread; it has one short lock, which is a leaf.
 */
#ifndef PASSTALLY_VK_LAYER_RESOLVE_H
#define PASSTALLY_VK_LAYER_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

struct vk_resolve; /* for one device */
struct vk_line;	   /* for one queue; lives as long as the vk_resolve */
struct vk_op;	   /* one operation of a queue: its waits and its signals */

enum vk_verdict {
	VK_RESOLVED = 0,
	VK_WAITS_HOST,	   /* for a timeline value that nothing submitted will reach */
	VK_WAITS_EXTERNAL, /* for a semaphore that may be shared with others, or is unknown */
	VK_WAITS_BEHIND,   /* for an earlier operation of its queue that waits
			      for one of these */
	VK_WAITS_UNKNOWN,  /* no memory, or too many operations: the answer is unknown */
	VK_N_VERDICTS,
};

enum vk_semaphore_kind { VK_SEMAPHORE_BINARY = 0, VK_SEMAPHORE_TIMELINE, VK_SEMAPHORE_EXTERNAL };

struct vk_resolve *vk_resolve_create(void); /* NULL on OOM */
void vk_resolve_destroy(struct vk_resolve *r); /* with its lines; accepts NULL */
struct vk_line *vk_line_create(struct vk_resolve *r); /* NULL on OOM: nothing on it is resolvable */

/* A semaphore was created; `value`: a timeline's initial value. One that is
 * not reported is external. */
void vk_resolve_learn(struct vk_resolve *r, uint64_t semaphore, enum vk_semaphore_kind kind,
		      uint64_t value);
/* It is shared with others from now on: it is unknown who signals it. */
void vk_resolve_share(struct vk_resolve *r, uint64_t semaphore);
/* It is destroyed, so everything that used it has ended. */
void vk_resolve_forget(struct vk_resolve *r, uint64_t semaphore);
/* Signaled by the host, or to be signaled by the presentation engine (a
 * binary one: no value). */
void vk_resolve_signal(struct vk_resolve *r, uint64_t semaphore, uint64_t value);

/* NULL on OOM, which the functions below treat as an operation of which nothing is known. */
struct vk_op *vk_op_create(uint32_t n_waits, uint32_t n_signals);
/* Point `i`: first the waits, then the signals. */
void vk_op_set(struct vk_op *op, uint32_t i, uint64_t semaphore, uint64_t value);
void vk_op_destroy(struct vk_op *op); /* for one that was not handed over; accepts NULL */

/* Whether it would end by itself if it were the queue's next operation now. `line` may be
 * NULL. */
enum vk_verdict vk_resolve_ask(struct vk_resolve *r, struct vk_line *line, struct vk_op *op);
/* Appends the queue's next operation. Takes ownership of `op`. */
void vk_resolve_submitted(struct vk_resolve *r, struct vk_line *line, struct vk_op *op,
			  uint64_t serial);
/* All of the queue's operations with serials up to this one have ended. */
void vk_resolve_completed(struct vk_resolve *r, struct vk_line *line, uint64_t serial);

#endif

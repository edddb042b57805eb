/* vk_layer/exact/resolve.h - will this wait end without anything more that the game does?
 *
 * `--snapshot exact` waits in the game's own vkQueueSubmit. That may never be for what the same
 * thread, or one that waits for it, has yet to submit: a wait is resolvable when what signals it
 * was handed to the driver, and all that comes before it in its queue, and all that it waits for
 * in turn. So every queue operation is told here in order; those that cannot end yet stand in a
 * line of their queue, with their signals, until what they wait for is promised. A binary semaphore
 * is taken for a timeline that counts its signals. Makes no Vulkan call; any thread; one short lock
 * of its own, a leaf.
 */
#ifndef PASSTALLY_VK_LAYER_RESOLVE_H
#define PASSTALLY_VK_LAYER_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

struct vk_resolve; /* of a device */
struct vk_line;	   /* of one queue; lives as long as the vk_resolve */
struct vk_op;	   /* one operation of a queue: its waits and its signals */

enum vk_verdict {
	VK_RESOLVED = 0,
	VK_WAITS_HOST,	   /* for a timeline's value that nothing submitted will reach */
	VK_WAITS_EXTERNAL, /* for a semaphore that others may hold, or that is not known */
	VK_WAITS_BEHIND,   /* for an earlier operation of its queue that is one of these */
	VK_WAITS_UNKNOWN,  /* no memory, or too many operations: nobody can tell */
	VK_N_VERDICTS,
};

enum vk_semaphore_kind { VK_SEMAPHORE_BINARY = 0, VK_SEMAPHORE_TIMELINE, VK_SEMAPHORE_EXTERNAL };

struct vk_resolve *vk_resolve_create(void); /* NULL on OOM */
void vk_resolve_destroy(struct vk_resolve *r); /* with its lines; accepts NULL */
struct vk_line *vk_line_create(struct vk_resolve *r); /* NULL on OOM: nothing on it is resolvable */

/* A semaphore was made; `value`: a timeline's first. One that is not told is external. */
void vk_resolve_learn(struct vk_resolve *r, uint64_t semaphore, enum vk_semaphore_kind kind,
		      uint64_t value);
/* It is shared with others from now on: nobody knows who signals it. */
void vk_resolve_share(struct vk_resolve *r, uint64_t semaphore);
/* It is destroyed, so whatever used it has ended. */
void vk_resolve_forget(struct vk_resolve *r, uint64_t semaphore);
/* Signalled by the host, or going to be by the presentation engine (a binary one: no value). */
void vk_resolve_signal(struct vk_resolve *r, uint64_t semaphore, uint64_t value);

/* NULL on OOM, which the functions below take for one that nobody can tell of. */
struct vk_op *vk_op_create(uint32_t n_waits, uint32_t n_signals);
void vk_op_set_wait(struct vk_op *op, uint32_t i, uint64_t semaphore, uint64_t value);
void vk_op_set_signal(struct vk_op *op, uint32_t i, uint64_t semaphore, uint64_t value);
void vk_op_destroy(struct vk_op *op); /* not handed over; accepts NULL */

/* If it were the queue's next operation now, would it end by itself? `line` may be NULL. */
enum vk_verdict vk_resolve_ask(struct vk_resolve *r, struct vk_line *line, struct vk_op *op);
/* It is the queue's next operation. Takes `op`. */
void vk_resolve_submitted(struct vk_resolve *r, struct vk_line *line, struct vk_op *op,
			  uint64_t serial);
/* All of the queue's operations of serials up to this one have ended. */
void vk_resolve_through(struct vk_resolve *r, struct vk_line *line, uint64_t serial);

#endif

/* SPDX-License-Identifier: MIT */
/* vk_layer/record/recording.h - the contents of one recording of a command buffer, in order.
 *
 * Created at vkBeginCommandBuffer, filled by the recording thread, constant from
 * vkEndCommandBuffer on. A recording may be executed many times, by its own submissions or by
 * those of primaries that execute it; a pass of the log belongs to a submission (replay.c),
 * never to the recording. It lives as long as its command buffer, a primary or an unread
 * submission refers to it.
 */
#ifndef PASSTALLY_VK_LAYER_RECORDING_H
#define PASSTALLY_VK_LAYER_RECORDING_H

#include "vk_layer/record/pipelines.h"
#include "vk_layer/record/slots.h"
#include "vk_layer/record/targets.h"

struct vk_recording;

#define VK_MAX_DEPTH 32 /* of secondaries inside secondaries */

/* One draw, dispatch or copy inside a pass (granularity draw). */
struct vk_workload {
	const char *command; /* static: "draw", "dispatch", "copy", "clear", "trace", "build" */
	struct tally_pipeline *pipeline; /* NULL: none, or it is not known */
	uint32_t n_items; /* of its recording, before it: the labels among them */
	uint64_t flags;
	struct vk_slot slot;
	/* The executed secondary that the slot belongs to; NULL: this recording. An
	 * item holds the reference. */
	struct vk_recording *owner;
};

struct vk_pass {
	const struct tally_target *target; /* interned, or NULL */
	int64_t surface; /* number of the swapchain that it renders to, -1 = none */
	/* Statistics counted inside secondaries that are executed in the pass (R25): [first,
	 * first + n) of recording->inner. */
	uint32_t first_inner, n_inner;
	uint32_t first_workload, n_workloads; /* of recording->workloads */
	uint32_t first_use, n_uses; /* of recording->uses */
	uint32_t unknown; /* TALLY_UNKNOWN_* */
	uint8_t kind, load, store; /* enum tally_pass_kind, tally_load_op, tally_store_op */
	bool suspended : 1; /* suspends: the next resuming pass of the batch continues it */
	bool resuming : 1; /* continues a pass that an earlier command buffer suspended */
	bool uncounted : 1; /* vk_recording_miss() */
	uint64_t flags;
	struct tally_call_counts call_counts; /* including secondaries executed inside;
						 `calls`: see vk_n_calls() */
	struct vk_slot slot;
};

/* While recorded, `calls` has only those beyond one for each draw and the like. */
static inline uint64_t
vk_n_calls(const struct tally_call_counts *t)
{
	return t->calls + t->draws + t->dispatches + t->copies + t->clears;
}

enum vk_item_kind {
	VK_ITEM_LABEL_BEGIN = 0, /* text */
	VK_ITEM_LABEL_END,
	VK_ITEM_EXECUTE, /* a secondary: its own labels and, outside a pass, its own passes */
};

/* What lies between passes. */
struct vk_item {
	enum vk_item_kind kind;
	uint32_t n_passes; /* begun before it */
	union {
		uint32_t text; /* offset into recording->text, NUL-terminated */
		struct vk_recording *secondary; /* holds a reference */
	};
};

struct vk_recording {
	atomic_uint refs;
	struct vk_device *device;
	uint32_t family;
	bool secondary, simultaneous, is_protected;
	bool idle; /* recorded while nothing was captured: it contains no query */
	bool continues_pass; /* RENDER_PASS_CONTINUE: all of it belongs to the primary's pass */
	bool broken; /* memory ran out while recording: the contents are incomplete */
	bool executes; /* an item is a secondary */
	int32_t lost_labels; /* begins, minus ends, that could not be stored as items */
	struct vk_item *items;
	uint32_t n_items, room_items;
	struct vk_pass *passes;
	uint32_t n_passes, room_passes;
	struct vk_workload *workloads;
	uint32_t n_workloads, room_workloads;
	/* Executed secondaries whose `own` slots count inside a pass; items hold the references. */
	struct vk_recording **inner;
	uint32_t n_inner, room_inner;
	struct vk_pipeline_use *uses; /* a secondary that continues a pass: all of it is one */
	uint32_t n_uses, room_uses;
	char *text;
	uint32_t n_text, room_text;
	/* Timestamps around a whole primary, from which the remainder is computed. They extend
	 * from before the first work to the end; without work there are none. In a suspended
	 * chain of command buffers (starts_resuming, ends_suspended) the first has the begin
	 * half, the last the end half and those between have none: it is one interval. With
	 * granularity frame or submit it also has counters, unless `uncounted` is set. */
	struct vk_slot whole;
	bool starts_resuming, ends_suspended;
	bool uncounted;
	bool no_performance; /* ... unless only its performance query had to end early */
	struct vk_slot buffer; /* a performance query around all of a primary's commands */
	/* For a secondary inside a pass: its contribution to the pass, and its statistics
	 * (R25). Its workloads are copied into the recording that executes it. */
	struct tally_call_counts call_counts;
	uint32_t unknown;
	uint64_t flags;
	struct vk_slot own;
	uint32_t dropped; /* passes above the limit */
	struct vk_slot_runs runs;
	struct vk_pictures *pictures; /* --pictures: copies made in it; NULL: none */
	/* Under the device's lock: the submission with the last unread use, or NULL (R27). */
	struct vk_submission *pending;
	uint32_t pending_use; /* the index of that use there */
	bool ran; /* was submitted: its slots need a reset before it executes again */
};

/* No query counts some of the work of `p`, or of a secondary that continues a pass (NULL): its
 * counters are absent. */
static inline void
vk_recording_miss(struct vk_recording *r, struct vk_pass *p)
{
	if (p)
		p->uncounted = true;
	else
		r->uncounted = true;
}

/* The number of passes before the i-th item; with `i` one too large, of all. */
static inline uint32_t
vk_passes_before(const struct vk_recording *r, uint32_t i)
{
	return i < r->n_items ? r->items[i].n_passes : r->n_passes;
}

/* NULL on OOM. */
struct vk_recording *vk_recording_create(struct vk_device *d, uint32_t family);
struct vk_recording *vk_recording_ref(struct vk_recording *r);
/* Releases a reference, without the lock or with it (`locked`); the last release returns slots
 * and secondaries and frees the recording. Accepts NULL. */
void vk_recording_unref(struct vk_recording *r, bool locked);

#endif

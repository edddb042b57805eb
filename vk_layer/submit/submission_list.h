/* SPDX-License-Identifier: MIT */
/* vk_layer/submit/submission_list.h - submissions that wait to be read, and passes that wait for
 * their results.
 *
 * replay.c fills a struct vk_submission with pending passes of the log and pending slots, with
 * what their results go into. Those of one recording are linked into its use, so that they can be
 * read alone when the recording is submitted again (R27). Callers hold the device's lock.
 */
#ifndef PASSTALLY_VK_LAYER_SUBMISSION_LIST_H
#define PASSTALLY_VK_LAYER_SUBMISSION_LIST_H

#include "layer/base/array.h"
#include "vk_layer/submit/batch_intervals.h"
#include "vk_layer/record/recording.h"

#define VK_NONE UINT32_MAX

/* Flags that say why a pass has no counters; without them it is flagged UNCOUNTED. */
#define VK_FLAGS_UNCOUNTED \
	(TALLY_FLAG(YIELDED) | TALLY_FLAG(LOST) | TALLY_FLAG(INCOMPLETE) | TALLY_FLAG(DROPPED) | \
	 TALLY_FLAG(SIMULTANEOUS) | TALLY_FLAG(RECORDED_IDLE))

/* A pass of the log until its results are available. */
struct vk_pending_pass {
	struct tally_pass *pass; /* NULL: done */
	uint32_t n_left; /* unread slots, plus 1 while more may be added */
	bool sums;	 /* has more than one slot, or halves of one */
	bool has_begin, has_end;
	bool has_inner; /* its counters come from secondaries or workloads, none
			   from its own slot */
	uint32_t set; /* the set of its values: a number for vk_slots_layout() */
	uint32_t buffer; /* the command buffer that it began in, counted over its call */
	/* --snapshot exact and --granularity frame: the sample before its first submission;
	 * whether any sample of it is missing. */
	uint64_t snapshot_from;
	bool unsampled;
	uint64_t missing[VK_MAX_COUNTERS / 64]; /* counters that not every slot had */
};

enum vk_role {
	VK_ROLE_PASS = 0, /* time and counters of a pass */
	VK_ROLE_ROW, /* the same of consecutive passes that have one slot each, or all none */
	VK_ROLE_INNER,	  /* counters from inside a secondary */
	VK_ROLE_WHOLE,	  /* around a command buffer or a batch */
	VK_ROLE_WORKLOAD,
};

/* A slot to read; with VK_ROLE_ROW as many as its `views`, one for each pass. */
struct vk_pending_slot {
	struct vk_slot slot;
	uint32_t left;	   /* sources that have not answered */
	uint32_t use, next; /* its use, and the next slot of that; or VK_NONE */
	uint32_t pending; /* index in the submission; VK_NONE: `frame` instead */
	union {
		struct vk_pending_pass *frame; /* the queue's */
		struct tally_workload *workload; /* of its pass, with VK_ROLE_WORKLOAD */
		struct tally_pass *row; /* the first; the others follow it in memory */
	};
	uint8_t role; /* enum vk_role */
	bool done;
	/* VK_ROLE_ROW: those that are not done, a bit each. When all were asked together once,
	 * these are read one by one; `slot` of a pass has its sources that have not answered. */
	uint64_t unread;
	bool apart;
};

/* The pending slots of one recording in a submission. */
struct vk_recording_use {
	struct vk_recording *recording; /* NULL: read */
	uint32_t first, n_left;
};

struct vk_submission {
	struct vk_submission *next;
	struct vk_queue *queue;
	uint64_t serial;   /* the queue's serial */
	VkFence game_fence;
	bool completed;
	bool requested; /* its slots are part of the current round of reading */
	/* The newest submission when this one was found completed. */
	uint64_t completed_frame, completed_serial;
	uint64_t tried_frame, tried_serial; /* ... when its results were not ready */
	uint64_t frame;	   /* the frame that was open at submission */
	struct vk_pending_pass *passes;
	uint32_t n_passes, room_passes;
	struct vk_pending_slot *slots;
	uint32_t n_slots, room_slots, n_unread;
	struct vk_recording_use *uses;
	uint32_t n_uses, room_uses;
	struct vk_batch_interval *pairs; /* around its batches */
	struct vk_pictures *pictures; /* to be read when it is completed */
};

/* An empty submission, NULL on OOM. */
struct vk_submission *vk_submission_take(struct vk_queue *q);
/* The call has returned. If the driver accepted it, its submission (NULL: none) waits for
 * its results; otherwise everything in that is lost. */
void vk_submission_end(struct vk_queue *q, struct vk_submission *s, VkResult result);
/* Adds a pass that the caller fills; its n_left starts with 1, which append() subtracts. NULL on
 * OOM. */
static inline struct vk_pending_pass *
vk_submission_add_pass(struct vk_submission *s)
{
	if (s->n_passes == s->room_passes &&
	    !tally_array_fit(&s->passes, s->n_passes, &s->room_passes, sizeof(*s->passes)))
		return NULL;
	return &s->passes[s->n_passes++];
}
/* Makes the submission a use of the recording, with a reference to it. False on OOM. */
bool vk_submission_use(struct vk_submission *s, struct vk_recording *recording);
/* Adds a slot that `owner` took (NULL: a pair's) and that the caller describes: all members that
 * this does not set. NULL on OOM. */
static inline struct vk_pending_slot *
vk_submission_add_slot(struct vk_submission *s, struct vk_recording *owner)
{
	if (s->n_slots == s->room_slots &&
	    !tally_array_fit(&s->slots, s->n_slots, &s->room_slots, sizeof(*s->slots)))
		return NULL;
	if (owner && owner->pending != s && !vk_submission_use(s, owner))
		return NULL;
	struct vk_pending_slot *unread = &s->slots[s->n_slots];
	unread->use = unread->next = VK_NONE;
	unread->done = unread->apart = false;
	if (owner) {
		struct vk_recording_use *use = &s->uses[owner->pending_use];
		unread->use = owner->pending_use;
		unread->next = use->first;
		use->first = s->n_slots;
		use->n_left++;
	}
	s->n_slots++;
	s->n_unread++;
	return unread;
}

/* A pending pass outside submissions (granularity frame): adding it, and giving up
 * one of its claims. */
struct vk_pending_pass *vk_frame_pass_create(struct tally_pass *pass); /* NULL on OOM */
void vk_frame_pass_release(struct vk_pending_pass *pending);

/* ---- for collect.c ---- */

static inline struct vk_pending_pass *
vk_pending_pass_of(struct vk_submission *s, const struct vk_pending_slot *unread)
{
	return unread->pending == VK_NONE ? unread->frame : &s->passes[unread->pending];
}
/* Some of its work was not measured: none of its counters is valid. */
void vk_pending_pass_miss(struct vk_pending_pass *pending);
/* The same for the counters of sets only. */
void vk_pending_pass_miss_set(const struct vk_device *d, struct vk_pending_pass *pending);
/* Answered, or given up. This may finish the pass, and the last slot of a
 * use releases its recording. */
void vk_pending_slot_done(struct vk_submission *s, struct vk_pending_slot *unread);
void vk_pending_slot_give_up(struct vk_submission *s, struct vk_pending_slot *unread,
			     uint64_t flag);
void vk_submission_give_up(struct vk_submission *s, uint64_t flag);
/* It is no longer in the list, and its intervals around batches and itself may be taken again. */
void vk_submission_recycle(struct vk_submission *s);

#endif

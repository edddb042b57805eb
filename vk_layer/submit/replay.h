/* SPDX-License-Identifier: MIT */
/* vk_layer/submit/replay.h - submitted recordings, converted to passes of the log.
 *
 * Walks the command buffers of a submission in order: labels go onto the queue's stack, passes
 * into the stream's open frame (R36), slots of earlier uses are read and reset (R27). With the
 * device's lock; makes no call down except for the host's reading and resetting of queries.
 */
#ifndef PASSTALLY_VK_LAYER_REPLAY_H
#define PASSTALLY_VK_LAYER_REPLAY_H

#include "vk_layer/record/command.h"
#include "vk_layer/submit/batch.h"
#include "vk_layer/submit/submission_list.h"

struct vk_replay {
	struct vk_device *d;
	struct vk_queue *q;
	struct vk_submission *s; /* NULL: no memory, only labels and resets */
	uint64_t now_ns;	 /* when it was submitted */
	uint64_t number;	 /* the submission's number in the log */
	/* Used by replay.c, zeroed at first. */
	uint32_t n_passes;
	uint32_t set; /* the set of the recording that is replayed */
	const struct tally_layout *layout; /* of that set */
	bool is_coarse; /* granularity submit or frame */
	bool rows; /* nothing but their own slots is added to the batch's passes later */
	/* Of the recording, and as long as no label begins or ends. */
	bool captured, labelled;
	uint64_t flags; /* of all its passes */
	uint64_t reasons[2]; /* flags of a pass without a slot, and of one with a slot */
	uint32_t expected; /* the sources that count each pass */
	bool draws_alone; /* they count nothing of a pass without draws */
	uint32_t buffer; /* the call's command buffers before the one that is replayed */
	uint32_t coarse, chain, whole_chain; /* pending passes */
	uint32_t n_batch_buffers, n_batch_passes, last_pending;
	/* Workloads of the pass begun last that are not added yet: those of recording->workloads
	 * from the first to before the end. Each is added where its labels are. */
	struct vk_recording *loads_of;
	uint32_t load, end_load, load_pending;
};

/* pairs[i]: timestamps around the i-th batch, or NULL; one that is not needed is returned and
 * set to NULL. `pairs` itself may be NULL. */
void
vk_replay(struct vk_replay *r, const struct vk_batches *batches, struct vk_batch_interval **pairs);

/* Whether it contains more than labels. */
bool vk_recording_has_work(const struct vk_recording *rec);

#endif

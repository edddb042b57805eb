/* SPDX-License-Identifier: MIT */
/* vk_layer/record/intervals.h - the intervals in which a command buffer is measured.
 *
 * At any moment one interval of each kind may be running: it has a slot (slots.h), which is
 * stored in the recording, and a state, which is stored in the command buffer while it is
 * recorded. This file takes, begins, yields and ends slots, called by the code that opens and
 * closes what an interval surrounds. For the recording thread; nothing waits, and a lock is
 * taken only for a new run of slots.
 */
#ifndef PASSTALLY_VK_LAYER_INTERVALS_H
#define PASSTALLY_VK_LAYER_INTERVALS_H

#include "vk_layer/record/recording.h"

struct vk_command;

/* What an interval surrounds, and where its slot is stored. */
enum vk_around {
	VK_AROUND_PRIMARY,   /* all work of a primary: recording->whole */
	VK_AROUND_BUFFER,    /* a command buffer, first command to last: recording->buffer */
	VK_AROUND_PASS,	     /* the open pass: its slot */
	VK_AROUND_WORKLOAD,  /* the last workload (granularity draw): its slot */
	VK_INSIDE_SECONDARY, /* a secondary that continues a pass: recording->own */
	VK_N_AROUND,
};

enum vk_interval_state {
	VK_INTERVAL_NONE = 0, /* not begun yet */
	VK_INTERVAL_VOID,     /* its object is open, and not measured */
	VK_INTERVAL_RUNNING,
	VK_INTERVAL_DONE,
};

struct vk_interval {
	enum vk_interval_state state;
	uint8_t counts; /* VK_MEASURE_: counters measured with the time; may be yielded */
};

/* Takes a slot: the interval is VOID when there is none. `resets`: the slot may be reset in the
 * command buffer, outside a render pass; otherwise only the host can have reset it. */
bool vk_interval_take(struct vk_command *c, enum vk_around around, unsigned what, uint32_t views,
		      bool resets);
/* Begins the slot that was taken. */
void vk_interval_run(struct vk_command *c, enum vk_around around, bool resets);
/* Ends the interval if it is running. */
void vk_interval_end(struct vk_command *c, enum vk_around around);

#endif

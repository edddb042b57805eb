/* SPDX-License-Identifier: MIT */
#include "cli/log/recent.h"

enum { KEPT = sizeof(((struct tally_recent *)0)->frames) / sizeof(struct tally_recent_frame) };

const struct tally_recent_frame *
tally_recent_add(struct tally_recent *recent, const struct tally_frame_record *frame)
{
	struct tally_recent_frame *f = &recent->frames[recent->n++ % KEPT];
	*f = (struct tally_recent_frame){ .start_ns = frame->start_ns,
					  .length_ns = frame->cpu_ns,
					  .number = frame->frame,
					  .device = frame->device };
	return f;
}

bool
tally_recent_is_inside(const struct tally_recent_frame *frame, uint64_t ns)
{
	return ns >= frame->start_ns && ns - frame->start_ns < frame->length_ns;
}

const struct tally_recent_frame *
tally_recent_find(const struct tally_recent *recent, uint64_t ns)
{
	for (unsigned i = 0; i < KEPT && i < recent->n; i++)
		if (tally_recent_is_inside(&recent->frames[i], ns))
			return &recent->frames[i];
	return NULL;
}

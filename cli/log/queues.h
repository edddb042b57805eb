/* SPDX-License-Identifier: MIT */
/* cli/log/queues.h - what ran at once on several queues of a Vulkan device.
 *
 * From the passes that have both a start and a time on the GPU, frame by frame: how long each queue
 * worked, how long any did (the union) and how long several did, and for each pass how much of its
 * time other queues worked in. Frames whose passes ran on one queue do not count. Memory: a few
 * numbers for each identity. One thread.
 */
#ifndef PASSTALLY_CLI_LOG_QUEUES_H
#define PASSTALLY_CLI_LOG_QUEUES_H

#include "layer/record.h"

#include <glib.h>

#define TALLY_MAX_QUEUES 16 /* the last one stands for all further ones */

struct tally_queue_time {
	int32_t family, index;
	uint64_t busy_ns;
};

/* Of one identity. */
struct tally_beside {
	uint64_t id, gpu_ns, beside_ns;
};

/* Zeroed: no frame. */
struct tally_queues {
	struct tally_queue_time rows[TALLY_MAX_QUEUES];
	uint32_t n;
	uint64_t frames; /* with passes on several queues */
	uint64_t any_ns, several_ns;
	GHashTable *beside; /* struct tally_beside by id; NULL: nothing ran beside another queue */
};

void tally_queues_add(struct tally_queues *q, const struct tally_frame_record *f);
void tally_queues_finish(struct tally_queues *q);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/log/recent.h - the frames read last, to find the one in which something happened.
 *
 * A mark has a time, and is in the log before or soon after the frame of that time. One
 * thread; nothing fails.
 */
#ifndef PASSTALLY_CLI_LOG_RECENT_H
#define PASSTALLY_CLI_LOG_RECENT_H

#include "layer/record.h"

struct tally_recent_frame {
	uint64_t start_ns, length_ns, number;
	uint32_t device;
};

struct tally_recent {
	struct tally_recent_frame frames[8];
	unsigned n; /* frames so far; the index is modulo the size */
};

const struct tally_recent_frame *
tally_recent_add(struct tally_recent *recent, const struct tally_frame_record *frame);
/* NULL = none of the frames that are kept. */
const struct tally_recent_frame *tally_recent_find(const struct tally_recent *recent, uint64_t ns);
/* Whether the frame had begun and not ended. Frames of a device follow without a gap. */
bool tally_recent_is_inside(const struct tally_recent_frame *frame, uint64_t ns);

#endif

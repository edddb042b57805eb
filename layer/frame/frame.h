/* SPDX-License-Identifier: MIT */
/* layer/frame/frame.h - builds a frame: the parts of all streams become one record.
 *
 * Passes get their identity and segment by stream, and their number by when they began;
 * intervals get their union. Collector thread only; nothing here blocks. Memory grows to the
 * largest frame seen and is kept: about 250 bytes per pass, 80 per workload and 32 per counter
 * value, 4 MiB for a frame of 10 000 passes with timestamps and four statistics. Out of memory
 * costs passes, counted as dropped, never the frame.
 */
#ifndef PASSTALLY_LAYER_FRAME_FRAME_H
#define PASSTALLY_LAYER_FRAME_FRAME_H

#include "layer/base/numbers.h"
#include "layer/frame/frame_part.h"

/* How many identities are known to be described: others may be described more than once. */
#define TALLY_MAX_SEEN 65536

struct tally_frame_builder;
struct tally_frame_builder *tally_frame_builder_create(void);
void tally_frame_builder_destroy(struct tally_frame_builder *builder);

struct tally_frame_input {
	uint32_t device;
	uint64_t frame;
	/* Sorted by frame, then stream. Those of an earlier frame are late: their ids are
	 * counted last, and they resume nothing. */
	const struct tally_frame_part *parts;
	uint64_t n_parts;
	uint64_t start_ns, end_ns;
	struct tally_thread_time thread; /* the thread that ended it, then; all 0 = not known */
	bool has_thread; /* the next ones, of that thread in the frame, are known */
	uint64_t thread_ns, kernel_ns, wait_ns, minor_faults, major_faults, disk_bytes;
	const struct tally_events *events; /* NULL: not known */
	const struct tally_asleep_record *asleep;
	uint32_t n_asleep;
	struct tally_presented presented;
	uint64_t flags;
	uint64_t dropped; /* in addition to those that the parts report */
	struct tally_numbers *seen; /* the identities that the log has described */
};

/* Called at the first use of a pass's or a pipeline's identity, before tally_frame_build() returns
 * the frame; now and then again where `seen` is full or had no memory. */
struct tally_frame_new {
	void (*pass)(void *data, const struct tally_pass_info_record *info);
	void (*pipeline)(void *data, const struct tally_pipeline_record *pipeline);
	void *data;
};

/* Builds a frame. The record belongs to the builder and is valid until the next call;
 * the caller may change it. */
struct tally_frame_record *
tally_frame_build(struct tally_frame_builder *builder, const struct tally_frame_input *input,
		  const struct tally_frame_new *is_new);
/* The record's passes, which the caller may also change. */
struct tally_pass_record *tally_frame_passes(struct tally_frame_builder *builder);

#endif

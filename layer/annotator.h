/* SPDX-License-Identifier: MIT */
/* layer/annotator.h - adds to a frame the values that were not counted inside it: shares of
 * counter snapshots, metrics, statistics of the run.
 *
 * The ops table that query/attribute/annotate.c implements; layer/ uses it as one object. The
 * collector thread is the only caller, between a frame's assembly and its line, except for
 * frame_begins(), abandon(), and with exact snapshots create(), which then runs in the thread
 * that starts the capture. Nothing here waits for the GPU. A failure leaves the frame
 * unchanged.
 */
#ifndef PASSTALLY_LAYER_ANNOTATOR_H
#define PASSTALLY_LAYER_ANNOTATOR_H

#include "layer/config/config.h"
#include "layer/record.h"

struct tally_annotator;

struct tally_annotator_ops {
	/* Opens the snapshot sources and starts counting. NULL: nothing is added (out of
	 * memory, or nothing was requested). May take a few milliseconds. `config` outlives
	 * it. */
	struct tally_annotator *(*create)(const struct tally_config *config);
	/* The device line to write, with more sources, counters and metrics. Valid until the
	 * next call; `info` itself when there is nothing to add. */
	const struct tally_device_record *(*device)(struct tally_annotator *a,
						    const struct tally_device_record *info);
	/* A device line whose contents have changed (a source opened late, or no longer counts), to
	 * be written again; NULL if there is none, or no further one. `last`: no frame follows in
	 * which it could be seen later, so a source that still opens is waited for, as destroy()
	 * does. Otherwise like device(). */
	const struct tally_device_record *(*changed)(struct tally_annotator *a, bool last);
	/* A captured frame of that device, in order. `passes` is frame->passes, which this may
	 * change. What it adds is valid until the next call. */
	void (*frame)(struct tally_annotator *a, struct tally_frame_record *frame,
		      struct tally_pass_record *passes);
	/* The frame of the last frame(), as it was then, has been written to the log. */
	void (*written)(struct tally_annotator *a, const struct tally_frame_record *frame);
	/* The frame of the last frame() did not reach the log, nor will another: what was
	 * added to it is in no line. */
	void (*unwritten)(struct tally_annotator *a);
	/* A frame of that device that is not captured ends here: its counts belong to no
	 * frame. */
	void (*skip)(struct tally_annotator *a, uint32_t device, uint64_t end_ns);
	/* The device writes no more frames. */
	void (*drop_device)(struct tally_annotator *a, uint32_t device);
	/* A frame of some device begins, captured or not. Any thread, also without an
	 * annotator; never waits. */
	void (*frame_begins)(bool captured);
	/* Adds the annotator's part of the `end` line; valid until destroy(). Called after all
	 * devices were dropped. */
	void (*end)(struct tally_annotator *a, struct tally_end_record *end);
	/* Stops counting and releases everything. Accepts NULL. */
	void (*destroy)(struct tally_annotator *a);
	/* In a forked child, whose only thread is the caller: closes what must not be shared,
	 * and leaves the rest unchanged. Accepts NULL. */
	void (*abandon)(struct tally_annotator *a);
};

#endif

/* layer/annotator.h - who adds to a frame what was not counted inside it: shares of counter
 * snapshots, metrics, statistics of the run.
 *
 * The ops table that query/attribute/annotate.c implements; layer/ knows it as one object. The
 * collector thread is the only caller, between a frame's assembly and its line, but for
 * create(), which runs once in the thread that starts the capture, and abandon(). Nothing here
 * waits for the GPU. Each failure leaves the frame as it was.
 */
#ifndef PASSTALLY_LAYER_ANNOTATOR_H
#define PASSTALLY_LAYER_ANNOTATOR_H

#include "layer/config/config.h"
#include "layer/record.h"

struct tally_annotator;

struct tally_annotator_ops {
	/* Opens the snapshot sources and starts counting. NULL: nothing is added (out of memory, or
	 * nothing asked for). May take a few milliseconds. `config` outlives it. */
	struct tally_annotator *(*create)(const struct tally_config *config);
	/* The device line as it is to be written: more sources, counters and metrics. Valid until
	 * the next call; `info` itself when there is nothing to add. */
	const struct tally_device_record *(*device)(struct tally_annotator *a,
						    const struct tally_device_record *info);
	/* A device line that says something else by now (a source counts no more), to be written
	 * again; NULL: there is none, or no other. As device() else. */
	const struct tally_device_record *(*changed)(struct tally_annotator *a);
	/* A captured frame of that device, in order. `passes` is frame->passes, to be written to.
	 * What is added lives until the next call. */
	void (*frame)(struct tally_annotator *a, struct tally_frame_record *frame,
		      struct tally_pass_record *passes);
	/* The frame of the last frame(), as it was then, is in the log. */
	void (*written)(struct tally_annotator *a, const struct tally_frame_record *frame);
	/* The frame of the last frame() did not reach the log, nor will another: what it was given
	 * is in no line. */
	void (*unwritten)(struct tally_annotator *a);
	/* A frame of that device that is not captured ends here: what was counted belongs to
	 * none. */
	void (*skip)(struct tally_annotator *a, uint32_t device, uint64_t end_ns);
	/* The device writes no more frames. */
	void (*drop_device)(struct tally_annotator *a, uint32_t device);
	/* A frame of some device begins, which will be captured or not. Any thread, without an
	 * annotator too; never waits. */
	void (*frame_begins)(bool captured);
	/* What belongs in the `end` line; valid until destroy(). All devices were dropped. */
	void (*end)(struct tally_annotator *a, struct tally_end_record *end);
	/* Stop counting, give everything back. Accepts NULL. */
	void (*destroy)(struct tally_annotator *a);
	/* In a forked child, whose only thread is the caller: close what must not be shared, leave
	 * the rest as it is. Accepts NULL. */
	void (*abandon)(struct tally_annotator *a);
};

#endif

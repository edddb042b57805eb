/* layer/assembly.h - the collector thread's state: what came in, which frames are complete, what
 * was recorded.
 *
 * One round: begin_round(), take_messages(), end_round(). Used by the collector thread alone, after
 * create(). Only recorder calls block. A recorder error ends all writing; failure() says so.
 */
#ifndef PASSTALLY_LAYER_ASSEMBLY_H
#define PASSTALLY_LAYER_ASSEMBLY_H

#include "layer/annotator.h"
#include "layer/frame.h"
#include "layer/queue.h"
#include "layer/recorder.h"

/* Frames of a device that may wait for a slow stream, and for how long. Fewer than a stream has
 * parts: else the one that is not slow would run out of them first. */
#define TALLY_MAX_WAITING 48
#define TALLY_MAX_WAIT_NS UINT64_C(2000000000)

struct tally_assembly {
	const struct tally_recorder_ops *ops;
	struct tally_recorder *recorder;
	/* Adds to frames; NULL: none does. A forked child reads it, too. */
	const struct tally_annotator_ops *annotate;
	_Atomic(struct tally_annotator *) annotator;
	enum tally_record_status status; /* the first error */
	struct tally_frame_builder *builder;
	struct tally_id_set *seen; /* ids that have their pass_info line */
	struct tally_device *devices; /* in order of number */
	uint64_t frames, frames_dropped, passes;
	bool dirty; /* written since flushed_ns */
	uint64_t flushed_ns;
	uint64_t over_since_ns;
	const char *over_reason;
};

/* Takes the recorder, and the annotator if one is set, at finish(). NULL on OOM. */
struct tally_assembly *
tally_assembly_create(const struct tally_recorder_ops *ops, struct tally_recorder *recorder);
/* After finish(), or when nothing was begun. */
void tally_assembly_destroy(struct tally_assembly *a);

/* Pop what the streams pushed. True: there was something; so with all below. */
bool tally_assembly_begin_round(struct tally_assembly *a);
/* Takes the list, oldest first. */
bool tally_assembly_take_messages(struct tally_assembly *a, struct tally_message *messages);
/* Write each frame that is complete, or has waited long enough. */
bool tally_assembly_end_round(struct tally_assembly *a, uint64_t now_ns);
bool tally_assembly_write_notes(struct tally_assembly *a);
void tally_assembly_flush(struct tally_assembly *a, uint64_t now_ns);

/* Does an ended frame wait for a stream, or the capture's end for a device? */
bool tally_assembly_waits(const struct tally_assembly *a);

enum tally_over {
	TALLY_OVER_NOT = 0, /* no device has reached the capture's end */
	TALLY_OVER_UNREAD, /* one has, but some of its passes wait for results */
	TALLY_OVER_SOME, /* all that have are written */
	TALLY_OVER_ALL,
};
enum tally_over tally_assembly_over(struct tally_assembly *a);

/* The word for end.reason after a recorder error, or NULL. */
const char *tally_assembly_failure(const struct tally_assembly *a);

/* Write all that is there, complete or not, the notes and the `end` line; close the recorder and
 * let go of all streams and devices. */
void tally_assembly_finish(struct tally_assembly *a, const char *reason, uint64_t now_ns);

#endif

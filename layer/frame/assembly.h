/* SPDX-License-Identifier: MIT */
/* layer/frame/assembly.h - the collector thread's state: received parts, complete frames,
 * recorded lines.
 *
 * One round: begin_round(), take_messages(), end_round(). Used by the collector thread alone,
 * after create(). Only recorder calls block. A recorder error ends all writing; failure()
 * reports it.
 */
#ifndef PASSTALLY_LAYER_FRAME_ASSEMBLY_H
#define PASSTALLY_LAYER_FRAME_ASSEMBLY_H

#include "layer/annotator.h"
#include "layer/event/process_load.h"
#include "layer/frame/frame.h"
#include "layer/frame/queue.h"
#include "layer/recorder.h"

/* How many frames of a device may wait for a slow stream, and for how long. The
 * number is below a stream's number of parts: otherwise a stream that is not slow
 * would run out of parts first. */
#define TALLY_MAX_WAITING 48
#define TALLY_MAX_WAIT_NS UINT64_C(2000000000)

struct tally_assembly {
	const struct tally_recorder_ops *ops;
	struct tally_recorder *recorder;
	/* Adds to frames; NULL: no annotator. A forked child reads it, too. */
	const struct tally_annotator_ops *annotate;
	_Atomic(struct tally_annotator *) annotator;
	const struct tally_config *config; /* for its create() */
	enum tally_record_status status; /* the first error */
	struct tally_frame_builder *builder;
	struct tally_numbers seen; /* ids whose pass_info line is written */
	struct tally_device *devices; /* in order of number */
	uint64_t frames, frames_dropped, passes;
	uint64_t gone_frames; /* the most that a device which is gone has ended */
	struct tally_process_load *load; /* made by its first reading */
	uint64_t load_ns; /* when it was read */
	uint64_t process_start_ns; /* 0: not known */
	uint64_t frames_thread; /* what ended the last frame */
	uint64_t quiet_ns; /* so long after load_ns it is read without a frame; 0: never */
	bool long_frame; /* one ended: read the load */
	bool renderdoc_asked; /* --renderdoc-over, once */
	bool dirty; /* written since flushed_ns */
	uint64_t flushed_ns;
	uint64_t over_since_ns;
	const char *over_reason;
};

/* Takes the recorder, and the annotator if one is set, at finish(). NULL on OOM. */
struct tally_assembly *
tally_assembly_create(const struct tally_recorder_ops *ops, struct tally_recorder *recorder);
/* Called after finish(), or if nothing was begun. */
void tally_assembly_destroy(struct tally_assembly *a);

/* Pops the parts that the streams pushed. This and the functions below return true if there was
 * something to do. */
bool tally_assembly_begin_round(struct tally_assembly *a);
/* Takes the list of messages, oldest first. */
bool tally_assembly_take_messages(struct tally_assembly *a, struct tally_message *messages);
/* Writes each frame that is complete, or has waited long enough. */
bool tally_assembly_end_round(struct tally_assembly *a, uint64_t now_ns);
/* How many frames the device with the most has ended, captured or not. */
uint64_t tally_assembly_ended(const struct tally_assembly *a);
/* How long until a process line is due though no frame ended, or TALLY_FOREVER: 2 s after the last
 * one, then 4, 8 and 16 s; a program that hangs is told from one that was just killed. */
uint64_t tally_assembly_quiet_ns(const struct tally_assembly *a, uint64_t now_ns);
/* Writes a process line if one is due; `frames`: frames were written. */
void tally_assembly_write_load(struct tally_assembly *a, uint64_t now_ns, bool frames);
bool tally_assembly_write_notes(struct tally_assembly *a);
void tally_assembly_flush(struct tally_assembly *a, uint64_t now_ns);

/* Whether an ended frame waits for a stream, or the capture's end for a device. */
bool tally_assembly_waits(const struct tally_assembly *a);

enum tally_over {
	TALLY_OVER_NOT = 0, /* no device has reached the capture's end */
	TALLY_OVER_UNREAD, /* one has, but passes still wait for results, or messages to be taken */
	TALLY_OVER_SOME, /* some have, and all of these are written */
	TALLY_OVER_ALL,
};
enum tally_over tally_assembly_over(struct tally_assembly *a);

/* The word for end.reason after a recorder error, or NULL. */
const char *tally_assembly_failure(const struct tally_assembly *a);

/* Writes everything that exists, complete or not, the notes and the `end` line; closes the
 * recorder and releases all streams and devices. */
void tally_assembly_finish(struct tally_assembly *a, const char *reason, uint64_t now_ns);

#endif

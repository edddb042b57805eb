/* SPDX-License-Identifier: MIT */
/* layer/frame/black_box.h - --black-box: only the last seconds of frames, in two files that take
 * turns beside the log.
 *
 * The log has the header, devices, passes, pipelines and notes. Frames go to LOG.now; after that
 * many seconds it becomes LOG.before, in place of the one before it. So however the program ends,
 * the last one to two periods are on disk, and no signal is caught and no frame held in memory.
 * LOG, LOG.before and LOG.now, in this order, are one log: passtally run joins them. To keep
 * them, both get a number: LOG.N.before, LOG.N.now. LOG.last, which the threads of the game write
 * as memory, names the pass that began last; a capture that ends removes it. There is one black
 * box a process. For the collector thread, but begin() before it starts, and forget() in a forked
 * child.
 */
#ifndef PASSTALLY_LAYER_FRAME_BLACK_BOX_H
#define PASSTALLY_LAYER_FRAME_BLACK_BOX_H

#include "layer/config/config.h"
#include "layer/recorder.h"

/* Makes the files for this log if there is to be a black box. False: a note says why they cannot
 * be made. */
bool tally_black_box_begin(const struct tally_config *config, const struct tally_recorder_ops *ops,
			   const char *log);
bool tally_black_box_is_on(void);
/* What has the lines of frames and marks: the black box, or without one `log`. */
struct tally_recorder *tally_black_box_recorder(struct tally_recorder *log);
/* Records a frame; a file that is old or full gives way to a new one. */
enum tally_record_status tally_black_box_frame(const struct tally_frame_record *frame);

/* A pass of that frame begins, or is submitted; label NULL: none. Or, `unread`, it is the first one
 * without a result on a device that was lost, which stays. Any thread; called where the options
 * have a black box. */
void tally_black_box_pass(uint64_t frame, const char *label, const struct tally_target *target,
			  bool unread);
/* A device is measured no more. Any thread. */
void tally_black_box_stopped(const char *why);

/* A frame took this long: asks to keep the black box if that is over the limit, and nothing was
 * kept during the last period. */
void tally_black_box_judge(uint64_t ns);
/* Keeps it, if that was asked for (tally_capture_ask_keep()). */
void tally_black_box_keep(void);

/* Ends it by an end line about the frames that are in it; sets `end` for that. The recorder is
 * closed. */
void tally_black_box_finish(struct tally_end_record *end);
void tally_black_box_forget(void);

#endif

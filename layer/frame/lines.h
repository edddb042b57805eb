/* SPDX-License-Identifier: MIT */
/* layer/frame/lines.h - the lines of the log that assembly.c decides on, to the recorder.
 *
 * With a black box what grows with the run goes to its recorder. For the collector thread;
 * only the recorder's calls block. After its first error nothing more is written. lines.c
 * has those functions of assembly.h, too, that only write.
 */
#ifndef PASSTALLY_LAYER_FRAME_LINES_H
#define PASSTALLY_LAYER_FRAME_LINES_H

#include "layer/frame/assembly.h"

/* A device as its front end describes it. */
void
tally_lines_write_device(struct tally_assembly *a, const struct tally_device_record *info);
/* Written before the frames that lack what the changed source counted; `last`: before the
 * end. */
void tally_lines_write_changed_devices(struct tally_assembly *a,
				       struct tally_annotator *annotator,
				       bool last);
/* For struct tally_frame_new: `data` is the assembly. */
void tally_lines_write_pipeline(void *data, const struct tally_pipeline_record *pipeline);
void tally_lines_write_pass(void *data, const struct tally_pass_info_record *info);
void
tally_lines_write_frame(struct tally_assembly *a, const struct tally_frame_record *record);

#endif

/* SPDX-License-Identifier: MIT */
/* json/decode_lines.h - the lines of a log, from text to records.
 *
 * Each function reads one whole line; the record is completely filled in. One reader's thread.
 */
#ifndef PASSTALLY_JSON_DECODE_LINES_H
#define PASSTALLY_JSON_DECODE_LINES_H

#include "json/decode.h"

bool tally_decode_header(struct tally_decoder *d, struct tally_header_record *header);
bool tally_decode_device(struct tally_decoder *d, struct tally_device_record *device);
bool tally_decode_pass_info(struct tally_decoder *d, struct tally_pass_info_record *info);
bool tally_decode_pipeline(struct tally_decoder *d, struct tally_pipeline_record *pipeline);
bool tally_decode_frame(struct tally_decoder *d, struct tally_frame_record *frame);
bool tally_decode_process(struct tally_decoder *d, struct tally_process_record *process);
bool tally_decode_note(struct tally_decoder *d, struct tally_note_record *note);
bool tally_decode_end(struct tally_decoder *d, struct tally_end_record *end);

#endif

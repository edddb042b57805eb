/* SPDX-License-Identifier: MIT */
/* json/record_write.h - formats each record as the JSON text of its line, without the newline.
 *
 * Used by the recorder and by code that prints one record. The caller's thread; nothing here
 * allocates or fails: see json/writer.h. Fields are in the order of docs and schema; values
 * that are absent or not finite are left out.
 */
#ifndef PASSTALLY_JSON_RECORD_WRITE_H
#define PASSTALLY_JSON_RECORD_WRITE_H

#include "json/writer.h"

void tally_json_put_header(struct tally_json_writer *w,
			   const struct tally_header_record *header);
void tally_json_put_device(struct tally_json_writer *w,
			   const struct tally_device_record *device);
void
tally_json_put_pass_info(struct tally_json_writer *w, const struct tally_pass_info_record *info);
void
tally_json_put_pipeline(struct tally_json_writer *w, const struct tally_pipeline_record *pipeline);
void tally_json_put_frame(struct tally_json_writer *w, const struct tally_frame_record *frame);
void
tally_json_put_process(struct tally_json_writer *w, const struct tally_process_record *process);
void tally_json_put_note(struct tally_json_writer *w, const struct tally_note_record *note);
/* `with_lists` false: without statistics and growth, for a log that is nearly full. */
void tally_json_put_end(struct tally_json_writer *w, const struct tally_end_record *end,
			bool with_lists);

#endif

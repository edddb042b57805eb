/* SPDX-License-Identifier: MIT */
/* json/decode_run.h - the lines about a run: header, process, note and end, from text to records.
 *
 * One reader's thread.
 */
#ifndef PASSTALLY_JSON_DECODE_RUN_H
#define PASSTALLY_JSON_DECODE_RUN_H

#include "json/decode.h"

/* Each reads one whole line; record.* is completely filled in. */
bool tally_decode_header(struct tally_decoder *d, struct tally_header_record *header);
bool tally_decode_process(struct tally_decoder *d, struct tally_process_record *process);
bool tally_decode_note(struct tally_decoder *d, struct tally_note_record *note);
bool tally_decode_end(struct tally_decoder *d, struct tally_end_record *end);

#endif

/* SPDX-License-Identifier: MIT */
/* json/decode_frame.h - the lines of frames, from text to records.
 *
 * One reader's thread.
 */
#ifndef PASSTALLY_JSON_DECODE_FRAME_H
#define PASSTALLY_JSON_DECODE_FRAME_H

#include "json/decode.h"

bool tally_decode_frame(struct tally_decoder *d, struct tally_frame_record *frame);

/* {key: number} into `values`; *n counts those of this object. */
bool tally_decode_values(struct tally_decoder *d, struct tally_array *values, uint32_t *n);

#endif

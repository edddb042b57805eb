/* SPDX-License-Identifier: MIT */
/* json/reader_text.h - reads the next value of a line as a text, which is unescaped in place.
 *
 * False after failing: it is none, or not valid. One thread at a time.
 */
#ifndef PASSTALLY_JSON_READER_TEXT_H
#define PASSTALLY_JSON_READER_TEXT_H

#include "json/reader_line.h"

bool tally_json_read_text(struct tally_json_reader *r, struct tally_json_text *text);

#endif

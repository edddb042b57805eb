/* SPDX-License-Identifier: MIT */
/* json/reader_internal.h - what reader.c, reader_text.c and reader_fail.c share.
 *
 * Inside json/ only; the rules of json/reader.h hold.
 */
#ifndef PASSTALLY_JSON_READER_INTERNAL_H
#define PASSTALLY_JSON_READER_INTERNAL_H

#include "json/reader.h"

/* Skip white space; returns the byte after it. */
static inline char
tally_json_skip_space(struct tally_json_reader *r)
{
	while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')
		r->at++;
	return *r->at;
}

/* Fail at the reader's place: "expected WHAT, found ...". Returns false. */
bool tally_json_fail_expected(struct tally_json_reader *r, const char *what);

#endif

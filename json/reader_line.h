/* SPDX-License-Identifier: MIT */
/* json/reader_line.h - the line that a reader (json/reader.h) is at, its position and its failure.
 *
 * The lowest part of the reader: what asks for values stands above. One thread at a time.
 */
#ifndef PASSTALLY_JSON_READER_LINE_H
#define PASSTALLY_JSON_READER_LINE_H

#include "layer/record.h"

#define TALLY_JSON_DEPTH 64
#define TALLY_JSON_PADDING 64 /* readable bytes that must follow a line */

struct tally_json_text {
	const char *s; /* ends in a NUL; may contain others only when has_nul */
	size_t len;
	bool has_nul;
};

struct tally_json_reader {
	char *begin, *at, *end; /* *end is '\n': no function reads past it */
	unsigned depth;
	bool fresh; /* an object or array was just opened */
	bool failed;
	bool cut; /* failed because the line ended too early */
	bool no_memory; /* failed for that reason */
	const char *where;
	char message[256];
};

/* `reader` is zeroed before the first line and used again for the next. line[len] is overwritten
 * by a newline and TALLY_JSON_PADDING bytes are readable from there on. */
void tally_json_begin(struct tally_json_reader *r, char *line, size_t len);

/* Fails at `where`, a position in the line. All three return false. */
bool tally_json_fail(struct tally_json_reader *r, const char *where, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Fails at the reader's position: "expected WHAT, found ...". */
bool tally_json_fail_expected(struct tally_json_reader *r, const char *what);
bool tally_json_fail_memory(struct tally_json_reader *r);
/* Text of the log for a message: printable, shortened. Returns `out`. */
const char *tally_json_quote(char out[48], const char *s, size_t len);

/* Skips white space. Returns the first byte of the next value: '{', '[', '"', '-', a digit,
 * 't', 'f', 'n', or any invalid byte that is there. */
static inline char
tally_json_peek(struct tally_json_reader *r)
{
	while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')
		r->at++;
	return *r->at;
}

#endif

/* SPDX-License-Identifier: MIT */
#include "json/reader_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
tally_json_begin(struct tally_json_reader *r, char *line, size_t len)
{
	r->begin = line;
	r->at = line;
	r->end = line + len;
	*r->end = '\n';
	r->depth = 0;
	r->fresh = false;
	r->failed = false;
	r->cut = false;
	r->no_memory = false;
	r->where = line;
	r->message[0] = '\0';
}

bool
tally_json_fail(struct tally_json_reader *r, const char *where, const char *format, ...)
{
	if (r->failed)
		return false;
	r->failed = true;
	r->where = where;
	r->cut = where == r->end;
	va_list args;
	va_start(args, format);
	vsnprintf(r->message, sizeof(r->message), format, args);
	va_end(args);
	return false;
}

bool
tally_json_fail_memory(struct tally_json_reader *r)
{
	r->no_memory = true;
	return tally_json_fail(r, r->at, "out of memory");
}

const char *
tally_json_quote(char out[48], const char *s, size_t len)
{
	enum { SHOWN = 40 };
	size_t n = 0;
	for (; n < len && n < SHOWN; n++)
		out[n] = s[n] >= 0x20 && s[n] < 0x7f ? s[n] : '?';
	if (n < len) {
		memcpy(out + n, "...", 3);
		n += 3;
	}
	out[n] = '\0';
	return out;
}

bool
tally_json_fail_expected(struct tally_json_reader *r, const char *what)
{
	unsigned char c = (unsigned char)*r->at;
	if (r->at == r->end)
		return tally_json_fail(r, r->at, "expected %s, but the line ends here", what);
	if (c >= 0x20 && c < 0x7f)
		return tally_json_fail(r, r->at, "expected %s, found '%c'", what, c);
	return tally_json_fail(r, r->at, "expected %s, found byte 0x%02x", what, c);
}

/* SPDX-License-Identifier: MIT */
#include "query/source/source.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum tally_status
tally_unsupported(char *reason, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(reason, TALLY_REASON_BYTES, format, args);
	va_end(args);
	return TALLY_UNSUPPORTED;
}

void
tally_reason_add(char *reason, const char *format, ...)
{
	size_t at = strnlen(reason, TALLY_REASON_BYTES - 1);
	if (at && at + 3 < TALLY_REASON_BYTES) {
		memcpy(reason + at, "; ", 3);
		at += 2;
	}
	va_list args;
	va_start(args, format);
	vsnprintf(reason + at, TALLY_REASON_BYTES - at, format, args);
	va_end(args);
}

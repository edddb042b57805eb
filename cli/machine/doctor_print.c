/* SPDX-License-Identifier: MIT */
#include "cli/machine/doctor_print.h"

#include "cli/shared/text.h"

void
tally_doctor_row(enum tally_doctor_mark mark, const char *what, const char *format, ...)
{
	static const char *const words[] = { [TALLY_DOCTOR_GOOD] = "ok ",
					     [TALLY_DOCTOR_OFF] = "off",
					     [TALLY_DOCTOR_BAD] = "BAD",
					     [TALLY_DOCTOR_FACT] = "   " };
	enum { INDENT = 21 };
	va_list args;
	va_start(args, format);
	g_autofree char *raw = g_strdup_vprintf(format, args);
	va_end(args);
	tally_text_print(stdout, "%s  %-*s ", words[mark], INDENT - 6, what);
	tally_text_print_folded(INDENT + 2, "%s", raw);
}

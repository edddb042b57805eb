/* SPDX-License-Identifier: MIT */
/* cli/machine/doctor_print.h - prints a row of `passtally doctor`.
 *
 * Rows go to standard output. One thread; nothing fails.
 */
#ifndef PASSTALLY_CLI_DOCTOR_PRINT_H
#define PASSTALLY_CLI_DOCTOR_PRINT_H

#include <glib.h>

enum tally_doctor_mark {
	TALLY_DOCTOR_GOOD,
	TALLY_DOCTOR_OFF,
	TALLY_DOCTOR_BAD,
	TALLY_DOCTOR_FACT
};

/* Prints the mark, the subject ("" continues the row above) and a sentence, which is folded to
 * tally_text_columns(). */
void tally_doctor_row(enum tally_doctor_mark mark, const char *what, const char *format, ...)
	G_GNUC_PRINTF(3, 4);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/machine/doctor_print.h - the output of `passtally doctor`: the answer, then its rows.
 *
 * Rows are kept until tally_doctor_print(), because the answer is known last and is printed
 * first. One thread; nothing fails.
 */
#ifndef PASSTALLY_CLI_DOCTOR_PRINT_H
#define PASSTALLY_CLI_DOCTOR_PRINT_H

#include <glib.h>
#include <stdbool.h>

enum tally_doctor_mark {
	TALLY_DOCTOR_GOOD,
	TALLY_DOCTOR_OFF,
	TALLY_DOCTOR_FIX, /* off, and the sentence says what the user can do about it */
	TALLY_DOCTOR_BAD,
	TALLY_DOCTOR_FACT,
	TALLY_DOCTOR_ANSWER, /* a fact that belongs to the answer */
};

/* Adds the mark, the subject ("" continues the row above) and a sentence, which is folded to
 * tally_text_columns(). */
void tally_doctor_row(enum tally_doctor_mark mark, const char *what, const char *format, ...)
	G_GNUC_PRINTF(3, 4);
/* Prints whether passes can be captured, the next step (the first BAD row, else the first one
 * that the user can fix, else `next`), the rows of the answer, and all other rows. */
void tally_doctor_print(bool ok, const char *next);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/machine/doctor_rows.h - the output of `passtally doctor`: the answer, then its rows.
 *
 * Rows are kept until tally_doctor_print(), because the answer is known last and is printed
 * first. One thread; nothing fails.
 */
#ifndef PASSTALLY_CLI_DOCTOR_ROWS_H
#define PASSTALLY_CLI_DOCTOR_ROWS_H

#include "layer/record.h"

#include <glib.h>
#include <stdbool.h>

enum tally_doctor_mark {
	TALLY_DOCTOR_GOOD,
	TALLY_DOCTOR_OFF,
	TALLY_DOCTOR_FIX, /* off, and the sentence tells the user what to do */
	TALLY_DOCTOR_BAD,
	TALLY_DOCTOR_FACT,
	TALLY_DOCTOR_ANSWER, /* a fact that belongs to the answer */
};

/* Adds the mark, the subject ("" continues the row above) and a sentence, which is folded by
 * tally_text_print_folded(). */
void tally_doctor_row(enum tally_doctor_mark mark, const char *what, const char *format, ...)
	G_GNUC_PRINTF(3, 4);
/* Prints whether passes can be captured, and if not of all programs, those `only` of which they
 * can (otherwise NULL), the next step (the first BAD row, else the first one
 * that the user can fix, else `next`), the rows of the answer, and all other rows. */
void tally_doctor_print(bool ok, const char *only, const char *next);

/* A row for each set of the source, up to a dozen. */
void tally_doctor_sets(const struct tally_device_record *device, const char *source);
/* How long a full rotation takes; nothing if there are no sets. */
void tally_doctor_rotation(const struct tally_device_record *device);
/* What is measured on a device, for example "the program's calls, GPU times"; free with
 * g_free(). */
char *tally_doctor_gives(const struct tally_device_record *device);
/* What is still measured when a source of the GPU's own counters is off; NULL: it is not
 * such a source. Free with g_free(). */
char *tally_doctor_remains(const struct tally_device_record *device, const char *source);

#endif

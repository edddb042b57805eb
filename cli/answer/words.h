/* SPDX-License-Identifier: MIT */
/* cli/answer/words.h - what the sentences of an answer are made of.
 *
 * What these return is theirs, and valid until TALLY_PHRASES more phrases were made: it
 * goes into a sentence, or is copied. One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_WORDS_H
#define PASSTALLY_CLI_ANSWER_WORDS_H

#include <glib.h>

#define TALLY_PHRASES 64

/* From a format, as all printing functions take it. */
const char *tally_phrase(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* For example "1.23 ms" or "27 us". */
const char *tally_duration_text(double ns);
/* "0.35 -> 3.10 ms", "800 us -> 3.10 ms"; from nothing "3.10 ms" */
const char *tally_from_to_text(double from_ns, double to_ns);
/* A name as it is printed in a sentence: escaped, and cut in its middle where it has more than 36
 * columns, which hold a pass's shape ("Color + depth 1024x1024 RGBA16F #2"). NULL: "". */
const char *tally_short_name(const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/answer/words.h - times and names of passes in an answer's lines: phrases, as
 * tally_phrase() of cli/shared/text.h makes them. One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_WORDS_H
#define PASSTALLY_CLI_ANSWER_WORDS_H

/* For example "1.23 ms" or "27 us". */
const char *tally_duration_text(double ns);
/* "0.35 -> 3.10 ms", "800 us -> 3.10 ms"; from nothing "3.10 ms" */
const char *tally_from_to_text(double from_ns, double to_ns);
/* A name as it is printed in a sentence: escaped, and cut in its middle where it has more than 36
 * columns, which hold a pass's shape ("Color + depth 1024x1024 RGBA16F #2"). NULL: "". */
const char *tally_short_name(const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/shared/text.h - output for people: all text to a terminal is written by these
 * functions.
 *
 * A label, a path or a word of the command line may contain control characters, escape
 * sequences that a terminal interprets, or text that runs right to left. None of that
 * reaches a terminal: all output for people is written by tally_text_print() and the related
 * functions. Output for programs is written by cli/shared/out.h. One thread. The caller
 * frees returned strings with g_free().
 */
#ifndef PASSTALLY_CLI_TEXT_H
#define PASSTALLY_CLI_TEXT_H

#include <glib.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What makes a noun after a number plural: "%u frame%s", "%u pass%s", "%u value%s unclear". */
#define TALLY_S(n) ((n) == 1 ? "" : "s")
#define TALLY_ES(n) ((n) == 1 ? "" : "es")
#define TALLY_ARE(n) ((n) == 1 ? " is" : "s are")

/* In a function whose last arguments are `format` and what it prints: declares `text`, all of it,
 * which is freed at the end of the block. */
#define TALLY_FORMATTED(text, format) \
	va_list text##_list; \
	va_start(text##_list, format); \
	g_autofree char *text = g_strdup_vprintf(format, text##_list); \
	va_end(text##_list)

/* A short text that is put together, which belongs to this function: it is valid until
 * TALLY_PHRASES more were made. It goes into another one, or is copied. */
#define TALLY_PHRASES 64
const char *tally_phrase(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* Like printf(), but everything that is not printable is escaped except newlines, which
 * belong to the format. Apply tally_text_escape() first to an argument that may contain
 * newlines. */
void tally_text_print(FILE *out, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Always one line: newlines in the arguments are escaped as well, and one is added at the
 * end. */
void tally_text_print_line(FILE *out, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Control characters, and characters that reorder or hide the text after them. */
bool tally_text_is_control(gunichar c);
/* Printable UTF-8: a character that is not printable becomes \n, \xNN (a byte) or \u{N} (a
 * character). */
char *tally_text_escape(const char *text);
/* Number of columns that printable UTF-8 takes on a terminal. */
size_t tally_text_width(const char *text);
/* At most `columns` wide; text that does not fit is cut in the middle and replaced by one
 * mark. */
char *tally_text_fit(const char *text, size_t columns);
/* Words in lines of at most `columns` with a newline between them; all after the first are
 * indented, and that one begins at `start`. Blanks at the beginning are kept. Printable text; the
 * caller frees the result. */
char *tally_text_wrap(const char *text, size_t start, size_t indent, size_t columns);
/* Prints text so, the first line from `indent` on as well, and a newline. */
void tally_text_print_wrapped(FILE *out, const char *text, size_t indent, size_t columns);
/* The same on standard output, in the columns of the terminal, from 40 to 100; 80 if it is not a
 * terminal. */
void tally_text_print_folded(size_t indent, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Whether the terminal shows UTF-8. */
bool tally_text_is_utf8(void);
/* Whether text on standard output may be colored: it is a terminal that can, and $NO_COLOR is
 * not set. */
bool tally_text_has_color(void);
/* Begins a color with an escape sequence; NULL ends it. */
void tally_text_color(FILE *out, const char *color);
/* A path as people write it: "~/x" for a file below the home folder. Where a shell would not
 * accept it unquoted it is quoted, and then complete. */
char *tally_text_path(const char *path);
/* A word of a command as a shell takes it: quoted where it has to be. */
char *tally_text_word(const char *word);
/* Columns of the terminal on standard output; 0 = not a terminal (no limit). $COLUMNS has
 * priority. */
size_t tally_text_terminal_columns(void);

#endif

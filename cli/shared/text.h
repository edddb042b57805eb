/* cli/shared/text.h - what people read: the only way for text to a terminal out of the
 * command.
 *
 * A label, a path or a word of the command line may hold control characters, escape
 * sequences that a terminal obeys, or text that runs right to left. None of that reaches a
 * terminal: everything for people is written by tally_text_print() and its kin. What
 * programs read is written by cli/shared/out.h. One thread. Strings returned are the
 * caller's (g_free).
 */
#ifndef PASSTALLY_CLI_TEXT_H
#define PASSTALLY_CLI_TEXT_H

#include <glib.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* As printf(): all that is not printable is escaped but newlines, which are the format's. An
 * argument that could hold one goes through tally_text_escape() first. */
void tally_text_print(FILE *out, const char *format, ...) G_GNUC_PRINTF(2, 3);
void tally_text_vprint(FILE *out, const char *format, va_list list);
/* One line whatever the arguments hold: newlines are escaped as well, and one is added. */
void tally_text_print_line(FILE *out, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Control characters, and what would reorder or hide the text after it. */
bool tally_text_is_control(gunichar c);
/* Printable UTF-8: what is not printable becomes \n, \xNN (a byte) or \u{N} (a character). */
char *tally_text_escape(const char *text);
/* Columns that printable UTF-8 takes on a terminal. */
size_t tally_text_width(const char *text);
/* At most `columns` wide; what does not fit is replaced, in the middle, by one mark. */
char *tally_text_fit(const char *text, size_t columns);
/* Words in lines of at most `columns`, each line after the first indented, and a newline. */
void tally_text_print_wrapped(FILE *out, const char *text, size_t indent, size_t columns);
/* The label and the text on standard output, folded to the terminal and indented below a
 * key. */
void tally_text_print_indented(const char *label, const char *text);
/* Does the terminal show UTF-8? */
bool tally_text_is_utf8(void);
/* Columns of the terminal on standard output; 0 = not a terminal (no limit). $COLUMNS wins. */
size_t tally_text_terminal_columns(void);

#endif

/* cli/shared/text.h - strings that came from a log, made fit for terminals, JSON and CSV.
 *
 * A label is whatever a game says: it may hold control characters, escape sequences that move a
 * terminal's cursor, or text that runs right to left. Nothing of that reaches a terminal. Strings
 * returned are the caller's (g_free).
 */
#ifndef PASSTALLY_CLI_TEXT_H
#define PASSTALLY_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Printable UTF-8: what is not printable becomes \n, \xNN (a byte) or \u{N} (a character). */
char *tally_text_escape(const char *text);
/* Columns that printable UTF-8 takes on a terminal. */
size_t tally_text_width(const char *text);
/* At most `columns` wide; what does not fit is replaced, in the middle, by one mark. */
char *tally_text_fit(const char *text, size_t columns);
/* A string of JSON, quotes included. Bytes that are not UTF-8 become U+FFFD. */
void tally_text_print_json(FILE *out, const char *text);
/* ,"name":"text", or nothing where text is NULL. */
void tally_text_print_json_member(FILE *out, const char *name, const char *text);
/* A field of CSV (RFC 4180), quoted where it must be. */
char *tally_text_csv(const char *text);
/* Words in lines of at most `columns`, each line after the first indented, and a newline. */
void tally_text_print_wrapped(FILE *out, const char *text, size_t indent, size_t columns);
/* Does the terminal show UTF-8? */
bool tally_text_is_utf8(void);
/* Columns of the terminal on standard output; 0 = not a terminal (no limit). $COLUMNS wins. */
size_t tally_text_terminal_columns(void);

#endif

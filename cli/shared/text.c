/* SPDX-License-Identifier: MIT */
#include "cli/shared/text.h"

#include <glib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool
tally_text_is_control(gunichar c)
{
	GUnicodeType type = g_unichar_type(c);
	return type == G_UNICODE_CONTROL || type == G_UNICODE_FORMAT ||
	       type == G_UNICODE_LINE_SEPARATOR || type == G_UNICODE_PARAGRAPH_SEPARATOR;
}

static bool
shows(gunichar c)
{
	return g_unichar_isprint(c) && !tally_text_is_control(c);
}

char *
tally_text_escape(const char *text)
{
	GString *out = g_string_new(NULL);
	while (*text) {
		gunichar c = g_utf8_get_char_validated(text, -1);
		if (c == (gunichar)-1 || c == (gunichar)-2) {
			g_string_append_printf(out, "\\x%02x", (unsigned char)*text++);
			continue;
		}
		const char *next = g_utf8_next_char(text);
		if (c == '\n')
			g_string_append(out, "\\n");
		else if (c == '\t')
			g_string_append(out, "\\t");
		else if (c == '\r')
			g_string_append(out, "\\r");
		else if (shows(c))
			g_string_append_len(out, text, next - text);
		else
			g_string_append_printf(out, "\\u{%x}", c);
		text = next;
	}
	return g_string_free(out, FALSE);
}

static size_t
char_width(gunichar c)
{
	if (g_unichar_iszerowidth(c))
		return 0;
	return g_unichar_iswide(c) ? 2 : 1;
}

size_t
tally_text_width(const char *text)
{
	size_t width = 0;
	for (; *text; text = g_utf8_next_char(text))
		width += char_width(g_utf8_get_char(text));
	return width;
}

bool
tally_text_is_utf8(void)
{
	return g_get_charset(NULL);
}

char *
tally_text_fit(const char *text, size_t columns)
{
	size_t width = tally_text_width(text);
	if (width <= columns)
		return g_strdup(text);
	const char *mark = tally_text_is_utf8() ? "\xe2\x80\xa6" : "~";
	if (columns == 0)
		return g_strdup("");
	/* The end of a label path is more informative than its start, so two thirds of the
	 * room are for the end. */
	size_t head_room = (columns - 1) / 3, tail_room = columns - 1 - head_room;
	const char *head_end = text;
	for (size_t used = 0;;) {
		used += char_width(g_utf8_get_char(head_end));
		if (used > head_room)
			break;
		head_end = g_utf8_next_char(head_end);
	}
	const char *tail = text;
	for (size_t left = width; left > tail_room; tail = g_utf8_next_char(tail))
		left -= char_width(g_utf8_get_char(tail));
	/* A combining mark must not combine with the ellipsis. */
	while (*tail && g_unichar_iszerowidth(g_utf8_get_char(tail)))
		tail = g_utf8_next_char(tail);
	GString *out = g_string_new_len(text, head_end - text);
	g_string_append(out, mark);
	g_string_append(out, tail);
	return g_string_free(out, FALSE);
}

const char *
tally_phrase(const char *format, ...)
{
	static char *kept[TALLY_PHRASES];
	static unsigned n;
	TALLY_FORMATTED(text, format);
	char **place = &kept[n++ % TALLY_PHRASES];
	g_free(*place);
	return *place = g_steal_pointer(&text);
}

void
tally_text_print(FILE *out, const char *format, ...)
{
	TALLY_FORMATTED(text, format);
	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		bool more = *end != '\0';
		*end = '\0';
		g_autofree char *printable = tally_text_escape(line);
		fputs(printable, out);
		if (more) {
			putc('\n', out);
			end++;
		}
	}
}

void
tally_text_print_line(FILE *out, const char *format, ...)
{
	TALLY_FORMATTED(text, format);
	g_autofree char *printable = tally_text_escape(text);
	fprintf(out, "%s\n", printable);
}

bool
tally_text_has_color(void)
{
	const char *term = g_getenv("TERM"), *no = g_getenv("NO_COLOR");
	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0 && !(no && *no);
}

void
tally_text_color(FILE *out, const char *color)
{
	fputs(color ? color : "\033[m", out);
}

size_t
tally_text_terminal_columns(void)
{
	if (!isatty(STDOUT_FILENO))
		return 0;
	const char *named = g_getenv("COLUMNS");
	guint64 columns;
	if (named && g_ascii_string_to_unsigned(named, 10, 20, 10000, &columns, NULL))
		return columns;
	struct winsize size;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
		return size.ws_col;
	return 80;
}

char *
tally_text_wrap(const char *text, size_t start, size_t indent, size_t columns)
{
	size_t column = start, blanks = strspn(text, " ");
	GString *out = g_string_new_len(text, (gssize)blanks);
	for (const char *word = text + blanks; *word;) {
		size_t len = strcspn(word, " ");
		g_autofree char *copy = g_strndup(word, len);
		size_t width = tally_text_width(copy);
		if (out->len > blanks && column + 1 + width > columns) {
			g_string_append_printf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (out->len > blanks) {
			g_string_append_c(out, ' ');
			column++;
		}
		g_string_append_len(out, word, (gssize)len);
		column += width;
		word += len;
		word += strspn(word, " ");
	}
	return g_string_free(out, FALSE);
}

void
tally_text_print_wrapped(FILE *out, const char *text, size_t indent, size_t columns)
{
	g_autofree char *printable = tally_text_escape(text);
	g_autofree char *lines = tally_text_wrap(printable, indent, indent, columns);
	fprintf(out, "%s\n", lines);
}

void
tally_text_print_folded(size_t indent, const char *format, ...)
{
	TALLY_FORMATTED(text, format);
	size_t columns = tally_text_terminal_columns();
	tally_text_print_wrapped(stdout, text, indent, columns ? CLAMP(columns, 40, 100) : 80);
}

static bool
is_plain_word(const char *word)
{
	size_t n = strspn(word, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "/._-+,:=@%");
	return n && !word[n];
}

char *
tally_text_word(const char *word)
{
	return is_plain_word(word) ? g_strdup(word) : g_shell_quote(word);
}

char *
tally_text_path(const char *path)
{
	const char *home = g_getenv("HOME");
	size_t len = home ? strlen(home) : 0;
	while (len > 0 && home[len - 1] == '/')
		len--;
	if (!is_plain_word(path))
		return g_shell_quote(path);
	if (len > 0 && strncmp(path, home, len) == 0 && path[len] == '/')
		return g_strconcat("~", path + len, NULL);
	return g_strdup(path);
}

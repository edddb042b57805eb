/* SPDX-License-Identifier: MIT */
#include "cli/top/row.h"

#include "cli/shared/text.h"

#include <math.h>
#include <string.h>

static void
free_row(gpointer row)
{
	g_string_free(row, TRUE);
}

GPtrArray *
tally_top_new_rows(void)
{
	return g_ptr_array_new_with_free_func(free_row);
}

GString *
tally_top_new_row(GPtrArray *rows)
{
	g_ptr_array_add(rows, g_string_new(NULL));
	return g_ptr_array_index(rows, rows->len - 1);
}

void
tally_top_put(GString *row, enum tally_top_style style, const char *format, ...)
{
	TALLY_FORMATTED(text, format);
	g_string_append_c(row, (char)style);
	g_string_append(row, text);
}

char *
tally_top_clean(const struct tally_top_look *look, const char *text)
{
	char *clean = tally_text_escape(text);
	if (look->utf8)
		return clean;
	GString *ascii = g_string_new(NULL);
	for (const char *p = clean; *p; p = g_utf8_next_char(p))
		g_string_append_c(ascii, (unsigned char)*p < 0x80 ? *p : '?');
	g_free(clean);
	return g_string_free(ascii, FALSE);
}

char *
tally_top_row_text(const GString *row)
{
	g_auto(GStrv) parts = g_strsplit_set(row->str, TALLY_TOP_STYLES, -1);
	return g_strjoinv("", parts);
}

unsigned
tally_top_row_width(const GString *row)
{
	g_autofree char *text = tally_top_row_text(row);
	return (unsigned)tally_text_width(text);
}

void
tally_top_clip(GString *row, unsigned width)
{
	const char *end = row->str;
	for (unsigned at = 0; *end; end = g_utf8_next_char(end)) {
		gunichar c = g_utf8_get_char(end);
		at += c < TALLY_TOP_N_STYLES || g_unichar_iszerowidth(c)
			      ? 0
			      : 1U + g_unichar_iswide(c);
		if (at > width)
			break;
	}
	g_string_truncate(row, (gsize)(end - row->str));
}

char *
tally_top_spark(const struct tally_top_look *look, const double *steps, unsigned n)
{
	static const char *const blocks[] = {
		"\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83", "\xe2\x96\x84",
		"\xe2\x96\x85", "\xe2\x96\x86", "\xe2\x96\x87", "\xe2\x96\x88",
	};
	static const char *const letters[] = { "_", ".", "-", "~", "=", "+", "*", "#" };
	const char *const *marks = look->utf8 ? blocks : letters;
	double most = 0;
	for (unsigned i = 0; i < n; i++)
		most = isnan(steps[i]) ? most : MAX(most, steps[i]);
	GString *out = g_string_new(NULL);
	for (unsigned i = 0; i < n; i++) {
		double level = most > 0 ? ceil(8 * steps[i] / most) : 1;
		if (isnan(steps[i]))
			g_string_append_c(out, ' ');
		else
			g_string_append(out, marks[(unsigned)CLAMP(level, 1, 8) - 1]);
	}
	return g_string_free(out, FALSE);
}

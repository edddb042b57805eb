/* SPDX-License-Identifier: MIT */
#include "cli/top/row.h"

#include "cli/shared/each.h"
#include "cli/shared/text.h"

#include <math.h>
#include <string.h>

static void
clear_span(gpointer p)
{
	g_free(((struct tally_top_span *)p)->text);
}

GArray *
tally_top_new_row(GPtrArray *rows)
{
	GArray *row = g_array_new(FALSE, FALSE, sizeof(struct tally_top_span));
	g_array_set_clear_func(row, clear_span);
	g_ptr_array_add(rows, row);
	return row;
}

void
tally_top_put(GArray *row, enum tally_top_style style, char *text)
{
	struct tally_top_span span = { .text = text, .style = style };
	g_array_append_val(row, span);
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

unsigned
tally_top_row_width(const GArray *row)
{
	size_t width = 0;
	TALLY_EACH_OF (const struct tally_top_span, span, row)
		width += tally_text_width(span->text);
	return (unsigned)width;
}

void
tally_top_clip(GArray *row, unsigned width)
{
	size_t used = 0;
	for (guint i = 0; i < row->len; i++) {
		struct tally_top_span *span = &g_array_index(row, struct tally_top_span,
							     i);
		size_t own = tally_text_width(span->text);
		if (used + own > width) {
			char *end = span->text;
			for (size_t at = used; *end; end = g_utf8_next_char(end)) {
				gunichar c = g_utf8_get_char(end);
				at += g_unichar_iszerowidth(c) ? 0
				      : g_unichar_iswide(c)    ? 2
							       : 1;
				if (at > width)
					break;
			}
			*end = '\0';
			g_array_set_size(row, i + 1);
			return;
		}
		used += own;
	}
}

void
tally_top_use_ascii(GArray *row)
{
	TALLY_EACH_OF (struct tally_top_span, span, row) {
		g_auto(GStrv) parts = g_strsplit(span->text, "\xe2\x80\xa6", -1);
		g_free(span->text);
		span->text = g_strjoinv("~", parts);
	}
}

char *
tally_top_spark(const struct tally_top_look *look, const double *steps, unsigned n)
{
	static const char *const blocks[] = {
		"\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83", "\xe2\x96\x84",
		"\xe2\x96\x85", "\xe2\x96\x86", "\xe2\x96\x87", "\xe2\x96\x88",
	};
	static const char *const letters[] = { "_", ".", "-", "~", "=", "+", "*", "#" };
	const char *const *marks = look->blocks ? blocks : letters;
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

void
tally_top_put_wrapped(GPtrArray *rows, const struct tally_top_look *look,
		      const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		const char *p = *line;
		do {
			size_t len = strlen(p);
			while (look->width && tally_text_width(p) > look->width &&
			       len > look->width) {
				/* Break at the last blank that fits, or cut the word. */
				const char *end = g_utf8_offset_to_pointer(
					p, MIN(g_utf8_strlen(p, -1), (glong)look->width));
				const char *blank = g_strrstr_len(p, end - p, " ");
				len = (size_t)((blank && blank > p ? blank : end) - p);
				break;
			}
			tally_top_put(tally_top_new_row(rows), TALLY_TOP_PLAIN,
				      g_strndup(p, len));
			p += len;
			p += *p == ' ';
		} while (*p);
	}
}

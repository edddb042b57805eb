/* SPDX-License-Identifier: MIT */
/* What is UTF-8: every two bytes against GLib, and the borders of longer sequences. */
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "json/utf8.h"

static const struct {
	const char *bytes;
	size_t want;
} cases[] = {
	{ "\x80", 0 },
	{ "\xbf", 0 },
	{ "\xc0\x80", 0 },
	{ "\xc1\xbf", 0 },
	{ "\xc2\x80", 2 },
	{ "\xdf\xbf", 2 },
	{ "\xdf", 0 },
	{ "\xe0\x9f\xbf", 0 },
	{ "\xe0\xa0\x80", 3 },
	{ "\xed\x9f\xbf", 3 },
	{ "\xed\xa0\x80", 0 },
	{ "\xee\x80\x80", 3 },
	{ "\xef\xbf\xbf", 3 },
	{ "\xe2\x82", 0 },
	{ "\xe2\x28\xa1", 0 },
	{ "\xe2\x82\x28", 0 },
	{ "\xf0\x8f\xbf\xbf", 0 },
	{ "\xf0\x90\x80\x80", 4 },
	{ "\xf4\x8f\xbf\xbf", 4 },
	{ "\xf4\x90\x80\x80", 0 },
	{ "\xf5\x80\x80\x80", 0 },
	{ "\xf0\x90\x80", 0 },
	{ "\xf0\x90\x80\x28", 0 },
	{ "\xff", 0 },
};

static void
test_borders(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		/* In memory that ends with the text. */
		size_t len = strlen(cases[i].bytes);
		char *exact = g_memdup2(cases[i].bytes, len);
		g_assert_cmpuint(tally_utf8_length(exact, len), ==, cases[i].want);
		g_free(exact);
	}
}

static void
test_all_of_three(void)
{
	for (unsigned code = 0x800000; code <= 0xffffff;
	     code += 7) { /* visits all values of each byte */
		char bytes[3] = { (char)(code >> 16), (char)(code >> 8), (char)code };
		size_t n = tally_utf8_length(bytes, 3);
		bool valid = n && g_utf8_validate_len(bytes, n, NULL);
		/* When GLib finds a character at the start, so does passtally, of the same
		 * length. */
		gunichar c = g_utf8_get_char_validated(bytes, 3);
		bool glib = c != (gunichar)-1 && c != (gunichar)-2;
		if (valid != glib || (glib && (size_t)g_unichar_to_utf8(c, NULL) != n))
			g_error("%02x %02x %02x", (unsigned char)bytes[0],
				(unsigned char)bytes[1], (unsigned char)bytes[2]);
	}
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/utf8/borders", test_borders);
	g_test_add_func("/utf8/all_of_three", test_all_of_three);
	return g_test_run();
}

/* SPDX-License-Identifier: MIT */
#include "cli/compare/junit.h"

#include "cli/compare/row.h"
#include "cli/shared/cli.h"
#include "cli/shared/each.h"
#include "cli/shared/text.h"

#include <errno.h>
#include <string.h>

/* Bytes that XML does not have become question marks. The caller frees it. */
static char *
xml(const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);
	for (char *s = valid; *s; s++)
		if (((unsigned char)*s < 0x20 && !strchr("\t\n\r", *s)) || *s == 0x7f)
			*s = '?';
	return g_markup_escape_text(valid, -1);
}

/* The change of the means, as the table has it. */
static const char *
change_text(const struct tally_compare_row *row)
{
	double change, own;
	if (!row->tested || !tally_compare_relative(row, tally_row_seen(row), &change) ||
	    !tally_compare_relative(row, row->difference, &own))
		return tally_verdict_names[row->verdict];
	return row->against_others ? tally_phrase("%+.2f %%, against the other passes %+.2f %%",
						  100 * change, 100 * own)
				   : tally_phrase("%+.2f %%", 100 * change);
}

static void
put_case(FILE *out, const struct tally_compare *c, const struct tally_compare_row *row)
{
	g_autofree char *name = xml(tally_subject_text(c, row->subject));
	g_autofree char *key = xml(row->key);
	const char *words = change_text(row);
	tally_text_print(out, "  <testcase classname=\"%s\" name=\"%s\">", key, name);
	if (row->fails)
		tally_text_print(out, "<failure message=\"%s, above %g %%\"/>", words,
				 100 * c->settings.fail_above);
	else if (row->open)
		tally_text_print(out, "<skipped message=\"%s: cannot be told from noise\"/>",
				 words);
	tally_text_print(out, "</testcase>\n");
}

int
tally_compare_write_junit(const char *path, const struct tally_compare *c)
{
	FILE *out = fopen(path, "we");
	if (!out)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "compare", "%s: cannot be written: %s", path,
				  g_strerror(errno));
	uint32_t n = 0, open = 0;
	TALLY_EACH (const struct tally_compare_row, row, c->rows) {
		n += tally_compare_decides(c, row);
		open += row->open && !row->fails;
	}
	tally_text_print(out,
			 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"passtally "
			 "compare\" tests=\"%u\" failures=\"%u\" skipped=\"%u\">\n",
			 n, c->n_failed, open);
	TALLY_EACH (const struct tally_compare_row, row, c->rows)
		if (tally_compare_decides(c, row))
			put_case(out, c, row);
	tally_text_print(out, "</testsuite>\n");
	bool good = !ferror(out);
	good = fclose(out) == 0 && good;
	return good ? TALLY_EXIT_OK
		    : TALLY_FAIL(TALLY_EXIT_FAILED, "compare", "%s: cannot be written: %s", path,
				 g_strerror(errno));
}

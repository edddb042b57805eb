/* SPDX-License-Identifier: MIT */
#include "cli/machine/doctor_print.h"

#include "cli/shared/text.h"

struct row {
	enum tally_doctor_mark mark;
	char *what, *text;
};

static GPtrArray *rows; /* elements: struct row *; kept until the program ends */

void
tally_doctor_row(enum tally_doctor_mark mark, const char *what, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	struct row *row = g_new(struct row, 1);
	*row = (struct row){ mark, g_strdup(what), g_strdup_vprintf(format, args) };
	va_end(args);
	if (!rows)
		rows = g_ptr_array_new();
	g_ptr_array_add(rows, row);
}

static void
print_row(enum tally_doctor_mark mark, const char *what, const char *text)
{
	static const char *const words[] = {
		[TALLY_DOCTOR_GOOD] = "ok ", [TALLY_DOCTOR_OFF] = "off",
		[TALLY_DOCTOR_FIX] = "off",  [TALLY_DOCTOR_BAD] = "BAD",
		[TALLY_DOCTOR_FACT] = "   ", [TALLY_DOCTOR_ANSWER] = "   "
	};
	enum { INDENT = 21 };
	tally_text_print(stdout, "%s  %-*s ", words[mark], INDENT - 6, what);
	tally_text_print_folded(INDENT + 2, "%s", text);
}

static void
print_rows(bool answer)
{
	for (guint i = 0; i < rows->len; i++) {
		const struct row *row = g_ptr_array_index(rows, i);
		if ((row->mark == TALLY_DOCTOR_ANSWER) == answer)
			print_row(row->mark, row->what, row->text);
	}
}

/* The first row of that mark, as one sentence; NULL if there is none. Free with g_free(). */
static char *
first_row(enum tally_doctor_mark mark)
{
	for (guint i = 0; i < rows->len; i++) {
		const struct row *row = g_ptr_array_index(rows, i);
		if (row->mark == mark)
			return g_strdup_printf("%s: %s", row->what, row->text);
	}
	return NULL;
}

static void
print_verdict(bool ok, const char *where)
{
	if (ok)
		puts("passes can be captured: passtally run -- PROGRAM");
	else
		printf("nothing can be captured until what is BAD or off %s is fixed\n", where);
}

void
tally_doctor_print(bool ok, const char *next)
{
	enum { STEP_COLUMNS = 200 }; /* four lines: the row itself is below */
	g_autofree char *bad = first_row(TALLY_DOCTOR_BAD), *fix = first_row(TALLY_DOCTOR_FIX);
	print_verdict(ok, "below");
	g_autofree char *step = tally_text_escape(bad ? bad : fix ? fix : next);
	g_autofree char *short_step = tally_text_fit(step, STEP_COLUMNS);
	print_row(TALLY_DOCTOR_ANSWER, "next", short_step);
	print_rows(true);
	putchar('\n');
	print_rows(false);
	putchar('\n');
	print_verdict(ok, "above");
}

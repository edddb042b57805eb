/* SPDX-License-Identifier: MIT */
#include "cli/machine/doctor_rows.h"

#include "cli/machine/counters_sets.h"
#include "cli/shared/each.h"
#include "cli/shared/text.h"
#include "query/sources.h"

#include <string.h>

struct row {
	enum tally_doctor_mark mark;
	char *what, *text;
};

static GPtrArray *rows; /* elements: struct row *; kept until the program ends */

void
tally_doctor_row(enum tally_doctor_mark mark, const char *what, const char *format, ...)
{
	TALLY_FORMATTED(text, format);
	struct row *row = g_new(struct row, 1);
	*row = (struct row){ mark, g_strdup(what), g_steal_pointer(&text) };
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
	TALLY_EACH (const struct row, row, rows)
		if ((row->mark == TALLY_DOCTOR_ANSWER) == answer)
			print_row(row->mark, row->what, row->text);
}

/* The first row of that mark, as one sentence; NULL if there is none. Free with g_free(). */
static char *
first_row(enum tally_doctor_mark mark)
{
	TALLY_EACH (const struct row, row, rows)
		if (row->mark == mark)
			return g_strdup_printf("%s: %s", row->what, row->text);
	return NULL;
}

static void
print_verdict(bool ok, const char *only, const char *where)
{
	if (ok && only)
		printf("passes of %s programs can be captured, of others not: passtally "
		       "run -- PROGRAM\n",
		       only);
	else if (ok)
		puts("passes can be captured: passtally run -- PROGRAM");
	else
		printf("nothing can be captured until what is BAD or off %s is fixed\n", where);
}

void
tally_doctor_print(bool ok, const char *only, const char *next)
{
	enum { STEP_COLUMNS = 260 }; /* five lines: the row itself is below */
	g_autofree char *bad = first_row(TALLY_DOCTOR_BAD), *fix = first_row(TALLY_DOCTOR_FIX);
	print_verdict(ok, only, "below");
	g_autofree char *step = tally_text_escape(bad ? bad : ok && fix ? fix : next);
	bool cut = tally_text_width(step) > STEP_COLUMNS;
	char *blank = cut ? g_strrstr_len(step, STEP_COLUMNS - 12, " ") : NULL;
	if (blank)
		*blank = '\0';
	g_autofree char *shown = g_strconcat(step, blank ? " ... (below)" : "", NULL);
	print_row(TALLY_DOCTOR_ANSWER, "next", shown);
	print_rows(true);
	putchar('\n');
	print_rows(false);
	putchar('\n');
	print_verdict(ok, only, "above");
}

/* ---- sets, and what is measured without them ---- */

void
tally_doctor_sets(const struct tally_device_record *device, const char *source)
{
	enum { MOST = 12 };
	uint32_t n = 0;
	for (uint32_t i = 0; i < device->n_sets; i++) {
		if (strcmp(device->sets[i].source, source) != 0 || n++ >= MOST)
			continue;
		g_autofree char *size = tally_set_size(device, &device->sets[i]);
		tally_doctor_row(TALLY_DOCTOR_FACT, "", "set %s: %s",
				 device->sets[i].name, size);
	}
	if (n > MOST)
		tally_doctor_row(TALLY_DOCTOR_FACT, "",
				 "and %u more set%s: `passtally counters` lists all",
				 n - MOST, TALLY_S(n - MOST));
}

void
tally_doctor_rotation(const struct tally_device_record *device)
{
	if (!device->n_sets)
		return;
	g_autofree char *text = tally_sets_rotation_text(device, NULL);
	tally_doctor_row(TALLY_DOCTOR_FACT, "  --counters all", "%s", text);
}

char *
tally_doctor_gives(const struct tally_device_record *device)
{
	const struct tally_source_row *row;
	GString *out = g_string_new(NULL);
	const char *sep = "";
	for (uint32_t i = 0; (row = tally_source_row(i)); i++) {
		for (uint32_t k = 0; k < device->n_sources; k++) {
			const struct tally_source_info *s = &device->sources[k];
			if (!s->on || !row->by_default || strcmp(s->name, row->name) != 0)
				continue;
			g_string_append_printf(out, "%s%s", sep,
					       row->gives ? row->gives : row->name);
			sep = ", ";
		}
	}
	return g_string_free(out, FALSE);
}

char *
tally_doctor_remains(const struct tally_device_record *device, const char *source)
{
	const struct tally_source_row *off = tally_source_row_find(source);
	g_autofree char *gives = tally_doctor_gives(device);
	return off && off->hardware ? g_strconcat("what remains: ", gives, NULL) : NULL;
}

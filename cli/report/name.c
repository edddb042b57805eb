/* SPDX-License-Identifier: MIT */
/* passtally name: a person's name for a pass, kept for all logs of its program. */
#include "cli/log/aggregate.h"
#include "cli/log/folder.h"
#include "cli/log/given_names.h"
#include "cli/log/grouping.h"
#include "cli/report/match.h"
#include "cli/shared/each.h"
#include "cli/shared/text.h"

#include <string.h>

static const struct tally_arg operands =
	TALLY_ARG_TAKE("PASS NAME [LOG]", tally_arg_list);

/* Finds the one pass that is meant. */
static const struct tally_group *
find_pass(const struct tally_aggregate *a, const char *word)
{
	const struct tally_group *found = NULL;
	TALLY_EACH (const struct tally_group, g, a->groups) {
		char id[17];
		g_snprintf(id, sizeof(id), "%016" G_GINT64_MODIFIER "x", g->id);
		if (g->outside || (!g_str_has_prefix(id, word) && strcmp(g->name, word) != 0))
			continue;
		if (found && found->id != g->id)
			return TALLY_FAIL(NULL, "name", "%s: several passes' ids begin with it",
					  word);
		found = g;
	}
	g_autofree char *names = tally_rows_list_names(a->groups);
	return found ? found : TALLY_FAIL(NULL, "name", "%s: no such pass in %s; there are %s",
					  word, a->path, names);
}

/* The file's text with this name in place of an older one. */
static char *
change(const char *text, uint64_t id, const char *name)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_autofree char *begin = g_strdup_printf("%016" G_GINT64_MODIFIER "x", id);
	GString *out = g_string_new(NULL);
	for (char **line = lines; *line; line++)
		if ((**line || line[1]) && !g_str_has_prefix(g_strchug(*line), begin))
			g_string_append_printf(out, "%s\n", *line);
	g_autofree char *escaped = g_strescape(name, NULL);
	if (*name)
		g_string_append_printf(out, "%s = \"%s\"\n", begin, escaped);
	return g_string_free(out, FALSE);
}

static int
save(const char *program, uint64_t id, const char *name)
{
	g_autofree char *path = tally_given_names_path(program), *old = NULL, *why = NULL;
	g_autoptr(GError) error = NULL;
	g_autoptr(GHashTable) names = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
							    g_free);
	if (!path)
		return TALLY_FAIL(TALLY_EXIT_FAILED, "name", "no home is known");
	if (!g_file_get_contents(path, &old, NULL, NULL))
		old = g_strdup("");
	g_autofree char *fresh = change(old, id, name);
	if (!tally_given_names_parse(names, path, fresh, &why))
		return TALLY_FAIL(TALLY_EXIT_USAGE, "name", "%s", why);
	g_autofree char *folder = g_path_get_dirname(path);
	g_mkdir_with_parents(folder, 0755);
	if (!g_file_set_contents(path, fresh, -1, &error))
		return TALLY_FAIL(TALLY_EXIT_FAILED, "name", "%s", error->message);
	tally_text_print_line(stdout, "%s", path);
	return TALLY_EXIT_OK;
}

struct request {
	GPtrArray *words;
};

static int
run(int argc, char **argv)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	struct request r = { words };
	int status = tally_args_read(&tally_command_name, argc, argv, &r);
	if (status != TALLY_EXIT_OK)
		return status;
	if (words->len < 2 || words->len > 3)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "name", "give PASS, NAME and at most one LOG");
	const char *name = words->pdata[1];
	if (!g_utf8_validate(name, -1, NULL) || strlen(name) > TALLY_MAX_GIVEN_NAME)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "name", "NAME: at most %d bytes of UTF-8",
				  TALLY_MAX_GIVEN_NAME);
	g_autofree char *log = tally_folder_choose("name", words->len > 2 ? words->pdata[2] : NULL);
	if (!log)
		return TALLY_EXIT_USAGE;
	struct tally_aggregate a = { 0 };
	status = tally_aggregate_read_watched(&a, "name", log, &tally_by_pass, 0, NULL, false);
	if (status == TALLY_EXIT_OK) {
		const struct tally_group *g = find_pass(&a, words->pdata[0]);
		status = g ? save(a.program, g->id, name) : TALLY_EXIT_USAGE;
	}
	tally_aggregate_finish(&a);
	return tally_cli_finish("name", status);
}

const struct tally_command tally_command_name = {
	.name = "name", .run = run, .help = tally_help_name, .operands = &operands
};

/* SPDX-License-Identifier: MIT */
#include "cli/log/given_names.h"

#include "layer/config/config.h"
#include "layer/config/load.h"

#include <string.h>

static GHashTable *shared; /* of --names; NULL = not given */
static GHashTable *refused; /* files with an error that was reported */

static GHashTable *
table_new(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
}

char *
tally_given_names_path(const char *program)
{
	char *conf = tally_config_file_path(program);
	char *path = conf ? g_strdup_printf("%.*s.names", (int)strlen(conf) - (int)strlen(".conf"),
					    conf)
			  : NULL;
	free(conf);
	return path;
}

/* Reads `ID = "NAME"`; NULL: it is something else. The caller frees the name. */
static char *
parse_line(char *line, uint64_t *id)
{
	char *end, *quote = strchr(line, '"');
	size_t len = strlen(line);
	*id = g_ascii_strtoull(line, &end, 16);
	if (end != line + 16 || !quote || quote > line + len - 2 || line[len - 1] != '"')
		return NULL;
	g_autofree char *between = g_strndup(end, (gsize)(quote - end));
	if (strcmp(g_strstrip(between), "=") != 0)
		return NULL;
	line[len - 1] = '\0';
	return g_strcompress(quote + 1);
}

bool
tally_given_names_parse(GHashTable *names, const char *path, const char *text, char **why)
{
	g_autoptr(GHashTable) places = g_hash_table_new_full(g_int64_hash, g_int64_equal,
							     g_free, NULL);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (guint i = 0; lines[i]; i++) {
		uint64_t id;
		char *line = g_strstrip(lines[i]);
		if (!*line || *line == '#')
			continue;
		g_autofree char *name = parse_line(line, &id);
		const char *wrong = !name || !*name ? "must be ID = \"NAME\", ID with 16 digits"
				    : !g_utf8_validate(name, -1, NULL)	  ? "is not UTF-8"
				    : strlen(name) > TALLY_MAX_GIVEN_NAME ? "is over 512 bytes"
									  : NULL;
		guint first = GPOINTER_TO_UINT(g_hash_table_lookup(places, &id));
		*why = wrong   ? g_strdup_printf("%s:%u: %s", path, i + 1, wrong)
		       : first ? g_strdup_printf("%s:%u: line %u has named %016" G_GINT64_MODIFIER
						 "x already",
						 path, i + 1, first, id)
			       : NULL;
		if (*why)
			return false;
		g_hash_table_replace(places, g_memdup2(&id, sizeof(id)), GUINT_TO_POINTER(i + 1));
		g_hash_table_replace(names, g_memdup2(&id, sizeof(id)), g_steal_pointer(&name));
	}
	return true;
}

bool
tally_given_names_take(const char *command, const struct tally_arg *arg, void *to,
		       const char *path)
{
	g_autofree char *text = NULL, *why = NULL;
	g_autoptr(GError) error = NULL;
	(void)to;
	if (!shared)
		shared = table_new();
	if (!g_file_get_contents(path, &text, NULL, &error))
		return TALLY_FAIL(false, command, "--%s: %s", arg->name, error->message);
	return tally_given_names_parse(shared, path, text, &why) ||
	       TALLY_FAIL(false, command, "--%s %s", arg->name, why);
}

/* The program's own file; NULL: it has none. */
static GHashTable *
load_own(const char *program)
{
	g_autofree char *path = tally_given_names_path(program), *text = NULL, *why = NULL;
	if (!path || !g_file_get_contents(path, &text, NULL, NULL))
		return NULL;
	GHashTable *names = table_new();
	if (tally_given_names_parse(names, path, text, &why))
		return names;
	g_hash_table_destroy(names);
	if (!refused)
		refused = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	if (g_hash_table_add(refused, g_steal_pointer(&path)))
		tally_cli_say("%s; no pass is named by this file", why);
	return NULL;
}

GHashTable *
tally_given_names_load(const char *program)
{
	GHashTable *names = load_own(program);
	GHashTableIter at;
	gpointer id, name;
	if (!shared)
		return names;
	if (!names)
		names = table_new();
	g_hash_table_iter_init(&at, shared);
	while (g_hash_table_iter_next(&at, &id, &name))
		g_hash_table_replace(names, g_memdup2(id, sizeof(uint64_t)), g_strdup(name));
	return names;
}

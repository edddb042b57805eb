/* SPDX-License-Identifier: MIT */
#include "cli/bisect/tree.h"

#include "cli/shared/cli.h"

#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>

/* Calls git in a folder (NULL = here) with these words, ended by NULL. Returns its exit status, -1
 * if there is none; the caller frees *out. */
static int
git(const char *folder, char **out, const char *first, ...)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	g_ptr_array_add(words, (gpointer) "git");
	va_list more;
	va_start(more, first);
	for (const char *word = first; word; word = va_arg(more, const char *))
		g_ptr_array_add(words, (gpointer)word);
	va_end(more);
	g_ptr_array_add(words, NULL);
	g_auto(GStrv) env = g_environ_setenv(g_get_environ(), "LC_ALL", "C", TRUE);
	g_autofree char *errors = NULL;
	g_autoptr(GError) error = NULL;
	int status = 0;
	*out = NULL;
	if (!g_spawn_sync(folder, (char **)words->pdata, env, G_SPAWN_SEARCH_PATH, NULL, NULL, out,
			  &errors, &status, &error))
		return TALLY_FAIL(-1, "bisect", "git: %s", error->message);
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	/* `git bisect` ends with 2 where only skipped revisions are left. */
	if (code != 0 && !(code == 2 && strcmp(first, "bisect") == 0))
		tally_cli_complain("bisect", "git %s: %s", first, g_strstrip(errors));
	return code;
}

bool
tally_tree_add(const char *folder, const char *revision)
{
	g_autofree char *out = NULL;
	return git(NULL, &out, "worktree", "add", "--detach", folder, revision, NULL) == 0;
}

void
tally_tree_remove(const char *folder)
{
	g_autofree char *out = NULL;
	if (g_file_test(folder, G_FILE_TEST_EXISTS))
		git(NULL, &out, "worktree", "remove", "--force", folder, NULL);
}

bool
tally_tree_build(const char *folder, const char *script)
{
	char *words[] = { (char *)"/bin/sh", (char *)"-c", (char *)script, NULL };
	int status = 0;
	return g_spawn_sync(folder, words, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, NULL,
			    &status, NULL) &&
	       status == 0;
}

char *
tally_tree_name(const char *folder, const char *revision)
{
	char *out;
	git(folder, &out, "log", "-1", "--format=%h %s", revision, NULL);
	return out ? g_strstrip(out) : g_strdup(revision);
}

/* What `git bisect` answered. */
static enum tally_tree_state
read_answer(int status, const char *out, char **found)
{
	static const char words[] = " is the first bad commit";
	const char *end = out ? strstr(out, words) : NULL;
	if (status == 2 || (out && strstr(out, "There are only 'skip'ped commits left")))
		return TALLY_TREE_LEFT;
	if (status != 0)
		return TALLY_TREE_FAILED;
	if (!end)
		return TALLY_TREE_NEXT;
	const char *begin = end;
	while (begin > out && g_ascii_isxdigit(begin[-1]))
		begin--;
	*found = g_strndup(begin, (gsize)(end - begin));
	return TALLY_TREE_FOUND;
}

enum tally_tree_state
tally_tree_start(const char *folder, const char *good, const char *bad, char **found)
{
	g_autofree char *out = NULL;
	int status = git(folder, &out, "bisect", "start", bad, good, NULL);
	return read_answer(status, out, found);
}

enum tally_tree_state
tally_tree_mark(const char *folder, enum tally_tree_mark mark, char **found)
{
	static const char *const words[] = { "good", "bad", "skip" };
	g_autofree char *out = NULL;
	int status = git(folder, &out, "bisect", words[mark], NULL);
	return read_answer(status, out, found);
}

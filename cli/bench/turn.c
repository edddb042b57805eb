/* SPDX-License-Identifier: MIT */
#include "cli/bench/turn.h"

#include "cli/shared/cli.h"

#include <string.h>
#include <sys/wait.h>

/* Whether the log has a frame; only that much of it is read. */
static bool
has_frames(const char *path)
{
	g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, NULL);
	if (!file)
		return false;
	size_t len = g_mapped_file_get_length(file);
	return len &&
	       g_strstr_len(g_mapped_file_get_contents(file), (gssize)len, "\"type\":\"frame\"");
}

bool
tally_turn_run(const struct tally_turn *turn, const char *log)
{
	g_autofree char *frames = g_strdup_printf("%" G_GUINT64_FORMAT, turn->frames);
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	const char *const head[] = { self ? self : "passtally",
				     "run",
				     "-q",
				     "--no-compress",
				     "--frames",
				     frames,
				     "-o",
				     log,
				     "--" };
	for (size_t i = 0; i < G_N_ELEMENTS(head); i++)
		g_ptr_array_add(words, (gpointer)head[i]);
	for (int i = 0; i < turn->n_words; i++)
		g_ptr_array_add(words, turn->words[i]);
	g_ptr_array_add(words, NULL);
	int status = 0;
	g_autoptr(GError) error = NULL;
	GSpawnFlags flags = G_SPAWN_SEARCH_PATH | G_SPAWN_CHILD_INHERITS_STDIN |
			    G_SPAWN_STDOUT_TO_DEV_NULL;
	const char *name = turn->words[0];
	if (!g_spawn_sync(turn->folder, (char **)words->pdata, NULL, flags, NULL, NULL, NULL, NULL,
			  &status, &error))
		return TALLY_FAIL(false, turn->command, "%s: %s", name, error->message);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return TALLY_FAIL(false, turn->command, "%s ended with %s %d: nothing is compared",
				  name, WIFEXITED(status) ? "status" : "signal",
				  WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return has_frames(log) ||
	       TALLY_FAIL(false, turn->command, "%s showed no frame: nothing is compared", name);
}

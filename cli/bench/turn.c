/* SPDX-License-Identifier: MIT */
#include "cli/bench/turn.h"

#include "cli/log/input.h"
#include "cli/shared/child.h"
#include "cli/shared/cli.h"
#include "json/record_read.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* Whether the log has a frame that `compare` takes. */
static bool
has_frames(const char *path)
{
	struct tally_read_error error;
	enum tally_read_status status;
	struct tally_log_reader *reader = tally_log_input_open(path, &status, &error);
	struct tally_log_line line;
	bool found = false;
	while (reader && !found && tally_log_reader_next(reader, &line, &error) == TALLY_READ_OK)
		found = line.type == TALLY_LINE_FRAME && !(line.frame.flags & TALLY_FLAG(PARTIAL));
	tally_log_reader_close(reader);
	return found;
}

/* Whether the last line is the end. */
static bool
is_complete(const char *path)
{
	static const char end[] = "{\"type\":\"end\"";
	g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, NULL);
	const char *text = file ? g_mapped_file_get_contents(file) : NULL;
	size_t len = text ? g_mapped_file_get_length(file) : 0;
	if (!len || text[len - 1] != '\n')
		return false;
	size_t line = len - 1;
	while (line && text[line - 1] != '\n')
		line--;
	return len - line >= strlen(end) && memcmp(text + line, end, strlen(end)) == 0;
}

/* Most games do not end by themselves. One whose log is complete gets some time to do so, then
 * SIGTERM. Returns whether it got that. */
static bool
wait_for_end(GPid pid, const char *log, int *status)
{
	enum { POLL_MS = 100, PATIENCE_MS = 2000 };
	unsigned waited_ms = 0;
	bool ended = false;
	while (waitpid(pid, status, WNOHANG) == 0) {
		g_usleep(POLL_MS * 1000);
		if (!ended && (waited_ms || is_complete(log)))
			waited_ms += POLL_MS;
		if (!ended && waited_ms >= PATIENCE_MS)
			ended = kill(pid, SIGTERM) == 0;
	}
	return ended;
}

bool
tally_turn_run(const struct tally_turn *turn, const char *log)
{
	g_autofree char *frames = g_strdup_printf("%" G_GUINT64_FORMAT, turn->frames);
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	tally_child_words(words, self ? self : "passtally", "run", "-q", "--no-compress",
			  "--frames", frames, "-o", log, "--", NULL);
	for (int i = 0; i < turn->n_words; i++)
		g_ptr_array_add(words, turn->words[i]);
	g_ptr_array_add(words, NULL);
	int status = 0;
	g_autoptr(GError) error = NULL;
	GSpawnFlags flags = G_SPAWN_SEARCH_PATH | G_SPAWN_CHILD_INHERITS_STDIN |
			    G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_DO_NOT_REAP_CHILD;
	const char *name = turn->words[0];
	GPid pid;
	if (!g_spawn_async(turn->folder, (char **)words->pdata, NULL, flags, NULL, NULL, &pid,
			   &error))
		return TALLY_FAIL(false, turn->command, "%s: %s", name, error->message);
	bool ended = wait_for_end(pid, log, &status);
	if (!ended && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
		return TALLY_FAIL(false, turn->command, "%s ended with %s %d: nothing is compared",
				  name, WIFEXITED(status) ? "status" : "signal",
				  WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return has_frames(log) ||
	       TALLY_FAIL(
		       false, turn->command,
		       "%s showed no frame: nothing is compared; passtally run says what "
		       "--frame it needs, and PASSTALLY_OPTIONS=frame=... sets that here",
		       name);
}

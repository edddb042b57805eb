/* SPDX-License-Identifier: MIT */
#include "cli/shared/cli.h"
#include "cli/control/client.h"
#include "cli/shared/each.h"
#include "cli/shared/text.h"
#include "layer/capture/control.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct request {
	const char *control;
	int64_t pid; /* 0: not given */
	GPtrArray *words; /* what to do, borrowed from argv */
	char *text; /* the request as it is sent to the game */
	bool is_status;
};

static const struct tally_arg options[] = {
	TALLY_ARG("control", tally_arg_text, struct request, control),
	TALLY_ARG_WHOLE("pid", struct request, pid, 1, INT32_MAX),
};
static const struct tally_arg operands =
	TALLY_ARG("WORD", tally_arg_list, struct request, words);

static const char *const plain_words[] = { "start",
						  "stop",
						  "toggle",
						  "picture",
						  "keep",
						  "renderdoc",
						  "status",
						  NULL };

/* The game would report a wrong name too late. */
static bool
parse_request(struct request *r)
{
	const GPtrArray *given = r->words;
	const char *word = given->len ? g_ptr_array_index(given, 0) : NULL;
	bool marks = word && strcmp(word, "mark") == 0;
	bool known = marks ||
		     (word && g_strv_contains(plain_words, word));
	if (!known || given->len != (marks ? 2u : 1u))
		return TALLY_FAIL(false, "trigger",
				  "use one of: start, stop, toggle, status, picture, "
				  "keep, renderdoc, mark NAME");
	r->is_status = strcmp(word, "status") == 0;
	const char *name = marks ? g_ptr_array_index(given, 1) : "";
	size_t len = strlen(name);
	bool clean = !marks || (len > 0 && len <= TALLY_CONTROL_MAX_MARK);
	for (size_t i = 0; i < len; i++)
		clean &= (unsigned char)name[i] >= 0x20 && name[i] != 0x7f;
	if (!clean)
		tally_cli_complain(
			"trigger",
			"the name of a mark must have 1 to %d bytes and no control characters",
			TALLY_CONTROL_MAX_MARK);
	r->text = marks ? g_strconcat("mark ", name, NULL) : g_strdup(word);
	return clean;
}

/* ---- selection of the game ---- */

static void
print_several(const GPtrArray *games)
{
	tally_cli_complain("trigger", "%u games run: name one with --pid or --control",
			   games->len);
	TALLY_EACH (const struct tally_control_game, game, games)
		tally_text_print_line(stderr, "  --pid %-8ld --control %s", game->pid, game->path);
}

/* Selects the games to ask: one, or, for the status, all of them. Returns false after
 * printing an error. */
static bool
choose(const struct request *r, GPtrArray *games)
{
	if (games->len == 1 || (games->len && r->is_status))
		return true;
	if (games->len)
		print_several(games);
	else if (r->pid)
		tally_cli_complain("trigger",
				   "process %" G_GINT64_FORMAT " has no control socket: is it a "
				   "game under `passtally run`, and has it rendered yet?",
				   r->pid);
	else
		tally_cli_complain("trigger", "no game runs under `passtally run`, or it "
					      "has not rendered yet; name one that was started "
					      "in another way with --control PATH");
	return false;
}

/* ---- requests ---- */

/* With the size of the log, where it can be read here: that of a game in a container may not. */
static void
print_status(const char *answer)
{
	g_auto(GStrv) lines = g_strsplit(answer, "\n", -1);
	struct stat st;
	for (char **line = lines; *line; line++)
		tally_text_print_line(stdout, "%s", *line);
	for (char **line = lines; *line; line++)
		if (g_str_has_prefix(*line, "log ") && stat(*line + strlen("log "), &st) == 0)
			tally_text_print(stdout, "bytes %" G_GUINT64_FORMAT "\n",
					 (uint64_t)st.st_size);
}

static int
ask(const struct request *r, const char *path)
{
	char why[512];
	bool refused;
	long pid;
	g_autofree char *answer = tally_control_ask(path, r->text, &refused, &pid, why,
						    sizeof(why));
	if (!answer)
		return TALLY_FAIL(TALLY_EXIT_NOTHING, "trigger", "%s", why);
	g_strchomp(answer);
	if (refused)
		return TALLY_FAIL(TALLY_EXIT_NOTHING, "trigger", "process %ld says: %s", pid,
				  answer);
	if (r->is_status)
		print_status(answer);
	else
		tally_text_print_line(stdout, "process %ld: %s", pid, answer);
	return TALLY_EXIT_OK;
}

static int
ask_all(const struct request *r)
{
	if (r->control)
		return ask(r, r->control);
	g_autoptr(GPtrArray) games = tally_control_list((long)r->pid);
	int status = choose(r, games) ? TALLY_EXIT_OK : TALLY_EXIT_NOTHING;
	for (guint i = 0; status == TALLY_EXIT_OK && i < games->len; i++) {
		const struct tally_control_game *game = g_ptr_array_index(games, i);
		if (i)
			putchar('\n');
		status = ask(r, game->path);
	}
	return status;
}

static int
run(int argc, char **argv)
{
	g_autoptr(GPtrArray) given = g_ptr_array_new();
	struct request r = { .words = given };
	int status = tally_args_read(&tally_command_trigger, argc, argv, &r);
	if (status != TALLY_EXIT_OK)
		return status;
	if (r.control && r.pid)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "trigger",
				  "--control and --pid both name a game: use one");
	status = parse_request(&r) ? ask_all(&r) : TALLY_EXIT_USAGE;
	g_free(r.text);
	return status;
}

const struct tally_command tally_command_trigger =
	TALLY_COMMAND(trigger, run, options, &operands);

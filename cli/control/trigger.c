#include "cli/shared/cli.h"
#include "cli/control/client.h"
#include "cli/shared/text.h"
#include "layer/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tally_arg options[] = {
	{ "control", 0, "PATH", "The socket of the game, as given to run --control." },
	{ "pid", 0, "N", "The process number of the game." },
	{ "help", 'h', NULL, "Show this." },
};
enum { OPTION_CONTROL, OPTION_PID, OPTION_HELP };

struct request {
	const char *control;
	long pid; /* 0: not given */
	char *text; /* as it is sent to the game */
	bool is_status, help;
};

static void
help(void)
{
	puts("Usage: passtally trigger [options] start|stop|status\n"
	     "       passtally trigger [options] mark NAME\n\n"
	     "Talks to a game that runs under passtally: starts or pauses the capture, sets a "
	     "mark\n"
	     "in its log, or shows how things stand. Without options it is the one game that\n"
	     "`passtally run` has started; with several, name one. Only the user who started a\n"
	     "game can do this.\n");
	tally_args_help(options, G_N_ELEMENTS(options));
	puts("\nWith --start-on the capture waits until it is started; a capture that is paused "
	     "can\n"
	     "be started again, and what is between is not in the log.\n\n"
	     "Exit status: 0; 1 no such game, or it refused; 2 usage.");
}

static bool
parse_pid(const char *value, long *pid)
{
	char *end;
	*pid = strtol(value, &end, 10);
	if (*pid > 0 && !*end)
		return true;
	tally_cli_complain("trigger", "--pid needs a process number, not \"%s\"", value);
	return false;
}

/* The game would report a wrong name too late. */
static bool
parse_request(struct request *r, GPtrArray *words)
{
	const char *word = words->len ? g_ptr_array_index(words, 0) : NULL;
	bool marks = word && strcmp(word, "mark") == 0;
	bool known = marks ||
		     (word && (strcmp(word, "start") == 0 || strcmp(word, "stop") == 0 ||
			       strcmp(word, "status") == 0));
	if (!known || words->len != (marks ? 2u : 1u)) {
		tally_cli_complain("trigger", "say one of: start, stop, status, mark NAME");
		return false;
	}
	r->is_status = strcmp(word, "status") == 0;
	const char *name = marks ? g_ptr_array_index(words, 1) : "";
	size_t len = strlen(name);
	bool clean = !marks || (len > 0 && len <= TALLY_CONTROL_MAX_MARK);
	for (size_t i = 0; i < len; i++)
		clean &= (unsigned char)name[i] >= 0x20 && name[i] != 0x7f;
	if (!clean)
		tally_cli_complain("trigger",
				   "a mark's name is 1 to %d bytes without control characters",
				   TALLY_CONTROL_MAX_MARK);
	r->text = marks ? g_strconcat("mark ", name, NULL) : g_strdup(word);
	return clean;
}

static bool
parse(struct request *r, int argc, char **argv)
{
	GPtrArray *words = g_ptr_array_new();
	struct tally_args args;
	tally_args_init(&args, argc, argv, options, G_N_ELEMENTS(options));
	bool ok = true;
	const char *value;
	int option;
	while (ok && (option = tally_args_next(&args, &value)) != TALLY_ARG_END) {
		switch (option) {
		case OPTION_CONTROL:
			r->control = value;
			break;
		case OPTION_PID:
			ok = parse_pid(value, &r->pid);
			break;
		case OPTION_HELP:
			r->help = true;
			break;
		case TALLY_ARG_POSITIONAL:
			g_ptr_array_add(words, (char *)value);
			break;
		default:
			ok = false;
		}
	}
	if (ok && r->control && r->pid) {
		tally_cli_complain("trigger", "--control and --pid both name a game: use one");
		ok = false;
	}
	ok = ok && (r->help || parse_request(r, words));
	g_ptr_array_unref(words);
	return ok;
}

/* ---- selection of the game ---- */

static void
tell_several(const GPtrArray *games)
{
	tally_cli_complain("trigger", "%u games run: name one with --pid or --control",
			   games->len);
	for (guint i = 0; i < games->len; i++) {
		const struct tally_control_game *game = g_ptr_array_index(games, i);
		tally_text_print_line(stderr, "  --pid %-8ld --control %s", game->pid,
				      game->path);
	}
}

/* Selects the games to ask: one, or, for the status, all of them. Returns false after
 * printing an error. */
static bool
choose(const struct request *r, GPtrArray *games)
{
	for (guint i = games->len; r->pid && i-- > 0;) {
		const struct tally_control_game *game = g_ptr_array_index(games, i);
		if (game->pid != r->pid)
			g_ptr_array_remove_index(games, i);
	}
	if (games->len == 1 || (games->len && r->is_status))
		return true;
	if (games->len)
		tell_several(games);
	else if (r->pid)
		tally_cli_complain("trigger",
				   "process %ld has no control socket: is it a game under "
				   "`passtally run`, and did it render yet?",
				   r->pid);
	else
		tally_cli_complain(
			"trigger",
			"no game runs under `passtally run`, or it did not render yet; "
			"one that was started otherwise is named with --control PATH");
	return false;
}

/* ---- requests ---- */

static int
ask(const struct request *r, const char *path)
{
	char why[512];
	bool refused;
	long pid;
	char *answer = tally_control_ask(path, r->text, &refused, &pid, why, sizeof(why));
	if (!answer) {
		tally_cli_complain("trigger", "%s", why);
		return TALLY_EXIT_NOTHING;
	}
	g_strchomp(answer);
	if (refused) {
		tally_cli_complain("trigger", "process %ld says: %s", pid, answer);
	} else if (r->is_status) {
		char **lines = g_strsplit(answer, "\n", -1);
		for (char **line = lines; *line; line++)
			tally_text_print_line(stdout, "%s", *line);
		g_strfreev(lines);
	} else {
		tally_text_print_line(stdout, "process %ld: %s", pid, answer);
	}
	g_free(answer);
	return refused ? TALLY_EXIT_NOTHING : TALLY_EXIT_OK;
}

static int
ask_all(const struct request *r)
{
	if (r->control)
		return ask(r, r->control);
	GPtrArray *games = tally_control_list();
	int status = choose(r, games) ? TALLY_EXIT_OK : TALLY_EXIT_NOTHING;
	for (guint i = 0; status == TALLY_EXIT_OK && i < games->len; i++) {
		const struct tally_control_game *game = g_ptr_array_index(games, i);
		if (i)
			putchar('\n');
		status = ask(r, game->path);
	}
	g_ptr_array_unref(games);
	return status;
}

static int
run(int argc, char **argv)
{
	struct request r = { 0 };
	int status = TALLY_EXIT_USAGE;
	if (parse(&r, argc, argv)) {
		status = TALLY_EXIT_OK;
		if (r.help)
			help();
		else
			status = ask_all(&r);
	}
	g_free(r.text);
	return status;
}

const struct tally_command tally_command_trigger = {
	.name = "trigger",
	.summary = "Start, pause or mark the capture of a running game",
	.run = run,
	.help = help,
};

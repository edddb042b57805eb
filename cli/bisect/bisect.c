/* SPDX-License-Identifier: MIT */
#include "cli/bench/turn.h"
#include "cli/bisect/judge.h"
#include "cli/bisect/tree.h"
#include "cli/shared/cli.h"
#include "cli/shared/each.h"
#include "cli/shared/text.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* The good revision and another, each built in a worktree, run in turn until the answer is sure. */

/* Runs of each after which the answer is looked at, and the chance of a wrong one in any look. */
static const unsigned looks[] = { 5, 7, 10, 14, 20 };
#define WRONG 0.01

struct bisect {
	const char *good, *bad, *build;
	uint64_t frames;
	char **words; /* borrowed from argv */
	int n_words;
	char *folder, *trees[2]; /* the worktrees: of the good revision, of the other */
	GPtrArray *logs[2]; /* elements: char * */
	struct tally_bisect_change change;
};

static volatile sig_atomic_t interrupted;

static void
interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

static const struct tally_arg options[] = {
	TALLY_ARG_TEXT("good", 0, "REV", struct bisect, good, "A revision that is fast."),
	TALLY_ARG_TEXT("bad", 0, "REV", struct bisect, bad,
		       "A later one that is slow. Default: HEAD."),
	TALLY_ARG_TEXT("build", 0, "SCRIPT", struct bisect, build,
		       "What builds a revision: a command for the shell, run in its "
		       "folder. A revision that cannot be built is skipped."),
	TALLY_ARG_WHOLE("frames", 0, "N", struct bisect, frames, 1, UINT32_MAX,
			"Measure this many frames of each run, then end it. Default 300."),
	TALLY_ARG_HELP,
};

static const char help[] =
	"Usage: passtally bisect --good REV [--bad REV] --build SCRIPT -- PROGRAM...\n\n"
	"Finds the commit that made a program slower, and the pass. Revisions are\n"
	"checked out and built in worktrees of their own (git worktree, git\n"
	"bisect), where PROGRAM is run. First the good and the bad revision run in\n"
	"turn, which shows the pass that changed most; then the good one and each\n"
	"revision between them, until more or less than half of that change is\n"
	"certain.\n" TALLY_HELP_OPTIONS
	"\nEach revision is run 5 to 20 times; one that remains unclear is skipped.\n\n"
	"Exit status: 0 the commit was found; 4 nothing is certain; 2 usage; 125\n"
	"other errors.";

static int
parse(struct bisect *b, int argc, char **argv)
{
	int end = tally_args_dashes(argc, argv);
	int status = tally_args_read(&tally_command_bisect, end, argv, b);
	if (status != TALLY_EXIT_OK)
		return status;
	b->words = &argv[MIN(end + 1, argc)];
	b->n_words = MAX(argc - end - 1, 0);
	if (!b->good || !b->build || !b->n_words)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "bisect",
				  "needed are --good, --build and, after --, a program");
	return TALLY_EXIT_OK;
}

static bool
run_once(struct bisect *b, unsigned side)
{
	const struct tally_turn turn = {
		.command = "bisect",
		.words = b->words,
		.n_words = b->n_words,
		.folder = b->trees[side],
		.frames = b->frames,
	};
	char *log = g_strdup_printf("%s/%s%u.jsonl", b->folder, side ? "new" : "base",
				    b->logs[side]->len);
	g_ptr_array_add(b->logs[side], log);
	return tally_turn_run(&turn, log) && !interrupted;
}

static void
drop_logs(struct bisect *b)
{
	for (unsigned side = 0; side < 2; side++) {
		TALLY_EACH (const char, log, b->logs[side])
			g_unlink(log);
		g_ptr_array_set_size(b->logs[side], 0);
	}
}

/* Builds what is checked out as the other, and runs it and the good one in turn until the answer
 * is sure. Without a known change that is searched for. */
static enum tally_bisect_answer
examine(struct bisect *b)
{
	const double confidence = 1 - WRONG / G_N_ELEMENTS(looks);
	enum tally_bisect_answer answer = TALLY_BISECT_UNCLEAR;
	for (size_t i = 0; i < G_N_ELEMENTS(looks) && answer == TALLY_BISECT_UNCLEAR; i++) {
		while (b->logs[0]->len < looks[i]) {
			unsigned first = b->logs[0]->len % 2;
			if (!run_once(b, first) || !run_once(b, !first))
				return TALLY_BISECT_FAILED;
		}
		answer = b->change.name ? tally_bisect_judge(b->logs[0], b->logs[1], confidence,
							     &b->change)
					: tally_bisect_find(b->logs[0], b->logs[1], confidence,
							    &b->change);
	}
	return answer;
}

/* "shadow", "frame, GPU". The caller frees it. */
static char *
change_name(const struct tally_bisect_change *change)
{
	g_autofree char *name = tally_text_escape(change->name);
	return g_strdup_printf("%s%s", name, !change->frame ? "" : change->cpu ? " time" : ", GPU");
}

static void
say_change(const struct bisect *b, const char *before)
{
	const struct tally_bisect_change *change = &b->change;
	g_autofree char *name = change_name(change);
	g_autofree char *own =
		change->others ? g_strdup_printf(", against the other passes %+.1f %%",
						 100 * change->part)
			       : g_strdup("");
	tally_text_print(stdout, "%s%s %+.1f %%%s (%+.1f to %+.1f), %.3f to %.3f ms\n", before,
			 name, 100 * (change->mean[1] / change->mean[0] - 1), own,
			 100 * change->low, 100 * change->high, change->mean[0] / 1e6,
			 change->mean[1] / 1e6);
	fflush(stdout);
}

static enum tally_tree_mark
judge_tree(struct bisect *b)
{
	static const char *const words[] = { "good", "bad", "skipped" };
	static const enum tally_tree_mark marks[] = {
		[TALLY_BISECT_GOOD] = TALLY_TREE_GOOD,
		[TALLY_BISECT_BAD] = TALLY_TREE_BAD,
		[TALLY_BISECT_UNCLEAR] = TALLY_TREE_SKIP,
		[TALLY_BISECT_FAILED] = TALLY_TREE_SKIP,
	};
	drop_logs(b);
	bool built = tally_tree_build(b->trees[1], b->build);
	enum tally_bisect_answer answer = built ? examine(b) : TALLY_BISECT_FAILED;
	const char *why = !built                           ? ": it cannot be built"
			  : answer == TALLY_BISECT_FAILED  ? ": it cannot be measured"
			  : answer == TALLY_BISECT_UNCLEAR ? ": unclear"
							   : "";
	g_autofree char *name = tally_tree_name(b->trees[1], "HEAD");
	g_autofree char *safe = tally_text_escape(name);
	tally_text_print(stdout, "%s: %s%s (%u run%s)\n", safe, words[marks[answer]], why,
			 b->logs[1]->len, TALLY_S(b->logs[1]->len));
	fflush(stdout);
	return marks[answer];
}

static int
search(struct bisect *b)
{
	g_autofree char *found = NULL;
	enum tally_tree_state state = tally_tree_start(b->trees[1], b->good, b->bad, &found);
	while (state == TALLY_TREE_NEXT && !interrupted) {
		enum tally_tree_mark mark = judge_tree(b);
		state = tally_tree_mark(b->trees[1], mark, &found);
	}
	if (interrupted || state == TALLY_TREE_FAILED)
		return TALLY_EXIT_FAILED;
	if (state == TALLY_TREE_LEFT) {
		puts("not certain: what is left between the good and the bad revisions "
		     "was skipped");
		return TALLY_EXIT_INCONCLUSIVE;
	}
	g_autofree char *name = tally_tree_name(b->trees[1], found);
	g_autofree char *safe = tally_text_escape(name);
	tally_text_print(stdout, "first bad commit: %s\n", safe);
	say_change(b, "  what it changed: ");
	return TALLY_EXIT_OK;
}

/* Both ends are built and compared. */
static int
find_change(struct bisect *b)
{
	if (!tally_tree_add(b->trees[0], b->good) || !tally_tree_add(b->trees[1], b->bad))
		return TALLY_EXIT_FAILED;
	for (unsigned side = 0; side < 2; side++)
		if (!tally_tree_build(b->trees[side], b->build))
			return TALLY_FAIL(TALLY_EXIT_FAILED, "bisect", "%s cannot be built",
					  side ? b->bad : b->good);
	enum tally_bisect_answer answer = examine(b);
	if (answer == TALLY_BISECT_FAILED)
		return TALLY_EXIT_FAILED;
	if (answer == TALLY_BISECT_BAD) {
		say_change(b, "from good to bad: ");
		return TALLY_EXIT_OK;
	}
	printf("not certain: after %u runs of each, no time of %s is longer than of %s\n",
	       b->logs[0]->len, b->bad, b->good);
	return TALLY_EXIT_INCONCLUSIVE;
}

static int
run(int argc, char **argv)
{
	struct bisect b = { .bad = "HEAD", .frames = 300 };
	int status = parse(&b, argc, argv);
	if (status != TALLY_EXIT_OK)
		return status;
	b.folder = g_dir_make_tmp("passtally-bisect-XXXXXX", NULL);
	if (!b.folder)
		return TALLY_FAIL(TALLY_EXIT_FAILED, "bisect",
				  "no temporary folder can be created");
	/* An interrupted search removes its worktrees, too. */
	const struct sigaction act = { .sa_handler = interrupt, .sa_flags = SA_RESTART };
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	for (unsigned side = 0; side < 2; side++) {
		b.trees[side] = g_build_filename(b.folder, side ? "new" : "base", NULL);
		b.logs[side] = g_ptr_array_new_with_free_func(g_free);
	}
	status = find_change(&b);
	if (status == TALLY_EXIT_OK)
		status = search(&b);
	drop_logs(&b);
	for (unsigned side = 0; side < 2; side++) {
		tally_tree_remove(b.trees[side]);
		g_free(b.trees[side]);
		g_ptr_array_unref(b.logs[side]);
	}
	g_rmdir(b.folder);
	g_free(b.folder);
	g_free(b.change.name);
	return status;
}

const struct tally_command tally_command_bisect = TALLY_COMMAND(
	"bisect", "Find the commit that made a pass slower",
	run, help, options, NULL);

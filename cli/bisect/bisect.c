/* SPDX-License-Identifier: MIT */
#include "cli/bench/turn.h"
#include "cli/compare/compare.h"
#include "cli/compare/join.h"
#include "cli/log/warmup.h"
#include "cli/shared/cli.h"
#include "cli/shared/each.h"
#include "cli/shared/text.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* The good revision and another, each built in a worktree, run in turn until the answer is sure. */

/* Runs of each after which the answer is looked at, and the chance of a wrong one in any look. */
static const unsigned looks[] = { 5, 7, 10, 14, 20 };
#define WRONG 0.01

/* The change that is searched for: of the GPU time of a pass, or of the frame. */
struct change {
	bool frame, cpu; /* of the frame; its frame time */
	uint32_t device; /* by its place among those that are compared */
	uint64_t id; /* of the pass */
	char *name; /* of the pass, owned; NULL = not known yet */
	double part; /* of the good one's mean */
	bool others; /* `part` is against the other passes, not that of the means */
	double mean[2]; /* of both sides, in nanoseconds */
	double low, high; /* the interval of the change, as parts of the mean */
};

enum answer {
	BISECT_GOOD = 0,
	BISECT_BAD,
	BISECT_UNCLEAR, /* more runs are needed */
	BISECT_FAILED, /* after an error on standard error: a log cannot be read */
};

struct bisect {
	const char *good, *bad, *build;
	uint64_t frames;
	char **words; /* borrowed from argv */
	int n_words;
	char *folder, *trees[2]; /* the worktrees: of the good revision, of the other */
	GPtrArray *logs[2]; /* elements: char * */
	struct change change;
};

static volatile sig_atomic_t interrupted;

static void
interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

static const struct tally_arg options[] = {
	TALLY_ARG("good", tally_arg_text, struct bisect, good),
	TALLY_ARG("bad", tally_arg_text, struct bisect, bad),
	TALLY_ARG("build", tally_arg_text, struct bisect, build),
	TALLY_ARG_WHOLE("frames", struct bisect, frames, 1, UINT32_MAX),
};

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

/* ---- checked-out revisions, and the search between two of them: git does both, in worktrees of
 * its own, so that the user's is left alone ---- */

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

/* Checks a revision out as a new folder, and removes it. False after an error on standard error. */
static bool
add_tree(const char *folder, const char *revision)
{
	g_autofree char *out = NULL;
	return git(NULL, &out, "worktree", "add", "--detach", folder, revision, NULL) == 0;
}

static void
remove_tree(const char *folder)
{
	g_autofree char *out = NULL;
	if (g_file_test(folder, G_FILE_TEST_EXISTS))
		git(NULL, &out, "worktree", "remove", "--force", folder, NULL);
}

/* Runs a script in the folder, through the shell. Returns whether it ended with 0. */
static bool
build_tree(const char *folder, const char *script)
{
	char *words[] = { (char *)"/bin/sh", (char *)"-c", (char *)script, NULL };
	int status = 0;
	return g_spawn_sync(folder, words, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL, NULL,
			    &status, NULL) &&
	       status == 0;
}

/* What the revision is, as "1a2b3c4 its subject"; the caller frees it. */
static char *
name_revision(const char *folder, const char *revision)
{
	char *out;
	git(folder, &out, "log", "-1", "--format=%h %s", revision, NULL);
	return out ? g_strstrip(out) : g_strdup(revision);
}

enum mark { TREE_GOOD = 0, TREE_BAD, TREE_SKIP };
enum state {
	TREE_NEXT = 0, /* another revision is checked out */
	TREE_FOUND, /* `found` is the first bad one; the caller frees it */
	TREE_LEFT, /* only skipped ones are left */
	TREE_FAILED, /* after an error on standard error */
};

/* What `git bisect` answered. */
static enum state
read_answer(int status, const char *out, char **found)
{
	static const char words[] = " is the first bad commit";
	const char *end = out ? strstr(out, words) : NULL;
	if (status == 2 || (out && strstr(out, "There are only 'skip'ped commits left")))
		return TREE_LEFT;
	if (status != 0)
		return TREE_FAILED;
	if (!end)
		return TREE_NEXT;
	const char *begin = end;
	while (begin > out && g_ascii_isxdigit(begin[-1]))
		begin--;
	*found = g_strndup(begin, (gsize)(end - begin));
	return TREE_FOUND;
}

static enum state
start_search(const char *folder, const char *good, const char *bad, char **found)
{
	g_autofree char *out = NULL;
	int status = git(folder, &out, "bisect", "start", bad, good, NULL);
	return read_answer(status, out, found);
}

static enum state
mark_revision(const char *folder, enum mark mark, char **found)
{
	static const char *const words[] = { "good", "bad", "skip" };
	g_autofree char *out = NULL;
	int status = git(folder, &out, "bisect", words[mark], NULL);
	return read_answer(status, out, found);
}

/* ---- which side of a known change a program is on, judged as `compare` does ---- */

/* Reads and compares; the caller finishes `c` in either case. */
static bool
read_sides(struct tally_compare *c, const GPtrArray *const paths[TALLY_N_SIDES], double confidence,
	   const struct tally_compare_filter *filter)
{
	tally_compare_init(c);
	c->settings.confidence = confidence;
	for (unsigned side = 0; side < TALLY_N_SIDES; side++) {
		TALLY_EACH (const char, path, paths[side]) {
			struct tally_compare_log *log;
			int status = tally_compare_log_read(&log, path, filter);
			g_ptr_array_add(c->logs[side], log);
			if (status != TALLY_EXIT_OK)
				return false;
		}
	}
	if (tally_compare_join(c) != TALLY_EXIT_OK)
		return false;
	tally_compare_judge(c);
	return true;
}

static bool
is_time(const struct tally_compare_row *row)
{
	return row->tested && row->is_time && !row->subject->outside && row->mean[0] > 0;
}

/* A pass that accounts for half of the frame's change says more than the frame. */
static double
worth(const struct tally_compare_row *row)
{
	return row->difference * (row->subject->frame ? 0.5 : 1);
}

static enum answer
choose(const struct tally_compare *c, struct change *change)
{
	const struct tally_compare_row *best = NULL;
	TALLY_EACH (const struct tally_compare_row, row, c->rows)
		if (is_time(row) && row->verdict == TALLY_VERDICT_MORE &&
		    (!best || worth(row) > worth(best)))
			best = row;
	if (!best)
		return BISECT_UNCLEAR;
	*change = (struct change){
		.frame = best->subject->frame,
		.cpu = best->is_cpu,
		.device = best->subject->slot,
		.id = best->subject->id,
		.name = g_strdup(best->subject->name),
		.part = best->difference / best->mean[0],
		.others = best->against_others,
		.mean = { best->mean[0], best->mean[1] },
		.low = best->low / best->mean[0],
		.high = best->high / best->mean[0],
	};
	return BISECT_BAD;
}

static enum answer
judge(const struct tally_compare *c, const struct change *change)
{
	TALLY_EACH (const struct tally_compare_row, row, c->rows) {
		const struct tally_compare_subject *s = row->subject;
		if (!is_time(row) || s->frame != change->frame || s->slot != change->device ||
		    row->is_cpu != change->cpu || (!s->frame && s->id != change->id))
			continue;
		if (row->high / row->mean[0] < change->part / 2)
			return BISECT_GOOD;
		if (row->low / row->mean[0] > change->part / 2)
			return BISECT_BAD;
	}
	return BISECT_UNCLEAR;
}

/* GOOD if less than half of the change is there, BAD if more than half is. Without a name it is
 * searched for: the largest increase from the good logs to the others. */
static enum answer
compare(const GPtrArray *good, const GPtrArray *other, double confidence, struct change *change)
{
	struct tally_compare c;
	g_autoptr(GPtrArray) patterns = g_ptr_array_new();
	g_ptr_array_add(patterns, (gpointer) "gpu_ns");
	g_ptr_array_add(patterns, (gpointer) "cpu_ns");
	const struct tally_compare_filter filter = { .patterns = patterns,
						     .warmup = TALLY_WARMUP_AUTO,
						     .device = -1 };
	const GPtrArray *const sides[TALLY_N_SIDES] = { good, other };
	enum answer answer = BISECT_FAILED;
	if (read_sides(&c, sides, confidence, &filter))
		answer = change->name ? judge(&c, change) : choose(&c, change);
	tally_compare_finish(&c);
	return answer;
}

/* ---- the search ---- */

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
static enum answer
examine(struct bisect *b)
{
	const double confidence = 1 - WRONG / G_N_ELEMENTS(looks);
	enum answer answer = BISECT_UNCLEAR;
	for (size_t i = 0; i < G_N_ELEMENTS(looks) && answer == BISECT_UNCLEAR; i++) {
		while (b->logs[0]->len < looks[i]) {
			unsigned first = b->logs[0]->len % 2;
			if (!run_once(b, first) || !run_once(b, !first))
				return BISECT_FAILED;
		}
		answer = compare(b->logs[0], b->logs[1], confidence, &b->change);
	}
	return answer;
}

/* "shadow", "frame, GPU". The caller frees it. */
static char *
change_name(const struct change *change)
{
	g_autofree char *name = tally_text_escape(change->name);
	return g_strdup_printf("%s%s", name, !change->frame ? "" : change->cpu ? " time" : ", GPU");
}

static void
say_change(const struct bisect *b, const char *before)
{
	const struct change *change = &b->change;
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

static enum mark
judge_tree(struct bisect *b)
{
	static const char *const words[] = { "good", "bad", "skipped" };
	static const enum mark marks[] = {
		[BISECT_GOOD] = TREE_GOOD,
		[BISECT_BAD] = TREE_BAD,
		[BISECT_UNCLEAR] = TREE_SKIP,
		[BISECT_FAILED] = TREE_SKIP,
	};
	drop_logs(b);
	bool built = build_tree(b->trees[1], b->build);
	enum answer answer = built ? examine(b) : BISECT_FAILED;
	const char *why = !built                     ? ": it cannot be built"
			  : answer == BISECT_FAILED  ? ": it cannot be measured"
			  : answer == BISECT_UNCLEAR ? ": unclear"
						     : "";
	g_autofree char *name = name_revision(b->trees[1], "HEAD");
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
	enum state state = start_search(b->trees[1], b->good, b->bad, &found);
	while (state == TREE_NEXT && !interrupted) {
		enum mark mark = judge_tree(b);
		state = mark_revision(b->trees[1], mark, &found);
	}
	if (interrupted || state == TREE_FAILED)
		return TALLY_EXIT_FAILED;
	if (state == TREE_LEFT) {
		puts("not certain: what is left between the good and the bad revisions "
		     "was skipped");
		return TALLY_EXIT_INCONCLUSIVE;
	}
	g_autofree char *name = name_revision(b->trees[1], found);
	g_autofree char *safe = tally_text_escape(name);
	tally_text_print(stdout, "first bad commit: %s\n", safe);
	say_change(b, "  what it changed: ");
	return TALLY_EXIT_OK;
}

/* Both ends are built and compared. */
static int
find_change(struct bisect *b)
{
	if (!add_tree(b->trees[0], b->good) || !add_tree(b->trees[1], b->bad))
		return TALLY_EXIT_FAILED;
	for (unsigned side = 0; side < 2; side++)
		if (!build_tree(b->trees[side], b->build))
			return TALLY_FAIL(TALLY_EXIT_FAILED, "bisect", "%s cannot be built",
					  side ? b->bad : b->good);
	enum answer answer = examine(b);
	if (answer == BISECT_FAILED)
		return TALLY_EXIT_FAILED;
	if (answer == BISECT_BAD) {
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
		remove_tree(b.trees[side]);
		g_free(b.trees[side]);
		g_ptr_array_unref(b.logs[side]);
	}
	g_rmdir(b.folder);
	g_free(b.folder);
	g_free(b.change.name);
	return status;
}

const struct tally_command tally_command_bisect =
	TALLY_COMMAND(bisect, run, options, NULL);

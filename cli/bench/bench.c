/* SPDX-License-Identifier: MIT */
#include "cli/bench/fit.h"
#include "cli/bench/turn.h"
#include "cli/shared/child.h"
#include "cli/shared/cli.h"
#include "cli/shared/each.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Two programs run in turn under `run`, then judged by `compare`. */

struct bench {
	uint64_t runs, frames, seed;
	const char *keep;
	GPtrArray *passed; /* elements: char *, the options for `compare` */
	char **commands[2]; /* borrowed from argv; not ended by NULL */
	int n_words[2];
	char *folder;
	GPtrArray *logs[2]; /* elements: char * */
};

static const struct tally_arg options[] = {
	TALLY_ARG_WHOLE("runs", struct bench, runs, 1, 1000),
	TALLY_ARG_WHOLE("frames", struct bench, frames, 1, UINT32_MAX),
	TALLY_ARG_WHOLE("seed", struct bench, seed, 0, UINT32_MAX),
	TALLY_ARG("keep", tally_arg_text, struct bench, keep),
};

/* Splits what comes after "--" at "--vs". */
static bool
split(struct bench *b, int argc, char **argv, int from)
{
	int vs = from;
	while (vs < argc && strcmp(argv[vs], "--vs") != 0)
		vs++;
	b->commands[0] = &argv[from];
	b->n_words[0] = vs - from;
	b->commands[1] = &argv[MIN(vs + 1, argc)];
	b->n_words[1] = MAX(argc - vs - 1, 0);
	if (b->n_words[0] && b->n_words[1])
		return true;
	return TALLY_FAIL(false, "bench",
			  "two programs are needed: passtally bench -- A... --vs B...");
}

static bool
pass_on(const char *command, const struct tally_arg *arg, void *to, const char *value)
{
	struct bench *b = to;
	(void)command;
	g_ptr_array_add(b->passed,
			g_strconcat("--", arg->name, value ? "=" : NULL, value, NULL));
	return true;
}

static int
parse(struct bench *b, int argc, char **argv)
{
	int end = tally_args_dashes(argc, argv);
	int status = tally_args_read(&tally_command_bench, end, argv, b);
	if (status == TALLY_EXIT_OK && !split(b, argc, argv, MIN(end + 1, argc)))
		status = TALLY_EXIT_USAGE;
	return status;
}

/* Warns about what makes times differ without a change of the program. */
static void
check_machine(void)
{
	double load = 0;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (getloadavg(&load, 1) == 1 && load > 0.3 * (double)MAX(cpus, 1))
		tally_cli_complain("bench",
				   "warning: other programs keep this machine busy (load "
				   "%.1f on %ld CPUs): small changes cannot be detected",
				   load, cpus);
	g_autoptr(GPtrArray) found = tally_fit_look("");
	TALLY_EACH (const char, text, found)
		tally_cli_complain("bench", "warning: %s", text);
}

/* Runs program `which` once. */
static int
run_once(struct bench *b, unsigned which, uint64_t turn)
{
	char *log = g_strdup_printf("%s/%s-%" G_GUINT64_FORMAT ".jsonl", b->folder,
				    which ? "new" : "base", turn + 1);
	g_ptr_array_add(b->logs[which], log);
	const struct tally_turn t = {
		.command = "bench",
		.words = b->commands[which],
		.n_words = b->n_words[which],
		.frames = b->frames,
	};
	return tally_turn_run(&t, log) ? TALLY_EXIT_OK : TALLY_EXIT_FAILED;
}

/* The program with its arguments. */
static char *
name_of(const struct bench *b, unsigned side)
{
	GString *name = g_string_new(b->commands[side][0]);
	for (int i = 1; i < b->n_words[side]; i++)
		g_string_append_printf(name, " %s", b->commands[side][i]);
	return g_string_free(name, FALSE);
}

/* The arguments for `compare`, or, before there are logs, two names instead. */
static int
call_compare(const struct bench *b, int (*call)(int, char **))
{
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	/* Without --keep the logs are removed, so their names have no meaning. */
	g_autofree char *base = name_of(b, 0), *fresh = name_of(b, 1);
	tally_child_words(words, "compare", b->keep ? NULL : "--base-name", base, "--new-name",
			  fresh, NULL);
	g_ptr_array_extend(words, b->passed, NULL, NULL);
	for (unsigned side = 0; side < 2; side++) {
		if (side)
			g_ptr_array_add(words, (gpointer) "--");
		if (b->logs[side])
			g_ptr_array_extend(words, b->logs[side], NULL, NULL);
		else
			g_ptr_array_add(words, (gpointer) "log");
	}
	int argc = (int)words->len;
	g_ptr_array_add(words, NULL);
	return call(argc, (char **)words->pdata);
}

static int
measure(struct bench *b)
{
	check_machine();
	GRand *random = g_rand_new_with_seed((guint32)b->seed);
	int status = TALLY_EXIT_OK;
	for (uint64_t turn = 0; turn < b->runs && status == TALLY_EXIT_OK; turn++) {
		unsigned first = g_rand_boolean(random) ? 1 : 0;
		for (unsigned i = 0; i < 2 && status == TALLY_EXIT_OK; i++)
			status = run_once(b, i ? !first : first, turn);
	}
	g_rand_free(random);
	return status == TALLY_EXIT_OK ? call_compare(b, tally_command_compare.run) : status;
}

/* Removes the logs and their folder, unless they are to be kept. */
static void
clean_up(const struct bench *b)
{
	if (b->keep)
		return;
	for (unsigned side = 0; side < 2; side++)
		TALLY_EACH (const char, log, b->logs[side])
			g_unlink(log);
	g_rmdir(b->folder);
}

/* For the logs; NULL after an error. The caller frees the name. */
static char *
make_folder(const char *keep)
{
	char *folder = keep ? NULL : g_dir_make_tmp("passtally-bench-XXXXXX", NULL);
	if (keep && g_mkdir(keep, 0700) == 0)
		folder = g_strdup(keep);
	if (!folder)
		tally_cli_complain("bench", "the folder %s cannot be created",
				   keep ? keep : "for the logs");
	return folder;
}

static int
run(int argc, char **argv)
{
	g_autoptr(GPtrArray) passed = g_ptr_array_new_with_free_func(g_free);
	struct bench b = { .runs = 5, .frames = 300, .seed = 1, .passed = passed };
	int status = parse(&b, argc, argv);
	if (status == TALLY_EXIT_OK) /* wrong options of compare are refused before the runs */
		status = call_compare(&b, tally_compare_check);
	if (status != TALLY_EXIT_OK)
		return status;
	g_autofree char *folder = make_folder(b.keep);
	if (!folder)
		return b.keep ? TALLY_EXIT_USAGE : TALLY_EXIT_FAILED;
	b.folder = folder;
	for (unsigned side = 0; side < 2; side++)
		b.logs[side] = g_ptr_array_new_with_free_func(g_free);
	status = measure(&b);
	clean_up(&b);
	for (unsigned side = 0; side < 2; side++)
		g_ptr_array_unref(b.logs[side]);
	return status;
}

const struct tally_command tally_command_bench = {
	.name = "bench",
	.run = run,
	.help = tally_help_bench,
	.options = options,
	.n_options = G_N_ELEMENTS(options),
	.other = pass_on,
};

/* SPDX-License-Identifier: MIT */
#include "cli/shared/embedded.h"

#include "cli/install/injected.h"
#include "cli/shared/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Reads the options; the work is done by fleet.py, whose text is part of the command. */

struct request {
	const char *db, *build, *base, *new, *by, *fail_above;
	bool all, json;
	GPtrArray *words; /* the verb, then files and folders */
};

static const struct tally_arg options[] = {
	TALLY_ARG_TEXT("db", 0, "DIR", struct request, db,
		       "The fleet's folder; ingest makes it where there is none."),
	TALLY_ARG_TEXT("build", 0, "NAME", struct request, build,
		       "ingest: the build of those logs that have no tag \"build\"."),
	TALLY_ARG_TEXT("base", 0, "BUILD", struct request, base,
		       "regress: the build before."),
	TALLY_ARG_TEXT("new", 0, "BUILD", struct request, new,
		       "regress: the build after."),
	TALLY_ARG_TEXT("by", 0, "TAG,...", struct request, by,
		       "regress: compare only runs of the same values of these tags."),
	TALLY_ARG_TEXT("fail-above", 0, "PERCENT", struct request, fail_above,
		       "regress: end with 1 if a pass is slower by more, beyond chance; "
		       "with 4 if one may be."),
	TALLY_ARG_FLAG("all", 0, struct request, all,
		       "regress: list what did not change too."),
	TALLY_ARG_FLAG("json", 0, struct request, json,
		       "regress: print one JSON object."),
	TALLY_ARG_HELP,
};

static const struct tally_arg operands =
	TALLY_ARG_LIST(NULL, 0, "LOG", struct request, words, NULL);

static const char help[] =
	"Usage: passtally fleet ingest --db DIR LOG...\n"
	"       passtally fleet regress --db DIR --base BUILD --new BUILD\n\n"
	"Keeps the statistics of many runs, by many machines, in a folder of\n"
	"Parquet files, and says which passes got slower from one build to\n"
	"another. A run names its build by passtally run --tag build=NAME.\n\n"
	"ingest adds logs, digests and those in folders; a run that is there\n"
	"already counts once. regress compares runs on the same GPU, driver and\n"
	"size, each as one value.\n" TALLY_HELP_OPTIONS
	"\nNeeds python3 and DuckDB. docs/fleet.md describes the files and the\n"
	"test.\n\n"
	"Exit status: 0; 1 with --fail-above: slower; 2 usage; 3 a log was left\n"
	"out; 4 with --fail-above: cannot tell; 5 the builds have no GPU, driver\n"
	"and size in common; 125 other errors.";

/* Replaces this process by Python; returns where that fails. */
static int
become(GPtrArray *argv)
{
	int fd = memfd_create("fleet.py", 0);
	size_t size = strlen(tally_fleet_text);
	if (fd < 0 || write(fd, tally_fleet_text, size) != (ssize_t)size)
		return TALLY_FAIL(TALLY_EXIT_FAILED, "fleet", "%s", g_strerror(errno));
	g_autofree char *script = g_strdup_printf("/proc/self/fd/%d", fd);
	argv->pdata[1] = script;
	execvp("python3", (char **)argv->pdata);
	return TALLY_FAIL(TALLY_EXIT_FAILED, "fleet", "python3: %s", g_strerror(errno));
}

/* What is wrong with the words; NULL = nothing. */
static const char *
wrong(const struct request *r, const char *verb)
{
	if (strcmp(verb, "ingest") == 0)
		return !r->db               ? "name the folder: --db DIR"
		       : r->words->len == 1 ? "name logs or their folders"
					    : NULL;
	if (strcmp(verb, "regress") != 0)
		return "begin with ingest or regress";
	return r->db && r->base && r->new && r->words->len == 1
		       ? NULL
		       : "regress takes --db DIR, --base BUILD and --new BUILD";
}

static int
start(const struct request *r)
{
	const char *verb = r->words->len ? r->words->pdata[0] : "";
	const char *why = wrong(r, verb);
	if (why)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "fleet", "%s", why);
	g_autofree char *own = tally_own_path();
	g_autoptr(GPtrArray) argv = g_ptr_array_new();
	/* The order of main() in fleet.py. */
	const char *words[] = { "python3",
				"",
				verb,
				r->db,
				own ? own : "passtally",
				r->build,
				r->base,
				r->new,
				r->by,
				r->fail_above,
				r->all ? "all" : "",
				r->json ? "json" : "" };
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		g_ptr_array_add(argv, (char *)(words[i] ? words[i] : ""));
	for (guint i = 1; i < r->words->len; i++)
		g_ptr_array_add(argv, r->words->pdata[i]);
	g_ptr_array_add(argv, NULL);
	return become(argv);
}

static int
run(int argc, char **argv)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	struct request r = { .words = words };
	int status = tally_args_read(&tally_command_fleet, argc, argv, &r);
	return status == TALLY_EXIT_OK ? start(&r) : status;
}

const struct tally_command tally_command_fleet = TALLY_COMMAND(
	"fleet", "Ask many runs, of many machines, what got slower",
	run, help, options, &operands);

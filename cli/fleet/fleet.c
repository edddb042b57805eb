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
	TALLY_ARG("db", tally_arg_text, struct request, db),
	TALLY_ARG("build", tally_arg_text, struct request, build),
	TALLY_ARG("base", tally_arg_text, struct request, base),
	TALLY_ARG("new", tally_arg_text, struct request, new),
	TALLY_ARG("by", tally_arg_text, struct request, by),
	TALLY_ARG("fail-above", tally_arg_text, struct request, fail_above),
	TALLY_ARG("all", tally_arg_flag, struct request, all),
	TALLY_ARG("json", tally_arg_flag, struct request, json),
};

static const struct tally_arg operands =
	TALLY_ARG("LOG", tally_arg_list, struct request, words);

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

const struct tally_command tally_command_fleet =
	TALLY_COMMAND(fleet, run, options, &operands);

/* SPDX-License-Identifier: MIT */
#include "layer/session/block.h"

#include "layer/config/list.h"
#include "layer/config/load.h"
#include "layer/config/path.h"
#include "layer/log.h"
#include "layer/session/process.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* The table's names are in lower case already. */
static int
compare(const char *name, const char *row)
{
	while (*name && tally_lower(*name) == *row) {
		name++;
		row++;
	}
	return (unsigned char)tally_lower(*name) - (unsigned char)*row;
}

const struct tally_block_entry *
tally_block_find(const char *name)
{
	size_t low = 0, high = tally_blocklist_names;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare(name, tally_blocklist[middle].pattern);
		if (order == 0)
			return &tally_blocklist[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	const struct tally_block_entry *globs = tally_blocklist + tally_blocklist_names;
	for (size_t i = 0; i < tally_blocklist_globs; i++) {
		if (tally_list_matches(globs[i].pattern, name, NULL))
			return &globs[i];
	}
	return NULL;
}

const struct tally_block_entry *
tally_block_find_argument(const char *argument)
{
	const struct tally_block_entry *rows =
		tally_blocklist + tally_blocklist_names + tally_blocklist_globs;
	for (size_t i = 0; i < tally_blocklist_arguments; i++) {
		if (strcmp(rows[i].pattern, argument) == 0)
			return &rows[i];
	}
	return NULL;
}

/* Whether the program runs a script, whose name is then the familiar one. */
static bool
is_interpreter(const char *name)
{
	return tally_list_matches("python*+perl*+ruby*+node+gjs*+sh+bash+dash", name, NULL);
}

/* The script's base name: the first argument that is not an option; NULL: none. */
static const char *
script_of(const char *name, const char *const *argv, size_t n_argv)
{
	if (!is_interpreter(name))
		return NULL;
	for (size_t i = 1; i < n_argv; i++) {
		if (argv[i][0] != '-')
			return tally_config_base_name(argv[i]);
		/* The script's text is given in this argument instead of a file name. */
		if (strcmp(argv[i], "-c") == 0 || strcmp(argv[i], "-e") == 0)
			break;
	}
	return NULL;
}

struct tally_block_verdict
tally_block_decide(const struct tally_config *config, const char *program,
		   const char *const *argv, size_t n_argv)
{
	const char *names[2] = { tally_config_base_name(program), NULL };
	names[1] = argv ? script_of(names[0], argv, n_argv) : NULL;
	struct tally_block_verdict v = { 0 };
	for (size_t i = 0; i < 2 && names[i]; i++) {
		if (tally_list_matches(config->allow, names[i], NULL))
			return (struct tally_block_verdict){ .name = names[i] };
	}
	for (size_t i = 0; i < 2 && names[i] && !v.blocked; i++) {
		v.name = names[i];
		v.entry = tally_block_find(names[i]);
		v.blocked = v.entry || tally_list_matches(config->block, names[i], NULL);
	}
	for (size_t i = 1; argv && i < n_argv && !v.blocked; i++) {
		v.name = argv[i];
		v.entry = tally_block_find_argument(argv[i]);
		v.blocked = v.entry != NULL;
	}
	if (!v.blocked)
		v.name = NULL;
	return v;
}

bool
tally_block_leaves_alone(const struct tally_config *config, const char *program)
{
	struct tally_process process;
	tally_process_read(&process);
	struct tally_block_verdict v =
		tally_block_decide(config, program, process.argv, process.n_argv);
	if (v.blocked)
		tally_log_say(TALLY_LEVEL_INFO, "config",
			      "%s is left alone: %s; to capture it, say allow=%s",
			      tally_config_base_name(program),
			      v.entry ? v.entry->reason : "the option block names it",
			      tally_config_base_name(program));
	tally_process_finish(&process);
	return v.blocked;
}

static bool
decide_early(void)
{
	const char *name = (const char *)(uintptr_t)getauxval(AT_EXECFN);
	if (!name || !tally_block_find(tally_config_base_name(name)))
		return false;
	struct tally_config config;
	tally_config_init(&config);
	tally_config_load(&config, name, NULL, NULL);
	bool blocked = tally_block_decide(&config, name, NULL, 0).blocked;
	tally_config_finish(&config);
	return blocked;
}

bool
tally_block_early(void)
{
	/* 0: not decided yet. Two threads that call first decide the
	 * same, so a race is harmless. */
	static atomic_int known;
	int answer = atomic_load_explicit(&known, memory_order_relaxed);
	if (answer == 0) {
		answer = decide_early() ? 1 : 2;
		atomic_store_explicit(&known, answer, memory_order_relaxed);
	}
	return answer == 1;
}

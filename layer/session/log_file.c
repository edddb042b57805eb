/* SPDX-License-Identifier: MIT */
#include "layer/session/log_file.h"

#include "layer/config/options.h"
#include "layer/config/path.h"
#include "layer/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The number of programs that one process may execute one after the
 * other, each with its own log. */
#define MAX_IMAGES 100

static bool
has_pid(const char *pattern)
{
	for (const char *p = strchr(pattern, '%'); p && p[1]; p = strchr(p + 2, '%')) {
		if (p[1] == 'p')
			return true;
	}
	return false;
}

/* Whether all processes with these options get the same name. */
static bool
is_fixed(const char *pattern)
{
	return pattern && !has_pid(pattern);
}

static bool
is_named_for_this_run(const struct tally_config *config)
{
	const struct tally_option *option = tally_option_find("log", 3);
	return config->origin &&
	       config->origin[option - tally_options] >= TALLY_FROM_ENVIRONMENT;
}

/* Whether the path is something other than a file: no file is created next to it. */
static bool
is_special(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* Returns `path` with ".NUMBER" added, before a ".jsonl" at its end, so that the name stays
 * that of a log; takes ownership of `path`, which may be NULL. */
static char *
with_number(char *path, long number)
{
	if (!path)
		return NULL;
	static const char end[] = ".jsonl";
	size_t len = strlen(path), n = sizeof(end) - 1;
	bool ends = len > n && strcmp(path + len - n, end) == 0 && path[len - n - 1] != '/';
	size_t size = len + 24;
	char *unique = malloc(size);
	if (unique)
		snprintf(unique, size, "%.*s.%ld%s", (int)(ends ? len - n : len), path, number,
			 ends ? end : "");
	free(path);
	return unique;
}

char *
tally_naming_expand(const struct tally_naming *naming, const char *pattern)
{
	char *path = tally_config_log_path(pattern, naming->program, naming->started_unix_ns,
					   naming->pid);
	return naming->forked && is_fixed(pattern) ? with_number(path, naming->pid) : path;
}

/* The state of repeated attempts to open the log. */
struct opening {
	const struct tally_config *config;
	const struct tally_recorder_ops *ops;
	char *path; /* of the last attempt */
	size_t size;
	enum tally_record_status status;
	char why[512];
};

static struct tally_recorder *
open_at(struct opening *o, const char *path)
{
	struct tally_recorder_options options = {
		.path = path,
		.max_bytes = o->config->max_log,
		.force = o->config->force,
		.make_folders = !o->config->log,
	};
	snprintf(o->path, o->size, "%s", path);
	return o->ops->open(&options, &o->status, o->why, sizeof(o->why));
}

/* Opens the first of path (as number 1), path.2, path.3 ... that does not exist yet: a program
 * that executes another keeps its process id. `path` may be NULL. */
static struct tally_recorder *
open_beside(struct opening *o, const char *path, long first)
{
	struct tally_recorder *recorder = NULL;
	o->status = TALLY_RECORD_EXISTS;
	for (long n = first; path && n <= MAX_IMAGES && o->status == TALLY_RECORD_EXISTS; n++) {
		char *name = n > 1 ? with_number(strdup(path), n) : strdup(path);
		if (!name)
			return NULL;
		recorder = open_at(o, name);
		if (recorder) {
			tally_log_say(TALLY_LEVEL_INFO, "session",
				      "the log is %s, as a file without the number was there",
				      name);
			o->status = TALLY_RECORD_OK;
		}
		free(name);
	}
	return recorder;
}

/* Whether a name with a number may be tried if this one is taken. */
static bool
may_be_numbered(const struct tally_config *config, const char *path)
{
	return !config->force && (!is_fixed(config->log) || is_named_for_this_run(config)) &&
	       !is_special(path);
}

struct tally_recorder *
tally_log_file_open(const struct tally_naming *naming, const struct tally_recorder_ops *ops,
		    char *path, size_t size)
{
	const struct tally_config *config = naming->config;
	char *name = tally_naming_expand(naming, config->log);
	if (!name) {
		tally_log_say(
			TALLY_LEVEL_ERROR, "session",
			"nothing is captured: there is no place for the log, as neither "
			"XDG_STATE_HOME nor HOME is an absolute path; name a file with "
			"log=PATH");
		return NULL;
	}
	struct opening o = { .config = config, .ops = ops, .path = path, .size = size };
	o.status = TALLY_RECORD_IO;
	struct tally_recorder *recorder = open_at(&o, name);
	if (!recorder && o.status == TALLY_RECORD_EXISTS && may_be_numbered(config, name)) {
		/* A launcher may start several programs that render, all with the same name. */
		bool is_shared = is_fixed(config->log) && !naming->forked;
		name = is_shared ? with_number(name, naming->pid) : name;
		recorder = open_beside(&o, name, is_shared ? 1 : 2);
	}
	free(name);
	if (!recorder)
		tally_log_say(TALLY_LEVEL_ERROR, "session",
			      "nothing is captured, the game goes on: %s", o.why);
	return recorder;
}

/* SPDX-License-Identifier: MIT */
/* cli/shared/cli.h - shared by the commands of `passtally`: exit codes, options, output,
 * progress.
 *
 * Results go to standard output, everything else to standard error. Errors are one sentence
 * that starts with "passtally COMMAND:". One thread; out of memory ends the program (GLib's
 * rule).
 */
#ifndef PASSTALLY_CLI_CLI_H
#define PASSTALLY_CLI_CLI_H

#include "json/record_json.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TALLY_EXIT_OK = 0,
	TALLY_EXIT_NOTHING = 1, /* from doctor: nothing can be captured */
	TALLY_EXIT_REGRESSION = 1, /* from compare: --fail-above was exceeded */
	TALLY_EXIT_USAGE = 2,
	TALLY_EXIT_BAD_LOG = 3,
	TALLY_EXIT_INCONCLUSIVE = 4, /* from compare --fail-above: more frames or runs are needed */
	TALLY_EXIT_UNLIKE = 5, /* from compare: devices, drivers or options differ */
	TALLY_EXIT_FAILED = 125, /* an internal failure of passtally */
	TALLY_EXIT_NOT_EXECUTABLE = 126, /* as in env(1) */
	TALLY_EXIT_NOT_FOUND = 127,
};

struct tally_command {
	const char *name;
	const char *summary; /* shown in the list of commands */
	int (*run)(int argc, char **argv); /* argv[0] is the command's name */
	void (*help)(void); /* prints to standard output */
};

extern const struct tally_command tally_command_run, tally_command_report,
	tally_command_compare, tally_command_bench, tally_command_check,
	tally_command_counters, tally_command_doctor,
	tally_command_schema, tally_command_trigger, tally_command_export,
	tally_command_config, tally_command_top, tally_command_logs,
	tally_command_install, tally_command_uninstall;

/* One option of a command. */
struct tally_arg {
	const char *name; /* without the leading dashes */
	char letter; /* 0 = none */
	const char *values; /* as shown in --help; NULL = a switch, "[X]" = optional */
	const char *help;
};

enum {
	TALLY_ARG_END = -1, /* no arguments left */
	TALLY_ARG_POSITIONAL = -2, /* a positional argument, in *value */
	TALLY_ARG_ERROR = -3, /* reported on standard error */
};

struct tally_args {
	const char *command; /* command name for messages */
	char **argv;
	int argc, next;
	const struct tally_arg *table;
	size_t n;
	bool only_positional; /* "--" was seen */
	int letters; /* offset within a group of one-letter switches, 0 = none */
};

void tally_args_init(struct tally_args *args, int argc, char **argv,
		     const struct tally_arg *table, size_t n);
/* Returns the next option's index in the table, or one of the values above. Accepts `--key
 * value`, `--key=value`, `-o value` and `-ovalue`; "--" ends options. *value is NULL for a
 * switch. */
int tally_args_next(struct tally_args *args, const char **value);
/* Reads the value of option --`name` of `command` as a whole number. Returns false after
 * printing an error. */
bool tally_args_read_whole(const char *command, const char *name, const char *value,
			   uint64_t least, uint64_t most, uint64_t *out);
/* Prints the table's lines of --help. */
void tally_args_help(const struct tally_arg *table, size_t n);

/* Prints "passtally COMMAND: MESSAGE" on standard error, as one line. `command` may be NULL. */
void tally_cli_complain(const char *command, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Prints "passtally: MESSAGE" on standard error, as one line. */
void tally_cli_say(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* Prints "LOG:LINE:COLUMN: MESSAGE" for an invalid log, or "passtally COMMAND: LOG: MESSAGE"
 * for a log that could not be read; returns the matching exit status. */
int tally_cli_read_failed(const char *command, const char *path, enum tally_read_status status,
			  const struct tally_read_error *error);

/* Flushes standard output; if that or an earlier write failed, reports it (except for a
 * closed pipe) and returns TALLY_EXIT_FAILED instead of `status`. */
int tally_cli_finish(const char *command, int status);

/* A line on standard error that overwrites itself; nothing is shown if that is not a
 * terminal. */
struct tally_progress {
	bool on, shown;
	int64_t began_us, told_us;
};
/* Nothing is shown in the first `after_ms` milliseconds. */
void tally_progress_begin(struct tally_progress *progress, unsigned after_ms);
/* Whether it is time for a new text (at most five per second). */
bool tally_progress_due(struct tally_progress *progress);
void tally_progress_show(struct tally_progress *progress, const char *format, ...)
	G_GNUC_PRINTF(2, 3);
/* Shows "VERB PATH: N %" for a log that is being read, if it is time for a new text. */
void tally_progress_read(struct tally_progress *progress, const char *verb, const char *path,
			 const struct tally_log_reader *reader);
void tally_progress_end(struct tally_progress *progress); /* wipes the line */

#endif

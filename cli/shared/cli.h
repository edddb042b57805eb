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

#include "cli/shared/embedded.h"
#include "json/record_json.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TALLY_EXIT_OK = 0,
	TALLY_EXIT_NOTHING = 1, /* from doctor: nothing can be captured */
	TALLY_EXIT_LAW_FAILS = 1, /* from selftest */
	TALLY_EXIT_REGRESSION = 1, /* from compare: --fail-above was exceeded */
	TALLY_EXIT_USAGE = 2, /* also a file that is named and cannot be opened */
	TALLY_EXIT_BAD_LOG = 3,
	TALLY_EXIT_INCONCLUSIVE = 4, /* from compare --fail-above: more frames or runs are needed */
	TALLY_EXIT_UNLIKE = 5, /* from compare: devices, drivers or options differ */
	TALLY_EXIT_FAILED = 125, /* an internal failure of passtally */
	TALLY_EXIT_NOT_EXECUTABLE = 126, /* as in env(1) */
	TALLY_EXIT_NOT_FOUND = 127,
};

struct tally_arg;

/* Stores one option of `command` in its request: `to` is the member that the row names, or the
 * request itself; `value` is NULL for a switch. Returns false after printing an error. */
typedef bool tally_arg_take(const char *command, const struct tally_arg *arg, void *to,
			    const char *value);

/* One option of a command; what it is for, its letter and its values are in the command's help.
 * The macros below make a row. */
struct tally_arg {
	const char *name; /* without the leading dashes; of an operand, as messages call it */
	tally_arg_take *take; /* NULL: the member, a char **, gets all from the operand on */
	size_t at; /* offset of the member in the request */
	uint64_t least, most; /* of tally_arg_whole() */
};

tally_arg_take tally_arg_flag; /* a bool becomes true */
tally_arg_take tally_arg_text; /* a const char * gets the value */
tally_arg_take tally_arg_list; /* a GPtrArray * gets one more element */
tally_arg_take tally_arg_one; /* like tally_arg_text, but an error the second time */
tally_arg_take tally_arg_whole; /* a uint64_t or int64_t gets a whole number */

#define TALLY_ARG(name, take, type, member) { name, take, offsetof(type, member), 0, 0 }
#define TALLY_ARG_TAKE(name, take) { name, take, 0, 0, 0 }
#define TALLY_ARG_WHOLE(name, type, member, least, most) \
	{ name, tally_arg_whole, offsetof(type, member), least, most }

struct tally_command {
	const char *name;
	/* argv[0] is the command's name. Returns an exit status or TALLY_ARG_HELPED. */
	int (*run)(int argc, char **argv);
	const char *help; /* data/help: a summary, an empty line, and what --help prints */
	/* For tally_args_read(). */
	const struct tally_arg *options;
	size_t n_options;
	tally_arg_take *other; /* takes each option of the help that is none of these; or NULL */
	/* Takes each argument that is not an option. NULL: there are none. */
	const struct tally_arg *operands;
};
/* `options` is an array, `operands` a pointer to a row or NULL. */
#define TALLY_COMMAND(word, function, rows, others) \
	{ \
		.name = #word, .run = function, .help = tally_help_##word, .options = rows, \
		.n_options = G_N_ELEMENTS(rows), .operands = others \
	}

extern const struct tally_command tally_command_run, tally_command_report,
	tally_command_compare, tally_command_bench, tally_command_bisect, tally_command_fleet,
	tally_command_check, tally_command_digest,
	tally_command_counters, tally_command_doctor,
	tally_command_schema, tally_command_trigger, tally_command_export,
	tally_command_config, tally_command_top, tally_command_logs, tally_command_name,
	tally_command_install, tally_command_uninstall,
	tally_command_selftest;
/* Whether `passtally compare` accepts these words: prints an error about those that it does
 * not. Reads no log if two are named. Returns the exit status. */
int tally_compare_check(int argc, char **argv);

/* Returned in place of an exit status after --help was printed. */
#define TALLY_ARG_HELPED (-1)

/* Stores the options and operands of `argv` in `request`. Returns TALLY_EXIT_OK, or
 * TALLY_EXIT_USAGE after printing an error, or TALLY_ARG_HELPED after printing the help. */
int tally_args_read(const struct tally_command *command, int argc, char **argv, void *request);
/* The index of the first "--", or argc. It is never an option's value. */
int tally_args_dashes(int argc, char **argv);

/* Prints --help. */
void tally_command_help(const struct tally_command *command);
/* What the help says of an option, in one line that the caller frees; NULL: it has none. */
char *tally_command_help_of(const struct tally_command *command, const char *option);

/* Prints "passtally COMMAND: MESSAGE" on standard error, as one line. `command` may be NULL. */
void tally_cli_complain(const char *command, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* The same, and then `result`: what a function returns that refuses with a message. */
#define TALLY_FAIL(result, ...) (tally_cli_complain(__VA_ARGS__), (result))
/* Two variants of tally_config_complain: one prints the same with the name of the command, the
 * other nothing. */
void tally_cli_report(void *command, const char *message);
void tally_cli_ignore(void *data, const char *message);
/* Prints "passtally: MESSAGE" on standard error, as one line. */
#define tally_cli_say(...) tally_cli_complain(NULL, __VA_ARGS__)
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
	int64_t began_us, shown_us;
};
/* Nothing is shown in the first `after_ms` milliseconds. */
void tally_progress_begin(struct tally_progress *progress, unsigned after_ms);
/* Whether it is time for a new text (at most five per second). */
bool tally_progress_due(struct tally_progress *progress);
void tally_progress_show(struct tally_progress *progress, const char *format, ...)
	G_GNUC_PRINTF(2, 3);
/* Shows "VERB PATH: N %" for a log that is being read, if it is time for a new text. `done` of
 * `total` bytes were read; 0: their number is not known. */
void tally_progress_read(struct tally_progress *progress, const char *verb, const char *path,
			 uint64_t done, uint64_t total);
void tally_progress_end(struct tally_progress *progress); /* wipes the line */

#endif

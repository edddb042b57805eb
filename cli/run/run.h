/* SPDX-License-Identifier: MIT */
/* cli/run/run.h - the parts of `passtally run`; private to it.
 * One thread.
 */
#ifndef PASSTALLY_CLI_RUN_H
#define PASSTALLY_CLI_RUN_H

#include "cli/shared/cli.h"
#include "layer/config/config.h"

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* ---- options.c: the command line of `passtally run`: the options of a capture, those of
 * the command, and the program with its arguments. */

struct tally_run_request {
	struct tally_config config; /* of the caller, who initialized it */
	bool quiet, live, labels;
	int compress; /* 1 = yes, 0 = no, -1 = not stated */
	char **argv; /* arguments of the program */
};

/* As tally_args_read(). */
int tally_run_options_parse(struct tally_run_request *r, int argc, char **argv);
extern const char tally_run_help[];
void tally_run_print_options(void); /* of --help, to standard output */

/* ---- log.c: the log of a run, as `passtally run` handles it.
 *
 * run chooses the path before the program starts, so that it knows the path afterwards. A
 * program that starts others may leave more logs: each process that finds the path taken
 * writes NAME.PID.jsonl (PATH.PID if the path does not end in .jsonl). */

struct tally_run_log {
	char *path; /* absolute */
	bool by_default; /* the default location, whose folder is created */
	GHashTable *before; /* such files that existed before */
};

/* Chooses the path for a program that starts now; `pid` is %p in it. Returns false after
 * printing an error. */
bool tally_run_log_choose(struct tally_run_log *log, const struct tally_config *config,
			  const char *program, uint64_t started_unix_ns, long pid);
/* Prepares the location: creates the default folder; with `force` removes an old log.
 * Returns TALLY_EXIT_OK, or TALLY_EXIT_USAGE after printing an error, also for a folder that
 * is missing or cannot be written: what the program would render is lost. */
int tally_run_log_prepare(struct tally_run_log *log, bool force);
/* The value of PASSTALLY_LOG for it (a pattern: '%' is doubled); the caller frees it. */
char *tally_run_log_variable(const struct tally_run_log *log);
/* The logs that exist now: paths (char *), freed by the caller. */
GPtrArray *tally_run_log_find(const struct tally_run_log *log);

/* The contents of a log. */
struct tally_run_content {
	bool device, frame; /* at least one */
	bool digest; /* frames have no lines */
};
/* Reads as far as the first frame. */
struct tally_run_content tally_run_log_content(const char *path);
/* Removes from the disk and from the array the logs that contain nothing: neither a device nor
 * a frame, nor a writer. Returns how many. */
unsigned tally_run_log_remove_empty(GPtrArray *logs);

void tally_run_log_finish(struct tally_run_log *log);

/* ---- black_box.c: joins what --black-box left of each log (layer/frame/black_box.h) to
 * one, and adds the logs that were kept, NAME.kept-1.jsonl. Errors are printed, and unless `quiet`
 * which pass began last, if the program was killed. */
void tally_run_join(GPtrArray *logs, bool quiet);

/* ---- launch.c: starts a program as a child process, as transparently as if it had been
 * started directly.
 *
 * The child stays in our process group, so the terminal's signals and job control reach it
 * directly: SIGINT and SIGQUIT are ignored here while it runs. SIGTERM, SIGHUP, SIGUSR1 and
 * SIGUSR2 sent to us are passed on. Its standard streams are untouched, unless `output` is
 * set. One program at a time; one thread. */

struct tally_launch {
	pid_t pid; /* -1: no process could be made */
	int status; /* as waitpid(2) sets it, once the child has ended */
};

/* Executes argv[0] (searched for in PATH) in this process's environment. `output`: a file that
 * receives what the program would write to a terminal; it then reads nothing from a terminal.
 * NULL: its streams are left alone. Returns 0, or the errno of what failed; there is no child
 * then. */
int tally_launch_start(struct tally_launch *launch, char *const *argv, const char *output);

/* Starts a process that has the terminal and calls `show`, until the program has ended or later. */
void tally_launch_show(void (*show)(const struct tally_launch *, const void *),
		       const struct tally_launch *launch, const void *data);
/* Waits for the end of the program. */
void tally_launch_wait(struct tally_launch *launch);
/* Waits for the end of what shows it, ending that unless it may `stay`. Afterwards the previous
 * signal actions are restored. */
void tally_launch_finish(bool stay);

/* The exit status to pass on; does not return if the program was killed by a signal that can
 * also kill this process (which then dies of it, without a second core file). */
int tally_launch_leave(const struct tally_launch *launch);

/* ---- live.c: `passtally run --live`: the live view, shown while the program runs.
 *
 * The view owns the terminal: program output that would go there goes to a file next to the
 * log, and program input from there is empty. Streams that are already redirected stay
 * unchanged. */

/* Whether there is a terminal for it. Returns false after printing an error. */
bool tally_run_live_check(void);
/* Creates the file for the program's output; returns its path, which the caller frees with
 * g_free(). It is /dev/null, after printing an error, if no file can be created. */
char *tally_run_live_make_output(const char *log_path);
struct tally_run_view {
	const char *log;
	bool quiet;
};
/* For tally_launch_show(), with a view: shows the log until the user leaves it, and then says so
 * if the program is still running. */
void tally_run_live_show(const struct tally_launch *launch, const void *view);
/* Prints where the output is; an empty file is removed. */
void tally_run_live_print_output(const char *path, bool quiet);

/* ---- messages.c: the messages of `passtally run` on standard error, during and after the
 * program.
 *
 * No function fails: files that cannot be read are reported as such. */

/* Lines of the status file, without duplicates: "level: source: message" (char *); the
 * caller frees them. */
GPtrArray *tally_run_status_read(const char *path);
/* Whether one of the lines is an error. */
bool tally_run_status_has_error(const GPtrArray *lines);

/* Prints the summary of the logs that a run left, and the messages of its status file. */
void tally_run_print_summary(const GPtrArray *logs, const GPtrArray *status);
/* Whether a process runs that inherited this status file: the program ended before what it started,
 * as launchers do. */
bool tally_run_goes_on(const char *status);
/* Prints possible reasons why nothing was captured. `program` is the name that the user
 * gave. */
void tally_run_explain_nothing(const char *program, const char *library);
/* Reports, if it is so, that the program that was started is one that the capture leaves
 * alone. */
void tally_run_explain_blocked(const struct tally_config *config, const char *program,
			       char *const *argv, const GPtrArray *status);

struct tally_run_ended {
	char *const *argv; /* of the program */
	int status; /* as waitpid(2) sets it */
	bool captured; /* false: the capture was switched off, so it is out of the question */
	bool frame; /* a log of the run has a frame, or may lack existing ones */
};

/* Prints a line if the program was ended by a signal or has an exit status other than 0, and,
 * where the capture could be the reason (after a fault, or an end before the first frame), how
 * to find out which is at fault. */
void tally_run_print_ended(const struct tally_run_ended *e);

#endif

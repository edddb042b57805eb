/* SPDX-License-Identifier: MIT */
#include "cli/install/injected.h"
#include "cli/install/vk_manifest.h"
#include "cli/log/compress.h"
#include "cli/log/folder.h"
#include "cli/control/client.h"
#include "cli/install/inject.h"
#include "cli/install/run_folder.h"
#include "cli/machine/wanted.h"
#include "cli/run/black_box.h"
#include "cli/run/launch.h"
#include "cli/run/live.h"
#include "cli/run/log.h"
#include "cli/run/messages.h"
#include "cli/shared/cli.h"
#include "cli/shared/text.h"
#include "layer/config/config.h"
#include "layer/config/load.h"
#include "layer/config/options.h"
#include "layer/session/process.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
	struct tally_config config; /* of the caller, who initialized it */
	bool quiet, live, labels;
	int compress; /* 1 = yes, 0 = no, -1 = not stated */
	char **argv; /* arguments of the program */
};

/* The libraries that programs get. */
struct to_inject {
	struct tally_injected gl;
	struct tally_vk_manifest vk;
};

/* The name for files and logs: if the program is Wine, the name of the .exe after Wine's own
 * arguments. */
static const char *
program_of(const struct request *r)
{
	const char *const *argv = (const char *const *)r->argv;
	return argv[tally_process_named_by(argv, g_strv_length(r->argv))];
}

/* Found by name: the table that tally_option_find() points into belongs to the core library,
 * and the command's may be a copy of it, so the difference of two pointers is not an index. */
static enum tally_config_origin
origin_of(const struct tally_config *config, const char *key)
{
	for (size_t i = 0; i < tally_n_options; i++)
		if (strcmp(tally_options[i].key, key) == 0)
			return config->origin[i];
	return TALLY_FROM_DEFAULT;
}

/* Sets a socket for `passtally trigger`, unless an option says otherwise. A path given on
 * the command line is relative to the current folder, so it is made absolute in case a
 * launcher changes folders. */
static bool
choose_control(struct request *r)
{
	char why[512] = "";
	const char *said = r->config.control;
	if (said && (origin_of(&r->config, "control") < TALLY_FROM_COMMAND_LINE ||
		     strcmp(said, "off") == 0))
		return true;
	g_autofree char *pattern = said ? g_canonicalize_filename(said, NULL)
					: tally_control_pattern(why, sizeof(why));
	if (!pattern) {
		if (!r->quiet)
			tally_cli_complain(
				"run", "passtally trigger will not reach the program: %s",
				why);
		return true;
	}
	return tally_config_set(&r->config, "control", pattern, TALLY_FROM_COMMAND_LINE,
				tally_cli_report, (void *)"run");
}

/* The options for the capture: those of the command line and of PASSTALLY_OPTIONS, joined.
 * `force` is not passed on: an old log is removed by then, and processes of one run must not
 * replace each other's. */
static char *
options_variable(const struct tally_config *config)
{
	GString *text = g_string_new("force=off");
	for (size_t i = 0; i < tally_n_options; i++) {
		const struct tally_option *o = &tally_options[i];
		if (config->origin[i] < TALLY_FROM_ENVIRONMENT || strcmp(o->key, "log") == 0 ||
		    strcmp(o->key, "force") == 0)
			continue;
		size_t len = tally_option_get(o, config, NULL, 0);
		g_autofree char *value = g_malloc(len + 1);
		tally_option_get(o, config, value, len + 1);
		tally_inject_option(text, o->key, value);
	}
	return g_string_free(text, FALSE);
}

/* Sets the program's environment except PASSTALLY_LOG. */
static bool
set_environment(const struct request *r, const struct to_inject *in,
		const struct tally_run_folder *f)
{
	g_autofree char *options = options_variable(&r->config);
	char **env = g_get_environ();
	if (!tally_inject_gl(&env, &in->gl, f) || !tally_inject_vulkan(&env, &in->vk, f)) {
		g_strfreev(env);
		return false;
	}
	if (r->labels)
		tally_inject_labels(&env);
	env = g_environ_setenv(env, "PASSTALLY_OPTIONS", options, TRUE);
	environ = g_environ_setenv(env, "PASSTALLY_STATUS", f->status, TRUE);
	return true;
}

/* Prints only errors, for --quiet. */
static void
print_errors(const GPtrArray *status)
{
	for (guint i = 0; i < status->len; i++)
		if (g_str_has_prefix(g_ptr_array_index(status, i), "error: "))
			tally_cli_say("%s", (const char *)g_ptr_array_index(status, i));
}

/* A log that cannot be compressed stays usable: the program's status is not changed. */
static void
compress_logs(const struct request *r, GPtrArray *logs)
{
	for (guint i = 0; r->compress && i < logs->len; i++) {
		char *path = g_ptr_array_index(logs, i);
		if (!tally_compress_log("run", path, r->config.force))
			continue;
		logs->pdata[i] = g_strconcat(path, ".zst", NULL);
		g_free(path);
	}
}

static void
print_ended(const struct request *r, const GPtrArray *logs, int wait_status,
	   bool captured)
{
	struct tally_run_ended ended = {
		.argv = r->argv,
		.status = wait_status,
		.captured = captured,
		/* A capture that starts late has no information about earlier frames, a digest
		 * that is cut none at all. */
		.frame = r->config.skip || r->config.digest ||
			 r->config.start_on.kind != TALLY_TRIGGER_NONE,
	};
	for (guint i = 0; i < logs->len && !ended.frame && wait_status; i++)
		ended.frame = tally_run_log_content(g_ptr_array_index(logs, i)).frame;
	tally_run_print_ended(&ended);
}

static void
explain_no_log(const struct request *r, const struct tally_run_log *log,
	       const struct tally_run_folder *f, const struct to_inject *in,
	       const GPtrArray *status)
{
	if (tally_run_goes_on(f->status)) {
		g_autofree char *shown = tally_text_path(log->path);
		tally_cli_say("nothing was rendered so far: what %s started still runs; "
			      "if it renders, its log will be %s",
			      r->argv[0], shown);
		return;
	}
	tally_cli_say("nothing was rendered, or nothing that could be seen: %s; there is no log",
		      r->argv[0]);
	tally_run_explain_nothing(r->argv[0], &in->gl);
	tally_run_explain_blocked(&r->config, program_of(r), r->argv, status);
}

static void
conclude(const struct request *r, const struct tally_run_log *log,
     const struct tally_run_folder *f, const struct to_inject *in, int wait_status)
{
	g_autoptr(GPtrArray) status = tally_run_status_read(f->status);
	g_autoptr(GPtrArray) logs = tally_run_log_find(log);
	if (r->config.black_box_ns)
		tally_run_join(logs, r->quiet);
	bool disabled = g_getenv("PASSTALLY_DISABLE") != NULL;
	unsigned empty = log->by_default ? tally_run_log_remove_empty(logs) : 0;
	if (!r->quiet)
		print_ended(r, logs, wait_status, !disabled);
	if (empty && logs->len && !r->quiet)
		tally_cli_say("%u log%s without a device or a frame removed", empty,
			      TALLY_S(empty));
	if (r->quiet)
		print_errors(status);
	if (logs->len == 0 && !disabled && !r->quiet && !tally_run_status_has_error(status))
		explain_no_log(r, log, f, in, status);
	compress_logs(r, logs);
	if (disabled && !r->quiet)
		tally_cli_say("PASSTALLY_DISABLE is set: nothing was captured");
	if (!in->vk.library && !r->quiet)
		tally_cli_say("the Vulkan layer is not installed beside the command: "
			      "only OpenGL was captured");
	if (!r->quiet)
		tally_run_print_summary(logs, status);
}

/* Makes room in the default folder. */
static void
keep_quota(const struct request *r, const struct tally_run_log *log)
{
	if (!log->by_default || !r->config.log_quota)
		return;
	unsigned n;
	uint64_t bytes;
	g_autofree char *folder = g_path_get_dirname(log->path);
	tally_folder_trim(folder, r->config.log_quota, &n, &bytes);
	if (n && !r->quiet)
		tally_cli_say("the %u oldest log%s (%.1f MB) in %s removed: they were "
			      "over --log-quota",
			      n, TALLY_S(n), (double)bytes / 1e6, folder);
}

/* What an earlier run left that was itself killed. False, after printing an error: there
 * is something, and no --force. */
static bool
clear_black_box(const struct request *r, const struct tally_run_log *log)
{
	static const char *const ends[] = { ".before", ".now", ".last" };
	for (size_t i = 0; r->config.black_box_ns && i < G_N_ELEMENTS(ends); i++) {
		g_autofree char *path = g_strconcat(log->path, ends[i], NULL);
		bool gone = r->config.force && unlink(path) == 0;
		if (!gone && g_file_test(path, G_FILE_TEST_EXISTS))
			return TALLY_FAIL(false, "run", "%s exists: --force replaces it",
					  path);
	}
	return true;
}

/* Returns TALLY_EXIT_OK, or TALLY_EXIT_USAGE after printing an error: the final name of the
 * log must be free too. */
static int
prepare_log(const struct request *r, struct tally_run_log *log)
{
	if (r->config.log && strcmp(r->config.log, "-") == 0)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "run",
				  "standard output is the program's: name a file for the "
				  "log with --log PATH (./- for one named -)");
	if (!clear_black_box(r, log))
		return TALLY_EXIT_USAGE;
	keep_quota(r, log);
	g_autofree char *packed = r->compress && !r->config.force
					  ? g_strconcat(log->path, ".zst", NULL)
					  : NULL;
	bool taken = packed && g_file_test(packed, G_FILE_TEST_EXISTS);
	if (taken)
		tally_cli_complain(
			"run",
			"the compressed log %s exists: --force replaces it, --log PATH "
			"names another (%%t and %%p in it stand for time and process)",
			packed);
	return taken ? TALLY_EXIT_USAGE : tally_run_log_prepare(log, r->config.force);
}

static void
wait_for(const struct request *r, struct tally_launch *launch, const char *log)
{
	const struct tally_run_view view = { log, r->quiet };
	if (r->live)
		tally_launch_show(tally_run_live_show, launch, &view);
	tally_launch_wait(launch);
	/* Of a program that renders nothing there is nothing to see. */
	tally_launch_finish(g_file_test(log, G_FILE_TEST_EXISTS));
	g_ptr_array_unref(tally_control_list(0)); /* a game that was killed leaves its socket */
}

static int
run_program(const struct request *r, const struct to_inject *in,
	    struct tally_run_folder *f)
{
	struct tally_launch launch;
	struct tally_run_log log;
	int status = TALLY_EXIT_FAILED;
	/* An old log is not removed for a program that cannot start; exec reports why it
	 * cannot. */
	g_autofree char *found = g_find_program_in_path(r->argv[0]);
	if (tally_run_log_choose(&log, &r->config, program_of(r),
				 (uint64_t)g_get_real_time() * 1000, getpid()))
		status = found ? prepare_log(r, &log) : TALLY_EXIT_OK;
	if (status != TALLY_EXIT_OK) {
		tally_run_log_finish(&log);
		return status;
	}
	g_autofree char *output = r->live ? tally_run_live_make_output(log.path) : NULL;
	g_autofree char *variable = tally_run_log_variable(&log);
	g_setenv("PASSTALLY_LOG", variable, TRUE);
	int error = tally_launch_start(&launch, r->argv, output);
	if (error) {
		tally_cli_complain("run", "%s: %s", r->argv[0], g_strerror(error));
		if (output)
			tally_run_live_print_output(output, true);
		tally_run_log_finish(&log);
		return launch.pid < 0	 ? TALLY_EXIT_FAILED
		       : error == ENOENT ? TALLY_EXIT_NOT_FOUND
					 : TALLY_EXIT_NOT_EXECUTABLE;
	}
	wait_for(r, &launch, log.path);
	/* returning the status matters more than printing the summary, or compressing */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	conclude(r, &log, f, in, launch.status);
	if (output)
		tally_run_live_print_output(output, r->quiet);
	tally_run_log_finish(&log);
	tally_run_folder_remove(f);
	fflush(stderr);
	return tally_launch_leave(&launch);
}

static int
start(struct request *r)
{
	if (!tally_config_load(&r->config, program_of(r), tally_cli_report, (void *)"run"))
		return TALLY_EXIT_USAGE;
	if (!tally_wanted_check(&r->config, tally_cli_report, (void *)"run"))
		return TALLY_EXIT_USAGE;
	if (r->compress < 0)
		r->compress = !r->config.log;
	if (r->config.digest && r->config.black_box_ns)
		return TALLY_FAIL(TALLY_EXIT_USAGE, "run",
				  "--digest writes no frames, and --black-box keeps "
				  "frames: use one of them");
	if (r->live && (r->config.black_box_ns || r->config.digest))
		return TALLY_FAIL(TALLY_EXIT_USAGE, "run",
				  "--live shows the log, and with --%s that has no "
				  "frames while the program runs",
				  r->config.digest ? "digest" : "black-box");
	if (!choose_control(r) || (r->live && !tally_run_live_check()))
		return TALLY_EXIT_USAGE;
	struct to_inject in;
	tally_injected_find(&in.gl);
	tally_vk_manifest_find(&in.vk);
	int status = TALLY_EXIT_FAILED;
	if (!in.gl.path) {
		char **tried = (char **)in.gl.tried->pdata;
		tally_cli_complain("run",
				   "libpasstally_gl.so was not found; looked for %s "
				   "first: is all of passtally installed?",
				   tried[0]);
	} else {
		struct tally_run_folder folder;
		if (tally_run_folder_create(&folder, "run") && set_environment(r, &in, &folder))
			status = run_program(r, &in, &folder);
		tally_run_folder_remove(&folder);
	}
	tally_vk_manifest_finish(&in.vk);
	tally_injected_finish(&in.gl);
	return status;
}

/* ---- the command line ---- */

static bool
take_compress(const char *command, const struct tally_arg *arg, void *to,
	      const char *value)
{
	struct request *r = to;
	(void)command, (void)value;
	r->compress = arg->name[0] == 'c';
	return true;
}

static bool
take_config(const char *command, const struct tally_arg *arg, void *to, const char *value)
{
	struct request *r = to;
	return tally_config_set(&r->config, arg->name, value, TALLY_FROM_COMMAND_LINE,
				tally_cli_report, (void *)command);
}

/* The options of a capture are tally_options[]. */
static const struct tally_arg options[] = {
	TALLY_ARG("quiet", tally_arg_flag, struct request, quiet),
	TALLY_ARG("live", tally_arg_flag, struct request, live),
	TALLY_ARG("labels", tally_arg_flag, struct request, labels),
	TALLY_ARG_TAKE("compress", take_compress),
	TALLY_ARG_TAKE("no-compress", take_compress),
};
static const struct tally_arg program = { .at = offsetof(struct request, argv) };

static int
run(int argc, char **argv)
{
	struct request r = { .compress = -1 };
	tally_config_init(&r.config);
	int status = tally_args_read(&tally_command_run, argc, argv, &r);
	if (status == TALLY_EXIT_OK && !r.argv)
		status = TALLY_FAIL(TALLY_EXIT_USAGE, "run",
				    "no program named: passtally run [options] -- PROGRAM");
	if (status == TALLY_EXIT_OK)
		status = start(&r);
	tally_config_finish(&r.config);
	return status;
}

const struct tally_command tally_command_run = {
	.name = "run",
	.run = run,
	.help = tally_help_run,
	.options = options,
	.n_options = G_N_ELEMENTS(options),
	.other = take_config,
	.operands = &program,
};

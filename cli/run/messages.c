/* SPDX-License-Identifier: MIT */
#include "cli/run/messages.h"

#include "cli/install/elf_file.h"
#include "cli/log/folder.h"
#include "cli/log/grouping.h"
#include "cli/report/summary.h"
#include "cli/run/log.h"
#include "cli/shared/each.h"
#include "cli/shared/text.h"
#include "layer/session/block.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

GPtrArray *
tally_run_status_read(const char *path)
{
	enum { MOST_LINES = 200 };
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *text = NULL;
	if (!g_file_get_contents(path, &text, NULL, NULL))
		return lines;
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	g_auto(GStrv) all = g_strsplit(text, "\n", -1);
	for (char **p = all; *p && lines->len < MOST_LINES; p++) {
		if (**p && g_hash_table_add(seen, *p))
			g_ptr_array_add(lines, g_strdup(*p));
	}
	return lines;
}

bool
tally_run_status_has_error(const GPtrArray *lines)
{
	for (guint i = 0; i < lines->len; i++)
		if (g_str_has_prefix(g_ptr_array_index(lines, i), "error: "))
			return true;
	return false;
}

/* The notes of a log have no level prefix: a note that the status file contains must not be
 * printed twice. False: it was. */
static bool
mark_printed(GHashTable *printed, const char *line)
{
	const char *message = strstr(line, ": ");
	return g_hash_table_add(printed,
				g_strconcat("note: ", message ? message + 2 : line, NULL));
}

/* Errors are printed first, other messages after the answer. */
static void
print_status(const GPtrArray *status, bool informs, GHashTable *printed)
{
	TALLY_EACH (const char, line, status)
		if (g_str_has_prefix(line, "info: ") == informs && mark_printed(printed, line))
			tally_cli_say("%s", line);
}

static bool
has_frames(const struct tally_aggregate *a)
{
	TALLY_EACH (const struct tally_device_summary, device, a->devices)
		if (device->seen)
			return true;
	return false;
}

/* The log of what a black box kept last of this run; NULL: of nothing. */
static const char *
find_kept(const char *path, const GPtrArray *logs)
{
	g_autofree char *stem = tally_folder_stem(path),
			*kept = g_strconcat(stem, ".kept-", NULL);
	const char *last = NULL;
	for (guint i = 0; i < logs->len; i++)
		if (g_str_has_prefix(g_ptr_array_index(logs, i), kept))
			last = g_ptr_array_index(logs, i);
	return last;
}

/* Where the log is the newest of the default folder, the command needs no path. */
static void
print_next(const char *path, const char *shown, const GPtrArray *logs)
{
	bool newest = logs->len == 1 && tally_folder_holds(path);
	tally_text_print_line(stderr, "next: passtally report --html%s%s",
			      newest ? "" : " ", newest ? "" : shown);
}

static void
print_log(const char *path, const GPtrArray *logs, GHashTable *printed)
{
	struct tally_aggregate a = { 0 };
	struct tally_answer *answer = tally_answer_create(&a);
	struct tally_run_content content = tally_run_log_content(path);
	const char *kept = content.frame ? NULL : find_kept(path, logs);
	g_autofree char *shown = tally_text_path(path);
	if (content.digest) {
		tally_cli_say("digest %s%s", shown,
			      content.frame ? "" : ": no frame is in it; it is written when the "
						   "program ends by itself");
		goto finish;
	}
	tally_cli_say("log %s", shown);
	if (kept) {
		g_autofree char *there = tally_text_path(kept);
		tally_cli_say("its frames are in %s", there);
		goto finish;
	}
	if (tally_aggregate_read_watched(&a, "run", path, &tally_by_pass, TALLY_WARMUP_AUTO,
					 tally_answer_watch(answer), false) == TALLY_EXIT_OK) {
		tally_answer_conclude(answer);
		tally_summary_print(stderr, &a, answer, -1, false);
		tally_summary_print_notes(stderr, &a, printed);
		if (has_frames(&a))
			print_next(path, shown, logs);
	}
finish:
	tally_answer_destroy(answer);
	tally_aggregate_finish(&a);
}

void
tally_run_print_summary(const GPtrArray *logs, const GPtrArray *status)
{
	g_autoptr(GHashTable) printed =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	print_status(status, false, printed);
	for (guint i = 0; i < logs->len; i++)
		print_log(g_ptr_array_index(logs, i), logs, printed);
	print_status(status, true, printed);
}

bool
tally_run_goes_on(const char *status)
{
	g_autofree char *ours = g_strconcat("PASSTALLY_STATUS=", status, NULL);
	g_autoptr(GDir) dir = g_dir_open("/proc", 0, NULL);
	const char *name;
	bool found = false;
	while (dir && !found && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename("/proc", name, "environ", NULL);
		g_autofree char *text = NULL;
		size_t len = 0;
		if (g_ascii_isdigit(*name))
			g_file_get_contents(path, &text, &len, NULL);
		for (size_t at = 0; at < len && !found; at += strlen(text + at) + 1)
			found = strcmp(text + at, ours) == 0;
	}
	return found;
}

static bool
same_machine(const struct tally_elf_file *a, const struct tally_elf_file *b)
{
	return a->bits == b->bits && a->machine == b->machine;
}

/* A program for which the library was not preloaded, though there may be one for it. */
static void
explain_machine(const char *program, const struct tally_elf_file *file,
		const struct tally_injected *in)
{
	struct tally_elf_file ours = tally_elf_file_read(in->path);
	g_autofree char *theirs = g_strdup(tally_elf_machine_name(file));
	bool there = false;
	TALLY_EACH (const char, path, in->others) {
		struct tally_elf_file other = tally_elf_file_read(path);
		there |= same_machine(&other, file);
	}
	if (!there)
		tally_cli_say("%s is a program for %s, the library is for %s: install "
			      "passtally for %s too",
			      program, theirs, tally_elf_machine_name(&ours), theirs);
	else if (!in->preload || !strstr(in->preload, "$LIB"))
		tally_cli_say("%s is a program for %s, and only those for %s are "
			      "captured here: passtally doctor says why",
			      program, theirs, tally_elf_machine_name(&ours));
}

void
tally_run_explain_nothing(const char *program, const struct tally_injected *in)
{
	g_autofree char *path = g_find_program_in_path(program);
	struct tally_elf_file file = tally_elf_file_read(path ? path : program);
	struct tally_elf_file ours = tally_elf_file_read(in->path);
	if (file.privileged)
		tally_cli_say("%s runs with privileges of its own (set-user-ID or file "
			      "capabilities), so the system preloads nothing into it: "
			      "run a copy without them",
			      program);
	else if (file.elf && !file.dynamic)
		tally_cli_say("%s is linked statically, so nothing can be preloaded "
			      "into it",
			      program);
	else if (file.elf && !same_machine(&file, &ours))
		explain_machine(program, &file, in);
}

void
tally_run_explain_blocked(const struct tally_config *config, const char *program,
			  char *const *argv, const GPtrArray *status)
{
	for (guint i = 0; i < status->len; i++)
		if (strstr(g_ptr_array_index(status, i), " is left alone: "))
			return; /* the capture has reported this itself */
	struct tally_block_verdict v = tally_block_decide(
		config, program, (const char *const *)argv, g_strv_length((char **)argv));
	const char *reason = v.entry ? v.entry->reason : "the option block names it";
	if (v.blocked && strstr(reason, "sandbox"))
		tally_cli_say("%s %s: what runs in it is captured where passtally's libraries are "
			      "visible inside, at the same path (bind their folder into "
			      "it: docs/limits.md)",
			      v.name, reason);
	else if (v.blocked)
		tally_cli_say("%s is left alone (%s), what it starts is not: to capture "
			      "it too, say --allow %s",
			      v.name, reason, v.name);
}

/* How the program ended */

/* Signals that a program raises by an error, its own or that of a library in it. */
static const int faults[] = { SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP };

static bool
is_fault(int sig)
{
	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++)
		if (faults[i] == sig)
			return true;
	return false;
}

/* What ends most programs before their first frame. */
static void
print_no_display(void)
{
	const char *x = g_getenv("DISPLAY"), *wayland = g_getenv("WAYLAND_DISPLAY");
	if ((!x || !*x) && (!wayland || !*wayland))
		tally_cli_say("neither DISPLAY nor WAYLAND_DISPLAY is set, and a window "
			      "needs a display: xvfb-run passtally run -- PROGRAM");
	else
		tally_cli_say("if it could not open its display: `passtally doctor` tests that");
}

static void
print_try(const struct tally_run_ended *e)
{
	g_autoptr(GString) line = g_string_new(NULL);
	for (char *const *arg = e->argv; *arg; arg++) {
		g_autofree char *word = tally_text_word(*arg);
		g_string_append_printf(line, " %s", word);
	}
	tally_cli_say("try: PASSTALLY_DISABLE=1 passtally run --%s", line->str);
	tally_cli_say("if that works it is passtally's fault: please report it");
}

/* What the log has of a program that ended so. */
static const char *
what_there_is(const struct tally_run_ended *e)
{
	if (!e->captured)
		return "";
	if (!e->frame)
		return " before its first frame";
	return WIFSIGNALED(e->status) ? "; its last frames are missing in the log" : "";
}

void
tally_run_print_ended(const struct tally_run_ended *e)
{
	const char *when = what_there_is(e);
	const char *program = e->argv[0];
	int sig = WIFSIGNALED(e->status) ? WTERMSIG(e->status) : 0;
	int exit_status = sig ? 0 : WEXITSTATUS(e->status);
	if (!sig && !exit_status)
		return;
	/* Shells and launchers end with 128 + N for a signal that ended the program that they
	 * started. */
	bool relayed = !sig && exit_status > 128 && exit_status - 128 < SIGRTMIN;
	int inner = relayed ? exit_status - 128 : sig;
	if (sig)
		tally_cli_say("%s was ended by signal %d (%s)%s", program, sig,
			      g_strsignal(sig), when);
	else if (relayed)
		tally_cli_say("%s ended with status %d%s, as for a program that signal "
			      "%d (%s) ended",
			      program, exit_status, when, inner, g_strsignal(inner));
	else
		tally_cli_say("%s ended with status %d%s", program, exit_status, when);
	if (e->captured && !e->frame && !inner)
		print_no_display();
	if (e->captured && (is_fault(inner) || (!e->frame && !inner)))
		print_try(e);
}

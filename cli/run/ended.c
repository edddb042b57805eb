/* SPDX-License-Identifier: MIT */
#include "cli/run/ended.h"

#include "cli/shared/cli.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* Signals that a program raises by a mistake, its own or that of a library in it. */
static const int faults[] = { SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSYS, SIGTRAP };

static bool
is_fault(int sig)
{
	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++)
		if (faults[i] == sig)
			return true;
	return false;
}

/* Without "SIG"; NULL for a signal without a name of its own. sigabbrev_np() is too new for
 * older C libraries. */
static const char *
signal_name(int sig)
{
	static const struct {
		int sig;
		const char *name;
	} names[] = {
		{ SIGHUP, "HUP" },   { SIGINT, "INT" },	  { SIGQUIT, "QUIT" }, { SIGILL, "ILL" },
		{ SIGTRAP, "TRAP" }, { SIGABRT, "ABRT" }, { SIGBUS, "BUS" },   { SIGFPE, "FPE" },
		{ SIGKILL, "KILL" }, { SIGUSR1, "USR1" }, { SIGSEGV, "SEGV" }, { SIGUSR2, "USR2" },
		{ SIGPIPE, "PIPE" }, { SIGALRM, "ALRM" }, { SIGTERM, "TERM" }, { SIGXCPU, "XCPU" },
		{ SIGXFSZ, "XFSZ" }, { SIGSYS, "SYS" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (names[i].sig == sig)
			return names[i].name;
	return NULL;
}

/* "11 (SIGSEGV)"; the caller frees it. */
static char *
signal_text(int sig)
{
	const char *name = signal_name(sig);
	return name ? g_strdup_printf("%d (SIG%s)", sig, name) : g_strdup_printf("%d", sig);
}

static void
print_try(const struct tally_run_ended *e)
{
	g_autoptr(GString) line = g_string_new(NULL);
	for (char *const *arg = e->argv; *arg; arg++) {
		g_autofree char *quoted = g_shell_quote(*arg);
		bool plain = (*arg)[strcspn(*arg, " '\"\\$`*?[]{}()<>|&;#~!\t\n")] == '\0' && **arg;
		g_string_append_printf(line, " %s", plain ? *arg : quoted);
	}
	tally_cli_say("try: PASSTALLY_DISABLE=1 passtally run --%s", line->str);
	tally_cli_say("if that works it is passtally's fault: please report it");
}

/* Shells and launchers end with 128 + N for a signal that ended what they started. */
static int
signal_in(int exit_status)
{
	int sig = exit_status - 128;
	return sig > 0 && signal_name(sig) ? sig : 0;
}

void
tally_run_print_ended(const struct tally_run_ended *e)
{
	const char *when = e->captured && !e->frame ? " before its first frame" : "";
	const char *program = e->argv[0];
	int sig = WIFSIGNALED(e->status) ? WTERMSIG(e->status) : 0;
	int exit_status = sig ? 0 : WEXITSTATUS(e->status);
	if (!sig && !exit_status)
		return;
	int inner = sig ? sig : signal_in(exit_status);
	g_autofree char *text = signal_text(inner);
	if (sig)
		tally_cli_say("%s was ended by signal %s%s", program, text, when);
	else if (inner)
		tally_cli_say("%s ended with status %d%s, as for a program that signal %s ended",
			      program, exit_status, when, text);
	else
		tally_cli_say("%s ended with status %d%s", program, exit_status, when);
	if (e->captured && (is_fault(inner) || (!e->frame && !inner)))
		print_try(e);
}

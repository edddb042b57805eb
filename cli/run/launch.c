/* SPDX-License-Identifier: MIT */
#include "cli/run/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const int forwarded[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
static const int ignored[] = { SIGINT, SIGQUIT, SIGPIPE };
#define N_FORWARDED (sizeof(forwarded) / sizeof(forwarded[0]))
#define N_IGNORED (sizeof(ignored) / sizeof(ignored[0]))

/* The previous signal actions, restored in the child and at the end. */
static struct sigaction before_forwarded[N_FORWARDED], before_ignored[N_IGNORED], before_child;
static sigset_t before_mask;
static volatile pid_t child, view; /* 0 = no process to forward to */

static void
forward(int sig)
{
	int saved = errno;
	if (child > 0)
		kill(child, sig);
	if (view > 0 && (sig == SIGTERM || sig == SIGHUP))
		kill(view, sig);
	errno = saved;
}

static void
block_forwarded(sigset_t *before)
{
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < N_FORWARDED; i++)
		sigaddset(&set, forwarded[i]);
	sigprocmask(SIG_BLOCK, &set, before);
}

static void
take_signals(void)
{
	for (size_t i = 0; i < N_IGNORED; i++) {
		struct sigaction ignore = { .sa_handler = SIG_IGN };
		sigaction(ignored[i], &ignore, &before_ignored[i]);
	}
	for (size_t i = 0; i < N_FORWARDED; i++) {
		struct sigaction pass = { .sa_handler = forward, .sa_flags = SA_RESTART };
		sigaction(forwarded[i], NULL, &before_forwarded[i]);
		/* A signal that is ignored for us (nohup) is ignored for the program too. */
		if (before_forwarded[i].sa_handler != SIG_IGN)
			sigaction(forwarded[i], &pass, NULL);
	}
	/* If SIGCHLD were ignored, the kernel would discard the program's status. */
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigaction(SIGCHLD, &plain, &before_child);
}

static void
give_signals_back(void)
{
	for (size_t i = 0; i < N_IGNORED; i++)
		sigaction(ignored[i], &before_ignored[i], NULL);
	for (size_t i = 0; i < N_FORWARDED; i++)
		sigaction(forwarded[i], &before_forwarded[i], NULL);
	sigaction(SIGCHLD, &before_child, NULL);
}

/* The terminal belongs to the live view: output that would go there goes to a file. */
static void
leave_terminal(const char *output)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (!isatty(fd))
			continue;
		int to = fd == 0 ? open("/dev/null", O_RDONLY)
				 : open(output, O_WRONLY | O_APPEND);
		if (to < 0)
			to = open("/dev/null", O_RDWR);
		if (to < 0)
			continue;
		dup2(to, fd);
		close(to);
	}
}

static _Noreturn void
become(char *const *argv, const char *output, int error)
{
	if (output)
		leave_terminal(output);
	give_signals_back();
	sigprocmask(SIG_SETMASK, &before_mask, NULL);
	execvp(argv[0], argv);
	int why = errno;
	while (write(error, &why, sizeof(why)) < 0 && errno == EINTR)
		;
	_exit(why == ENOENT ? 127 : 126);
}

void
tally_launch_wait(struct tally_launch *launch)
{
	/* Not after the child is reaped: its process ID may belong to another process by
	 * then. */
	siginfo_t info;
	while (waitid(P_PID, (id_t)launch->pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	block_forwarded(NULL);
	child = 0;
	while (waitpid(launch->pid, &launch->status, 0) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, &before_mask, NULL);
}

int
tally_launch_start(struct tally_launch *launch, char *const *argv, const char *output)
{
	*launch = (struct tally_launch){ .pid = -1 };
	int error[2], why = 0;
	if (pipe2(error, O_CLOEXEC) < 0)
		return errno;
	block_forwarded(&before_mask);
	take_signals();
	/* The child changes its own signals and descriptors, and executes: no page is copied. */
	pid_t pid = vfork();
	if (pid == 0)
		become(argv, output, error[1]);
	if (pid < 0)
		why = errno;
	launch->pid = child = pid;
	close(error[1]);
	/* Nothing comes if the program was executed. */
	while (pid > 0 && read(error[0], &why, sizeof(why)) < 0 && errno == EINTR)
		;
	close(error[0]);
	if (pid > 0 && why)
		tally_launch_wait(launch);
	if (why)
		give_signals_back();
	sigprocmask(SIG_SETMASK, &before_mask, NULL);
	return why;
}

void
tally_launch_show(void (*show)(const struct tally_launch *, const void *),
		  const struct tally_launch *launch, const void *data)
{
	fflush(NULL);
	view = fork();
	if (view != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	give_signals_back();
	show(launch, data);
	fflush(NULL);
	_exit(0);
}

void
tally_launch_finish(bool stay)
{
	if (view > 0 && !stay)
		kill(view, SIGTERM);
	while (view > 0 && waitpid(view, NULL, 0) < 0 && errno == EINTR)
		;
	view = 0;
	give_signals_back();
}

int
tally_launch_leave(const struct tally_launch *launch)
{
	if (WIFEXITED(launch->status))
		return WEXITSTATUS(launch->status);
	int sig = WTERMSIG(launch->status);
	struct rlimit no_core = { 0, 0 };
	setrlimit(RLIMIT_CORE, &no_core);
	/* RLIMIT_CORE has no effect on a piped core_pattern */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	struct sigaction die = { .sa_handler = SIG_DFL };
	sigaction(sig, &die, NULL);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
	return 128 + sig; /* a signal that does not kill this process */
}

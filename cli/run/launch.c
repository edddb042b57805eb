/* SPDX-License-Identifier: MIT */
#include "cli/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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
static volatile pid_t child; /* 0 = no process to forward to */

static void
forward(int sig)
{
	int saved = errno;
	if (child > 0)
		kill(child, sig);
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

/* The child's side: waits for the environment, then executes the program. */
static _Noreturn void
become(char *const *argv, int go, int error)
{
	/* The pipe carries NAME=VALUE with its NUL, and optionally a path with its own NUL;
	 * if it ends without them, the program is not to be executed. */
	size_t used = 0, size = 8192;
	char *setting = malloc(size);
	while (setting) {
		ssize_t n = read(go, setting + used, size - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		used += (size_t)n;
		if (used == size)
			setting = realloc(setting, size *= 2);
	}
	if (!setting || used == 0 || setting[used - 1] != '\0')
		_exit(125);
	if (setting[0])
		putenv(setting);
	size_t first = strlen(setting) + 1;
	if (first < used)
		leave_terminal(setting + first);
	give_signals_back();
	sigprocmask(SIG_SETMASK, &before_mask, NULL);
	execvp(argv[0], argv);
	int why = errno;
	while (write(error, &why, sizeof(why)) < 0 && errno == EINTR)
		;
	_exit(why == ENOENT ? 127 : 126);
}

bool
tally_launch_fork(struct tally_launch *launch, char *const *argv)
{
	*launch = (struct tally_launch){ .pid = -1, .go = -1, .error = -1 };
	int go[2], error[2];
	if (pipe2(go, O_CLOEXEC) < 0)
		return false;
	if (pipe2(error, O_CLOEXEC) < 0) {
		int why = errno;
		close(go[0]);
		close(go[1]);
		errno = why;
		return false;
	}
	block_forwarded(&before_mask);
	take_signals();
	pid_t pid = fork();
	if (pid == 0) {
		close(go[1]);
		close(error[0]);
		become(argv, go[0], error[1]);
	}
	int why = errno;
	close(go[0]);
	close(error[1]);
	if (pid < 0) {
		close(go[1]);
		close(error[0]);
		give_signals_back();
		sigprocmask(SIG_SETMASK, &before_mask, NULL);
		errno = why;
		return false;
	}
	launch->pid = child = pid;
	launch->go = go[1];
	launch->error = error[0];
	return true;
}

static void
reap(struct tally_launch *launch)
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
	give_signals_back();
	sigprocmask(SIG_SETMASK, &before_mask, NULL);
}

int
tally_launch_go(struct tally_launch *launch, const char *name, const char *value)
{
	const char *output = launch->output;
	size_t first = strlen(name) + 1 + strlen(value) + 1;
	size_t len = first + (output ? strlen(output) + 1 : 0);
	char *setting = malloc(len);
	if (!setting) {
		tally_launch_abort(launch);
		return ENOMEM;
	}
	stpcpy(stpcpy(stpcpy(setting, name), "="), value);
	if (output)
		strcpy(setting + first, output);
	size_t done = 0;
	while (done < len) {
		ssize_t n = write(launch->go, setting + done, len - done);
		if (n < 0 && errno != EINTR)
			break; /* the child has ended: its status will say why */
		done += n > 0 ? (size_t)n : 0;
	}
	free(setting);
	close(launch->go);
	launch->go = -1;
	int why = 0;
	ssize_t n;
	do
		n = read(launch->error, &why, sizeof(why));
	while (n < 0 && errno == EINTR);
	close(launch->error);
	launch->error = -1;
	if (n == (ssize_t)sizeof(why) && why != 0) {
		reap(launch);
		return why;
	}
	sigprocmask(SIG_SETMASK, &before_mask, NULL);
	return 0;
}

void
tally_launch_abort(struct tally_launch *launch)
{
	close(launch->go);
	close(launch->error);
	reap(launch);
}

bool
tally_launch_is_over(const struct tally_launch *launch)
{
	siginfo_t info = { 0 };
	return waitid(P_PID, (id_t)launch->pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
	       info.si_pid != 0;
}

void
tally_launch_wait(struct tally_launch *launch)
{
	reap(launch);
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

/* SPDX-License-Identifier: MIT */
#include "cli/shared/child.h"

#include "cli/shared/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET_MS 2000 /* a shorter wait needs no explanation */

static volatile sig_atomic_t came;

void
tally_child_words(GPtrArray *argv, ...)
{
	va_list words;
	va_start(words, argv);
	for (char *word; (word = va_arg(words, char *));)
		g_ptr_array_add(argv, word);
	va_end(words);
}

static void
remember(int sig)
{
	came = sig;
}

void
tally_child_take_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
		struct sigaction action = { .sa_handler = remember };
		struct sigaction before;
		sigaction(numbers[i], NULL, &before);
		if (before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

int
tally_child_signal(void)
{
	return came;
}

/* In the child: a separate process group, so that everything that it starts ends with it; the
 * terminal's Ctrl-C does not reach that, so it ends with us. */
static void
set_up(gpointer data)
{
	(void)data;
	struct rlimit no_core = { 0, 0 };
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &no_core);
}

/* Ends it with all that it started. A process that hangs in the kernel is not waited for. */
static void
end_child(struct tally_child *child, pid_t pid)
{
	kill(-pid, SIGKILL);
	for (int i = 0; i < 1000 && waitpid(pid, &child->status, WNOHANG) != pid; i++)
		g_usleep(1000);
}

static void
wait_for(struct tally_child *child, pid_t pid, const char *shown, double limit_s)
{
	struct tally_progress progress;
	tally_progress_begin(&progress, QUIET_MS);
	int64_t end = g_get_monotonic_time() + (int64_t)(limit_s * 1e6);
	pid_t done;
	while ((done = waitpid(pid, &child->status, WNOHANG)) == 0 ||
	       (done < 0 && errno == EINTR)) {
		child->stopped = came != 0;
		child->hung = !child->stopped && g_get_monotonic_time() > end;
		if (child->hung || child->stopped) {
			end_child(child, pid);
			break;
		}
		if (shown && tally_progress_due(&progress))
			tally_progress_show(&progress,
					    "waiting for %s, at most %.0f s: %d s", shown, limit_s,
					    (int)((g_get_monotonic_time() - progress.began_us) /
						  G_USEC_PER_SEC));
		g_usleep(1000);
	}
	tally_progress_end(&progress);
	/* Ends the processes that it left running. */
	kill(-pid, SIGKILL);
}

/* A file for output; -1: see errno. */
static int
open_output(const char *folder, const char *name, const char *end)
{
	g_autofree char *path = folder ? g_strconcat(folder, "/", name, end, NULL) : NULL;
	return path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
		    : memfd_create(name, MFD_CLOEXEC);
}

static char *
read_back(int fd)
{
	GString *text = g_string_new(NULL);
	char part[4096];
	ssize_t n;
	while (fd >= 0 && (n = pread(fd, part, sizeof(part), (off_t)text->len)) > 0)
		g_string_append_len(text, part, n);
	if (fd >= 0)
		close(fd);
	return g_string_free(text, FALSE);
}

void
tally_child_run(struct tally_child *child, char *const *argv, char **environment,
		const char *folder, const char *name, double limit_s)
{
	*child = (struct tally_child){ 0 };
	int out = open_output(folder, name, ".out"), err = open_output(folder, name, ".err");
	g_autoptr(GError) error = NULL;
	GPid pid;
	/* If SIGCHLD were ignored, the kernel would discard the child's status. A program that
	 * this command starts later inherits what the user had. */
	struct sigaction plain = { .sa_handler = SIG_DFL }, before;
	sigaction(SIGCHLD, &plain, &before);
	if (out < 0 || err < 0)
		child->error = g_strdup(g_strerror(errno));
	else if (!argv[0])
		child->error = g_strdup(g_strerror(ENOENT));
	else if (g_spawn_async_with_fds(NULL, (char **)argv, environment,
					G_SPAWN_DO_NOT_REAP_CHILD, set_up, NULL, &pid,
					-1, out, err, &error))
		wait_for(child, pid, folder ? NULL : name, limit_s);
	else
		child->error = g_strdup(error->message);
	sigaction(SIGCHLD, &before, NULL);
	child->ended_ns = (uint64_t)g_get_monotonic_time() * 1000;
	child->out = read_back(out);
	child->err = read_back(err);
}

char *
tally_child_last_words(const struct tally_child *child)
{
	g_autofree char *text = g_strchomp(g_strdup(child->err));
	const char *line = strrchr(text, '\n');
	return g_strdup(line ? line + 1 : text);
}

char *
tally_child_say(const struct tally_child *child)
{
	if (child->error)
		return g_strdup_printf("could not be started: %s", child->error);
	if (child->hung)
		return g_strdup("hung and was killed");
	if (WIFSIGNALED(child->status))
		return g_strdup_printf("ended by signal %d (%s)",
				       WTERMSIG(child->status),
				       g_strsignal(WTERMSIG(child->status)));
	return g_strdup_printf("exit status %d", WEXITSTATUS(child->status));
}

bool
tally_child_exited(const struct tally_child *child)
{
	return !child->error && !child->hung && WIFEXITED(child->status);
}

void
tally_child_clear(struct tally_child *child)
{
	g_free(child->error);
	g_free(child->out);
	g_free(child->err);
	*child = (struct tally_child){ 0 };
}

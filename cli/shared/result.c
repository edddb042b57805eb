/* SPDX-License-Identifier: MIT */
#include "cli/shared/result.h"

#include "cli/shared/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The incomplete file, for the handler of a signal that ends the process. */
static char *volatile unfinished;

static void
on_signal(int number)
{
	if (unfinished)
		unlink(unfinished);
	raise(number); /* SA_RESETHAND has restored the default action */
}

static const int signals[] = { SIGHUP, SIGINT, SIGTERM };

static void
take_signals(void)
{
	struct sigaction ours = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++) {
		struct sigaction before;
		if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
			sigaction(signals[i], &ours, NULL);
	}
}

/* Creates the file t->part, -1 with errno. A signal that comes before the handler knows the file
 * waits until it does. */
static int
create_part(struct tally_result *t, mode_t mode)
{
	sigset_t held, before;
	sigemptyset(&held);
	for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
		sigaddset(&held, signals[i]);
	pthread_sigmask(SIG_BLOCK, &held, &before);
	int fd = g_mkstemp_full(t->part, O_WRONLY | O_CLOEXEC, (int)mode);
	int error = errno;
	if (fd >= 0) {
		unfinished = t->part;
		take_signals();
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return fd;
}

static int
complain(const struct tally_result *t, const char *what)
{
	return TALLY_FAIL(TALLY_EXIT_USAGE, t->command, "%s: %s", t->path, what);
}

/* `passtally export --csv LOG OUT` is an easy mistake that would destroy a log. */
static bool
is_log(const char *path)
{
	static const char start[] = "{\"type\":\"header\"", zstd[] = "\x28\xb5\x2f\xfd";
	char bytes[sizeof(start) - 1];
	FILE *file = fopen(path, "rbe");
	if (!file)
		return false;
	bool found = fread(bytes, 1, sizeof(bytes), file) == sizeof(bytes) &&
		     (memcmp(bytes, start, sizeof(bytes)) == 0 ||
		      memcmp(bytes, zstd, sizeof(zstd) - 1) == 0);
	fclose(file);
	return found;
}

mode_t
tally_result_mode(const char *log)
{
	struct stat s;
	bool known = strcmp(log, "-") == 0 ? fstat(STDIN_FILENO, &s) == 0 : stat(log, &s) == 0;
	return known && S_ISREG(s.st_mode) ? s.st_mode & 0666 : 0600;
}

int
tally_result_open(struct tally_result *t, const char *command, const char *path, mode_t mode,
		  bool binary, const char *hint)
{
	struct stat s;
	*t = (struct tally_result){ .command = command, .path = path };
	if (strcmp(path, "-") == 0) {
		t->file = stdout;
		if (binary && isatty(STDOUT_FILENO))
			return complain(t, "a trace is not for a terminal: name a file");
		return TALLY_EXIT_OK;
	}
	bool exists = stat(path, &s) == 0;
	if (exists && S_ISDIR(s.st_mode))
		return complain(t, "is a folder: name a file in it");
	/* /dev/null or a pipe: there is no file to replace */
	if (exists && !S_ISREG(s.st_mode)) {
		t->file = fopen(path, "wbe");
		return t->file ? TALLY_EXIT_OK : complain(t, g_strerror(errno));
	}
	if (exists && is_log(path))
		return TALLY_FAIL(TALLY_EXIT_USAGE, command, "%s: that is a log; %s", path, hint);
	t->part = g_strdup_printf("%s.XXXXXX", path);
	int fd = create_part(t, mode);
	if (fd < 0) {
		int error = errno;
		g_free(g_steal_pointer(&t->part));
		return complain(t, g_strerror(error));
	}
	t->file = fdopen(fd, "wb");
	return t->file ? TALLY_EXIT_OK : complain(t, g_strerror(errno));
}

/* Returns 0, or the errno that prevented a complete write. */
static int
finish_file(const struct tally_result *t)
{
	int error = t->error;
	if (!t->file)
		return error ? error : EIO;
	if ((ferror(t->file) || fflush(t->file) != 0) && !error)
		error = errno ? errno : EIO;
	if (fclose(t->file) != 0 && !error)
		error = errno;
	return error;
}

bool
tally_result_close(struct tally_result *t, bool good)
{
	if (t->file == stdout || !t->path)
		return good;
	int error = finish_file(t);
	if (good && !error && t->part && g_rename(t->part, t->path) != 0)
		error = errno;
	if (good && error)
		complain(t, g_strerror(error));
	if (t->part) {
		if (!good || error)
			g_unlink(t->part);
		unfinished = NULL;
	}
	g_free(t->part);
	*t = (struct tally_result){ 0 };
	return good && !error;
}

#include "cli/shared/cli.h"

#include <errno.h>
#include <glib.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void
tally_cli_complain(const char *command, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	char *text = g_strdup_vprintf(format, list);
	va_end(list);
	fprintf(stderr, "passtally%s%s: %s\n", command ? " " : "", command ? command : "", text);
	g_free(text);
}

int
tally_cli_finish(const char *command, int status)
{
	bool failed = ferror(stdout) != 0;
	if (failed) {
		/* Why is forgotten by now: what stopped us then stops this byte too. */
		clearerr(stdout);
		putchar('\n');
	}
	errno = 0;
	if (fflush(stdout) != 0)
		failed = true;
	if (!failed)
		return status;
	if (errno != EPIPE)
		tally_cli_complain(command, "could not write all of the output: %s",
				   errno ? g_strerror(errno) : "an earlier write failed");
	return TALLY_EXIT_FAILED;
}

void
tally_progress_begin(struct tally_progress *progress, unsigned after_ms)
{
	*progress = (struct tally_progress){ .on = isatty(STDERR_FILENO) };
	progress->began_us = g_get_monotonic_time();
	progress->told_us = progress->began_us + (int64_t)after_ms * 1000 - 200000;
}

bool
tally_progress_due(struct tally_progress *progress)
{
	if (!progress->on)
		return false;
	int64_t now = g_get_monotonic_time();
	if (now - progress->told_us < 200000)
		return false;
	progress->told_us = now;
	return true;
}

void
tally_progress_show(struct tally_progress *progress, const char *format, ...)
{
	if (!progress->on)
		return;
	va_list list;
	va_start(list, format);
	char *text = g_strdup_vprintf(format, list);
	va_end(list);
	fprintf(stderr, "\r%s\033[K", text);
	g_free(text);
	progress->shown = true;
}

void
tally_progress_end(struct tally_progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}

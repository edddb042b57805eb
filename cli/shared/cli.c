/* SPDX-License-Identifier: MIT */
#include "cli/shared/cli.h"

#include "cli/shared/text.h"

#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void
tally_cli_complain(const char *command, const char *format, ...)
{
	TALLY_FORMATTED(text, format);
	tally_text_print_line(stderr, "passtally%s%s: %s", command ? " " : "",
			      command ? command : "", text);
}

void
tally_cli_report(void *command, const char *message)
{
	tally_cli_complain(command, "%s", message);
}

void
tally_cli_ignore(void *data, const char *message)
{
	(void)data, (void)message;
}

int
tally_cli_read_failed(const char *command, const char *path, enum tally_read_status status,
		      const struct tally_read_error *error)
{
	/* Else CI would take a mistyped name for a failure of ours. */
	bool misnamed = strcmp(path, "-") != 0 &&
			(access(path, R_OK) < 0 || g_file_test(path, G_FILE_TEST_IS_DIR));
	const char *why = error->message[0] ? error->message : "out of memory";
	if (status != TALLY_READ_BAD)
		return TALLY_FAIL(misnamed ? TALLY_EXIT_USAGE : TALLY_EXIT_FAILED, command,
				  "%s: %s", path, why);
	tally_text_print_line(stderr, "%s:%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT ": %s", path,
			      error->line, error->column, error->message);
	return TALLY_EXIT_BAD_LOG;
}

int
tally_cli_finish(const char *command, int status)
{
	bool failed = ferror(stdout) != 0;
	if (failed) {
		/* The errno of the earlier failure is lost; writing one more byte fails for
		 * the same reason. */
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
	progress->shown_us = progress->began_us + (int64_t)after_ms * 1000 - 200000;
}

bool
tally_progress_due(struct tally_progress *progress)
{
	if (!progress->on)
		return false;
	int64_t now = g_get_monotonic_time();
	if (now - progress->shown_us < 200000)
		return false;
	progress->shown_us = now;
	return true;
}

void
tally_progress_show(struct tally_progress *progress, const char *format, ...)
{
	if (!progress->on)
		return;
	TALLY_FORMATTED(text, format);
	g_autofree char *printable = tally_text_escape(text);
	fprintf(stderr, "\r%s\033[K", printable);
	progress->shown = true;
}

void
tally_progress_read(struct tally_progress *progress, const char *verb, const char *path,
		    uint64_t done, uint64_t total)
{
	if (!tally_progress_due(progress))
		return;
	if (total)
		tally_progress_show(progress, "%s %s: %u %%", verb, path,
				    (unsigned)(100.0 * (double)done / (double)total));
	else
		tally_progress_show(progress, "%s %s: %.1f MB", verb, path, (double)done / 1e6);
}

void
tally_progress_end(struct tally_progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
	progress->shown = false;
}

/* SPDX-License-Identifier: MIT */
#include "cli/top/follow.h"

#include "cli/log/input.h"
#include "cli/shared/text.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct tally_follow *
tally_follow_create(const char *path)
{
	struct tally_follow *f = g_new0(struct tally_follow, 1);
	f->path = g_strdup(path);
	f->fd = -1;
	return f;
}

void
tally_follow_destroy(struct tally_follow *f)
{
	tally_log_reader_close(f->reader);
	if (f->fd >= 0)
		close(f->fd);
	g_free(f->why);
	g_free(f->path);
	g_free(f);
}

static void
say(struct tally_follow *f, char *why)
{
	g_free(f->why);
	f->why = why;
}

/* Returns false, with the reason in `why`, if the log does not exist or cannot be opened. */
static bool
open_log(struct tally_follow *f)
{
	/* FIFOs and devices are refused: reading could block, or consume data meant for
	 * another process. */
	int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	g_autofree char *shown = tally_text_escape(f->path);
	if (fd < 0 || fstat(fd, &st) < 0) {
		say(f, g_strdup_printf("%s: cannot be opened: %s", shown, g_strerror(errno)));
	} else if (!S_ISREG(st.st_mode)) {
		say(f, g_strdup_printf("%s: is no regular file: only those are followed", shown));
	} else {
		f->reader = tally_log_input_follow(fd);
		f->opened = f->reader;
		say(f, f->reader ? NULL : g_strdup_printf("%s: out of memory", shown));
	}
	if (f->reader) {
		f->fd = fd;
		return true;
	}
	if (fd >= 0)
		close(fd);
	return false;
}

enum tally_follow_status
tally_follow_next(struct tally_follow *f, struct tally_log_line *line)
{
	if (f->fd < 0 && !open_log(f))
		return TALLY_FOLLOW_WAIT;
	struct tally_read_error error;
	if (!f->bad) {
		enum tally_read_status status = tally_log_reader_next(f->reader, line, &error);
		if (status == TALLY_READ_OK)
			return TALLY_FOLLOW_LINE;
		f->bad = status != TALLY_READ_END;
		if (f->bad) {
			g_autofree char *shown = tally_text_escape(f->path);
			say(f, g_strdup_printf("%s:%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT ": %s",
					       shown, error.line, error.column, error.message));
		}
	}
	return f->bad ? TALLY_FOLLOW_BAD : TALLY_FOLLOW_WAIT;
}

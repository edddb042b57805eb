/* SPDX-License-Identifier: MIT */
#include "cli/run/black_box.h"

#include "cli/log/folder.h"
#include "cli/log/input.h"
#include "cli/log/pass_name.h"
#include "cli/shared/cli.h"
#include "layer/config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char *
piece(const char *log, unsigned number, const char *end)
{
	return number ? g_strdup_printf(TALLY_BLACK_BOX_KEPT_NAME, log, number, end)
		      : g_strdup_printf(TALLY_BLACK_BOX_NAME, log, end);
}

/* Appends the whole lines of a file, if it is there: a program that is killed may leave a cut
 * one. */
static bool
append(int out, const char *path)
{
	g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, NULL);
	const char *at = file ? g_mapped_file_get_contents(file) : NULL;
	const char *last = at ? memrchr(at, '\n', g_mapped_file_get_length(file)) : NULL;
	for (ssize_t n; last && at <= last; at += n) {
		n = write(out, at, (size_t)(last + 1 - at));
		if (n <= 0)
			return false;
	}
	return file || access(path, F_OK) < 0;
}

/* By a process of the program that goes on. One that was killed may take a moment to die. */
static bool
is_written(const char *path)
{
	enum { TRIES = 40, NAP_US = 25000 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is = fd >= 0;
	for (int i = 0; is && i < TRIES; i++) {
		if (i)
			g_usleep(NAP_US);
		is = tally_file_is_written(fd) > 0;
	}
	if (fd >= 0)
		close(fd);
	return is;
}

struct search {
	const struct tally_last_pass *last;
	char *name; /* that of the tables; NULL = not found */
};

static bool
take_info(void *user, const struct tally_log_line *line)
{
	struct search *x = user;
	const struct tally_pass_info_record *info = &line->pass_info;
	if (line->type != TALLY_LINE_PASS_INFO)
		return true;
	if (g_strcmp0(info->label, x->last->name) == 0) {
		g_free(x->name);
		x->name = g_strdup(info->label);
		return false;
	}
	g_auto(GStrv) groups = g_strsplit(info->groups ? info->groups : "", ", ", -1);
	/* Groups are named from the pass's label on. */
	g_autofree char *outer = g_strconcat(info->label ? info->label : "", "/", NULL);
	bool below = g_str_has_prefix(x->last->name, outer);
	const char *group = x->last->name + (below ? strlen(outer) : 0);
	bool in_group = g_strv_contains((const char *const *)groups, group);
	bool to_target = g_strcmp0(info->target.name, x->last->name) == 0 &&
			 info->target.width == x->last->width &&
			 info->target.height == x->last->height;
	if (x->name || (!in_group && !to_target))
		return true;
	g_autofree char *base = info->label ? g_strdup(info->label)
					    : tally_pass_name(info->kind, &info->target,
							      info->target.presented);
	x->name = g_strconcat(base, in_group ? ", in its group " : NULL, group, NULL);
	return true;
}

/* As the tables call it: a label that is not that of a whole pass is a group in one. The caller
 * frees it. */
static char *
name_last(const char *log, const struct tally_last_pass *last)
{
	struct search x = { .last = last };
	struct tally_read_error error;
	enum tally_read_status status;
	const struct tally_log_taker taker = { take_info, &x, "reading", log, true };
	struct tally_log_reader *reader = *last->name ? tally_log_input_open(log, &status, &error)
						      : NULL;
	if (reader)
		tally_log_read_lines(reader, &taker, NULL, &error);
	if (!x.name && (*last->name || last->presented))
		x.name = g_strdup(*last->name ? last->name : "Backbuffer");
	if (!x.name)
		return last->width ? g_strdup_printf("a pass of %ux%u", last->width, last->height)
				   : g_strdup("a pass without a target");
	char *valid = g_utf8_make_valid(x.name, -1);
	g_free(x.name);
	return valid;
}

/* Makes LOG.last, which names the pass that began last in a program that was killed, a line that
 * says so. */
static void
write_last(const char *log, const char *path, bool quiet)
{
	struct tally_last_pass last;
	g_autofree char *bytes = NULL, *name = NULL;
	gsize size;
	if (!g_file_get_contents(path, &bytes, &size, NULL))
		return;
	memcpy(&last, bytes, MIN(size, sizeof(last)));
	unlink(path);
	if (size != sizeof(last) || last.writing || !last.any ||
	    !memchr(last.name, '\0', sizeof(last.name)))
		return;
	name = name_last(log, &last);
	last.stopped[sizeof(last.stopped) - 1] = '\0';
	g_autofree char *stopped = g_utf8_make_valid(last.stopped, -1);
	g_autofree char *message = g_strdup_printf(
		"the program crashed or was killed%s%s in frame %" G_GUINT64_FORMAT
		" or later; %s: %s",
		*stopped ? " after " : "", stopped, last.frame,
		last.unread ? "the first pass without a result"
			    : "the pass that it began or submitted last",
		name);
	if (!quiet)
		tally_cli_say("%s", message);
	const struct tally_recorder_options options = { .path = path };
	const struct tally_note_record note = { TALLY_LEVEL_INFO, message, "black-box", false, 0 };
	enum tally_record_status status;
	char why[256];
	struct tally_recorder *r = tally_json_recorder.open(&options, &status, why, sizeof(why));
	if (r)
		tally_json_recorder.note(r, &note);
	tally_json_recorder.close(r);
}

/* Writes the log that three files are to `target`, which is replaced. */
static bool
write_joined(const char *log, const char *before, const char *now, const char *last,
	     const char *target)
{
	g_autofree char *temporary = g_strconcat(target, ".XXXXXX", NULL);
	int fd = g_mkstemp_full(temporary, O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	bool done = append(fd, log) && append(fd, before) && append(fd, now) && append(fd, last) &&
		    rename(temporary, target) == 0;
	int error = errno;
	close(fd);
	if (!done)
		unlink(temporary);
	errno = error;
	return done;
}

/* NAME.jsonl: NAME.kept-1.jsonl */
static char *
kept_name(const char *log, unsigned number)
{
	bool ends = g_str_has_suffix(log, ".jsonl");
	int len = (int)strlen(log) - (ends ? (int)strlen(".jsonl") : 0);
	return g_strdup_printf("%.*s.kept-%u%s", len, log, number, ends ? ".jsonl" : "");
}

/* Returns the name of the log, which the caller frees; NULL: there are no such files, or, which is
 * said, they could not be joined. */
static char *
join(const char *log, unsigned number, bool quiet)
{
	g_autofree char *last = piece(log, number, "last");
	g_autofree char *before = piece(log, number, "before"), *now = piece(log, number, "now");
	g_autofree char *target = number ? kept_name(log, number) : g_strdup(log);
	/* Killed after all was kept, a program leaves the last pass alone. */
	if (access(now, F_OK) < 0 && access(before, F_OK) < 0 && access(last, F_OK) < 0)
		return NULL;
	const char *why = number && access(target, F_OK) == 0 ? g_strerror(EEXIST)
			  : is_written(now) ? "a process of the program still runs"
					    : NULL;
	if (!why)
		write_last(log, last, quiet);
	if (!why && !write_joined(log, before, now, last, target))
		why = g_strerror(errno);
	if (why) {
		tally_cli_say("error: %s cannot be written: %s; it is these files one "
			      "after the other: %s %s %s",
			      target, why, log, before, now);
		return NULL;
	}
	unlink(before);
	unlink(now);
	unlink(last);
	return g_steal_pointer(&target);
}

void
tally_run_join(GPtrArray *logs, bool quiet)
{
	for (guint i = logs->len; i-- > 0;) {
		const char *log = g_ptr_array_index(logs, i);
		/* What was kept needs the log as it was. */
		for (unsigned number = 1; number <= TALLY_BLACK_BOX_MOST_KEPT; number++) {
			char *kept = join(log, number, quiet);
			if (kept)
				g_ptr_array_add(logs, kept);
		}
		g_free(join(log, 0, quiet));
	}
}

/* SPDX-License-Identifier: MIT */
#include "json/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_SIZE (256u << 10)
/* Descriptors below this are the ones that programs close, reopen and expect to get by
 * number. */
#define FIRST_DESCRIPTOR 64

static enum tally_record_status
fail(struct tally_recorder *sink, enum tally_record_status status, const char *what,
     const char *how)
{
	sink->status = status;
	snprintf(sink->why, sizeof(sink->why),
		 "Writing the log %s stopped after %" PRIu64 " bytes: %s. %s", sink->path,
		 sink->written, what, how);
	return status;
}

/* A game may close descriptors that it never opened, and open its own file under our number.
 * Losing the log is better than writing into that file. */
static bool
is_ours(const struct tally_recorder *sink)
{
	struct stat now;
	return fstat(sink->fd, &now) == 0 && now.st_dev == sink->device &&
	       now.st_ino == sink->inode;
}

/* write(2) beyond RLIMIT_FSIZE raises SIGXFSZ, which ends the process: that must not happen
 * because of passtally. */
static ssize_t
write_quietly(int fd, const char *bytes, size_t len)
{
	sigset_t xfsz, before;
	sigemptyset(&xfsz);
	sigaddset(&xfsz, SIGXFSZ);
	bool masked = pthread_sigmask(SIG_BLOCK, &xfsz, &before) == 0;
	ssize_t n = write(fd, bytes, len);
	int error = errno;
	if (masked) {
		if (n < 0 && error == EFBIG && !sigismember(&before, SIGXFSZ))
			sigtimedwait(&xfsz, NULL, &(struct timespec){ 0, 0 });
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	errno = error;
	return n;
}

/* The file contains `partial` bytes of the buffer beyond sink->written: keeps the whole lines
 * among them. */
static void
cut_back(struct tally_recorder *sink, size_t partial)
{
	const char *newline = partial ? memrchr(sink->buffer, '\n', partial) : NULL;
	if (newline)
		sink->written += (uint64_t)(newline + 1 - sink->buffer);
	/* Nothing can be done if this fails too. The reader accepts a cut last line. */
	while (ftruncate(sink->fd, (off_t)sink->written) < 0 && errno == EINTR)
		;
}

static enum tally_record_status
fail_write(struct tally_recorder *sink, int error)
{
	char what[160];
	char text[96];
	snprintf(what, sizeof(what), "%s", strerror_r(error, text, sizeof(text)));
	switch (error) {
	case ENOSPC:
	case EDQUOT:
		return fail(sink, TALLY_RECORD_FULL, what,
			    "Free some space, or give a place with more by -o PATH.");
	case EFBIG:
		return fail(sink, TALLY_RECORD_FULL, what,
			    "Raise the limit on file sizes (ulimit -f), or give a "
			    "smaller --max-log.");
	default:
		return fail(sink, TALLY_RECORD_IO, what, "Give another place by -o PATH.");
	}
}

/* Removes whole lines from the buffer; the line being built moves to its start. */
static enum tally_record_status
write_lines(struct tally_recorder *sink)
{
	if (sink->line == 0)
		return TALLY_RECORD_OK;
	if (!is_ours(sink)) {
		sink->fd = -1;
		return fail(sink, TALLY_RECORD_IO, "the program closed our file",
			    "Lines written before it did so are there.");
	}
	size_t done = 0;
	while (done < sink->line) {
		ssize_t n = write_quietly(sink->fd, sink->buffer + done, sink->line - done);
		if (n > 0) {
			done += (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			int error = n == 0 ? ENOSPC : errno;
			cut_back(sink, done);
			return fail_write(sink, error);
		}
	}
	sink->written += done;
	size_t rest = (size_t)(sink->writer.at - sink->buffer) - done;
	memmove(sink->buffer, sink->buffer + done, rest);
	sink->writer.at = sink->buffer + rest;
	sink->line = 0;
	return TALLY_RECORD_OK;
}

static bool
make_line_room(struct tally_json_writer *w, size_t need)
{
	struct tally_recorder *sink = (struct tally_recorder *)w;
	if (write_lines(sink) != TALLY_RECORD_OK)
		return false;
	size_t used = (size_t)(w->at - sink->buffer);
	if (sink->size - used >= need + 1)
		return true;
	if (sink->size > TALLY_LINE_MAX) {
		snprintf(sink->why, sizeof(sink->why),
			 "A line of the log %s would be longer than %u MiB. Capture "
			 "fewer passes a frame: give a smaller --max-passes.",
			 sink->path, TALLY_LINE_MAX >> 20);
		return false;
	}
	size_t size = sink->size * 2 < TALLY_LINE_MAX ? sink->size * 2 : TALLY_LINE_MAX + 1;
	char *buffer = realloc(sink->buffer, size);
	if (!buffer) {
		fail(sink, TALLY_RECORD_NO_MEMORY, "out of memory",
		     "Capture fewer passes a frame: give a smaller --max-passes.");
		return false;
	}
	sink->buffer = buffer;
	sink->size = size;
	w->at = buffer + used;
	w->end = buffer + size - 1;
	return true;
}

struct tally_json_writer *
tally_sink_begin_line(struct tally_recorder *sink)
{
	if (sink->status != TALLY_RECORD_OK)
		return NULL;
	sink->writer.at = sink->buffer + sink->line;
	/* By the first size, not the current one: a crash loses what is buffered. A line like the
	 * last one is written before this one is begun: what is begun would have to be moved. */
	if (sink->line && sink->line + sink->last > BUFFER_SIZE - TALLY_JSON_ROOM &&
	    write_lines(sink) != TALLY_RECORD_OK)
		return NULL;
	sink->writer.end = sink->buffer + sink->size - 1; /* the newline always fits */
	sink->writer.failed = false;
	return &sink->writer;
}

enum tally_record_status
tally_sink_end_line(struct tally_recorder *sink, uint64_t reserve)
{
	if (sink->status != TALLY_RECORD_OK)
		return sink->status;
	if (sink->writer.failed)
		return TALLY_RECORD_LIMIT;
	*sink->writer.at++ = '\n';
	size_t end = (size_t)(sink->writer.at - sink->buffer);
	uint64_t total = sink->written + end;
	if (sink->max_bytes && (total > sink->max_bytes || sink->max_bytes - total < reserve)) {
		snprintf(sink->why, sizeof(sink->why),
			 "The log %s reached its limit of %" PRIu64
			 " bytes. Give a larger --max-log, or fewer --frames.",
			 sink->path, sink->max_bytes);
		return TALLY_RECORD_LIMIT;
	}
	sink->last = end - sink->line;
	sink->line = end;
	return TALLY_RECORD_OK;
}

enum tally_record_status
tally_sink_flush(struct tally_recorder *sink)
{
	if (sink->status != TALLY_RECORD_OK)
		return sink->status;
	sink->writer.at = sink->buffer + sink->line;
	return write_lines(sink);
}

const char *
tally_sink_why(const struct tally_recorder *sink)
{
	return sink->why;
}

void
tally_sink_close(struct tally_recorder *sink)
{
	if (!sink)
		return;
	tally_sink_flush(sink);
	tally_sink_abandon(sink);
}

void
tally_sink_abandon(struct tally_recorder *sink)
{
	if (!sink)
		return;
	if (sink->fd >= 0 && is_ours(sink))
		close(sink->fd);
	free(sink->buffer);
	free(sink->path);
	free(sink);
}

/* Opening. */

static enum tally_record_status
explain_open(int error, const char *path, char *why, size_t size)
{
	char text[96];
	const char *what = strerror_r(error, text, sizeof(text));
	switch (error) {
	case EEXIST:
		snprintf(why, size,
			 "The log %s is already there. Give --force to replace it, or "
			 "another name by -o PATH.",
			 path);
		return TALLY_RECORD_EXISTS;
	case ELOOP:
		snprintf(why, size,
			 "The log %s is a symbolic link, which is not followed. Give "
			 "the file's real name by -o PATH.",
			 path);
		return TALLY_RECORD_DENIED;
	case EACCES:
	case EPERM:
	case EROFS:
	case ENOENT:
	case ENOTDIR:
	case EISDIR:
	case ENXIO:
		snprintf(why, size,
			 "The log %s cannot be opened for writing: %s. Give a file in a "
			 "folder you may write to by -o PATH.",
			 path, what);
		return TALLY_RECORD_DENIED;
	case ENOSPC:
	case EDQUOT:
		snprintf(why, size,
			 "The log %s cannot be created: %s. Free some space, or give "
			 "another place by -o PATH.",
			 path, what);
		return TALLY_RECORD_FULL;
	case ENOMEM:
		snprintf(why, size, "The log %s cannot be opened: out of memory.", path);
		return TALLY_RECORD_NO_MEMORY;
	default:
		snprintf(why, size,
			 "The log %s cannot be opened for writing: %s. Give another "
			 "place by -o PATH.",
			 path, what);
		return TALLY_RECORD_IO;
	}
}

/* Creates missing folders above the file; a failure is noticed when the file is opened. */
static void
make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

/* An existing file that belongs to us, emptied. -1 with a status otherwise. */
static int
open_existing(const char *path, enum tally_record_status *status, char *why, size_t size)
{
	/* O_NONBLOCK: a FIFO without a reader must not delay the game. */
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0) {
		*status = explain_open(errno, path, why, size);
		return -1;
	}
	struct stat file;
	if (fstat(fd, &file) < 0) {
		*status = explain_open(errno, path, why, size);
	} else if (!S_ISREG(file.st_mode) || file.st_uid != geteuid()) {
		snprintf(why, size,
			 "The log %s is not replaced: --force replaces only regular "
			 "files that belong to you. Give another name by -o PATH.",
			 path);
		*status = TALLY_RECORD_DENIED;
	} else if (fchmod(fd, 0600) < 0 || ftruncate(fd, 0) < 0) {
		*status = explain_open(errno, path, why, size);
	} else {
		return fd;
	}
	close(fd);
	return -1;
}

static int
open_file(const struct tally_recorder_options *options, enum tally_record_status *status,
	  char *why, size_t size)
{
	const char *path = options->path;
	int fd = open(path,
		      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
		      0600);
	if (fd < 0 && errno == EEXIST && options->force)
		fd = open_existing(path, status, why, size);
	else if (fd < 0)
		*status = explain_open(errno, path, why, size);
	if (fd < 0 || fd >= FIRST_DESCRIPTOR)
		return fd;
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR);
	if (moved < 0)
		return fd;
	close(fd);
	return moved;
}

struct tally_recorder *
tally_sink_open(const struct tally_recorder_options *options, enum tally_record_status *status,
		char *why, size_t size)
{
	struct tally_recorder *sink = calloc(1, sizeof(*sink));
	if (!sink)
		goto no_memory;
	sink->path = strdup(options->path);
	sink->buffer = malloc(BUFFER_SIZE);
	if (!sink->path || !sink->buffer)
		goto free_sink;
	sink->size = BUFFER_SIZE;
	sink->max_bytes = options->max_bytes;
	sink->writer.room = make_line_room;
	sink->writer.kept = sink->keys;
	if (options->make_folders)
		make_folders(sink->path);

	sink->fd = open_file(options, status, why, size);
	if (sink->fd < 0) {
		tally_sink_abandon(sink);
		return NULL;
	}
	struct stat file;
	if (fstat(sink->fd, &file) == 0) {
		sink->device = file.st_dev;
		sink->inode = file.st_ino;
	}
	*status = TALLY_RECORD_OK;
	return sink;

free_sink:
	sink->fd = -1;
	tally_sink_abandon(sink);
no_memory:
	*status = explain_open(ENOMEM, options->path, why, size);
	return NULL;
}

/* SPDX-License-Identifier: MIT */
#include "json/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json/reader.h"
#include "json/sink.h"

#define FIRST_SIZE (256u << 10)

void
tally_lines_init(struct tally_lines *lines, int fd, bool owns_fd, const char *memory, size_t len)
{
	*lines = (struct tally_lines){
		.fd = fd,
		.owns_fd = owns_fd,
		.memory = memory,
		.memory_left = len,
		.total = len,
	};
	struct stat file;
	if (fd >= 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_size > 0)
		lines->total = (uint64_t)file.st_size;
}

void
tally_lines_init_source(struct tally_lines *lines, const struct tally_lines_source *source)
{
	*lines = (struct tally_lines){ .fd = -1, .source = *source };
}

void
tally_lines_finish(struct tally_lines *lines)
{
	if (lines->source.read)
		lines->source.close(lines->source.user);
	if (lines->owns_fd && lines->fd >= 0)
		close(lines->fd);
	free(lines->buffer);
	lines->buffer = NULL;
}

void
tally_lines_progress(const struct tally_lines *lines, uint64_t *done, uint64_t *total)
{
	*done = lines->done;
	*total = lines->total;
	if (lines->source.read)
		lines->source.progress(lines->source.user, done, total);
}

static size_t
fetch_memory(struct tally_lines *lines, char *to, size_t room)
{
	size_t n = lines->memory_left < room ? lines->memory_left : room;
	if (n) {
		memcpy(to, lines->memory, n);
		lines->memory += n;
		lines->memory_left -= n;
	}
	return n;
}

/* Bytes into the buffer's free end. */
static enum tally_lines_status
fetch(struct tally_lines *lines)
{
	char *to = lines->buffer + lines->fill;
	size_t room = lines->size - lines->fill, n = 0;
	if (lines->source.read) {
		enum tally_lines_status status =
			lines->source.read(lines->source.user, to, room, &n, &lines->why);
		lines->cut = status == TALLY_LINES_CUT;
		if (status != TALLY_LINES_OK && status != TALLY_LINES_END && !lines->cut)
			return status;
	} else if (lines->fd < 0) {
		n = fetch_memory(lines, to, room);
	} else {
		ssize_t got;
		do
			got = read(lines->fd, to, room);
		while (got < 0 && errno == EINTR);
		if (got < 0) {
			lines->error = errno;
			return TALLY_LINES_IO;
		}
		n = (size_t)got;
	}
	lines->at_end = n == 0;
	lines->fill += n;
	return TALLY_LINES_OK;
}

/* Read more bytes after those of the unfinished line, which moves to the start of the buffer. */
static enum tally_lines_status
refill(struct tally_lines *lines)
{
	size_t kept = lines->fill - lines->start;
	if (lines->start) {
		memmove(lines->buffer, lines->buffer + lines->start, kept);
		lines->start = 0;
		lines->fill = kept;
	}
	if (lines->fill == lines->size) {
		if (lines->size > TALLY_LINE_MAX)
			return TALLY_LINES_TOO_LONG;
		size_t size = lines->size ? lines->size * 2 : FIRST_SIZE;
		if (size > TALLY_LINE_MAX)
			size = TALLY_LINE_MAX + 1;
		char *buffer = realloc(lines->buffer, size + TALLY_JSON_PADDING);
		if (!buffer)
			return TALLY_LINES_NO_MEMORY;
		lines->buffer = buffer;
		lines->size = size;
	}
	enum tally_lines_status status = fetch(lines);
	memset(lines->buffer + lines->fill, 0, TALLY_JSON_PADDING);
	return status;
}

enum tally_lines_status
tally_lines_next(struct tally_lines *lines, char **line, size_t *len, bool *whole)
{
	size_t searched = 0;
	if (lines->growing)
		lines->at_end = false;
	enum tally_lines_status status = lines->buffer ? TALLY_LINES_OK : refill(lines);
	while (status == TALLY_LINES_OK) {
		char *start = lines->buffer + lines->start;
		size_t have = lines->fill - lines->start;
		size_t rest = have - searched;
		char *newline = rest ? memchr(start + searched, '\n', rest) : NULL;
		if (newline || (lines->at_end && have && !lines->growing)) {
			*line = start;
			*len = newline ? (size_t)(newline - start) : have;
			*whole = newline;
			lines->start += *len + *whole;
			lines->done += *len + *whole;
			return *len > TALLY_LINE_MAX ? TALLY_LINES_TOO_LONG : TALLY_LINES_OK;
		}
		if (lines->at_end)
			return lines->cut ? TALLY_LINES_CUT : TALLY_LINES_END;
		searched = have;
		status = refill(lines);
	}
	return status;
}

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
tally_lines_finish(struct tally_lines *lines)
{
	if (lines->owns_fd && lines->fd >= 0)
		close(lines->fd);
	free(lines->buffer);
	lines->buffer = NULL;
}

/* Bytes of the source into the buffer's free end; 0 at its end, -1 with errno. */
static ssize_t
fetch(struct tally_lines *lines)
{
	size_t room = lines->size - lines->fill;
	if (lines->fd < 0) {
		size_t n = lines->memory_left < room ? lines->memory_left : room;
		if (n) {
			memcpy(lines->buffer + lines->fill, lines->memory, n);
			lines->memory += n;
			lines->memory_left -= n;
		}
		return (ssize_t)n;
	}
	ssize_t n;
	do
		n = read(lines->fd, lines->buffer + lines->fill, room);
	while (n < 0 && errno == EINTR);
	return n;
}

/* More bytes behind those of the unfinished line, which moves to the buffer's start. */
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
	ssize_t n = fetch(lines);
	if (n < 0) {
		lines->error = errno;
		return TALLY_LINES_IO;
	}
	lines->at_end = n == 0;
	lines->fill += (size_t)n;
	memset(lines->buffer + lines->fill, 0, TALLY_JSON_PADDING);
	return TALLY_LINES_OK;
}

enum tally_lines_status
tally_lines_next(struct tally_lines *lines, char **line, size_t *len, bool *whole)
{
	size_t searched = 0;
	enum tally_lines_status status = lines->buffer ? TALLY_LINES_OK : refill(lines);
	while (status == TALLY_LINES_OK) {
		char *start = lines->buffer + lines->start;
		size_t have = lines->fill - lines->start;
		size_t rest = have - searched;
		char *newline = rest ? memchr(start + searched, '\n', rest) : NULL;
		if (newline || (lines->at_end && have)) {
			*line = start;
			*len = newline ? (size_t)(newline - start) : have;
			*whole = newline;
			lines->start += *len + *whole;
			lines->done += *len + *whole;
			return *len > TALLY_LINE_MAX ? TALLY_LINES_TOO_LONG : TALLY_LINES_OK;
		}
		if (lines->at_end)
			return TALLY_LINES_END;
		searched = have;
		status = refill(lines);
	}
	return status;
}

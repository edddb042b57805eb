/* SPDX-License-Identifier: MIT */
#include "json/lines.h"

#include <stdlib.h>
#include <string.h>

#include "json/reader.h"
#include "json/sink.h"

#define FIRST_SIZE (256u << 10)

void
tally_lines_init(struct tally_lines *lines, const struct tally_lines_source *source, bool growing)
{
	*lines = (struct tally_lines){ .source = *source, .growing = growing };
}

void
tally_lines_finish(struct tally_lines *lines)
{
	lines->source.close(lines->source.user);
	free(lines->buffer);
	lines->buffer = NULL;
}

/* Reads bytes into the free end of the buffer. */
static enum tally_lines_status
fetch(struct tally_lines *lines)
{
	size_t n = 0;
	enum tally_lines_status status = lines->source.read(
		lines->source.user, lines->buffer + lines->fill, lines->size - lines->fill, &n,
		&lines->why);
	lines->cut = status == TALLY_LINES_CUT;
	if (status != TALLY_LINES_OK && status != TALLY_LINES_END && !lines->cut)
		return status;
	lines->at_end = n == 0;
	lines->fill += n;
	return TALLY_LINES_OK;
}

/* Reads more bytes after those of the unfinished line, which moves to the start of the
 * buffer. */
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
			return *len > TALLY_LINE_MAX ? TALLY_LINES_TOO_LONG : TALLY_LINES_OK;
		}
		if (lines->at_end)
			return lines->cut ? TALLY_LINES_CUT : TALLY_LINES_END;
		searched = have;
		status = refill(lines);
	}
	return status;
}

/* json/lines.h - a file, a pipe or memory, line by line.
 *
 * A line is handed out in a buffer the caller may write to, with room behind it for what
 * json/reader.h wants. Memory is bounded by the longest line, at most TALLY_LINE_MAX. One thread at
 * a time; reading blocks as read(2) does.
 */
#ifndef PASSTALLY_JSON_LINES_H
#define PASSTALLY_JSON_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_lines {
	int fd; /* -1 = memory */
	bool owns_fd;
	const char *memory; /* what is left of it */
	size_t memory_left;
	char *buffer;
	size_t size; /* without the padding */
	size_t start, fill; /* bytes not yet handed out stand between them */
	bool at_end; /* the source has no more */
	uint64_t done, total;
	int error; /* errno of the read that failed */
};

enum tally_lines_status {
	TALLY_LINES_OK = 0,
	TALLY_LINES_END,
	TALLY_LINES_TOO_LONG,
	TALLY_LINES_IO,
	TALLY_LINES_NO_MEMORY,
};

/* `fd` -1: read `memory`. Cannot fail: memory is taken at the first line. */
void
tally_lines_init(struct tally_lines *lines, int fd, bool owns_fd, const char *memory, size_t len);
void tally_lines_finish(struct tally_lines *lines);
/* The next line without its newline; *whole is false for a last one that had none. It may be
 * written to and is valid until the next call. */
enum tally_lines_status
tally_lines_next(struct tally_lines *lines, char **line, size_t *len, bool *whole);

#endif

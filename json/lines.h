/* SPDX-License-Identifier: MIT */
/* json/lines.h - reads any source of bytes line by line.
 *
 * A line is returned in a buffer that the caller may write to, with the room after it that
 * json/reader.h requires. Memory is bounded by the longest line, at most TALLY_LINE_MAX. One
 * thread at a time; reading blocks as the source does.
 */
#ifndef PASSTALLY_JSON_LINES_H
#define PASSTALLY_JSON_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tally_lines_status {
	TALLY_LINES_OK = 0,
	TALLY_LINES_END,
	TALLY_LINES_CUT, /* the source ended too early: all that it had was returned */
	TALLY_LINES_TOO_LONG,
	TALLY_LINES_DAMAGED, /* the source's own bytes are invalid */
	TALLY_LINES_IO,
	TALLY_LINES_NO_MEMORY,
};

/* A source of bytes: a file, a decompressor. */
struct tally_lines_source {
	void *user;
	/* Returns up to `size` bytes. TALLY_LINES_OK with *n > 0; _END or _CUT; or a failure:
	 * then *why is a sentence without place or name, valid for the source's life. */
	enum tally_lines_status (*read)(void *user, char *to, size_t size, size_t *n,
					const char **why);
	/* In the source's own unit; *total 0: not known. */
	void (*progress)(void *user, uint64_t *done, uint64_t *total);
	void (*close)(void *user);
};

struct tally_lines {
	struct tally_lines_source source;
	char *buffer;
	size_t size; /* without the padding */
	size_t start, fill; /* bytes not yet returned are between them */
	bool at_end; /* there are no more bytes */
	bool cut; /* but there should be more */
	bool growing; /* more may come: a last line waits for its end */
	const char *why; /* why reading failed, from the source */
};

/* The source is closed by tally_lines_finish(). Cannot fail: memory is allocated at the first
 * line. */
void
tally_lines_init(struct tally_lines *lines, const struct tally_lines_source *source, bool growing);
void tally_lines_finish(struct tally_lines *lines);
/* Returns the next line without its newline; *whole is false for a last one that had none. It
 * may be written to and is valid until the next call. */
enum tally_lines_status
tally_lines_next(struct tally_lines *lines, char **line, size_t *len, bool *whole);

#endif

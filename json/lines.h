/* SPDX-License-Identifier: MIT */
/* json/lines.h - whatever gives bytes, line by line.
 *
 * A line is handed out in a buffer the caller may write to, with room after it for what
 * json/reader.h wants. Memory is bounded by the longest line, at most TALLY_LINE_MAX. One thread at
 * a time; reading blocks as the source does.
 */
#ifndef PASSTALLY_JSON_LINES_H
#define PASSTALLY_JSON_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tally_lines_status {
	TALLY_LINES_OK = 0,
	TALLY_LINES_END,
	TALLY_LINES_CUT, /* the source ended where it should not: all it had was given */
	TALLY_LINES_TOO_LONG,
	TALLY_LINES_DAMAGED, /* the source makes no sense of its own bytes */
	TALLY_LINES_IO,
	TALLY_LINES_NO_MEMORY,
};

/* Where the bytes come from: a file, a decompressor. */
struct tally_lines_source {
	void *user;
	/* Up to `size` bytes. TALLY_LINES_OK with *n > 0; _END or _CUT; or a failure: then *why is
	 * a sentence without place or name, valid for the source's life. */
	enum tally_lines_status (*read)(void *user, char *to, size_t size, size_t *n,
					const char **why);
	/* By the source's own measure; *total 0: not known. */
	void (*progress)(void *user, uint64_t *done, uint64_t *total);
	void (*close)(void *user);
};

struct tally_lines {
	struct tally_lines_source source;
	char *buffer;
	size_t size; /* without the padding */
	size_t start, fill; /* bytes not yet handed out stand between them */
	bool at_end; /* there is no more */
	bool cut; /* and there should be */
	bool growing; /* more may come: a last line waits for its newline, an end is not the last */
	const char *why; /* reading failed, in the source's words */
};

/* The source is closed by tally_lines_finish(). Cannot fail: memory is taken at the first line. */
void
tally_lines_init(struct tally_lines *lines, const struct tally_lines_source *source, bool growing);
void tally_lines_finish(struct tally_lines *lines);
/* The next line without its newline; *whole is false for a last one that had none. It may be
 * written to and is valid until the next call. */
enum tally_lines_status
tally_lines_next(struct tally_lines *lines, char **line, size_t *len, bool *whole);

#endif

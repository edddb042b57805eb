/* SPDX-License-Identifier: MIT */
/* tests/unit/json/log_bytes.h - a log in memory or in a file, for the reader.
 *
 * One thread. A source is freed with its reader.
 */
#ifndef PASSTALLY_TESTS_UNIT_LOG_BYTES_H
#define PASSTALLY_TESTS_UNIT_LOG_BYTES_H

#include "json/record_json.h"
#include "json/record_read.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct log_bytes {
	int fd; /* -1 = memory */
	const char *bytes;
	size_t len, at;
};

static inline enum tally_lines_status
log_bytes_read(void *user, char *to, size_t size, size_t *n, const char **why)
{
	struct log_bytes *log = user;
	size_t left = log->len - log->at;
	if (log->fd < 0) {
		*n = left < size ? left : size;
		if (*n)
			memcpy(to, log->bytes + log->at, *n);
	} else {
		ssize_t got = read(log->fd, to, size);
		*why = "it cannot be read";
		if (got < 0)
			return TALLY_LINES_IO;
		*n = (size_t)got;
	}
	log->at += *n;
	return *n ? TALLY_LINES_OK : TALLY_LINES_END;
}

static inline void
log_bytes_progress(void *user, uint64_t *done, uint64_t *total)
{
	const struct log_bytes *log = user;
	*done = log->at;
	*total = log->len;
}

static inline void
log_bytes_close(void *user)
{
	struct log_bytes *log = user;
	if (log->fd >= 0)
		close(log->fd);
	free(log);
}

/* False: out of memory. `bytes` outlive it. */
static inline bool
log_bytes_source(struct tally_lines_source *source, int fd, const char *bytes, size_t len)
{
	struct log_bytes *log = malloc(sizeof(*log));
	if (log)
		*log = (struct log_bytes){ .fd = fd, .bytes = bytes, .len = len };
	*source = (struct tally_lines_source){ log, log_bytes_read, log_bytes_progress,
					       log_bytes_close };
	return log != NULL;
}

/* NULL: out of memory. `bytes` outlive the reader. */
static inline struct tally_log_reader *
open_log_bytes(const char *bytes, size_t len)
{
	struct tally_lines_source source;
	if (!log_bytes_source(&source, -1, bytes, len))
		return NULL;
	struct tally_log_reader *reader = tally_log_reader_open(&source, false);
	if (!reader)
		free(source.user);
	return reader;
}

/* NULL: it cannot be opened. */
static inline struct tally_log_reader *
open_log_file(const char *path)
{
	struct tally_lines_source source;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !log_bytes_source(&source, fd, NULL, 0))
		return NULL;
	return tally_log_reader_open(&source, false);
}

#endif

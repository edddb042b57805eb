/* SPDX-License-Identifier: MIT */
#include "cli/log/input.h"

#include "cli/shared/cli.h"
#include "json/record_read.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define INPUT_SIZE (256u << 10)

struct input {
	int fd;
	bool owns_fd;
	bool looked; /* the first bytes were examined */
	uint64_t done, total; /* in bytes of the file */
	ZSTD_DStream *zstd; /* NULL = plain text; its window takes at most 128 MiB */
	bool inside; /* the stream is in the middle of a frame, of which there are several */
	char *packed; /* bytes of the file, at most INPUT_SIZE */
	size_t n_packed, taken;
	GByteArray *spool; /* NULL = none: bytes kept, or to be read before those of `fd` */
	bool replay; /* the spool is read, from `replayed` on; else it is filled */
	size_t replayed;
	char why[160];
};

/* The bytes that another input has kept; 0: all were given. */
static size_t
read_spool(struct input *in, char *to, size_t size)
{
	if (!in->spool || !in->replay)
		return 0;
	size_t n = MIN(size, in->spool->len - in->replayed);
	if (n) /* an empty spool has no memory */
		memcpy(to, in->spool->data + in->replayed, n);
	in->replayed += n;
	if (in->replayed == in->spool->len)
		g_clear_pointer(&in->spool, g_byte_array_unref);
	return n;
}

/* read(2), repeated after interruptions; -1 after setting the reason. */
static ssize_t
read_some(struct input *in, char *to, size_t size)
{
	size_t kept = read_spool(in, to, size);
	if (kept) {
		in->done += kept;
		return (ssize_t)kept;
	}
	ssize_t n;
	do
		n = read(in->fd, to, size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		g_snprintf(in->why, sizeof(in->why), "cannot be read: %s", g_strerror(errno));
	else
		in->done += (uint64_t)n;
	if (n > 0 && in->spool)
		g_byte_array_append(in->spool, (const guint8 *)to, (guint)n);
	return n;
}

static bool
is_zstd(const unsigned char *b, size_t n)
{
	static const unsigned char frame[] = { 0x28, 0xb5, 0x2f, 0xfd };
	static const unsigned char skippable[] = { 0x2a, 0x4d, 0x18 };
	return n >= 4 && (memcmp(b, frame, 4) == 0 ||
			  ((b[0] & 0xf0) == 0x50 && memcmp(b + 1, skippable, 3) == 0));
}

/* The first bytes decide the format. They are plain text (*n bytes of it), or they move to
 * in->packed. */
static enum tally_lines_status
look(struct input *in, char *to, size_t size, size_t *n)
{
	enum { ENOUGH = 4 };
	ssize_t got = 1;
	while (*n < ENOUGH && *n < size && (got = read_some(in, to + *n, size - *n)) > 0)
		*n += (size_t)got;
	if (got < 0)
		return TALLY_LINES_IO;
	in->looked = true;
	if (!is_zstd((const unsigned char *)to, *n))
		return *n ? TALLY_LINES_OK : TALLY_LINES_END;
	in->zstd = ZSTD_createDStream();
	g_strlcpy(in->why, "out of memory", sizeof(in->why));
	if (!in->zstd)
		return TALLY_LINES_IO;
	in->packed = g_malloc(INPUT_SIZE);
	in->n_packed = *n;
	memcpy(in->packed, to, *n);
	*n = 0;
	return TALLY_LINES_OK;
}

/* Unpacks what fits in `to`; 0: there is no more input. SIZE_MAX after setting the reason. */
static size_t
unpack(struct input *in, char *to, size_t size)
{
	ZSTD_inBuffer from = { .src = in->packed, .size = in->n_packed, .pos = in->taken };
	ZSTD_outBuffer out = { .dst = to, .size = size };
	/* Buffered output is drained without new input; after the end of a frame the next
	 * one is started. */
	while (out.pos == 0 && (from.pos < from.size || in->inside)) {
		size_t before = from.pos;
		size_t left = ZSTD_decompressStream(in->zstd, &out, &from);
		if (ZSTD_isError(left)) {
			g_snprintf(in->why, sizeof(in->why),
				   "the compressed file cannot be unpacked from here on: "
				   "zstd says \"%s\"",
				   ZSTD_getErrorName(left));
			return SIZE_MAX;
		}
		in->inside = left != 0;
		if (out.pos == 0 && from.pos == before)
			break;
	}
	in->taken = from.pos;
	return out.pos;
}

static enum tally_lines_status
read_packed(struct input *in, char *to, size_t size, size_t *n)
{
	while ((*n = unpack(in, to, size)) == 0) {
		ssize_t more = read_some(in, in->packed, INPUT_SIZE);
		if (more < 0)
			return TALLY_LINES_IO;
		if (more == 0)
			return in->inside ? TALLY_LINES_CUT : TALLY_LINES_END;
		in->n_packed = (size_t)more;
		in->taken = 0;
	}
	return *n == SIZE_MAX ? TALLY_LINES_DAMAGED : TALLY_LINES_OK;
}

static enum tally_lines_status
input_read(void *user, char *to, size_t size, size_t *n, const char **why)
{
	struct input *in = user;
	*why = in->why;
	*n = 0;
	if (!in->looked) {
		enum tally_lines_status status = look(in, to, MIN(size, INPUT_SIZE), n);
		if (status != TALLY_LINES_OK || *n)
			return status;
	}
	if (in->zstd)
		return read_packed(in, to, size, n);
	ssize_t got = read_some(in, to, size);
	*n = got > 0 ? (size_t)got : 0;
	return got < 0 ? TALLY_LINES_IO : got == 0 ? TALLY_LINES_END : TALLY_LINES_OK;
}

static void
input_progress(void *user, uint64_t *done, uint64_t *total)
{
	const struct input *in = user;
	*done = in->done;
	*total = in->total;
}

static void
input_close(void *user)
{
	struct input *in = user;
	ZSTD_freeDStream(in->zstd);
	g_free(in->packed);
	if (in->spool)
		g_byte_array_unref(in->spool);
	if (in->owns_fd)
		close(in->fd);
	g_free(in);
}

/* A source for the bytes of an open file, from its current position. Closing the source
 * closes `fd` if it owns it. */
static void
init_source(struct tally_lines_source *source, int fd, bool owns_fd)
{
	struct input *in = g_new0(struct input, 1);
	in->fd = fd;
	in->owns_fd = owns_fd;
	struct stat file;
	if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode))
		in->total = (uint64_t)file.st_size;
	*source = (struct tally_lines_source){
		.user = in,
		.read = input_read,
		.progress = input_progress,
		.close = input_close,
	};
}

/* -1 after setting status and error. */
static int
open_file(const char *path, enum tally_read_status *status, struct tally_read_error *error)
{
	*error = (struct tally_read_error){ 0 };
	*status = TALLY_READ_OK;
	bool standard = strcmp(path, "-") == 0;
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		*status = TALLY_READ_IO;
		g_snprintf(error->message, sizeof(error->message), "cannot be opened: %s",
			   g_strerror(errno));
	}
	return fd;
}

/* Gives the source to a reader, or closes it. */
static struct tally_log_reader *
open_reader(struct tally_lines_source *source, bool growing,
	    enum tally_read_status *status, struct tally_read_error *error)
{
	struct tally_log_reader *reader = tally_log_reader_open(source, growing);
	*status = reader ? TALLY_READ_OK : TALLY_READ_NO_MEMORY;
	if (!reader) {
		source->close(source->user);
		g_snprintf(error->message, sizeof(error->message), "out of memory");
	}
	return reader;
}

struct tally_log_reader *
tally_log_input_open(const char *path, enum tally_read_status *status,
		     struct tally_read_error *error)
{
	int fd = open_file(path, status, error);
	if (fd < 0)
		return NULL;
	struct tally_lines_source source;
	init_source(&source, fd, strcmp(path, "-") != 0);
	return open_reader(&source, false, status, error);
}

struct tally_log_reader *
tally_log_input_follow(int fd)
{
	struct tally_lines_source source;
	enum tally_read_status status;
	struct tally_read_error error;
	init_source(&source, fd, false);
	return open_reader(&source, true, &status, &error);
}

struct tally_log_reader *
tally_log_input_open_ahead(const char *path, bool skip_bad,
			   bool (*wants)(void *user, const struct tally_log_line *line), void *user,
			   enum tally_read_status *status, struct tally_read_error *error)
{
	int fd = open_file(path, status, error);
	if (fd < 0)
		return NULL;
	struct stat file;
	bool regular = fstat(fd, &file) == 0 && S_ISREG(file.st_mode);
	off_t start = regular ? lseek(fd, 0, SEEK_CUR) : -1;
	GByteArray *spool = start < 0 ? g_byte_array_new() : NULL;
	struct tally_lines_source source;
	init_source(&source, fd, false);
	((struct input *)source.user)->spool = spool ? g_byte_array_ref(spool) : NULL;
	struct tally_log_reader *reader = open_reader(&source, false, status, error);
	if (reader) {
		/* Errors in the log are reported when it is read. */
		struct tally_read_error ignored;
		struct tally_log_line line;
		if (skip_bad)
			tally_log_reader_skip_bad(reader);
		while (tally_log_reader_next(reader, &line, &ignored) == TALLY_READ_OK &&
		       wants(user, &line))
			;
		tally_log_reader_close(reader);
	}
	if (start >= 0)
		lseek(fd, start, SEEK_SET);
	init_source(&source, fd, strcmp(path, "-") != 0);
	struct input *again = source.user;
	again->spool = spool;
	again->replay = true;
	return open_reader(&source, false, status, error);
}

static enum tally_read_status
refuse(struct tally_read_error *error, const char *message)
{
	*error = (struct tally_read_error){ .line = 1, .column = 1 };
	g_strlcpy(error->message, message, sizeof(error->message));
	return TALLY_READ_BAD;
}

enum tally_read_status
tally_log_read_lines(struct tally_log_reader *reader, const struct tally_log_taker *taker,
		     struct tally_skipped_lines *skipped, struct tally_read_error *error)
{
	enum tally_read_status status;
	struct tally_log_line line;
	struct tally_progress progress;
	tally_progress_begin(&progress, 1000);
	bool digest = false, ended = false;
	while ((status = tally_log_reader_next(reader, &line, error)) == TALLY_READ_OK) {
		uint64_t done, total;
		digest |= line.type == TALLY_LINE_HEADER && line.header.digest;
		ended = line.type == TALLY_LINE_END;
		if ((digest && !taker->digests) || !taker->take(taker->user, &line))
			break;
		tally_log_reader_progress(reader, &done, &total);
		tally_progress_read(&progress, taker->verb, taker->path, done, total);
	}
	tally_progress_end(&progress);
	if (digest && !taker->digests)
		status = refuse(error, TALLY_LOG_IS_DIGEST);
	else if (digest && !ended && status != TALLY_READ_OK && status != TALLY_READ_BAD)
		status = refuse(error, "a digest whose end is cut: what it came to is lost");
	if (skipped)
		*skipped = *tally_log_reader_skipped(reader);
	tally_log_reader_close(reader);
	return status;
}

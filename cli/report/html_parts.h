/* SPDX-License-Identifier: MIT */
/* cli/report/html_parts.h - the parts of a page of `report --html`; private to it. Nothing
 * here prints. One thread, unless said otherwise.
 */
#ifndef PASSTALLY_CLI_HTML_PARTS_H
#define PASSTALLY_CLI_HTML_PARTS_H

#include "cli/answer/answer.h"
#include "cli/log/aggregate.h"
#include "layer/record.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- html_bytes.c: byte streams that are written once and read back in order, with a
 * bounded part of each in memory. Streams that no longer change are read by any thread.
 *
 * Bytes that do not fit into the buffer of a stream go to a temporary file without a name, in
 * TMPDIR or /tmp, in blocks; each block begins with the number of the next. The file is created
 * with the first block, so a small log needs none. If it cannot be created or written, or there
 * is no spill, the bytes stay in memory. Nothing here prints. */

/* At most this many bytes per number. */
#define TALLY_HTML_NUMBER_BYTES 10

/* The file of all streams of a log. */
struct tally_html_spill {
	int fd; /* -1 = none yet */
	bool full; /* nothing more can be written to it */
	/* some bytes of it could not be read again: the streams are wrong; set atomically */
	bool unreadable;
	uint64_t n_blocks; /* given to streams */
};

struct tally_html_bytes {
	guint8 *data; /* the last bytes: those that are not in the file */
	size_t n, room;
	uint64_t n_blocks; /* in the file */
	uint64_t first, next; /* the first block, and the one for what comes next */
};

void tally_html_spill_init(struct tally_html_spill *spill);
void tally_html_spill_finish(struct tally_html_spill *spill);

/* A zeroed stream is empty. */
void tally_html_bytes_finish(struct tally_html_bytes *b);
uint64_t tally_html_bytes_length(const struct tally_html_bytes *b);
/* Makes room for TALLY_HTML_NUMBER_BYTES. */
void tally_html_bytes_make_room(struct tally_html_bytes *b, struct tally_html_spill *spill);

/* Writes a number to `at` and returns where it ends. */
static inline guint8 *
tally_html_write_unsigned(guint8 *at, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*at++ = (guint8)(v | 0x80);
	*at++ = (guint8)v;
	return at;
}

/* Appends a number; `spill` may be NULL. */
static inline void
tally_html_put_unsigned(struct tally_html_bytes *b, struct tally_html_spill *spill, uint64_t v)
{
	if (G_UNLIKELY(b->room - b->n < TALLY_HTML_NUMBER_BYTES))
		tally_html_bytes_make_room(b, spill);
	b->n = (size_t)(tally_html_write_unsigned(b->data + b->n, v) - b->data);
}

static inline void
tally_html_put_signed(struct tally_html_bytes *b, struct tally_html_spill *spill, int64_t v)
{
	tally_html_put_unsigned(b, spill, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

void tally_html_put_float(struct tally_html_bytes *b, struct tally_html_spill *spill, double v);
void tally_html_put_value(struct tally_html_bytes *b, struct tally_html_spill *spill,
			  struct tally_value v);

enum {
	TALLY_HTML_BLOCK_HEAD = 8, /* the number of the next block */
	TALLY_HTML_BLOCK_BYTES = 4072,
};

/* Reads a stream from its start; the stream must not change meanwhile. */
struct tally_html_cursor {
	const guint8 *at, *end; /* read, but not taken yet */
	const struct tally_html_bytes *bytes;
	struct tally_html_spill *spill;
	uint64_t block, blocks_left;
	bool in_memory; /* the bytes of the buffer were given */
	guint8 buffer[TALLY_HTML_BLOCK_HEAD + TALLY_HTML_BLOCK_BYTES];
};

void tally_html_cursor_begin(struct tally_html_cursor *c, const struct tally_html_bytes *b,
			     struct tally_html_spill *spill);
/* Once all bytes are taken: gives the next ones; false: there are none. Bytes past the end are
 * zero. */
bool tally_html_cursor_fill(struct tally_html_cursor *c);
/* Of any size. */
uint64_t tally_html_take_large(struct tally_html_cursor *c);
static inline uint64_t
tally_html_take_unsigned(struct tally_html_cursor *c)
{
	return c->at < c->end && *c->at < 0x80 ? *c->at++ : tally_html_take_large(c);
}
double tally_html_take_float(struct tally_html_cursor *c);
/* False: there are no more. */
bool tally_html_take_value(struct tally_html_cursor *c, struct tally_value *v);

/* ---- html_column.c: a compact encoding for a column of numbers, for a page that
 * draws them.
 *
 * A column is a list of (row, value), with ascending rows. Rows are stored as runs (rows
 * skipped, rows present). Whole numbers are stored as the difference from the previous one,
 * zigzag-encoded, seven bits per byte: exact over all 64 bits. Other numbers are 32-bit
 * floats, with their bytes grouped by position: accurate to seven digits, which is enough
 * for a chart (tables are made from the numbers themselves). A mixed column is stored as
 * floats. Nothing here prints. */

#define TALLY_HTML_EXACT_IN_DOUBLE (UINT64_C(1) << 53)
enum { TALLY_HTML_MOST_REPEATS = 16 };

struct tally_html_column {
	struct tally_html_bytes values, runs;
	uint64_t n; /* 0 = empty */
	uint64_t last; /* for whole numbers: the previous value */
	/* the open run, and the end of the previous one */
	uint64_t run_first, run_end, covered;
	uint64_t n_runs;
	bool real; /* stored as 32-bit floats */
	bool wide; /* some value needs more than the 53 bits of a double */
	bool is_signed;
	bool plain; /* not empty, and neither real nor signed, as most are */
};

void tally_html_column_finish(struct tally_html_column *c);
void tally_html_column_add_any(struct tally_html_column *c, struct tally_html_spill *spill,
			       uint64_t row, struct tally_value v);

/* `row` is larger than all before. A value that is not finite is left out. `spill` is the same
 * for the column's whole life; NULL: it stays in memory. */
static inline void
tally_html_column_add(struct tally_html_column *c, struct tally_html_spill *spill, uint64_t row,
		      struct tally_value v)
{
	bool usual = c->plain && row == c->run_end && v.storage == TALLY_STORAGE_U64 &&
		     v.u64 <= TALLY_HTML_EXACT_IN_DOUBLE;
	if (!usual) {
		tally_html_column_add_any(c, spill, row, v);
		return;
	}
	c->run_end++;
	c->n++;
	tally_html_put_signed(&c->values, spill, (int64_t)(v.u64 - c->last));
	c->last = v.u64;
}
/* Adds the last value of a `plain` column for the `n` next rows, at most TALLY_HTML_MOST_REPEATS;
 * false: there is no room, so that they are to be added one by one. */
bool tally_html_column_repeat(struct tally_html_column *c, uint32_t n);
/* Ends the last run: called once, after the last value and before the functions below. */
void tally_html_column_close(struct tally_html_column *c, struct tally_html_spill *spill);
/* Creates a new column of the means over blocks of `block` rows, at rows row / block. It is in
 * memory, and closed. */
void tally_html_column_thin(const struct tally_html_column *c, struct tally_html_spill *spill,
			    uint64_t block, struct tally_html_column *out);
/* Adds the column's values, in their order. It is empty or `plain`, and need not be closed. */
void tally_html_column_count(const struct tally_html_column *c, struct tally_html_spill *spill,
			     struct tally_stats *to);
/* Puts them to a stream. */
void tally_html_column_copy(const struct tally_html_column *c, struct tally_html_spill *spill,
			    struct tally_html_bytes *to);

/* ---- html_log.c: one log in the form that a page of `report --html` needs: columns
 * and passes in time order.
 *
 * The log is read through a watched aggregate (cli/log/aggregate.h): names, joins and
 * statistics are those of `passtally report`, so the page and the table never differ.
 * Anything else that the page needs is kept here: each frame's numbers, each pass's index in
 * its frame, each value of each pass, options and notes.
 * What grows with the log, about ten bytes per pass and three per value, goes to a temporary
 * file (html_bytes.c). */

enum tally_html_frame_column {
	TALLY_HTML_FRAME = 0,
	TALLY_HTML_START, /* relative to the start of the device's first frame */
	TALLY_HTML_CPU,
	TALLY_HTML_GPU,
	TALLY_HTML_ENVELOPE,
	TALLY_HTML_COVERAGE,
	TALLY_HTML_UNATTRIBUTED,
	TALLY_HTML_OVERHEAD,
	TALLY_HTML_DROPPED,
	TALLY_HTML_FLAGS, /* only if any frame has flags */
	TALLY_HTML_N_FRAME_COLUMNS,
};

/* What the page's tables show of a series. */
struct tally_html_summary {
	uint64_t n; /* 0: the others are not set */
	double total, mean;
	double sd; /* of a sample; NAN: there is one value */
	struct tally_value min, max;
	struct tally_value quantiles[3]; /* p50, p90, p99 */
	bool exact; /* so are the quantiles; else accurate to 0.1 % */
};

struct tally_html_series {
	struct tally_html_column column;
	/* All values as they came, for the summary. Empty: only U64 came, so the column has them
	 * exactly. */
	struct tally_html_bytes exact;
	struct tally_html_summary summary;
};

/* The data collected for a group; stored in group->watched. Values are collected for several
 * frames before each series receives its own: the series of all groups together are larger than
 * a processor's cache, so that accessing one for each value costs more than everything else. */
struct tally_html_device;
enum { TALLY_HTML_WAITING = TALLY_HTML_MOST_REPEATS };
struct tally_html_group {
	struct tally_html_device *device;
	uint32_t place; /* index within its device */
	uint32_t n_series;
	struct tally_html_series *series;
	uint32_t n_waiting; /* frames */
	uint64_t rows[TALLY_HTML_WAITING]; /* their numbers */
	struct tally_value *waiting; /* n_series of each of them */
	uint32_t *there; /* of each series: bit i is set if it has a value in frame i of these */
};

/* Properties that passes of a frame share; a pass refers to one of these. */
struct tally_html_kind {
	int32_t queue_family, queue_index; /* -1 = none */
	int64_t context; /* -1 = none */
	uint64_t flags;
	bool has_start, has_gpu, has_cpu;
};

struct tally_html_device {
	uint32_t device;
	bool any;
	uint64_t base_ns; /* start of the first frame */
	uint64_t rows;
	struct tally_html_column frames[TALLY_HTML_N_FRAME_COLUMNS];
	GPtrArray *groups; /* elements: struct tally_group *, by index */
	GArray *kinds; /* elements: struct tally_html_kind */
	struct tally_html_spill spill; /* of all columns */
	struct tally_html_bytes bars; /* the passes of each row, row after row */
	struct tally_html_bytes bar_lengths; /* how many bytes those of each row take */
};

struct tally_html_log {
	struct tally_aggregate aggregate;
	struct tally_aggregate_watch watch;
	GPtrArray *devices; /* elements: struct tally_html_device * */
	GArray *notes; /* elements: struct tally_note_record, whose texts are interned (GLib) */
	uint64_t notes_left_out;
	GPtrArray *options; /* elements: char *, alternating key and value: not the defaults */
	struct tally_answer *answer; /* concluded once the log is read */
	GPtrArray *argv; /* elements: char *; NULL = not in the log */
};

/* Returns TALLY_EXIT_OK, or the status of tally_aggregate_read_watched(). Always call
 * finish() afterwards. */
int tally_html_log_read(struct tally_html_log *log, const char *path, uint64_t warmup);
void tally_html_log_finish(struct tally_html_log *log);
/* The summary of a series' values; may reorder them. */
struct tally_html_summary tally_html_summarize(struct tally_stats *values);
/* Fills in s->summary, and takes back what that was made from except the column. On any thread. */
void tally_html_summarize_series(struct tally_html_series *s, struct tally_html_spill *spill);
/* The data kept for a device; NULL: no frame of it was read. */
struct tally_html_device *tally_html_log_device(const struct tally_html_log *log, uint32_t device);

/* ---- html_pack.c: the numbers of a page: columns, each compressed separately, one
 * after the other.
 *
 * Each is a zlib stream, so that a browser decompresses (DecompressionStream) only the
 * columns it shows. If the values of passes would make the page too large, they are replaced
 * by means over blocks of frames; the page says so. Nothing here prints. */

struct z_stream_s;

struct tally_html_pack {
	GByteArray *blob;
	GArray *columns; /* elements: struct tally_html_packed */
	struct z_stream_s *z; /* NULL: out of memory, all columns are missing */
};

enum tally_html_packed_kind {
	TALLY_HTML_WHOLE = 0,
	TALLY_HTML_REAL,
	TALLY_HTML_WIDE, /* whole numbers, beyond 53 bits */
	TALLY_HTML_WIDE_SIGNED,
	TALLY_HTML_BARS,
};

struct tally_html_packed {
	guint offset, length;
	enum tally_html_packed_kind kind;
};

void tally_html_pack_init(struct tally_html_pack *pack);
void tally_html_pack_finish(struct tally_html_pack *pack);

/* Returns the column's number, or -1 if it is empty. */
int tally_html_pack_column(struct tally_html_pack *pack, const struct tally_html_column *c,
			   struct tally_html_spill *spill);
/* Adds the passes of every `*step`-th frame; *step is a power of two, so large that they take at
 * most `most` bytes. */
int tally_html_pack_bars(struct tally_html_pack *pack, struct tally_html_device *d, size_t most,
			 uint64_t *step);
/* Adds the GPU times of all groups or (not `gpu`) all their other series: appends the
 * columns' numbers to `numbers` (int, by group and series). The values are exact, or means
 * over `*block` frames so that they take at most `most` bytes. */
void tally_html_pack_series(struct tally_html_pack *pack, struct tally_html_device *d, bool gpu,
			    size_t most, uint64_t *block, GArray *numbers);

/* ---- html_text.c, made by the build from data/html/ (scripts/build_page.py): the whole page,
 * with one marker, TALLY_HTML_MARK, where the numbers are inserted. */

#define TALLY_HTML_MARK "<!-- the logs -->"

extern const char tally_html_page[];
extern const size_t tally_html_page_len;

#endif

/* SPDX-License-Identifier: MIT */
/* cli/report/html_pack.h - the numbers of a page: columns, each compressed separately, one
 * after the other.
 *
 * Each is a zlib stream, so that a browser decompresses (DecompressionStream) only the
 * columns it shows. If the values of passes would make the page too large, they are replaced
 * by means over blocks of frames; the page says so. Nothing here prints. One thread.
 */
#ifndef PASSTALLY_CLI_HTML_PACK_H
#define PASSTALLY_CLI_HTML_PACK_H

#include "cli/report/html_log.h"

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

#endif

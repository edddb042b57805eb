/* cli/report/html_pack.h - the numbers of a page: columns, each compressed by itself, one
 * after the other.
 *
 * Each is a zlib stream, so that a browser unpacks (DecompressionStream) only what is looked
 * at. Where the values of passes would make the page too large, they become means of blocks
 * of frames; the page says so. Nothing here prints. One thread.
 */
#ifndef PASSTALLY_CLI_HTML_PACK_H
#define PASSTALLY_CLI_HTML_PACK_H

#include "cli/report/html_log.h"

struct tally_html_pack {
	GByteArray *blob;
	GArray *columns; /* elements: struct tally_html_packed */
	GByteArray *scratch;
};

enum tally_html_packed_kind {
	TALLY_HTML_WHOLE = 0,
	TALLY_HTML_REAL,
	TALLY_HTML_WIDE, /* whole, beyond 53 bits */
	TALLY_HTML_WIDE_SIGNED,
	TALLY_HTML_BARS,
};

struct tally_html_packed {
	guint offset, length;
	enum tally_html_packed_kind kind;
};

void tally_html_pack_init(struct tally_html_pack *pack);
void tally_html_pack_finish(struct tally_html_pack *pack);

/* The column's number, or -1: it is empty. */
int tally_html_pack_column(struct tally_html_pack *pack, const struct tally_html_column *c);
/* The passes of each `*step`-th frame; it grows from 1 until they take at most `most` bytes. */
int tally_html_pack_bars(struct tally_html_pack *pack, const struct tally_html_device *d,
			 size_t most, uint64_t *step);
/* The GPU times of all groups, or (not `gpu`) all their other series: appends the columns'
 * numbers to `numbers` (int, by group and series), as they are or as means of `*block`
 * frames, so that they take at most `most` bytes. */
void tally_html_pack_series(struct tally_html_pack *pack, const struct tally_html_device *d,
			    bool gpu, size_t most, uint64_t *block, GArray *numbers);

#endif

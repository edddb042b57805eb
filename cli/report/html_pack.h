/* SPDX-License-Identifier: MIT */
/* cli/report/html_pack.h - the numbers of a page: columns, one after the other, each a zlib
 * stream of its own, so that a browser unpacks (DecompressionStream) only those it shows.
 *
 * Numbers are as in memory, little-endian. One thread.
 */
#ifndef PASSTALLY_CLI_REPORT_HTML_PACK_H
#define PASSTALLY_CLI_REPORT_HTML_PACK_H

#include "cli/report/html_frames.h"
#include "cli/report/html_series.h"

struct tally_html_packed {
	guint offset, length;
};

struct tally_html_pack {
	GByteArray *blob, *column; /* the one that is made */
	GArray *columns; /* elements: struct tally_html_packed */
};

void tally_html_pack_init(struct tally_html_pack *pack);
void tally_html_pack_finish(struct tally_html_pack *pack);

/* These return the column's number; -1: it is empty. */

/* A double for each row. */
int tally_html_pack_frames(struct tally_html_pack *pack, const struct tally_html_frames *frames,
			   enum tally_html_frame_column column);
/* How many bytes of passes each row has (32 bits), then those of each. */
int tally_html_pack_passes(struct tally_html_pack *pack, const struct tally_html_frames *frames);
/* How many rows each point lies after the one before (32 bits), then the value of each (32 bits);
 * the last one ends the series. */
int tally_html_pack_series(struct tally_html_pack *pack, const struct tally_html_series *series);

#endif

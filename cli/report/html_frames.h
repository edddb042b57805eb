/* SPDX-License-Identifier: MIT */
/* cli/report/html_frames.h - the frames of a device for the page: their numbers, and the passes
 * of each in time order.
 *
 * There are at most TALLY_HTML_MOST_ROWS of them: of a longer run each row is the slowest of
 * `step` frames, one after the other. Passes take at most `most_bytes` together: if there are
 * more, those of the slowest of `pass_step` rows are kept. One thread.
 */
#ifndef PASSTALLY_CLI_REPORT_HTML_FRAMES_H
#define PASSTALLY_CLI_REPORT_HTML_FRAMES_H

#include <glib.h>
#include <stdint.h>

#define TALLY_HTML_MOST_ROWS 32768

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
	TALLY_HTML_FLAGS, /* NAN: none */
	/* Of the first frame of those that the row stands for, not the slowest: a chart of these
	 * shows what is usual. */
	TALLY_HTML_SAMPLE_CPU,
	TALLY_HTML_SAMPLE_GPU,
	TALLY_HTML_N_FRAME_COLUMNS,
};

struct tally_html_frame {
	double columns[TALLY_HTML_N_FRAME_COLUMNS]; /* NAN: not known */
	uint8_t *passes; /* `n_bytes`; see html_log.c */
	uint32_t n_bytes; /* 0: not kept */
};

struct tally_html_frames {
	GArray *rows; /* elements: struct tally_html_frame */
	uint64_t n; /* all frames */
	uint32_t step, pass_step; /* powers of two */
	uint64_t n_bytes; /* of the passes of all rows */
	uint64_t most_bytes;
};

void tally_html_frames_init(struct tally_html_frames *frames, uint64_t most_bytes);
void tally_html_frames_finish(struct tally_html_frames *frames);
/* Adds the next frame, whose passes are copied. */
void tally_html_frames_add(struct tally_html_frames *frames, const struct tally_html_frame *frame);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/report/html_log.h - one log in the form that a page of `report --html` needs.
 *
 * The log is read through a watched aggregate (cli/log/aggregate.h): names, joins and
 * statistics are those of `passtally report`, so the page and the table never differ. What
 * else the page needs is kept here: the frames and their passes in time order, the course of
 * each value of each pass, options and notes. All of it is bounded, whatever the log's size:
 * series are halved when there are too many points. Nothing here prints. One thread.
 */
#ifndef PASSTALLY_CLI_REPORT_HTML_LOG_H
#define PASSTALLY_CLI_REPORT_HTML_LOG_H

#include "cli/answer/answer.h"
#include "cli/log/aggregate.h"
#include "layer/record.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* A series of values over the frames of a run, as steps: a point stands where the value changes,
 * and holds up to the next one; NAN is a row without a value. A count that is the same in every
 * frame is therefore one point. Rows are frames, or blocks of frames once the series was halved:
 * then a point is the mean of the block's values. Floats, which have seven digits, are enough for a
 * chart: tables are made from the values themselves. */
struct tally_html_point {
	uint32_t row;
	float value;
};

/* Zeroed it is empty. */
struct tally_html_series {
	struct tally_html_point *points;
	uint32_t n, room;
	uint32_t end; /* the row after the last one that has a value */
	/* of the row that is not among the points yet */
	uint32_t row, n_pending;
	double pending; /* the sum of its values */
};

/* The frames of a device: their numbers, and the passes of each in time order. There are at most
 * TALLY_HTML_MOST_ROWS of them, and passes of at most `most_bytes`: of a longer run each row is the
 * slowest of `step` frames, one after the other. */

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
	uint8_t *passes; /* `n_bytes`; see put_passes() */
	uint32_t n_bytes;
};

struct tally_html_frames {
	GArray *rows; /* elements: struct tally_html_frame */
	uint64_t n; /* all frames */
	uint32_t step; /* a power of two */
	uint64_t n_bytes; /* of the passes of all rows */
	uint64_t most_bytes;
};

/* What is kept of a group; stored in group->watched. */
struct tally_html_group {
	uint32_t place; /* index within its device */
	uint32_t n_series;
	struct tally_html_series *series; /* as those of the group */
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
	uint64_t base_ns; /* start of the first frame */
	struct tally_html_frames frames;
	uint64_t block; /* frames a row of the series, a power of two */
	GPtrArray *groups; /* elements: struct tally_group *, by index */
	GArray *kinds; /* elements: struct tally_html_kind */
	GByteArray *passes; /* of the frame being read */
};

struct tally_html_log {
	struct tally_aggregate aggregate;
	struct tally_aggregate_watch watch;
	unsigned share; /* the page has so many logs, which share its size */
	GPtrArray *devices; /* elements: struct tally_html_device * */
	GArray *notes; /* elements: struct tally_note_record, whose texts are interned (GLib) */
	uint64_t notes_left_out;
	struct tally_answer *answer; /* concluded once the log is read */
	bool has_pipelines;
};

/* Returns TALLY_EXIT_OK, or the status of tally_aggregate_read_watched(), which `command` is
 * for. Always call finish() afterwards. */
int tally_html_log_read(struct tally_html_log *log, const char *command, const char *path,
			uint64_t warmup, unsigned share);
void tally_html_log_finish(struct tally_html_log *log);
void tally_html_series_finish(struct tally_html_series *s);
/* The data kept for a device; NULL: no frame of it was read. */
struct tally_html_device *tally_html_log_device(const struct tally_html_log *log, uint32_t device);

#endif

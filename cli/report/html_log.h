/* SPDX-License-Identifier: MIT */
/* cli/report/html_log.h - one log in the form that a page of `report --html` needs: columns
 * and passes in time order.
 *
 * The log is read through a watched aggregate (cli/log/aggregate.h): names, joins and
 * statistics are those of `passtally report`, so the page and the table never differ.
 * Anything else that the page needs is kept here: each frame's numbers, each pass's index in
 * its frame, each value of each pass, options and notes.
 * What grows with the log, about ten bytes per pass and three per value, goes to a temporary
 * file (cli/report/html_bytes.h). One thread.
 */
#ifndef PASSTALLY_CLI_HTML_LOG_H
#define PASSTALLY_CLI_HTML_LOG_H

#include "cli/answer/answer.h"
#include "cli/log/aggregate.h"
#include "cli/report/html_column.h"

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

/* The data collected for a group; stored in group->watched. Values are collected for several
 * frames before each series receives its own: the series of all groups together are larger than
 * a processor's cache, so that accessing one for each value costs more than everything else. */
struct tally_html_device;
enum { TALLY_HTML_WAITING = 16 };
struct tally_html_group {
	struct tally_html_device *device;
	uint32_t place; /* index within its device */
	uint32_t n_series;
	struct tally_html_series {
		struct tally_html_column column;
		struct tally_stats stats;
	} * series;
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
/* The data kept for a device; NULL: no frame of it was read. */
struct tally_html_device *tally_html_log_device(const struct tally_html_log *log, uint32_t device);

#endif

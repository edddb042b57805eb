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
#include "cli/report/html_frames.h"
#include "cli/report/html_series.h"
#include "layer/record.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* What is kept of a group; stored in group->watched. */
struct tally_html_group {
	uint32_t place; /* index within its device */
	uint32_t n_series;
	struct tally_html_series *series; /* as those of the group */
};

/* What a pass draws to. */
struct tally_html_target {
	uint64_t id; /* of the pass */
	uint32_t width, height, layers, samples;
	char *formats; /* of its attachments, separated by blanks */
	enum tally_load_op load;
	enum tally_store_op store;
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
	GPtrArray *options; /* elements: char *, alternating key and value: not the defaults */
	struct tally_answer *answer; /* concluded once the log is read */
	GHashTable *targets; /* maps uint64_t * id to struct tally_html_target * */
	GPtrArray *argv; /* elements: char *; NULL = not in the log */
};

/* Returns TALLY_EXIT_OK, or the status of tally_aggregate_read_watched(). Always call
 * finish() afterwards. */
int tally_html_log_read(struct tally_html_log *log, const char *path, uint64_t warmup,
			unsigned share);
void tally_html_log_finish(struct tally_html_log *log);
/* The data kept for a device; NULL: no frame of it was read. */
struct tally_html_device *tally_html_log_device(const struct tally_html_log *log, uint32_t device);

#endif

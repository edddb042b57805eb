/* cli/report/html_log.h - one log as a page of `report --html` needs it: columns and passes
 * in time order.
 *
 * Reads through a watched aggregate (cli/log/aggregate.h): names, joins and statistics are
 * those of `passtally report`, so the page and the table never differ. What the page must
 * know beyond that is kept here: each frame's numbers, each pass's place in its frame, each
 * value of each pass, options, notes and what counters mean. Memory grows with the log: some
 * ten bytes a pass and three a value. One thread.
 */
#ifndef PASSTALLY_CLI_HTML_LOG_H
#define PASSTALLY_CLI_HTML_LOG_H

#include "cli/log/aggregate.h"
#include "cli/report/html_column.h"

enum tally_html_frame_column {
	TALLY_HTML_FRAME = 0,
	TALLY_HTML_START, /* since the device's first frame began */
	TALLY_HTML_CPU,
	TALLY_HTML_GPU,
	TALLY_HTML_ENVELOPE,
	TALLY_HTML_COVERAGE,
	TALLY_HTML_UNATTRIBUTED,
	TALLY_HTML_OVERHEAD,
	TALLY_HTML_DROPPED,
	TALLY_HTML_FLAGS, /* only where there are any */
	TALLY_HTML_N_FRAME_COLUMNS,
};

/* What a group gathers; group->watched. */
struct tally_html_group {
	uint32_t place; /* in its device */
	uint32_t n_series;
	struct tally_html_series {
		struct tally_html_column column;
		struct tally_stats stats;
	} * series;
};

/* What passes of a frame have in common; a pass names one of these. */
struct tally_html_kind {
	int32_t queue_family, queue_index; /* -1 = none */
	int64_t context; /* -1 = none */
	uint64_t flags;
	bool has_start, has_gpu;
};

struct tally_html_device {
	uint32_t device;
	bool any;
	uint64_t base_ns; /* start of the first frame */
	uint64_t rows;
	struct tally_html_column frames[TALLY_HTML_N_FRAME_COLUMNS];
	GPtrArray *groups; /* elements: struct tally_group *, by place */
	GHashTable *by_id; /* uint64_t * id -> struct tally_group * */
	GArray *kinds; /* elements: struct tally_html_kind */
	GByteArray *bars; /* a row's passes, one row after the other */
	GArray *bar_ends; /* elements: guint: where each row's end */
};

struct tally_html_note {
	enum tally_level level;
	char *source, *message;
	bool has_time;
	uint64_t time_ns;
};

struct tally_html_meaning {
	char *key, *name, *unit, *text, *source;
	const char *kind, *scope; /* NULL: a metric */
};

struct tally_html_log {
	struct tally_aggregate aggregate;
	struct tally_aggregate_watch watch;
	GPtrArray *devices; /* elements: struct tally_html_device * */
	GPtrArray *notes; /* elements: struct tally_html_note * */
	uint64_t notes_left_out;
	GHashTable *meanings; /* key -> struct tally_html_meaning * */
	GPtrArray *options; /* elements: char *: key, value, key, ... */
	GPtrArray *argv; /* elements: char *; NULL = not in the log */
};

/* TALLY_EXIT_OK, or what tally_aggregate_read says. Always needs finish(). */
int tally_html_log_read(struct tally_html_log *log, const char *path, uint64_t warmup);
void tally_html_log_finish(struct tally_html_log *log);

#endif

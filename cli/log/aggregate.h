/* cli/log/aggregate.h - a log read once, front to back, into what a report shows.
 *
 * Groups are passes (by identity), labels, frames or workloads (by pass and place in it). Within
 * one frame the segments of an id (or all passes of a label) are joined before they count as one
 * value; a value that one of them lacks is lacking in the whole. Ratios are not joined: they count
 * only where a group has one part in the frame. Memory grows with the number of groups, not with
 * the log (by frame it is the frames that are the groups). Nothing the reader lends is kept. One
 * thread.
 */
#ifndef PASSTALLY_CLI_AGGREGATE_H
#define PASSTALLY_CLI_AGGREGATE_H

#include "cli/shared/cli.h"
#include "cli/log/stats.h"
#include "json/record_json.h"
#include "query/statistics/join.h"

#include <glib.h>

enum tally_by { TALLY_BY_PASS = 0, TALLY_BY_FRAME, TALLY_BY_LABEL, TALLY_BY_WORKLOAD };

/* Series every group has; counters and metrics follow, in the order of aggregate->keys. */
enum tally_series_index {
	TALLY_SERIES_GPU = 0,
	TALLY_SERIES_DRAWS,
	TALLY_SERIES_VERTICES,
	TALLY_SERIES_INSTANCES,
	TALLY_SERIES_DISPATCHES,
	TALLY_SERIES_COPIES,
	TALLY_SERIES_CLEARS,
	TALLY_SERIES_CALLS,
	TALLY_N_FIXED_SERIES,
};

struct tally_key {
	char *key;
	char *unit; /* NULL = not said, or devices do not agree */
	bool described; /* by a device line, so `unit` was read */
	bool metric;
	enum tally_join join;
};

struct tally_series {
	struct tally_value part; /* of the frame being read */
	uint32_t n_parts;
	bool estimated; /* at least one value is no measurement */
	struct tally_stats stats;
};

struct tally_group {
	uint32_t device;
	uint64_t id; /* of the first pass seen */
	uint32_t n_ids; /* > 1 only by label */
	char *label; /* as the game said it; NULL = none */
	char *name; /* for people, unique in its device; not yet escaped */
	enum tally_pass_kind kind;
	uint64_t flags;
	bool has_queue; /* Vulkan's, of all its passes unless `queues` */
	bool queues; /* more than one */
	int32_t queue_family, queue_index;
	uint64_t frames; /* in how many it was seen */
	uint32_t n_parts; /* passes in the frame being read */
	uint32_t n_series;
	struct tally_series *series;
	bool touched; /* in the frame being read */
	bool outside; /* not a pass: measured work that belongs to none */
	/* By workload only. */
	const char *command; /* NULL: this is a pass, which stands here for its name alone */
	const struct tally_group *pass; /* a workload's */
	uint64_t placed_in; /* a pass's: the frame its workloads are counted in, + 1 */
	GPtrArray *workloads; /* of struct tally_group *, by place */
	struct tally_group *other; /* a workload's: another command at the same place; or NULL */
	uint32_t n_placed; /* in that frame so far, over all segments */
	void *watched; /* a watcher's own; NULL at first */
	/* By frame only. */
	uint64_t frame;
	struct tally_frame_record record; /* numbers only; its pointers are NULL */
};

struct tally_device_summary {
	uint32_t device;
	bool described; /* its `device` line was read */
	enum tally_api api;
	char *name, *driver, *driver_version, *serialized_by;
	int64_t beneath;
	bool has_queue; /* the first one seen */
	int32_t queue_family, queue_index;
	GPtrArray *off; /* of char *: "source: reason" */
	uint64_t seen; /* frames read, those dropped included */
	uint64_t frames; /* that count: after warm-up, complete */
	uint64_t partial, warmed_up;
	struct tally_stats cpu, gpu, overhead;
	struct tally_int192 gpu_total; /* of complete and partial frames */
	struct tally_int192 unattributed;
	bool has_unattributed;
	double covered, coverable; /* coverage weighted by GPU time */
	uint64_t dropped_passes;
	uint64_t flags;
	struct tally_group *outside; /* NULL = none; also among the groups */
};

/* Who wants to see values one by one, as they are joined: then the series keep none (moments.n
 * stays 0), so that memory is the watcher's business. */
struct tally_aggregate_watch {
	void *user;
	/* Each line, before anything is made of it; NULL = not wanted. */
	void (*line)(void *user, const struct tally_log_line *line);
	void (*header)(void *user, const struct tally_header_record *header);
	/* A known value of a group in a frame. */
	void (*value)(void *user, struct tally_group *g, uint32_t series, struct tally_value v);
	/* After the values of a frame; `groups` were seen in it. */
	void (*frame)(void *user, const struct tally_frame_record *frame, const GPtrArray *groups);
};

struct tally_aggregate {
	enum tally_by by;
	uint64_t warmup;
	const struct tally_aggregate_watch *watch; /* NULL = none */
	char *path;
	struct tally_header_record header; /* numbers only */
	char *program, *version;
	GArray *keys; /* of struct tally_key */
	GPtrArray *groups; /* of struct tally_group *, in order of appearance */
	GPtrArray *devices; /* of struct tally_device_summary *, by number */
	bool several_queues; /* of one device are there */
	GPtrArray *notes; /* of char *, each once */
	bool truncated; /* the last line is cut */
	struct tally_read_error cut;
	bool has_end;
	char *end_reason;
	uint64_t end_frames, end_frames_dropped, end_passes;
	/* Private to aggregate.c. */
	struct tally_aggregate_state *state;
};

/* Read `path` ("-" is standard input). TALLY_EXIT_OK, or TALLY_EXIT_BAD_LOG or _FAILED after one
 * line on standard error: "PATH:LINE:COLUMN: message". A log whose last line is cut is good. */
int tally_aggregate_read(struct tally_aggregate *a, const char *command, const char *path,
			 enum tally_by by, uint64_t warmup);
/* The same by pass, each value shown to `watch`. */
int tally_aggregate_watch(struct tally_aggregate *a, const char *command, const char *path,
			  uint64_t warmup, const struct tally_aggregate_watch *watch);
/* The same for one who reads the lines: begin by naming the log, then hand in line by line. */
void tally_aggregate_begin(struct tally_aggregate *a, const char *path,
			   const struct tally_aggregate_watch *watch);
void tally_aggregate_add(struct tally_aggregate *a, const struct tally_log_line *line);
void tally_aggregate_finish(struct tally_aggregate *a);

/* By number, or NULL. */
struct tally_device_summary *
tally_aggregate_device(const struct tally_aggregate *a, uint32_t device);
/* Is the device lower than another that is in the log too (so that showing both counts twice)? */
bool tally_aggregate_is_beneath(const struct tally_aggregate *a, uint32_t device);

/* cli/log/series.c: values of a series, and the words for them. */
void tally_series_add_part(struct tally_series *series, struct tally_value v, enum tally_join join);

/* GPU time of a group over the device's: 0 to 1; negative = not known. */
double tally_group_share(const struct tally_aggregate *a, const struct tally_group *g);
/* The word of a series in JSON, CSV and --sort: "gpu_ns", "draws", a counter's key. */
const char *tally_series_name(const struct tally_aggregate *a, uint32_t series);
const char *tally_series_unit(const struct tally_aggregate *a, uint32_t series);
uint32_t tally_n_series(const struct tally_aggregate *a);
/* Has any group a value other than 0 in it? */
bool tally_series_in_use(const struct tally_aggregate *a, uint32_t series);

#endif

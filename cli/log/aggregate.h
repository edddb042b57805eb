/* SPDX-License-Identifier: MIT */
/* cli/log/aggregate.h - a log read once, front to back, and summarized for a report.
 *
 * Rows are passes (by identity), labels, frames, pipelines or workloads (by pass and index in
 * it), as a grouping says (cli/log/grouping.h).
 * Within one frame the segments of an id (or all passes of a label) are joined before they
 * count as one value; if one of them lacks a value, the joined value is missing. Ratios are
 * not joined: they count only where a group has one part in the frame. Grouped by label, each
 * node of the tree of labels also has a roll-up: a group that counts its passes a second time.
 * Memory grows with the number of groups, not with the log (when grouping by frame, the frames
 * are the groups). No memory of the reader is kept: texts of the header, devices and the end are
 * interned (GLib). One thread.
 */
#ifndef PASSTALLY_CLI_AGGREGATE_H
#define PASSTALLY_CLI_AGGREGATE_H

#include "cli/shared/cli.h"
#include "cli/log/identity.h"
#include "cli/log/queues.h"
#include "cli/log/stats.h"
#include "cli/log/target_size.h"
#include "cli/log/warmup.h"
#include "json/record_json.h"
#include "query/statistics/join.h"

#include <glib.h>

struct tally_grouping; /* cli/log/grouping.h */

/* Series every group has; counters and metrics follow. */
enum tally_series_index {
	TALLY_SERIES_GPU = 0,
	TALLY_SERIES_DRAWS, /* from here on as in tally_call_count_names */
	TALLY_SERIES_VERTICES,
	TALLY_SERIES_INSTANCES,
	TALLY_SERIES_DISPATCHES,
	TALLY_SERIES_COPIES,
	TALLY_SERIES_CLEARS,
	TALLY_SERIES_CALLS,
	TALLY_N_FIXED_SERIES,
};

/* The texts are interned (GLib). */
struct tally_key {
	const char *key;
	const char *unit; /* NULL = not stated, or the devices disagree */
	bool described; /* a device line describes the key, so what follows was read */
	/* as in the last of these lines; NULL = not stated */
	const char *name, *text, *source;
	const char *kind, *scope; /* NULL: a metric */
	bool metric;
	enum tally_join join;
};

struct tally_series {
	bool estimated; /* at least one value is an estimate */
	struct tally_stats stats;
};

/* The values of a series in the frame being read. Separate from the series, so that they are
 * close together in memory. */
struct tally_joined {
	struct tally_value value;
	uint32_t n; /* number of values that are joined in it */
};

/* The queue of a row's passes (Vulkan). */
struct tally_row_queue {
	bool known, several; /* several: its passes ran on more than one */
	int32_t family, index;
};

/* What the work outside passes is called, and where it is that of passes that share one time. */
#define TALLY_OUTSIDE_PASSES "(not in a pass)"
#define TALLY_DRAWN_TOGETHER "(passes drawn together)"

struct tally_group {
	const struct tally_grouping *by; /* what it is a row of, hence its type; below */
	uint32_t device;
	uint64_t id; /* id of the first pass seen */
	const char *label; /* as the game set it; NULL = none */
	const char *name; /* for people, unique within its device; not yet escaped */
	bool given; /* a person gave it that name, which then stands for its label, too */
	enum tally_pass_kind kind;
	bool outside; /* not a pass: measured work that belongs to none */
	uint64_t flags;
	struct tally_row_queue queue;
	uint64_t frames; /* number of frames it was seen in */
	double index_sum; /* over those frames, of its first pass in the frame */
	uint32_t n_parts; /* number of passes in the frame being read; 0 = it is not in it */
	uint32_t n_series;
	struct tally_series *series;
	struct tally_joined *parts; /* of each series */
	void *watched; /* owned by a watcher; NULL at first */
};

struct tally_pass_row {
	struct tally_group group;
	const char *groups; /* the debug groups inside it, for people; NULL = none */
	struct tally_target_size size;
	/* The frame in which its workloads are being counted, plus 1, and how many there were. */
	uint64_t placed_in;
	uint32_t n_placed;
	int64_t surface; /* the last one that it drew to, plus 1; 0 = none */
	bool several_surfaces;
};

/* A pass of a frame with pictures (--pictures). */
struct tally_pictured_pass {
	uint32_t device;
	uint64_t id, frame;
	uint32_t number; /* of its pictures */
};

struct tally_label_row {
	struct tally_group group;
	uint32_t n_ids; /* of passes */
	bool rollup; /* all passes whose label is `label` or is below it in the tree of labels */
	struct tally_group *parent; /* the roll-up it belongs to; NULL = none */
	uint32_t n_below; /* of a roll-up: rows and roll-ups directly below it */
};

struct tally_frame_row {
	struct tally_group group;
	/* only the numbers of the record; its pointers are NULL */
	struct tally_frame_record record;
};

struct tally_workload_row {
	struct tally_group group;
	const struct tally_group *pass;
	uint32_t place; /* of the command in the pass */
	const char *command; /* interned (GLib) */
	/* In the last frame that had it: its number among the commands of that word, from 1
	 * (0 = not known); the debug groups inside the pass; what drew (NULL = none). */
	uint32_t number;
	const char *groups, *pipeline;
};

struct tally_pipeline_row {
	struct tally_group group;
	GTree *passes; /* keys: uint64_t *, the ids of those it worked in */
};

/* How many frames presented a surface of this size. */
struct tally_surface {
	uint32_t width, height;
	uint64_t frames;
};

/* The GPU's clock over the frames of a device. */
struct tally_clock_range {
	double median_mhz;
	double low_mhz, high_mhz; /* 5 of 100 frames are slower, 5 faster */
	double moved; /* high less low, as a part of the median */
};
/* A clock that moved by more than this makes times of one run differ. */
#define TALLY_CLOCK_MOVED 0.05

struct tally_device_summary {
	uint32_t device;
	bool described; /* its `device` line was read */
	enum tally_api api;
	const char *name, *driver, *driver_version, *serialized_by;
	uint32_t vendor_id; /* 0 = not known */
	bool has_device_id;
	uint32_t device_id;
	uint32_t driver_id; /* VkDriverId, 0 = none */
	const char *pci, *uuid; /* NULL = not known */
	/* The last present mode that its lines name, or NULL; whether one did that waits for the
	 * screen, or one that does not. */
	const char *present_mode;
	bool waits_for_screen, waits_for_none;
	bool software; /* Vulkan: the device is the CPU */
	GArray *surfaces; /* elements: struct tally_surface, one for each size presented */
	int64_t beneath;
	bool has_queue; /* queue of the first pass seen */
	int32_t queue_family, queue_index;
	GPtrArray *off; /* elements: char *: "source: reason" */
	uint64_t seen; /* frames read, including dropped ones */
	uint64_t first, missed; /* the first frame's number; those not there since then */
	struct tally_group *outside; /* NULL = none; also among the groups */
	/* Of frames, up to the end: tally_aggregate_forget_frames(). */
	uint64_t frames; /* frames that count: after warm-up and complete */
	uint64_t partial;
	uint64_t warmed_up, warmed_up_ns; /* frames left out at the start, their frame time */
	struct tally_stats cpu, gpu, overhead;
	struct tally_stats clock; /* MHz, of the metric gpu_clock; see tally_aggregate_clock() */
	struct tally_queues queues_at_once;
	struct tally_int192 gpu_total; /* GPU time of complete and partial frames */
	struct tally_int192 unattributed;
	bool has_unattributed;
	double covered, coverable; /* for the coverage, weighted by GPU time */
	uint64_t dropped_passes;
	uint64_t flags;
};

/* A watcher is called while a log is read; members that are NULL are not called. If the first one
 * takes values (tally_group_value()), the series keep none (moments.n stays 0), so that memory use
 * is up to the watcher. */
struct tally_aggregate_watch {
	void *user;
	bool takes_values;
	/* Called for each line before it is processed. */
	void (*line)(void *user, const struct tally_log_line *line);
	/* Called for a frame; `groups` are those that occur in it. */
	void (*frame)(void *user, const struct tally_frame_record *frame,
		      const GPtrArray *groups);
	/* Called for a frame that is left out because it belongs to the warm-up. */
	void (*skipped)(void *user, const struct tally_frame_record *frame);
	const struct tally_aggregate_watch *then; /* another one, called after it; NULL = none */
};

struct tally_aggregate {
	const struct tally_grouping *by;
	uint64_t warmup; /* frames, or TALLY_WARMUP_AUTO */
	const struct tally_aggregate_watch *watch; /* NULL = none */
	char *path;
	struct tally_header_record header; /* only the numbers of the header */
	const char *program, *version;
	/* elements: struct tally_pictured_pass, in the order of frames; also of the warm-up */
	GArray *pictured;
	const char *waits; /* the option by which a capture starts late: "--skip 30"; NULL = none */
	struct tally_log_identity identity;
	GArray *keys; /* elements: struct tally_key, of each series */
	GPtrArray *groups; /* elements: struct tally_group *, in order of appearance */
	GPtrArray *devices; /* elements: struct tally_device_summary *, by number */
	bool several_queues; /* a device has more than one queue */
	GPtrArray *notes; /* elements: char *, without duplicates */
	bool paused; /* the capture, at the end */
	bool truncated; /* the last line is incomplete */
	bool skips_bad;
	struct tally_skipped_lines skipped;
	bool has_end;
	const char *end_reason;
	uint64_t end_frames, end_frames_dropped;
	/* Private to aggregate.c. */
	struct tally_aggregate_state *state;
};

/* Reads `path` ("-" is standard input). Returns TALLY_EXIT_OK, or TALLY_EXIT_BAD_LOG or
 * TALLY_EXIT_FAILED after one line on standard error: "PATH:LINE:COLUMN: message". A log
 * whose last line is incomplete is valid, and `command`, NULL for none, says so. `warmup` is a
 * number of frames of each device that are left out at the start, or TALLY_WARMUP_AUTO
 * (cli/log/warmup.h). `watch`, NULL for none, outlives the call. With `skip_bad` bad lines are
 * left out where that does not change the meaning of others (tally_log_reader_skip_bad()), and
 * listed in a->skipped. */
int tally_aggregate_read_watched(struct tally_aggregate *a, const char *command, const char *path,
				 const struct tally_grouping *by, uint64_t warmup,
				 const struct tally_aggregate_watch *watch, bool skip_bad);
/* Does the same for a caller that reads the lines itself: begin by naming the log, then add
 * line by line. */
void tally_aggregate_begin(struct tally_aggregate *a, const char *path,
			   const struct tally_aggregate_watch *watch);
void tally_aggregate_add(struct tally_aggregate *a, const struct tally_log_line *line);
/* Forgets what frames added: devices, names and rows stay, without values. */
void tally_aggregate_forget_frames(struct tally_aggregate *a);
void tally_aggregate_finish(struct tally_aggregate *a);

/* Finds the row that a pass belongs to (by pass or label) or one that has only its name; NULL if it
 * was not seen. */
struct tally_group *
tally_aggregate_find_pass(const struct tally_aggregate *a, uint32_t device, uint64_t id);
/* Whether any pass of the device was seen. */
bool tally_aggregate_has_pass(const struct tally_aggregate *a, uint32_t device);

/* Its `key` is the name of the series in JSON, CSV and --sort: "gpu_ns", "draws", a counter's. */
struct tally_key *tally_series_key(const struct tally_aggregate *a, uint32_t series);

/* The value of a group in the frame being read, for a watcher. False: it is not known, because
 * one of its parts is not, or because there are several values that are not joined. */
static inline bool
tally_group_value(const struct tally_aggregate *a, const struct tally_group *g, uint32_t series,
		  struct tally_value *out)
{
	const struct tally_joined *part = &g->parts[series];
	*out = part->value;
	return part->n == g->n_parts &&
	       (part->n == 1 || tally_series_key(a, series)->join != TALLY_JOIN_NONE);
}

/* cli/log/series.c: the values of a series and the words for them. */

/* The row as what it is by its grouping; NULL: it is a row of another. */
const struct tally_pass_row *tally_as_pass(const struct tally_group *g);
const struct tally_label_row *tally_as_label(const struct tally_group *g);
const struct tally_frame_row *tally_as_frame(const struct tally_group *g);
const struct tally_workload_row *tally_as_workload(const struct tally_group *g);
const struct tally_pipeline_row *tally_as_pipeline(const struct tally_group *g);
/* Whether it is a roll-up of labels; the name of a pass, or of the pass that it is a part of. */
bool tally_is_rollup(const struct tally_group *g);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/export/timeline.h - a log as tracks with events on them, as trace formats draw it.
 *
 * Each queue (Vulkan) or context (OpenGL) of a device has a track for what the CPU submitted
 * and one for what the GPU ran; passes nest in frames and in the parts of their labels, and
 * workloads in passes. Work that
 * overlaps on one queue goes to further tracks of the same name, so that events on a track
 * always nest. Times of a GPU clock that was never matched with the CPU's stay on separate
 * tracks. Slices of a track come in time order; other events come in no particular order.
 * Memory: the tracks, the names and one frame. One thread.
 */
#ifndef PASSTALLY_CLI_EXPORT_TIMELINE_H
#define PASSTALLY_CLI_EXPORT_TIMELINE_H

#include "cli/export/export.h"
#include "cli/log/identity.h"

enum tally_track_kind {
	TALLY_TRACK_PROCESS = 0, /* the root, number 1 */
	TALLY_TRACK_GROUP, /* a device; has no events */
	TALLY_TRACK_SLICES,
	TALLY_TRACK_METRIC, /* a number over time that passtally computes */
	TALLY_TRACK_COUNTER, /* a number that a source counted */
};

/* A GPU clock that was not matched with CLOCK_MONOTONIC. */
struct tally_timeline_clock {
	uint32_t number; /* counted from 0 */
	uint32_t device;
	/* For lack of a better match, its first timestamp is shown where the CPU began that
	 * frame. */
	uint64_t gpu_ns, cpu_ns;
};

struct tally_timeline_track {
	uint32_t number; /* counted from 1 */
	enum tally_track_kind kind;
	const struct tally_timeline_track *parent; /* NULL only for the root */
	char *name;
	char *description; /* NULL = none */
	char *unit; /* unit of a number track; NULL = not stated */
	int64_t device; /* -1: the track belongs to the run */
	int rank; /* position among its siblings */
	const struct tally_timeline_clock *clock; /* NULL = CLOCK_MONOTONIC */
};

enum tally_timeline_type {
	TALLY_TIMELINE_BEGIN = 0,
	TALLY_TIMELINE_END,
	TALLY_TIMELINE_INSTANT,
	TALLY_TIMELINE_NUMBERS, /* `n` numbers that are constant from `ns` to `end_ns` */
};

struct tally_timeline_event {
	enum tally_timeline_type type;
	const struct tally_timeline_track *track; /* NULL for numbers */
	uint64_t ns; /* on the track's clock */
	uint64_t end_ns; /* for BEGIN and NUMBERS */
	const char *name; /* for END: the name of the slice that ends */
	bool name_repeats; /* the same text will occur again, so a string table is worthwhile */
	const char *category;
	uint64_t flow; /* links the CPU's and the GPU's event of a pass; 0 = none */
	bool brief; /* another event carries the full details of the pass */
	/* The record it shows: the last of these that is set. */
	const struct tally_frame_record *frame;
	const struct tally_pass_record *pass;
	const struct tally_workload_record *workload;
	const struct tally_note_record *note;
	/* of a mark: the frame that contains it, if `has_number` */
	uint64_t number;
	bool has_number;
	/* For NUMBERS: the tracks are all of one kind and on one clock. */
	const struct tally_timeline_track *const *tracks;
	const struct tally_keyed_value *values;
	uint32_t n;
};

struct tally_timeline_sink {
	void *user;
	void (*track)(void *user, const struct tally_timeline_track *track);
	/* Called before the first event that uses the clock. */
	void (*clock)(void *user, const struct tally_timeline_clock *clock);
	void (*event)(void *user, const struct tally_timeline_event *event);
};

/* The contents of the header; default values before it was read. */
struct tally_timeline_run {
	char *program; /* "?" before the header was read */
	int64_t pid; /* 0 before that */
	struct tally_log_identity identity;
	struct tally_export_left left;
};

struct tally_timeline;
/* `sink` must outlive the timeline. */
struct tally_timeline *tally_timeline_create(const struct tally_timeline_sink *sink,
					     const struct tally_export_options *options);
void tally_timeline_line(struct tally_timeline *t, const struct tally_log_line *line);
/* Call once, after the last line. */
void tally_timeline_finish(struct tally_timeline *t);
void tally_timeline_destroy(struct tally_timeline *t);
/* Valid as long as the timeline. */
const struct tally_timeline_run *tally_timeline_run(const struct tally_timeline *t);

/* Whether the event is an instant that `passtally trigger mark` set. */
bool tally_timeline_is_mark(const struct tally_timeline_event *event);
/* Passes the arguments of its record that are useful besides its name (cli/export/args.c). */
void tally_timeline_see_args(const struct tally_timeline_event *event, tally_export_see *see,
			     void *user);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/export/tracks.h - the tracks of a timeline: which ones exist, and where an event goes.
 *
 * A device has a group, each queue or context of it a lane, each lane as many layers as its
 * events overlap, and each layer the tracks of its numbers. Tracks are created when first
 * needed and then announced to the sink. Only cli/export/timeline.c uses this file. One
 * thread.
 */
#ifndef PASSTALLY_CLI_EXPORT_TRACKS_H
#define PASSTALLY_CLI_EXPORT_TRACKS_H

#include "cli/export/timeline.h"
#include "cli/log/recent.h"

/* Overlap that needs more tracks than this for one queue is not drawn. */
#define TALLY_MOST_LAYERS 16

/* Ranks of a device's tracks: frames first, then those of each lane. */
enum {
	TALLY_RANK_FRAMES,
	TALLY_RANK_NUMBERS,
	TALLY_RANK_LANES,
	TALLY_RANKS_A_LANE = 4,
};

/* One of the tracks of a lane: events on it overlap only by nesting. */
struct tally_layer {
	struct tally_timeline_track *track;
	uint64_t end_ns; /* end of its last event */
	/* For counters and for metrics: maps a key (by pointer: the reader interns them) to
	 * a track. */
	GHashTable *numbers[2];
};

struct tally_layers {
	struct tally_layer layer[TALLY_MOST_LAYERS];
	uint32_t n;
};

/* A queue or context of a device. */
struct tally_lane {
	int64_t context;
	int32_t queue_family, queue_index;
	char name[48];
	int rank;
	struct tally_timeline_track *submission; /* the CPU's track */
	struct tally_layers gpu, gpu_own; /* gpu_own: on an uncalibrated GPU clock */
	struct tally_layers work, work_own; /* for workloads that do not fit into their pass */
};

struct tally_timeline_device {
	uint32_t number;
	struct tally_timeline_track *group;
	struct tally_layers frames; /* the CPU's frames */
	struct tally_timeline_clock *clock; /* the uncalibrated GPU clock, once seen */
	GPtrArray *lanes; /* elements: struct tally_lane * */
};

struct tally_timeline {
	const struct tally_timeline_sink *sink;
	struct tally_export_names names;
	GPtrArray *tracks; /* elements: struct tally_timeline_track *, all tracks */
	GHashTable *devices; /* maps a number to struct tally_timeline_device * */
	GArray *placed; /* elements: struct placed, the passes of the frame */
	char frame_name[32]; /* of the frame that is being shown */
	uint64_t frame_flow; /* the hash that the flows of its passes continue */
	GPtrArray *order; /* elements: struct placed *, the passes of one lane */
	GPtrArray *same_layer; /* elements: struct placed *, those of one layer */
	bool no_counters;
	GPtrArray *loads; /* elements: struct tally_workload_record *, those of one pass */
	GPtrArray *number_tracks;
	struct tally_timeline_track *process, *notes, *marks;
	struct tally_timeline_run run;
	uint32_t n_clocks;
	bool has_frame;
	uint64_t last_ns; /* time at which the last frame ended */
	struct tally_recent recent; /* for marks that follow their frame in the log */
	/* elements: struct tally_note_record *, notes without a time before the first frame,
	 * which gives the time of the run, and marks whose frame was not read yet */
	GPtrArray *early;
	uint64_t n_early_lost; /* notes beyond the limit of `early` */
};

struct tally_timeline_track *
tally_tracks_add(struct tally_timeline *t, enum tally_track_kind kind,
		 const struct tally_timeline_track *parent, char *name, int64_t device,
		 int rank);
void tally_tracks_tell(struct tally_timeline *t, const struct tally_timeline_track *track);
void tally_tracks_free(gpointer track);
void tally_tracks_free_device(gpointer device);
struct tally_timeline_track *tally_tracks_process(struct tally_timeline *t);

/* Returns the device with its group; `record` NULL: the log does not describe the device. */
struct tally_timeline_device *tally_tracks_device(struct tally_timeline *t, uint32_t number,
						  const struct tally_device_record *record);
struct tally_lane *
tally_tracks_lane(struct tally_timeline_device *d, const struct tally_pass_record *pass);

/* The name that number tracks derive theirs from. */
struct tally_number_place {
	const char *what; /* a lane, or "frame" */
	bool own_clock;
	uint32_t layer; /* index of the layer, 0 = the first */
};
/* The name and the position of a layer. */
struct tally_layer_place {
	const char *lane, *what; /* its name is the two joined */
	int rank;
	const struct tally_timeline_clock *clock; /* NULL = CLOCK_MONOTONIC */
};
/* Takes the first layer that is free from start_ns on; it is occupied until end_ns. NULL: all
 * layers are occupied and no more may be created. */
struct tally_layer *
tally_tracks_take_layer(struct tally_timeline *t, struct tally_layers *layers,
			const struct tally_timeline_device *d,
			const struct tally_layer_place *place, uint64_t start_ns,
			uint64_t end_ns);
/* The track of a counter or metric that belongs to an event on the layer. `where` gives the name of
 * the track; the layer's index follows it, unless it is 0. */
const struct tally_timeline_track *
tally_tracks_number(struct tally_timeline *t, struct tally_layer *layer, const char *key,
		    const struct tally_number_place *where, bool metric);

#endif

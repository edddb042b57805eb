/* cli/export/tracks.h - the tracks of a timeline: who has one, and where an event goes.
 *
 * A device has a group, each queue or context of it a lane, each lane as many layers as its events
 * overlap, each layer the tracks of its numbers. Made when first needed and told to the sink then.
 * Only cli/export/timeline.c uses it. One thread.
 */
#ifndef PASSTALLY_CLI_EXPORT_TRACKS_H
#define PASSTALLY_CLI_EXPORT_TRACKS_H

#include "cli/export/timeline.h"

#define TALLY_GUESSES 32

/* Overlap beyond this many tracks of one queue is not drawn. */
#define TALLY_MOST_LAYERS 16

/* Ranks of a device's tracks: frames, then each lane's. */
enum {
	TALLY_RANK_FRAMES,
	TALLY_RANK_NUMBERS,
	TALLY_RANK_LANES,
	TALLY_RANKS_A_LANE = 4,
};

/* One of the tracks of a lane: events on it do not overlap but by nesting. */
struct tally_layer {
	struct tally_timeline_track *track;
	uint64_t end_ns; /* of its last event */
	/* Counters, metrics: key (by pointer: the reader interns them) -> track. */
	GHashTable *numbers[2];
	/* The last track found at each place of a list: the next list is mostly the same. */
	struct tally_number_guess {
		const char *key;
		struct tally_timeline_track *track;
	} guess[2][TALLY_GUESSES];
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
	struct tally_timeline_track *submission; /* the CPU's */
	struct tally_layers gpu, gpu_own; /* the second: on the GPU's own clock */
	struct tally_layers work, work_own; /* workloads that do not fit into their pass */
};

struct tally_timeline_device {
	uint32_t number;
	struct tally_timeline_track *group;
	struct tally_layers frames; /* the CPU's */
	struct tally_timeline_clock *clock; /* the GPU's own, once seen */
	GPtrArray *lanes; /* of struct tally_lane * */
	struct tally_lane *last; /* that was looked up */
};

struct tally_timeline {
	const struct tally_timeline_sink *sink;
	struct tally_export_names *names;
	GPtrArray *tracks; /* of struct tally_timeline_track *, all */
	GHashTable *devices; /* number -> struct tally_timeline_device * */
	GArray *placed; /* of struct placed: the frame's */
	GByteArray *drawn; /* is the frame's n-th pass on a track of the GPU's? */
	GArray *order; /* of struct placed *: one lane's */
	GPtrArray *loads; /* of struct tally_workload_record *: one pass's */
	GPtrArray *number_tracks;
	GArray *number_values;
	struct tally_timeline_track *process, *notes, *marks;
	char *program;
	int64_t pid;
	uint32_t n_clocks;
	bool has_frame;
	uint64_t last_ns; /* when the last frame ended */
	GPtrArray *early; /* of struct early *: notes without a time, before the first frame */
	uint64_t n_early_lost; /* past those */
	struct tally_export_left left;
};

struct tally_timeline_track *
tally_tracks_add(struct tally_timeline *t, enum tally_track_kind kind,
		 const struct tally_timeline_track *parent, char *name, int64_t device, int rank);
void tally_tracks_tell(struct tally_timeline *t, const struct tally_timeline_track *track);
void tally_tracks_free(gpointer track);
void tally_tracks_free_device(gpointer device);
struct tally_timeline_track *tally_tracks_process(struct tally_timeline *t);

/* With its group; `record` NULL: the log does not describe it. */
struct tally_timeline_device *tally_tracks_device(struct tally_timeline *t, uint32_t number,
						  const struct tally_device_record *record);
struct tally_lane *
tally_tracks_lane(struct tally_timeline_device *d, const struct tally_pass_record *pass);

/* What the tracks of numbers are named after. */
struct tally_number_place {
	const char *what; /* a lane, or "frame" */
	bool own_clock;
	uint32_t layer; /* its number, 0 = the first */
};
/* What a layer is called and where it stands. */
struct tally_layer_place {
	const char *lane, *what; /* its name is the two */
	int rank;
	const struct tally_timeline_clock *clock; /* NULL = CLOCK_MONOTONIC */
};
/* The first layer that is free from start_ns on; it is taken until end_ns. NULL: all are taken and
 * no more may be made. */
struct tally_layer *
tally_tracks_take_layer(struct tally_timeline *t, struct tally_layers *layers,
			const struct tally_timeline_device *d,
			const struct tally_layer_place *place, uint64_t start_ns, uint64_t end_ns);
/* The track of a counter or metric that belongs to what is on the layer, the `i`-th of its list.
 * `where` is what the track is named after; the layer's number follows, unless it is 0. */
struct tally_timeline_track *
tally_tracks_number(struct tally_timeline *t, struct tally_layer *layer, const char *key,
		    uint32_t i, const struct tally_number_place *where, bool metric);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/answer/event.h - calls that cost time by themselves (layer/event/event.h) as causes of
 * hitches: shaders that were made, uploads, read-backs, mapping, memory. One thread.
 */
#ifndef PASSTALLY_CLI_ANSWER_EVENT_H
#define PASSTALLY_CLI_ANSWER_EVENT_H

#include "layer/record.h"

#define TALLY_EVENT_KEPT 16 /* of a frame's longest calls */

/* The events of a frame, by their kinds. */
struct tally_frame_events {
	struct tally_event_record sums[TALLY_N_EVENTS];
	struct tally_event_call_record calls[TALLY_EVENT_KEPT]; /* texts are interned (GLib) */
	const char *passes[TALLY_EVENT_KEPT]; /* in which a program drew first; or NULL */
	unsigned n_calls;
};

/* What is one cause: shaders are pipelines, programs, shaders and their first draws. */
enum tally_event_group {
	TALLY_EVENT_NONE = 0,
	TALLY_EVENT_SHADERS,
	TALLY_EVENT_UPLOADS,
	TALLY_EVENT_READBACKS,
	TALLY_EVENT_MAPS,
	TALLY_EVENT_ALLOCATIONS,
	TALLY_N_EVENT_GROUPS,
};

struct tally_answer_event {
	enum tally_event_group group;
	uint64_t ns, n, bytes, cached; /* of its calls in the frame */
	bool uncached; /* no pipeline was in the program's cache, as the driver says */
	bool elsewhere; /* on another thread, or it is not known on which */
	/* More than in the frames around; elsewhere: how much of the frame's time they took on the
	 * thread of the longest call. */
	uint64_t growth_ns;
	const char *call, *thread; /* of the longest call; NULL = not known */
	uint64_t object; /* of that call: OpenGL's name of its program or shader; 0: not known */
	bool is_program;
	const char *pass; /* in which that program drew first; NULL = not known */
};

/* Of a run. */
struct tally_event_total {
	uint64_t frames, first, last; /* that had any; the first and last of them by number */
	struct tally_event_record sum;
};

/* "shaders", "upload", "readback", "map", "memory" */
extern const char *const tally_event_group_names[TALLY_N_EVENT_GROUPS];

/* Adds those of a frame. */
void tally_frame_events_read(struct tally_frame_events *to, const struct tally_frame_record *f);
/* A frame's sums by group. */
void tally_frame_events_sum(const struct tally_frame_events *events,
			    struct tally_event_record out[TALLY_N_EVENT_GROUPS]);
/* Adds a frame's sums to the totals by group. `lately`: these begin again where fewer than nine
 * of ten frames since the first had any. */
void tally_event_totals_add(struct tally_event_total totals[TALLY_N_EVENT_GROUPS],
			    const struct tally_event_record sums[TALLY_N_EVENT_GROUPS],
			    uint64_t frame, bool lately);
/* What a frame has of it on average, of those that have any. */
struct tally_answer_event tally_event_mean(const struct tally_event_total *total,
					   enum tally_event_group group);
/* The group that grew most against `around_ns`, medians by kind, but not `but`; group NONE: none
 * did. The frame lasted from `start_ns` for `frame_ns`. */
struct tally_answer_event tally_event_find(const struct tally_frame_events *events,
					   enum tally_event_group but,
					   const uint64_t around_ns[TALLY_N_EVENTS],
					   uint64_t start_ns, uint64_t frame_ns);
/* How many shaders were made, where the frames around made none. */
uint64_t tally_event_made(const struct tally_frame_events *events,
			  const uint64_t around_ns[TALLY_N_EVENTS]);
/* Bytes of GPU memory above the budget, as read in the frame; 0: none, or not read. */
uint64_t tally_event_over(const struct tally_frame_events *events);
/* Whether a later frame shows that such calls on other threads went on at `end_ns`: one of those
 * listed began before that; or, `next` to it, there are some. */
bool tally_event_goes_on(const struct tally_frame_events *later, enum tally_event_group group,
			 bool next, uint64_t end_ns);
/* "3 pipelines made, 28.4 ms", "upload of 64 MB, 21.0 ms"; elsewhere "... on dxvk-cs".
 * Valid as that of tally_phrase(). */
const char *tally_event_text(const struct tally_answer_event *e);
/* The kind of wait that grew most, in words: "until the GPU is idle", "in driver calls". */
const char *tally_event_wait(const struct tally_frame_events *events,
			     const uint64_t around_ns[TALLY_N_EVENTS]);

#endif

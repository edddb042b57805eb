/* SPDX-License-Identifier: MIT */
/* cli/export/trace.h - writes Perfetto's trace format, packet by packet.
 *
 * Tracks of the CPU's side hold slices and instants (TrackEvent), a GPU's queues stages
 * (GpuRenderStageEvent), its counters numbers (GpuCounterEvent). Perfetto puts the latter two
 * into tables of its own, such as gpu_slice. Times are nanoseconds of CLOCK_MONOTONIC. One
 * thread; a failed write sets ferror() of the stream.
 */
#ifndef PASSTALLY_CLI_TRACE_H
#define PASSTALLY_CLI_TRACE_H

#include "cli/export/protobuf.h"
#include "layer/record.h"

#include <stdbool.h>
#include <stdio.h>

struct tally_trace {
	FILE *out;
	/* the packet that is being written, after those that wait */
	struct tally_protobuf p;
	uint64_t pid;
	uint64_t n_numbers; /* of tracks, queues, stages and counters */
	uint64_t n_stages; /* events of stages */
	bool begun, has_clock, is_stage;
};

/* Writes what waits, and frees the memory. */
void tally_trace_finish(struct tally_trace *t);

/* A track of the CPU's side. Returns its number. */
uint64_t tally_trace_add_track(struct tally_trace *t, uint64_t parent, const char *name,
			       int rank);
/* The track that all others are below; `labels`: elements char *. */
uint64_t
tally_trace_add_process(struct tally_trace *t, const char *name, const GPtrArray *labels);

enum tally_trace_category {
	TALLY_CATEGORY_OTHER = 0,
	TALLY_CATEGORY_GRAPHICS,
	TALLY_CATEGORY_COMPUTE,
};
/* A queue of a GPU, or a stage: what stages are called. `description` NULL = none. None of
 * the functions that add may be called within an event. */
uint64_t tally_trace_add_specification(struct tally_trace *t, const char *name,
				       const char *description,
				       enum tally_trace_category category);
/* The graphics context that stages of a device belong to; `number` not 0. */
void tally_trace_add_context(struct tally_trace *t, uint64_t number, enum tally_api api);

enum tally_trace_event {
	TALLY_EVENT_BEGIN = 1,
	TALLY_EVENT_END,
	TALLY_EVENT_INSTANT,
};
/* An event on a track of the CPU's side. Arguments may follow until tally_trace_end_event().
 * `name` and `category` NULL at an end. */
void tally_trace_begin_event(struct tally_trace *t, enum tally_trace_event type,
			     uint64_t track, uint64_t ns, const char *category,
			     const char *name);
/* Something on a queue of a GPU, whose context has the device's number and one more;
 * `submission` NULL = not known. Returns the number of the event. Arguments may follow
 * until tally_trace_end_event(). */
uint64_t tally_trace_begin_stage(struct tally_trace *t, uint32_t gpu, uint64_t queue,
				 uint64_t stage, uint64_t start_ns, uint64_t end_ns,
				 const uint64_t *submission);
/* The stage that this event of the CPU's side submitted. */
void tally_trace_put_submitted(struct tally_trace *t, uint64_t stage_event);
/* An argument, named by `prefix` and `key`; `text` NULL: it is `value`. */
void tally_trace_put_argument(struct tally_trace *t, const char *prefix, const char *key,
			      const char *text, struct tally_value value);
void tally_trace_end_event(struct tally_trace *t);

/* Returns the number of a counter of a GPU, which is used from `ns` on. `unit`,
 * `description` NULL = not known. */
uint64_t tally_trace_add_counter(struct tally_trace *t, uint32_t gpu, uint64_t ns,
				 const char *name, const char *unit,
				 const char *description);
/* What counters of a GPU counted since they were last written; `values` NULL: nothing. */
void tally_trace_put_counters(struct tally_trace *t, uint32_t gpu, uint64_t ns,
			      const uint64_t *counters,
			      const struct tally_keyed_value *values, uint32_t n);

/* The list of GPUs; the place of one in it, from 0, is its number. tally_trace_end_event() ends
 * it. NULL = not known. */
void tally_trace_begin_gpus(struct tally_trace *t);
void tally_trace_put_gpu(struct tally_trace *t, const char *name, const char *driver,
			 const char *pci, const char *uuid);

#endif

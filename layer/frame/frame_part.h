/* SPDX-License-Identifier: MIT */
/* layer/frame/frame_part.h - the internals of devices and streams, for stream.c, device.c,
 * collector.c, frame.c.
 *
 * A part is the contribution of one stream to one frame of its device. The stream's owner
 * thread fills it and pushes it into the stream's `out` ring; from then on it belongs to the
 * collector, until that pushes it into `back`. The collector knows that a frame is complete
 * from `oldest_open` and `newest_open`, which give the frames that a stream may still add to.
 * The owner stores them before it reads the device's frame a second time, and the collector
 * reads them after it knows that the frame ended; both accesses are sequentially consistent, so
 * one of the two sees the other.
 *
 * Memory: a part is 2 KiB, a pass about 250 plus 16 for each counter, a workload 80 plus 16
 * for each counter, a pipeline's use 72. A stream keeps at most TALLY_MAX_PARTS parts, chunks for
 * 8 * max_passes passes, for 16 * max_passes workloads and for as many uses; it reuses memory that
 * it has once allocated. Of passes more than 8 MiB are only for 8 frames and for late results.
 */
#ifndef PASSTALLY_LAYER_FRAME_FRAME_PART_H
#define PASSTALLY_LAYER_FRAME_FRAME_PART_H

#include "layer/base/ring.h"
#include "layer/event/event.h"
#include "layer/frame/stream.h"

#include <stdatomic.h>

#define TALLY_CHUNK_PASSES 64
#define TALLY_HURRY_PARTS 32 /* more parts than this at the collector are many */
#define TALLY_PASS_NO_SLOT UINT32_MAX /* query/source/harvest.h's TALLY_NO_SLOT */

/* Memory for 64 passes; their values and valid bits follow it in the same block. */
struct tally_chunk {
	/* Chunks of other items are as long as these need, with the same beginning. */
	struct tally_chunk *next;
	void *memory; /* to free */
	_Alignas(64) struct tally_pass passes[TALLY_CHUNK_PASSES];
};

/* A part's workloads, or what pipelines did in it, in such chunks. They belong to any of its
 * passes, in the order in which they were added. */
struct tally_chunk_list {
	struct tally_chunk *first, *last;
	uint32_t n; /* items */
};

/* A stream's chunks of one kind. */
struct tally_chunk_pool {
	struct tally_chunk *free; /* list of those not in use */
	uint64_t n, n_free, max; /* allocated; of them: not in use; may be allocated */
	uint64_t many;		 /* of those in use */
};

struct tally_frame_part {
	struct tally_frame_part *next; /* in the owner's queue, then in the device's list */
	struct tally_stream *stream;
	uint64_t frame;
	bool captured; /* false: only marks the end of an uncaptured frame */
	bool ends; /* this stream ended the frame, as `end` says */
	struct tally_frame_end end;
	/* Captured frames that this stream ended while it had no part to record that; the last
	 * such frame + 1 (0: none), and when it ended. */
	uint64_t lost_frame, lost_now_ns;
	uint64_t overhead_ns, dropped;
	const char *set; /* tally_stream_use_set() */
	uint32_t n_passes, n_done; /* passes are done in order */
	uint32_t n_unlisted;	   /* of them: not listed by tally_stream_open_passes() */
	uint32_t max_passes; /* 0: too many frames wait, and of those that come too fast some
			      * are to be whole */
	struct tally_chunk *first, *last;
	struct tally_chunk *done; /* contains the n_done-th pass, or one before it */
	uint32_t done_base; /* number of the first pass in `done` */
	struct tally_chunk_list loads, uses;
	bool pictured; /* tally_stream_picture_pass() */
	uint64_t arrived_ns; /* set by the collector */
	struct tally_events events; /* of the frame that it ended; last: not cleared */
};

struct tally_device {
	atomic_uint refs; /* creator, collector, each stream */
	/* Open frame's number << 1 | whether it is captured. */
	_Atomic uint64_t state;
	_Atomic uint64_t count; /* see tally_capture_wants_frame() */
	atomic_bool gone; /* no stream will be added */
	atomic_bool presents;
	atomic_bool long_frame; /* one ended; the collector has not read the load yet */
	_Atomic uint64_t presented; /* tally_n_presented_by_vulkan when its frame began */
	uint64_t generation;
	uint32_t number;
	uint64_t created_ns;
	_Atomic uint64_t n_ended; /* captured frames */
	atomic_uint n_streams_made;

	/* Used by the collector alone. */
	struct tally_device *next;
	struct tally_stream *streams; /* in order of creation */
	struct tally_frame_part *parts; /* sorted by frame, then stream */
	uint64_t next_frame; /* frames below are written or given up */
	uint64_t n_written; /* of n_ended */
	uint64_t known_end; /* frames <= known_end - 1 ended before the gates were read */
	uint64_t boundary_frame, boundary_ns; /* the last known end, frame + 1 */
	/* Frames in a row within the limits of --renderdoc-over and --black-box-over, while it
	 * loads: assembly.c. */
	uint8_t within_renderdoc, within_black_box;
	struct tally_thread_time boundary_thread; /* at that end */
	uint64_t spare_dropped; /* drops whose stream is gone */
	bool was_gone;
};

struct tally_stream {
	atomic_uint refs; /* owner, collector */
	struct tally_device *device;
	uint64_t generation;
	uint32_t number; /* in the device */
	struct tally_stream_info info;
	const struct tally_counter **counters; /* info.counters, copied; or NULL */
	uint32_t max_passes;
	uint64_t max_workloads;
	uint64_t backlog; /* chunks in use while many frames are at the collector */
	struct tally_ring *out, *back;

	/* Used by the owner alone. */
	struct tally_frame_part *head, *tail; /* not handed over, oldest first */
	struct tally_frame_part *cursor; /* contains the oldest pass that is not done */
	struct tally_frame_part *free_parts;
	uint32_t n_parts, n_out; /* created; at the collector */
	struct tally_chunk_pool chunks, loads, uses;
	uint64_t spare_overhead_ns, spare_overhead_frame; /* before the frame has a part */
	uint64_t lost_passes; /* dropped while there was no part */
	uint64_t lost_frame, lost_now_ns;
	/* Of the last frame that it ended: its number + 1, its end, its time. */
	uint64_t ended_frame, ended_ns, frame_ns;
	uint64_t long_ns; /* the end of the last long one that was reported */
	struct tally_intern_cache *interned;

	/* Written by the owner, read by the collector. */
	_Atomic uint64_t oldest_open; /* UINT64_MAX: none */
	_Atomic uint64_t newest_open; /* frame + 1; 0: none so far */
	atomic_bool gone; /* stored last: all parts are in `out`, lost_passes is final */

	/* Used by the collector alone. */
	struct tally_stream *next;
	uint32_t n_held; /* parts popped from `out`, not yet back */
	uint64_t gate_oldest, gate_newest;
	bool was_gone;
};

/* Whether much of the pool is in use, wherever it is: chunks of open frames and of passes whose
 * results are late are missing as well. */
static inline bool
tally_chunks_are_many(const struct tally_chunk_pool *pool)
{
	return pool->n - pool->n_free >= pool->many;
}

/* Whether the collector should take parts at once, not at the end of its nap: sooner than the pools
 * need it, so that they stay small. Only the owner may call it. */
static inline bool
tally_stream_hurries(const struct tally_stream *s)
{
	return s->n_out >= TALLY_HURRY_PARTS || tally_chunks_are_many(&s->chunks) ||
	       tally_chunks_are_many(&s->loads);
}

/* Releases one reference; the last one frees the stream. */
void tally_stream_unref(struct tally_stream *stream);
void tally_device_unref(struct tally_device *device);

/* A deep copy in one block, which free() frees. NULL on OOM. */
struct tally_device_record *
tally_device_copy_info(const struct tally_device_record *info, uint32_t number);

#endif

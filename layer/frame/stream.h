/* SPDX-License-Identifier: MIT */
/* layer/frame/stream.h - takes finished passes from the thread that issued them.
 *
 * A device is a GL share group or a VkDevice: frames are numbered per device. A stream is one
 * producer inside it, a GL context or a queue, used by one thread at a time (its owner's),
 * which takes no lock and does not wait. Passes are stored where they will be read: in the
 * stream's part of the device's open frame. When every result of a closed part is available,
 * the part goes to the collector thread through the stream's ring and comes back empty.
 *
 * A pass belongs to the frame that was open when it began, also on a stream that never
 * presents. The limits are config max_passes per frame and stream, eight times as many
 * workloads, and TALLY_MAX_PARTS parts in flight per stream. Beyond them whole passes are
 * dropped and counted in the frame's dropped_passes, and dropped workloads are flagged on their
 * pass.
 */
#ifndef PASSTALLY_LAYER_FRAME_STREAM_H
#define PASSTALLY_LAYER_FRAME_STREAM_H

#include "layer/base/clock.h"
#include "layer/pass_id.h"
#include "layer/frame/pipeline.h"
#include "layer/record.h"

#define TALLY_MAX_PARTS 256

struct tally_device;
struct tally_frame_part;
struct tally_stream;

/* Creates a device, numbered from 0; its `device` line is written before its first frame.
 * Copies everything out of `info` (info->device is ignored; counters must be static or outlive
 * the process). NULL when no session runs or on OOM. */
struct tally_device *tally_device_create(const struct tally_device_record *info);
/* Describes the device again: another line with the same number follows. */
void tally_device_describe(struct tally_device *device, const struct tally_device_record *info);
/* No more streams will be created; the device is freed once its last stream is gone and
 * its frames are written. */
void tally_device_destroy(struct tally_device *device);
/* The number of the open frame. */
uint64_t tally_device_frame(const struct tally_device *device);
/* Where to read the same without a call: number << 1 | whether the frame is captured. The
 * address is valid as long as the device. */
const _Atomic uint64_t *tally_device_state(const struct tally_device *device);
/* tally_capture_idles() of the open frame, called where it begins. */
bool tally_device_idles(const struct tally_device *device);
/* The number of the newest device of this capture that was created with one of the APIs (1 <<
 * enum tally_api for each); -1 = none was. The device may be gone already. */
int64_t tally_device_newest(unsigned apis);

/* One command inside a pass, measured separately (granularity draw). The caller that adds it
 * sets all members but next. */
struct tally_workload {
	struct tally_workload *next;
	const char *command; /* static: "draw", "dispatch", "copy", "clear"; NULL: not listed */
	const char *label; /* the debug groups around it, as of a pass; NULL = none */
	struct tally_pipeline *pipeline; /* in use, if only for others; NULL: none, or not known */
	bool has_time;       /* gpu_begin_ns and gpu_end_ns are valid */
	uint32_t slot;       /* the measurer's handle, query/source/harvest.h */
	uint64_t gpu_begin_ns, gpu_end_ns;
	uint64_t flags;
	struct tally_value *values; /* as for a pass */
	uint64_t *valid;
};

/* What one pipeline did in a pass. */
struct tally_pipeline_use {
	struct tally_pipeline_use *next;
	struct tally_pipeline *pipeline;
	struct tally_call_counts call_counts;
};

/* One pass while it is being captured. The caller that opens it sets
 * all members unless noted. */
struct tally_pass {
	enum tally_pass_kind kind;
	enum tally_load_op load;
	enum tally_store_op store;
	bool restarts;     /* begins by clearing or discarding its target: never a resumption */
	bool unattributed; /* measured work outside passes: summed, not listed */
	bool has_submission;
	uint32_t unknown;  /* TALLY_UNKNOWN_* */
	uint64_t key;      /* equal in one frame = same target objects: a resumed pass */
	const struct tally_target *target; /* from tally_stream_intern_target() */
	const char *label;                 /* from tally_stream_intern_label(), or NULL */
	const char *groups; /* the same: debug groups inside the pass, joined; NULL = none */
	int64_t surface; /* -1 = none */
	struct tally_call_counts call_counts;
	uint32_t picture; /* tally_stream_picture_pass() */
	uint32_t n_workloads; /* set by stream.c, like the pointers to them */
	uint64_t submission;
	uint64_t cpu_start_ns;
	/* With --snapshot exact: the numbers of the samples around the pass
	 * (query/sampler/sampler.h), 0 = none. */
	uint64_t snapshot_from, snapshot_to;
	struct tally_pipeline_use *uses, *last_use; /* in order; a pipeline may recur */
	struct tally_frame_part *part; /* set by stream.c */
	struct tally_workload *last_workload;
	/* Results come frames later: what is accessed then lies together. */
	struct tally_workload *workloads; /* in order */
	uint64_t flags;
	bool has_time; /* gpu_begin_ns and gpu_end_ns are valid */
	bool done;     /* results are final: the owner's last write to the pass */
	uint32_t slot; /* the measurer's handle, query/source/harvest.h */
	uint64_t gpu_begin_ns, gpu_end_ns;
	/* The meaning of the values, also of those of its workloads; NULL = the stream's
	 * counters. Valid as long as the process or the session, whichever ends first. */
	const struct tally_layout *layout;
	struct tally_value *values; /* info.n_counters of them; stream.c's memory */
	uint64_t *valid;            /* bit per value */
};

struct tally_stream_info {
	int64_t context; /* GL context number, -1 = none */
	int32_t queue_family, queue_index;
	/* What a pass without a layout counts; NULL if there is no such pass. They stay valid
	 * until the process or the session ends, whichever is first. */
	const struct tally_counter *const *counters;
	uint32_t n_counters; /* the most values that a pass can have */
};

struct tally_stream *tally_stream_create(struct tally_device *device,
					 const struct tally_stream_info *info);
/* Hands over everything unfinished as it is, flagged LOST; frees the stream once the collector
 * has finished with it. Accepts NULL. */
void tally_stream_destroy(struct tally_stream *stream);

/* Returns a copy that lives as long as the process; equal contents give equal pointers.
 * Allocates for new contents; NULL on OOM or past 4096 targets or 16384 labels (label
 * bytes: at most 512 each). */
const struct tally_target *tally_stream_intern_target(struct tally_stream *stream,
						      const struct tally_target *target);
const char *tally_stream_intern_label(struct tally_stream *stream, const char *text, size_t len);

/* Whether the device's open frame is captured. Constant within a frame. */
bool tally_stream_captures(struct tally_stream *stream);

/* Appends a zeroed pass (slot TALLY_NO_SLOT, surface -1) to the open frame; `now_ns` 0:
 * the clock is read, if the frame is captured. NULL: not captured, or dropped and counted.
 * The pointer is valid until tally_stream_publish() hands the part over, which is never
 * before the pass is done. */
struct tally_pass *tally_stream_open_pass(struct tally_stream *stream, uint64_t now_ns);
/* The same for up to *n passes that follow one another; *n: set to how many there are. NULL: none
 * of them. Not `listed`: work that is summed and not listed (`unattributed` is set), which does not
 * count towards max_passes, but has a limit of the same size. */
struct tally_pass *tally_stream_open_passes(struct tally_stream *stream, uint64_t now_ns,
					    bool listed, uint32_t *n);
/* The pass turned out to be none: what was measured in it is summed and not listed. */
void tally_stream_unlist_pass(struct tally_pass *pass);

/* The pass gets a number, from layer/picture/pictures.h, under which its targets are pictured: its
 * frame is then not measured. */
void tally_stream_picture_pass(struct tally_pass *pass, uint32_t number);

/* The frame that the pass belongs to. */
uint64_t tally_stream_pass_frame(const struct tally_pass *pass);
/* The counter set of the frame that the newest pass belongs to; `name` is never freed. The
 * first name that is not NULL is kept. */
void tally_stream_use_set(struct tally_stream *stream, const char *name);

/* Appends a zeroed workload (slot TALLY_NO_SLOT) to a pass that is not done. It lives as long
 * as the pass. NULL beyond the limit or on OOM: the pass is then flagged DROPPED. */
struct tally_workload *
tally_stream_add_workload(struct tally_stream *stream, struct tally_pass *pass);

/* Adds the work of a pipeline to a pass that is not done. Beyond the limit, which is that of
 * workloads, or on OOM it is left out and the pass flagged UNCOUNTED. */
void tally_stream_use_pipeline(struct tally_stream *stream, struct tally_pass *pass,
			       struct tally_pipeline *pipeline,
			       const struct tally_call_counts *call_counts);

/* passtally's own time in the game's thread, added to the open frame's overhead_ns. */
void tally_stream_add_overhead(struct tally_stream *stream, uint64_t ns);

/* Adds `n` passes of the open frame that were already dropped where they were recorded. */
void tally_stream_add_dropped(struct tally_stream *stream, uint64_t n);

struct tally_presented {
	struct tally_extent size; /* 0 x 0 when nothing was */
	int64_t window; /* the number of its surface, plus 1; 0: none, or several */
};

struct tally_frame_end {
	uint64_t now_ns; /* 0: the clock is read, if the frame or the next is captured */
	struct tally_presented presented;
	uint64_t flags; /* frame flags to add */
	struct tally_thread_time thread; /* set by tally_stream_end_frame() */
};
/* The device's open frame ends here and the next begins; call with no pass open. */
void tally_stream_end_frame(struct tally_stream *stream, const struct tally_frame_end *end);

/* The process presented by Vulkan, not through OpenGL. Any thread. */
void tally_presented_by_vulkan(void);
extern _Atomic uint64_t tally_n_presented_by_vulkan;
/* Whether it has since the device's frame began: that frame is over, for a device that presents
 * nothing itself. True once for each such frame, whichever stream asks. */
bool tally_stream_was_presented(struct tally_stream *stream);

/* The oldest pass that is not done, or NULL; *age_frames: set to the number of
 * frames since it was issued. */
struct tally_pass *tally_stream_pending(struct tally_stream *stream, uint64_t *age_frames);
/* Hands over every closed part whose passes are all done; takes back the parts
 * that the collector emptied. */
void tally_stream_publish(struct tally_stream *stream);
/* Called at the end of the process: also hands over the open frame's part, which is
 * then written as partial. All its passes are done; none is opened afterwards.
 * Allocates and frees no memory. */
void tally_stream_publish_last(struct tally_stream *stream);

#endif

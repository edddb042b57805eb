/* SPDX-License-Identifier: MIT */
/* layer/record.h - the contents of a log, as plain data.
 *
 * The writer turns these structs into log lines, the reader turns log lines into these structs;
 * nothing else passes between capture and log. Nothing here owns memory: the code that fills a
 * struct keeps what it points to alive during the call that the struct is passed to (keys for
 * longer: layer/recorder.h). There are no thread rules: a record belongs to one thread at a time.
 *
 * A number is either valid or absent, as `has_*` and `valid` indicate. An absent number is
 * never written as 0.
 */
#ifndef PASSTALLY_LAYER_RECORD_H
#define PASSTALLY_LAYER_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layer/base/int192.h"

#define TALLY_SCHEMA "passtally/1"

/* Which member of a tally_value is live. */
enum tally_storage {
	TALLY_STORAGE_U64 = 0,
	TALLY_STORAGE_I64,
	TALLY_STORAGE_F64,
	TALLY_N_STORAGES,
};

struct tally_value {
	enum tally_storage storage;
	union {
		uint64_t u64;
		int64_t i64;
		double f64;
	};
};

enum tally_counter_kind {
	TALLY_KIND_EVENT = 0,  /* things that happened */
	TALLY_KIND_DURATION,   /* time or cycles spent */
	TALLY_KIND_RATIO,      /* a share, 0 to 1 or percent, depending on the unit */
	TALLY_KIND_THROUGHPUT, /* things per second, bytes moved */
	TALLY_KIND_RAW,        /* meaning known only to the driver's author */
	TALLY_KIND_TIMESTAMP,  /* a point in time */
	TALLY_N_KINDS,
};

/* The smallest unit that one value of the counter can belong to. */
enum tally_scope {
	TALLY_SCOPE_WORKLOAD = 0,
	TALLY_SCOPE_PASS,
	TALLY_SCOPE_SUBMISSION,
	TALLY_SCOPE_FRAME,
	TALLY_SCOPE_DEVICE, /* includes other processes */
	TALLY_N_SCOPES,
};

/* One number that can be counted. All strings are static or live as long as the device. */
struct tally_counter {
	const char *key;  /* the name in the log; never needs escaping */
	const char *name; /* for people */
	const char *unit; /* "1", "ns", "bytes", "percent", ... */
	const char *source;
	const char *description;
	enum tally_counter_kind kind;
	enum tally_storage storage;
	enum tally_scope scope;
	uint32_t width_bits; /* of the hardware's or driver's counter */
};

/* The meaning of the values of one pass, in order: the counters that
 * were counted in its frame. */
struct tally_layout {
	const char *set; /* name of the counter set, NULL = the only one */
	const struct tally_counter *const *counters;
	uint32_t n_counters;
};

/* One value derived from counters. */
struct tally_metric_info {
	const char *key;
	const char *name;
	const char *unit;
	const char *expression;
	const char *dialect;
};

struct tally_source_info {
	const char *name;
	bool on;
	const char *reason; /* why it is off, or NULL when on and there is nothing to report */
};

enum tally_api {
	TALLY_API_OPENGL = 0,
	TALLY_API_OPENGL_ES,
	TALLY_API_VULKAN,
	TALLY_N_APIS,
};

enum tally_pass_kind {
	TALLY_PASS_RENDER = 0,
	TALLY_PASS_COMPUTE,
	TALLY_PASS_TRANSFER,
	TALLY_PASS_RAYTRACING,
	TALLY_PASS_BUILD,
	TALLY_PASS_OTHER,
	TALLY_N_PASS_KINDS,
};

enum tally_load_op {
	TALLY_LOAD_UNKNOWN = 0,
	TALLY_LOAD_LOAD,
	TALLY_LOAD_CLEAR,
	TALLY_LOAD_DONT_CARE,
	TALLY_N_LOAD_OPS,
};

enum tally_store_op {
	TALLY_STORE_UNKNOWN = 0,
	TALLY_STORE_STORE,
	TALLY_STORE_DISCARD,
	TALLY_STORE_RESOLVE,
	TALLY_N_STORE_OPS,
};

/* What an event is: layer/event/event.h. The last ones are waits. */
enum tally_event_kind {
	TALLY_EVENT_PIPELINE = 0, /* a pipeline made, a program linked */
	TALLY_EVENT_SHADER, /* a shader compiled, a module made */
	TALLY_EVENT_FIRST_DRAW, /* the first draw of a program, where drivers finish it */
	TALLY_EVENT_UPLOAD,
	TALLY_EVENT_READBACK,
	TALLY_EVENT_MAP,
	TALLY_EVENT_MEMORY, /* allocated */
	TALLY_EVENT_FENCE, /* waits from here on: for a fence or a semaphore */
	TALLY_EVENT_IDLE, /* until a queue, a device or a context has nothing to do */
	TALLY_EVENT_ACQUIRE, /* for the next image of a window */
	TALLY_EVENT_LATENCY, /* a latency extension's sleep */
	TALLY_N_EVENTS,
};

/* A stage of a pipeline, in the order of its identity. */
enum tally_stage {
	TALLY_STAGE_VERTEX = 0,
	TALLY_STAGE_TESS_CONTROL,
	TALLY_STAGE_TESS_EVALUATION,
	TALLY_STAGE_GEOMETRY,
	TALLY_STAGE_TASK,
	TALLY_STAGE_MESH,
	TALLY_STAGE_FRAGMENT,
	TALLY_STAGE_COMPUTE,
	TALLY_STAGE_RAYGEN,
	TALLY_STAGE_ANY_HIT,
	TALLY_STAGE_CLOSEST_HIT,
	TALLY_STAGE_MISS,
	TALLY_STAGE_INTERSECTION,
	TALLY_STAGE_CALLABLE,
	TALLY_STAGE_OTHER, /* newer than this list */
	TALLY_N_STAGES,
};

/* Words in a pass's or a frame's `flags`. One table for both: see tally_flag_name(). */
enum tally_flag {
	TALLY_FLAG_INDIRECT = 0,     /* draws whose counts only the GPU knows */
	TALLY_FLAG_LIST,             /* display lists: draws unknown */
	TALLY_FLAG_IMMEDIATE,        /* glBegin/glEnd: vertices unknown */
	TALLY_FLAG_CONDITIONAL,      /* conditional rendering: draws issued may not have run */
	TALLY_FLAG_RASTERIZER_DISCARD,
	TALLY_FLAG_TRANSFORM_FEEDBACK,
	TALLY_FLAG_SELECT,           /* GL_SELECT or GL_FEEDBACK: no GPU work */
	TALLY_FLAG_RESOLVE,          /* a multisample resolve */
	TALLY_FLAG_READBACK,         /* copies to the CPU */
	TALLY_FLAG_SYNC,             /* makes the CPU wait for the GPU */
	TALLY_FLAG_MIPMAP,           /* mipmap generation */
	TALLY_FLAG_TILING,           /* QCOM tiling or implicit resolve */
	TALLY_FLAG_YIELDED,          /* a counter was yielded to the game's own query */
	TALLY_FLAG_DISJOINT,         /* the GPU's clock was disturbed: times left out */
	TALLY_FLAG_LOST,             /* results will never come: context or batch lost */
	TALLY_FLAG_INCOMPLETE,       /* written before all results were available */
	TALLY_FLAG_DROPPED,          /* no free slot: not measured */
	TALLY_FLAG_UNCALIBRATED,     /* gpu_start_ns is on the GPU's own clock */
	TALLY_FLAG_NO_TIMESTAMPS,    /* the GPU offers no usable timestamps */
	TALLY_FLAG_APPROXIMATE,      /* the driver may count this work in a neighbor */
	TALLY_FLAG_OVERFLOW,         /* a counter overflowed */
	TALLY_FLAG_SATURATED,        /* a counter stuck at its largest value: left out */
	TALLY_FLAG_PARTIAL,          /* frame: ended by the run's end, not by a boundary */
	TALLY_FLAG_LATE,             /* frame: passes of an earlier frame arrived after it */
	TALLY_FLAG_LABEL_DROPPED,    /* too many different labels */
	TALLY_FLAG_BAD_TIME,         /* the GPU's timestamps made no sense: times left out */
	TALLY_FLAG_SIMULTANEOUS,     /* recorded for simultaneous use: only its batch is timed */
	TALLY_FLAG_DISTURBED,        /* the hardware reports that its counters were disturbed */
	TALLY_FLAG_UNSAMPLED,        /* totals not read at both ends: some values left out */
	TALLY_FLAG_FULL,             /* latencies overlapped: their counter is less certain */
	TALLY_FLAG_RECORDED_IDLE,    /* recorded while nothing was captured: it has no query */
	TALLY_FLAG_SHARED_TIME,      /* drawn with its neighbors: no separate time */
	TALLY_FLAG_SHARED_TOTALS,    /* frame: totals may include another device's work */
	TALLY_FLAG_UNCOUNTED,        /* a source that is on could not count all of it */
	TALLY_FLAG_PICTURED,         /* frame: its targets were copied, it is not measured */
	TALLY_N_FLAGS,
};
#define TALLY_FLAG(f) (UINT64_C(1) << TALLY_FLAG_##f)

/* One attachment, by role. Formats are the API's spelling: "RGBA8", "DEPTH24_STENCIL8". */
#define TALLY_MAX_COLOR 8
struct tally_attachment {
	const char *format; /* static; NULL = no such attachment, "?" = unknown */
	uint32_t samples;   /* 0 = unknown, 1 = single-sampled */
	uint32_t layers;
};

/* What a pass writes to. width 0: no size (buffer copies, compute). */
struct tally_target {
	uint32_t width, height, layers, samples;
	uint32_t n_color;
	struct tally_attachment color[TALLY_MAX_COLOR];
	struct tally_attachment depth;   /* also depth-stencil */
	struct tally_attachment stencil; /* only where separate from depth */
	bool presented;                  /* a window's or surface's own buffer */
	/* Of the attachments of that kind, depth with stencil; unknown in OpenGL, and where
	 * some are stored and some resolved. */
	enum tally_load_op color_load, depth_load;
	enum tally_store_op color_store, depth_store;
	const char *name; /* the program's, interned; NULL = none. No part of an identity */
};

/* Counts of API calls inside one pass. */
struct tally_call_counts {
	uint64_t draws, dispatches, copies, clears;
	uint64_t vertices, instances;
	uint64_t calls;
};

static inline void
tally_call_counts_add(struct tally_call_counts *to, const struct tally_call_counts *from)
{
	to->draws += from->draws;
	to->dispatches += from->dispatches;
	to->copies += from->copies;
	to->clears += from->clears;
	to->vertices += from->vertices;
	to->instances += from->instances;
	to->calls += from->calls;
}

/* Which call_counts are not known (see TALLY_FLAG_INDIRECT, _LIST, _IMMEDIATE). */
enum {
	TALLY_UNKNOWN_DRAWS = 1u << 0,
	TALLY_UNKNOWN_VERTICES = 1u << 1,
	TALLY_UNKNOWN_INSTANCES = 1u << 2,
	TALLY_UNKNOWN_DISPATCHES = 1u << 3,
	TALLY_UNKNOWN_COPIES = 1u << 4,
	TALLY_UNKNOWN_CLEARS = 1u << 5,
};

/* A measured or derived number under its key. */
struct tally_keyed_value {
	const char *key;
	struct tally_value value;
	bool estimated;
};

/* One workload in a pass (granularity draw). */
struct tally_workload_record {
	const char *command; /* "draw", "dispatch", "copy", "clear" */
	const char *group; /* the debug groups inside the pass; NULL = none; UTF-8 not guaranteed */
	bool has_pipeline;
	uint32_t pipeline; /* which of the pass's pipelines */
	bool has_gpu_start, has_gpu;
	uint64_t gpu_start_ns, gpu_ns;
	const struct tally_keyed_value *counters;
	uint32_t n_counters;
	uint64_t flags;
};

struct tally_stage_record {
	enum tally_stage stage;
	const char *entry; /* the entry point; NULL: the shader has one alone */
	uint64_t code; /* FNV-1a of the shader's code */
	uint64_t bytes; /* of the code */
};

/* A Vulkan pipeline, or an OpenGL program (layer/frame/pipeline.h). */
struct tally_pipeline_record {
	uint64_t id;
	enum tally_pass_kind kind; /* render, compute or raytracing */
	const char *name; /* NULL = none; UTF-8 not guaranteed */
	const struct tally_stage_record *stages;
	uint32_t n_stages;
	const struct tally_keyed_value *statistics; /* of its executables */
	uint32_t n_statistics;
};

/* What one pipeline did in a pass. */
struct tally_pipeline_use_record {
	uint64_t id;
	struct tally_call_counts call_counts; /* calls 0: as many as draws and dispatches */
};

struct tally_pass_record {
	uint32_t index;   /* in the frame, from 0 */
	uint64_t id;      /* docs/identity.md */
	uint32_t segment; /* 0 for the first or only one */
	enum tally_pass_kind kind;
	const char *label; /* NULL = none; UTF-8 not guaranteed */
	struct tally_call_counts call_counts;
	uint32_t unknown; /* TALLY_UNKNOWN_* */
	int64_t context;  /* GL context number, -1 = none */
	int32_t queue_family, queue_index; /* Vulkan, -1 = none */
	bool has_submission;
	uint64_t submission;
	int64_t surface; /* -1 = none */
	uint32_t picture; /* the number of its pictures, 0 = none */
	bool has_cpu_start, has_gpu_start, has_gpu;
	uint64_t cpu_start_ns, gpu_start_ns, gpu_ns;
	const struct tally_keyed_value *counters;
	uint32_t n_counters;
	const struct tally_keyed_value *metrics;
	uint32_t n_metrics;
	uint64_t flags;
	const struct tally_pipeline_use_record *pipelines; /* only with --pipelines */
	uint32_t n_pipelines;
	const struct tally_workload_record *workloads;
	uint32_t n_workloads;
	/* Not in the log. With --snapshot exact: the numbers of the samples around the pass, 0
	 * = none (query/sampler/sampler.h). The pixels of its target, 0 = not known. */
	uint64_t snapshot_from, snapshot_to;
	uint64_t pixels;
};

/* The events of one kind in a frame. */
struct tally_event_record {
	enum tally_event_kind kind;
	uint64_t n, ns, bytes;
	uint64_t own_ns; /* of ns: on the thread that ends frames; not of waits */
	uint64_t cached, uncached; /* of n: what the program's cache had, and had not */
	uint64_t live; /* memory: allocated now; 0: it did not change */
	uint64_t used, budget; /* memory: of the fullest heap; 0: not read */
};

/* A long one. */
struct tally_event_call_record {
	enum tally_event_kind kind;
	const char *call; /* "glLinkProgram" */
	const char *thread; /* its name; NULL = none */
	uint64_t start_ns, ns, bytes;
	uint64_t object; /* OpenGL: its shader or program; 0: none */
	bool cached;
};

/* What a thread slept in. */
struct tally_asleep_record {
	const char *in; /* "futex" */
	const char *of; /* "file"; NULL: none, or not known */
	const char *thread; /* the name of the one that it waited for; NULL: not known */
	/* What that one was in, or the main thread where it is not known; "running": none. */
	const char *other_in, *other_of;
	uint64_t ns;
	uint64_t asked_ns; /* how long it was to sleep, where the call says it; 0: not known */
	uint32_t n;
};

struct tally_frame_record {
	uint64_t frame;
	uint32_t device;
	uint64_t start_ns, cpu_ns;
	bool has_thread, has_wait, has_gpu, has_coverage;
	uint64_t thread_ns; /* CPU time of the thread that ended it */
	uint64_t wait_ns; /* time inside calls in which drivers wait */
	uint64_t gpu_ns, envelope_ns;
	double coverage; /* 0 to 1 */
	uint32_t width, height; /* of the largest presented surface, 0 = none */
	int64_t surface; /* that it presents; -1 = the only one of its passes, or not one */
	const char *set; /* counter set of this frame, NULL = the only one */
	const struct tally_pass_record *passes;
	uint32_t n_passes;
	bool has_unattributed_gpu;
	uint64_t unattributed_gpu_ns;
	const struct tally_keyed_value *unattributed;
	uint32_t n_unattributed;
	const struct tally_keyed_value *metrics; /* of all passes and unattributed work */
	uint32_t n_metrics;
	/* What ended in the frame, of all threads of the process; the longest calls first. */
	const struct tally_event_record *events;
	uint32_t n_events;
	const struct tally_event_call_record *calls;
	uint32_t n_calls;
	const struct tally_asleep_record *asleep;
	uint32_t n_asleep;
	/* Of the thread that ended it. */
	uint64_t kernel_ns, minor_faults, major_faults, disk_bytes;
	uint64_t overhead_ns;
	uint64_t dropped_passes;
	uint64_t flags;
};

struct tally_pass_info_record {
	uint64_t id;
	enum tally_pass_kind kind;
	const char *label;
	struct tally_target target;
	enum tally_load_op load;
	enum tally_store_op store;
	const char *groups; /* debug groups inside the pass, joined by ", "; NULL = none */
};

/* An option of the run, or a tag (--tag KEY=VALUE). */
struct tally_key_text {
	const char *key;
	const char *value;
};

/* The display that the environment names. */
enum tally_session {
	TALLY_SESSION_UNKNOWN = 0,
	TALLY_SESSION_WAYLAND,
	TALLY_SESSION_X11,
	TALLY_SESSION_HEADLESS,
	TALLY_N_SESSIONS,
};

struct tally_header_record {
	const char *version;
	const char *program; /* path of the executable */
	const char *const *argv;
	uint32_t n_argv; /* 0 with --no-argv */
	bool has_argv;
	int64_t pid;
	uint64_t started_unix_ns; /* written as RFC 3339, UTC */
	uint64_t process_start_ns; /* 0 = not known */
	const struct tally_key_text *options;
	uint32_t n_options;
	const char *run; /* a UUID; NULL = none */
	const struct tally_key_text *tags;
	uint32_t n_tags;
	const char *os, *kernel, *cpu, *host; /* NULL = not known, or not wanted */
	uint32_t cpus;                        /* 0 = not known */
	uint64_t memory_bytes;                /* 0 = not known */
	enum tally_session session;
	bool digest; /* frames have no lines */
};

/* Counters of one source that are counted together. */
struct tally_set_info {
	const char *name, *source, *category; /* NULL = none */
	uint32_t bytes; /* of one result; 0 = not known */
	const char *const *keys; /* of the counters */
	uint32_t n_keys;
};

struct tally_device_record {
	uint32_t device;
	enum tally_api api;
	const char *name, *driver, *driver_version;
	uint32_t vendor_id; /* 0 = not known */
	bool has_device_id;
	uint32_t device_id;
	uint32_t driver_id;     /* VkDriverId, 0 = none */
	const char *pci, *uuid; /* NULL = not known */
	int64_t beneath;           /* device that uses this one, -1 = none */
	const char *serialized_by; /* NULL = none of passtally's queries serializes it */
	const char *present_mode;  /* how its images are shown; NULL = not known */
	uint32_t images;           /* ... and how many there are, 0 = not known */
	const char *const *facts; /* sentences; NULL = none */
	uint32_t n_facts;
	const struct tally_source_info *sources;
	uint32_t n_sources;
	const struct tally_counter *const *counters;
	uint32_t n_counters;
	const struct tally_set_info *sets; /* of a rotation, in order */
	uint32_t n_sets;
	const struct tally_metric_info *metrics;
	uint32_t n_metrics;
};

enum tally_level {
	TALLY_LEVEL_INFO = 0,
	TALLY_LEVEL_WARNING,
	TALLY_LEVEL_ERROR,
	TALLY_N_LEVELS,
};

/* What a thread of the program did in a period. */
struct tally_thread_record {
	const char *name;
	uint64_t cpu_ns;
	bool ends_frames, has_ready;
	uint64_t ready_ns; /* ready to run, without a CPU */
	bool main; /* the process's first one, and ends no frames */
};

/* The program's process over a period (layer/event/process_load.h). */
struct tally_process_record {
	uint64_t time_ns, period_ns; /* the period's end and length */
	uint64_t resident_bytes; /* at its end; 0: not known */
	uint64_t disk_bytes; /* fetched from a disk for all threads */
	bool has_ready;
	uint64_t ready_ns; /* the thread that ends frames was ready to run, without a CPU */
	const struct tally_thread_record *threads; /* the busiest first */
	uint32_t n_threads;
	const struct tally_asleep_record *asleep; /* of the frame that has not ended */
	uint32_t n_asleep;
};

struct tally_note_record {
	enum tally_level level;
	const char *message;
	const char *source; /* the part that reports: "session", "gl-statistics", ... */
	bool has_time; /* marks ("mark"), ends of windows ("trigger"): when */
	uint64_t time_ns;
};

/* Statistics of one value of one pass identity. */
struct tally_statistic_record {
	uint32_t device;
	uint64_t id;
	const char *key;
	uint64_t n;
	bool integral; /* sum and sum_sq are exact integers */
	struct tally_int192 sum, sum_sq;
	double sum_f64, sum_sq_f64; /* when not integral */
	struct tally_value min, max;
	double mean, sd_population, sd_sample;
	bool has_sd_sample; /* n > 1 */
	const char *spread; /* of a digest, as tally_sketch_print(); NULL = none */
	double spread_error; /* then, its values are off by at most this part */
};

/* The delta of a snapshot counter over the frames of a device, which is the sum of its passes,
 * `unattributed` and `unlogged`. `outside`: the delta while no captured frame ran. */
struct tally_growth_record {
	uint32_t device;
	const char *source, *key;
	uint64_t growth;
	uint64_t unlogged; /* measured, but values were left out: saturated, block off */
	uint64_t outside;
};

struct tally_end_record {
	uint64_t frames, frames_dropped, passes;
	const char *reason; /* "exit", "max-log", "frames", "seconds", ... */
	const struct tally_growth_record *growth;
	uint32_t n_growth;
	const struct tally_statistic_record *statistics;
	uint32_t n_statistics;
};

/* Words of the log for the enums above (json/log.fields lists them); NULL when out of range.
 * Static strings. */
const char *tally_storage_name(unsigned v);
const char *tally_counter_kind_name(unsigned v);
const char *tally_scope_name(unsigned v);
const char *tally_api_name(unsigned v);
const char *tally_pass_kind_name(unsigned v);
const char *tally_load_op_name(unsigned v);
const char *tally_store_op_name(unsigned v);
const char *tally_stage_name(unsigned v);
const char *tally_event_name(unsigned v);
const char *tally_level_name(unsigned v);
const char *tally_session_name(unsigned v);
/* The word for a source that is on or off. */
const char *tally_state_name(unsigned is_on);
/* `flag` is a bit number, enum tally_flag. */
const char *tally_flag_name(unsigned flag);

/* The inverse of a *_name function over n values: -1 if `word` is none of them. */
int tally_name_find(const char *(*name)(unsigned), unsigned n, const char *word, size_t len);

/* Whether the value of two workloads together is the sum of both. This is not so for shares,
 * averages and frequencies. */
bool tally_counter_adds_up(const struct tally_counter *counter);

/* Adds to a value of the same storage. False: the storage differs or the sum would overflow;
 * *sum is then unchanged. */
bool tally_value_add(struct tally_value *sum, struct tally_value v);

/* The value as a double, for statistics over mixed storages. */
double tally_value_f64(struct tally_value v);

#endif

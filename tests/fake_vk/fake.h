/* SPDX-License-Identifier: MIT */
/* tests/fake_vk/fake.h - a Vulkan driver without a GPU, for tests of the layer.
 *
 * It prints each command that it is given, runs command streams on submit far enough to give
 * exact query results, and names the rules of the specification that a stream breaks. FAKE_VK
 * sets what it offers and how it fails (README.md). Any thread; one recursive mutex guards
 * everything. Objects are never returned to malloc, so that a stale handle can be recognized;
 * their handles are used again at once, as in real drivers.
 */
#ifndef PASSTALLY_TESTS_FAKE_VK_FAKE_H
#define PASSTALLY_TESTS_FAKE_VK_FAKE_H

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES 1
#endif
#ifndef VK_ENABLE_BETA_EXTENSIONS
#define VK_ENABLE_BETA_EXTENSIONS 1
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <vulkan/vk_icd.h>
#include <vulkan/vulkan.h>

#include "fake_vk_numbers.h"

enum {
	FAKE_MAX_FAMILIES = 8,
	FAKE_MAX_GPUS = 4,
	FAKE_MAX_VIEWS = 8,
	FAKE_MAX_ACTIVE = 16,
	FAKE_N_STATISTICS = 13,
};
#define FAKE_TICK 1000 /* duration of a command, in ticks of the device's clock */
/* Of the one heap, by VK_EXT_memory_budget. */
#define FAKE_HEAP_USAGE (UINT64_C(5) << 30)
#define FAKE_HEAP_BUDGET (UINT64_C(4) << 30)

/* ---- the settings of FAKE_VK (config.c) ---- */

struct fake_family {
	VkQueueFlags flags;
	uint32_t timestamp_bits;
	uint32_t n_queues;
};

struct fake_config {
	bool bench; /* do nothing, as fast as possible */
	uint32_t version; /* 10, 11, ... */
	uint32_t n_gpus;
	bool group; /* the GPUs form a group */
	float period;
	struct fake_family families[FAKE_MAX_FAMILIES];
	uint32_t n_families;
	char no[512];	 /* +name+name+: features and extensions that are absent */
	char refuse[512]; /* ... that are reported, but fail vkCreateDevice */
	bool beside;	  /* queues work side by side, not in turn */
	bool wrap;	  /* the timestamps' valid bits overflow early */
	uint32_t vendor, driver_version; /* numbers of VkPhysicalDeviceProperties */
	bool noise;	  /* bits above the valid ones are set */
	bool never;	  /* no result ever becomes available */
	bool garbage;	  /* results for a layer are random */
	bool zero;	  /* they are 0 */
	bool untouched;	  /* they are reported as available, and nothing is written */
	bool half; /* a call writes the first half of the results that a layer asks for */
	uint32_t pools;	  /* from this number on, a layer's pools are out of memory */
	uint32_t gaps;	  /* every N-th query of a layer never becomes available */
	uint32_t shuffle; /* every other query of a layer is available only at the N-th read */
	int32_t results;  /* what vkGetQueryPoolResults returns to a layer */
	uint32_t late_ms; /* duration of a submission */
	uint32_t late_fence_ms; /* additional time until fences are signaled */
	uint32_t lost, lost_ours; /* vkQueueSubmit that loses the device, from 1; 0: none */
	uint32_t oom, oom_ours;	  /* number of the call that is out of memory */
	bool oom_device; /* vkCreateDevice always is out of memory */
	int32_t reset_fences; /* what vkResetFences returns to a layer */
};

/* ---- tables that gen_fake_vk.py makes ---- */

enum fake_kind {
	FAKE_INT,
	FAKE_FLOAT,
	FAKE_HANDLE,
	FAKE_STRUCT,
	FAKE_RAW,
	FAKE_STRING,
	FAKE_NEXT
};

struct fake_member {
	const char *name;
	uint8_t kind;
	uint8_t stars;
	size_t size;	   /* size of an element */
	size_t count_size; /* size of the member that holds the length; 0: one element */
	size_t offset, count_offset;
	uint32_t type; /* number of the handle's type or of the struct */
	size_t n;      /* elements in the member itself */
};

struct fake_struct {
	const char *name, *homes; /* core versions and extensions: "11+VK_KHR_x" */
	uint32_t stype;
	size_t size;
	bool features;
	const struct fake_member *members;
	size_t n_members;
};
extern const struct fake_struct fake_structs[];
extern const uint32_t fake_n_structs;
extern const char *const fake_handle_names[];

enum fake_place { FAKE_BOTH, FAKE_INSIDE, FAKE_OUTSIDE };

struct fake_info {
	const char *name;
	VkQueueFlags queues; /* 0: unknown */
	uint8_t render_pass, video;
	bool action, sync;
};

struct fake_command {
	const char *name;
	PFN_vkVoidFunction function;
	const char *extensions;
	uint32_t version; /* core version, 0: never core */
	uint32_t level;	  /* 0 instance, 1 physical device, 2 device */
	bool records;
};
extern const struct fake_command fake_commands[];
extern const uint32_t fake_n_commands;

/* ---- objects (object.c) ---- */

struct fake_object;

enum fake_op_kind {
	FAKE_OP_OTHER = 0,
	FAKE_OP_STAMP,
	FAKE_OP_BEGIN,
	FAKE_OP_END,
	FAKE_OP_RESET,
	FAKE_OP_COPY_RESULTS,
	FAKE_OP_EXECUTE,
	FAKE_OP_RENDERING,
	FAKE_OP_END_RENDERING,
};

/* One recorded command. */
struct fake_op {
	const struct fake_info *info;
	struct fake_object *object; /* query pool, or secondary */
	struct fake_object *buffer;
	uint64_t offset, stride;
	uint64_t draws, vertices, groups;
	uint32_t first, n, flags;
	uint8_t kind;
};

struct fake_active {
	struct fake_object *pool;
	uint32_t query, scope, n;
	uint64_t at_begin[FAKE_N_STATISTICS];
};

struct fake_buffer { /* command buffer */
	struct fake_object *pool;
	struct fake_op *ops;
	uint32_t n_ops, room;
	uint32_t state; /* 0 initial, 1 recording, 2 executable, 3 invalid */
	VkCommandBufferUsageFlags flags;
	VkQueryPipelineStatisticFlags inherited;
	bool secondary, continues;
	uint32_t render; /* 0 outside, 1 render pass, 2 dynamic, 3 the primary's */
	uint32_t scope, next_scope; /* the number of the subpass; 0 outside */
	uint32_t views, subpass, device_mask;
	bool video, per_tile, failed;
	struct fake_object *pass;
	VkRenderingFlags rendering_flags;
	struct fake_active active[FAKE_MAX_ACTIVE];
	uint32_t n_active;
	uint32_t pending, executions;
};

enum { FAKE_QUERY_UNSET = 0, FAKE_QUERY_RESET, FAKE_QUERY_ACTIVE, FAKE_QUERY_DONE };
struct fake_query {
	uint32_t state;
	uint32_t asked; /* how often it was read in vain, with `shuffle` */
	uint64_t values[FAKE_N_STATISTICS];
};

struct fake_object {
	VK_LOADER_DATA loader;
	uint32_t type, number;
	bool ours; /* made without the program's allocator: by a layer */
	bool dead;
	struct fake_object *next; /* free list, or the list of all queues */
	union {
		struct fake_buffer cb;
		struct {
			uint32_t family;
			VkCommandPoolCreateFlags flags;
		} pool;
		struct {
			VkQueryType type;
			VkQueryPipelineStatisticFlags bits;
			uint32_t n, n_values;
			struct fake_query *queries;
		} queries;
		struct {
			bool signalled, pending;
			uint64_t from_ns;
		} fence;
		struct {
			bool timeline;
			uint64_t value; /* binary: 1 signaled */
		} semaphore;
		struct {
			struct fake_device *device;
			uint32_t family, index;
			VkDeviceQueueCreateFlags flags;
			struct fake_submission *first, *last;
			uint64_t until; /* with `beside`: when its work is done, in ticks */
		} queue;
		struct {
			uint64_t size;
			void *bytes;
			uint64_t offset;
			struct fake_object *memory;
		} memory; /* for memory and for buffers */
		struct {
			uint32_t masks[FAKE_MAX_VIEWS];
		} pass;
		struct {
			VkImage images[4];
			uint32_t n, next;
		} swapchain;
		bool event;
	};
};

#define FAKE_OBJECT(h) ((struct fake_object *)(uintptr_t)(h))

uint64_t fake_new(uint32_t type, bool ours);
void fake_free(uint64_t handle);
/* The number of live objects, except those of the instance. */
uint32_t fake_n_alive(bool ours);

/* ---- printing (print.c) ---- */

void fake_lock(void);
void fake_unlock(void);
void fake_open_log(const char *path);
void fake_flush(void);
/* Takes the lock until fake_line_end(). */
void fake_line_begin(const char *name);
void fake_put_word(const char *text);
void fake_put_string(const char *text);
void fake_put_int(int64_t value);
void fake_put_float(double value);
void fake_put_handle(uint32_t type, uint64_t handle);
void fake_put_array(enum fake_kind kind, uint32_t type, size_t size, const void *data,
		    uint64_t n);
void fake_line_end(void);
/* A line "RULE id what". */
void fake_rule(const char *id, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- the device (device.c) ---- */

struct fake_device {
	VK_LOADER_DATA loader;
	uint32_t number;
	bool lost;
	bool host_reset, inherited, statistics, timeline;
	bool mesh, protected_memory;
	uint32_t version; /* what the instance requested */
	char extensions[4096]; /* +name+name+ */
	uint32_t group_size;
	uint64_t clock; /* ticks */
};

/* Most tests have one live device; each object belongs to the newest. */
extern struct fake_device *fake_current;
extern struct fake_config fake_config;
extern char fake_instance_extensions[4096];
extern uint32_t fake_instance_version;
extern struct fake_object *fake_queues;

bool fake_has_word(const char *list, const char *word); /* in "+a+b+" */
/* Whether FAKE_VK offers it. */
bool fake_offers_extension(const char *name);
/* "11+VK_KHR_x": whether one of them is enabled (device given) or offered. */
bool fake_home_is_there(const char *homes, const struct fake_device *device);
void fake_config_read(void);
extern const char *const fake_extensions[];
extern const uint32_t fake_n_extensions;

/* Counts a call that may fail. `ours`: the call was made by a layer. */
VkResult fake_enter(const char *name, bool ours);
uint64_t fake_now_ns(void);
uint64_t fake_clock(void); /* the device's, in ticks, brought up to date */
/* The value of a timestamp of this many valid bits. */
uint64_t fake_stamp(uint32_t bits);

/* ---- commands (command.c, query.c) ---- */

void fake_cmd_begin(VkCommandBuffer commandBuffer, const struct fake_info *info);
void fake_cmd_count(VkCommandBuffer commandBuffer, uint64_t draws, uint64_t vertices,
		    uint64_t groups, bool mesh);
void fake_cmd_end(void);
struct fake_op *fake_last_op(VkCommandBuffer commandBuffer);
VkQueueFlags fake_flags_of(const struct fake_object *cb);

/* ---- running (run.c, queue.c) ---- */

struct fake_wait {
	struct fake_object *semaphore;
	uint64_t value;
};
struct fake_submission {
	struct fake_submission *next;
	struct fake_wait *waits, *signals;
	struct fake_object **buffers;
	uint32_t n_waits, n_signals, n_buffers;
	struct fake_object *fence;
	uint64_t ready_ns;
};

void fake_run(struct fake_object *queue, struct fake_submission *s);
/* Lets everything run that may; true when a query of it is still to run. */
void fake_pump(void);
/* Sleeps a little, so that time passes, and pumps. False once `until` is past. */
bool fake_wait_until(uint64_t until_ns);
bool fake_queue_idle(const struct fake_object *queue);
bool fake_pool_pending(const struct fake_object *pool, uint32_t first, uint32_t n);

#endif

/* SPDX-License-Identifier: MIT */
/* vk_layer/record/command.h - a command buffer while the game records it.
 *
 * The generated wrappers (hooks.rules) find a struct vk_command by handle and call what is
 * declared here, or in vk_next.h. All of it belongs to the recording thread. Nothing waits;
 * memory grows by doubling, at the first passes of a recording. Rules of opening and closing
 * passes: docs/passes.md.
 */
#ifndef PASSTALLY_VK_LAYER_COMMAND_H
#define PASSTALLY_VK_LAYER_COMMAND_H

#include "vk_layer/record/handles.h"
#include "vk_layer/record/intervals.h"
#include "vk_layer/record/late_counters.h"
#include "vk_layer/record/recording.h"

struct vk_pool;

/* How the recorder classifies an open render pass instance, or a group of work outside one. */
enum vk_open_kind {
	VK_OPEN_NOTHING = 0,
	VK_OPEN_RENDER, /* between begin and end of a render pass instance */
	VK_OPEN_INHERITED, /* a RENDER_PASS_CONTINUE secondary: all of it */
	VK_OPEN_WORK, /* consecutive commands of one kind outside a render pass */
	VK_OPEN_VIDEO, /* a video coding scope */
};

/* What a render pass gets. Decided once at vkBeginCommandBuffer, for passes recorded inline in one
 * subpass of one view; what any other gets is decided when it begins. */
enum vk_plan {
	VK_PLAN_FULL = 0, /* decided when it begins */
	VK_PLAN_ONE_SLOT, /* one slot, around it, with all that counts here */
	VK_PLAN_COUNT, /* no query: nothing is captured, or no source counts; all passes */
};

/* What is open; zeroed except for `views`: nothing. */
struct vk_open_work {
	uint8_t kind; /* enum vk_open_kind */
	uint8_t work_kind; /* enum tally_pass_kind, of the group of work */
	bool has_pass; /* open_pass is valid (it was not dropped and is counted) */
	bool sums; /* the pass gets its counters from the secondaries in it (R25) */
	bool suspending; /* the render pass ends by suspending */
	uint8_t plan; /* enum vk_plan, of the render pass */
	uint8_t views; /* of the render pass: a query inside it takes this many slots */
};

/* A render pass that has suspended: the layer may record nothing until it resumes. */
enum vk_suspended {
	VK_SUSPENDED_NONE = 0,
	VK_SUSPENDED_UNLISTED, /* in an executed secondary, or it was dropped */
	VK_SUSPENDED_PASS, /* it is open_pass */
};

/* What the game has begun and not ended. */
struct vk_game_state {
	uint32_t no_queries; /* > 0: per-tile execution and the like */
	uint32_t statistics; /* its statistics queries that are or may be active */
	uint32_t performance; /* > 0: its performance query may have to end last (R18) */
	uint64_t flags; /* of everything recorded now: conditional rendering and the like */
};

/* The pool that it was allocated from, and its position in the pool's list. */
struct vk_command_home {
	struct vk_pool *pool;
	struct vk_command *next, **link;
};

struct vk_command {
	/* Hot: accessed at every draw. */
	VkCommandBuffer handle; /* comes first; NULL: free. Other threads read it */
	const struct vk_device_next *next;
	uint32_t counts; /* a draw only needs counting: a pass is open, no interval per draw */
	uint32_t unknown;
	struct tally_call_counts
		call_counts; /* of the open pass; `calls`: those beyond one each */
	uint64_t flags;
	/* Accessed less often. */
	struct vk_device *device;
	bool secondary;
	bool recording_now;
	struct vk_recording *recording; /* being recorded, or recorded last; NULL: none */
	struct vk_open_work open;
	uint32_t open_pass; /* index into recording->passes while something is open */
	enum vk_suspended suspended;
	enum vk_plan plan; /* of the render passes of this recording */
	uint64_t outer_flags; /* of the open pass, while `flags` are a workload's */
	struct vk_game_state game;
	bool measures_draws; /* granularity draw: each workload has a slot,
				passes have only timestamps */
	struct vk_interval intervals[VK_N_AROUND];
	struct vk_late late;
	struct vk_bound bound;
	struct vk_command_home home;
};

extern struct vk_handles vk_commands;

/* The command buffer that this thread accessed last: games record many calls in a row into one.
 * The variable has the initial-exec TLS model, so that no call is needed to find it; it takes 8
 * bytes of the space that the C library reserves for libraries that are loaded late. A struct
 * vk_command is reused, never freed, so that an old one still identifies its command buffer. */
extern __thread struct vk_command *vk_last_command __attribute__((tls_model("initial-exec")));
struct vk_command *vk_command_look_up(VkCommandBuffer handle);

static inline bool
vk_command_is(const struct vk_command *c, VkCommandBuffer handle)
{
	return __atomic_load_n(&c->handle, __ATOMIC_RELAXED) == handle;
}

/* NULL: not followed (memory ran out when it was allocated, or capture is off). */
static inline struct vk_command *
vk_command_find(VkCommandBuffer handle)
{
	struct vk_command *c = vk_last_command;
	return __builtin_expect(vk_command_is(c, handle), 1) ? c : vk_command_look_up(handle);
}

/* The recording of a command buffer that is executed or submitted; NULL when it is unknown. No
 * lock: it belongs to the executing or submitting thread. */
static inline struct vk_recording *
vk_recording_submitted(VkCommandBuffer handle)
{
	const struct vk_command *c = vk_command_find(handle);
	return c && !c->recording_now ? c->recording : NULL;
}

/* ---- counting, inline in every draw wrapper ---- */

#define VK_COUNT_DRAW(c, n, times) \
	((c)->call_counts.draws++, (c)->call_counts.vertices += (uint64_t)(n) * (times), \
	 (c)->call_counts.instances += (times))
#define VK_COUNT_INDIRECT(c, n) \
	((c)->call_counts.draws += (n), (c)->call_counts.calls += 1 - (uint64_t)(n), \
	 (c)->flags |= TALLY_FLAG(INDIRECT), \
	 (c)->unknown |= TALLY_UNKNOWN_VERTICES | TALLY_UNKNOWN_INSTANCES)
#define VK_COUNT_INDIRECT_COUNT(c) \
	((c)->call_counts.calls++, (c)->flags |= TALLY_FLAG(INDIRECT), \
	 (c)->unknown |= TALLY_UNKNOWN_DRAWS | TALLY_UNKNOWN_VERTICES | TALLY_UNKNOWN_INSTANCES)
#define VK_COUNT_MESH(c) ((c)->call_counts.draws++)
/* `draws`: VkMultiDrawInfoEXT or VkMultiDrawIndexedInfoEXT, `stride` bytes apart. */
void vk_count_multi(struct vk_command *c, const void *draws, uint32_t n, uint32_t stride,
		    uint32_t instances);

/* A draw when c->counts is 0: begins a separate interval (granularity draw), or finds that it
 * belongs to no pass. */
void vk_draw_begin(struct vk_command *c);
/* The same for a draw with mesh shaders, whatever c->counts is. */
void vk_mesh_begin(struct vk_command *c);
/* vkCmdClearAttachments: counted as a clear, and measured like a draw. */
void vk_clear_attachments_begin(struct vk_command *c);

/* ---- render passes ---- */

void vk_render_pass_begin(struct vk_command *c, const VkRenderPassBeginInfo *info,
			  VkSubpassContents contents);
void vk_render_pass_next(struct vk_command *c, VkSubpassContents contents);
void vk_rendering_begin(struct vk_command *c, const VkRenderingInfo *info);
/* Called around every command that ends a render pass instance, including the newest. */
static inline void
vk_render_end(struct vk_command *c)
{
	if (c->late.counting && c->open.kind == VK_OPEN_RENDER)
		vk_late_end(c);
}
void vk_render_ended(struct vk_command *c);
void vk_no_queries(struct vk_command *c, bool on);

/* ---- work outside a render pass ---- */

enum vk_work {
	VK_WORK_DRAWS = 0, /* of generated commands, as is MESHES */
	VK_WORK_DISPATCH,
	VK_WORK_COPY,
	VK_WORK_CLEAR,
	VK_WORK_RESOLVE,
	VK_WORK_READBACK, /* vkCmdCopyQueryPoolResults */
	VK_WORK_TRACE,
	VK_WORK_BUILD,
	VK_WORK_OTHER,
	VK_WORK_MESHES,
};
/* `image`: the destination, or VK_NULL_HANDLE. */
void vk_work_begin(struct vk_command *c, enum vk_work what, VkImage image);
void vk_work_end(struct vk_command *c);
/* Generated commands are draws, dispatches or traces, inside or outside a render pass: as
 * VkGeneratedCommandsInfoEXT says by stages, VkGeneratedCommandsInfoNV by a bind point. */
enum vk_work vk_generated_by_stages(const void *info);
enum vk_work vk_generated_by_point(const void *info);
void vk_generated_begin(struct vk_command *c, enum vk_work what);
void vk_custom_resolve(struct vk_command *c); /* the draws that follow resolve */
void vk_work_close(struct vk_command *c); /* ends the open pass if it is one of work */
void vk_barrier(struct vk_command *c); /* --split barrier: a barrier, or a wait for events */
void vk_video_begin(struct vk_command *c);
void vk_video_work(struct vk_command *c); /* a decode or an encode in the scope */
void vk_video_ended(struct vk_command *c);
void vk_conditional(struct vk_command *c, bool on);
void vk_transform_feedback(struct vk_command *c, bool on);

/* ---- secondaries, labels, the game's own queries ---- */

void vk_execute_begin(struct vk_command *c, uint32_t n, const VkCommandBuffer *secondaries);
void vk_label(struct vk_command *c, bool begins, const char *name);
void vk_label_insert(struct vk_command *c, const char *name);
void vk_query_begin(struct vk_command *c, VkQueryPool pool);
void vk_query_end(struct vk_command *c, VkQueryPool pool);

/* ---- pools and buffers: after the call, and before vkDestroyQueryPool ---- */

void vk_commands_allocated(struct vk_device *d, const VkCommandBufferAllocateInfo *info,
			   const VkCommandBuffer *handles);
void vk_command_reset(VkCommandBuffer handle, VkCommandBufferResetFlags flags);
void vk_pool_created(struct vk_device *d, const VkCommandPoolCreateInfo *info,
		     VkCommandPool handle);
void vk_pool_reset(struct vk_device *d, VkCommandPool pool, VkCommandPoolResetFlags flags);
void vk_query_pool_created(struct vk_device *d, const VkQueryPoolCreateInfo *info,
			   VkQueryPool pool);
void vk_query_pool_destroyed(struct vk_device *d, VkQueryPool pool);

/* Forgets the device's pools and command buffers before it is destroyed,
 * without a Vulkan call. */
void vk_commands_forget(struct vk_device *d);

#endif

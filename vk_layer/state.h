/* SPDX-License-Identifier: MIT */
/* vk_layer/state.h - the layer's data about the game's instances, devices and queues.
 *
 * An instance and a device are found by the loader's dispatch pointer, which their child
 * handles share; a queue and a command buffer by their own handles (handles.h). Who may access
 * what:
 *   - set at creation, read by any thread: everything not named below;
 *   - under the device's `lock`: slots, submissions, streams, frames. It is never held across a
 *     call down the chain, except when the host itself reads and resets queries (R34b);
 *   - a command buffer and what is recorded into it belong to the recording thread (the game
 *     has to ensure that, "externally synchronized"), and need no lock.
 * Nothing here waits for the GPU except vk_device_finish() and `--snapshot exact`
 * (exact.h): for their own fence, not for long, without the lock.
 */
#ifndef PASSTALLY_VK_LAYER_STATE_H
#define PASSTALLY_VK_LAYER_STATE_H

#include "layer/config/config.h"
#include "layer/frame/stream.h"
#include "query/vk/source.h"
#include "vk_layer/record/handles.h"
#include "vk_layer/vk_types.h"
#include "vk_next.h" /* generated: struct vk_instance_next, struct vk_device_next */

#include <pthread.h>
#include <stdatomic.h>

struct vk_submission; /* submission_list.h, as is vk_pending_pass */
struct vk_pending_pass;
struct vk_slots;      /* slots.h */
struct vk_targets;    /* targets.h */
struct vk_batch_intervals; /* batch_intervals.h */
struct vk_exact_functions; /* sampling.h */
struct vk_pictures;   /* picture/picture.h */

struct vk_instance {
	struct vk_instance_next next;
	VkInstance handle;
	uint32_t api_version; /* what the game requested; at least 1.0 */
	bool has_properties2; /* VK_KHR_get_physical_device_properties2 is enabled */
	bool is_zink;	      /* OpenGL runs on top of it (pEngineName) */
	bool is_dxvk;	      /* Direct3D does, likewise */
	bool tracked;	      /* false: all its calls are only forwarded */
};

/* What the device was created with: the game's request together with the layer's. */
struct vk_enabled {
	bool pipeline_statistics, inherited_queries, host_reset, calibrated, mesh_shader;
	bool game_statistics;  /* the game itself enabled pipelineStatisticsQuery (R21) */
	/* The game may begin such a query, or draw with mesh shaders (R40), inside a render pass:
	 * ours begin and end there, too, so that they can end first. */
	bool counts_inside;
	bool game_performance; /* ... or performance queries (R18) */
	/* VK_KHR_performance_query: it is supported; we enabled it; with several pools. */
	bool performance_offered, performance, performance_pools;
	bool creation_feedback; /* may be chained where pipelines are created */
	bool executables; /* pipelines are to have statistics (--pipeline-statistics) */
	bool layouts_apart; /* of the depth and the stencil of an image */
	bool depth_resolve; /* VK_KHR_depth_stencil_resolve, by the game */
	bool multi_device;     /* a group of more than one: timestamps only (R19) */
	/* Extensions that only the layer enabled: the game must not find their commands. */
	bool added_host_reset, added_calibrated, added_performance, added_executables;
};

/* How a swapchain shows images, for the device line. Without images: nothing is known. */
struct vk_presents {
	VkPresentModeKHR mode;
	uint32_t images;
};

#define VK_MAX_FAMILIES 16
#define VK_FENCE_RING 2 /* with more, validation layers report too many: they count
			   the game's as well */

/* What shows that everything up to a submission has completed: a fence of the layer, or, if it is
 * watched, the result of that submission's last query (watch.h). */
struct vk_fence {
	VkFence handle;
	uint64_t serial; /* covers submissions up to this one; 0: the entry is free */
	bool watched;
};

/* One queue; used under the device's lock by the thread that submits to it. */
struct vk_queue {
	struct vk_queue *next;
	struct vk_device *device;
	VkQueue handle;
	uint32_t family, index;
	bool is_protected;
	bool unordered; /* several threads may use it at once (R33): nobody knows its order */
	bool out_of_band; /* what it presents may be generated */
	struct tally_stream *stream; /* NULL until the first submission that has work */
	bool stream_failed;
	struct vk_labels *labels; /* labels.h: the queue's stack */
	struct vk_submission *oldest, *newest; /* not read yet */
	uint64_t serial; /* of the newest submission, from 1 */
	uint64_t fenced; /* the newest that one of the layer's fences follows */
	uint64_t completed; /* the newest that is known to have completed */
	struct vk_fence fences[VK_FENCE_RING];
	uint32_t fence_first, n_fences;
	bool fencing; /* a thread is creating the next fence, without the lock */
	uint64_t fence_frame; /* the frame that was open when the last fence was submitted */
	uint32_t n_unread;
	struct vk_submission *spare; /* already read, kept for reuse */
	struct vk_pending_pass *frame_pass; /* --granularity frame: of the open frame */
	/* Used by exact.c in the thread that may use the queue: no lock. */
	/* Up to this serial it may wait for what the game has yet to do: for these, if not for
	 * more. */
	uint64_t stuck;
	uint32_t n_stuck;
	struct vk_timeline_wait {
		VkSemaphore semaphore;
		uint64_t value;
	} stuck_at[8];
	VkFence exact_fence;
	bool exact_waits; /* the driver has yet to signal exact_fence */
};

struct vk_device {
	struct vk_device_next next;
	struct vk_instance *instance; /* NULL when it was destroyed before the device */
	bool is_zink, is_dxvk; /* as the instance, which a thread of the game may destroy */
	VkDevice handle;
	VkPhysicalDevice physical;
	PFN_vkSetDeviceLoaderData set_loader_data; /* NULL: copy the device's pointer */
	bool tracked; /* false: calls are only forwarded */
	/* Set once, by any thread: the device was lost, or there was no memory for something
	 * that must not be wrong. From then on nothing is recorded, submitted, waited for or
	 * read; what was measured so far is written. */
	atomic_bool stopped;
	bool results_fail; /* watched results did not come: fences show what has completed */
	/* Set once, by any thread: a query around a whole command buffer could enclose the
	 * game's secondaries, or lie between the halves of a suspended render pass. */
	atomic_bool no_buffer_queries;
	/* Nothing is captured until something starts a capture: what is recorded meanwhile has
	 * no query. Changes where a frame ends, under the lock; read by any thread. */
	atomic_bool idle;
	struct vk_enabled enabled;
	VkPhysicalDeviceProperties properties;
	VkDriverId driver_id; /* 0: not known */
	bool times_of_tiles; /* those in a render pass mean nothing: quirks.h */
	char driver_name[VK_MAX_DRIVER_NAME_SIZE], driver_info[VK_MAX_DRIVER_INFO_SIZE];
	char uuid[37], pci[24]; /* "": not known */
	struct tally_vk_family families[VK_MAX_FAMILIES];
	uint32_t n_families;
	const struct tally_config *config;
	struct vk_targets *targets;
	/* Used by command.c, zeroed at first: command pools; pools of
	 * the game's own queries. */
	struct vk_handles pools, statistics_pools, performance_pools;
	struct vk_handles memory; /* bytes of each VkDeviceMemory */
	PFN_vkGetPhysicalDeviceMemoryProperties2 read_memory; /* NULL: it reports no budget */
	_Atomic VkDeviceSize allocated; /* since the budget was last read */
	atomic_size_t picture_bytes; /* of GPU memory, in copies (picture.h) */

	pthread_mutex_t lock;
	struct vk_slots *slots; /* the sources and their queries */
	struct vk_batch_intervals *batch_intervals;
	struct vk_queue *queues;
	struct tally_device *tally; /* NULL until the first submission that has work */
	bool tally_failed;
	struct vk_presents presents; /* of what was presented last; before that, created last */
	uint64_t submissions;	       /* numbers the submissions: the `submission` of passes */
	uint64_t submits_in_frame;     /* --frame submit:N */
	uint64_t passes_in_frame;      /* of the open frame */
	int64_t beneath;	       /* the OpenGL device on this one, -1 = none known */
	uint32_t generated_left; /* presents out of band that may follow the last other one */
	bool marks_frames; /* frames end by VkFrameBoundaryEXT, not by presents */
	const struct vk_exact_functions *exact; /* --snapshot exact; otherwise NULL */
	struct vk_handles timelines; /* used by exact/semaphores.c */
	atomic_bool exact_over;	    /* set once, by any thread: no more waits of exact.c */
	struct vk_pictures *pictures_done; /* to be read or freed (picture.h) */
	bool pictures_read; /* ... and some were in the open frame: it is not measured */
	bool given_up;	   /* stopped, and everything unread is flagged */
};

/* Finds the device by any handle whose loader pointer is the device's (VkDevice, VkQueue,
 * VkCommandBuffer). It always exists for a handle that a hook can be called with. */
struct vk_device *vk_device_find(const void *handle);
struct vk_instance *vk_instance_find(const void *handle);
/* Visits every struct vk_device, with none created or destroyed meanwhile; visits nothing if one
 * is being created or destroyed now. Used at the end of the process: never waits. */
void vk_devices_each(void (*visit)(void *device, void *data), void *data);

/* Stops measuring on this device, once: `why` (a sentence) is written to the log as a note. */
void vk_device_stop(struct vk_device *d, const char *why);
static inline bool
vk_device_runs(const struct vk_device *d)
{
	return d->tracked && !atomic_load_explicit(&((struct vk_device *)d)->stopped,
						   memory_order_relaxed);
}
static inline bool
vk_device_idles(const struct vk_device *d)
{
	return atomic_load_explicit(&((struct vk_device *)d)->idle, memory_order_relaxed);
}

#endif

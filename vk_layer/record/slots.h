/* vk_layer/record/slots.h - the sources of one device, and slots for what they count.
 *
 * A page is one query pool of each source, 256 slots in each; slot n of a page is the same number
 * in all of them. A recording takes slots in runs (4, then 16, then 64), so that recording takes
 * the device's lock once a run, each right after the last where that is free; the runs go back when
 * nothing of the recording waits to be read. The host resets a run when it is taken; where the
 * device has no host reset, its first begin does, in the command buffer, outside a render pass
 * (R26), and where that is not allowed there are no slots. Ceiling: 256 pages a device, 65536
 * slots, some 16 MiB of the driver's memory and 8 of ours.
 *
 * Thread: vk_slots_take() is the recording thread's and takes the lock itself only for a new run;
 * begin and end are the recording thread's; what says "with the lock" is called with it held.
 */
#ifndef PASSTALLY_VK_LAYER_SLOTS_H
#define PASSTALLY_VK_LAYER_SLOTS_H

#include "vk_layer/state.h"

struct vk_page;

/* Where the queries of one interval stand. Zeroed: none. */
struct vk_slot {
	struct vk_page *page; /* NULL: not measured */
	uint16_t index;
	uint8_t views;	/* consecutive slots taken, 1 but for multiview */
	uint8_t halves; /* TALLY_VK_BEGIN | TALLY_VK_END: what was recorded so far */
	uint32_t sources; /* bit per source that counts in it */
};

/* The runs that one recording took, all of one set. Zeroed: none. */
struct vk_slot_run {
	struct vk_page *page;
	uint16_t first, n;
};
struct vk_slot_runs {
	struct vk_slot_run *runs;
	uint32_t n, room;
	uint32_t used; /* slots used of the newest run */
	uint32_t n_taken; /* times that slots were taken: more each time */
	bool failed;   /* no memory, no queries: the rest of this recording goes without */
	bool without_sets; /* whoever takes them counts no set */
	bool chosen;	   /* `set` is */
	uint32_t set; /* a number for vk_slots_layout(); 0: none */
	const struct vk_page *performance; /* the one that performance queries may come from */
};

/* What is to be bracketed by one slot: bits. */
enum vk_bracket {
	VK_BRACKET_TIME = 1, /* stamps: where nothing else may be (protected, suspended halves) */
	VK_BRACKET_STATISTICS = 2, /* what secondaries may inherit */
	VK_BRACKET_PERFORMANCE = 4, /* never around vkCmdExecuteCommands */
	VK_BRACKET_BUFFER = 8, /* the sets that are of whole command buffers; by itself */
	VK_BRACKET_COUNT = VK_BRACKET_STATISTICS | VK_BRACKET_PERFORMANCE,
	VK_BRACKET_ALL = VK_BRACKET_TIME | VK_BRACKET_COUNT,
};

#define VK_MAX_COUNTERS 128 /* that can be added up */

/* What values of a set mean. */
struct vk_layout {
	const struct tally_counter_set *set; /* never freed; its name is NULL without a set */
	uint32_t n_always; /* counters that no set has; they come first */
	uint64_t levels[VK_MAX_COUNTERS / 64]; /* counters that must not be added up */
};

/* Make the sources that config asks for and open them. False: out of memory. */
bool vk_slots_create(struct vk_device *d);
/* Destroys all pools; the device is idle or gone. */
void vk_slots_destroy(struct vk_device *d);

/* Rows for the device line, `api` first; `rows` has room for TALLY_MAX_SOURCES + 1. */
uint32_t vk_slots_describe(struct vk_device *d, struct tally_source_info *rows);
/* All counters, of all sets: for the device line. */
const struct tally_counter *const *vk_slots_counters(struct vk_device *d, uint32_t *n);
/* The set that has its turn: a number for vk_slots_layout(), 0 when there is none. Any thread. */
uint32_t vk_slots_set(const struct vk_device *d);
/* The set of all that these runs will hold; the first time, the one that has its turn. */
uint32_t vk_slots_choose(const struct vk_device *d, struct vk_slot_runs *runs);
/* Where the counters of a set may stand: query/vk/source.h. WORKLOAD for no set. */
enum tally_scope vk_slots_scope(const struct vk_device *d, uint32_t set);
const struct vk_layout *vk_slots_layout(const struct vk_device *d, uint32_t set);
uint32_t vk_slots_max_values(const struct vk_device *d);
/* The values of a layout that come from these sources: VK_MAX_COUNTERS bits. */
void vk_slots_mask(const struct vk_device *d, uint32_t set, uint32_t sources, uint64_t *mask);
/* What makes the driver run passes one after the other, or NULL. */
const char *vk_slots_serialized_by(const struct vk_device *d);
/* What secondaries have to inherit while a statistics query of ours is active (R24). */
VkQueryPipelineStatisticFlags vk_slots_inherited(struct vk_device *d, uint32_t family);
/* The sources that would count, with whatever set: bits for vk_slot.sources. */
uint32_t vk_slots_sources(const struct vk_device *d, uint32_t family, unsigned what);
/* Can anything, or at least stamps, be measured on this family? */
bool vk_slots_cover(struct vk_device *d, uint32_t family, unsigned what);

/* The next slot of a recording for queues of `family`. `can_reset`: a reset may be recorded here:
 * outside a render pass, in a primary or a secondary without RENDER_PASS_CONTINUE. Where not,
 * nothing is counted that must stand outside. A slot with page NULL when there is none to be had.
 */
struct vk_slot vk_slots_take(struct vk_device *d, struct vk_slot_runs *runs, uint32_t family,
			     unsigned what, uint32_t views, bool can_reset);
/* Record the begins: stamps first, then counters. Records the reset of the run where the host
 * cannot and this is the run's first: whoever takes with `can_reset` begins at once. Leaves out of
 * slot->sources what may not begin now. */
void vk_slot_begin(struct vk_device *d, VkCommandBuffer cb, uint32_t family, struct vk_slot *slot,
		   bool can_reset);
/* Counters first, then stamps. */
void vk_slot_end(struct vk_device *d, VkCommandBuffer cb, struct vk_slot *slot);
/* End these counters of a slot now and keep the rest going: the game begins a query of the same
 * type (R21), or executes secondaries. What they counted is not all, so they leave slot->sources
 * and have no values. */
void vk_slot_yield(struct vk_device *d, VkCommandBuffer cb, struct vk_slot *slot, unsigned what);
/* The set that its values are of. */
uint32_t vk_slot_set(const struct vk_device *d, const struct vk_slot *slot);

/* ---- reading, with the lock: in rounds ----
 *
 * Say which slots are to be read, fetch them all, read each. A round asks the driver once for each
 * row of neighbouring slots of a pool, and with them for their availability; it does not wait. */

/* These sources of the slot belong to the next round. */
void vk_slot_want(struct vk_device *d, const struct vk_slot *slot, uint32_t sources);
/* The round: what was wanted is fetched. What an earlier one fetched is no longer read. */
void vk_slots_fetch(struct vk_device *d);
/* Read what the round found ready; like tally_harvest_read(): the same `out` comes back until
 * everything answered, and `*left` (start: slot->sources) says which sources still have to. What
 * was not wanted is not ready. */
enum tally_status vk_slot_read(struct vk_device *d, uint32_t family, const struct vk_slot *slot,
			       uint32_t *left, struct tally_sample *out);
/* Does vkGetQueryPoolResults() wait until the whole device is idle, whatever its flags? Then
 * vk_slots_fetch() is only for when nothing submitted waits for what the game may signal later (a
 * timeline semaphore, d->pending_timelines): it would wait for that with the lock held, perhaps
 * in the thread that signals. On lavapipe, see slots.c. Host reset, fences and the rest do not
 * wait. */
bool vk_slots_read_waits(const struct vk_device *d);
/* With the lock. The recording runs again: its slots become usable anew (host reset; nothing to do
 * where the command buffer resets its own). */
void vk_slots_reset(struct vk_device *d, const struct vk_slot_runs *runs);
/* With the lock. Give all runs back. */
void vk_slots_release(struct vk_device *d, struct vk_slot_runs *runs);
/* With the lock, once a frame: the next set has its turn. */
void vk_slots_tick(struct vk_device *d, uint64_t now_ns);

#endif

/* SPDX-License-Identifier: MIT */
/* vk_layer/record/slots.h - the sources of one device, and slots for their queries.
 *
 * A page is one query pool for each source, with 256 slots in each; slot n of a page has the
 * same index in all of them. A recording takes slots in runs (4, then 16, then 64), so that
 * recording takes the device's lock once per run; each run follows directly on the last where
 * those slots are free. The runs are returned when nothing of the recording waits to be read.
 * The host resets a run when it is taken; on a device without host reset its first begin resets
 * it in the command buffer, outside a render pass (R26), and where that is not allowed there
 * are no slots. Limit: 256 pages per device, 65536 slots, about 16 MiB of the driver's memory
 * and 8 MiB of the layer's.
 *
 * Threads: vk_slots_take() is for the recording thread and takes the lock only for a new run;
 * begin and end are for the recording thread; functions marked "with the lock" are called with
 * it held.
 */
#ifndef PASSTALLY_VK_LAYER_SLOTS_H
#define PASSTALLY_VK_LAYER_SLOTS_H

#include "vk_layer/state.h"

struct vk_page;

/* The queries of one interval. Zeroed: none. */
struct vk_slot {
	struct vk_page *page; /* NULL: not measured */
	uint16_t index;
	uint8_t views;	/* number of consecutive slots taken, 1 except for multiview */
	uint8_t halves; /* TALLY_VK_BEGIN | TALLY_VK_END: the halves recorded so far */
	uint32_t sources; /* one bit for each source that counts in it */
};

/* The runs that one recording took, all of one set. Zeroed: none. */
struct vk_slot_run {
	struct vk_page *page;
	uint16_t first, n;
};
struct vk_slot_runs {
	struct vk_slot_run *runs;
	uint32_t n, room;
	uint32_t used; /* slots of the newest run that are used */
	uint32_t n_taken; /* number of times that slots were taken; runs grow with it */
	uint32_t everything; /* the sources of a slot of the newest run that has one view, where all
				may count and be reset; 0: not known */
	bool spread;   /* passes of several views were recorded: TALLY_QUIRK_TIMES_BY_VIEW */
	bool failed;   /* no memory or no queries: the rest of this recording has no slots */
	bool without_sets; /* the owner counts no set */
	bool chosen;	   /* `set` has been chosen */
	uint32_t set; /* a number for vk_slots_layout(); 0: none */
	const struct vk_page *performance; /* the only page for performance queries */
};

/* What one slot is to measure: bits. */
enum vk_measure {
	VK_MEASURE_TIME = 1, /* timestamps: alone where nothing else may
				be (protected, suspended halves) */
	VK_MEASURE_STATISTICS = 2, /* statistics that secondaries may inherit */
	VK_MEASURE_PERFORMANCE = 4, /* never around vkCmdExecuteCommands */
	VK_MEASURE_BUFFER = 8, /* the sets for whole command buffers; used by itself */
	VK_MEASURE_COUNT = VK_MEASURE_STATISTICS | VK_MEASURE_PERFORMANCE,
	VK_MEASURE_ALL = VK_MEASURE_TIME | VK_MEASURE_COUNT,
	VK_MEASURE_SETS = 2 * VK_MEASURE_BUFFER, /* sets of these bits */
};

#define VK_MAX_COUNTERS 128 /* that can be added up */

/* The meaning of a set's values. */
struct vk_layout {
	const struct tally_counter_set *set; /* never freed; its name is NULL without a set */
	uint32_t n_always; /* counters that are in no set; they come first */
	uint64_t levels[VK_MAX_COUNTERS / 64]; /* counters that must not be added up */
	enum tally_scope scope; /* vk_slots_scope() */
};

/* The set for everything in these runs, a number for vk_slots_layout(), 0 when there is none;
 * the first call chooses the current set. */
uint32_t vk_slots_choose(const struct vk_device *d, struct vk_slot_runs *runs);

/* The next slot of a recording for queues of `family`. `can_reset`: a reset may be recorded
 * here, outside a render pass, in a primary or in a secondary without RENDER_PASS_CONTINUE. If
 * not, counters that must be outside a render pass are left out. The slot's page is NULL when
 * no slot is available.
 */
struct vk_slot vk_slots_take(struct vk_device *d, struct vk_slot_runs *runs, uint32_t family,
			     unsigned what, uint32_t views, bool can_reset);
/* The same for VK_MEASURE_ALL, one view and `can_reset`, if the newest run has another such
 * slot. False: it has none. */
static inline bool
vk_slots_take_next(const struct vk_device *d, struct vk_slot_runs *runs, struct vk_slot *slot)
{
	if (!runs->everything || !vk_device_runs(d))
		return false;
	const struct vk_slot_run *run = &runs->runs[runs->n - 1];
	if (runs->used >= run->n)
		return false;
	*slot = (struct vk_slot){
		.page = run->page,
		.index = (uint16_t)(run->first + runs->used++),
		.views = 1,
		.sources = runs->everything,
	};
	return true;
}
/* Records the begins: timestamps first, then counters. Records the reset of the run where the
 * host cannot reset it and this is the run's first begin: the code that takes a slot with
 * `can_reset` begins it at once. Removes from slot->sources what may not begin now. */
void vk_slot_begin(struct vk_device *d, VkCommandBuffer cb, struct vk_slot *slot,
		   bool can_reset);
/* Ends counters first, then timestamps. */
void vk_slot_end(struct vk_device *d, VkCommandBuffer cb, struct vk_slot *slot);
/* Ends these counters of a slot now while the rest continue: the game begins a query of the
 * same type (R21), or executes secondaries. Their counts are incomplete, so these counters
 * leave slot->sources and have no values. */
void vk_slot_yield(struct vk_device *d, VkCommandBuffer cb, struct vk_slot *slot, unsigned what);

/* ---- reading, with the lock: in rounds ----
 *
 * Request which slots are to be read, fetch them all, read each. A round asks the driver
 * once for each sequence of neighboring slots of a pool, including their availability;
 * it does not wait. */

/* The caller holds the lock. The recording will execute again: makes its slots usable again
 * (host reset; nothing to do where the command buffer resets its own). */
void vk_slots_reset(struct vk_device *d, const struct vk_slot_runs *runs);
/* The caller holds the lock. Returns all runs. */
void vk_slots_release(struct vk_device *d, struct vk_slot_runs *runs);

#endif

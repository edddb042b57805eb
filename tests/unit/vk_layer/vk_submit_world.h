/* SPDX-License-Identifier: MIT */
/* tests/unit/vk_layer/vk_submit_world.h - a device without a driver, for tests of submitting
 * and reading.
 *
 * Replaces what vk_layer/'s submitting files need: slots whose results a test sets by number,
 * batch intervals, command buffers whose recordings a test builds, fences that are signaled up
 * to a number that the test sets. State is one global, `w`; each test runs in its own process.
 */
#ifndef PASSTALLY_TESTS_UNIT_VK_SUBMIT_WORLD_H
#define PASSTALLY_TESTS_UNIT_VK_SUBMIT_WORLD_H

#include "layer/session/session.h"
#include "tests/unit/layer/recorder_stub.h"
#include "vk_layer/record/slots_copy.h"
#include "vk_layer/record/slots_read.h"
#include "vk_layer/record/slots_sources.h"
#include "vk_layer/submit/batch_intervals.h"
#include "vk_layer/record/command.h"
#include "vk_layer/submit/frames.h"
#include "vk_layer/submit/submission.h"
#include "vk_layer/record/targets.h"

#include <stdlib.h>

#define W_SLOTS 256
#define W_BUFFERS 256
#define W_FENCES 8192

struct w_slot {
	enum tally_status status;
	bool stamps, counts; /* its values */
	uint64_t begin_ns, end_ns;
	uint64_t a, b;
};

static struct {
	struct vk_device d;
	struct vk_instance instance;
	struct w_slot slots[W_SLOTS];
	struct vk_command commands[W_BUFFERS];
	char page;
	bool read_waits, no_cover;
	uint32_t expected;
	unsigned n_slots, n_resets, n_stops;
	unsigned n_rounds; /* rounds in which something was wanted */
	uint64_t wanted[W_SLOTS / 64], fetched[W_SLOTS / 64];
	/* The driver. */
	VkResult submit_result, fence_status, reset_result;
	uint64_t n_watched; /* questions whether a slot has results */
	uint64_t n_submits, n_fence_submits, n_status, n_created, n_destroyed, n_waits;
	bool waits_end; /* a wait signals what was submitted */
	uint64_t signalled; /* fences submitted so far that are signaled */
	uint64_t fence_order[W_FENCES]; /* by handle: number of its submission; 0: none */
	VkCommandBuffer seen[16]; /* command buffers of the last submission */
	uint32_t n_seen;
	unsigned reads_before_call;
	void (*during_call)(void); /* what another thread does in the meantime */
	struct vk_batch_interval pairs[4];
	uint32_t n_pairs, n_released;
	uint32_t n_copied; /* recordings that the last pair copies */
	bool copy_fails;
} w;

struct vk_handles vk_commands;
static struct vk_command no_command;
__thread struct vk_command *vk_last_command = &no_command;

struct vk_command *
vk_command_look_up(VkCommandBuffer handle)
{
	return vk_handles_find(&vk_commands, VK_HANDLE_KEY(handle));
}

static const struct tally_counter w_a = { .key = "a", .name = "A", .unit = "1", .source = "w" };
static const struct tally_counter w_b = { .key = "b", .name = "B", .unit = "1", .source = "w" };
static const struct tally_counter *const w_counters[] = { &w_a, &w_b };

/* ---- what other files of the layer do ---- */

void
vk_device_stop(struct vk_device *d, const char *why)
{
	g_assert_nonnull(why);
	w.n_stops += !atomic_exchange(&d->stopped, true);
}

void
vk_devices_each(void (*visit)(void *device, void *data), void *data)
{
	visit(&w.d, data);
}

struct tally_presented
vk_target_of_swapchain(struct vk_device *d, VkSwapchainKHR swapchain,
		       struct vk_presents *presents)
{
	(void)d;
	*presents = (struct vk_presents){ VK_PRESENT_MODE_FIFO_KHR, 3 };
	return (struct tally_presented){ { (uint32_t)(uintptr_t)swapchain, 10 }, 1 };
}

const struct tally_counter_set *const *
vk_slots_sets(struct vk_device *d, uint32_t *n)
{
	(void)d;
	*n = 0;
	return NULL;
}

const struct tally_counter *const *
vk_slots_counters(struct vk_device *d, uint32_t *n)
{
	(void)d;
	*n = 2;
	return w_counters;
}

uint32_t
vk_slots_describe(struct vk_device *d, struct tally_source_info *rows)
{
	(void)d;
	rows[0] = (struct tally_source_info){ "api", true, NULL };
	return 1;
}

bool
vk_slots_cover(struct vk_device *d, uint32_t family, unsigned what)
{
	(void)d, (void)family, (void)what;
	return !w.no_cover;
}

uint32_t
vk_slots_sources(const struct vk_device *d, uint32_t family, unsigned what)
{
	(void)d, (void)family;
	return what == VK_MEASURE_TIME ? 0 : UINT32_MAX;
}

uint32_t
vk_slots_expected(const struct vk_device *d, uint32_t family, const struct vk_slot_runs *runs)
{
	(void)d, (void)family, (void)runs;
	return w.expected;
}

const struct vk_layout *
vk_slots_layout(const struct vk_device *d, uint32_t set)
{
	static const struct tally_counter_set both = { .layout = { NULL, w_counters, 2 } };
	static const struct vk_layout layout = { .set = &both, .n_always = 2 };
	(void)d;
	g_assert_cmpuint(set, ==, 0);
	return &layout;
}

uint32_t
vk_slots_max_values(const struct vk_device *d)
{
	(void)d;
	return 2;
}

void
vk_slots_mask(const struct vk_device *d, uint32_t set, uint32_t sources, uint64_t *mask)
{
	(void)d, (void)set;
	mask[0] = sources ? 3 : 0;
	mask[1] = 0;
}

enum tally_scope
vk_slots_scope(const struct vk_device *d, uint32_t set)
{
	(void)d, (void)set;
	return TALLY_SCOPE_WORKLOAD;
}

const char *
vk_slots_serialized_by(const struct vk_device *d)
{
	(void)d;
	return NULL;
}

bool
vk_slots_read_waits(const struct vk_device *d)
{
	(void)d;
	return w.read_waits;
}

void
vk_slot_request(struct vk_device *d, const struct vk_slot *slot, uint32_t sources)
{
	(void)d;
	g_assert_nonnull(slot->page);
	g_assert_cmphex(sources, !=, 0);
	for (unsigned i = slot->index; i < slot->index + slot->views; i++)
		w.wanted[i / 64] |= UINT64_C(1) << i % 64;
}

void
vk_slots_fetch(struct vk_device *d)
{
	(void)d;
	uint64_t any = 0;
	for (unsigned i = 0; i < G_N_ELEMENTS(w.wanted); i++)
		any |= w.wanted[i];
	w.n_rounds += any != 0;
	memcpy(w.fetched, w.wanted, sizeof(w.fetched));
	memset(w.wanted, 0, sizeof(w.wanted));
}

enum tally_status
vk_slot_read(struct vk_device *d, const struct vk_slot *slot, uint32_t *left,
	     struct tally_sample *out)
{
	(void)d;
	const struct w_slot *s = &w.slots[slot->index];
	g_assert_nonnull(slot->page);
	g_assert_cmphex(w.fetched[slot->index / 64] & UINT64_C(1) << slot->index % 64, !=, 0);
	w.n_slots++;
	if (s->status != TALLY_OK)
		return s->status;
	*left = 0;
	if (s->stamps) {
		out->has_time = slot->halves == TALLY_VK_BOTH;
		out->begin_ns = slot->halves & TALLY_VK_BEGIN ? s->begin_ns : 0;
		out->end_ns = slot->halves & TALLY_VK_END ? s->end_ns : 0;
	}
	if (s->counts) {
		out->values[0] = (struct tally_value){ .u64 = s->a };
		out->values[1] = (struct tally_value){ .u64 = s->b };
		out->valid[0] |= 3;
	}
	return TALLY_OK;
}

bool
vk_slot_is_ready(struct vk_device *d, const struct vk_slot *slot)
{
	(void)d;
	g_assert_nonnull(slot->page);
	w.n_watched++;
	return w.slots[slot->index].status != TALLY_NOT_READY;
}

uint64_t
vk_slots_read(struct vk_device *d, const struct vk_slot *first, uint32_t n,
	      struct tally_sample *out)
{
	uint64_t complete = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct vk_slot slot = *first;
		slot.index = (uint16_t)(first->index + i);
		uint32_t left = slot.sources;
		if (w.slots[slot.index].status == TALLY_OK &&
		    vk_slot_read(d, &slot, &left, &out[i]) == TALLY_OK)
			complete |= UINT64_C(1) << i;
	}
	return complete;
}

void
vk_slots_reset(struct vk_device *d, const struct vk_slot_runs *runs)
{
	(void)d;
	g_assert_cmpuint(runs->n, >, 0);
	w.n_resets++;
}

void
vk_slots_tick(struct vk_device *d, uint64_t now_ns)
{
	(void)d;
	g_assert_cmpuint(now_ns, >, 0);
}

struct vk_batch_interval *
vk_batch_intervals_take(struct vk_device *d, uint32_t family)
{
	(void)d, (void)family;
	if (w.n_pairs == G_N_ELEMENTS(w.pairs))
		return NULL;
	uint32_t n = w.n_pairs++;
	struct vk_batch_interval *pair = &w.pairs[n];
	pair->first = (VkCommandBuffer)(uintptr_t)(0x1000 + 2 * n);
	pair->last = (VkCommandBuffer)(uintptr_t)(0x1001 + 2 * n);
	pair->slot = (struct vk_slot){
		(void *)&w.page, (uint16_t)(W_SLOTS - 1 - n), 1, TALLY_VK_BOTH, 1
	};
	w.slots[W_SLOTS - 1 - n] = (struct w_slot){
		.stamps = true, .begin_ns = 1000, .end_ns = 1000 + 50 * (n + 1)
	};
	return pair;
}

bool
vk_batch_interval_begin_last(struct vk_device *d, struct vk_batch_interval *pair)
{
	(void)d;
	g_assert_nonnull(pair);
	w.n_copied = 0;
	return true;
}

void
vk_recording_copy(struct vk_device *d, VkCommandBuffer cb, const struct vk_recording *r)
{
	(void)d;
	g_assert_nonnull(cb);
	g_assert_true(r->ends_suspended);
	w.n_copied++;
}

bool
vk_batch_interval_end_last(struct vk_device *d, struct vk_batch_interval *pair)
{
	(void)d;
	g_assert_nonnull(pair);
	return !w.copy_fails;
}

void
vk_batch_intervals_release(struct vk_device *d, uint32_t family, struct vk_batch_interval *pair)
{
	(void)d, (void)family;
	g_assert_nonnull(pair);
	w.n_released++;
}

struct vk_recording *
vk_recording_ref(struct vk_recording *r)
{
	atomic_fetch_add(&r->refs, 1);
	return r;
}

void
vk_recording_unref(struct vk_recording *r, bool locked)
{
	(void)locked;
	g_assert_cmpuint(atomic_fetch_sub(&r->refs, 1), >, 0);
}

/* ---- the driver ---- */

static VKAPI_ATTR VkResult VKAPI_CALL
w_submit(VkQueue queue, uint32_t n, const VkSubmitInfo *infos, VkFence fence)
{
	g_assert_nonnull(queue);
	if (n == 0 && fence) {
		w.n_fence_submits++;
		g_assert_cmpuint((uintptr_t)fence, <, W_FENCES);
		g_assert_cmpuint(w.fence_order[(uintptr_t)fence], ==, 0);
		w.fence_order[(uintptr_t)fence] = w.n_fence_submits;
		return w.submit_result;
	}
	w.n_submits++;
	w.n_seen = 0;
	w.reads_before_call = w.n_slots;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < infos[i].commandBufferCount; k++)
			w.seen[w.n_seen++ % 16] = infos[i].pCommandBuffers[k];
	if (w.during_call)
		w.during_call();
	return w.submit_result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
w_create_fence(VkDevice device, const VkFenceCreateInfo *info, const VkAllocationCallbacks *a,
	       VkFence *out)
{
	(void)device, (void)info, (void)a;
	*out = (VkFence)(uintptr_t)++w.n_created;
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL
w_destroy_fence(VkDevice device, VkFence fence, const VkAllocationCallbacks *a)
{
	(void)device, (void)a;
	g_assert_nonnull((void *)(uintptr_t)fence);
	w.n_destroyed++;
}

static VKAPI_ATTR VkResult VKAPI_CALL
w_fence_status(VkDevice device, VkFence fence)
{
	(void)device;
	w.n_status++;
	uint64_t order = w.fence_order[(uintptr_t)fence];
	g_assert_cmpuint(order, >, 0);
	if (w.fence_status != VK_SUCCESS)
		return w.fence_status;
	return order <= w.signalled ? VK_SUCCESS : VK_NOT_READY;
}

static VKAPI_ATTR VkResult VKAPI_CALL
w_reset_fences(VkDevice device, uint32_t n, const VkFence *fences)
{
	(void)device;
	for (uint32_t i = 0; i < n; i++)
		w.fence_order[(uintptr_t)fences[i]] = 0;
	return w.reset_result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
w_wait(VkDevice device, uint32_t n, const VkFence *fences, VkBool32 all, uint64_t timeout)
{
	(void)device, (void)fences, (void)all;
	g_assert_cmpuint(n, >, 0);
	g_assert_cmpuint(timeout, <=, UINT64_C(2000000000));
	g_assert_cmpint(pthread_mutex_trylock(&w.d.lock), ==, 0);
	pthread_mutex_unlock(&w.d.lock);
	w.n_waits++;
	if (w.waits_end) {
		w.signalled = w.n_fence_submits;
		return VK_SUCCESS;
	}
	return w.signalled == UINT64_MAX ? VK_SUCCESS : VK_TIMEOUT;
}

static VKAPI_ATTR VkResult VKAPI_CALL
w_present_call(VkQueue queue, const VkPresentInfoKHR *info)
{
	(void)queue, (void)info;
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL
w_get_queue(VkDevice device, uint32_t family, uint32_t index, VkQueue *out)
{
	(void)device;
	*out = (VkQueue)(uintptr_t)(0x100 + 16 * family + index);
}

/* ---- the tests' helpers ---- */

static VkQueue
w_queue(uint32_t family)
{
	VkQueue queue;
	w_get_queue(w.d.handle, family, 0, &queue);
	vk_queue_learn(&w.d, queue, family, 0, 0);
	return queue;
}

/* In the child: a session whose recorder is the stub, a device, queue 0.0. */
static VkQueue
w_start(void)
{
	g_assert_true(tally_session_start(&stub_recorder));
	w.d.tracked = true;
	w.d.instance = &w.instance;
	w.d.handle = (VkDevice)(uintptr_t)1;
	w.d.config = tally_session_config();
	w.d.beneath = -1;
	w.d.enabled.host_reset = true;
	w.d.results_fail = true; /* completion is shown by fences, but in tests of watch.c */
	w.d.n_families = 3;
	for (uint32_t i = 0; i < 3; i++)
		w.d.families[i].timestamp_bits = i < 2 ? 64 : 0;
	g_strlcpy(w.d.properties.deviceName, "World", sizeof(w.d.properties.deviceName));
	w.d.next.use.QueueSubmit = w_submit;
	w.d.next.use.CreateFence = w_create_fence;
	w.d.next.use.DestroyFence = w_destroy_fence;
	w.d.next.use.GetFenceStatus = w_fence_status;
	w.d.next.use.ResetFences = w_reset_fences;
	w.d.next.use.WaitForFences = w_wait;
	pthread_mutex_init(&w.d.lock, NULL);
	w.signalled = UINT64_MAX;
	return w_queue(0);
}

static struct vk_recording *
w_recording(void)
{
	struct vk_recording *r = g_new0(struct vk_recording, 1);
	atomic_init(&r->refs, 1);
	r->device = &w.d;
	r->passes = g_new0(struct vk_pass, 32);
	r->items = g_new0(struct vk_item, 64);
	r->inner = g_new0(struct vk_recording *, 8);
	r->workloads = g_new0(struct vk_workload, 8);
	r->text = g_malloc0(256);
	r->runs.runs = g_new0(struct vk_slot_run, 1);
	return r;
}

static inline void
w_free(struct vk_recording *r)
{
	g_free(r->passes);
	g_free(r->items);
	g_free(r->inner);
	g_free(r->workloads);
	g_free(r->text);
	g_free(r->runs.runs);
	g_free(r);
}

/* Slot `n` of the recording's own run, with results; n < 0: none. */
static struct vk_slot
w_take(struct vk_recording *r, int n, bool stamps, bool counts, uint64_t begin, uint64_t end,
       uint64_t a)
{
	if (n < 0)
		return (struct vk_slot){ 0 };
	if (!r->runs.n)
		r->runs.runs[r->runs.n++] =
			(struct vk_slot_run){ (void *)&w.page, (uint16_t)n, 0 };
	r->runs.runs[0].n = (uint16_t)(n - r->runs.runs[0].first + 1);
	w.slots[n] = (struct w_slot){ TALLY_OK, stamps, counts, begin, end, a, 10 * a };
	return (struct vk_slot){ (void *)&w.page, (uint16_t)n, 1, TALLY_VK_BOTH, 1 };
}

static struct vk_pass *
w_pass(struct vk_recording *r, int slot, uint64_t begin, uint64_t end, uint64_t a)
{
	struct vk_pass *p = &r->passes[r->n_passes++];
	p->surface = -1;
	p->call_counts.draws = 1;
	p->slot = w_take(r, slot, true, true, begin, end, a);
	return p;
}

static inline void
w_label(struct vk_recording *r, const char *name)
{
	struct vk_item *item = &r->items[r->n_items++];
	item->kind = name ? VK_ITEM_LABEL_BEGIN : VK_ITEM_LABEL_END;
	item->n_passes = r->n_passes;
	item->text = r->n_text;
	if (name)
		r->n_text += (uint32_t)g_strlcpy(r->text + r->n_text, name, 256 - r->n_text) + 1;
}

static inline void
w_execute(struct vk_recording *r, struct vk_recording *secondary)
{
	r->items[r->n_items++] = (struct vk_item){ VK_ITEM_EXECUTE, r->n_passes,
						   { .secondary = secondary } };
	r->executes = true;
}

/* Command buffer `n`, with the recording. */
static VkCommandBuffer
w_buffer(unsigned n, struct vk_recording *r)
{
	g_assert_cmpuint(n, <, W_BUFFERS);
	VkCommandBuffer handle = (VkCommandBuffer)(uintptr_t)(0x200 + n);
	w.commands[n] = (struct vk_command){ .device = &w.d, .handle = handle, .recording = r };
	g_assert_true(vk_handles_put(&vk_commands, VK_HANDLE_KEY(handle), &w.commands[n]));
	return handle;
}

static VkResult
w_submit_n(VkQueue queue, uint32_t n, const VkCommandBuffer *buffers)
{
	VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.commandBufferCount = n,
		.pCommandBuffers = buffers,
	};
	return vk_queue_submit(&w.d, w_submit, queue, 1, &info, VK_NULL_HANDLE);
}

static inline VkResult
w_submit_one(VkQueue queue, VkCommandBuffer buffer)
{
	return w_submit_n(queue, 1, &buffer);
}

static void
w_present(VkQueue queue)
{
	VkSwapchainKHR swapchain = (VkSwapchainKHR)(uintptr_t)20;
	VkPresentInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
		.swapchainCount = 1,
		.pSwapchains = &swapchain,
	};
	g_assert_cmpint(vk_queue_present(&w.d, w_present_call, queue, &info), ==, VK_SUCCESS);
}

static void
w_finish(void)
{
	vk_device_finish(&w.d);
	g_assert_null(w.d.queues);
	tally_session_stop("exit");
}

/* A counter of a pass in the log; -1: absent. */
static inline int64_t
w_value(const struct tally_pass_record *p, const char *key)
{
	for (uint32_t i = 0; i < p->n_counters; i++)
		if (strcmp(p->counters[i].key, key) == 0)
			return (int64_t)p->counters[i].value.u64;
	return -1;
}

static const struct tally_pass_record *
w_logged(unsigned frame, unsigned n)
{
	const struct tally_frame_record *f = stub_frame(frame);
	g_assert_cmpuint(n, <, f->n_passes);
	return &f->passes[n];
}

#endif

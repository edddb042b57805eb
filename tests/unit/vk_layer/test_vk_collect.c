/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>

#include "tests/unit/vk_layer/vk_submit_world.h"

/* Command buffer `n` with one pass in slot `n` that counts `a`. */
static VkCommandBuffer
one_pass(unsigned n, uint64_t a)
{
	struct vk_recording *r = w_recording();
	w_pass(r, (int)n, 100 * (n + 1), 100 * (n + 1) + 50, a);
	return w_buffer(n, r);
}

static bool
is_pending(unsigned n)
{
	return w.commands[n].recording->pending != NULL;
}

/* The layer's fence follows a frame's end; nothing is read before it is signaled. */
static void
test_fences(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	w.signalled = 0;
	VkCommandBuffer buffers[] = { one_pass(0, 1), one_pass(1, 2) };
	w_submit_one(q, buffers[0]);
	g_assert_cmpuint(w.n_fence_submits, ==, 0);
	w_present(q);
	g_assert_cmpuint(w.n_fence_submits, ==, 1);
	w_submit_one(q, buffers[1]);
	w_present(q);
	g_assert_cmpuint(w.n_fence_submits, ==, 2);
	w_present(q); /* nothing new */
	g_assert_cmpuint(w.n_fence_submits, ==, 2);
	g_assert_cmpuint(w.n_slots, ==, 0);
	w.signalled = 1;
	vk_drain(&w.d);
	g_assert_true(!is_pending(0) && is_pending(1));
	g_assert_cmpuint(w.n_slots, ==, 1);
	w.signalled = 2;
	vk_drain(&w.d);
	g_assert_false(is_pending(1));
	uint64_t asked = w.n_status;
	vk_drain(&w.d);
	g_assert_cmpuint(w.n_status, ==, asked);
	w.signalled = UINT64_MAX;
	w_finish();
	g_assert_cmpuint(w.n_created, ==, w.n_destroyed);
	g_assert_cmpuint(w.n_waits, ==, 0);
	g_assert_cmpuint(stub.frames->len, ==, 3);
	g_assert_cmpint(w_value(w_logged(0, 0), "a"), ==, 1);
	g_assert_cmpint(w_value(w_logged(1, 0), "a"), ==, 2);
}

/* Where a submission's own results show that it has completed nothing is submitted for that. */
static void
test_watched(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	w.d.results_fail = false;
	VkCommandBuffer buffers[] = { one_pass(0, 1), one_pass(1, 2), one_pass(2, 3) };
	w.slots[1].status = w.slots[2].status = TALLY_NOT_READY;
	w_submit_one(q, buffers[0]);
	w_submit_one(q, buffers[1]); /* the frame's last: that one is watched */
	w_present(q);
	w_submit_one(q, buffers[2]);
	w_present(q);
	g_assert_cmpuint(w.n_slots, ==, 0);
	w.slots[1].status = TALLY_OK;
	uint64_t asked = w.n_watched;
	vk_drain(&w.d);
	g_assert_cmpuint(w.n_watched, ==, asked + 2); /* it, and the next one */
	g_assert_false(is_pending(0) || is_pending(1));
	g_assert_true(is_pending(2));
	w.slots[2].status = TALLY_OK;
	vk_drain(&w.d);
	g_assert_false(is_pending(2));
	g_assert_cmpuint(w.n_slots, ==, 3);
	w_finish();
	g_assert_cmpuint(w.n_fence_submits + w.n_created + w.n_status + w.n_waits, ==, 0);
	g_assert_cmphex(w_logged(0, 0)->flags | w_logged(0, 1)->flags | w_logged(1, 0)->flags, ==,
			0);
}

/* ... if they come: after some frames without them fences show it, as for drivers that never
 * deliver, and the passes are given up as those of R34. */
static void
test_watched_in_vain(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	w.d.results_fail = false;
	VkCommandBuffer buffer = one_pass(0, 1);
	w.slots[0].status = TALLY_NOT_READY;
	w_submit_one(q, buffer);
	for (unsigned i = 0; i < 8; i++)
		w_present(q);
	g_assert_cmpuint(w.n_fence_submits, ==, 0);
	for (unsigned i = 0; i < 40; i++)
		w_present(q);
	g_assert_cmpuint(w.n_fence_submits, ==, 1);
	g_assert_false(is_pending(0));
	w_finish();
	g_assert_cmphex(w_logged(0, 0)->flags, ==, TALLY_FLAG(INCOMPLETE));
}

/* Before the device goes a fence follows what is still watched. */
static void
test_watched_at_end(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	w.d.results_fail = false;
	w.signalled = 0;
	w.waits_end = true;
	w_submit_one(q, one_pass(0, 1));
	w_present(q);
	g_assert_cmpuint(w.n_fence_submits, ==, 0);
	w_finish();
	g_assert_cmpuint(w.n_fence_submits, ==, 1);
	g_assert_cmpuint(w.n_created, ==, w.n_destroyed);
	g_assert_cmphex(w_logged(0, 0)->flags, ==, 0);
}

/* Many submissions on two queues: those that have completed are read at once. */
static void
test_one_round(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start(), other = w_queue(1);
	w.signalled = 0;
	for (unsigned i = 0; i < 12; i++)
		w_submit_one(i % 3 ? q : other, one_pass(i, i));
	w_present(q);
	w_present(other);
	g_assert_cmpuint(w.n_rounds, ==, 0);
	w.signalled = UINT64_MAX;
	vk_drain(&w.d);
	g_assert_cmpuint(w.n_slots, ==, 12);
	g_assert_cmpuint(w.n_rounds, ==, 1);
	w_finish();
	g_assert_cmpuint(w.n_rounds, ==, 1);
}

/* Without frames every 16th submission has one; never more than the ring holds are outstanding. */
static void
test_ring(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	w.signalled = 0;
	VkCommandBuffer buffer = one_pass(0, 1);
	for (unsigned i = 1; i <= 16; i++)
		w_submit_one(q, buffer);
	g_assert_cmpuint(w.n_fence_submits, ==, 1);
	for (unsigned i = 0; i < 16 * 100; i++)
		w_submit_one(q, buffer);
	g_assert_cmpuint(w.n_fence_submits, ==, VK_FENCE_RING);
	w.signalled = UINT64_MAX;
	for (unsigned i = 0; i < 16 * 100; i++)
		w_submit_one(q, buffer);
	g_assert_cmpuint(w.n_fence_submits, >, 100);
	g_assert_cmpuint(w.n_created, <=, VK_FENCE_RING);
	w_finish();
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, 16 + 3200);
	g_assert_cmpuint(w.n_slots, ==, 16 + 3200); /* each once: resubmitted, or a fence */
}

/* At the end more work is outstanding than fences follow: those are waited for, and then the
 * rest is. */
static void
test_ring_at_end(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	w.signalled = 0;
	w.waits_end = true;
	struct vk_recording *r[16 * (VK_FENCE_RING + 2)];
	for (unsigned i = 0; i < G_N_ELEMENTS(r); i++) {
		r[i] = w_recording();
		w_pass(r[i], 0, 100, 150, 1);
		w_submit_one(q, w_buffer(0, r[i]));
	}
	g_assert_cmpuint(w.n_fence_submits, ==, VK_FENCE_RING);
	w_finish();
	g_assert_cmpuint(w.n_waits, ==, 2);
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, G_N_ELEMENTS(r));
	for (unsigned i = 0; i < G_N_ELEMENTS(r); i++) {
		g_assert_cmphex(w_logged(0, i)->flags, ==, 0);
		w_free(r[i]);
	}
}

/* R35: two queues, the later work completes first. */
static void
test_out_of_order(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start(), other = w_queue(1);
	w.signalled = 0;
	VkCommandBuffer buffers[] = { one_pass(0, 1), one_pass(1, 2), one_pass(2, 3) };
	w_submit_one(q, buffers[0]);
	w_submit_one(other, buffers[1]);
	w_present(other); /* its fence is the first */
	w.signalled = 1;
	vk_drain(&w.d);
	g_assert_true(is_pending(0) && !is_pending(1));
	/* The other queue's fence comes with its own next submission, because a frame has ended
	 * since. */
	w_submit_one(q, buffers[2]);
	g_assert_cmpuint(w.n_fence_submits, ==, 2);
	w.signalled = UINT64_MAX;
	vk_drain(&w.d);
	g_assert_false(is_pending(0));
	w_present(q);
	w_finish();
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, 2);
	g_assert_cmpuint(stub_frame(1)->n_passes, ==, 1);
	g_assert_cmphex(w_logged(0, 0)->flags | w_logged(0, 1)->flags, ==, 0);
}

/* R34: results that do not arrive although the fence is signaled are given up after 32
 * frames. */
static void
test_never_ready(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	VkCommandBuffer buffers[] = { one_pass(0, 1), one_pass(1, 2) };
	w.slots[0].status = TALLY_NOT_READY;
	w_submit_one(q, buffers[0]);
	w_present(q);
	for (unsigned i = 0; i < 10; i++) {
		w_submit_one(q, buffers[1]);
		w_present(q);
	}
	g_assert_true(is_pending(0));
	for (unsigned i = 0; i < 30; i++)
		w_present(q);
	g_assert_false(is_pending(0));
	g_assert_cmpuint(w.n_slots, <, 60);
	w_finish();
	g_assert_cmphex(w_logged(0, 0)->flags, ==, TALLY_FLAG(INCOMPLETE));
	g_assert_false(w_logged(0, 0)->has_gpu);
	g_assert_cmphex(w_logged(1, 0)->flags, ==, 0);
	g_assert_cmpint(w_value(w_logged(10, 0), "a"), ==, 2);
}

/* Passes of one recording are read as a row, and those that are not ready then one by one. */
static void
test_row(void)
{
	if (!stub_in_child(NULL))
		return;
	static const struct {
		enum tally_status first, then;
		uint64_t flags;
	} rows[] = {
		{ TALLY_OK, TALLY_OK, 0 },
		{ TALLY_NOT_READY, TALLY_OK, 0 },
		{ TALLY_LOST, TALLY_LOST, TALLY_FLAG(LOST) },
		{ TALLY_NOT_READY, TALLY_NOT_READY, TALLY_FLAG(INCOMPLETE) },
		{ TALLY_NOT_READY, TALLY_LOST, TALLY_FLAG(LOST) },
		{ TALLY_OK, TALLY_OK, 0 },
	};
	VkQueue q = w_start();
	struct vk_recording *r = w_recording();
	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		w_pass(r, (int)i, 100 + 100 * i, 150 + 100 * i, i + 1);
		w.slots[i].status = rows[i].first;
	}
	w_submit_one(q, w_buffer(0, r));
	w_present(q);
	w_present(q);
	g_assert_cmphex(w.fetched[0], ==, 0x3f);
	g_assert_nonnull(r->pending);
	/* What was read is not read again, whatever its queries have by now. */
	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		w.slots[i].status = rows[i].then;
		w.slots[i].a += rows[i].first == TALLY_OK ? 1000 : 0;
	}
	w_present(q);
	g_assert_cmphex(w.fetched[0], ==, 0x1a);
	w_present(q);
	g_assert_cmphex(w.fetched[0], ==, 0x08);
	for (unsigned i = 0; i < 33; i++)
		w_present(q);
	g_assert_null(r->pending);
	w_finish();
	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		const struct tally_pass_record *p = w_logged(0, i);
		g_assert_cmphex(p->flags, ==, rows[i].flags);
		g_assert_cmpint(w_value(p, "a"), ==, rows[i].flags ? -1 : (int64_t)i + 1);
		g_assert_true(p->has_gpu == !rows[i].flags);
	}
}

/* Never signaled: the list is limited, and so is the wait at the device's destruction. */
static void
test_never_through(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	w.signalled = 0;
	/* The command buffer is a different one each time: no resubmission reads it. */
	struct vk_recording *r[4200];
	VkCommandBuffer buffer = VK_NULL_HANDLE;
	for (unsigned i = 0; i < G_N_ELEMENTS(r); i++) {
		r[i] = w_recording();
		w_pass(r[i], 0, 100, 150, 1);
		buffer = w_buffer(0, r[i]);
		w_submit_one(q, buffer);
	}
	g_assert_null(r[0]->pending);
	g_assert_null(r[103]->pending);
	g_assert_nonnull(r[104]->pending);
	g_assert_cmpuint(w.n_slots, ==, 0);
	w_finish();
	g_assert_cmpuint(w.n_waits, ==, 1);
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, 4200);
	g_assert_cmphex(w_logged(0, 0)->flags, ==, TALLY_FLAG(LOST));
	g_assert_false(w_logged(0, 0)->has_gpu);
	for (unsigned i = 0; i < G_N_ELEMENTS(r); i++) {
		g_assert_cmpuint(atomic_load(&r[i]->refs), ==, 1);
		w_free(r[i]);
	}
}

/* The device is lost at the fence, or at the game's own call: from then on the layer makes no
 * calls. */
static void
lose(bool at_fence)
{
	VkQueue q = w_start();
	VkCommandBuffer buffers[] = { one_pass(0, 1), one_pass(1, 2) };
	w.signalled = 0;
	w_submit_one(q, buffers[0]);
	w_present(q);
	if (at_fence) {
		w.fence_status = VK_ERROR_DEVICE_LOST;
		w_present(q);
	} else {
		w.submit_result = VK_ERROR_DEVICE_LOST;
		g_assert_cmpint(w_submit_one(q, buffers[1]), ==, VK_ERROR_DEVICE_LOST);
	}
	g_assert_cmpuint(w.n_stops, ==, 1);
	uint64_t asked = w.n_status, fences = w.n_fence_submits;
	g_assert_cmpint(w_submit_one(q, buffers[1]), ==, w.submit_result);
	w_present(q);
	g_assert_false(is_pending(0));
	w_finish();
	g_assert_cmpuint(w.n_status, ==, asked);
	g_assert_cmpuint(w.n_fence_submits, ==, fences);
	g_assert_cmpuint(w.n_slots + w.n_waits, ==, 0);
	g_assert_cmphex(w_logged(0, 0)->flags, ==, TALLY_FLAG(LOST));
	g_assert_false(w_logged(0, 0)->has_gpu);
}

static void
test_lost_at_fence(void)
{
	if (stub_in_child(NULL))
		lose(true);
}

static void
test_lost_at_submit(void)
{
	if (stub_in_child(NULL))
		lose(false);
}

/* A driver that resets no fences gets a new one each time. */
static void
test_no_reset(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	w.reset_result = VK_ERROR_UNKNOWN;
	VkCommandBuffer buffer = one_pass(0, 1);
	for (unsigned i = 0; i < 100; i++) {
		w_submit_one(q, buffer);
		w_present(q);
	}
	g_assert_cmpuint(w.n_fence_submits, ==, 100);
	g_assert_cmpuint(w.n_created, ==, 100);
	w_finish();
	g_assert_cmpuint(w.n_destroyed, ==, 100);
}

/* Submissions that the game waited for are read without a fence of the layer. */
static VKAPI_ATTR VkResult VKAPI_CALL
game_waits(VkDevice device, uint32_t n, const VkFence *fences, VkBool32 all, uint64_t timeout)
{
	(void)device, (void)n, (void)fences, (void)all;
	return timeout ? VK_SUCCESS : VK_TIMEOUT;
}

static VKAPI_ATTR VkResult VKAPI_CALL
idle(VkDevice device)
{
	(void)device;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
queue_idle(VkQueue queue)
{
	(void)queue;
	return VK_SUCCESS;
}

static void
test_game_waits(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start(), other = w_queue(1);
	w.signalled = 0;
	VkCommandBuffer buffers[4];
	VkFence fence = (VkFence)(uintptr_t)0x900;
	for (unsigned i = 0; i < 4; i++) {
		buffers[i] = one_pass(i, i);
		VkSubmitInfo info = { .commandBufferCount = 1, .pCommandBuffers = &buffers[i] };
		vk_queue_submit(&w.d, w_submit, i == 3 ? other : q, 1, &info,
				i == 1 ? fence : VK_NULL_HANDLE);
	}
	vk_wait_for_fences(&w.d, game_waits, w.d.handle, 1, &fence, VK_TRUE, 0);
	g_assert_true(is_pending(0) && is_pending(1));
	VkFence either[] = { fence, fence };
	vk_wait_for_fences(&w.d, game_waits, w.d.handle, 2, either, VK_FALSE, 1);
	g_assert_true(is_pending(0) && is_pending(1));
	vk_wait_for_fences(&w.d, game_waits, w.d.handle, 1, &fence, VK_TRUE, 1);
	g_assert_true(!is_pending(0) && !is_pending(1) && is_pending(2) && is_pending(3));
	vk_queue_wait_idle(&w.d, queue_idle, q);
	g_assert_true(!is_pending(2) && is_pending(3));
	vk_device_wait_idle(&w.d, idle, w.d.handle);
	g_assert_false(is_pending(3));
	g_assert_cmpuint(w.n_fence_submits, ==, 0);
	w_finish();
	g_assert_cmpuint(w.n_waits, ==, 0);
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, 4);
}

/* Of a queue that the driver synchronizes nobody knows the order: a later submission that is done,
 * or a fence of the game's behind it, says nothing about an earlier one. */
static void
test_unordered(void)
{
	if (!stub_in_child(NULL))
		return;
	w_start();
	w.d.results_fail = false;
	VkQueue q;
	w_get_queue(w.d.handle, 1, 0, &q);
	vk_queue_learn(&w.d, q, 1, 0, 4);
	w.signalled = 0;
	VkFence fence = (VkFence)(uintptr_t)0x900;
	for (unsigned i = 0; i < 2; i++) {
		VkCommandBuffer buffer = one_pass(i, i);
		VkSubmitInfo info = { .commandBufferCount = 1, .pCommandBuffers = &buffer };
		vk_queue_submit(&w.d, w_submit, q, 1, &info, i ? fence : VK_NULL_HANDLE);
	}
	w_present(q);
	g_assert_cmpuint(w.n_fence_submits, >, 0);
	vk_wait_for_fences(&w.d, game_waits, w.d.handle, 1, &fence, VK_TRUE, 1);
	g_assert_true(is_pending(0) && is_pending(1));
	w.signalled = UINT64_MAX;
	vk_drain(&w.d);
	g_assert_false(is_pending(0) || is_pending(1));
	w_finish();
	g_assert_cmpuint(w.n_watched, ==, 0);
}

/* Where results are copied nothing waits, nothing is watched, and the device need not be idle: what
 * a fence shows as completed is read, however much follows it, and at exit() nothing else, since
 * of a copy a part may be there. */
static void
test_copied(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	w.read_waits = true;
	w.d.results_fail = false;
	w.signalled = 0;
	for (unsigned i = 0; i < 200; i++) {
		w_submit_one(q, one_pass(i, i));
		w_present(q);
		g_assert_cmpuint(w.n_fence_submits, ==, i + 1);
		w.signalled = i;
		vk_drain(&w.d);
		g_assert_cmpuint(w.n_slots, ==, i);
	}
	tally_session_stop("exit");
	g_assert_cmpuint(w.n_slots, ==, 199);
	g_assert_cmpuint(w.n_waits + w.n_watched, ==, 0);
	g_assert_cmphex(w_logged(198, 0)->flags, ==, 0);
	g_assert_true(w_logged(198, 0)->has_gpu);
	g_assert_cmphex(w_logged(199, 0)->flags, ==, TALLY_FLAG(INCOMPLETE));
	vk_device_finish(&w.d);
}

/* A command buffer that ends where a render pass is suspended copies nothing itself: the batch's
 * last one does, whose timestamps are not needed. Where it cannot be recorded there is none. */
static void
test_copied_after_batch(gconstpointer fails)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	w.read_waits = true;
	w.copy_fails = fails;
	VkCommandBuffer buffer = one_pass(0, 1);
	w.commands[0].recording->ends_suspended = true;
	w_submit_one(q, buffer);
	g_assert_cmpuint(w.n_pairs, ==, 1);
	g_assert_cmpuint(w.n_copied, ==, 1);
	g_assert_cmpuint(w.n_released, ==, fails ? 1 : 0);
	g_assert_cmpuint(w.n_seen, ==, fails ? 1 : 3);
	w_present(q);
	vk_drain(&w.d);
	g_assert_cmpuint(w.n_slots, ==, 1);
	w_finish();
	g_assert_cmpuint(w.n_released, ==, 1);
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, 1);
}

/* exit() without teardown: available results are read, the rest is handed over as it is. */
static void
test_exit(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	w.signalled = 0;
	VkCommandBuffer buffers[] = { one_pass(0, 1), one_pass(1, 2) };
	w_submit_one(q, buffers[0]);
	w_submit_one(q, buffers[1]);
	w.slots[1].status = TALLY_NOT_READY;
	uint64_t fences = w.n_fence_submits;
	tally_session_stop("exit");
	g_assert_cmpuint(w.n_fence_submits + w.n_waits, ==, fences);
	g_assert_cmphex(stub_frame(0)->flags, ==, TALLY_FLAG(PARTIAL));
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, 2);
	g_assert_cmphex(w_logged(0, 0)->flags, ==, 0);
	g_assert_cmpint(w_value(w_logged(0, 0), "a"), ==, 1);
	g_assert_cmphex(w_logged(0, 1)->flags, ==, TALLY_FLAG(INCOMPLETE));
	/* The game continues for a while. */
	w_submit_one(q, buffers[0]);
	w_present(q);
	vk_device_finish(&w.d);
}

/* ... from a signal handler inside a driver call: the driver is not used. */
static VKAPI_ATTR VkResult VKAPI_CALL
stop_inside(VkQueue queue)
{
	(void)queue;
	tally_session_stop("exit");
	g_assert_cmpuint(w.n_status + w.n_slots, ==, 0);
	return VK_SUCCESS;
}

static void
test_exit_inside(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	VkCommandBuffer buffer = one_pass(0, 1);
	w_submit_one(q, buffer);
	w_present(q);
	vk_queue_wait_idle(&w.d, stop_inside, q);
	g_assert_cmphex(w_logged(0, 0)->flags, ==, TALLY_FLAG(INCOMPLETE));
	vk_device_finish(&w.d);
}

/* Another thread holds the lock: exit does not wait for it. */
static void
test_exit_locked(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	w_submit_one(q, one_pass(0, 1));
	pthread_mutex_lock(&w.d.lock);
	tally_session_stop("exit");
	pthread_mutex_unlock(&w.d.lock);
	g_assert_cmpuint(stub.n_ends, ==, 1);
	vk_device_finish(&w.d);
}

/* VkFrameBoundaryEXT ends frames; once it is used, presents do not. */
static void
test_boundaries(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	VkCommandBuffer buffer = one_pass(0, 1);
	struct {
		int32_t type;
		const void *next;
		uint32_t flags;
		uint64_t id;
	} boundary = { 1000375001, NULL, 1, 7 };
	VkSubmitInfo info = { .commandBufferCount = 1, .pCommandBuffers = &buffer };
	VkSubmitInfo last = info;
	last.pNext = &boundary;
	w_present(q);
	vk_queue_submit(&w.d, w_submit, q, 1, &info, VK_NULL_HANDLE);
	w_present(q);
	g_assert_cmpuint(tally_device_frame(w.d.tally), ==, 1);
	vk_queue_submit(&w.d, w_submit, q, 1, &info, VK_NULL_HANDLE);
	vk_queue_submit(&w.d, w_submit, q, 1, &last, VK_NULL_HANDLE);
	w_present(q);
	g_assert_cmpuint(tally_device_frame(w.d.tally), ==, 2);
	VkPresentInfoKHR present = { .pNext = &boundary };
	vk_queue_present(&w.d, w_present_call, q, &present);
	g_assert_cmpuint(tally_device_frame(w.d.tally), ==, 3);
	boundary.flags = 0;
	vk_queue_submit(&w.d, w_submit, q, 1, &last, VK_NULL_HANDLE);
	g_assert_cmpuint(tally_device_frame(w.d.tally), ==, 3);
	w_finish();
	g_assert_cmpuint(stub_frame(1)->n_passes, ==, 2);
}

/* Another thread destroys the instance meanwhile, as programs do that exit. */
static VKAPI_ATTR VkResult VKAPI_CALL
present_into_exit(VkQueue queue, const VkPresentInfoKHR *info)
{
	w.d.instance = NULL;
	return w_present_call(queue, info);
}

static void
test_exit_in_present(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	VkCommandBuffer buffer = one_pass(0, 1);
	VkSubmitInfo info = { .commandBufferCount = 1, .pCommandBuffers = &buffer };
	VkPresentInfoKHR present = { 0 };
	vk_queue_submit(&w.d, w_submit, q, 1, &info, VK_NULL_HANDLE);
	vk_queue_present(&w.d, present_into_exit, q, &present);
	g_assert_cmpuint(tally_device_frame(w.d.tally), ==, 1);
	w_finish();
}

static void
lose_device(void)
{
	vk_device_stop(&w.d, "the device was lost");
	vk_give_up(&w.d);
}

/* Another thread finds the device lost during a submission: nothing stays unread. */
static void
test_lost_meanwhile(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	struct vk_recording *r = w_recording();
	w_pass(r, 0, 100, 150, 1);
	w.during_call = lose_device;
	w_submit_one(q, w_buffer(0, r));
	g_assert_null(r->pending);
	g_assert_cmpuint(atomic_load(&r->refs), ==, 1);
	w_finish();
	g_assert_cmphex(w_logged(0, 0)->flags, ==, TALLY_FLAG(LOST));
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vk_collect/lost_meanwhile", test_lost_meanwhile);
	g_test_add_func("/vk_collect/fences", test_fences);
	g_test_add_func("/vk_collect/one_round", test_one_round);
	g_test_add_func("/vk_collect/ring", test_ring);
	g_test_add_func("/vk_collect/ring-at-end", test_ring_at_end);
	g_test_add_func("/vk_collect/out_of_order", test_out_of_order);
	g_test_add_func("/vk_collect/never_ready", test_never_ready);
	g_test_add_func("/vk_collect/row", test_row);
	g_test_add_func("/vk_collect/never_through", test_never_through);
	g_test_add_func("/vk_collect/lost_at_fence", test_lost_at_fence);
	g_test_add_func("/vk_collect/lost_at_submit", test_lost_at_submit);
	g_test_add_func("/vk_collect/no_reset", test_no_reset);
	g_test_add_func("/vk_collect/game_waits", test_game_waits);
	g_test_add_func("/vk_collect/watched", test_watched);
	g_test_add_func("/vk_collect/unordered", test_unordered);
	g_test_add_func("/vk_collect/watched_in_vain", test_watched_in_vain);
	g_test_add_func("/vk_collect/watched_at_end", test_watched_at_end);
	g_test_add_func("/vk_collect/copied", test_copied);
	g_test_add_data_func("/vk_collect/copied_after_batch", NULL, test_copied_after_batch);
	g_test_add_data_func("/vk_collect/copied_not", "", test_copied_after_batch);
	g_test_add_func("/vk_collect/exit", test_exit);
	g_test_add_func("/vk_collect/exit_inside", test_exit_inside);
	g_test_add_func("/vk_collect/exit_locked", test_exit_locked);
	g_test_add_func("/vk_collect/boundaries", test_boundaries);
	g_test_add_func("/vk_collect/exit-in-present", test_exit_in_present);
	return g_test_run();
}

/* SPDX-License-Identifier: MIT */
#include "tests/unit/vk_layer/vk_submit_world.h"

#include "layer/frame/black_box.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How often this thread read a clock. */
static __thread unsigned n_clock;

int
clock_gettime(clockid_t id, struct timespec *out)
{
	n_clock++;
	return (int)syscall(SYS_clock_gettime, id, out);
}

/* Passes in order, with the labels of the queue and of the command buffers around them. */
static void
test_passes(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	struct vk_recording *r = w_recording();
	w_label(r, "shadows");
	w_pass(r, 0, 100, 150, 7)->call_counts.vertices = 36;
	w_label(r, NULL);
	w_pass(r, 1, 160, 400, 8)->kind = TALLY_PASS_COMPUTE;
	w_label(r, "left open");
	r->whole = w_take(r, 2, true, false, 90, 500, 0);
	struct vk_recording *second = w_recording();
	w_pass(second, 3, 600, 700, 9);
	VkCommandBuffer buffers[] = { w_buffer(0, r), w_buffer(1, second) };
	vk_queue_label(&w.d, q, "frame", true, false);
	g_assert_cmpint(w_submit_n(q, 2, buffers), ==, VK_SUCCESS);
	w_present(q);
	g_assert_cmpint(w_submit_one(q, buffers[1]), ==, VK_SUCCESS);
	w_present(q);
	w_finish();

	g_assert_cmpuint(stub.frames->len, ==, 2);
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, 3);
	const struct tally_pass_record *p = w_logged(0, 0);
	g_assert_cmpstr(p->label, ==, "frame/shadows");
	g_assert_cmpuint(p->gpu_ns, ==, 50);
	g_assert_cmpuint(p->call_counts.vertices, ==, 36);
	g_assert_cmpint(w_value(p, "a"), ==, 7);
	g_assert_cmpint(w_value(p, "b"), ==, 70);
	g_assert_cmpuint(p->submission, ==, 0);
	g_assert_cmpint(p->queue_family, ==, 0);
	g_assert_cmphex(p->flags, ==, 0);
	g_assert_cmpstr(w_logged(0, 1)->label, ==, "frame");
	g_assert_cmpint(w_logged(0, 1)->kind, ==, TALLY_PASS_COMPUTE);
	g_assert_cmpstr(w_logged(0, 2)->label, ==, "frame/left open");
	/* [90, 500] and [600, 700] less [100, 150], [160, 400] and [600, 700]. */
	g_assert_cmpuint(stub_frame(0)->gpu_ns, ==, 510);
	g_assert_cmpuint(stub_frame(0)->unattributed_gpu_ns, ==, 120);
	g_assert_cmpuint(stub_frame(1)->n_passes, ==, 1);
	g_assert_cmpstr(w_logged(1, 0)->label, ==, "frame/left open");
	g_assert_cmpuint(w_logged(1, 0)->submission, ==, 1);
}

/* R27: the results of the last run are read before the call that runs it again, and then the
 * queries are reset. */
static void
test_resubmitted(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	w.signalled = 0;
	struct vk_recording *r = w_recording();
	w_pass(r, 0, 100, 150, 1);
	VkCommandBuffer buffer = w_buffer(0, r);
	for (unsigned i = 0; i < 3; i++) {
		w_submit_one(q, buffer);
		g_assert_cmpuint(w.reads_before_call, ==, i);
		g_assert_cmpuint(w.n_resets, ==, i);
		g_assert_true(r->ran && r->pending);
		w.slots[0].a = 100 + i;
		w.slots[0].end_ns = 200 + i;
	}
	w.slots[0].status = TALLY_NOT_READY;
	w_submit_one(q, buffer); /* a driver that wrongly reports the results as not ready */
	w.slots[0].status = TALLY_OK;
	w.signalled = UINT64_MAX;
	w_finish();
	g_assert_null(r->pending);
	g_assert_cmpuint(atomic_load(&r->refs), ==, 1);
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, 4);
	g_assert_cmphex(stub_frame(0)->flags, ==, TALLY_FLAG(PARTIAL));
	for (unsigned i = 0; i < 2; i++) {
		g_assert_cmpint(w_value(w_logged(0, i), "a"), ==, 100 + i);
		g_assert_cmpuint(w_logged(0, i)->gpu_ns, ==, 100 + i);
	}
	g_assert_cmphex(w_logged(0, 2)->flags, ==, TALLY_FLAG(LOST));
	g_assert_false(w_logged(0, 2)->has_gpu);
	g_assert_cmpint(w_value(w_logged(0, 2), "a"), ==, -1);
	g_assert_cmpint(w_value(w_logged(0, 3), "a"), ==, 102);
}

/* A render pass that is suspended over three command buffers is one pass. */
static void
test_chain(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	struct vk_recording *r[3];
	VkCommandBuffer buffers[3];
	for (int i = 0; i < 3; i++) {
		r[i] = w_recording();
		struct vk_pass *p = w_pass(r[i], i == 1 ? -1 : i, 100, 500, 5);
		p->call_counts.vertices = 3;
		p->suspended = i < 2;
		p->resuming = i > 0;
		p->slot.halves = i == 0 ? TALLY_VK_BEGIN : i == 2 ? TALLY_VK_END : 0;
		w.slots[i].counts = false;
		p->store = i == 2 ? TALLY_STORE_DISCARD : TALLY_STORE_STORE;
		r[i]->starts_resuming = i > 0;
		r[i]->ends_suspended = i < 2;
		r[i]->whole = i == 1 ? (struct vk_slot){ 0 } :
				       w_take(r[i], 10 + i, true, false, 50, 700, 0);
		r[i]->whole.halves = i == 0 ? TALLY_VK_BEGIN : TALLY_VK_END;
		buffers[i] = w_buffer((unsigned)i, r[i]);
	}
	w_submit_n(q, 3, buffers);
	/* Nothing in the next batch resumes it: a pass that claims to do so is separate. */
	w_submit_one(q, buffers[1]);
	w_present(q);
	w_finish();
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, 2);
	const struct tally_pass_record *p = w_logged(0, 0);
	g_assert_cmpuint(p->call_counts.draws, ==, 3);
	g_assert_cmpuint(p->call_counts.vertices, ==, 9);
	g_assert_cmpuint(p->gpu_start_ns, ==, 100);
	g_assert_cmpuint(p->gpu_ns, ==, 400);
	g_assert_cmpint(w_value(p, "a"), ==, -1);
	g_assert_cmphex(p->flags, ==, TALLY_FLAG(UNCOUNTED));
	g_assert_cmpuint(stub_frame(0)->gpu_ns, ==, 650);
	g_assert_false(w_logged(0, 1)->has_gpu);
	g_assert_cmphex(w_logged(0, 1)->flags, ==, TALLY_FLAG(DROPPED));
}

/* Counters that secondaries counted inside a pass are added up, all or none. */
static void
test_secondaries(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	struct vk_recording *s[3];
	for (int i = 0; i < 3; i++) {
		s[i] = w_recording();
		s[i]->secondary = s[i]->continues_pass = true;
		s[i]->own = w_take(s[i], i == 2 ? -1 : 10 + i, false, true, 0, 0, 1000 << i);
	}
	struct vk_recording *outside = w_recording();
	outside->secondary = true;
	w_pass(outside, 20, 900, 950, 3);
	struct vk_recording *r = w_recording();
	for (int i = 0; i < 2; i++) {
		struct vk_pass *p = w_pass(r, i, 100, 150, 0);
		w.slots[i].counts = false;
		p->first_inner = r->n_inner;
		p->n_inner = 2;
		r->inner[r->n_inner++] = s[i];
		r->inner[r->n_inner++] = s[i + 1];
		w_execute(r, s[i]);
		w_execute(r, s[i + 1]);
	}
	w_pass(r, 2, 200, 300, 4)->uncounted = true;
	w_execute(r, outside);
	VkCommandBuffer buffer = w_buffer(0, r);
	w_submit_one(q, buffer);
	g_assert_true(s[0]->pending && outside->pending);
	w_present(q);
	vk_drain(&w.d);
	g_assert_null(s[0]->pending);
	unsigned resets = w.n_resets;
	w_submit_one(q, buffer);
	g_assert_cmpuint(w.n_resets, >=, resets + 4);
	w_present(q);
	w_finish();
	g_assert_cmpint(w_value(w_logged(0, 0), "a"), ==, 3000);
	g_assert_cmpint(w_value(w_logged(0, 0), "b"), ==, 30000);
	g_assert_cmpuint(w_logged(0, 0)->gpu_ns, ==, 50);
	g_assert_cmpint(w_value(w_logged(0, 1), "a"), ==, -1);
	g_assert_cmpuint(w_logged(0, 1)->gpu_ns, ==, 50);
	g_assert_cmpint(w_value(w_logged(0, 2), "a"), ==, -1);
	g_assert_cmpuint(w_logged(0, 2)->gpu_ns, ==, 100);
	g_assert_cmpint(w_value(w_logged(0, 3), "a"), ==, 3);
	for (int i = 0; i < 3; i++)
		g_assert_cmpuint(atomic_load(&s[i]->refs), ==, 1);
}

/* Granularity submit: one pass a call, with everything in it. */
static void
test_submit_granularity(void)
{
	if (!stub_in_child("granularity=submit"))
		return;
	VkQueue q = w_start();
	VkCommandBuffer buffers[3];
	for (unsigned i = 0; i < 3; i++) {
		struct vk_recording *r = w_recording();
		w_pass(r, -1, 0, 0, 0)->call_counts.vertices = 3;
		w_pass(r, -1, 0, 0, 0)->flags = TALLY_FLAG(INDIRECT);
		r->whole = w_take(r, (int)i, true, true, 100 * (i + 1),
				  100 * (i + 1) + 10, 1 + i);
		r->uncounted = i == 2;
		buffers[i] = w_buffer(i, r);
	}
	w_submit_n(q, 2, buffers);
	w_submit_one(q, buffers[2]);
	w_present(q);
	w_finish();
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, 2);
	const struct tally_pass_record *p = w_logged(0, 0);
	g_assert_cmpint(p->kind, ==, TALLY_PASS_OTHER);
	g_assert_cmpuint(p->call_counts.draws, ==, 4);
	g_assert_cmpuint(p->call_counts.vertices, ==, 6);
	g_assert_cmpuint(p->gpu_start_ns, ==, 100);
	g_assert_cmpuint(p->gpu_ns, ==, 110);
	g_assert_cmpint(w_value(p, "a"), ==, 3);
	g_assert_cmphex(p->flags, ==, TALLY_FLAG(INDIRECT));
	g_assert_cmpuint(w_logged(0, 1)->gpu_ns, ==, 10);
	g_assert_cmpint(w_value(w_logged(0, 1), "a"), ==, -1);
	g_assert_cmpuint(w_logged(0, 1)->submission, ==, 1);
}

/* Granularity frame: one pass a queue and frame. */
static void
test_frame_granularity(void)
{
	if (!stub_in_child("granularity=frame"))
		return;
	VkQueue q = w_start(), other = w_queue(1);
	VkCommandBuffer buffers[3];
	for (unsigned i = 0; i < 3; i++) {
		struct vk_recording *r = w_recording();
		w_pass(r, -1, 0, 0, 0);
		r->whole = w_take(r, (int)i, true, true, 100 * (i + 1),
				  100 * (i + 1) + 10, 1 + i);
		buffers[i] = w_buffer(i, r);
	}
	w_submit_one(q, buffers[0]);
	w_submit_one(q, buffers[1]);
	w_submit_one(other, buffers[2]);
	w_present(q);
	w_submit_one(q, buffers[1]);
	w_present(q);
	w_submit_one(q, buffers[1]);
	w.submit_result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
	w_submit_one(q, buffers[0]);
	w.submit_result = VK_SUCCESS;
	w_present(q);
	w_finish();
	g_assert_cmpuint(stub.frames->len, ==, 3);
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, 2);
	const struct tally_pass_record *p = w_logged(0, 0);
	g_assert_cmpuint(p->call_counts.draws, ==, 2);
	g_assert_cmpuint(p->gpu_ns, ==, 110);
	g_assert_cmpint(w_value(p, "a"), ==, 3);
	g_assert_false(p->has_submission);
	g_assert_cmpint(w_logged(0, 1)->queue_family, ==, 1);
	g_assert_cmpint(w_value(w_logged(0, 1), "a"), ==, 3);
	g_assert_cmpuint(stub_frame(1)->n_passes, ==, 1);
	g_assert_cmpuint(w_logged(1, 0)->gpu_ns, ==, 10);
	g_assert_cmphex(w_logged(2, 0)->flags, ==, TALLY_FLAG(LOST));
	g_assert_cmpint(w_value(w_logged(2, 0), "a"), ==, -1);
}

/* --frame label:NAME: work before the label belongs to the old frame. */
static void
test_label_frames(void)
{
	if (!stub_in_child("frame=label:tick"))
		return;
	VkQueue q = w_start();
	struct vk_recording *r = w_recording();
	w_pass(r, 0, 100, 110, 1);
	w_label(r, "tick");
	w_pass(r, 1, 120, 130, 2);
	w_pass(r, 2, 140, 150, 3);
	w_label(r, NULL);
	r->whole = w_take(r, 3, true, false, 90, 400, 0);
	VkCommandBuffer buffer = w_buffer(0, r);
	w_submit_one(q, buffer);
	w_present(q); /* ends no frame */
	w_submit_one(q, buffer);
	w_finish();
	g_assert_cmpuint(stub.frames->len, ==, 3);
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, 1);
	g_assert_cmpuint(stub_frame(1)->n_passes, ==, 3);
	g_assert_cmpuint(stub_frame(2)->n_passes, ==, 2);
	g_assert_cmpint(w_value(w_logged(1, 0), "a"), ==, 2);
	g_assert_cmpint(w_value(w_logged(1, 2), "a"), ==, 1);
	g_assert_cmpuint(stub_frame(1)->unattributed_gpu_ns, ==, 0);
	g_assert_cmphex(stub_frame(2)->flags, ==, TALLY_FLAG(PARTIAL));
}

/* i: a present of the game's queue, o: of one that is marked; |: here a frame has to end. */
static const struct {
	const char *what, *presents;
} generated_cases[] = {
	{ "each second one is generated", "i|oi|oi|o" },
	{ "three of four", "i|oooi|ooo" },
	{ "all go out on one queue: nobody knows which", "o|o|o|" },
	{ "that begins later", "i|oooooooooo|o|" },
};

/* Presents of a queue that vkQueueNotifyOutOfBandNV marked end no frame between the others. */
static void
test_generated(void)
{
	const struct {
		VkStructureType type;
		const void *next;
		uint32_t queue;
	} presents = { .type = (VkStructureType)1000505008, .queue = 1 };
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start(), other = (VkQueue)&w.fetched;
	vk_queue_learn(&w.d, other, 0, 1, 0);
	vk_queue_out_of_band(&w.d, other, &presents);
	struct vk_recording *r = w_recording();
	w_pass(r, 0, 100, 110, 1);
	w_submit_one(q, w_buffer(0, r));
	for (size_t i = 0; i < G_N_ELEMENTS(generated_cases); i++) {
		g_test_message("%s", generated_cases[i].what);
		uint64_t frames = tally_device_frame(w.d.tally);
		w.d.generated_left = 0;
		for (const char *at = generated_cases[i].presents; *at; at++) {
			if (*at == '|')
				frames++;
			else
				w_present(*at == 'o' ? other : q);
			if (at[1] != '|')
				g_assert_cmpuint(tally_device_frame(w.d.tally), ==, frames);
		}
	}
	w_finish();
}

/* Labels that found no room in a recording are closed after it. */
static void
test_lost_labels(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	struct vk_recording *ends = w_recording(), *begins = w_recording();
	w_label(ends, "outer");
	w_pass(ends, 0, 100, 110, 1);
	ends->lost_labels = -1;
	begins->lost_labels = 1;
	w_pass(begins, 1, 120, 130, 1);
	w_label(begins, NULL);
	VkCommandBuffer buffers[] = { w_buffer(0, ends), w_buffer(1, begins) };
	w_submit_n(q, 2, buffers);
	w_submit_n(q, 2, buffers);
	w_present(q);
	w_finish();
	g_assert_cmpstr(w_logged(0, 0)->label, ==, "outer");
	g_assert_null(w_logged(0, 1)->label);
	g_assert_cmpstr(w_logged(0, 2)->label, ==, "outer");
}

/* R30: command buffers for simultaneous use are timed by their batch. */
static void
test_simultaneous(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	struct vk_recording *one = w_recording(), *two = w_recording();
	one->simultaneous = two->simultaneous = true;
	w_pass(one, -1, 0, 0, 0);
	w_pass(two, -1, 0, 0, 0);
	w_pass(two, -1, 0, 0, 0);
	VkCommandBuffer buffers[] = { w_buffer(0, one), w_buffer(1, two) };
	VkCommandBuffer untouched[] = { buffers[0], buffers[1] };
	w_submit_one(q, buffers[0]);
	g_assert_cmpuint(w.n_seen, ==, 3);
	g_assert_true(w.seen[0] == w.pairs[0].first && w.seen[1] == buffers[0] &&
		      w.seen[2] == w.pairs[0].last);
	w_submit_n(q, 2, buffers);
	g_assert_cmpuint(w.n_seen, ==, 4);
	g_assert_true(memcmp(buffers, untouched, sizeof(buffers)) == 0);
	/* The layer puts nothing into a protected batch. */
	VkProtectedSubmitInfo protect = {
		.sType = VK_STRUCTURE_TYPE_PROTECTED_SUBMIT_INFO, .protectedSubmit = VK_TRUE
	};
	VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.pNext = &protect,
		.commandBufferCount = 1,
		.pCommandBuffers = buffers,
	};
	vk_queue_submit(&w.d, w_submit, q, 1, &info, VK_NULL_HANDLE);
	g_assert_cmpuint(w.n_seen, ==, 1);
	w_present(q);
	g_assert_cmpuint(w.n_released, ==, 0);
	vk_drain(&w.d);
	g_assert_cmpuint(w.n_released, ==, 2);
	w_finish();
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, 5);
	uint64_t flags = TALLY_FLAG(SIMULTANEOUS);
	g_assert_cmpuint(w_logged(0, 0)->gpu_ns, ==, 50);
	g_assert_cmphex(w_logged(0, 0)->flags, ==, flags | TALLY_FLAG(APPROXIMATE));
	g_assert_false(w_logged(0, 1)->has_gpu);
	g_assert_cmphex(w_logged(0, 1)->flags, ==, flags);
	g_assert_cmpuint(stub_frame(0)->gpu_ns, ==, 100); /* [1000, 1100] holds the other */
	g_assert_cmpuint(stub_frame(0)->unattributed_gpu_ns, ==, 50);
}

/* Recorded before the capture began, submitted again since: timed by their batch, and flagged. */
static void
test_recorded_idle(void)
{
	if (!stub_in_child("start-on=frame:2"))
		return;
	VkQueue q = w_start();
	struct vk_recording *one = w_recording(), *two = w_recording();
	one->idle = two->idle = true;
	w_pass(one, -1, 0, 0, 0);
	w_pass(two, -1, 0, 0, 0);
	w_pass(two, -1, 0, 0, 0);
	VkCommandBuffer buffers[] = { w_buffer(0, one), w_buffer(1, two) };
	for (unsigned frame = 0; frame < 3; frame++) {
		/* From the first submission on. */
		w_submit_one(q, buffers[0]);
		g_assert_cmpint(vk_device_idles(&w.d), ==, frame < 2);
		g_assert_cmpuint(w.n_seen, ==, frame < 2 ? 1 : 3);
		w_submit_n(q, 2, buffers);
		g_assert_cmpuint(w.n_seen, ==, frame < 2 ? 2 : 4);
		n_clock = 0;
		w_present(q);
		g_assert_cmpint(n_clock > 0, ==, frame > 0);
		n_clock = 0;
		w_submit_n(q, 2, buffers);
		g_assert_cmpint(n_clock > 0, ==, frame > 0);
	}
	vk_drain(&w.d);
	w_finish();
	g_assert_cmpuint(stub.frames->len, ==, 2);
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, 7);
	uint64_t flags = TALLY_FLAG(RECORDED_IDLE);
	g_assert_cmphex(w_logged(0, 0)->flags, ==, flags);
	g_assert_false(w_logged(0, 0)->has_gpu);
	/* The fourth is alone in its batch. */
	g_assert_cmphex(w_logged(0, 3)->flags, ==, flags | TALLY_FLAG(APPROXIMATE));
	g_assert_true(w_logged(0, 3)->has_gpu);
	g_assert_cmphex(w_logged(0, 4)->flags, ==, flags);
	g_assert_false(w_logged(0, 4)->has_gpu);
	g_assert_cmpint(w_value(w_logged(0, 3), "a"), ==, -1);
}

/* Recorded while capturing, submitted again in a pause: its queries are read and reset. */
static void
test_paused(void)
{
	if (!stub_in_child("stop-on=frame:1"))
		return;
	VkQueue q = w_start();
	struct vk_recording *r = w_recording();
	w_pass(r, 0, 100, 150, 1);
	VkCommandBuffer buffer = w_buffer(0, r);
	w_submit_one(q, buffer);
	g_assert_false(vk_device_idles(&w.d));
	w.signalled = 0;
	w_present(q);
	g_assert_true(vk_device_idles(&w.d));
	w_submit_one(q, buffer);
	g_assert_cmpuint(w.n_slots, ==, 1);
	g_assert_cmpuint(w.n_resets, ==, 1);
	w_submit_one(q, buffer);
	g_assert_cmpuint(w.n_resets, ==, 2);
	w_finish();
	g_assert_cmpuint(stub.frames->len, ==, 1);
	g_assert_cmpint(w_value(w_logged(0, 0), "a"), ==, 1);
}

/* A submission that the driver refuses has passes, flagged, without numbers. */
static void
test_refused(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start();
	struct vk_recording *r = w_recording();
	w_pass(r, 0, 100, 150, 1);
	VkCommandBuffer buffer = w_buffer(0, r);
	w.submit_result = VK_ERROR_OUT_OF_HOST_MEMORY;
	g_assert_cmpint(w_submit_one(q, buffer), ==, VK_ERROR_OUT_OF_HOST_MEMORY);
	w.submit_result = VK_SUCCESS;
	g_assert_null(r->pending);
	g_assert_cmpint(w_submit_one(q, buffer), ==, VK_SUCCESS);
	w_present(q);
	w_finish();
	g_assert_cmpuint(w.n_slots, ==, 1);
	g_assert_cmphex(w_logged(0, 0)->flags, ==, TALLY_FLAG(LOST));
	g_assert_false(w_logged(0, 0)->has_gpu);
	g_assert_cmphex(w_logged(0, 1)->flags, ==, 0);
	g_assert_cmpint(w_value(w_logged(0, 1), "a"), ==, 1);
}

/* Granularity draw: each workload is listed separately, the pass's counters are their sum. */
static void
test_workloads(void)
{
	if (!stub_in_child("granularity=draw"))
		return;
	VkQueue q = w_start();
	struct vk_recording *r = w_recording();
	for (int i = 0; i < 2; i++) {
		struct vk_pass *p = w_pass(r, i, 100, 150, 0);
		w.slots[i].counts = false;
		p->first_workload = r->n_workloads;
		p->n_workloads = 2;
		for (int k = 0; k < 2; k++)
			r->workloads[r->n_workloads++] = (struct vk_workload){
				.command = "draw",
				.slot = w_take(r, i && k ? -1 : 10 + 2 * i + k, true, true,
					       (uint64_t)(110 + k), 120, (uint64_t)(1 + k)),
			};
	}
	w_submit_one(q, w_buffer(0, r));
	w_present(q);
	w_finish();
	const struct tally_pass_record *p = w_logged(0, 0);
	g_assert_cmpint(w_value(p, "a"), ==, 3);
	g_assert_cmpuint(p->gpu_ns, ==, 50);
	g_assert_cmpuint(p->n_workloads, ==, 2);
	g_assert_cmpuint(p->workloads[0].gpu_ns, ==, 10);
	g_assert_cmpuint(p->workloads[1].gpu_ns, ==, 9);
	g_assert_cmpuint(p->workloads[1].counters[0].value.u64, ==, 2);
	p = w_logged(0, 1);
	g_assert_cmpint(w_value(p, "a"), ==, -1); /* one of the two was not counted */
	g_assert_cmpuint(p->workloads[0].counters[0].value.u64, ==, 1);
	g_assert_cmphex(p->workloads[1].flags, ==, TALLY_FLAG(DROPPED));
}

/* A secondary's draws are in its primary's list; their slots are the secondary's. */
static void
test_workload_owner(void)
{
	if (!stub_in_child("granularity=draw"))
		return;
	VkQueue q = w_start();
	struct vk_recording *r = w_recording(), *s = w_recording();
	struct vk_pass *p = w_pass(r, 0, 100, 150, 0);
	w.slots[0].counts = false;
	p->n_workloads = 1;
	r->workloads[r->n_workloads++] = (struct vk_workload){
		.command = "draw",
		.slot = w_take(s, 10, true, true, 110, 120, 7),
		.owner = s,
	};
	w_execute(r, s);
	VkCommandBuffer buffer = w_buffer(0, r);
	w.signalled = 0;
	w_submit_one(q, buffer);
	g_assert_true(s->ran && s->pending);
	g_assert_cmpuint(w.n_resets, ==, 0);
	w_submit_one(q, buffer);
	g_assert_cmpuint(w.n_resets, ==, 2); /* each of the two has slots */
	w.signalled = UINT64_MAX;
	w_present(q);
	w_finish();
	g_assert_null(s->pending);
	g_assert_cmpint(w_value(w_logged(0, 0), "a"), ==, 7);
	g_assert_cmpint(w_value(w_logged(0, 1), "a"), ==, 7);
}

/* Each workload has the labels that were open where it was recorded, whose end or whose begin may
 * lie in a secondary; one that is executed twice has those of each place. */
static void
test_workload_labels(void)
{
	if (!stub_in_child("granularity=draw"))
		return;
	VkQueue q = w_start();
	struct vk_recording *r = w_recording(), *s = w_recording();
	struct tally_stage_record stage = { .stage = TALLY_STAGE_VERTEX, .code = 1 };
	struct tally_pipeline *pipeline = tally_pipeline_intern(&stage, 1);
	s->continues_pass = true;
	s->workloads[s->n_workloads++] = (struct vk_workload){ .n_items = 0 };
	w_label(s, "own");
	s->workloads[s->n_workloads++] = (struct vk_workload){ .n_items = 1 };
	w_label(s, NULL);
	w_label(r, "frame");
	struct vk_pass *p = w_pass(r, -1, 0, 0, 0);
	p->first_use = 0;
	p->n_uses = 1;
	r->uses = calloc(1, sizeof(*r->uses));
	r->uses[0].pipeline = pipeline;
	r->n_uses = r->room_uses = 1;
	p->n_workloads = 6;
	w_label(r, "A");
	w_execute(r, s);
	w_label(r, NULL);
	w_label(r, NULL); /* the pass is no longer in "frame" */
	w_execute(r, s);
	static const struct {
		bool owned;
		uint32_t n_items;
		const char *group;
	} loads[] = {
		{ false, 1, NULL }, { true, 0, "A" },   { true, 1, "A/own" },
		{ true, 0, NULL },  { true, 1, "own" }, { false, 6, NULL },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(loads); i++)
		r->workloads[r->n_workloads++] = (struct vk_workload){
			.command = "draw",
			.pipeline = i ? pipeline : NULL,
			.n_items = loads[i].n_items,
			.owner = loads[i].owned ? s : NULL,
		};
	w_pass(r, -1, 0, 0, 0);
	w_submit_one(q, w_buffer(0, r));
	w_present(q);
	w_finish();
	const struct tally_pass_record *got = w_logged(0, 0);
	g_assert_cmpstr(got->label, ==, "frame");
	g_assert_cmpuint(got->n_workloads, ==, G_N_ELEMENTS(loads));
	for (size_t i = 0; i < G_N_ELEMENTS(loads); i++) {
		g_assert_cmpstr(got->workloads[i].group, ==, loads[i].group);
		g_assert_cmpint(got->workloads[i].has_pipeline, ==, i > 0);
	}
	g_assert_cmpuint(w_logged(0, 1)->n_workloads, ==, 0);
}

/* A primary recorded while nothing was captured executes a secondary that has queries: the
 * timestamps around the batch are the pass's, those of the workload are its own. */
static void
test_workload_in_idle(void)
{
	if (!stub_in_child("granularity=draw"))
		return;
	VkQueue q = w_start();
	struct vk_recording *r = w_recording(), *s = w_recording();
	r->idle = true;
	w_pass(r, -1, 0, 0, 0)->n_workloads = 1;
	r->workloads[r->n_workloads++] = (struct vk_workload){
		.command = "draw",
		.slot = w_take(s, 10, true, true, 110, 120, 7),
		.owner = s,
	};
	w_execute(r, s);
	w_submit_one(q, w_buffer(0, r));
	w_present(q);
	w_finish();
	const struct tally_pass_record *p = w_logged(0, 0);
	g_assert_cmpuint(p->gpu_ns, ==, 50);
	g_assert_cmpuint(p->n_workloads, ==, 1);
	g_assert_true(p->workloads[0].has_gpu);
	g_assert_cmpuint(p->workloads[0].gpu_ns, ==, 10);
}

/* Why a pass has no numbers. */
static void
test_reasons(void)
{
	if (!stub_in_child(NULL))
		return;
	VkQueue q = w_start(), stampless = w_queue(2);
	struct vk_recording *r = w_recording();
	w_pass(r, -1, 0, 0, 0);
	VkCommandBuffer buffer = w_buffer(0, r);
	w_submit_one(q, buffer);
	w_submit_one(stampless, buffer);
	r->dropped = 5; /* past the recording's own limit */
	w.no_cover = true;
	w_submit_one(q, buffer);
	w_present(q);
	w_finish();
	g_assert_cmpuint(stub_frame(0)->dropped_passes, ==, 5);
	g_assert_cmphex(w_logged(0, 0)->flags, ==, TALLY_FLAG(DROPPED));
	g_assert_cmphex(w_logged(0, 1)->flags, ==, TALLY_FLAG(NO_TIMESTAMPS));
	g_assert_cmphex(w_logged(0, 2)->flags, ==, TALLY_FLAG(NO_TIMESTAMPS));
}

/* The black box names the pass that began last, also where there was no room for it. */
static void
test_no_room(void)
{
	if (!stub_in_child("max-passes=1"))
		return;
	VkQueue q = w_start();
	struct tally_config config = *w.d.config;
	g_autofree char *folder = g_dir_make_tmp("passtally-unit-XXXXXX", NULL);
	g_autofree char *log = g_build_filename(folder, "log", NULL);
	g_autofree char *path = g_strconcat(log, ".last", NULL), *bytes = NULL;
	g_assert_true(g_file_set_contents(log, "", 0, NULL));
	config.black_box_ns = 1;
	w.d.config = &config;
	g_assert_true(tally_black_box_begin(&config, &stub_recorder, log));
	struct vk_recording *r = w_recording();
	for (char name[2] = "a"; name[0] < 'd'; name[0]++) {
		w_label(r, name);
		w_pass(r, -1, 0, 0, 0);
		w_label(r, NULL);
	}
	w_submit_one(q, w_buffer(0, r));
	g_assert_true(g_file_get_contents(path, &bytes, NULL, NULL));
	const struct tally_last_pass *last = (const void *)bytes;
	g_assert_cmpstr(last->name, ==, "c");
	remove(path);
	remove(log);
	remove(folder);
	w_present(q);
	w_finish();
}

/* Frames that are not captured: nothing is kept, but queries are still reset. */
static void
test_not_captured(void)
{
	if (!stub_in_child("skip=2,frames=1"))
		return;
	VkQueue q = w_start();
	struct vk_recording *r = w_recording();
	w_pass(r, 0, 100, 150, 1);
	VkCommandBuffer buffer = w_buffer(0, r);
	for (unsigned i = 0; i < 5; i++) {
		w_submit_one(q, buffer);
		g_assert_cmpuint(w.n_resets, ==, i);
		w_present(q);
	}
	w_finish();
	g_assert_cmpuint(w.n_slots, ==, 1);
	g_assert_cmpuint(stub.frames->len, ==, 1);
	g_assert_cmpuint(stub_frame(0)->frame, ==, 2);
	g_assert_cmpuint(stub_frame(0)->n_passes, ==, 1);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vk_replay/passes", test_passes);
	g_test_add_func("/vk_replay/resubmitted", test_resubmitted);
	g_test_add_func("/vk_replay/chain", test_chain);
	g_test_add_func("/vk_replay/secondaries", test_secondaries);
	g_test_add_func("/vk_replay/submit_granularity", test_submit_granularity);
	g_test_add_func("/vk_replay/frame_granularity", test_frame_granularity);
	g_test_add_func("/vk_replay/label_frames", test_label_frames);
	g_test_add_func("/vk_replay/generated", test_generated);
	g_test_add_func("/vk_replay/simultaneous", test_simultaneous);
	g_test_add_func("/vk_replay/recorded_idle", test_recorded_idle);
	g_test_add_func("/vk_replay/paused", test_paused);
	g_test_add_func("/vk_replay/refused", test_refused);
	g_test_add_func("/vk_replay/workloads", test_workloads);
	g_test_add_func("/vk_replay/lost_labels", test_lost_labels);
	g_test_add_func("/vk_replay/workload_owner", test_workload_owner);
	g_test_add_func("/vk_replay/workload_labels", test_workload_labels);
	g_test_add_func("/vk_replay/workload_in_idle", test_workload_in_idle);
	g_test_add_func("/vk_replay/reasons", test_reasons);
	g_test_add_func("/vk_replay/no_room", test_no_room);
	g_test_add_func("/vk_replay/not_captured", test_not_captured);
	return g_test_run();
}

/* SPDX-License-Identifier: MIT */
/* Submissions in slices: what is submitted in which order, and which passes get which samples.
 * `F` is a fence of the layer that was waited for, `S1` the first sample, `[w 0 1 s f]` a call
 * of the game that contains its waits, command buffers, signals and fence. */
#include "query/sampler/sampler.h"
#include "tests/unit/vk_layer/vk_submit_world.h"

/* The file itself, with the test's samples. */
static bool e_asked(void);
static uint64_t e_take(void);
#define tally_snapshot_exact e_asked
#define tally_snapshot_take e_take
#include "vk_layer/exact/exact.c"
#include "vk_layer/exact/semaphores.h"

#define GAME_FENCE ((VkFence)(uintptr_t)7000)
#define SEMAPHORE(n) ((VkSemaphore)(uintptr_t)(0x500 + (n)))
#define BOUND ((VkSemaphore)(uintptr_t)0x600)
#define PROMISED ((VkSemaphore)(uintptr_t)0x601)

static struct {
	GString *text;
	uint64_t samples;
	bool on, dry; /* no source can be read */
	unsigned n, refuse; /* the n-th of the game's calls fails, from 1 */
	uint64_t reached; /* by BOUND */
	VkResult failure, wait_result;
} e;

static bool
e_asked(void)
{
	return e.on;
}

static uint64_t
e_take(void)
{
	if (e.dry)
		return TALLY_NO_SNAPSHOT;
	g_string_append_printf(e.text, "S%u ", (unsigned)++e.samples);
	return e.samples;
}

static VKAPI_ATTR VkResult VKAPI_CALL
e_submit(VkQueue queue, uint32_t n, const VkSubmitInfo *infos, VkFence fence)
{
	(void)queue;
	if (n == 0) {
		g_string_append(e.text, "F ");
		return VK_SUCCESS;
	}
	g_string_append(e.text, "[");
	for (uint32_t i = 0; i < n; i++) {
		if (infos[i].waitSemaphoreCount)
			g_string_append(e.text, "w ");
		for (uint32_t k = 0; k < infos[i].commandBufferCount; k++)
			g_string_append_printf(
				e.text, "%u ",
				(unsigned)((uintptr_t)infos[i].pCommandBuffers[k] - 0x200));
		if (infos[i].signalSemaphoreCount)
			g_string_append(e.text, "s ");
		g_string_append(e.text, i + 1 < n ? "| " : fence ? "f] " : "] ");
	}
	return ++e.n == e.refuse ? e.failure : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
e_wait(VkDevice device, uint32_t n, const VkFence *fences, VkBool32 all, uint64_t timeout)
{
	(void)device, (void)fences, (void)all;
	g_assert_cmpuint(n, ==, 1);
	g_assert_cmpuint(timeout, ==, UINT64_C(2000000000));
	return e.wait_result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
e_status(VkDevice device, VkFence fence)
{
	(void)device, (void)fence;
	return e.wait_result == VK_TIMEOUT ? VK_NOT_READY : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
e_idle(VkQueue queue)
{
	(void)queue;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
e_reset(VkDevice device, uint32_t n, const VkFence *fences)
{
	(void)device, (void)n, (void)fences;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
e_value(VkDevice device, VkSemaphore semaphore, uint64_t *value)
{
	(void)device;
	*value = semaphore == BOUND ? e.reached : 0;
	return VK_SUCCESS;
}

static void
timeline(VkSemaphore semaphore)
{
	static const VkSemaphoreTypeCreateInfo type = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
		.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
	};
	const VkSemaphoreCreateInfo info = { .pNext = &type };
	vk_exact_created(&w.d, &info, semaphore);
}

/* BOUND: a timeline that only the game signals; PROMISED: one that its batches signal. */
static VkQueue
start(void)
{
	e.text = g_string_new(NULL);
	e.on = true;
	e.failure = VK_ERROR_OUT_OF_HOST_MEMORY;
	VkQueue handle = w_start();
	w.d.next.use.QueueSubmit = e_submit;
	w.d.next.use.WaitForFences = e_wait;
	w.d.next.use.GetFenceStatus = e_status;
	w.d.next.use.ResetFences = e_reset;
	w.d.next.use.GetSemaphoreCounterValue = e_value;
	vk_exact_create(&w.d);
	timeline(BOUND);
	timeline(PROMISED);
	return handle;
}

static void
finish(void)
{
	e.wait_result = VK_SUCCESS;
	vk_exact_destroyed(&w.d, BOUND);
	w_finish();
	vk_exact_destroy(&w.d);
	g_string_free(e.text, TRUE);
}

static VkCommandBuffer
one_pass(unsigned n)
{
	struct vk_recording *r = w_recording();
	w_pass(r, (int)n, 100 * (n + 1), 100 * (n + 1) + 50, n);
	return w_buffer(n, r);
}

struct game {
	VkSubmitInfo infos[4];
	uint32_t n;
	VkSemaphore wait, signal;
	uint64_t wait_value;
	VkTimelineSemaphoreSubmitInfo timeline;
	VkPipelineStageFlags stage;
	VkCommandBuffer buffers[4][4];
};

/* A batch of `n` command buffers from number `first` on. */
static VkSubmitInfo *
batch(struct game *g, unsigned first, unsigned n)
{
	VkSubmitInfo *info = &g->infos[g->n];
	for (unsigned i = 0; i < n; i++)
		g->buffers[g->n][i] = one_pass(first + i);
	*info = (VkSubmitInfo){
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.commandBufferCount = n,
		.pCommandBuffers = g->buffers[g->n],
	};
	g->n++;
	return info;
}

static void
waits(struct game *g, VkSubmitInfo *info, VkSemaphore semaphore, uint64_t value)
{
	g->wait = semaphore;
	g->wait_value = value;
	g->stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	g->timeline = (VkTimelineSemaphoreSubmitInfo){
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = 1,
		.pWaitSemaphoreValues = &g->wait_value,
	};
	info->pNext = &g->timeline;
	info->waitSemaphoreCount = 1;
	info->pWaitSemaphores = &g->wait;
	info->pWaitDstStageMask = &g->stage;
}

static void
signals(struct game *g, VkSubmitInfo *info, VkSemaphore semaphore)
{
	g->signal = semaphore;
	info->signalSemaphoreCount = 1;
	info->pSignalSemaphores = &g->signal;
}

static VkResult
submit(VkQueue queue, struct game *g)
{
	g_string_truncate(e.text, 0);
	e.n = 0;
	return vk_queue_submit(&w.d, e_submit, queue, g->n, g->infos, GAME_FENCE);
}

/* The n-th pass of the frame: its samples, or 0 and UNSAMPLED. */
static void
check_pass(unsigned frame, unsigned n, uint64_t from, uint64_t to)
{
	const struct tally_pass_record *p = w_logged(frame, n);
	g_assert_cmpuint(p->snapshot_from, ==, from);
	g_assert_cmpuint(p->snapshot_to, ==, to);
	g_assert_cmpint(!!(p->flags & TALLY_FLAG(UNSAMPLED)), ==, !from);
}

#define IN_CHILD(options) \
	do { \
		if (!stub_in_child("snapshot=exact" options)) \
			return; \
	} while (0)

static void
test_one(void)
{
	IN_CHILD("");
	VkQueue q = start();
	struct game g = { 0 };
	batch(&g, 0, 1);
	g_assert_cmpint(submit(q, &g), ==, VK_SUCCESS);
	g_assert_cmpstr(e.text->str, ==, "F S1 [0 f] F S2 ");
	w_present(q);
	finish();
	check_pass(0, 0, 1, 2);
}

/* What the batch waits for goes first, what it signals last. */
static void
test_cut(void)
{
	IN_CHILD("");
	VkQueue q = start();
	struct game g = { 0 };
	VkSubmitInfo *info = batch(&g, 0, 3);
	waits(&g, info, SEMAPHORE(0), 0);
	signals(&g, info, SEMAPHORE(1));
	batch(&g, 3, 1);
	g_assert_cmpint(submit(q, &g), ==, VK_SUCCESS);
	g_assert_cmpstr(e.text->str, ==,
			"[w ] F S1 [0 ] F S2 [1 ] F S3 [2 s ] F S4 [3 f] F S5 ");
	w_present(q);
	finish();
	for (unsigned i = 0; i < 4; i++)
		check_pass(0, i, i + 1, i + 2);
	g_assert_cmpuint(w_logged(0, 0)->gpu_ns, ==, 50); /* read without an additional fence */
}

/* No submission signals it: it is submitted as the game wrote it, and so is everything that
 * follows, until that is seen to have completed. */
static void
test_unresolved(void)
{
	IN_CHILD("");
	VkQueue q = start();
	struct game g = { 0 };
	batch(&g, 0, 2);
	VkSubmitInfo *info = batch(&g, 2, 2);
	waits(&g, info, BOUND, 1);
	batch(&g, 4, 1);
	g_assert_cmpint(submit(q, &g), ==, VK_SUCCESS);
	g_assert_cmpstr(e.text->str, ==, "F S1 [0 ] F S2 [1 ] F S3 [w 2 3 | 4 f] ");
	struct game behind = { 0 };
	batch(&behind, 5, 1);
	submit(q, &behind);
	g_assert_cmpstr(e.text->str, ==, "[5 f] ");
	e.reached = 1;
	vk_queue_wait_idle(&w.d, e_idle, q);
	struct game after = { 0 };
	waits(&after, batch(&after, 6, 1), BOUND, 1);
	submit(q, &after);
	g_assert_cmpstr(e.text->str, ==, "[w ] F S4 [6 f] F S5 ");
	w_present(q);
	finish();
	check_pass(0, 0, 1, 2);
	check_pass(0, 1, 2, 3);
	for (unsigned i = 2; i < 6; i++)
		check_pass(0, i, 0, 0);
	check_pass(0, 6, 4, 5);
}

/* What a batch waits for that ends by itself will be signaled: no driver is asked. A sparse bind
 * that may not end stands in the way as a batch does. */
static void
test_promised(void)
{
	IN_CHILD("");
	VkQueue q = start();
	static const uint64_t seven = 7;
	const VkTimelineSemaphoreSubmitInfo values = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.signalSemaphoreValueCount = 1,
		.pSignalSemaphoreValues = &seven,
	};
	struct game first = { 0 }, second = { 0 }, third = { 0 };
	VkSubmitInfo *info = batch(&first, 0, 1);
	signals(&first, info, PROMISED);
	info->pNext = &values;
	submit(q, &first);
	waits(&second, batch(&second, 1, 1), PROMISED, 7);
	submit(q, &second);
	g_assert_cmpstr(e.text->str, ==, "[w ] F S3 [1 f] F S4 ");
	waits(&third, batch(&third, 2, 1), PROMISED, 8);
	const VkBindSparseInfo bind = {
		.pNext = third.infos[0].pNext,
		.waitSemaphoreCount = 1,
		.pWaitSemaphores = third.infos[0].pWaitSemaphores,
	};
	w.d.exact->bound(vk_queue_find(q), 1, &bind);
	third.infos[0].waitSemaphoreCount = 0;
	submit(q, &third);
	g_assert_cmpstr(e.text->str, ==, "[2 f] ");
	w_present(q);
	finish();
	check_pass(0, 1, 3, 4);
	check_pass(0, 2, 0, 0);
}

/* After a wait that timed out there are no more waits. */
static void
test_timeout(void)
{
	IN_CHILD("");
	VkQueue q = start();
	struct game g = { 0 };
	batch(&g, 0, 2);
	e.wait_result = VK_TIMEOUT;
	g_assert_cmpint(submit(q, &g), ==, VK_SUCCESS);
	g_assert_cmpstr(e.text->str, ==, "F [0 1 f] ");
	e.wait_result = VK_SUCCESS;
	struct game next = { 0 };
	batch(&next, 2, 1);
	submit(q, &next);
	g_assert_cmpstr(e.text->str, ==, "[2 f] ");
	w_present(q);
	finish();
	for (unsigned i = 0; i < 3; i++)
		check_pass(0, i, 0, 0);
}

static void
test_lost(void)
{
	IN_CHILD("");
	VkQueue q = start();
	struct game g = { 0 };
	batch(&g, 0, 2);
	e.wait_result = VK_ERROR_DEVICE_LOST;
	g_assert_cmpint(submit(q, &g), ==, VK_SUCCESS);
	g_assert_cmpstr(e.text->str, ==, "F [0 1 f] ");
	g_assert_cmpuint(w.n_stops, ==, 1);
	finish();
}

/* A refused submission is retried as the game wrote it: the game gets that result. */
static void
test_refused(void)
{
	IN_CHILD("");
	VkQueue q = start();
	struct game g = { 0 };
	VkSubmitInfo *info = batch(&g, 0, 3);
	signals(&g, info, SEMAPHORE(1));
	batch(&g, 3, 1);
	e.refuse = 2;
	g_assert_cmpint(submit(q, &g), ==, VK_SUCCESS);
	g_assert_cmpstr(e.text->str, ==, "F S1 [0 ] F S2 [1 ] [1 2 s ] [3 f] ");
	struct game first = { 0 };
	batch(&first, 4, 1);
	e.refuse = 1;
	g_assert_cmpint(submit(q, &first), ==, VK_ERROR_OUT_OF_HOST_MEMORY);
	g_assert_cmpstr(e.text->str, ==, "[4 f] ");
	w_present(q);
	finish();
	check_pass(0, 0, 1, 2);
	for (unsigned i = 1; i < 4; i++)
		check_pass(0, i, 0, 0);
}

/* Command buffers that share a suspended render pass stay together. */
static void
test_suspended(void)
{
	IN_CHILD("");
	VkQueue q = start();
	struct game g = { 0 };
	batch(&g, 0, 3);
	w.commands[0].recording->ends_suspended = true;
	w.commands[0].recording->passes[0].suspended = true;
	w.commands[1].recording->starts_resuming = true;
	w.commands[1].recording->passes[0].resuming = true;
	submit(q, &g);
	g_assert_cmpstr(e.text->str, ==, "F S1 [0 1 ] F S2 [2 f] F S3 ");
	w_present(q);
	finish();
	check_pass(0, 0, 1, 2);
	check_pass(0, 1, 2, 3);
}

/* A structure that the layer cannot cut: submitted whole, but sampled. */
static void
test_unknown(void)
{
	IN_CHILD("");
	VkQueue q = start();
	struct game g = { 0 };
	const VkBaseInStructure foreign = { .sType = (VkStructureType)1000999000 };
	batch(&g, 0, 2)->pNext = &foreign;
	submit(q, &g);
	g_assert_cmpstr(e.text->str, ==, "F S1 [0 1 f] F S2 ");
	w_present(q);
	finish();
	check_pass(0, 0, 1, 2);
	check_pass(0, 1, 1, 2);
}

/* A batch without command buffers only passes on what it waits for and signals. */
static void
test_empty(void)
{
	IN_CHILD("");
	VkQueue q = start();
	struct game g = { 0 };
	VkSubmitInfo *info = batch(&g, 0, 0);
	waits(&g, info, SEMAPHORE(0), 0);
	batch(&g, 0, 1);
	batch(&g, 1, 0);
	submit(q, &g);
	g_assert_cmpstr(e.text->str, ==, "[w ] F S1 [0 ] F S2 [f] ");
	g_string_truncate(e.text, 0);
	vk_queue_submit(&w.d, e_submit, q, 0, NULL, GAME_FENCE);
	g_assert_cmpstr(e.text->str, ==, "F ");
	struct game none = { 0 };
	batch(&none, 1, 0);
	submit(q, &none);
	g_assert_cmpstr(e.text->str, ==, "[f] ");
	w_present(q);
	finish();
	check_pass(0, 0, 1, 2);
}

/* One recording twice in a frame: two passes, each with its own samples. */
static void
test_again(void)
{
	IN_CHILD("");
	VkQueue q = start();
	struct game g = { 0 };
	batch(&g, 0, 1);
	submit(q, &g);
	submit(q, &g);
	g_assert_cmpstr(e.text->str, ==, "F S3 [0 f] F S4 ");
	w_present(q);
	finish();
	check_pass(0, 0, 1, 2);
	check_pass(0, 1, 3, 4);
}

/* The layer's timestamps around a batch stay around it. */
static void
test_simultaneous(void)
{
	IN_CHILD("");
	VkQueue q = start();
	struct game g = { 0 };
	batch(&g, 0, 2);
	for (unsigned i = 0; i < 2; i++) {
		w.commands[i].recording->simultaneous = true;
		w.commands[i].recording->passes[0].slot = (struct vk_slot){ 0 };
	}
	submit(q, &g);
	g_assert_cmpstr(e.text->str, ==, "F S1 [3584 0 1 3585 f] F S2 ");
	w_present(q);
	finish();
	check_pass(0, 0, 1, 2);
	check_pass(0, 1, 1, 2);
}

static void
test_submit(void)
{
	IN_CHILD(",granularity=submit");
	VkQueue q = start();
	struct game g = { 0 };
	waits(&g, batch(&g, 0, 2), SEMAPHORE(0), 0);
	batch(&g, 2, 1);
	submit(q, &g);
	g_assert_cmpstr(e.text->str, ==, "F S1 [w 0 1 | 2 f] F S2 ");
	struct game open = { 0 };
	waits(&open, batch(&open, 3, 1), BOUND, 1);
	submit(q, &open);
	g_assert_cmpstr(e.text->str, ==, "[w 3 f] ");
	w_present(q);
	finish();
	check_pass(0, 0, 1, 2);
	check_pass(0, 1, 0, 0);
}

/* From before the first submission to after the last; a missed one invalidates the interval. */
static void
test_frame(void)
{
	IN_CHILD(",granularity=frame");
	VkQueue q = start();
	for (unsigned i = 0; i < 3; i++) {
		struct game g = { 0 };
		batch(&g, i, 1);
		submit(q, &g);
		if (i == 1)
			w_present(q);
	}
	struct game open = { 0 };
	waits(&open, batch(&open, 3, 1), BOUND, 1);
	submit(q, &open);
	e.reached = 1;
	struct game after = { 0 };
	batch(&after, 4, 1);
	submit(q, &after);
	w_present(q);
	finish();
	check_pass(0, 0, 1, 4);
	check_pass(1, 0, 0, 0);
}

/* The frame's pass may be gone when the wait ends: another thread presented. */
static void
present_meanwhile(void)
{
	w.during_call = NULL;
	w_present((VkQueue)(uintptr_t)0x100);
}

static VKAPI_ATTR VkResult VKAPI_CALL
presenting_submit(VkQueue queue, uint32_t n, const VkSubmitInfo *infos, VkFence fence)
{
	if (n && w.during_call)
		w.during_call();
	return e_submit(queue, n, infos, fence);
}

static void
test_frame_ends(void)
{
	IN_CHILD(",granularity=frame");
	VkQueue q = start();
	struct game g = { 0 };
	batch(&g, 0, 1);
	w.during_call = present_meanwhile;
	vk_queue_submit(&w.d, presenting_submit, q, g.n, g.infos, GAME_FENCE);
	w_present(q);
	finish();
	check_pass(0, 0, 0, 0);
}

/* Frames that are not captured are the same as without passtally. */
static void
test_not_captured(void)
{
	IN_CHILD(",skip=1");
	VkQueue q = start();
	struct game g = { 0 };
	batch(&g, 0, 2);
	submit(q, &g);
	g_assert_cmpstr(e.text->str, ==, "[0 1 f] ");
	w_present(q);
	struct game next = { 0 };
	batch(&next, 2, 1);
	submit(q, &next);
	g_assert_cmpstr(e.text->str, ==, "F S1 [2 f] F S2 ");
	w_present(q);
	finish();
	check_pass(0, 0, 1, 2);
}

/* No source to read: nothing waits, nothing is flagged; if one fails: flagged. */
static void
test_no_source(void)
{
	IN_CHILD("");
	VkQueue q = start();
	e.on = false;
	struct game g = { 0 };
	batch(&g, 0, 2);
	submit(q, &g);
	g_assert_cmpstr(e.text->str, ==, "[0 1 f] ");
	e.on = e.dry = true;
	struct game dry = { 0 };
	batch(&dry, 2, 1);
	submit(q, &dry);
	g_assert_cmpstr(e.text->str, ==, "F [2 f] F ");
	w_present(q);
	finish();
	g_assert_cmpuint(w_logged(0, 0)->flags & TALLY_FLAG(UNSAMPLED), ==, 0);
	g_assert_cmpuint(w_logged(0, 0)->snapshot_from, ==, 0);
	check_pass(0, 2, 0, 0);
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vk_exact/one", test_one);
	g_test_add_func("/vk_exact/cut", test_cut);
	g_test_add_func("/vk_exact/unresolved", test_unresolved);
	g_test_add_func("/vk_exact/promised", test_promised);
	g_test_add_func("/vk_exact/timeout", test_timeout);
	g_test_add_func("/vk_exact/lost", test_lost);
	g_test_add_func("/vk_exact/refused", test_refused);
	g_test_add_func("/vk_exact/suspended", test_suspended);
	g_test_add_func("/vk_exact/unknown", test_unknown);
	g_test_add_func("/vk_exact/empty", test_empty);
	g_test_add_func("/vk_exact/again", test_again);
	g_test_add_func("/vk_exact/simultaneous", test_simultaneous);
	g_test_add_func("/vk_exact/submit", test_submit);
	g_test_add_func("/vk_exact/frame", test_frame);
	g_test_add_func("/vk_exact/frame-ends", test_frame_ends);
	g_test_add_func("/vk_exact/not-captured", test_not_captured);
	g_test_add_func("/vk_exact/no-source", test_no_source);
	return g_test_run();
}

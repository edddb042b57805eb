/* SPDX-License-Identifier: MIT */
/* What is submitted with which slice of a batch that is cut. */
#include "vk_layer/exact/slices.h"

#include <glib.h>

#define BUFFER(n) ((VkCommandBuffer)(uintptr_t)(0x10 + (n)))
#define SEMAPHORE(n) ((VkSemaphore)(uintptr_t)(0x100 + (n)))

static const VkCommandBuffer buffers[] = { BUFFER(0), BUFFER(1), BUFFER(2) };
static const VkSemaphore waits[] = { SEMAPHORE(0), SEMAPHORE(1) };
static const VkSemaphore signals[] = { SEMAPHORE(2) };
static const VkPipelineStageFlags stages[] = { 1, 2 };

static const VkSubmitInfo plain = {
	.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
	.waitSemaphoreCount = 2,
	.pWaitSemaphores = waits,
	.pWaitDstStageMask = stages,
	.commandBufferCount = 3,
	.pCommandBuffers = buffers,
	.signalSemaphoreCount = 1,
	.pSignalSemaphores = signals,
};

static const struct vk_slice only_waits = { .waits = true };
static const struct vk_slice middle = { .first = 1, .n = 1 };
static const struct vk_slice last = { .first = 2, .n = 1, .signals = true, .last = true };

static void
build(const VkSubmitInfo *info, const struct vk_slice *slice, struct vk_slice_info *out)
{
	const struct vk_batches b = { .n = 1, .one = info };
	vk_slice_build(&b, slice, out);
	g_assert_cmpuint(out->batches.n, ==, 1);
	g_assert_true(out->batches.one == &out->one && !out->batches.two);
}

static const void *
find(const void *chain, int type)
{
	const VkBaseInStructure *s = chain;
	while (s && (int)s->sType != type)
		s = s->pNext;
	return s;
}

static void
test_plain(void)
{
	struct vk_slice_info out;
	build(&plain, &only_waits, &out);
	g_assert_cmpuint(out.one.waitSemaphoreCount, ==, 2);
	g_assert_true(out.one.pWaitSemaphores == waits && out.one.pWaitDstStageMask == stages);
	g_assert_cmpuint(out.one.commandBufferCount + out.one.signalSemaphoreCount, ==, 0);
	build(&plain, &middle, &out);
	g_assert_cmpuint(out.one.waitSemaphoreCount + out.one.signalSemaphoreCount, ==, 0);
	g_assert_cmpuint(out.one.commandBufferCount, ==, 1);
	g_assert_true(out.one.pCommandBuffers[0] == BUFFER(1));
	build(&plain, &last, &out);
	g_assert_cmpuint(out.one.waitSemaphoreCount, ==, 0);
	g_assert_cmpuint(out.one.signalSemaphoreCount, ==, 1);
	g_assert_true(out.one.pSignalSemaphores == signals);
	g_assert_true(out.one.pCommandBuffers[0] == BUFFER(2));
	g_assert_null(out.one.pNext);
}

/* Counts must match those of the slice (VUID-VkSubmitInfo-pNext-03240 and 03241). */
static void
test_timeline(void)
{
	static const uint64_t wait_values[] = { 1, 2 }, signal_values[] = { 3 };
	const VkTimelineSemaphoreSubmitInfo timeline = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.waitSemaphoreValueCount = 2,
		.pWaitSemaphoreValues = wait_values,
		.signalSemaphoreValueCount = 1,
		.pSignalSemaphoreValues = signal_values,
	};
	VkSubmitInfo info = plain;
	info.pNext = &timeline;
	static const struct vk_slice *const slices[] = { &only_waits, &middle, &last };
	for (size_t i = 0; i < G_N_ELEMENTS(slices); i++) {
		struct vk_slice_info out;
		build(&info, slices[i], &out);
		const VkTimelineSemaphoreSubmitInfo *t = find(out.one.pNext, timeline.sType);
		g_assert_true(t && t != &timeline);
		g_assert_cmpuint(t->waitSemaphoreValueCount, ==, out.one.waitSemaphoreCount);
		g_assert_cmpuint(t->signalSemaphoreValueCount, ==, out.one.signalSemaphoreCount);
		g_assert_true(!t->waitSemaphoreValueCount ||
			      t->pWaitSemaphoreValues == wait_values);
		g_assert_true(!t->signalSemaphoreValueCount ||
			      t->pSignalSemaphoreValues == signal_values);
	}
	g_assert_cmpuint(timeline.waitSemaphoreValueCount, ==, 2); /* the game's, unchanged */
}

static void
test_unknown(void)
{
	const VkBaseInStructure foreign = { .sType = (VkStructureType)1000999000 };
	VkSubmitInfo info = plain;
	const struct vk_batches b = { .n = 1, .one = &info };
	g_assert_true(vk_batch_may_cut(&b, 0));
	info.pNext = &foreign;
	g_assert_false(vk_batch_may_cut(&b, 0));
	VkTimelineSemaphoreSubmitInfo timeline = {
		.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
		.pNext = &foreign,
	};
	info.pNext = &timeline;
	g_assert_false(vk_batch_may_cut(&b, 0));
	timeline.pNext = NULL;
	g_assert_true(vk_batch_may_cut(&b, 0));
	g_assert_true(vk_batch_waits(&b, 0));
	info.waitSemaphoreCount = 0;
	g_assert_false(vk_batch_waits(&b, 0));
}

static void
test_two(void)
{
	const VkSemaphoreSubmitInfo wait = { .semaphore = SEMAPHORE(0), .value = 3 };
	const VkSemaphoreSubmitInfo signal = { .semaphore = SEMAPHORE(1), .value = 4 };
	const VkCommandBufferSubmitInfo infos[] = {
		{ .commandBuffer = BUFFER(0), .deviceMask = 1 },
		{ .commandBuffer = BUFFER(1), .deviceMask = 2 },
		{ .commandBuffer = BUFFER(2), .deviceMask = 3 },
	};
	const VkSubmitInfo2 info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
		.flags = VK_SUBMIT_PROTECTED_BIT,
		.waitSemaphoreInfoCount = 1,
		.pWaitSemaphoreInfos = &wait,
		.commandBufferInfoCount = 3,
		.pCommandBufferInfos = infos,
		.signalSemaphoreInfoCount = 1,
		.pSignalSemaphoreInfos = &signal,
	};
	const struct vk_batches b = { .n = 1, .two = &info };
	struct vk_slice_info out;
	vk_slice_build(&b, &only_waits, &out);
	g_assert_true(out.batches.two == &out.two && !out.batches.one);
	g_assert_cmpuint(out.two.flags, ==, VK_SUBMIT_PROTECTED_BIT);
	g_assert_cmpuint(out.two.waitSemaphoreInfoCount, ==, 1);
	g_assert_cmpuint(
		out.two.commandBufferInfoCount + out.two.signalSemaphoreInfoCount, ==, 0);
	vk_slice_build(&b, &last, &out);
	g_assert_cmpuint(out.two.waitSemaphoreInfoCount, ==, 0);
	g_assert_cmpuint(out.two.commandBufferInfoCount, ==, 1);
	g_assert_cmpuint(out.two.pCommandBufferInfos[0].deviceMask, ==, 3);
	g_assert_true(out.two.pSignalSemaphoreInfos == &signal);
	g_assert_true(vk_batch_may_cut(&b, 0) && vk_batch_waits(&b, 0));
}

int
main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vk_slices/plain", test_plain);
	g_test_add_func("/vk_slices/timeline", test_timeline);
	g_test_add_func("/vk_slices/unknown", test_unknown);
	g_test_add_func("/vk_slices/two", test_two);
	return g_test_run();
}

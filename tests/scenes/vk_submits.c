/* SPDX-License-Identifier: MIT */
/* tests/scenes/vk_submits.c - batches, what is used again at once, threads, and what Direct3D
 * programs do. */
#include "scenes/vk/scenes.h"
#include "tests/scenes/vk_stage.h"

#include <pthread.h>

static VkCommandBuffer kept;
static VkSemaphore timeline;
static VkCommandPool pools[2];
static VkQueryPool queries;
static struct vk_buffer staging, uploaded;

/* ---- simultaneous_single: one pass in the batch: the batch's time is the pass's ---- */

static void
simultaneous_single_init(struct vk_stage *s)
{
	kept = vk_record(s, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT, 0.4F, false);
}

static void
simultaneous_single_frame(struct vk_stage *s, unsigned number)
{
	vk_submit(s, 1, &kept, s->fence);
	vk_wait(s);
}

static const struct expect_pass simultaneous_single_passes[] = {
	{ .kind = "render",
	  CLEARED,
	  .draws = 1,
	  .vertices = 3,
	  .instances = 1,
	  .flags = "approximate simultaneous",
	  .unsure = EXPECT_NO_COUNTERS | EXPECT_ANY_WORKLOADS },
};

/* ---- batches: two batches of two command buffers in one call ---- */

static void
batches_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands[4];
	for (int i = 0; i < 4; i++)
		commands[i] = vk_record(s, 0, 0.1F * (float)number, i == 3);
	VkSubmitInfo infos[2] = {
		{ .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		  .commandBufferCount = 2,
		  .pCommandBuffers = commands },
		{ .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		  .commandBufferCount = 2,
		  .pCommandBuffers = commands + 2 },
	};
	vk_check(vkQueueSubmit(s->queue, 2, infos, s->fence), "vkQueueSubmit");
	vk_end_frame(s, 4, commands);
}

static const struct expect_pass batches_passes[] = {
	{ SCREEN_PASS(3, 1) },
	{ SCREEN_PASS(3, 1) },
	{ SCREEN_PASS(3, 1) },
	{ SCREEN_PASS(3, 1) },
	COPY_OUT,
};

/* ---- empty: no batch, which is not a submission; a batch without command buffers; one with an
 * empty command buffer and another ---- */

static void
empty_frame(struct vk_stage *s, unsigned number)
{
	VkSubmitInfo nothing = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO };
	vk_check(vkQueueSubmit(s->queue, 0, NULL, s->fence), "vkQueueSubmit");
	vk_wait(s);
	vk_check(vkQueueSubmit(s->queue, 1, &nothing, VK_NULL_HANDLE), "vkQueueSubmit");
	VkCommandBuffer commands[2] = { vk_begin(s, 0), VK_NULL_HANDLE };
	vk_end(commands[0]);
	commands[1] = vk_record(s, 0, 0.1F * (float)number, true);
	vk_submit(s, 2, commands, s->fence);
	vk_end_frame(s, 2, commands);
}

static const struct expect_pass empty_passes[] = {
	{ SCREEN_PASS(3, 1), .submission = 1 },
	{ .kind = "transfer", .copies = 1, .submission = 1 },
};

/* ---- submit2 ---- */

static void
submit2_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_record(s, 0, 0.1F * (float)number, true);
	VkCommandBufferSubmitInfo one = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
		.commandBuffer = commands,
	};
	VkSubmitInfo2 info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
		.commandBufferInfoCount = 1,
		.pCommandBufferInfos = &one,
	};
	vk_check(vkQueueSubmit2(s->queue, 1, &info, s->fence), "vkQueueSubmit2");
	vk_end_frame(s, 1, &commands);
}

/* ---- reuse_unread: reset and recorded again as soon as it has run ---- */

static void
kept_init(struct vk_stage *s)
{
	kept = vk_record(s, 0, 0.4F, true);
}

static void
run_again(struct vk_stage *s, float red)
{
	VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO
	};
	vk_check(vkBeginCommandBuffer(kept, &begin), "vkBeginCommandBuffer");
	vk_screen_pass(s, kept, &screen, red, 3, 1);
	vk_copy_out(kept, &screen.picture, &screen.out);
	vk_end(kept);
	vk_submit(s, 1, &kept, s->fence);
	vk_poll(s);
	vk_read(s, &screen.out);
}

static void
reuse_unread_frame(struct vk_stage *s, unsigned number)
{
	if (number % 2)
		vk_check(vkResetCommandBuffer(kept, 0), "vkResetCommandBuffer");
	run_again(s, 0.1F * (float)number);
}

/* ---- pool_reset_unread: the same by its whole pool; free_unread: freed, with its pool ---- */

static void
pool_reset_unread_frame(struct vk_stage *s, unsigned number)
{
	vk_check(vkResetCommandPool(s->device, s->pool, 0), "vkResetCommandPool");
	run_again(s, 0.1F * (float)number);
}

static void
free_unread_frame(struct vk_stage *s, unsigned number)
{
	VkCommandPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
	};
	VkCommandPool own = s->pool, brief;
	vk_check(vkCreateCommandPool(s->device, &info, NULL, &brief),
		 "vkCreateCommandPool");
	s->pool = brief;
	VkCommandBuffer commands[2] = { vk_record(s, 0, 0.1F * (float)number, false),
					VK_NULL_HANDLE };
	commands[1] = vk_record(s, 0, 0.1F * (float)number, true);
	vk_submit(s, 2, commands, s->fence);
	vk_poll(s);
	vkFreeCommandBuffers(s->device, brief, 1, commands);
	vkDestroyCommandPool(s->device, brief, NULL);
	s->pool = own;
	vk_read(s, &screen.out);
}

static const struct expect_pass free_unread_passes[] = {
	{ SCREEN_PASS(3, 1) },
	{ SCREEN_PASS(3, 1) },
	COPY_OUT,
};

/* ---- threads: two record at the same time, each from its own pool ---- */

struct job {
	pthread_t thread;
	struct vk_stage view; /* the stage with the thread's own pool */
	VkCommandBuffer commands;
	uint32_t vertices;
};

static void
threads_init(struct vk_stage *s)
{
	VkCommandPoolCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO
	};
	for (int i = 0; i < 2; i++) {
		VK_STAGE_MAKE(s, CommandPool, &info, &pools[i]);
	}
}

static void *
record_in_thread(void *data)
{
	struct job *job = data;
	job->commands = vk_begin(&job->view, 0);
	for (int i = 0; i < 8; i++)
		vk_screen_pass(&job->view, job->commands, &screen, 0.05F * (float)i,
			       job->vertices, 1);
	vk_end(job->commands);
	return NULL;
}

static void
threads_frame(struct vk_stage *s, unsigned number)
{
	static struct job jobs[2];
	for (uint32_t i = 0; i < 2; i++) {
		jobs[i].view = *s;
		jobs[i].view.pool = pools[i];
		jobs[i].vertices = 3 * (i + 1);
		if (pthread_create(&jobs[i].thread, NULL, record_in_thread, &jobs[i]) !=
		    0)
			vk_check(VK_ERROR_UNKNOWN, "pthread_create");
	}
	for (int i = 0; i < 2; i++)
		pthread_join(jobs[i].thread, NULL);
	VkCommandBuffer commands[3] = { jobs[0].commands, jobs[1].commands,
					vk_record(s, 0, 0.1F * (float)number, true) };
	vk_submit(s, 3, commands, s->fence);
	vk_end_frame(s, 1, &commands[2]);
	for (uint32_t i = 0; i < 2; i++)
		vkFreeCommandBuffers(s->device, pools[i], 1, &commands[i]);
}

#define ONE(n) \
	{ \
		SCREEN_PASS(n, 1) \
	}
#define FOUR(n) ONE(n), ONE(n), ONE(n), ONE(n)
static const struct expect_pass threads_passes[] = {
	FOUR(3), FOUR(3), FOUR(6), FOUR(6), { SCREEN_PASS(3, 1) }, COPY_OUT,
};

/* ---- idle: the frame ends where the program waits for the device (frame=idle) ---- */

static void
idle_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_record(s, 0, 0.1F * (float)number, true);
	vk_submit(s, 1, &commands, VK_NULL_HANDLE);
	vk_check(number % 2 ? vkDeviceWaitIdle(s->device) : vkQueueWaitIdle(s->queue),
		 "waiting for the queue");
	vk_free(s, commands);
	vk_read(s, &screen.out);
}

/* ---- translated: as Direct3D programs call through DXVK. A thread submits, another waits; the
 * feature for statistics is on, and one pass uses it ---- */

static const VkPhysicalDeviceFeatures counting = { .pipelineStatisticsQuery = VK_TRUE };

static void
translated_init(struct vk_stage *s)
{
	timeline = vk_make_semaphore(s, VK_SEMAPHORE_TYPE_TIMELINE);
	staging = vk_make_buffer(s, 256);
	uploaded = vk_make_buffer(s, 256);
	queries = vk_make_queries(
		s, VK_QUERY_TYPE_PIPELINE_STATISTICS, 1,
		VK_QUERY_PIPELINE_STATISTIC_FRAGMENT_SHADER_INVOCATIONS_BIT);
}

struct batch {
	struct vk_stage *s;
	VkCommandBuffer
		commands[2]; /* in a submission each; the second waits for the first */
	uint64_t value;
};

static void *
submit_in_thread(void *data)
{
	const struct batch *batch = data;
	for (uint32_t i = 0; i < 2; i++) {
		VkCommandBufferSubmitInfo one = {
			.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
			.commandBuffer = batch->commands[i],
		};
		VkSemaphoreSubmitInfo points[2] = { { .value = batch->value + i - 1 },
						    { .value = batch->value + i } };
		for (uint32_t k = 0; k < 2; k++) {
			points[k].sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
			points[k].semaphore = timeline;
			points[k].stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
		}
		VkSubmitInfo2 info = {
			.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
			.waitSemaphoreInfoCount = i,
			.pWaitSemaphoreInfos = &points[0],
			.commandBufferInfoCount = 1,
			.pCommandBufferInfos = &one,
			.signalSemaphoreInfoCount = 1,
			.pSignalSemaphoreInfos = &points[1],
		};
		vk_check(vkQueueSubmit2(batch->s->queue, 1, &info, VK_NULL_HANDLE),
			 "vkQueueSubmit2");
	}
	return NULL;
}

static void *
wait_in_thread(void *data)
{
	const struct batch *batch = data;
	uint64_t last = batch->value + 1;
	VkSemaphoreWaitInfo wait = {
		.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
		.semaphoreCount = 1,
		.pSemaphores = &timeline,
		.pValues = &last,
	};
	vk_check(vkWaitSemaphores(batch->s->device, &wait, UINT64_C(60000000000)),
		 "vkWaitSemaphores");
	return NULL;
}

static void
record_translated(struct vk_stage *s, VkCommandBuffer commands, VkCommandBuffer secondary,
		  float red)
{
	vkCmdResetQueryPool(commands, queries, 0, 1);
	vk_screen_pass(s, commands, &screen, red, 3, 1);
	vk_begin_screen(commands, &screen);
	vk_draw(s, commands, screen.pipeline, red, 3, 1);
	vkCmdBeginQuery(commands, queries, 0, 0);
	vk_draw(s, commands, screen.pipeline, 0.5F, 6, 1);
	vkCmdEndQuery(commands, queries, 0);
	vkCmdEndRenderPass(commands);
	vk_begin_pass(commands, screen.pass, screen.framebuffer, VK_STAGE_WIDTH,
		      VK_STAGE_HEIGHT, VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
	vkCmdExecuteCommands(commands, 1, &secondary);
	vkCmdEndRenderPass(commands);
	vk_copy_out(commands, &screen.picture, &screen.out);
	vk_end(commands);
}

static void
translated_frame(struct vk_stage *s, unsigned number)
{
	VkBufferCopy all = { .size = 256 };
	struct batch batch = { .s = s, .value = 2 * (uint64_t)number + 1 };
	batch.commands[0] = vk_begin(s, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
	vkCmdCopyBuffer(batch.commands[0], staging.handle, uploaded.handle, 1, &all);
	vk_end(batch.commands[0]);
	VkCommandBuffer inner = vk_begin_secondary(s, screen.pass, NULL, 0);
	vk_draw(s, inner, screen.pipeline, 0.3F, 9, 1);
	vk_end(inner);
	batch.commands[1] = vk_begin(s, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
	record_translated(s, batch.commands[1], inner, 0.1F * (float)number);
	pthread_t threads[2];
	if (pthread_create(&threads[0], NULL, wait_in_thread, &batch) != 0 ||
	    pthread_create(&threads[1], NULL, submit_in_thread, &batch) != 0)
		vk_check(VK_ERROR_UNKNOWN, "pthread_create");
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2; i++)
		vk_free(s, batch.commands[i]);
	vk_free(s, inner);
	vk_read(s, &screen.out);
	uint64_t fragments = 0;
	vk_check(vkGetQueryPoolResults(s->device, queries, 0, 1, sizeof(fragments),
				       &fragments, sizeof(fragments),
				       VK_QUERY_RESULT_64_BIT),
		 "vkGetQueryPoolResults");
	s->checksum += fragments;
}

static const struct expect_pass translated_passes[] = {
	{ .kind = "transfer", .copies = 1 },
	{ SCREEN_PASS(3, 1), .submission = 1 },
	{ .kind = "render",
	  CLEARED,
	  .draws = 2,
	  .vertices = 9,
	  .instances = 2,
	  .submission = 1,
	  .flags = "yielded",
	  .unsure = EXPECT_NO_COUNTERS },
	{ COVERED(1, 9, 1), CLEARED, .submission = 1, .unsure = EXPECT_ANY_WORKLOADS },
	{ .kind = "transfer", .copies = 1, .submission = 1 },
};

#define BY(n) .boundary = "submit:" #n, .submissions = (n)

const struct vk_scene vk_more_submit_scenes[] = {
	SCENE(simultaneous_single, simultaneous_single_init),
	SCENE(batches, NULL),
	SCENE(empty, NULL, BY(2)),
	SCENE_AS(submit2, submit2_frame, vk_plain_passes, NULL),
	SCENE_AS(reuse_unread, reuse_unread_frame, vk_plain_passes, kept_init),
	SCENE_AS(pool_reset_unread, pool_reset_unread_frame, vk_plain_passes, kept_init),
	SCENE(free_unread, NULL),
	SCENE(threads, threads_init),
	SCENE(translated, translated_init, BY(2), .wish = { .features = &counting }),
	SCENE_AS(idle, idle_frame, vk_plain_passes, NULL, .boundary = "idle"),
	{ 0 },
};

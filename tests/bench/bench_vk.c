/* SPDX-License-Identifier: MIT */
/* What one Vulkan program pays: frames of N render passes with M draws each, recorded again for
 * every frame and submitted, timed by the recording thread's own clock.
 *
 * The same program runs bare, with the layer loaded but off, and capturing; run_vk.py compares.
 * The driver is the do-nothing one of tests/fake_vk (VK_ICD_FILENAMES names it); a pipeline that
 * is bound is none, so one that draws for real would crash. Each thread has its own command pool
 * and buffers and submits what it recorded to the one queue. One line of JSON goes to stdout.
 * With --reuse the buffers are recorded once and submitted every frame. --pipelines: that many are
 * created before the first frame, and destroyed, each of two modules of 2 KiB.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <vulkan/vulkan.h>

#include "bench.h"

#define MAX_THREADS 64
#define RING 3
#define NO_PIPELINE(i) ((VkPipeline)(uintptr_t)(1 + (i) % 2)) /* two that the layer does not know */

struct options {
	unsigned passes, binds, draws, frames, warm_up, threads, submits, pause_us, pipelines;
	bool reuse;
};

struct scene {
	VkDevice device;
	VkQueue queue;
	VkRenderPass pass;
	VkFramebuffer framebuffer;
	pthread_mutex_t submitting;
	PFN_vkCmdBeginRenderPass begin_pass;
	PFN_vkCmdEndRenderPass end_pass;
	PFN_vkCmdBindPipeline bind;
	PFN_vkCmdDraw draw;
};

struct worker {
	const struct options *options;
	struct scene *scene;
	pthread_t thread;
	VkCommandPool pool;
	VkCommandBuffer *buffers; /* RING times options->submits */
	VkFence fences[RING];
	uint64_t *frame_ns;
	uint64_t thread_ns;
};

static void
check(VkResult result, const char *what)
{
	if (result == VK_SUCCESS)
		return;
	fprintf(stderr, "bench_vk: %s answered %d\n", what, (int)result);
	exit(1);
}

static VkDevice
make_device(VkQueue *queue)
{
	VkApplicationInfo app = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
				  .apiVersion = VK_API_VERSION_1_2 };
	VkInstanceCreateInfo instance_info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
					       .pApplicationInfo = &app };
	VkInstance instance;
	check(vkCreateInstance(&instance_info, NULL, &instance), "vkCreateInstance");
	uint32_t n = 1;
	VkPhysicalDevice physical;
	VkResult result = vkEnumeratePhysicalDevices(instance, &n, &physical);
	if (n == 0 || (result != VK_SUCCESS && result != VK_INCOMPLETE)) {
		fprintf(stderr, "bench_vk: no Vulkan device: set VK_ICD_FILENAMES\n");
		exit(1);
	}
	float priority = 1;
	VkDeviceQueueCreateInfo queue_info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueCount = 1,
		.pQueuePriorities = &priority
	};
	VkDeviceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
				    .queueCreateInfoCount = 1,
				    .pQueueCreateInfos = &queue_info };
	VkDevice device;
	check(vkCreateDevice(physical, &info, NULL, &device), "vkCreateDevice");
	vkGetDeviceQueue(device, 0, 0, queue);
	return device;
}

/* A framebuffer without attachments: there is nothing in it that could slow a driver down. */
static void
make_scene(struct scene *s)
{
	s->device = make_device(&s->queue);
	pthread_mutex_init(&s->submitting, NULL);
	VkSubpassDescription subpass = { .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS };
	VkRenderPassCreateInfo pass = { .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
					.subpassCount = 1,
					.pSubpasses = &subpass };
	check(vkCreateRenderPass(s->device, &pass, NULL, &s->pass), "vkCreateRenderPass");
	VkFramebufferCreateInfo framebuffer = {
		.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
		.renderPass = s->pass,
		.width = 64,
		.height = 64,
		.layers = 1
	};
	check(vkCreateFramebuffer(s->device, &framebuffer, NULL, &s->framebuffer),
	      "vkCreateFramebuffer");
	/* As games do, not through the loader's trampoline. */
	s->begin_pass = (PFN_vkCmdBeginRenderPass)vkGetDeviceProcAddr(s->device,
								      "vkCmdBeginRenderPass");
	s->end_pass = (PFN_vkCmdEndRenderPass)vkGetDeviceProcAddr(s->device,
								  "vkCmdEndRenderPass");
	s->bind = (PFN_vkCmdBindPipeline)vkGetDeviceProcAddr(s->device, "vkCmdBindPipeline");
	s->draw = (PFN_vkCmdDraw)vkGetDeviceProcAddr(s->device, "vkCmdDraw");
}

static void
prepare(struct worker *w)
{
	VkDevice device = w->scene->device;
	VkCommandPoolCreateInfo pool = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT
	};
	check(vkCreateCommandPool(device, &pool, NULL, &w->pool), "vkCreateCommandPool");
	uint32_t n = RING * w->options->submits;
	w->buffers = calloc(n, sizeof(VkCommandBuffer));
	if (!w->buffers)
		exit(1);
	VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = w->pool,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = n,
	};
	check(vkAllocateCommandBuffers(device, &info, w->buffers), "vkAllocateCommandBuffers");
	VkFenceCreateInfo fence = { .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
				    .flags = VK_FENCE_CREATE_SIGNALED_BIT };
	for (int i = 0; i < RING; i++)
		check(vkCreateFence(device, &fence, NULL, &w->fences[i]), "vkCreateFence");
}

static void
create_pipelines(const struct scene *s, unsigned n)
{
	uint32_t code[512] = { 0x07230203, 0x00010000, 0, 8, 0 };
	for (unsigned i = 5; i < 512; i++)
		code[i] = 1u << 16; /* OpNop */
	VkPipelineShaderStageCreateInfo stages[2] = {
		{ .stage = VK_SHADER_STAGE_VERTEX_BIT },
		{ .stage = VK_SHADER_STAGE_FRAGMENT_BIT },
	};
	VkGraphicsPipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
		.stageCount = 2,
		.pStages = stages,
		.renderPass = s->pass,
	};
	VkShaderModuleCreateInfo module = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
		.codeSize = sizeof(code),
		.pCode = code,
	};
	for (unsigned i = 0; i < n; i++) {
		VkPipeline pipeline;
		for (unsigned k = 0; k < 2; k++) {
			code[511] = i << 16; /* each is another pipeline */
			stages[k].sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
			stages[k].pName = "main";
			check(vkCreateShaderModule(s->device, &module, NULL, &stages[k].module),
			      "vkCreateShaderModule");
		}
		check(vkCreateGraphicsPipelines(s->device, VK_NULL_HANDLE, 1, &info, NULL,
						&pipeline),
		      "vkCreateGraphicsPipelines");
		vkDestroyPipeline(s->device, pipeline, NULL);
		for (unsigned k = 0; k < 2; k++)
			vkDestroyShaderModule(s->device, stages[k].module, NULL);
	}
}

static void
record(struct worker *w, VkCommandBuffer buffer, bool once)
{
	struct scene *s = w->scene;
	VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = once ? VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT : 0,
	};
	VkRenderPassBeginInfo pass = { .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
				       .renderPass = s->pass,
				       .framebuffer = s->framebuffer,
				       .renderArea = { .extent = { 64, 64 } } };
	check(vkBeginCommandBuffer(buffer, &begin), "vkBeginCommandBuffer");
	for (unsigned i = 0; i < w->options->passes; i++) {
		s->begin_pass(buffer, &pass, VK_SUBPASS_CONTENTS_INLINE);
		for (unsigned j = 0; j < w->options->binds; j++)
			s->bind(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, NO_PIPELINE(j));
		for (unsigned j = 0; j < w->options->draws; j++)
			s->draw(buffer, 3, 1, 0, 0);
		s->end_pass(buffer);
	}
	check(vkEndCommandBuffer(buffer), "vkEndCommandBuffer");
}

static void
submit(struct worker *w, const VkCommandBuffer *buffers, VkFence fence)
{
	struct scene *s = w->scene;
	VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1 };
	pthread_mutex_lock(&s->submitting);
	for (unsigned i = 0; i < w->options->submits; i++) {
		info.pCommandBuffers = &buffers[i];
		bool last = i + 1 == w->options->submits;
		check(vkQueueSubmit(s->queue, 1, &info, last ? fence : VK_NULL_HANDLE),
		      "vkQueueSubmit");
	}
	pthread_mutex_unlock(&s->submitting);
}

static void
frame(struct worker *w, unsigned number)
{
	VkDevice device = w->scene->device;
	VkFence fence = w->fences[number % RING];
	VkCommandBuffer *buffers = w->buffers + (size_t)(number % RING) * w->options->submits;
	check(vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
	check(vkResetFences(device, 1, &fence), "vkResetFences");
	bool again = w->options->reuse && number >= RING;
	for (unsigned i = 0; i < w->options->submits && !again; i++)
		record(w, buffers[i], !w->options->reuse);
	submit(w, buffers, fence);
}

static void *
work(void *data)
{
	struct worker *w = data;
	const struct options *o = w->options;
	uint64_t start_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned i = 0; i < o->warm_up + o->frames; i++) {
		uint64_t begin_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		frame(w, i);
		if (i >= o->warm_up)
			w->frame_ns[i - o->warm_up] =
				bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
		if (o->pause_us)
			usleep(o->pause_us);
	}
	w->thread_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
	return NULL;
}

static struct options
parse_options(int argc, char **argv)
{
	struct options o = {
		.passes = 10, .draws = 1000, .frames = 200, .warm_up = 20,
		.threads = 1, .submits = 1,
	};
	const struct {
		const char *name;
		unsigned *value, min, max;
	} known[] = {
		{ "--passes", &o.passes, 0, 1000000 },
		{ "--binds", &o.binds, 0, 100000000 },
		{ "--draws", &o.draws, 0, 100000000 },
		{ "--frames", &o.frames, 1, 1000000 },
		{ "--warm-up", &o.warm_up, 0, 1000000 },
		{ "--threads", &o.threads, 1, MAX_THREADS },
		{ "--submits", &o.submits, 1, 10000 },
		{ "--pause-us", &o.pause_us, 0, 999999 },
		{ "--pipelines", &o.pipelines, 0, 1000000 },
	};
	for (int i = 1; i < argc; i++) {
		bool found = strcmp(argv[i], "--reuse") == 0;
		o.reuse |= found;
		size_t n = i + 1 < argc ? sizeof(known) / sizeof(known[0]) : 0;
		for (size_t k = 0; k < n && !found; k++)
			if (strcmp(argv[i], known[k].name) == 0) {
				*known[k].value =
					bench_number("bench_vk", argv[i], argv[i + 1],
						     known[k].min, known[k].max);
				found = true;
				i++;
			}
		if (!found) {
			fprintf(stderr,
				"usage: bench_vk [--passes N] [--binds N] [--draws N] [--frames N] "
				"[--warm-up N] [--threads N] [--submits N] [--pause-us "
				"N] [--pipelines N] "
				"[--reuse]\n");
			exit(2);
		}
	}
	return o;
}

static void
run(struct worker *workers, unsigned n)
{
	if (n == 1) {
		work(&workers[0]);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
			fprintf(stderr, "bench_vk: cannot start thread %u\n", i);
			exit(1);
		}
	for (unsigned i = 0; i < n; i++)
		pthread_join(workers[i].thread, NULL);
}

int
main(int argc, char **argv)
{
	struct options o = parse_options(argc, argv);
	static struct scene scene;
	static struct worker workers[MAX_THREADS];
	make_scene(&scene);
	create_pipelines(&scene, o.pipelines);
	size_t n = (size_t)o.frames * o.threads;
	uint64_t *frame_ns = calloc(n, sizeof(*frame_ns));
	if (!frame_ns)
		return 1;
	for (unsigned i = 0; i < o.threads; i++) {
		workers[i] = (struct worker){ .options = &o,
					      .scene = &scene,
					      .frame_ns = frame_ns + (size_t)i * o.frames };
		prepare(&workers[i]);
	}
	uint64_t begin_ns = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t wall_ns = bench_clock_ns(CLOCK_MONOTONIC);
	run(workers, o.threads);
	wall_ns = bench_clock_ns(CLOCK_MONOTONIC) - wall_ns;
	uint64_t others_ns = bench_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
	for (unsigned i = 0; i < o.threads; i++)
		others_ns -= workers[i].thread_ns;
	qsort(frame_ns, n, sizeof(*frame_ns), bench_compare_u64);
	printf("{\"frame_ns\": %" PRIu64 ", \"frame_ns_low\": %" PRIu64
	       ", \"others_ns\": %" PRIu64 ", \"wall_ns\": %" PRIu64
	       ", \"peak_kib\": %ld}\n",
	       frame_ns[n / 2], frame_ns[n / 10], others_ns, wall_ns, bench_peak_kib());
	vkDeviceWaitIdle(scene.device);
	vkDestroyDevice(scene.device, NULL);
	free(frame_ns);
	return 0;
}

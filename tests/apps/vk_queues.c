/* SPDX-License-Identifier: MIT */
/* vk_queues.c - frames of dispatches on two queues, with time stamps of the program's own.
 *
 *   vk_queues FRAMES WORK0 WORK1 GAP_US
 *
 * A frame is a submission of WORK0 dispatches to family 0, GAP_US later one of WORK1 to family
 * 1. At the end it prints, for all frames but the first, in ns: how long each queue worked, any
 * of them, both. Made for tests/fake_vk, which runs no shader.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <vulkan/vulkan.h>

#define MUST(call) \
	do { \
		if ((call) != VK_SUCCESS) { \
			fputs(#call " failed\n", stderr); \
			exit(1); \
		} \
	} while (0)

struct queue {
	VkQueue queue;
	VkCommandBuffer commands;
	VkQueryPool stamps;
	VkFence fence;
	uint64_t at[2], busy;
};

static VkDevice device;

static void
open_device(void)
{
	VkInstance instance;
	VkPhysicalDevice physical;
	uint32_t one = 1;
	float priority = 1;
	const VkApplicationInfo app = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
					.apiVersion = VK_API_VERSION_1_3 };
	MUST(vkCreateInstance(
		&(VkInstanceCreateInfo){ .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
					 .pApplicationInfo = &app },
		NULL, &instance));
	MUST(vkEnumeratePhysicalDevices(instance, &one, &physical));
	VkDeviceQueueCreateInfo queues[2];
	for (uint32_t i = 0; i < 2; i++)
		queues[i] = (VkDeviceQueueCreateInfo){
			.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
			.queueFamilyIndex = i,
			.queueCount = 1,
			.pQueuePriorities = &priority,
		};
	MUST(vkCreateDevice(physical,
			    &(VkDeviceCreateInfo){ .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
						   .queueCreateInfoCount = 2,
						   .pQueueCreateInfos = queues },
			    NULL, &device));
}

static VkPipeline
make_pipeline(VkPipelineLayout *layout)
{
	static const uint32_t code[5] = { 0x07230203, 0x10000, 0, 1, 0 };
	VkShaderModule module;
	VkPipeline pipeline;
	MUST(vkCreateShaderModule(
		device,
		&(VkShaderModuleCreateInfo){ .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
					     .codeSize = sizeof(code),
					     .pCode = code },
		NULL, &module));
	MUST(vkCreatePipelineLayout(
		device,
		&(VkPipelineLayoutCreateInfo){
			.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO },
		NULL, layout));
	const VkComputePipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage = { .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
			   .stage = VK_SHADER_STAGE_COMPUTE_BIT,
			   .module = module,
			   .pName = "main" },
		.layout = *layout,
	};
	MUST(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
	return pipeline;
}

static void
open_queue(struct queue *q, uint32_t family, VkPipeline pipeline, int work)
{
	VkCommandPool pool;
	vkGetDeviceQueue(device, family, 0, &q->queue);
	MUST(vkCreateCommandPool(
		device,
		&(VkCommandPoolCreateInfo){ .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
					    .queueFamilyIndex = family },
		NULL, &pool));
	MUST(vkAllocateCommandBuffers(
		device,
		&(VkCommandBufferAllocateInfo){
			.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
			.commandPool = pool,
			.commandBufferCount = 1 },
		&q->commands));
	MUST(vkCreateQueryPool(
		device,
		&(VkQueryPoolCreateInfo){ .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
					  .queryType = VK_QUERY_TYPE_TIMESTAMP,
					  .queryCount = 2 },
		NULL, &q->stamps));
	MUST(vkCreateFence(device,
			   &(VkFenceCreateInfo){ .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO },
			   NULL, &q->fence));
	MUST(vkBeginCommandBuffer(q->commands,
				  &(VkCommandBufferBeginInfo){
					  .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO }));
	vkCmdResetQueryPool(q->commands, q->stamps, 0, 2);
	vkCmdBindPipeline(q->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
	vkCmdWriteTimestamp(q->commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, q->stamps, 0);
	for (int i = 0; i < work; i++)
		vkCmdDispatch(q->commands, 1, 1, 1);
	vkCmdWriteTimestamp(q->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, q->stamps, 1);
	MUST(vkEndCommandBuffer(q->commands));
}

static void
submit(struct queue *q)
{
	const VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
				    .commandBufferCount = 1,
				    .pCommandBuffers = &q->commands };
	MUST(vkQueueSubmit(q->queue, 1, &info, q->fence));
}

static void
wait_for(struct queue *q)
{
	MUST(vkWaitForFences(device, 1, &q->fence, VK_TRUE, UINT64_MAX));
	MUST(vkResetFences(device, 1, &q->fence));
	MUST(vkGetQueryPoolResults(device, q->stamps, 0, 2, sizeof(q->at), q->at, sizeof(q->at[0]),
				   VK_QUERY_RESULT_64_BIT));
}

int
main(int argc, char **argv)
{
	struct queue q[2] = { { 0 } };
	uint64_t both = 0;
	if (argc != 5)
		return 2;
	open_device();
	VkPipelineLayout layout;
	VkPipeline pipeline = make_pipeline(&layout);
	for (uint32_t i = 0; i < 2; i++)
		open_queue(&q[i], i, pipeline, atoi(argv[2 + i]));
	for (int frame = 0; frame < atoi(argv[1]); frame++) {
		submit(&q[0]);
		usleep((useconds_t)atoi(argv[4]));
		submit(&q[1]);
		for (int i = 0; i < 2; i++) {
			wait_for(&q[i]);
			q[i].busy += frame ? q[i].at[1] - q[i].at[0] : 0;
		}
		uint64_t from = q[0].at[0] > q[1].at[0] ? q[0].at[0] : q[1].at[0];
		uint64_t to = q[0].at[1] < q[1].at[1] ? q[0].at[1] : q[1].at[1];
		both += frame && to > from ? to - from : 0;
		usleep(20000); /* the next frame's work begins when this one's is done */
	}
	printf("%llu %llu %llu %llu\n", (unsigned long long)q[0].busy,
	       (unsigned long long)q[1].busy, (unsigned long long)(q[0].busy + q[1].busy - both),
	       (unsigned long long)both);
	vkDeviceWaitIdle(device);
	vkDestroyDevice(device, NULL);
	return 0;
}

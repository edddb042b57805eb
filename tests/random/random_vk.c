/* SPDX-License-Identifier: MIT */
/* random_vk.c - a random Vulkan program that says what it does.
 *
 *   random_vk SEED [FRAMES]
 *
 * One seed is one program of valid calls: render passes and dynamic rendering, secondaries,
 * dispatches, transfers, queries of its own, recordings that are submitted again and some that are
 * for simultaneous use. A frame ends with vkQueueWaitIdle(). It prints what it can read back, and
 * for each frame the passes that docs/vulkan.md makes of its calls, as random_gl.c describes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/scenes/vk_stage.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
	TARGETS = 3,
	MOST_PASSES = 64,
	KEPT = 4,
	MOST_USED = 64,
	SECONDARIES = 128,
	MOST_TOTAL = 2048,
	QUERIES = 16
};

enum kind { RENDER, COMPUTE, TRANSFER };

struct pass {
	enum kind kind;
	bool indirect, simultaneous, yielded;
	unsigned draws, vertices, instances, clears, copies, dispatches;
};

/* A primary command buffer, and its passes. */
struct recording {
	VkCommandBuffer commands;
	bool simultaneous, used; /* in this frame */
	bool closed; /* the next work begins a pass */
	struct pass passes[MOST_PASSES];
	unsigned n_passes;
};

struct target {
	struct vk_picture picture;
	VkRenderPass pass;
	VkFramebuffer framebuffer;
	VkPipeline pipeline, rendering_pipeline;
};

struct program {
	struct vk_stage stage;
	uint64_t random;
	struct target targets[TARGETS];
	struct vk_buffer words, other, indirect, out;
	struct vk_compute compute;
	VkQueryPool queries, statistics; /* the second: in every other program */
	unsigned n_queries, n_statistics; /* used in this frame */
	struct recording kept[KEPT], once[MOST_USED];
	VkCommandBuffer secondaries[SECONDARIES];
	unsigned n_kept, n_once, n_secondaries;
	unsigned n_kept_secondaries; /* of the kept recordings, first in the array */
	struct pass total[MOST_TOTAL];
	unsigned n_total;
};

static unsigned
pick(struct program *p, unsigned n)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return (unsigned)((p->random >> 11) % n);
}

static struct pass *
work(struct recording *r, enum kind kind)
{
	struct pass *last = r->n_passes ? &r->passes[r->n_passes - 1] : NULL;
	if (last && !r->closed && last->kind == kind && kind != RENDER)
		return last;
	r->closed = false;
	last = &r->passes[r->n_passes++];
	*last = (struct pass){ .kind = kind, .simultaneous = r->simultaneous };
	return last;
}

/* ---- inside a render pass ---- */

static void
draw(struct program *p, VkCommandBuffer commands, const struct target *t, VkPipeline pipeline,
     struct pass *pass)
{
	unsigned vertices = 3 * (1 + pick(p, 8)), instances = 1 + pick(p, 3);
	vk_prepare_draw(&p->stage, commands, pipeline, 0.01F * (float)pick(p, 100),
			t->picture.width, t->picture.height);
	if (pick(p, 8) == 0) {
		vkCmdDrawIndirect(commands, p->indirect.handle, 0, 1, 16);
		pass->indirect = true;
		pass->draws++;
		return;
	}
	vkCmdDraw(commands, vertices, instances, 0, 0);
	pass->draws++;
	pass->vertices += vertices * instances;
	pass->instances += instances;
}

static void
clear_attachment(struct program *p, VkCommandBuffer commands, const struct target *t,
		 struct pass *pass)
{
	VkClearAttachment clear = { .aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
				    .clearValue.color.float32 = { 0.1F * (float)pick(p, 10) } };
	VkClearRect rect = { .rect.extent = { t->picture.width / 2, t->picture.height },
			     .layerCount = 1 };
	vkCmdClearAttachments(commands, 1, &clear, 1, &rect);
	pass->clears++;
}

/* A draw inside a statistics query of the program's own, after another: lavapipe may crash where it
 * begins before a pipeline is bound. */
static void
draw_in_query(struct program *p, VkCommandBuffer commands, const struct target *t,
	      VkPipeline pipeline, struct pass *pass)
{
	draw(p, commands, t, pipeline, pass);
	vkCmdBeginQuery(commands, p->statistics, p->n_statistics, 0);
	draw(p, commands, t, pipeline, pass);
	vkCmdEndQuery(commands, p->statistics, p->n_statistics++);
	pass->yielded = true;
}

static void
fill_pass(struct program *p, VkCommandBuffer commands, const struct target *t, VkPipeline pipeline,
	  struct pass *pass)
{
	if (p->statistics && !pass->simultaneous && p->n_statistics < QUERIES && pick(p, 4) == 0)
		draw_in_query(p, commands, t, pipeline, pass);
	for (unsigned n = pick(p, 5); n > 0; n--) {
		if (pick(p, 6) == 0)
			clear_attachment(p, commands, t, pass);
		else
			draw(p, commands, t, pipeline, pass);
	}
}

/* The draws of a pass in one or two secondaries. */
static void
execute_secondaries(struct program *p, struct recording *r, const struct target *t,
		    struct pass *pass)
{
	VkCommandBuffer made[2];
	unsigned n = 1 + pick(p, 2);
	VkCommandBufferUsageFlags flags = r->simultaneous
						  ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT
						  : 0;
	for (unsigned i = 0; i < n; i++) {
		made[i] = vk_begin_secondary(&p->stage, t->pass, NULL, flags);
		fill_pass(p, made[i], t, t->pipeline, pass);
		vk_end(made[i]);
		p->secondaries[p->n_secondaries++] = made[i];
	}
	vkCmdExecuteCommands(r->commands, n, made);
}

static void
render(struct program *p, struct recording *r)
{
	const struct target *t = &p->targets[pick(p, TARGETS)];
	struct pass *pass = work(r, RENDER);
	bool secondaries = pick(p, 4) == 0 && p->n_secondaries + 2 <= SECONDARIES;
	/* A query of the program's own, not where a buffer may run twice. */
	bool asks = !secondaries && !r->simultaneous && p->n_queries < QUERIES && pick(p, 5) == 0;
	vk_begin_pass(r->commands, t->pass, t->framebuffer, t->picture.width, t->picture.height,
		      secondaries ? VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS
				  : VK_SUBPASS_CONTENTS_INLINE);
	if (asks)
		vkCmdBeginQuery(r->commands, p->queries, p->n_queries, 0);
	if (secondaries)
		execute_secondaries(p, r, t, pass);
	else
		fill_pass(p, r->commands, t, t->pipeline, pass);
	if (asks)
		vkCmdEndQuery(r->commands, p->queries, p->n_queries++);
	vkCmdEndRenderPass(r->commands);
	r->closed = true;
}

static void
render_dynamic(struct program *p, struct recording *r)
{
	const struct target *t = &p->targets[pick(p, TARGETS)];
	struct pass *pass = work(r, RENDER);
	vk_begin_rendering(r->commands, &t->picture, NULL,
			   pick(p, 2) ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_LOAD, 0,
			   0);
	fill_pass(p, r->commands, t, t->rendering_pipeline, pass);
	vkCmdEndRendering(r->commands);
	r->closed = true;
}

/* ---- outside ---- */

static void
dispatch(struct program *p, struct recording *r)
{
	for (unsigned n = 1 + pick(p, 3); n > 0; n--) {
		vk_dispatch(r->commands, &p->compute, 1 + pick(p, 4));
		vk_barrier_all(r->commands);
		work(r, COMPUTE)->dispatches++;
	}
}

static void
transfer(struct program *p, struct recording *r)
{
	VkBufferCopy copy = { .srcOffset = 0, .dstOffset = 1024, .size = 512 };
	VkImageSubresourceRange range = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 };
	VkClearColorValue color = { .float32 = { 0.1F * (float)pick(p, 10) } };
	uint32_t word = pick(p, 1000);
	switch (pick(p, 4)) {
	case 0:
		vkCmdFillBuffer(r->commands, p->other.handle, 0, 256, word);
		work(r, TRANSFER)->clears++;
		break;
	case 1:
		vkCmdCopyBuffer(r->commands, p->words.handle, p->other.handle, 1, &copy);
		work(r, TRANSFER)->copies++;
		break;
	case 2:
		vkCmdUpdateBuffer(r->commands, p->other.handle, 2048, sizeof(word), &word);
		work(r, TRANSFER)->copies++;
		break;
	default:
		vkCmdClearColorImage(r->commands, p->targets[pick(p, TARGETS)].picture.image,
				     VK_IMAGE_LAYOUT_GENERAL, &color, 1, &range);
		work(r, TRANSFER)->clears++;
		break;
	}
	vk_barrier_all(r->commands);
}

/* Work in a secondary, outside a render pass: passes of its own. */
static void
secondary_work(struct program *p, struct recording *r)
{
	if (p->n_secondaries == SECONDARIES)
		return;
	VkCommandBuffer secondary = vk_begin_secondary(
		&p->stage, VK_NULL_HANDLE, NULL,
		r->simultaneous ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT : 0);
	VkCommandBuffer primary = r->commands;
	p->secondaries[p->n_secondaries++] = secondary;
	r->commands = secondary;
	r->closed = true;
	dispatch(p, r);
	if (pick(p, 2))
		transfer(p, r);
	vk_end(secondary);
	r->commands = primary;
	r->closed = true;
	vkCmdExecuteCommands(primary, 1, &secondary);
}

static void
record(struct program *p, struct recording *r, VkCommandBufferUsageFlags flags)
{
	static void (*const steps[])(struct program *, struct recording *) = {
		render, render, render_dynamic, dispatch, transfer, transfer, secondary_work,
	};
	*r = (struct recording){
		.commands = vk_begin(&p->stage, flags),
		.simultaneous = flags & VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
	};
	vk_barrier_all(r->commands);
	for (unsigned n = 1 + pick(p, 6); n > 0; n--)
		steps[pick(p, COUNT(steps))](p, r);
	vk_barrier_all(r->commands);
	vk_end(r->commands);
}

/* ---- frames ---- */

static void
add_passes(struct program *p, const struct recording *r)
{
	for (unsigned i = 0; i < r->n_passes; i++)
		if (p->n_total < MOST_TOTAL)
			p->total[p->n_total++] = r->passes[i];
}

/* Of the kept ones: not while it may be pending, unless it was recorded for that. */
static struct recording *
find_kept(struct program *p)
{
	struct recording *r = p->n_kept ? &p->kept[pick(p, p->n_kept)] : NULL;
	if (!r || (r->used && !r->simultaneous))
		return NULL;
	r->used = true;
	return r;
}

static void
submit(struct program *p)
{
	VkCommandBuffer batch[3];
	unsigned n = 1 + pick(p, 3);
	for (unsigned i = 0; i < n; i++) {
		struct recording *r = pick(p, 3) == 0 ? find_kept(p) : NULL;
		if (!r) {
			r = &p->once[p->n_once++];
			record(p, r, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
		}
		batch[i] = r->commands;
		add_passes(p, r);
	}
	vk_submit(&p->stage, n, batch, VK_NULL_HANDLE);
}

static void
print_queries(struct program *p, VkQueryPool pool, unsigned n)
{
	uint64_t results[QUERIES];
	if (!n)
		return;
	vk_check(vkGetQueryPoolResults(p->stage.device, pool, 0, n, sizeof(results), results,
				       sizeof(results[0]),
				       VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
		 "vkGetQueryPoolResults");
	for (unsigned i = 0; i < n; i++)
		printf("query %" PRIu64 "\n", results[i]);
}

static void
print_number(const char *name, unsigned value, bool known)
{
	if (known)
		printf(" %s=%u", name, value);
	else
		printf(" %s=-", name);
}

static void
print_pass(const struct pass *pass)
{
	static const char *const kinds[] = { "render", "compute", "transfer" };
	printf("pass %s", kinds[pass->kind]);
	print_number("draws", pass->draws, true);
	print_number("vertices", pass->vertices, !pass->indirect);
	print_number("instances", pass->instances, !pass->indirect);
	print_number("clears", pass->clears, true);
	print_number("copies", pass->copies, true);
	print_number("dispatches", pass->dispatches, true);
	printf("%s%s%s\n", pass->indirect ? " indirect" : "",
	       pass->simultaneous ? " simultaneous" : "", pass->yielded ? " yielded" : "");
}

static void
run_frame(struct program *p, unsigned number)
{
	struct vk_stage *s = &p->stage;
	VkCommandBuffer first = vk_begin(s, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
	vkCmdResetQueryPool(first, p->queries, 0, QUERIES);
	if (p->statistics)
		vkCmdResetQueryPool(first, p->statistics, 0, QUERIES);
	vk_end(first);
	vk_submit(s, 1, &first, VK_NULL_HANDLE);
	for (unsigned n = 1 + pick(p, 4); n > 0; n--)
		submit(p);
	vk_check(vkQueueWaitIdle(s->queue), "vkQueueWaitIdle");
	print_queries(p, p->queries, p->n_queries);
	print_queries(p, p->statistics, p->n_statistics);
	vk_read(s, &p->words);
	vk_read(s, &p->other);
	printf("frame %u checksum %016" PRIx64 "\n", number, s->checksum);
	for (unsigned i = 0; i < p->n_total; i++)
		print_pass(&p->total[i]);
	vk_free(s, first);
	for (unsigned i = 0; i < p->n_once; i++)
		vk_free(s, p->once[i].commands);
	for (unsigned i = 0; i < p->n_kept; i++)
		p->kept[i].used = false;
	while (p->n_secondaries > p->n_kept_secondaries)
		vk_free(s, p->secondaries[--p->n_secondaries]);
	p->n_once = p->n_total = p->n_queries = p->n_statistics = 0;
}

/* ---- the program ---- */

static void
make_target(struct program *p, struct target *t, uint32_t width, uint32_t height)
{
	struct vk_stage *s = &p->stage;
	const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
	const struct vk_picture *pictures[] = { &t->picture };
	t->picture = vk_make_picture(s, format, width, height, 1, VK_SAMPLE_COUNT_1_BIT);
	t->pass = vk_make_pass(s, &(struct vk_pass_wish){ .color = { format },
							  .load = VK_ATTACHMENT_LOAD_OP_CLEAR });
	t->framebuffer = vk_make_framebuffer(s, t->pass, 1, pictures);
	t->pipeline = vk_make_pipeline(s,
				       &(struct vk_pipeline_wish){ .pass = t->pass, .colors = 1 });
	t->rendering_pipeline = vk_make_pipeline(
		s, &(struct vk_pipeline_wish){ .colors = 1, .color = format });
}

/* What is recorded once, and submitted in any frame; without queries, which are of one frame. */
static void
keep_recordings(struct program *p)
{
	for (p->n_kept = 0; p->n_kept < KEPT; p->n_kept++) {
		p->n_queries = p->n_statistics = QUERIES;
		record(p, &p->kept[p->n_kept],
		       pick(p, 3) ? 0 : VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
	}
	p->n_queries = p->n_statistics = 0;
	p->n_kept_secondaries = p->n_secondaries;
}

static void
make_objects(struct program *p, bool counts)
{
	static const uint32_t command[4] = { 6, 2, 0, 0 };
	struct vk_stage *s = &p->stage;
	for (unsigned i = 0; i < TARGETS; i++)
		make_target(p, &p->targets[i], VK_STAGE_WIDTH >> i, VK_STAGE_HEIGHT >> i);
	p->words = vk_make_buffer(s, 4096);
	p->other = vk_make_buffer(s, 4096);
	memset(p->words.map, 0, 4096);
	memset(p->other.map, 0, 4096);
	p->indirect = vk_make_buffer_for(s, 4096, VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT);
	memcpy(p->indirect.map, command, sizeof(command));
	p->compute = vk_make_compute(s, &p->words);
	p->queries = vk_make_queries(s, VK_QUERY_TYPE_OCCLUSION, QUERIES, 0);
	if (counts)
		p->statistics = vk_make_queries(
			s, VK_QUERY_TYPE_PIPELINE_STATISTICS, QUERIES,
			VK_QUERY_PIPELINE_STATISTIC_FRAGMENT_SHADER_INVOCATIONS_BIT);
	VkCommandBuffer commands = vk_begin(s, 0);
	for (unsigned i = 0; i < TARGETS; i++)
		vk_take_picture(commands, &p->targets[i].picture);
	vk_end(commands);
	vk_submit(s, 1, &commands, VK_NULL_HANDLE);
}

int
main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("usage: random_vk SEED [FRAMES]\n", stderr);
		return 2;
	}
	static struct program p;
	static const VkPhysicalDeviceFeatures counting = { .pipelineStatisticsQuery = VK_TRUE };
	bool counts = strtoull(argv[1], NULL, 0) % 2;
	const struct vk_wish wish = { .features = counts ? &counting : NULL };
	p.random = strtoull(argv[1], NULL, 0) * UINT64_C(0x9e3779b97f4a7c15) + 1;
	vk_stage_open_instance(&p.stage, &wish);
	vk_stage_open_device(&p.stage, &wish);
	make_objects(&p, counts);
	keep_recordings(&p);
	unsigned frames = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 6;
	for (unsigned i = 0; i < frames; i++)
		run_frame(&p, i);
	vk_stage_close(&p.stage);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* scenes/vk/measure.c - scenes that are measured, not counted: work that takes time. */
#include "scenes/vk/scenes.h"

/* Draws of a light and of a heavy pass, each with this many instances over the whole target. */
#define LIGHT 1
#define HEAVY 16
#define INSTANCES 16
/* How long the GPU is to work in a frame of "clock", and the length at which a trial is long
 * enough. */
#define CLOCK_NS 12000000
#define MOST_DRAWS 32768

static struct vk_screen screens[4];
static unsigned clock_draws;

static void
measure_init(struct vk_stage *s)
{
	for (int i = 0; i < 4; i++)
		vk_make_screen_pass(s, &screens[i]);
}

static void
pass_of(struct vk_stage *s, VkCommandBuffer commands, const struct vk_screen *to, unsigned draws)
{
	vk_begin_screen(commands, to);
	vk_prepare_draw(s, commands, to->pipeline, 0.25F, VK_STAGE_WIDTH, VK_STAGE_HEIGHT);
	for (unsigned i = 0; i < draws; i++)
		vkCmdDraw(commands, 3, INSTANCES, 0, 0);
	vkCmdEndRenderPass(commands);
	vk_barrier_all(commands);
}

/* ---- work: a light pass, a heavy one, and both again ---- */

static void
work_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	for (int i = 0; i < 4; i++)
		pass_of(s, commands, &screens[i], i % 2 ? HEAVY : LIGHT);
	vk_run(s, commands);
}

#define DRAWS(n) { COVERED(n, 3 * INSTANCES * (n), INSTANCES * (n)), CLEARED }

static const struct expect_pass work_passes[] = {
	DRAWS(LIGHT), DRAWS(HEAVY), DRAWS(LIGHT), DRAWS(HEAVY),
};

/* ---- twins: equal passes, short enough for many frames ---- */

static void
twins_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	for (int i = 0; i < 2; i++)
		pass_of(s, commands, &screens[i], LIGHT);
	vk_run(s, commands);
}

static const struct expect_pass twins_passes[] = {
	DRAWS(LIGHT), DRAWS(LIGHT),
};

/* ---- clock: the number of draws is chosen by the CPU's clock, not the GPU's ---- */

static void
clock_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, 0);
	pass_of(s, commands, &screens[0], clock_draws);
	vk_run(s, commands);
}

static void
clock_init(struct vk_stage *s)
{
	measure_init(s);
	uint64_t begin;
	clock_draws = 2;
	do {
		clock_draws *= 2;
		begin = scene_clock_ns();
		clock_frame(s, 0);
	} while (scene_clock_ns() - begin < CLOCK_NS && clock_draws < MOST_DRAWS);
}

const struct vk_scene vk_measure_scenes[] = {
	SCENE(work, measure_init, .bare = true),
	SCENE(twins, measure_init, .bare = true),
	{ "clock", .init = clock_init, .bare = true, .frame = clock_frame, .varies = true },
	{ 0 },
};

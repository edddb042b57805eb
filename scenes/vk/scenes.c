/* SPDX-License-Identifier: MIT */
/* scenes/vk/scenes.c - runs one Vulkan scene a few times, or prints what a log of it must
 * contain.
 *
 *   passtally-scenes-vk NAME [--device N] [--frames N] [--expect]
 *   passtally-scenes-vk --list
 *   passtally-scenes-vk --describe [--device N]
 *   passtally-scenes-vk --each
 *
 * Prints the checksum of everything that was read back. --device N is the Nth physical device.
 * --describe prints the driver's name for itself. --each makes a device on each physical device,
 * for a capture that describes them, and does nothing with it. Exit status: 0; 2 usage; 77 the
 * request is not available; 78 no such device; 99 a call failed.
 */
#include "scenes/vk/scenes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct vk_scene *const tables[] = {
	vk_render_scenes, vk_rendering_scenes, vk_draw_scenes,
	vk_work_scenes,   vk_secondary_scenes, vk_submit_scenes,
	vk_label_scenes,  vk_measure_scenes,
};
#define N_TABLES (sizeof(tables) / sizeof(tables[0]))

struct vk_screen screen;

void
vk_make_target(struct vk_stage *s, struct vk_screen *to, const struct vk_pass_wish *wish)
{
	VkSampleCountFlagBits samples = wish->samples ? wish->samples : VK_SAMPLE_COUNT_1_BIT;
	uint32_t width = wish->width ? wish->width : VK_STAGE_WIDTH;
	uint32_t height = wish->height ? wish->height : VK_STAGE_HEIGHT;
	uint32_t layers = wish->view_mask ? 2 : 1, colors = 0, n = 0;
	struct vk_picture made[9];
	const struct vk_picture *attached[9];
	for (; colors < 4 && wish->color[colors]; colors++)
		made[n++] = vk_make_picture(s, wish->color[colors], width, height, layers,
					    samples);
	if (wish->depth)
		made[n++] = vk_make_picture(s, wish->depth, width, height, layers, samples);
	for (uint32_t i = 0; wish->resolve && i < colors; i++)
		made[n++] = vk_make_picture(s, wish->color[i], width, height, layers,
					    VK_SAMPLE_COUNT_1_BIT);
	for (uint32_t i = 0; i < n; i++)
		attached[i] = &made[i];
	to->picture = made[wish->resolve ? n - 1 : colors ? colors - 1 : 0];
	to->pass = vk_make_pass(s, wish);
	to->framebuffer = vk_make_framebuffer(s, to->pass, n, attached);
	to->pipeline = vk_make_pipeline(s, &(struct vk_pipeline_wish){
						   .pass = to->pass,
						   .colors = colors,
						   .samples = samples,
						   .vertex = wish->view_mask ? VK_SHADER_VIEWS
									     : VK_SHADER_COVER,
						   .fragment = colors > 1 ? VK_SHADER_TWO
									  : VK_SHADER_SHADE,
						   .writes_depth = wish->depth,
					   });
	to->out = vk_make_buffer(s, (VkDeviceSize)width * height * layers * 4);
}

void
vk_make_screen_pass(struct vk_stage *s, struct vk_screen *to)
{
	vk_make_target(s, to, &(struct vk_pass_wish){ RGBA8 });
}

void
vk_begin_screen(VkCommandBuffer commands, const struct vk_screen *to)
{
	vk_begin_pass(commands, to->pass, to->framebuffer, to->picture.width,
		      to->picture.height, VK_SUBPASS_CONTENTS_INLINE);
}

void
vk_screen_pass(struct vk_stage *s, VkCommandBuffer commands, const struct vk_screen *to,
	       float red, uint32_t vertices, uint32_t instances)
{
	vk_begin_screen(commands, to);
	vk_prepare_draw(s, commands, to->pipeline, red, to->picture.width, to->picture.height);
	vkCmdDraw(commands, vertices, instances, 0, 0);
	vkCmdEndRenderPass(commands);
}

void
vk_finish(struct vk_stage *s, VkCommandBuffer commands)
{
	vk_copy_out(commands, &screen.picture, &screen.out);
	vk_run(s, commands);
	vk_read(s, &screen.out);
}

void
vk_end_frame(struct vk_stage *s, uint32_t n, const VkCommandBuffer *commands)
{
	vk_wait(s);
	for (uint32_t i = 0; i < n; i++)
		vk_free(s, commands[i]);
	vk_read(s, &screen.out);
}

void
vk_plain_frame(struct vk_stage *s, unsigned number)
{
	VkCommandBuffer commands = vk_begin(s, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
	vk_screen_pass(s, commands, &screen, 0.1F * (float)number, 3, 1);
	vk_finish(s, commands);
}

const struct expect_pass vk_plain_passes[2] = { { SCREEN_PASS(3, 1) }, COPY_OUT };

static void
print_expectation(const struct vk_scene *scene, unsigned frames)
{
	expect_begin(scene->name, frames, scene->devices);
	expect_word("boundary", scene->boundary ? scene->boundary : "submit:1");
	expect_number("submissions", scene->submissions ? scene->submissions : 1);
	expect_number("partial", scene->ends_partial);
	expect_number("abrupt", scene->ends_abruptly);
	expect_end(scene->passes, scene->n_passes, true);
}

/* NULL: there are no more. */
static const struct vk_scene *
table_at(size_t i)
{
	return i < N_TABLES     ? tables[i]
	       : vk_more_scenes ? vk_more_scenes[i - N_TABLES]
				: NULL;
}

static const struct vk_scene *
find_scene(const char *name)
{
	for (size_t i = 0; table_at(i); i++) {
		for (const struct vk_scene *scene = table_at(i); scene->name; scene++) {
			if (strcmp(scene->name, name) == 0)
				return scene;
		}
	}
	fprintf(stderr, "there is no scene %s; --list names them\n", name);
	exit(2);
}

static void
list_scenes(void)
{
	for (size_t i = 0; table_at(i); i++) {
		for (const struct vk_scene *scene = table_at(i); scene->name; scene++)
			if (!scene->varies)
				printf("%s\n", scene->name);
	}
}

struct arguments {
	const struct vk_scene *scene;
	unsigned frames;
	bool expect, describe, each;
};

static void
parse_arguments(int argc, char **argv, struct arguments *a)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--list") == 0) {
			list_scenes();
			exit(0);
		} else if (strcmp(argv[i], "--expect") == 0) {
			a->expect = true;
		} else if (strcmp(argv[i], "--describe") == 0) {
			a->describe = true;
		} else if (strcmp(argv[i], "--each") == 0) {
			a->each = true;
		} else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
			vk_stage_choose_device((uint32_t)strtoul(argv[++i], NULL, 10));
		} else if (strcmp(argv[i], "--frames") == 0 && i + 1 < argc) {
			a->frames = (unsigned)strtoul(argv[++i], NULL, 10);
		} else {
			a->scene = find_scene(argv[i]);
		}
	}
}

int
main(int argc, char **argv)
{
	struct arguments a = { .frames = 4 };
	parse_arguments(argc, argv, &a);
	if (a.describe) {
		vk_stage_describe();
		return 0;
	}
	if (a.each)
		return vk_stage_make_each();
	if (!a.scene) {
		fprintf(stderr, "usage: %s NAME [options]; --list names them\n", argv[0]);
		return 2;
	}
	if (a.expect) {
		print_expectation(a.scene, a.frames);
		return 0;
	}
	static struct vk_stage stage;
	vk_stage_open_instance(&stage, &a.scene->wish);
	vk_stage_open_device(&stage, &a.scene->wish);
	if (a.scene->target.load)
		vk_make_target(&stage, &screen, &a.scene->target);
	else if (!a.scene->bare)
		vk_make_screen_pass(&stage, &screen);
	if (a.scene->init)
		a.scene->init(&stage);
	for (unsigned i = 0; i < a.frames; i++)
		a.scene->frame(&stage, i);
	printf("%s %016" PRIx64 "\n", a.scene->name, stage.checksum);
	fflush(stdout);
	if (a.scene->finish)
		a.scene->finish(&stage);
	vk_stage_close(&stage);
	return 0;
}

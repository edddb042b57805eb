/* SPDX-License-Identifier: MIT */
/* scenes/vk/scenes.c - run one Vulkan scene a few times, or say what a log of it must hold.
 *
 *   passtally-scenes-vk NAME [--device N] [--frames N] [--expect] [--count]
 *   passtally-scenes-vk --list
 *   passtally-scenes-vk --describe [--device N]
 *
 * Prints the checksum of everything that was read back. --count checks the expectation against
 * queries of the program's own instead. --device N is the Nth physical device. --describe prints
 * what the driver calls itself. Exit status: 0; 2 usage; 77 what is asked is not there; 78 no
 * such device; 99 a call failed.
 */
#include "scenes/vk/scenes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct vk_scene *const tables[] = {
	vk_render_scenes,    vk_rendering_scenes, vk_draw_scenes,  vk_work_scenes,
	vk_secondary_scenes, vk_submit_scenes,    vk_label_scenes, vk_device_scenes,
	vk_life_scenes,      vk_window_scenes,    vk_measure_scenes,
};
#define N_TABLES (sizeof(tables) / sizeof(tables[0]))

static const struct vk_scene *
find_scene(const char *name)
{
	for (size_t i = 0; i < N_TABLES; i++) {
		for (const struct vk_scene *scene = tables[i]; scene->name; scene++) {
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
	for (size_t i = 0; i < N_TABLES; i++) {
		for (const struct vk_scene *scene = tables[i]; scene->name; scene++)
			if (!scene->varies)
				printf("%s\n", scene->name);
	}
}

struct arguments {
	const struct vk_scene *scene;
	unsigned frames;
	bool expect, count, describe;
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
		} else if (strcmp(argv[i], "--count") == 0) {
			a->count = true;
		} else if (strcmp(argv[i], "--describe") == 0) {
			a->describe = true;
		} else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
			vk_stage_choose_device((uint32_t)strtoul(argv[++i], NULL, 10));
		} else if (strcmp(argv[i], "--frames") == 0 && i + 1 < argc) {
			a->frames = (unsigned)strtoul(argv[++i], NULL, 10);
		} else {
			a->scene = find_scene(argv[i]);
		}
	}
}

/* One frame's totals by queries of our own, against the sums of the expectation. */
static int
compare_counts(const struct vk_stage *s, const struct vk_scene *scene)
{
	static const char *const words[] = { "primitives", "shaded", "fragments", "computed" };
	static const unsigned hides[] = { 0, EXPECT_ANY_SHADED, EXPECT_ANY_FRAGMENTS, 0 };
	uint64_t want[4] = { 0 };
	unsigned unsure = 0;
	for (int i = 0; i < scene->n_passes; i++) {
		const struct vk_expect *p = &scene->passes[i];
		want[0] += (uint64_t)p->primitives;
		want[1] += (uint64_t)p->shaded;
		want[2] += (uint64_t)p->fragments;
		want[3] += (uint64_t)p->computed;
		unsure |= p->unsure;
	}
	int status = 0;
	for (int k = 0; k < 4; k++) {
		bool stated = !(unsure & (hides[k] | EXPECT_ANY_COUNTERS | EXPECT_NO_COUNTERS));
		bool fine = !stated || s->counted[k] == want[k];
		printf("%s: %s %" PRIu64 ", expected %" PRIu64 "%s%s\n", scene->name, words[k],
		       s->counted[k], want[k], stated ? "" : " (not stated)",
		       fine ? "" : ": DIFFERENT");
		status |= !fine;
	}
	return status;
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
	if (!a.scene) {
		fprintf(stderr, "usage: %s NAME [options]; --list names them\n", argv[0]);
		return 2;
	}
	if (a.expect) {
		vk_expect_print(a.scene, a.frames);
		return 0;
	}
	if (a.count && a.scene->uncounted)
		vk_skip("this scene cannot be counted");
	static struct vk_stage stage;
	stage.count = a.count;
	vk_stage_open_instance(&stage, &a.scene->wish);
	vk_stage_open_device(&stage, &a.scene->wish);
	a.scene->init(&stage);
	for (unsigned i = 0; i < (a.count ? 1 : a.frames); i++)
		a.scene->frame(&stage, i);
	if (a.count)
		return compare_counts(&stage, a.scene);
	printf("%s %016" PRIx64 "\n", a.scene->name, stage.checksum);
	fflush(stdout);
	if (a.scene->finish)
		a.scene->finish(&stage);
	vk_stage_close(&stage);
	return 0;
}

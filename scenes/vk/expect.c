/* SPDX-License-Identifier: MIT */
/* scenes/vk/expect.c - the expectation of a Vulkan scene as JSON. */
#include "scenes/vk/scenes.h"

#include <stdio.h>

static const char *separator;

static void
print_number(const char *key, long long value)
{
	printf("%s\"%s\":%lld", separator, key, value);
	separator = ",";
}

static void
print_word(const char *key, const char *word)
{
	if (word)
		printf("%s\"%s\":\"%s\"", separator, key, word);
	else
		printf("%s\"%s\":null", separator, key);
	separator = ",";
}

/* A number, or null where the log must leave it out. */
static void
print_or_absent(const char *key, long long value, bool absent)
{
	if (absent)
		print_word(key, NULL);
	else
		print_number(key, value);
}

/* null: there must be none. `by_draw`: with granularity draw, where each draw is counted alone and
 * may be although the pass may not. */
static void
print_counters(const struct vk_expect *p, bool by_draw)
{
	const char *key = by_draw ? "counters_by_draw" : "counters";
	if (p->unsure & EXPECT_NO_COUNTERS && !(by_draw && p->primitives)) {
		print_word(key, NULL);
		return;
	}
	printf("%s\"%s\":{", separator, key);
	separator = "";
	if (p->kind[0] == 'r' && !(p->unsure & EXPECT_ANY_COUNTERS)) {
		print_number("primitives_submitted", p->primitives);
		if (!(p->unsure & EXPECT_ANY_SHADED))
			print_number("vertex_shader_invocations", p->shaded);
		if (!(p->unsure & EXPECT_ANY_FRAGMENTS))
			print_number("fragment_shader_invocations", p->fragments);
	}
	if (p->computed)
		print_number("compute_shader_invocations", p->computed);
	printf("}");
	separator = ",";
}

static void
print_target(const struct vk_expect *p)
{
	printf("%s\"target\":{", separator);
	separator = "";
	bool render = p->kind[0] == 'r';
	if ((render || p->width > 0) && p->width >= 0) {
		print_number("width", p->width ? p->width : VK_STAGE_WIDTH);
		print_number("height", p->height ? p->height : VK_STAGE_HEIGHT);
	}
	if (p->layers)
		print_number("layers", p->layers);
	if (p->samples)
		print_number("samples", p->samples);
	if (p->color)
		print_word("color", p->color);
	if (p->depth)
		print_word("depth", p->depth);
	if (p->load)
		print_word("load", p->load);
	if (p->store)
		print_word("store", p->store);
	printf("}");
	separator = ",";
}

static void
print_pass(const struct vk_expect *p)
{
	separator = "";
	printf("{");
	print_word("kind", p->kind);
	print_word("label", p->label);
	print_word("flags", p->flags ? p->flags : "");
	print_or_absent("draws", p->draws, p->unsure & EXPECT_NO_DRAWS);
	print_or_absent("vertices", p->vertices, p->unsure & EXPECT_NO_VERTICES);
	print_or_absent("instances", p->instances, p->unsure & EXPECT_NO_VERTICES);
	print_number("dispatches", p->dispatches);
	print_number("copies", p->copies);
	print_number("clears", p->clears);
	print_counters(p, false);
	print_counters(p, true);
	print_target(p);
	int commands = p->draws + p->dispatches + p->copies + p->clears;
	print_or_absent("workloads", p->workloads ? p->workloads : commands,
			p->unsure & EXPECT_ANY_WORKLOADS);
	print_word("time", p->unsure & EXPECT_NO_TIME    ? "none"
			   : p->unsure & EXPECT_ANY_TIME ? "any"
							 : "own");
	print_number("submission", p->submission);
	print_number("device", p->device);
	printf("}");
}

void
vk_expect_print(const struct vk_scene *scene, unsigned frames)
{
	separator = "";
	printf("{");
	print_word("scene", scene->name);
	print_word("boundary", scene->boundary ? scene->boundary : "submit:1");
	print_number("frames", frames);
	print_number("devices", scene->devices ? scene->devices : 1);
	print_number("submissions", scene->submissions ? scene->submissions : 1);
	print_number("partial", scene->ends_partial);
	print_number("abrupt", scene->ends_abruptly);
	printf(",\"passes\":[");
	for (int i = 0; i < scene->n_passes; i++) {
		printf("%s", i ? "," : "");
		print_pass(&scene->passes[i]);
	}
	printf("]}\n");
}
